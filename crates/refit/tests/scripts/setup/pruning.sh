# A platform repository with Flux 2.4.0, and releases that drop or bring a policy or a definition; sourced by scripts.

. "$SETUP/platform.sh"

# Takes the object of a name out of a file of several.
without() { # name file
    awk -v name="  name: $1" 'BEGIN { RS = "---\n" } index("\n" $0, "\n" name "\n") == 0 { printf "%s%s", sep, $0; sep = RS }' "$2" > out && mv out "$2"
}

# Lays out the repository with Flux 2.4.0, and a catalog beside it whose release lacks the object of a name.
lacking() { # release name
    rm -rf catalog fleet && cp -R "$EXAMPLES/catalog" catalog
    export REFIT_CATALOG=$PWD/catalog
    without "$2" "catalog/flux/$1/gotk-components.yaml"
    git init -q fleet && cd fleet && plane v2.4.0 "$plane"
    git add . && git commit -qm 'Install Flux 2.4.0'
}

# Prints a snapshot of the cluster: the definitions of a release, and the policy with an annotation.
snapshot() { # release annotation
    (. "$SETUP/routes.sh"; REFIT_CATALOG=$EXAMPLES/catalog cluster "$1" migrated v1.33.4)
    printf -- '---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: allow-scraping\n  namespace: flux-system\n  annotations: {%s}\n' "$2"
}

# Another Kustomization of Flux applies the policy, too.
copied() {
    mkdir -p apps
    awk 'BEGIN { RS = "---\n" } /\n  name: allow-scraping\n/ { printf "%s", $0 }' "$plane/gotk-components.yaml" > apps/policy.yaml
    sed -e 's/name: flux-system/name: apps/;s/path: .*/path: .\/apps/' "$plane/gotk-sync.yaml" |
        awk 'BEGIN { RS = ORS = "---\n" } /kind: Kustomization/' | sed -e '$d' -e '/sourceRef/,$s/name: apps/name: flux-system/' > clusters/production/apps.yaml
    git add . && git commit -qm 'Apply the policy with the apps'
}
