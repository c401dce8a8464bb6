package vault_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/seam/seamtest"
	"memdesk/model"
)

// TestBytesSurvive: bytes that memdesk does not mean to change must not change.
func TestBytesSurvive(t *testing.T) {
	cfg := fresh(t)
	for name, text := range map[string]string{
		"crlf.md": "---\r\ntype: idea\r\nodd key!: [x\r\n---\r\nbody\r\n", "mark.md": "\ufeff---\ntype: fix\n---\n", "end.md": "no newline at the end",
		"latin.md": "caf\xe9\x00", "empty.md": "",
	} {
		plant(t, cfg.Path, name, text)
		path := filepath.Join(cfg.Path, name)
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		s := open(t, cfg)
		it, err := s.Browser.Read(t.Context(), name)
		if err != nil || it.Body != text {
			t.Fatalf("%s reads %q, %v", name, it.Body, err)
		}
		if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: name, Mode: model.Append, Content: "more\r\n", IfMatch: it.Revision, Binary: true}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || string(data) != text+"more\r\n" {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 {
			t.Errorf("%s has mode %v, %v", name, st.Mode(), err)
		}
	}
}

func TestLinksAreConfined(t *testing.T) {
	cfg := fresh(t)
	secret := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(secret, []byte("otters in secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	plant(t, cfg.Path, "n.md", "otters")
	for name, to := range map[string]string{"link.md": secret, "dir": filepath.Dir(secret)} {
		if err := os.Symlink(to, filepath.Join(cfg.Path, name)); err != nil {
			t.Skip(err)
		}
	}
	s := open(t, cfg)
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "otters"})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != "n.md" {
		t.Errorf("recall: %+v, %v", res, err)
	}
	for _, id := range []string{"link.md", "dir/secret.md", "../" + filepath.Base(filepath.Dir(secret)) + "/secret.md"} {
		if it, err := s.Browser.Read(t.Context(), id); err == nil {
			t.Errorf("read %q through %q", it.Body, id)
		}
		if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace, Content: "x"}); err == nil {
			t.Errorf("wrote through %q", id)
		}
		if got, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id}); got.Removed != 0 {
			t.Errorf("removed %d through %q, %v", got.Removed, id, err)
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "otters in secret" {
		t.Errorf("outside: %q, %v", data, err)
	}
}

// TestRecallGivesWhatTheAgentsOwnGives by statuses and folders. The lists must show all.
func TestRecallGivesWhatTheAgentsOwnGives(t *testing.T) {
	cfg := fresh(t)
	for _, status := range []string{"active", "deleted", "expired", "superseded", "unfiled"} {
		plant(t, cfg.Path, "memory/idea/"+status+".md", "---\ntype: idea\nstatus: "+status+"\n---\notters\n")
	}
	for _, folder := range []string{"_archive", "_inbox", "_watchlist", "x/_archive/y"} {
		plant(t, cfg.Path, "memory/"+folder+"/"+filepath.Base(folder)+".md", "otters\n")
	}
	plant(t, cfg.Path, "memory/idea/bad.md", "otters\n"+poison)
	s := open(t, cfg)
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "otters"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range res.Hits {
		got = append(got, strings.TrimSuffix(filepath.Base(h.ID), ".md"))
	}
	slices.Sort(got)
	if want := []string{"_watchlist", "active", "deleted", "expired", "unfiled"}; !slices.Equal(got, want) || !slices.Equal(res.Quarantined, []string{"memory/idea/bad.md"}) || res.Total != 5 {
		t.Errorf("recalled %v of %d, quarantined %v", got, res.Total, res.Quarantined)
	}
	p, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: true})
	if err != nil || len(p.Items) != 10 {
		t.Fatalf("%d items, %v", len(p.Items), err)
	}
	for _, h := range p.Items {
		want := strings.HasSuffix(h.ID, "deleted.md") || strings.HasSuffix(h.ID, "expired.md")
		if h.Has(model.FlagArchived) != want || h.Has(model.FlagBlocked) != strings.HasSuffix(h.ID, "bad.md") {
			t.Errorf("%s has flags %v", h.ID, h.Flags)
		}
	}
}

// TestOneNoteIsOneHit: a word in both the slug line and the body must be one hit, of the body; a better
// line in the front matter must be the hit instead.
func TestOneNoteIsOneHit(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "memory/idea/rye-bread.md", "---\nkind: idea\nslug: rye-bread\n---\nwarm\nthe rye-bread of Fridays\nrye-bread again\n")
	plant(t, cfg.Path, "memory/idea/b.md", "---\nkind: idea\nslug: b\ntitle: old rye-bread\n---\nbread of old rye\n")
	s := open(t, cfg)
	for query, want := range map[string]string{"rye-bread": "6 the rye-bread of Fridays, 4 title: old rye-bread", "old rye-bread": "4 title: old rye-bread"} {
		res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(res.Hits, func(a, b model.RecallSnippet) int { return b.Line - a.Line })
		var got []string
		for _, h := range res.Hits {
			got = append(got, fmt.Sprint(h.Line, " ", h.Snippet))
		}
		if strings.Join(got, ", ") != want || int(res.Total) != len(got) {
			t.Errorf("%q: %q, %d in all; want %q", query, got, res.Total, want)
		}
	}
}

