# A repository with old API versions, for the scripts of `refit scan` and `refit convert`; sourced by them.

sync() { # name path
    printf 'apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata:\n  name: %s\n  namespace: flux-system\n' "$1"
    printf 'spec:\n  interval: 10m\n  path: ./%s\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n' "$2"
}

release() { # name
    printf '# the %s of everybody\nkind: HelmRelease\napiVersion: "helm.toolkit.fluxcd.io/v2beta1" # old\nmetadata:\n  name: %s\nspec:\n' "$1" "$1"
    printf '  interval: 5m\n  chart:\n    spec:\n      chart: %s\n      valuesFile: values-prod.yaml\n' "$1"
    printf '      sourceRef: {kind: HelmRepository, name: charts}\n'
}

plane() {
    mkdir -p clusters/production/flux-system apps old
    sync flux-system clusters/production > clusters/production/flux-system/gotk-sync.yaml
    sync apps apps > clusters/production/apps.yaml
    release web > apps/web.yaml
    release gone > old/gone.yaml
    printf 'resources: [web.yaml]\npatches:\n- path: patch.yaml\n  target: {kind: HelmRelease, version: v2beta1}\n' > apps/kustomization.yaml
    printf 'apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: web}\nspec: {interval: 1m}\n' > apps/patch.yaml
}

# Files of no plane: one that needs a person, one that is broken, one that is new, and one that is none of our business.
plain() {
    mkdir -p files
    printf 'apiVersion: notification.toolkit.fluxcd.io/v1beta2\nkind: Receiver\nmetadata: {name: hook}\nspec: {type: github}\n' > files/hook.yaml
    printf 'apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: broken\n' > files/broken.yaml
    printf 'apiVersion: notification.toolkit.fluxcd.io/v1\nkind: Alert\nmetadata: {name: new}\n' > files/new.yaml
    printf '{"apiVersion": "source.toolkit.fluxcd.io/v1beta2", "kind": "GitRepository", "metadata": {"name": "r"}}\n' > files/r.json
    printf 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\n' > files/service.yaml
}

# Begins a scene in a folder of its own: the plane, and what stdin adds as a file that it reaches; keeps a copy.
scene() { # name file
    rm -rf "../$1" "../$1.before"; mkdir "../$1" && cd "../$1" && plane && rm -r old
    mkdir -p "$(dirname "$2")" && cat >> "$2" && cp -R . "../$1.before"
}

# Counts the files that are not what they were, and names those that are byte for byte.
kept() {
    (cd "../$(basename "$PWD").before" && find . -type f | sort) | while read -r file; do
        cmp -s "$file" "../$(basename "$PWD").before/$file" && echo "equal: $file" || echo changed
    done | sort | uniq -c | sed -E 's/^ *//;s/^1 equal/equal/'
}

# Writes a rule file with the given operations on Kustomizations, one that is right, and names both in refit.yaml.
rules() {
    local head='origin: our handbook\nrules:\n- id: %s\n  group: kustomize.toolkit.fluxcd.io\n  kinds: [Kustomization]\n  message: ours\n  origin: our handbook\n  do:\n'
    { printf "$head" own; printf '  - %s\n' "$@"; } > own.yaml
    { printf "$head" good; printf '  - remove: spec.prune\n'; } > good.yaml
    printf 'apiVersion: refit.dev/v1alpha1\nkind: Plane\nspec:\n  rules: [good.yaml, own.yaml]\n' > refit.yaml
    cp own.yaml good.yaml refit.yaml "../$(basename "$PWD").before"
}
