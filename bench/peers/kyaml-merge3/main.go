// Command kyaml-merge3 merges three YAML files with kyaml's Merge3 filter and writes one: the peer of the benchmarks.
//
// Usage: kyaml-merge3 BASE OURS THEIRS OUT
package main

import (
	"bytes"
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/kio/filters"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// The annotation by which the filter tells the three sides apart.
const side = "config.kubernetes.io/merge-source"

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: kyaml-merge3 BASE OURS THEIRS OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(base, ours, theirs, out string) error {
	var nodes []*yaml.RNode
	// The order in which the filter itself reads packages, so that the output keeps the order of ours.
	for _, input := range []struct{ path, side string }{{ours, "dest"}, {base, "original"}, {theirs, "updated"}} {
		content, err := os.ReadFile(input.path)
		if err != nil {
			return err
		}
		reader := kio.ByteReader{
			Reader:                bytes.NewReader(content),
			OmitReaderAnnotations: true,
			SetAnnotations:        map[string]string{side: input.side},
		}
		read, err := reader.Read()
		if err != nil {
			return fmt.Errorf("reading %s: %w", input.path, err)
		}
		nodes = append(nodes, read...)
	}
	merged, err := filters.Merge3{Matcher: &cached{keys: map[*yaml.RNode]string{}}}.Filter(nodes)
	if err != nil {
		return err
	}
	var written bytes.Buffer
	writer := kio.ByteWriter{Writer: &written, ClearAnnotations: []string{side}}
	if err := writer.Write(merged); err != nil {
		return err
	}
	return os.WriteFile(out, written.Bytes(), 0o644)
}

// cached matches resources as the filter's own matcher does, but reads each name once. The filter's own reads the
// metadata of both nodes at every comparison and takes about twice the time; the peer shall show its best.
type cached struct{ keys map[*yaml.RNode]string }

func (c *cached) key(node *yaml.RNode) string {
	if key, ok := c.keys[node]; ok {
		return key
	}
	meta, err := node.GetMeta()
	if err != nil {
		return ""
	}
	key := meta.APIVersion + "|" + meta.Kind + "|" + meta.Namespace + "|" + meta.Name
	c.keys[node] = key
	return key
}

func (c *cached) IsSameResource(a, b *yaml.RNode) bool {
	return a != nil && b != nil && c.key(a) == c.key(b)
}
