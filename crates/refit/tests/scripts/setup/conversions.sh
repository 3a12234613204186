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
