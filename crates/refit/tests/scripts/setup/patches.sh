# Platform repositories with patches that the upgrade to Flux 2.6 breaks; sourced by scripts.

. "$SETUP/platform.sh"

# Adds lines of stdin to the kustomization of a pristine plane.
with_patches() {
    pristine
    cat >> "$plane/kustomization.yaml" && git commit -qam 'Add our patches'
}

# A patch of the stored version of a definition, by its index: it is another version afterwards.
by_index() {
    with_patches <<'END'
# Our registry has no other artifacts.
- target:
    kind: CustomResourceDefinition
    name: ocirepositories.source.toolkit.fluxcd.io
  patch: |
    - op: add
      path: /spec/versions/0/schema/openAPIV3Schema/description
      value: Artifacts of registry.acme.example.
    # Not yet:
    # - op: remove
    #   path: /spec/versions/0/additionalPrinterColumns
END
}

# A patch file whose build ends as soon as the first version is another one, and one that aims at what stays.
by_test() {
    with_patches <<'END'
- path: printing.yaml
  target:
    kind: CustomResourceDefinition
    name: ocirepositories.source.toolkit.fluxcd.io
END
    printf -- '- op: test\n  path: /spec/versions/0/name\n  value: v1beta2\n' > $plane/printing.yaml
    git add . && git commit -qm 'Guard the version'
}

# Two folders to merge: the new version renames what a patch is for.
renamed() {
    mkdir base ours theirs
    for side in base ours theirs; do
        printf 'resources: [gotk.yaml]\n' > $side/kustomization.yaml
        printf 'kind: Deployment\nmetadata: {name: old}\nspec: {r: 1}\n' > $side/gotk.yaml
    done
    sed -i s/old/new/ theirs/gotk.yaml
    printf 'patches:\n- target: {kind: Deployment, name: old}\n  patch: |\n    - {op: replace, path: /spec/r, value: 3}\n' >> ours/kustomization.yaml
}

# A replacement that finds its source by an image which the new release does not have.
by_replacement() {
    pristine
    sed -i '/^patches:/,$d' $plane/kustomization.yaml
    cat >> $plane/kustomization.yaml <<'END'
replacements:
- source:
    kind: Deployment
    name: source-controller
    fieldPath: spec.template.spec.containers.[image=ghcr.io/fluxcd/source-controller:v1.4.1].name
  targets:
  - select: {kind: Namespace, name: flux-system}
    fieldPaths: [metadata.labels.of]
    options: {create: true}
END
    git add . && git commit -qm 'Replace, without a patch'
}

# Patches that the Flux Kustomization lays over its build in the cluster.
in_cluster() {
    pristine
    sed -i '/^spec:/,$ { /^  path: /a\  patches:\n  - target: {kind: CustomResourceDefinition}\n    patch: "[]"
}' $plane/gotk-sync.yaml
    git add . && git commit -qm 'Patch in the cluster'
}
