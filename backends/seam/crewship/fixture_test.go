package crewship_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/seam/crewship"
	"memdesk/model"
)

// fixture copies the store that the real program wrote, or skips.
func fixture(t *testing.T) string {
	t.Helper()
	src := filepath.Join("..", "..", "..", "..", "shared", "fixtures", "crewship")
	if _, err := os.Stat(filepath.Join(src, "expected.json")); err != nil {
		t.Skip("the fixtures of the real system are not beside this repository")
	}
	dst := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dst, os.DirFS(src)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dst, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(p, 0o755)
		}
		return os.Chmod(p, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dst
}

type expectation struct {
	Quarantine []struct {
		File, Category, Pattern, Source, SHA256 string
		LiveFile                                *string `json:"live_file"`
		StillBlocked                            bool    `json:"live_file_still_blocked"`
	}
	Blocked  map[string]struct{ Category, Pattern string } `json:"live_files_blocked_by_the_scanner"`
	Versions struct {
		Rows   int
		ByPath map[string]int `json:"by_path"`
	} `json:"memory_versions"`
}

func expected(t *testing.T, dir string) expectation {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var e expectation
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// idOf turns a path of the fixture into the id that the store gives it.
func idOf(path string) string {
	path = strings.TrimPrefix(path, "output/")
	if rest, ok := strings.CutPrefix(path, "memory/"); ok {
		return "workspace/" + rest
	}
	path = strings.Replace(path, "/.memory/", "/", 1)
	if strings.HasPrefix(path, "solo/") {
		path = strings.Replace(path, "/agents/", "/", 1)
	}
	return path
}

func open(t *testing.T, cfg crewship.Config) model.Store {
	t.Helper()
	s, err := crewship.Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func everything(t *testing.T, s model.Store) map[string]model.Header {
	t.Helper()
	out := map[string]model.Header{}
	req := model.PageRequest{Hidden: true, Limit: 7}
	for {
		page, err := s.Browser.List(t.Context(), req)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		for _, h := range page.Items {
			if _, twice := out[h.ID]; twice {
				t.Errorf("%s is listed twice", h.ID)
			}
			out[h.ID] = h
		}
		if page.Next == "" {
			if int64(len(out)) != page.Total.N || page.Total.AtLeast {
				t.Errorf("%d items were listed, the total says %+v", len(out), page.Total)
			}
			return out
		}
		req.Cursor = page.Next
	}
}

func TestFixtureEveryLiveFileIsListedWithItsSize(t *testing.T) {
	dir := fixture(t)
	got := everything(t, open(t, crewship.Config{Name: "cs", Path: dir}))
	want := 0
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		live := strings.Contains(rel, "/.memory/") || strings.HasPrefix(rel, "memory/ws_")
		if err != nil || d.IsDir() || !live || !strings.HasSuffix(rel, ".md") || strings.Contains(rel, "/.quarantine/") {
			return err
		}
		want++
		info, err := d.Info()
		if err != nil {
			return err
		}
		if h, ok := got[idOf(rel)]; !ok || h.Bytes != info.Size() {
			t.Errorf("%s: listed %v with %d bytes, want %d", rel, ok, h.Bytes, info.Size())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want == 0 || len(got) != want {
		t.Errorf("%d items are listed, the disk has %d", len(got), want)
	}
	for id, pending := range map[string]bool{
		"crews/crew_platform/shared/platform/topics/.proposed/proposal-20261121025019-fc23687a66a95b9c.md": true,
		"crews/crew_platform/shared/platform/topics/.proposed/proposal-20261121025019-6d2efce7d9556e65.md": false,
		"crews/crew_support/shared/support/topics/.proposed/proposal-20261121025019-4abaabc403607d21.md":   false,
	} {
		if h := got[id]; h.Has(model.FlagPending) != pending || !h.Has(model.FlagReadOnly) {
			t.Errorf("proposal %s carries %v", id, h.Flags)
		}
	}
}

func TestFixtureQuarantine(t *testing.T) {
	dir := fixture(t)
	want := expected(t, dir).Quarantine
	s := open(t, crewship.Config{Name: "cs", Path: dir})
	list, err := s.Quarantine.Quarantined(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]model.Quarantined{}
	for _, q := range list {
		got[q.ID] = q
	}
	if len(list) != len(want) {
		t.Errorf("%d entries, want %d", len(list), len(want))
	}
	for _, w := range want {
		q, ok := got[idOf(w.File)]
		if !ok || q.Problem != "" || q.Category != w.Category || q.Pattern != w.Pattern || q.Source != w.Source || q.SHA256 != w.SHA256 {
			t.Errorf("%s: got %+v", w.File, q)
			continue
		}
		_, err := s.Browser.Read(t.Context(), q.SourceID)
		switch {
		case w.LiveFile != nil && q.SourceID != idOf(*w.LiveFile):
			t.Errorf("%s: it came from %q, want %q", w.File, q.SourceID, idOf(*w.LiveFile))
		case w.LiveFile == nil && (q.SourceID == "" || !errors.Is(err, model.NotFound)):
			t.Errorf("%s: it came from %q, which must be told and be gone: %v", w.File, q.SourceID, err)
		}
		full, err := s.Quarantine.ReadQuarantined(t.Context(), q.ID)
		if err != nil || full.Body == "" || int64(len(full.Body)) != q.Bytes {
			t.Errorf("%s: read %d bytes, %v", q.ID, len(full.Body), err)
		}
	}
}

func TestFixtureBlockedFiles(t *testing.T) {
	dir := fixture(t)
	want := expected(t, dir).Blocked
	s := open(t, crewship.Config{Name: "cs", Path: dir})
	for id, h := range everything(t, s) {
		blocked := false
		for path := range want {
			blocked = blocked || idOf(path) == id
		}
		if h.Has(model.FlagBlocked) != blocked {
			t.Errorf("%s: flags %v, blocked is %v", id, h.Flags, blocked)
		}
	}
}

// TestFixtureRecall replays the answers of an agent's own search, in their order. A crew's files belong
// to another memory directory, and are not in an agent's own store.
func TestFixtureRecall(t *testing.T) {
	dir := fixture(t)
	data, err := os.ReadFile(filepath.Join(dir, "recall.json"))
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Queries []struct {
			Agent, Query, Tier   string
			Limit                int
			Sources, Quarantined []string
		}
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	own := func(labels []string) []string {
		return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == "CREW.md" })
	}
	for _, q := range recorded.Queries {
		s := open(t, crewship.Config{Name: "cs", Path: filepath.Join(dir, q.Agent)})
		res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: q.Query, Tier: q.Tier, Limit: q.Limit})
		var got []string
		for _, h := range res.Hits {
			got = append(got, h.Source)
		}
		if err != nil || !slices.Equal(got, own(q.Sources)) || !slices.Equal(res.Quarantined, own(q.Quarantined)) {
			t.Errorf("%q: %q, quarantined %q, %v; want %q and %q", q.Query, got, res.Quarantined, err, q.Sources, q.Quarantined)
		}
	}
}

