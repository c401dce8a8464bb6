package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/internal/atomicfile"
	"memdesk/internal/atomicfile/faultfs"
)

const (
	before = "the old content"
	after  = "the new content, which is longer than the old"
)

func put(t *testing.T, path, body string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(body), 0o640); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite(t *testing.T) {
	for _, existing := range []bool{false, true} {
		t.Run(fmt.Sprintf("existing=%v", existing), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if existing {
				put(t, path, before)
			}
			if err := atomicfile.Write(path, []byte(after), 0o604); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != after {
				t.Errorf("content %q, %v", got, err)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o604 {
				t.Errorf("mode %v, %v, want 0604", info.Mode(), err)
			}
			if diff := cmp.Diff([]string{"f"}, names(t, dir)); diff != "" {
				t.Errorf("left behind (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrderOfSteps(t *testing.T) {
	dir := t.TempDir()
	l := faultfs.New(nil)
	temp := func(string) string { return "temp" }
	if err := atomicfile.WriteFS(l, filepath.Join(dir, "f"), []byte(after), atomicfile.Options{TempName: temp}); err != nil {
		t.Fatal(err)
	}
	want := []string{"create temp", "write temp", "chmod temp", "sync temp", "rename f", "syncdir " + filepath.Base(dir)}
	if diff := cmp.Diff(want, l.Steps()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// Every step fails in every way; a reader must see the old or the new content, and any error except a
// crash must leave nothing else behind.
func TestOldOrNew(t *testing.T) {
	faults := map[string]faultfs.Fault{
		"crash before": {Crash: true},
		"crash after":  {Crash: true, After: true},
		"half written": {Crash: true, Part: 7},
		"short write":  {Err: errors.New("short write"), Part: 7},
		"disk full":    {Err: syscall.ENOSPC, Part: 3},
		"i/o error":    {Err: syscall.EIO},
	}
	const steps = 6
	for name, fault := range faults {
		for n := range steps {
			t.Run(fmt.Sprintf("%s at step %d", name, n), func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "f")
				put(t, path, before)
				l := faultfs.New(func(i int, _ string) *faultfs.Fault {
					if i == n {
						return &fault
					}
					return nil
				})
				err := atomicfile.WriteFS(l, path, []byte(after), atomicfile.Options{})
				if err == nil {
					t.Fatal("the fault was not reported")
				}
				body, rerr := os.ReadFile(path)
				if rerr != nil {
					t.Fatal(rerr)
				}
				switch string(body) {
				case before:
					if errors.Is(err, atomicfile.ErrUnsynced) {
						t.Errorf("says the new content is in place, but it is not: %v", err)
					}
				case after:
					if !l.Dead() && !errors.Is(err, atomicfile.ErrUnsynced) {
						t.Errorf("new content in place, yet the error does not say so: %v", err)
					}
				default:
					t.Errorf("neither old nor new: %q", body)
				}
				if left := names(t, dir); !l.Dead() && len(left) != 1 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

func TestAWriteThatIsCutInSilence(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, before)
	l := faultfs.New(func(_ int, step string) *faultfs.Fault {
		if strings.HasPrefix(step, "write") {
			return &faultfs.Fault{Part: 5, Silent: true}
		}
		return nil
	})
	if err := atomicfile.WriteFS(l, path, []byte(after), atomicfile.Options{}); err == nil {
		t.Error("5 bytes were taken for all")
	}
	if body, _ := os.ReadFile(path); string(body) != before {
		t.Errorf("the file holds %q", body)
	}
}

func TestRefusesWhatIsNotAFile(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	put(t, real, before)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "absent"), dangling); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	was := names(t, dir)
	for _, path := range []string{link, dangling, sub} {
		if err := atomicfile.Write(path, []byte(after), 0o600); !errors.Is(err, atomicfile.ErrNotRegular) {
			t.Errorf("%s: error %v, want ErrNotRegular", filepath.Base(path), err)
		}
	}
	if diff := cmp.Diff(was, names(t, dir)); diff != "" {
		t.Errorf("directory changed (-want +got):\n%s", diff)
	}
	if body, _ := os.ReadFile(real); string(body) != before {
		t.Errorf("the link's target was changed to %q", body)
	}
}

func TestKeepModeAndOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, before)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	wantUID, wantGID := uint32(os.Getuid()), uint32(os.Getgid())
	if os.Getuid() == 0 {
		wantUID, wantGID = 1234, 2345
		if err := os.Chown(path, int(wantUID), int(wantGID)); err != nil {
			t.Fatal(err)
		}
	}
	o := atomicfile.Options{Perm: 0o600, KeepMode: true, KeepOwner: true}
	if err := atomicfile.WriteFS(atomicfile.OS{}, path, []byte(after), o); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	if info.Mode().Perm() != 0o644 || st.Uid != wantUID || st.Gid != wantGID {
		t.Errorf("mode %v owner %d:%d, want 0644 %d:%d", info.Mode(), st.Uid, st.Gid, wantUID, wantGID)
	}
}

func TestTempNames(t *testing.T) {
	long := strings.Repeat("n", 255)
	if got := atomicfile.HiddenTemp(long); len(got) != 255 {
		t.Errorf("hidden name of a long base has %d bytes", len(got))
	}
	dir := t.TempDir()
	if err := atomicfile.Write(filepath.Join(dir, long), []byte(after), 0o600); err != nil {
		t.Errorf("longest legal name: %v", err)
	}
	for _, bad := range []string{"", "f", "../f", "a/b"} {
		o := atomicfile.Options{TempName: func(string) string { return bad }}
		if err := atomicfile.WriteFS(atomicfile.OS{}, filepath.Join(dir, "f"), nil, o); err == nil {
			t.Errorf("temporary name %q was accepted", bad)
		}
	}
}

func TestTakenTempNameIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "t0"), before)
	n := -1
	o := atomicfile.Options{TempName: func(string) string { n++; return fmt.Sprintf("t%d", n) }}
	if err := atomicfile.WriteFS(atomicfile.OS{}, filepath.Join(dir, "f"), []byte(after), o); err != nil {
		t.Fatal(err)
	}
	if body, _ := os.ReadFile(filepath.Join(dir, "t0")); string(body) != before {
		t.Errorf("another's temporary file now holds %q", body)
	}
}

// TestDirectoriesAreFlushed: the entry of each new directory must be flushed before anything is put into it.
func TestDirectoriesAreFlushed(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Base(dir)
	l := faultfs.New(nil)
	for range 2 { // the second finds them
		if err := atomicfile.MakeDirs(l, filepath.Join(dir, "a", "b")); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"mkdir a", "syncdir " + base, "mkdir b", "syncdir a"}
	if diff := cmp.Diff(want, l.Steps()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	put(t, filepath.Join(dir, "f"), before)
	if err := atomicfile.MakeDirs(l, filepath.Join(dir, "f")); err == nil {
		t.Error("a file passes for a directory")
	}
}

// TestStateIsMadeDurably: a directory that is not flushed is gone after power loss, with the state in it.
func TestStateIsMadeDurably(t *testing.T) {
	for _, pkg := range []string{"undo", "jobs", "origin", "internal/statedir"} {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(pkg, err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{"os.Mkdir(", "os.MkdirAll("} {
				if bytes.Contains(text, []byte(call)) {
					t.Errorf("%s calls %s...): use atomicfile.MakeDirs", f, call)
				}
			}
		}
	}
}

func TestCreate(t *testing.T) {
	whole := func(w io.Writer) error {
		_, err := io.WriteString(w, after)
		return err
	}
	cut := errors.New("cut")
	for name, tt := range map[string]struct {
		stands bool // before the file is made
		fill   func(path string) func(io.Writer) error
		err    error
		want   string
	}{
		"new":    {fill: func(string) func(io.Writer) error { return whole }, want: after},
		"stands": {stands: true, fill: func(string) func(io.Writer) error { return nil }, err: fs.ErrExist, want: before},
		"cut": {fill: func(string) func(io.Writer) error {
			return func(w io.Writer) error { return errors.Join(whole(w), cut) }
		}, err: cut},
		"made meanwhile": {fill: func(path string) func(io.Writer) error {
			return func(w io.Writer) error { put(t, path, before); return whole(w) }
		}, err: fs.ErrExist, want: before},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if tt.stands {
				put(t, path, before)
			}
			if err := atomicfile.Create(path, tt.fill(path)); !errors.Is(err, tt.err) {
				t.Errorf("%v, want %v", err, tt.err)
			}
			var left []string
			if tt.want != "" {
				left = []string{"f"}
			}
			if diff := cmp.Diff(left, names(t, dir)); diff != "" {
				t.Errorf("left behind (-want +got):\n%s", diff)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.want {
				t.Errorf("content %q", got)
			}
			if info, err := os.Stat(path); err == nil && !tt.stands && tt.want == after && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
		})
	}
}

// A directory cannot be linked, as no file can on some file systems.
func TestPlaceWithoutLinks(t *testing.T) {
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "f")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Place(temp, path); err == nil {
		t.Error("a directory took the name of a file")
	}
	if diff := cmp.Diff([]string{"temp"}, names(t, dir)); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
	put(t, path, before)
	if err := atomicfile.Place(temp, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v where a file stands", err)
	}
	if got, _ := os.ReadFile(path); string(got) != before {
		t.Errorf("content %q", got)
	}
}

// TestAnotherOwnerIsNamed: a file that cannot be replaced under its owner stays, and the error says whose it is.
func TestAnotherOwnerIsNamed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file to another owner")
	}
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, before)
	if err := os.Chown(path, 1234, 2345); err != nil {
		t.Fatal(err)
	}
	l := faultfs.New(func(_ int, step string) *faultfs.Fault {
		if !strings.HasPrefix(step, "chown") {
			return nil
		}
		return &faultfs.Fault{Err: &fs.PathError{Op: "chown", Path: path, Err: syscall.EPERM}}
	})
	err := atomicfile.WriteFS(l, path, []byte(after), atomicfile.Options{KeepOwner: true})
	if body, _ := os.ReadFile(path); string(body) != before || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "user 1234 and group 2345") {
		t.Errorf("%v; the file holds %q", err, body)
	}
}
