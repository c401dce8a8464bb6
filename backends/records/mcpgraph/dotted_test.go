package mcpgraph

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/model"
)

// TestScrubOfADottedGraph: the aside file of a graph whose name begins with a dot is no half-written one, and goes too.
func TestScrubOfADottedGraph(t *testing.T) {
	p := write(t, sample)
	path := filepath.Join(filepath.Dir(p), ".memory.jsonl")
	must(t, os.Rename(p, path))
	left := path + ".aside-20261130T120000.000001Z.jsonl"
	must(t, os.WriteFile(left, []byte("Ada"), 0o600))
	_, err := open(t, path).Maintainer.Scrub(t.Context(), model.ScrubRequest{
		Concerns: func(b []byte) bool { return strings.Contains(string(b), "Ada") },
		Redact:   func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "Ada", "[erased]")) }})
	must(t, err)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", left, err)
	}
}
