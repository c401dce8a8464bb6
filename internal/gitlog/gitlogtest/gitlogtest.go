// Package gitlogtest makes repositories whose own configuration is a trap.
package gitlogtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Partial commits a directory to a new repository that looks like a partial clone and lacks the object named
// rev. It returns a file: git makes it, by the repository's own configuration, when it fetches the object.
func Partial(t testing.TB, dir, rev string) (ran string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git program is installed")
	}
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.test"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-05-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-05-01T00:00:00Z")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", "--all")
	git("commit", "-q", "-m", "x")
	ran = filepath.Join(t.TempDir(), "ran")
	for _, set := range [][]string{
		{"core.repositoryformatversion", "1"}, {"extensions.partialClone", "origin"}, {"remote.origin.promisor", "true"},
		{"remote.origin.url", "ext::touch " + ran}, {"protocol.ext.allow", "always"},
	} {
		git("config", set[0], set[1])
	}
	id := git("rev-parse", rev)
	if err := os.Remove(filepath.Join(dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	return ran
}
