//go:build unix

package vitals

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/model"
)

func TestDisk(t *testing.T) {
	if f := Disk(t.TempDir()); len(f) > 0 && f[0].State == model.HealthDown {
		t.Errorf("a directory of ours: %+v", f)
	}
	if f := Disk(t.TempDir() + "/gone"); f != nil {
		t.Errorf("a directory that is gone: %+v", f)
	}
	for _, tt := range []struct {
		free   int64
		untold bool
		state  model.HealthState
	}{{0, false, model.HealthDown}, {fullAt, false, model.HealthDegraded}, {lowAt, false, ""}, {0, true, ""}} {
		f := space(tt.free, tt.untold)
		if (len(f) == 0) != (tt.state == "") || len(f) > 0 && f[0].State != tt.state {
			t.Errorf("%d bytes free: %+v", tt.free, f)
		}
	}
}

func TestOnlyALockThatStaysIsAFinding(t *testing.T) {
	const table = `1: POSIX  ADVISORY  READ 11 08:01:7 0 EOF
2: POSIX  ADVISORY  WRITE 12 08:01:8 120 120
3: -> POSIX ADVISORY WRITE 13 08:01:7 0 EOF
4: FLOCK  ADVISORY  WRITE 14 08:01:9 0 EOF
5: OFDLCK ADVISORY  WRITE -1 08:01:10 0 EOF
6: FLOCK  ADVISORY  WRITE 15 00:1b:7 0 EOF
torn`
	// A number on another device is another file; devices without a block device are not told apart.
	for inode, want := range map[string]int{"08:01:7": 0, "08:01:8": 12, "08:01:9": 14, "08:01:10": 0, "08:01:11": 0, "fe:00:8": 0, "00:8": 0, "00:7": 15} {
		if got := writer(strings.NewReader(table), map[string]bool{inode: true}, 1); got != want {
			t.Errorf("inode %s: process %d, want %d", inode, got, want)
		}
	}
	if got := writer(strings.NewReader(table), map[string]bool{"08:01:8": true}, 12); got != 0 {
		t.Errorf("our own lock is process %d's", got)
	}
	var w LockWatch
	at := time.Now()
	for _, tt := range []struct {
		after time.Duration
		pid   int
		found bool
	}{{0, 12, false}, {time.Minute, 12, false}, {2 * time.Minute, 12, true}, {3 * time.Minute, 0, false},
		{4 * time.Minute, 12, false}, {7 * time.Minute, 13, false}, {8 * time.Minute, 13, false}, {9 * time.Minute, 13, true}} {
		if f := w.seen(at.Add(tt.after), tt.pid); (len(f) > 0) != tt.found {
			t.Errorf("after %v with process %d: %+v", tt.after, tt.pid, f)
		}
	}
}

// TestUnwritable asks about a directory without the right to enter it, and about a mode that root overrides.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	if why := Unwritable(dir); why != "" {
		t.Errorf("a directory of ours: %s", why)
	}
	if why := Unwritable(filepath.Join(dir, "gone")); why != "" {
		t.Errorf("what is not there: %s", why)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	for _, mode := range []os.FileMode{0o500, 0o600} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if why := Unwritable(dir); !strings.Contains(why, "this user may not write there") {
			t.Errorf("mode %o: %q", mode, why)
		}
	}
	_ = os.Chmod(dir, 0o700) //nolint:gosec // for its removal
}
