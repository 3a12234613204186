# A platform repository with Flux 2.4.0 and a user's edits, the one of the quickstart; sourced by scripts.

export REFIT_CATALOG=$EXAMPLES/catalog
plane=clusters/production/flux-system

# Lays out the folder of a plane: version, folder.
plane() {
    mkdir -p "$2"
    cp "$REFIT_CATALOG/flux/$1/gotk-components.yaml" "$2/"
    cp "$EXAMPLES/platform/gotk-sync.yaml" "$EXAMPLES/platform/kustomization.yaml" "$2/"
}

# A repository whose plane is as the generator wrote it.
pristine() {
    git init -q fleet && cd fleet && plane v2.4.0 "$plane"
    git add . && git commit -qm 'Install Flux 2.4.0'
}

# A repository whose plane has the edits of the quickstart: one image needs a decision.
edited() {
    git init -q fleet && cd fleet && plane v2.4.0 "$plane"
    git apply "$EXAMPLES/platform/edits.diff"
    git add . && git commit -qm 'Install Flux 2.4.0 with our own settings'
}
