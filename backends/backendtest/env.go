package backendtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memdesk/model"
)

// word is written and recalled by the suite; no backend contains it otherwise.
const word = "marmoset"

// open opens a fresh store and closes it with the test.
func (e *Env) open(t TB) model.Store {
	t.Helper()
	s := e.Open(e.real)
	e.closes(s)
	return s
}

func (e *Env) closes(s model.Store) {
	e.real.Cleanup(func() {
		if err := s.Close(); err != nil {
			e.real.Errorf("close: %v", err)
		}
	})
}

func (e *Env) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}

// tiers are the tiers in which the suite makes items.
func (e *Env) tiers(s model.Store) []model.TierSpec {
	var out []model.TierSpec
	for _, ts := range s.Tiers {
		if _, not := e.NotByRetain[ts.Name]; ts.Writable && !not {
			out = append(out, ts)
		}
	}
	return out
}

// anyTier is the first tier in which the suite makes items, preferably one that holds many.
func (e *Env) anyTier(t TB, s model.Store) model.TierSpec {
	t.Helper()
	ts := e.tiers(s)
	if len(ts) == 0 {
		t.Skip("the store has no tier that Retain writes")
	}
	for _, spec := range ts {
		if spec.KeyRule != model.KeyIgnored && !spec.Hidden {
			return spec
		}
	}
	return ts[0]
}

// keyed are the tiers that hold an item per key.
func (e *Env) keyed(s model.Store) []model.TierSpec {
	return slices.DeleteFunc(e.tiers(s), func(ts model.TierSpec) bool { return ts.KeyRule == model.KeyIgnored })
}

// key is the nth valid key of a tier; a tier without keys has the empty one.
func (e *Env) key(ts model.TierSpec, n int) string {
	switch {
	case ts.KeyRule == model.KeyIgnored:
		return ""
	case e.Key != nil:
		return e.Key(ts.Name, n)
	}
	return fmt.Sprintf("%s-key-%d", ts.Name, n)
}

// request is a Retain in the store's scope.
func (e *Env) request(ts model.TierSpec, n int, mode model.Mode, content string) model.RetainRequest {
	r := e.scoped()
	r.Tier, r.Key, r.Mode, r.Content = ts.Name, e.key(ts, n), mode, content
	return r
}

func (e *Env) scoped() model.RetainRequest {
	return model.RetainRequest{WorkspaceID: e.Scope.WorkspaceID, AgentID: e.Scope.AgentID, CrewID: e.Scope.CrewID}
}

func (e *Env) forget(id string) model.ForgetRequest {
	return model.ForgetRequest{WorkspaceID: e.Scope.WorkspaceID, AgentID: e.Scope.AgentID, CrewID: e.Scope.CrewID, ID: id}
}

func (e *Env) query(q string) model.RecallRequest {
	return model.RecallRequest{WorkspaceID: e.Scope.WorkspaceID, AgentID: e.Scope.AgentID, CrewID: e.Scope.CrewID, Query: q}
}

// put replaces the nth item of a tier.
func (e *Env) put(t TB, s model.Store, ts model.TierSpec, n int, content string) model.RetainResult {
	t.Helper()
	if e.AppendOnly {
		return retain(t, s, e.request(ts, n, model.Append, content))
	}
	return retain(t, s, e.request(ts, n, model.Replace, content))
}

func retain(t TB, s model.Store, r model.RetainRequest) model.RetainResult {
	t.Helper()
	res, err := s.Provider.Retain(t.Context(), r)
	if err != nil {
		t.Fatalf("retain %s of %q in tier %q, key %q, id %q: %v", r.Mode, cut(r.Content), r.Tier, r.Key, r.ID, err)
	}
	return res
}

// refused checks that a Retain is an error of the kind.
func refused(t TB, s model.Store, r model.RetainRequest, kind model.Kind) {
	t.Helper()
	_, err := s.Provider.Retain(t.Context(), r)
	wantKind(t, fmt.Sprintf("retain mode %q tier %q key %q id %q of %q", r.Mode, r.Tier, r.Key, r.ID, cut(r.Content)), err, kind)
}

