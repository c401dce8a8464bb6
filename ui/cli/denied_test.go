package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without files.
const nobody = 65534

// TestAResolveThatIsDeniedChangesNothing runs as a user whom the system really denies: root ignores
// permission bits.
func TestAResolveThatIsDeniedChangesNothing(t *testing.T) {
	asRoot := os.Geteuid() == 0
	self := program(t)
	for _, c := range []struct {
		name, denied string
		mode         os.FileMode
		take         string
		words        string
		changed      bool
	}{
		{"the folder is read-only", "vault", 0o555, "base", "this user may not write there", false},
		{"the folder is read-only, and the base would be written", "vault", 0o555, "copy", "this user may not write there", false},
		{"the copy cannot be read", "vault/" + killName, 0, "base", "permission denied", false},
		{"the base cannot be read", "vault/plan.md", 0, "copy", "permission denied", false},
		{"the folder cannot be read", "vault", 0, "base", "denied", false},
		{"nothing can be kept", "state", 0o555, "copy", "refused: no change without an audit log", false},
		{"nothing denies it", "home", 0o755, "copy", "has the copy's text; the copy was removed", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := openDir(t)
			for _, dir := range []string{"vault", "state", "home"} {
				if err := os.Mkdir(filepath.Join(top, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			given := map[string]string{"vault/plan.md": killBase, "vault/" + killName: killCopy}
			for name, text := range given {
				if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if asRoot {
				for _, name := range []string{"", "vault", "state", "home", "vault/plan.md", "vault/" + killName} {
					if err := os.Chown(filepath.Join(top, name), nobody, nobody); err != nil {
						t.Fatal(err)
					}
				}
			}
			denied := filepath.Join(top, c.denied)
			if err := os.Chmod(denied, c.mode); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, "-test.run=^$")
			cmd.Dir = top
			cmd.Env = []string{"HOME=" + filepath.Join(top, "home"), "XDG_STATE_HOME=" + filepath.Join(top, "state"), "LANG=C.UTF-8",
				playEnv + "=" + strings.Join([]string{"--open", "vault=" + filepath.Join(top, "vault"), "conflicts", "resolve", "vault:" + killName, "--take", c.take, "--yes"}, "\n")}
			if asRoot {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			out, err := cmd.CombinedOutput()
			if cerr := os.Chmod(denied, 0o755); cerr != nil {
				t.Fatal(cerr)
			}
			if (err == nil) != c.changed || !strings.Contains(string(out), c.words) || strings.Contains(string(out), top) {
				t.Errorf("%v, want %q and no path in\n%s", err, c.words, out)
			}
			if c.changed {
				return
			}
			for name, text := range given {
				if b, err := os.ReadFile(filepath.Join(top, name)); err != nil || string(b) != text {
					t.Errorf("%s holds %q: %v", name, b, err)
				}
			}
			if left, _ := os.ReadDir(filepath.Join(top, "state", "memdesk", "undo")); len(left) > 0 {
				t.Errorf("an undo entry is left of what never was: %v", left)
			}
		})
	}
}

// openDir is a temporary directory that every user may traverse.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// program is this test binary in a place where every user may run it.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(openDir(t), "memdesk.test")
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = io.Copy(to, from); err == nil {
		err = to.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
