//go:build tools

// Package tools names the programs that are built here, so that `go mod tidy` keeps what they need.
package tools

import (
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
