# The stages are data of the module: how fake nodes and pods get from one state to the next.
finish() {
    cp -r "$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage" "$1/stage"
    chmod -R u+w "$1/stage"
}