func TestFixtureHistory(t *testing.T) {
	dir := fixture(t)
	want := expected(t, dir).Versions
	s := open(t, crewship.Config{Name: "cs", Path: dir})
	rows := 0
	for id := range everything(t, s) {
		v, err := s.History.Revisions(t.Context(), id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if v.State != model.Recorded && v.Reason == "" {
			t.Errorf("%s is %s without a reason", id, v.State)
		}
		rows += len(v.Versions)
		for i, ver := range v.Versions {
			if i > 0 && ver.At.After(v.Versions[i-1].At) {
				t.Errorf("%s: versions are not newest first", id)
			}
			it, err := s.History.ReadRevision(t.Context(), id, ver.ID)
			if err != nil || !ver.Readable || int64(len(it.Body)) != ver.Bytes {
				t.Errorf("%s %s: %d bytes of %d, %v", id, ver.ID, len(it.Body), ver.Bytes, err)
			}
		}
	}
	if rows != want.Rows {
		t.Errorf("%d versions, want %d", rows, want.Rows)
	}
}

func TestFixtureOpeningLeavesNothingBehind(t *testing.T) {
	dir := fixture(t)
	before := tree(t, dir)
	s := open(t, crewship.Config{Name: "cs", Path: dir})
	everything(t, s)
	if _, err := s.Quarantine.Quarantined(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "ines"}); err != nil {
		t.Fatal(err)
	}
	if st := backendtest.Health(t, s); !st.OK || st.Message != "" {
		t.Errorf("health: %+v", st)
	}
	if _, err := s.History.Revisions(t.Context(), "crews/crew_platform/agents/ada/AGENT.md"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if after := tree(t, dir); after != before {
		t.Errorf("reading changed the disk:\n%s\nwas\n%s", after, before)
	}
}

// tree is every path with its size, mode and time.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(strings.TrimPrefix(p, dir) + " " + fi.Mode().String() + " " + fi.ModTime().String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
