package gitlog

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Author is the author of a file's last commit.
type Author struct {
	Name, Commit string
	At           time.Time
}

// authorPatience bounds the search in the history of one file.
const authorPatience = 2 * time.Second

// AuthorOf finds the last commit of a file; false for a file outside any repository, never committed, or
// changed since its last commit. It reads one file, for two seconds at most.
func AuthorOf(ctx context.Context, path string) (Author, bool) {
	if _, err := exec.LookPath("git"); err != nil {
		return Author{}, false
	}
	root, ok := Root(filepath.Dir(path))
	if !ok {
		return Author{}, false
	}
	spec, err := filepath.Rel(root, path)
	if err != nil {
		return Author{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, authorPatience)
	defer cancel()
	g := asker{ctx: ctx, root: root, spec: filepath.ToSlash(spec)}
	// A diff would run the filters that the repository configures.
	was, err := g.command("rev-parse", "--verify", "--quiet", "HEAD:"+g.spec).Output()
	if err != nil {
		return Author{}, false
	}
	now, err := g.command("hash-object", "--no-filters", "--", g.spec).Output()
	if err != nil || !bytes.Equal(was, now) {
		return Author{}, false
	}
	out, err := g.command("log", "-1", "--format=%H%x00%aI%x00%an", "--", g.spec).Output()
	f := strings.SplitN(strings.TrimSuffix(string(out), "\n"), "\x00", 3)
	if err != nil || len(f) < 3 {
		return Author{}, false
	}
	at, err := time.Parse(time.RFC3339, f[1])
	return Author{Name: f[2], Commit: f[0][:min(12, len(f[0]))], At: at}, err == nil
}
