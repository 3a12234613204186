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
