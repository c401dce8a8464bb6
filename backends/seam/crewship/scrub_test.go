package crewship_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/seam/crewship"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/quarantine"
)

const (
	hers = "qxzcanaryhers"
	his  = "qxzcanaryhis"
)

func naming(removed ...string) model.ScrubRequest {
	return model.ScrubRequest{Removed: removed, Concerns: func(b []byte) bool { return bytes.Contains(b, []byte(hers)) }}
}

// layersHolding names the layers whose bytes contain the word.
func layersHolding(t *testing.T, s model.Store, word string) []string {
	t.Helper()
	layers, err := s.Maintainer.Layers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range layers {
		if !l.Readable {
			continue
		}
		r, err := s.Maintainer.OpenLayer(t.Context(), l.ID)
		if err != nil {
			t.Fatalf("%s: %v", l.ID, err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		if bytes.Contains(data, []byte(word)) {
			out = append(out, l.ID)
		}
	}
	slices.Sort(out)
	return out
}

func makeIndex(t *testing.T, path string, rows map[string]string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(text string, args ...any) {
		if _, err := db.Exec(text, args...); err != nil {
			t.Fatal(text, err)
		}
	}
	exec(`PRAGMA journal_mode = WAL`)
	exec(`CREATE VIRTUAL TABLE memory_chunks USING fts5 (file UNINDEXED, content, tokenize = 'unicode61')`)
	exec(`CREATE TABLE memory_meta (key TEXT PRIMARY KEY, value TEXT)`)
	for name, content := range rows {
		exec(`INSERT INTO memory_chunks (file, content) VALUES (?, ?)`, name, content)
	}
}

// TestScrubEveryLayer puts a word of the subject and one of a bystander into every layer beside the
// memories: the first must go, the second must stay byte for byte.
func TestScrubEveryLayer(t *testing.T) {
	temp := ".tmp.0123456789abcdef"
	root := data(t, map[string]string{
		redAda + "AGENT.md" + temp:           hers,
		redBo + "AGENT.md" + temp:            his,
		redAda + ".snapshots/run1/AGENT.md":  hers,
		redBo + ".snapshots/run1/AGENT.md":   his,
		redAda + "peers/gone.md.lock":        "",
		redAda + "AGENT.md.lock":             "",
		"memory/versions/aa/" + digits("aa"): hers,
		"memory/versions/bb/" + digits("bb"): his,
	})
	makeIndex(t, filepath.Join(root, redAda, "index.sqlite"), map[string]string{
		"AGENT.md": "met " + hers + " and others", "pins.md": "met " + his, "peers/gone.md": "words of a removed card zzremoved"})
	s := open(t, crewship.Config{Name: "d", Path: root, Clock: clock.Fixed(now)})
	if n := len(layersHolding(t, s, hers)); n < 4 {
		t.Fatalf("hers stands in %d layers before: the test proves nothing", n)
	}
	res, err := s.Maintainer.Scrub(t.Context(), naming("crews/c_red/agents/ada/peers/gone.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range res {
		if r.Verdict != model.VerdictClean && r.Verdict != model.VerdictOutOfScope {
			t.Errorf("%+v", r)
		}
	}
	for _, word := range []string{hers, "zzremoved"} {
		if left := layersHolding(t, s, word); len(left) > 0 {
			t.Errorf("%s is left in %v", word, left)
		}
	}
	want := []string{"crews/c_red/agents/ada/index.sqlite", "crews/c_red/agents/bo/.snapshots/run1/AGENT.md", "crews/c_red/agents/bo/AGENT.md" + temp, "versions/bb/" + digits("bb")}
	if got := layersHolding(t, s, his); !slices.Equal(got, want) {
		t.Errorf("his is in %v, want %v", got, want)
	}
	for name, there := range map[string]bool{"peers/gone.md.lock": false, "AGENT.md.lock": true} {
		if _, err := os.Stat(filepath.Join(root, redAda, name)); (err == nil) != there {
			t.Errorf("%s there: %v, want %v", name, err == nil, there)
		}
	}
	if again, err := s.Maintainer.Scrub(t.Context(), naming()); err != nil || slices.ContainsFunc(again, func(r model.LayerResult) bool { return r.Rows > 0 }) {
		t.Errorf("a second scrub does something: %+v, %v", again, err)
	}
}

// TestTheIndexOfAHeldMemory: its rows stay, and are listed.
func TestTheIndexOfAHeldMemory(t *testing.T) {
	root := data(t, map[string]string{redAda + "AGENT.md": "rye", redAda + "pins.md": "tea"})
	at := filepath.Join(root, redAda, "index.sqlite")
	makeIndex(t, at, map[string]string{"AGENT.md": "met " + hers + " once", "pins.md": "saw " + hers})
	s := open(t, crewship.Config{Name: "d", Path: root, Clock: clock.Fixed(now)})
	req := naming()
	req.Held = []string{"crews/c_red/agents/ada/AGENT.md"}
	var rows []string
	list := req
	list.Dry, list.Concerns, list.SideRows = true, nil, func(row model.SideRow) { rows = append(rows, row.Of[0]+": "+row.Cells[len(row.Cells)-1].Words) }
	if _, err := s.Maintainer.Scrub(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	if want := []string{"crews/c_red/agents/ada/AGENT.md: met " + hers + " once"}; !slices.Equal(rows, want) {
		t.Errorf("listed: %q; want %q", rows, want)
	}
	rows, list.Concerns = nil, req.Concerns
	if _, err := s.Maintainer.Scrub(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	if want := []string{"crews/c_red/agents/ada/AGENT.md: met " + hers + " once", "crews/c_red/agents/ada/pins.md: saw " + hers}; !slices.Equal(rows, want) {
		t.Errorf("all rows: %q; want %q", rows, want)
	}
	if _, err := s.Maintainer.Scrub(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(at)
	if err != nil || !strings.Contains(string(data), "met "+hers) || strings.Contains(string(data), "saw "+hers) {
		t.Errorf("the row on hold is gone, or the other is there (%v)", err)
	}
}

func digits(start string) string { return start + strings.Repeat("0", 62) }

// TestScrubSaysWhatItCannot clean: an index that is no database, a file with a second name.
func TestScrubSaysWhatItCannot(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"AGENT.md": "x", "index.sqlite": "no database " + hers, "AGENT.md.tmp.0123456789ab": hers})
	other := filepath.Join(t.TempDir(), "second")
	if err := os.Link(filepath.Join(dir, "AGENT.md.tmp.0123456789ab"), other); err != nil {
		t.Skip("no hard links here")
	}
	res, err := s.Maintainer.Scrub(t.Context(), naming())
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]model.Verdict{}
	for _, r := range res {
		if r.Reason != "" {
			said[r.Layer] = r.Verdict
		}
	}
	if said["index.sqlite"] != model.VerdictFailed || said["AGENT.md.tmp.0123456789ab"] != model.VerdictOutOfScope {
		t.Errorf("results = %+v", res)
	}
}

func TestScrubNeedsWriting(t *testing.T) {
	dir := memory(t, map[string]string{"AGENT.md": "x", "AGENT.md.tmp.0123456789ab": hers})
	s := open(t, crewship.Config{Name: "m", Path: dir, ReadOnly: true, Clock: clock.Fixed(now)})
	if _, err := s.Maintainer.Scrub(t.Context(), naming()); !model.IsRefusal(err) {
		t.Errorf("err = %v, want a refusal", err)
	}
}

func TestOpenLayerStaysInside(t *testing.T) {
	root := data(t, nil)
	s := open(t, crewship.Config{Name: "d", Path: root, Clock: clock.Fixed(now)})
	for _, id := range []string{"", "..", "versions/../w1/handbook.md", "crewship.db/../x", "crewship.db-none", "crews/c_red/agents/ada/../bo/AGENT.md", "nowhere/x"} {
		if r, err := s.Maintainer.OpenLayer(t.Context(), id); err == nil {
			_ = r.Close()
			t.Errorf("OpenLayer(%q) opened", id)
		}
	}
}

func TestConcerningFindsPeerCards(t *testing.T) {
	// The hash is the documented test vector: usr_subj in ws_1.
	root := data(t, map[string]string{
		redAda + "peers/6c1d01a9e9c38307.md": "a card", redAll + "users/6c1d01a9e9c38307.md": "- key: value",
		redAda + "peers/0000000000000000.md": "another", "memory/ws_1/x.md": "so that the workspace is there"})
	s := open(t, crewship.Config{Name: "d", Path: root, Clock: clock.Fixed(now)})
	var got []string
	err := s.Subjects.Concerning(t.Context(), []string{"usr_other", "usr_subj"}, func(h model.SubjectHit) bool {
		if h.Subject != "usr_subj" || h.Reason == "" {
			t.Errorf("%+v", h)
		}
		got = append(got, h.ID)
		return true
	})
	want := []string{"crews/c_red/agents/ada/peers/6c1d01a9e9c38307.md", "crews/c_red/shared/users/6c1d01a9e9c38307.md"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("= %v, %v; want %v", got, err, want)
	}
}

// TestConcerningWithoutTheDatabase: a card's name is a hash with a workspace that the database names. Where it
// cannot be read, no answer is given, rather than an empty one.
func TestConcerningWithoutTheDatabase(t *testing.T) {
	card := map[string]string{redAll + "users/6c1d01a9e9c38307.md": "a card"}
	spoil := func(dir string) error { return os.WriteFile(filepath.Join(dir, "crewship.db"), []byte("noise"), 0o600) }
	remove := func(dir string) error { return os.Remove(filepath.Join(dir, "crewship.db")) }
	alone := func(dir string) error {
		return errors.Join(remove(dir), os.RemoveAll(filepath.Join(dir, "memory")), os.RemoveAll(filepath.Join(dir, "output", "solo")))
	}
	for name, c := range map[string]struct {
		content map[string]string
		change  func(dir string) error
		want    error
	}{
		"an unreadable database":              {card, spoil, model.Unavailable},
		"an unreadable database, and no card": {nil, spoil, nil},
		"no database, workspaces in paths":    {card, remove, nil},
		"no database, and no workspace":       {card, alone, model.Unavailable},
		"a database":                          {card, func(string) error { return nil }, nil},
	} {
		root := data(t, c.content)
		if err := c.change(root); err != nil {
			t.Fatal(err)
		}
		s := open(t, crewship.Config{Name: "d", Path: root, Clock: clock.Fixed(now)})
		err := s.Subjects.Concerning(t.Context(), []string{"usr_subj"}, func(model.SubjectHit) bool { return true })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestConcerningInOneDirectory: a memory directory opened by itself does not say in which workspace it is.
func TestConcerningInOneDirectory(t *testing.T) {
	for workspace, want := range map[string]error{"": model.Unavailable, "ws_1": nil} {
		s := open(t, crewship.Config{Name: "m", Path: memory(t, map[string]string{"peers/6c1d01a9e9c38307.md": "a card"}), Workspace: workspace, Clock: clock.Fixed(now)})
		found := 0
		err := s.Subjects.Concerning(t.Context(), []string{"usr_subj"}, func(model.SubjectHit) bool { found++; return true })
		if !errors.Is(err, want) || (found == 1) != (want == nil) {
			t.Errorf("workspace %q: %d found, %v", workspace, found, err)
		}
	}
}

// TestCopiesOfAPeerCard say nothing that names the user; their names, or the source of a quarantined one, do.
func TestCopiesOfAPeerCard(t *testing.T) {
	const card, other = "6c1d01a9e9c38307", "00000000000000aa" // of usr_subj in ws_1
	blocked := func(source string) (label, text string) {
		f := quarantine.File{QuarantinedAt: now, Category: "prompt_injection", Pattern: "x", Source: source, Body: poison + source}
		f.SHA256 = quarantine.Sum(f.Body)
		return ".quarantine/" + f.SHA256 + ".md", string(f.Encode())
	}
	mine, mineText := blocked("peers/" + card + ".md")
	his, hisText := blocked("peers/" + other + ".md")
	gone := []string{".snapshots/run1/peers/" + card + ".md", "peers/" + card + ".md.tmp.0123456789abcdef", ".snapshots/run1/daily/2026-05-20.md", "daily/2026-05-20.md.tmp.0123456789abcdef"}
	kept := []string{".snapshots/run1/peers/" + other + ".md", "peers/" + other + ".md.tmp.0123456789abcdef", ".snapshots/run1/x/daily/2026-05-20.md", "daily/2026-05-21.md.tmp.0123456789abcdef"}
	content := map[string]string{redAda + mine: mineText, redAda + his: hisText}
	for _, label := range slices.Concat(gone, kept) {
		content[redAda+label] = "likes short answers"
	}
	root := data(t, content)
	database(t, filepath.Join(root, "crewship.db"), `INSERT INTO workspaces VALUES ('ws_1', 'Third', 'third')`)
	makeIndex(t, filepath.Join(root, redAda, "index.sqlite"), map[string]string{"peers/" + card + ".md": "likes zzshort answers", "peers/" + other + ".md": "likes zzlong answers"})
	s := open(t, crewship.Config{Name: "d", Path: root, Clock: clock.Fixed(now)})
	var found []string
	err := s.Subjects.Concerning(t.Context(), []string{"usr_subj"}, func(h model.SubjectHit) bool {
		found = append(found, h.ID)
		return true
	})
	if want := []string{"crews/c_red/agents/ada/" + mine}; err != nil || !slices.Equal(found, want) {
		t.Errorf("found %v, want %v; %v", found, want, err)
	}
	var planned []string
	req := model.ScrubRequest{Subjects: []string{"usr_subj"}, Removed: []string{"crews/c_red/agents/ada/daily/2026-05-20.md"}, Concerns: func([]byte) bool { return false },
		Dry: true, May: func(layer string, _ []byte) bool {
			planned = append(planned, strings.TrimPrefix(layer, "crews/c_red/agents/ada/"))
			return true
		}}
	if _, err := s.Maintainer.Scrub(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	slices.Sort(planned)
	if want := slices.Sorted(slices.Values(gone)); !slices.Equal(planned, want) {
		t.Errorf("planned %v, want %v", planned, want)
	}
	forget(t, s, model.ForgetRequest{ID: req.Removed[0]}, 1)
	req.Dry = false
	if _, err := s.Maintainer.Scrub(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for i, label := range slices.Concat(gone, kept) {
		if _, err := os.Lstat(filepath.Join(root, redAda, label)); (err == nil) != (i >= len(gone)) {
			t.Errorf("%s: there %v", label, err == nil)
		}
	}
	if left := layersHolding(t, s, "zzshort"); len(left) > 0 || len(layersHolding(t, s, "zzlong")) == 0 {
		t.Errorf("the card's row of the index is in %v, or another's is gone", left)
	}
}

// TestConcerningTellsWhatAUserIsCalled by the database's row for that user, and by no other row.
func TestConcerningTellsWhatAUserIsCalled(t *testing.T) {
	root := data(t, map[string]string{redAda + "AGENT.md": "an agent"})
	db, err := sql.Open("sqlite3", filepath.Join(root, "crewship.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT, full_name TEXT);
		INSERT INTO users VALUES ('usr_subj', 'ada@mail.example', 'Ada Falk'), ('usr_subj2', 'bo@mail.example', 'Bo'), ('usr_bare', NULL, '')`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, crewship.Config{Name: "d", Path: root, Clock: clock.Fixed(now)})
	var got []model.SubjectHit
	err = s.Subjects.Concerning(t.Context(), []string{"usr_none", "usr_bare", "usr_subj"}, func(h model.SubjectHit) bool {
		got = append(got, h)
		return true
	})
	want := []model.SubjectHit{{Subject: "usr_subj", Reason: "full_name", Called: "Ada Falk"}, {Subject: "usr_subj", Reason: "email", Called: "ada@mail.example"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// TestScrubOfTheFixture checks every byte of a real data directory after its items were redacted: only
// Crewship's own database may still contain the subject.
func TestScrubOfTheFixture(t *testing.T) {
	src := filepath.Join("..", "..", "..", "..", "shared", "fixtures", "crewship")
	text, err := os.ReadFile(filepath.Join(src, "expected.json"))
	if err != nil {
		t.Skip("the fixtures are not here")
	}
	var expected struct {
		Subjects map[string]struct {
			Tokens    []string
			SlugFiles []string `json:"slug_files"`
		}
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(root, os.DirFS(src)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.Walk(root, func(p string, fi os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(p, fi.Mode()|0o200)
	}); err != nil {
		t.Fatal(err)
	}
	s := open(t, crewship.Config{Name: "d", Path: root, Clock: clock.Fixed(now)})
	for id, subject := range expected.Subjects {
		names := func(b []byte) bool {
			return slices.ContainsFunc(subject.Tokens, func(tok string) bool { return bytes.Contains(b, []byte(tok)) })
		}
		var removed []string
		layers, err := s.Maintainer.Layers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range layers {
			if l.ItemID == "" || !l.Readable {
				continue
			}
			r, err := s.Maintainer.OpenLayer(t.Context(), l.ID)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(r)
			_ = r.Close()
			if names(body) {
				if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: l.ItemID}); err != nil {
					t.Fatal(err)
				}
				removed = append(removed, l.ItemID)
			}
		}
		if len(removed) == 0 {
			t.Fatalf("%s: no item names them", id)
		}
		if _, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Removed: removed, Concerns: names}); err != nil {
			t.Fatal(err)
		}
		for _, tok := range subject.Tokens {
			for _, l := range layersHolding(t, s, tok) {
				if !strings.HasPrefix(l, "crewship.db") {
					t.Errorf("%s: %q is left in %s", id, tok, l)
				}
			}
		}
		for _, f := range subject.SlugFiles {
			if _, err := os.Stat(filepath.Join(root, f)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s is still there", id, f)
			}
		}
	}
}

// TestScrubRemovesWhatAWriteLeft: a leftover that repeats the beginning of its item is no new text and
// must go; any other must stay.
func TestScrubRemovesWhatAWriteLeft(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"AGENT.md": "asks bob\nand tea\n", "AGENT.md.lock": "", "AGENT.md.tmp.0123456789abcdef": "asks bob\n", "AGENT.md.tmp.0123456789abcde0": "",
		"AGENT.md.tmp.0123456789abcde1": "asks otto\n", "daily/2026-01-01.md": "- tea\n", "daily/2026-01-01.md.tmp.0123456789abcdef": "- tea\n",
		".lock.tmp.0123456789abcdef": "", "daily/.lock.tmp.0123456789abcdef": "", "daily/.lock.tmp.0123456789abcde0": "a text"})
	if _, err := s.Maintainer.Scrub(t.Context(), naming()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"AGENT.md.tmp.0123456789abcdef": false, "AGENT.md.tmp.0123456789abcde0": false, "AGENT.md.tmp.0123456789abcde1": true,
		".lock.tmp.0123456789abcdef": false, "daily/.lock.tmp.0123456789abcdef": false, "daily/.lock.tmp.0123456789abcde0": true,
		"daily/2026-01-01.md.tmp.0123456789abcdef": true} { // no lock: no writer of this memory directory made it
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v; want it to stay: %v", name, err, want)
		}
	}
}
