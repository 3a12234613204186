# Three versions of a small file for the scripts of `refit merge`; sourced by them.

object() { # name interval timeout
    printf 'apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: %s\nspec:\n' "$1"
    printf '  interval: %s\n  timeout: %s\n' "$2" "$3"
}

three() {
    object fleet 10m 60s > base.yaml
    { echo '# our own remark'; object fleet 30s 60s; } > ours.yaml
    object fleet 10m 90s > theirs.yaml
}

# Three folders: a mode, a link, a deletion, an addition, a plain text, a name that is not UTF-8, a `.git` to leave out.
folders() {
    mkdir base ours theirs base/apps ours/apps theirs/apps ours/.git
    object fleet 10m 60s | tee base/apps/fleet.yaml > ours/apps/fleet.yaml
    object fleet 10m 90s > theirs/apps/fleet.yaml
    printf '#!/bin/sh\necho base\n' | tee base/run.sh > ours/run.sh
    printf '#!/bin/sh\necho theirs\n' > theirs/run.sh
    chmod 755 theirs/run.sh
    ln -s apps/fleet.yaml base/link; ln -s apps/fleet.yaml ours/link; ln -s apps theirs/link
    echo secret > ours/.git/config
    echo mine > ours/mine.txt
    echo new > theirs/new.txt
    echo old | tee base/gone.txt > ours/gone.txt
    printf 'a\n' | tee "base/$(printf 'n\377')" > "ours/$(printf 'n\377')"
    printf 'b\n' > "theirs/$(printf 'n\377')"
}

# A repository whose branch `update` changes the timeout and whose branch `main` has edits of its own.
driver() {
    git init -q . && git config merge.refit.driver 'refit merge --driver=%P %O %A %B'
    mkdir clusters && echo '*.yaml merge=refit' > .gitattributes
    object fleet 10m 60s > clusters/fleet.yaml && git add . && git commit -qm base
    git switch -qc update && object fleet 10m 90s > clusters/fleet.yaml && git commit -qam update
    git switch -q main
}
