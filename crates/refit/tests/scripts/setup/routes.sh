# A platform repository with Flux 2.2.3, whose way to 2.9 has several requests; sourced by scripts.

export REFIT_CATALOG=$EXAMPLES/routes
plane=clusters/production/flux-system

# A repository whose plane is as the generator wrote it; the release.
began() {
    git init -q fleet && cd fleet && mkdir -p "$plane"
    cp "$REFIT_CATALOG/flux/$1/gotk-components.yaml" "$plane/"
    cp "$EXAMPLES/platform/gotk-sync.yaml" "$EXAMPLES/platform/kustomization.yaml" "$plane/"
    git add . && git commit -qm "Install Flux $1"
}

# Runs a command and hides the time.
timeless() {
    "$@" 2>&1 | sed -E 's/20[0-9]{2}-[0-9-]+T[0-9:]+Z/<time>/g'
    return "${PIPESTATUS[0]}"
}

# Prints a snapshot of a cluster: its release, what is stored (`all` served versions, or `migrated`), Kubernetes. Each kind is
# listed; there is one object, with managed fields.
cluster() {
    awk -v RS='---\n' -v stored="$2" '/kind: CustomResourceDefinition/ {
        count = split($0, lines, "\n"); inside = 0; all = ""
        for (at = 1; at <= count; at++) {
            if (lines[at] == "  versions:") inside = 1
            if (inside && match(lines[at], /^(  - |    )name: /)) name = substr(lines[at], RLENGTH + 1)
            if (lines[at] ~ /^  group: /) group = substr(lines[at], 10)
            if (lines[at] ~ /^    kind: /) kind = substr(lines[at], 11)
            if (lines[at] == "    storage: true") kept = name; else if (lines[at] == "    storage: false") old = name
            if (lines[at] == "    storage: true" || (stored == "all" && lines[at] == "    storage: false"))
                all = all (all == "" ? "" : ", ") name
        }
        printf "---\n%sstatus:\n  storedVersions: [%s]\n---\napiVersion: %s/%s\nkind: %sList\nitems:", $0, all, group, kept, kind
        managed = stored == "all" ? old : kept
        if (kind != "GitRepository") print " []"
        else printf "\n- apiVersion: %s/%s\n  kind: %s\n  metadata:\n    name: flux-system\n    managedFields:\n    - apiVersion: %s/%s\n      manager: kustomize-controller\n", group, kept, kind, group, managed
    }' "$REFIT_CATALOG/flux/$1/gotk-components.yaml"
    printf -- '---\nserverVersion:\n  gitVersion: %s\n' "$3"
}

# An application in a Kustomization of its own, as a HelmRelease of the given version.
application() {
    mkdir -p apps
    sed -n '/kind: Kustomization/,$p' "$EXAMPLES/platform/gotk-sync.yaml" > clusters/production/apps.yaml
    sed -i -e '1i apiVersion: kustomize.toolkit.fluxcd.io/v1' -e 's/name: flux-system$/name: apps/;t' -e 's#\./clusters/production#./apps#' clusters/production/apps.yaml
    sed -i '/sourceRef/,$s/name: apps/name: flux-system/' clusters/production/apps.yaml
    printf 'apiVersion: helm.toolkit.fluxcd.io/%s # as its chart asks for\nkind: HelmRelease\nmetadata:\n  name: web\n' "$1" > apps/web.yaml
    printf '  namespace: apps\nspec:\n  interval: 5m\n  chart:\n    spec:\n      chart: web\n' >> apps/web.yaml
    printf '      sourceRef:\n        kind: HelmRepository\n        name: charts\n' >> apps/web.yaml
    git add . && git commit -qm 'Run web'
}

# Objects of the plane in old versions: a source of charts beside the application, and an alert in the cluster's own folder.
surroundings() {
    printf '# where our charts come from\nkind: HelmRepository\napiVersion: source.toolkit.fluxcd.io/v1beta2\nmetadata: {name: charts, namespace: apps}\n' > apps/charts.yaml
    printf 'spec: {interval: 1h, url: "https://charts.example.org"}\n' >> apps/charts.yaml
    printf '{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "plain", "namespace": "apps"}}\n' > apps/plain.json
    printf 'apiVersion: notification.toolkit.fluxcd.io/v1beta1\nkind: Alert\nmetadata:\n  name: page # at night\n  namespace: flux-system\nspec:\n  summary: production\n' > clusters/production/alert.yaml
    printf '  providerRef:\n    name: pager\n  eventSources:\n  - kind: Kustomization\n    name: "*"\n' >> clusters/production/alert.yaml
    sed -i 's/^  interval: 5m/&\n  maxHistory: 10/; s/^      chart: web/&\n      valuesFile: values-prod.yaml # of ours/' apps/web.yaml
    git add . && git commit -qm 'Run more'
}

# Takes the definitions whose names match an expression out of a snapshot, or keeps them alone.
without() { awk -v name="\n  name: ($1)" 'BEGIN { RS = ORS = "---\n" } !(/kind: CustomResourceDefinition/ && $0 ~ name)'; }
alone() { awk -v name="\n  name: ($1)" 'BEGIN { RS = ORS = "---\n" } /kind: CustomResourceDefinition/ && $0 ~ name'; }
