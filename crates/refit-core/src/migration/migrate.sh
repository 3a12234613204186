set -eu
# Migrates custom resources to the storage version of their definition: each object is written anew, the API versions in
# its managed fields become that version, then the definition's status forgets the older ones. It needs `kubectl` 1.24 or
# newer and nothing else. It may be cut off and run again at any time: what is done is left alone.

# One line per object: namespace (or "-"), name, JSON patch. Two entries of one manager would become one entry and lose
# fields, so the older one is kept under a name of its own, with its old version behind it.
lines() {
  at=$((${#group} + 1))
  cat <<TEMPLATE
{{define "one"}}{{\$all := .metadata.managedFields}}{{or .metadata.namespace "-"}} {{.metadata.name}} \
[{"op":"test","path":"/metadata/resourceVersion","value":"{{.metadata.resourceVersion}}"}\
{{range \$i, \$e := \$all}}{{if ne \$e.apiVersion "$group/$storage"}}\
,{"op":"replace","path":"/metadata/managedFields/{{\$i}}/apiVersion","value":"$group/$storage"}\
{{\$twice := false}}{{range \$j, \$o := \$all}}\
{{if and (ne \$i \$j) (eq \$e.operation "Update") (eq \$e.operation \$o.operation) (eq \$e.manager \$o.manager) \
(eq (or \$e.subresource "") (or \$o.subresource "")) (or (gt \$j \$i) (eq \$o.apiVersion "$group/$storage"))}}\
{{\$twice = true}}{{end}}{{end}}\
{{if \$twice}},{"op":"replace","path":"/metadata/managedFields/{{\$i}}/manager",\
"value":{{printf "%s-%s" \$e.manager (slice \$e.apiVersion $at) | printf "%q"}}}{{end}}\
{{end}}{{end}}]
{{end}}$1
TEMPLATE
}

# NAMESPACE NAME PATCH: tried again with a fresh patch while other writers come between.
rewrite() {
  namespace=$1 name=$2 patch=$3 tries=0
  [ "$namespace" != - ] || namespace=
  until kubectl patch "$resource" "$name" ${namespace:+-n "$namespace"} --type=json -p "$patch" >/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -ge 10 ]; then
      echo "error: $resource $namespace/$name could not be written; hint: see the message above, then run this again" >&2
      exit 1
    fi
    sleep 1
    line=$(kubectl get "$resource" "$name" ${namespace:+-n "$namespace"} --ignore-not-found --show-managed-fields \
      -o go-template="$(lines '{{template "one" .}}')")
    if [ -z "$line" ]; then
      return 0
    fi
    patch=${line#* } patch=${patch#* }
  done
}

# CRD
migrate() {
  crd=$1 plural=${1%%.*} group=${1#*.}
  storage=$(kubectl get crd "$crd" --ignore-not-found -o jsonpath='{.spec.versions[?(@.storage==true)].name}')
  if [ -z "$storage" ]; then
    echo "$crd: is not in the cluster"
    return 0
  fi
  stored=$(kubectl get crd "$crd" -o jsonpath='{.status.storedVersions[*]}')
  resource=$plural.$storage.$group
  objects=$(kubectl get "$resource" -A --show-managed-fields \
    -o go-template="$(lines '{{range .items}}{{template "one" .}}{{end}}')")
  printf '%s\n' "$objects" | while read -r namespace name patch; do
    case $patch in
    '') ;;
    *'"replace"'*) rewrite "$namespace" "$name" "$patch" ;;
    *) if [ "$stored" != "$storage" ]; then rewrite "$namespace" "$name" "$patch"; fi ;;
    esac
  done
  if [ "$stored" != "$storage" ]; then
    # Refused when another storage version came meanwhile.
    index=$(kubectl get crd "$crd" -o go-template='{{range $i, $v := .spec.versions}}{{if $v.storage}}{{$i}}{{end}}{{end}}')
    kubectl patch crd "$crd" --subresource=status --type=json -p "[\
{\"op\":\"test\",\"path\":\"/spec/versions/$index/name\",\"value\":\"$storage\"},\
{\"op\":\"test\",\"path\":\"/spec/versions/$index/storage\",\"value\":true},\
{\"op\":\"replace\",\"path\":\"/status/storedVersions\",\"value\":[\"$storage\"]}]" >/dev/null
  fi
  echo "$crd: stored as $storage (was: $stored)"
}

