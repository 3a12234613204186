#!/usr/bin/env bash
# Walks through one upgrade on a small platform repository, in a folder of its own that is removed at the end.
# KEEP=1 keeps it. Needs cargo and git; no network, no cluster.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet --locked --package refit
PATH="$(realpath "${CARGO_TARGET_DIR:-target}")/debug:$PATH"
export REFIT_CATALOG="$PWD/examples/catalog"
# Settings of the person's own Git must not change what is shown.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
folder=$(mktemp -d)
[ -n "${KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT
repository="$folder/platform"

say() {
    echo
    printf '# %s\n' "$@"
}

# Shows a command, runs it, and fails when it does not end with the expected exit code.
run() {
    local expected=$1 code=0
    printf '\n$ %s\n' "$2"
    (cd "$repository" && bash -o pipefail -c "$2") </dev/null 2>&1 || code=$?
    if [ "$code" != "$expected" ]; then
        echo "error: the command ended with exit code $code, expected $expected" >&2
        exit 1
    fi
    [ "$code" = 0 ] || echo "(exit code $code)"
}

# The installed plane: Flux 2.4.0 as the generator wrote it, with what people changed since.
lay_out() {
    local plane="$repository/clusters/production/flux-system"
    mkdir -p "$plane"
    cp "$REFIT_CATALOG/flux/v2.4.0/gotk-components.yaml" "$plane/"
    cp examples/platform/gotk-sync.yaml examples/platform/kustomization.yaml "$plane/"
    git init --quiet --initial-branch=main "$repository"
    git -C "$repository" apply "$PWD/examples/platform/edits.diff"
    git -C "$repository" config user.name "Platform Team"
    git -C "$repository" config user.email "platform@example.com"
    git -C "$repository" add .
    git -C "$repository" commit --quiet --message "Install Flux 2.4.0 with our own settings"
}

lay_out
say "A platform repository with Flux 2.4.0: images from an own registry, one of an own build, more memory for one" \
    "controller, comments, a deleted network policy, a patch, a shorter interval."
run 0 'git ls-files'
run 0 'refit status'

say "What did people change since the manifest was generated?"
run 0 'refit inventory'

say "What would an upgrade do?"
run 0 'refit plan'

say "Go. One image is of an unknown build, so a person must decide first; nothing is opened yet."
run 5 'refit upgrade --yes'
run 5 'refit resolve'

say "Take the new release's tag, from the own registry. Now the request is opened."
question=$(cd "$repository" && refit resolve --output json 2>/dev/null | sed -n 's/^ *"id": "\(.*\)",/\1/p' | head -n 1) || true
run 0 "refit resolve $question theirs"

say "What a reviewer reads, and what changes (here without the version labels):"
run 0 'refit request show'
run 0 'refit diff | grep -A 999 "^--- a/" | grep "^[-+]" | grep -v "app.kubernetes.io/version"'

say "Reviewed. Merge it; the edits are still there."
run 0 'refit request merge'
run 0 'grep -n "#" clusters/production/flux-system/*.yaml'
run 0 'refit status'

say "A second upgrade finds nothing to do."
run 0 'refit upgrade --yes'
run 0 'git log --oneline'
[ -z "${KEEP:-}" ] || say "The repository is in $repository"