func TestAnEmptyNoteIsRetainedByItsID(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "memory/idea/a.md", "text\n")
	s := open(t, cfg)
	for _, id := range []string{"memory/idea/a.md", "memory/idea/new.md"} {
		if res, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace}); err != nil || res.Bytes != 0 {
			t.Errorf("%s: %+v, %v", id, res, err)
		}
		if it, err := s.Browser.Read(t.Context(), id); err != nil || it.Body != "" {
			t.Errorf("%s: %q, %v", id, it.Body, err)
		}
	}
	for _, req := range []model.RetainRequest{{Tier: "idea", Key: "k", Mode: model.Replace}, {ID: "memory/idea/a.md", Mode: model.Append}} {
		if _, err := s.Provider.Retain(t.Context(), req); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// TestWhatACrashLeavesIsAConflict: an interrupted exchange leaves the exchanged text under a temporary
// name, which must become a conflict.
func TestWhatACrashLeavesIsAConflict(t *testing.T) {
	cfg := fresh(t)
	const foreign, same, gone = "a/n.md.tmp.0123456789abcdef", "a/m.md.tmp.0123456789abcdef", "x.md.tmp.00000000000000ff"
	plant(t, cfg.Path, "a/n.md", "new")
	plant(t, cfg.Path, "a/m.md", "equal")
	old := time.Now().Add(-time.Hour)
	for name, text := range map[string]string{foreign: "foreign", same: "equal", gone: "only here", "a/live.md.tmp.0123456789abcdef": "being written"} {
		plant(t, cfg.Path, name, text)
		if !strings.Contains(name, "live") {
			if err := os.Chtimes(filepath.Join(cfg.Path, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := open(t, cfg)
	conflicts := func() map[string]string {
		t.Helper()
		list, err := s.Conflicts.StoreConflicts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, c := range list {
			got[c.CopyID] = c.BaseID
			if c.Reason == "" || c.At.IsZero() {
				t.Errorf("%+v", c)
			}
		}
		return got
	}
	names := func() (out []string) {
		t.Helper()
		if _, err := s.Names.Names(t.Context(), func(id string) bool { out = append(out, id); return true }); err != nil {
			t.Fatal(err)
		}
		slices.Sort(out)
		return out
	}
	both := map[string]string{foreign: "a/n.md", gone: "x.md"}
	if got := conflicts(); !maps.Equal(got, both) {
		t.Errorf("conflicts: %v", got)
	}
	// Directories unchanged for a while keep the store's earlier walk. Another program's file must be
	// seen all the same.
	for _, dir := range []string{"a", "."} {
		if err := os.Chtimes(filepath.Join(cfg.Path, dir), old, old); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, cfg)
	if got, all := conflicts(), names(); !maps.Equal(got, both) || !slices.Equal(all, []string{"a/m.md", "a/n.md"}) {
		t.Errorf("at rest: %v, %q", got, all)
	}
	const later = "a/o.md.tmp.0123456789abcdef"
	for _, name := range []string{later, "a/o.md"} {
		plant(t, cfg.Path, name, name)
	}
	if err := os.Chtimes(filepath.Join(cfg.Path, later), old, old); err != nil {
		t.Fatal(err)
	}
	if got, all := conflicts(), names(); got[later] != "a/o.md" || !slices.Equal(all, []string{"a/m.md", "a/n.md", "a/o.md"}) {
		t.Errorf("after another program's writes: %v, %q", got, all)
	}
	if it, err := s.Browser.Read(t.Context(), foreign); err != nil || it.Body != "foreign" {
		t.Errorf("reading it: %q, %v", it.Body, err)
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: foreign, Mode: model.Replace, Content: "x"}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("writing it: %v", err)
	}
	if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: foreign}); err != nil || res.Removed != 1 {
		t.Errorf("forgetting it: %+v, %v", res, err)
	}
	if p, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: true}); err != nil || len(p.Items) != 3 {
		t.Errorf("a leftover is listed as an item: %+v, %v", p.Items, err)
	}
}

func TestHugeIDsMakeNothing(t *testing.T) {
	cfg := fresh(t)
	seamtest.HugeIDs(t, open(t, cfg), cfg.Path, "")
}

// TestASparseFileEndsNothing: it costs an agent one call to make, and read as a whole it would end the process.
func TestASparseFileEndsNothing(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "big.md", "x")
	plant(t, cfg.Path, ".big.md.tmp", "x")
	for _, name := range []string{"big.md", ".big.md.tmp"} {
		if err := os.Truncate(filepath.Join(cfg.Path, name), 8<<40); err != nil {
			t.Skip(err)
		}
	}
	s := open(t, cfg)
	if _, err := s.Browser.Read(t.Context(), "big.md"); !errors.Is(err, model.Unsupported) {
		t.Errorf("read: %v", err)
	}
	for _, mode := range []model.Mode{model.Replace, model.Append} {
		if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "big.md", Mode: mode, Content: "y"}); !errors.Is(err, model.Unsupported) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "big.md", IfMatch: "00"}); !errors.Is(err, model.Unsupported) {
		t.Errorf("forget of an expected revision: %v", err)
	}
	// Nothing is removed unseen; whether the person stands in it is for the scan to say.
	results, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Concerns: func([]byte) bool { return false }})
	if i := slices.IndexFunc(results, func(r model.LayerResult) bool { return r.Layer == ".big.md.tmp" }); err != nil || i < 0 || results[i].Verdict != model.VerdictUnaudited {
		t.Errorf("scrub: %+v, %v", results, err)
	}
	if got, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "big.md"}); err != nil || got.Removed != 1 {
		t.Errorf("forget: %+v, %v", got, err)
	}
	if left, err := os.ReadDir(cfg.Path); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}
