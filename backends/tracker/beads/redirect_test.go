package beads_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/tracker/beads"
	"memdesk/model"
)

func TestRedirect(t *testing.T) {
	root := t.TempDir()
	t.Setenv("HOME", filepath.Join(root, "home"))
	away := filepath.Join(t.TempDir(), "far", ".beads")
	for dir, id := range map[string]string{"work/main": "main-1", "home/deep/er": "home-1", "work/tree": "tree-1", "work/chain": "chain-1"} {
		must(t, os.MkdirAll(filepath.Join(root, dir, ".beads"), 0o755))
		must(t, os.WriteFile(filepath.Join(root, dir, ".beads", "issues.jsonl"), []byte(lineFor("open", id, "text")), 0o644))
	}
	must(t, os.MkdirAll(away, 0o755))
	must(t, os.Symlink(away, filepath.Join(root, "work", "link")))
	must(t, os.WriteFile(filepath.Join(root, "work/chain/.beads/redirect"), []byte("../main/.beads"), 0o644))
	tree := filepath.Join(root, "work", "tree", ".beads")
	for _, tt := range []struct{ redirect, id, says string }{
		{"# by git worktree\n\n ../main/.beads \nmore", "main-1", "leads to the one of main"},
		{"../main/.beads/", "main-1", "leads to the one of main"},
		{filepath.Join(root, "home/deep/er/.beads"), "home-1", "leads to the one of er"},
		{"../chain/.beads", "chain-1", "leads to the one of chain"},
		{"../../../../../../../../etc/.beads", "", "not there"},
		{"../main", "", "no .beads"},
		{"../link", "", "leads away"},
		{away, "", "leads away"},
		{"# nothing\n", "", "names no directory"},
		{strings.Repeat("#\n", 4096), "", "too long"},
	} {
		must(t, os.WriteFile(filepath.Join(tree, "redirect"), []byte(tt.redirect), 0o644))
		s, err := beads.Open(t.Context(), beads.Config{Path: filepath.Dir(tree)})
		if tt.id == "" {
			if !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), root) {
				t.Errorf("%.30q: %v", tt.redirect, err)
			}
			continue
		}
		if err != nil || !strings.Contains(strings.Join(s.Notes, "\n"), tt.says) {
			t.Errorf("%.30q: %q, %v", tt.redirect, s.Notes, err)
			continue
		}
		if _, err := s.Browser.Read(t.Context(), tt.id); err != nil {
			t.Errorf("%.30q: %v", tt.redirect, err)
		}
	}
	s, err := beads.Open(t.Context(), beads.Config{Path: filepath.Join(tree, "issues.jsonl")})
	must(t, err)
	if _, err := s.Browser.Read(t.Context(), "tree-1"); err != nil {
		t.Errorf("a file that is named: %v", err)
	}
	must(t, os.Remove(filepath.Join(tree, "redirect")))
	must(t, os.Symlink("../../main/.beads/issues.jsonl", filepath.Join(tree, "redirect")))
	if _, err := beads.Open(t.Context(), beads.Config{Path: tree}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a redirect that is a link: %v", err)
	}
}
