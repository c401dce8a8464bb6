package statedir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"memdesk/internal/statedir"
)

func TestPath(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	tests := []struct {
		name string
		env  map[string]string
		want string
	}{
		{"xdg wins", map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/memdesk"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.local/state/memdesk"},
		{"neither", nil, ""},
		{"relative is ignored", map[string]string{"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/memdesk"},
		{"relative home", map[string]string{"HOME": "h"}, ""},
		{"relative without home", map[string]string{"XDG_STATE_HOME": "./s"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := statedir.Path(env(tt.env))
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("Path = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestCheckTouchesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memdesk")
	if err := statedir.Check(dir); err != nil {
		t.Fatalf("Check of an absent directory: %v", err)
	}
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Fatalf("Check made the directory: %v", err)
	}
}

func TestEnsure(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "memdesk")
	for range 2 {
		if err := statedir.Ensure(dir); err != nil {
			t.Fatal(err)
		}
	}
	st, err := os.Stat(dir)
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Fatalf("mode = %v, %v; want 0700", st.Mode(), err)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		want string
	}{
		{"a file in its place", func(t *testing.T, d string) { write(t, d, "x") }, "a file stands"},
		{"open to others", func(t *testing.T, d string) { mkdir(t, d, 0o755) }, "open to others"},
		{"a later format", func(t *testing.T, d string) { mkdir(t, d, 0o700); write(t, filepath.Join(d, "format"), "9\n") }, "format \"9\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "memdesk")
			tt.make(t, dir)
			if err := statedir.Ensure(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Ensure = %v; want %q", err, tt.want)
			}
		})
	}
}

// TestWhereOthersMayReplaceIt: a directory is not private where any user may replace it.
func TestWhereOthersMayReplaceIt(t *testing.T) {
	for name, tt := range map[string]struct {
		mode os.FileMode
		link bool // XDG_STATE_HOME is a link
		want string
	}{
		"open":               {0o777, false, "everybody may replace"},
		"a link to open":     {0o777, true, "everybody may replace"},
		"sticky, as /tmp is": {0o777 | os.ModeSticky, false, ""},
		"a link to sticky":   {0o777 | os.ModeSticky, true, ""},
		"a link to private":  {0o700, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			home := filepath.Join(root, "shared", "home")
			mkdir(t, filepath.Dir(home), 0o700)
			mkdir(t, home, 0o700)
			if err := os.Chmod(home, tt.mode); err != nil {
				t.Fatal(err)
			}
			at := home
			if tt.link {
				at = filepath.Join(root, "link")
				if err := os.Symlink(home, at); err != nil {
					t.Fatal(err)
				}
			}
			err := statedir.Ensure(filepath.Join(at, "memdesk"))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Ensure = %v; want %q", err, tt.want)
			}
		})
	}
}

func write(t *testing.T, path, s string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.Mkdir(path, mode), os.Chmod(path, mode)); err != nil { // the umask may take from the mode
		t.Fatal(err)
	}
}

// A pipe in the place of the format must be refused: a read of it has no end.
func TestAPipeForTheFormat(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o700), syscall.Mkfifo(filepath.Join(dir, "format"), 0o600)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- statedir.Check(dir) }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("it is taken for a format")
		}
	case <-time.After(10 * time.Second):
		t.Error("it is read without end")
	}
}

// A full disk is told with what to do, and without the path, which may name a person.
func TestCause(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/home/ana/state/x", Err: syscall.ENOSPC}
	want := "no space left on device in memdesk's state directory (`memdesk info` says where it lies): make room there, then run the same command again"
	if got := statedir.Cause(full); got.Error() != want || !errors.Is(got, syscall.ENOSPC) {
		t.Errorf("%v", got)
	}
	if got := statedir.Cause(syscall.EIO).Error(); strings.Contains(got, "make room") {
		t.Error(got)
	}
}
