package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

// TestAFileThatGoesAwayIsNoticed: a read from a removed file shows content that no longer exists, and a
// write to it is lost.
func TestAFileThatGoesAwayIsNoticed(t *testing.T) {
	for name, act := range map[string]func(t *testing.T, path string){
		"removed": func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"replaced": func(t *testing.T, path string) {
			must(t, os.Rename(path, path+".old"))
			db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Create: true})
			must(t, err)
			must(t, db.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Create: true})
			must(t, err)
			defer db.Close()
			node := hypergraph.Node{ID: "a", Type: "fact", Tier: "task", Content: "x", Confidence: 1}
			must(t, db.CreateNode(t.Context(), node))

			err = db.WithTx(t.Context(), func(ops hypergraph.Ops) error {
				node.ID = "b"
				must(t, ops.CreateNode(t.Context(), node))
				act(t, path) // at the worst moment: after the write, before the commit
				return nil
			})
			if !errors.Is(err, model.Unavailable) {
				t.Errorf("a write into a file that is gone says %v", err)
			}
			if err := db.Ping(t.Context()); !errors.Is(err, model.Unavailable) {
				t.Errorf("ping says %v", err)
			}
			if _, err := db.GetNode(t.Context(), "a"); !errors.Is(err, model.Unavailable) {
				t.Errorf("a read says %v", err)
			}
		})
	}
}