func wantKind(t TB, what string, err error, kinds ...model.Kind) {
	t.Helper()
	var me *model.Error
	switch {
	case err == nil:
		t.Errorf("%s: no error, want one of kind %q", what, kinds)
	case !errors.As(err, &me):
		t.Errorf("%s: %T is no *model.Error (R41): %v", what, err, err)
	case !slices.Contains(kinds, me.Kind):
		t.Errorf("%s: an error of kind %q, want %q: %v", what, me.Kind, kinds, err)
	}
}

func (e *Env) recall(t TB, s model.Store, r model.RecallRequest) model.RecallResult {
	t.Helper()
	res, err := s.Provider.Recall(t.Context(), r)
	if err != nil {
		t.Fatalf("recall %q in tier %q: %v", r.Query, r.Tier, err)
	}
	return res
}

func (e *Env) drop(t TB, s model.Store, id string) int64 {
	t.Helper()
	res, err := s.Provider.Forget(t.Context(), e.forget(id))
	if err != nil {
		t.Fatalf("forget %q: %v", id, err)
	}
	return res.Removed
}

func browser(t TB, s model.Store) model.Browser {
	t.Helper()
	if s.Browser == nil {
		t.Skip("the store has no Browser to look with")
	}
	return s.Browser
}

func read(t TB, s model.Store, id string) model.Item {
	t.Helper()
	it, err := browser(t, s).Read(t.Context(), id)
	if err != nil {
		t.Fatalf("read %q: %v", id, err)
	}
	return it
}

// wantBody checks an item's text.
func wantBody(t TB, s model.Store, id, want string) {
	t.Helper()
	if got := read(t, s, id).Body; got != want {
		t.Errorf("item %q holds %q, want %q", id, cut(got), cut(want))
	}
}

// everything lists all headers, hidden ones included.
func everything(t TB, s model.Store) []model.Header {
	t.Helper()
	b := browser(t, s)
	var out []model.Header
	req := model.PageRequest{Hidden: true, Limit: 100}
	for {
		p, err := b.List(t.Context(), req)
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		out = append(out, p.Items...)
		if req.Cursor = p.Next; req.Cursor == "" || len(out) > 100_000 {
			return out
		}
	}
}

// state is a store's whole content as text, to detect changes.
func state(t TB, s model.Store) string {
	t.Helper()
	var lines []string
	for _, h := range everything(t, s) {
		it := read(t, s, h.ID)
		lines = append(lines, fmt.Sprintf("%q %s %q %s", h.ID, it.Tier, it.Body, it.Revision))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// unchanged runs fn and checks that no item has changed. A store without a Browser is checked only by
// fn itself.
func unchanged(t TB, s model.Store, what string, fn func()) {
	t.Helper()
	if s.Browser == nil {
		fn()
		return
	}
	before := state(t, s)
	fn()
	if after := state(t, s); after != before {
		t.Errorf("%s changed the store.\nbefore:\n%s\nafter:\n%s", what, cut(before), cut(after))
	}
}

func cut(s string) string {
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return s
}

// tree lists the files under a directory: name, mode, size, time and content. open leaves out the -wal
// and -shm of an SQLite database. The time of a directory that holds a database is always left out,
// because it changes with these files.
func tree(t TB, dir string, open bool) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if open && (strings.HasSuffix(path, "-wal") || strings.HasSuffix(path, "-shm")) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := ""
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		at := info.ModTime().UnixNano()
		if d.IsDir() && holdsSQLite(path) {
			at = 0
		}
		lines = append(lines, fmt.Sprintf("%s %v %d %d %s", name, info.Mode(), info.Size(), at, sum))
		return nil
	})
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	return strings.Join(lines, "\n")
}

// holdsSQLite reports whether the directory itself contains a database.
func holdsSQLite(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return false
		}
		defer f.Close() // opened for reading: closing loses nothing
		magic := make([]byte, 16)
		n, _ := io.ReadFull(f, magic)
		return string(magic[:n]) == "SQLite format 3\x00"
	})
}

// ended is a context that has ended.
func ended(t TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
