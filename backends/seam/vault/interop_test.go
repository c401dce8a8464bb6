package vault_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"memdesk/backends/seam/vault"
	"memdesk/model"
)

// rounds is the number of writes of each writer in a race.
func rounds(few int) int {
	if os.Getenv("MEMDESK_SOAK") != "" {
		return 10_000
	}
	return few
}

// otherWriter is a second implementation of the lock of agentm.md, by a writer with no other
// protection: it reads, adds a line, writes in place.
type otherWriter struct{ lock, file string }

func newOtherWriter(t *testing.T, cfg vault.Config, root, file string) otherWriter {
	t.Helper()
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(real))
	return otherWriter{filepath.Join(cfg.LockRoot, hex.EncodeToString(sum[:]), "lock"), file}
}

func (o otherWriter) add(line string) error {
	if err := os.MkdirAll(filepath.Dir(o.lock), 0o777); err != nil {
		return err
	}
	start, pause := time.Now(), 10*time.Millisecond
	for {
		err := os.Mkdir(o.lock, 0o777)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrExist) {
			return err
		}
		if st, err := os.Lstat(o.lock); err != nil || time.Since(st.ModTime()) > 10*time.Second {
			_ = os.Remove(o.lock)
			continue
		}
		if time.Since(start) > 10*time.Second {
			return errors.New("lock timeout")
		}
		time.Sleep(pause)
		pause = min(2*pause, 200*time.Millisecond)
	}
	defer os.Remove(o.lock)
	old, err := os.ReadFile(o.file)
	if err != nil {
		return err
	}
	return os.WriteFile(o.file, append(old, line...), 0o644)
}

// python is a third implementation, in the language of the original.
const python = `
import hashlib, os, sys, time
base, root, path, rounds = sys.argv[1], os.path.realpath(sys.argv[2]), sys.argv[3], int(sys.argv[4])
lock = os.path.join(base, hashlib.sha256(root.encode()).hexdigest(), "lock")
os.makedirs(os.path.dirname(lock), exist_ok=True)
for n in range(rounds):
    pause = 0.01
    while True:
        try:
            os.mkdir(lock)
            break
        except FileExistsError:
            try:
                if time.time() - os.stat(lock).st_mtime > 10:
                    os.rmdir(lock)
                    continue
            except OSError:
                continue
            time.sleep(pause)
            pause = min(pause * 2, 0.2)
    try:
        text = open(path).read()
        temp = path + "." + str(os.getpid()) + "." + "0" * 32 + ".tmp"
        with open(temp, "w") as f:
            f.write(text + "python %d\n" % n)
        os.replace(temp, path)
    finally:
        os.rmdir(lock)
`

// TestTheLockIsShared lets memdesk and other implementations of the lock add lines to one note under
// the memory root's lock. The others rely on the lock alone: without exclusion lines would be lost.
func TestTheLockIsShared(t *testing.T) {
	cfg := fresh(t)
	cfg.MemoryRoot = "Agent"
	plant(t, cfg.Path, "Agent/log.md", "start\n")
	file := filepath.Join(cfg.Path, "Agent", "log.md")
	n := rounds(25)
	var wg sync.WaitGroup
	for w := range 2 {
		s := open(t, cfg)
		wg.Go(func() {
			for i := range n {
				line := fmt.Sprintf("memdesk%d %d\n", w, i)
				if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "Agent/log.md", Mode: model.Append, Content: line}); err != nil {
					t.Errorf("retain: %v", err)
				}
			}
		})
	}
	other := newOtherWriter(t, cfg, filepath.Join(cfg.Path, "Agent"), file)
	wg.Go(func() {
		for i := range n {
			if err := other.add(fmt.Sprintf("other %d\n", i)); err != nil {
				t.Errorf("the other writer: %v", err)
			}
		}
	})
	writers := []string{"memdesk0", "memdesk1", "other"}
	if py, err := exec.LookPath("python3"); err == nil {
		writers = append(writers, "python")
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), py, "-c", python, cfg.LockRoot, filepath.Join(cfg.Path, "Agent"), file, fmt.Sprint(n))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("python: %v %s", err, out)
			}
		})
	} else {
		t.Log("python3 is not installed: one implementation less")
	}
	wg.Wait()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range writers {
		for i := range n {
			if !strings.Contains(string(data), fmt.Sprintf("%s %d\n", w, i)) {
				t.Errorf("%s's line %d is lost", w, i)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(cfg.LockRoot, "*", "lock")); len(left) != 0 {
		t.Errorf("locks are left: %d", len(left))
	}
}

// TestAWriterWithoutLocks lets two stores and an editor without locks add lines to one note: every line
// must be in the note or in a copy beside it.
func TestAWriterWithoutLocks(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "n.md", "start\n")
	file := filepath.Join(cfg.Path, "n.md")
	n := rounds(100)
	var wg sync.WaitGroup
	for w := range 2 {
		s := open(t, cfg)
		wg.Go(func() {
			for i := range n {
				_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "n.md", Mode: model.Append, Content: fmt.Sprintf("memdesk%d %d\n", w, i)})
				if err != nil && !errors.Is(err, model.Conflict) {
					t.Errorf("retain: %v", err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range n {
			for {
				f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
				if errors.Is(err, os.ErrNotExist) {
					continue
				}
				if err == nil {
					_, err = fmt.Fprintf(f, "editor %d\n", i)
					err = errors.Join(err, f.Close())
				}
				if err != nil {
					t.Errorf("editor: %v", err)
				}
				break
			}
		}
	})
	wg.Wait()
	all, copies := "", 0
	list, err := os.ReadDir(cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(cfg.Path, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all += string(data)
		copies++
	}
	for _, w := range []string{"memdesk0", "memdesk1", "editor"} {
		for i := range n {
			if !strings.Contains(all, fmt.Sprintf("%s %d\n", w, i)) {
				t.Errorf("%s's line %d is lost", w, i)
			}
		}
	}
	t.Logf("%d files hold %d bytes", copies, len(all))
}
