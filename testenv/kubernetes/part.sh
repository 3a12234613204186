# Without it the API server calls itself v0.0.0-master.
flags=(-ldflags "-X k8s.io/component-base/version.gitVersion=v1.35.4")
