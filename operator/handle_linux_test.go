package operator

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
)

// TestAViewersHandleCannotWrite: a session that may change no store must have the SQLite file open
// read-only, as the kernel sees it.
func TestAViewersHandleCannotWrite(t *testing.T) {
	for role, writes := range map[string]bool{"viewer": false, "reviewer": false, "approver": false, "auditor": false, "operator": true} {
		path := filepath.Join(t.TempDir(), "x.db")
		s := newSession(t, func(o *Options) {
			o.Who, o.Config.Operator.Roles = audit.Actor{ID: "SHA256:a", Authenticated: true, Key: "SHA256:a"}, blocks(role)
		})
		c := backends.StoreConfig{Name: "db", Kind: "sqlite", Path: path}
		kind, _ := s.Kinds.Kind("sqlite")
		if err := kind.Create(t.Context(), c, backends.Env{Clock: s.Clock, Getenv: s.Env}); err != nil {
			t.Fatal(err)
		}
		if err := s.Fleet.Close(); err != nil {
			t.Fatal(err)
		}
		s.Open(t.Context(), []backends.StoreConfig{c}, time.Second)
		st, err := s.Fleet.Store("db")
		if err != nil {
			t.Fatal(err)
		}
		_, err = st.Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "k", Mode: model.Append, Content: "tea"})
		if writes != (err == nil) || !writes && !model.IsRefusal(err) {
			t.Errorf("%s: retain: %v", role, err)
		}
		if _, err := st.Browser.List(t.Context(), model.PageRequest{Limit: 1}); err != nil {
			t.Fatal(err)
		}
		open, writable := handles(t, path)
		if open == 0 || writable > 0 != writes {
			t.Errorf("%s: %d handles, %d of them can write", role, open, writable)
		}
	}
}

// handles counts this process's descriptors of a file, and those that can write.
func handles(t *testing.T, path string) (open, writable int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if at, err := os.Readlink("/proc/self/fd/" + e.Name()); err != nil || at != path {
			continue
		}
		info, err := os.ReadFile("/proc/self/fdinfo/" + e.Name())
		if err != nil {
			continue
		}
		open++
		for line := range strings.Lines(string(info)) {
			if octal, ok := strings.CutPrefix(line, "flags:"); ok {
				if flags, _ := strconv.ParseInt(strings.TrimSpace(octal), 8, 64); flags&syscall.O_ACCMODE != syscall.O_RDONLY {
					writable++
				}
			}
		}
	}
	return open, writable
}
