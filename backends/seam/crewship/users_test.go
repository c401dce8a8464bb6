//go:build linux

package crewship_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"memdesk/backends/seam/crewship"
	"memdesk/internal/clock"
	"memdesk/model"
)

// The users of a Crewship host (crewship-disk.md, Ownership), and one of memdesk's.
const (
	agentUser   = 1001
	sidecarUser = 1002
	crewGroup   = 1002
	deskUser    = 3000
)

// as runs fn on a thread of another user, which ends with it.
func as(t *testing.T, uid, gid int, groups []uint32, fn func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread must not serve other goroutines
		var err error
		defer func() { done <- err }()
		if err = become(uid, gid, groups); err == nil {
			fn()
		}
	}()
	if err := <-done; err != nil {
		t.Fatalf("becoming user %d: %v", uid, err)
	}
}

// become changes the user of this thread alone.
func become(uid, gid int, groups []uint32) error {
	var list uintptr
	if len(groups) > 0 {
		list = uintptr(unsafe.Pointer(&groups[0]))
	}
	for _, c := range [][4]uintptr{
		{syscall.SYS_SETGROUPS, uintptr(len(groups)), list},
		{syscall.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)},
		{syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)},
	} {
		if _, _, errno := syscall.RawSyscall(c[0], c[1], c[2], c[3]); errno != 0 {
			return errno
		}
	}
	return nil
}

// crewTree is a .memory directory with Crewship's modes and owners.
func crewTree(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	for _, d := range []string{filepath.Dir(base), base} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(base, ".memory")
	for _, d := range []string{dir, filepath.Join(dir, "daily")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, uid := range map[string]int{"daily/2026-07-01.md": agentUser, "AGENT.md": agentUser, "pins.md": sidecarUser} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, uid, crewGroup); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o664); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, filepath.Join(dir, "daily")} {
		if err := os.Chown(d, agentUser, crewGroup); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, os.ModeSetgid|0o775); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestAgentAndSidecarUseWhatMemdeskMakes: three users share a tree, and none may lock another out.
func TestAgentAndSidecarUseWhatMemdeskMakes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become three users")
	}
	for _, desk := range []struct {
		name     string
		uid, gid int
		groups   []uint32
	}{
		{"root", 0, 0, nil},
		{"the agent's user", agentUser, crewGroup, nil},
		{"the sidecar's user", sidecarUser, crewGroup, nil},
		{"a member of the group", deskUser, deskUser, []uint32{crewGroup}},
	} {
		for _, umask := range []int{0o077, 0o022, 0} {
			t.Run(fmt.Sprintf("%s, umask %03o", desk.name, umask), func(t *testing.T) {
				dir := crewTree(t)
				defer syscall.Umask(syscall.Umask(umask))
				as(t, desk.uid, desk.gid, desk.groups, func() { changeAll(t, dir) })
				syscall.Umask(0o002)
				for _, uid := range []int{agentUser, sidecarUser} {
					as(t, uid, crewGroup, nil, func() { useAll(t, dir, uid) })
				}
			})
		}
	}
}

// changeAll makes every sort of file that memdesk makes in a .memory directory.
func changeAll(t *testing.T, dir string) {
	s, err := crewship.Open(t.Context(), crewship.Config{Name: "m", Path: dir, Clock: clock.Fixed(now)})
	if err != nil {
		t.Error(err)
		return
	}
	for _, req := range []model.RetainRequest{
		{Tier: "daily", Key: "2026-07-01"}, {Tier: "daily", Key: "2026-07-02"}, {Tier: "peers", Key: "u"},
		{Tier: "AGENT"}, {Tier: "pins"}, {Tier: "PERSONA"},
	} {
		req.Mode, req.Content = model.Append, "more\n"
		if _, err := s.Provider.Retain(t.Context(), req); err != nil {
			t.Errorf("retain %s %s: %v", req.Tier, req.Key, err)
		}
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "AGENT", Mode: model.Append, Content: poison}); err == nil {
		t.Error("poison is taken")
	}
}

// useAll opens every file and lock for writing and creates a file in every directory, as an agent and
// its sidecar do.
func useAll(t *testing.T, dir string, uid int) {
	quarantined := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			temp := filepath.Join(path, fmt.Sprintf("x.md.tmp.%016x", uid))
			if err := os.WriteFile(temp, nil, 0o644); err != nil {
				return err
			}
			return os.Remove(temp)
		}
		if filepath.Base(filepath.Dir(path)) == ".quarantine" {
			quarantined++
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		return f.Close()
	})
	if err != nil || quarantined != 1 {
		t.Errorf("user %d: %v; %d files in quarantine, want 1", uid, err, quarantined)
	}
}

// TestNobodyIsLockedOut: a process that cannot give a file the directory's shared group must not create it.
func TestNobodyIsLockedOut(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become three users")
	}
	dir := crewTree(t)
	if err := os.Chmod(dir, 0o775); err != nil { // without setgid a file gets memdesk's own group
		t.Fatal(err)
	}
	as(t, agentUser, deskUser, nil, func() {
		s, err := crewship.Open(t.Context(), crewship.Config{Name: "m", Path: dir, Clock: clock.Fixed(now)})
		if err != nil {
			t.Error(err)
			return
		}
		_, err = s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "PERSONA", Mode: model.Replace, Content: "x"})
		refused(t, err, model.PermissionDenied, "group 1002")
	})
	for _, name := range []string{"PERSONA.md", "PERSONA.md.lock"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}
