package gdpr_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
)

type shutQuarantine struct{}

func (shutQuarantine) Quarantined(context.Context) ([]model.Quarantined, error) {
	return []model.Quarantined{{ID: "e1", Problem: "damaged"}}, nil
}

func (shutQuarantine) ReadQuarantined(context.Context, string) (model.Quarantined, error) {
	return model.Quarantined{}, model.Errorf(model.Internal, "quarantine", "damaged")
}

// unlistedQuarantine is a quarantine that cannot be listed.
type unlistedQuarantine struct{ shutQuarantine }

func (unlistedQuarantine) Quarantined(context.Context) ([]model.Quarantined, error) {
	return nil, model.Errorf(model.PermissionDenied, "quarantine", "no permission")
}

type shutLayer struct{ model.Maintainer }

func (m shutLayer) Layers(ctx context.Context) ([]model.Layer, error) {
	all, err := m.Maintainer.Layers(ctx)
	return append(all, model.Layer{ID: "old.bak", Kind: model.LayerDerived, Reason: "no permission to read it"}), err
}

// goneLayers are layers that stand in the list and cannot be read any more: the store went away.
type goneLayers struct{ model.Maintainer }

func (goneLayers) OpenLayer(context.Context, string) (io.ReadCloser, error) {
	return nil, model.Errorf(model.Unavailable, "layer", "the store is down")
}

// TestAPlanSaysWhichLayersItDidNotSee: a store that goes away while its bytes are searched leaves a plan that is
// not complete.
func TestAPlanSaysWhichLayersItDidNotSee(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	r := w.file()
	s := w.store("db")
	s.Maintainer = goneLayers{s.Maintainer}
	p, err := w.desk.MakePlan(t.Context(), r.ID, alone(s), nil)
	if err != nil || len(p.Stores) != 1 || !strings.Contains(strings.Join(p.Stores[0].Problems, "\n"), ": it cannot be looked at: unavailable") {
		t.Errorf("%+v, %v", p.Stores, err)
	}
}

type oddField struct{ model.Browser }

func (b oddField) Read(ctx context.Context, id string) (model.Item, error) {
	it, err := b.Browser.Read(ctx, id)
	it.Meta = append(it.Meta, model.Field{Name: name, Value: "tea"})
	return it, err
}

// partlyListed is a browser that cannot list a part of its store.
type partlyListed struct{ model.Browser }

func (b partlyListed) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	p, err := b.Browser.List(ctx, req)
	p.Problems = append(p.Problems, "sub/: permission denied")
	return p, err
}

// shutText is a store of which one text cannot be read, and shutItem one of which no item can.
type shutText struct{ model.Texts }

func (x shutText) EachText(ctx context.Context, fn func(model.Text, error) bool) ([]string, error) {
	fn(model.Text{ID: "n2"}, model.Errorf(model.PermissionDenied, "read", "no permission"))
	return x.Texts.EachText(ctx, fn)
}

type shutItem struct{ model.Browser }

func (b shutItem) Read(context.Context, string) (model.Item, error) {
	return model.Item{}, model.Errorf(model.PermissionDenied, "read", "no permission")
}

type noList struct{ model.Browser }

func (noList) List(context.Context, model.PageRequest) (model.Page, error) { return model.Page{}, nil }

type oneName struct{}

func (oneName) Names(_ context.Context, fn func(string) bool) ([]string, error) {
	fn("n2")
	return nil, nil
}

// spareLayer has a backup that names the person.
type spareLayer struct{ model.Maintainer }

func (m spareLayer) Layers(ctx context.Context) ([]model.Layer, error) {
	layers, err := m.Maintainer.Layers(ctx)
	return append(layers, model.Layer{ID: "old.bak", Kind: model.LayerDerived, Readable: true}), err
}

func (m spareLayer) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if id == "old.bak" {
		return io.NopCloser(strings.NewReader("asked by " + name)), nil
	}
	return m.Maintainer.OpenLayer(ctx, id)
}

// TestASweepSaysWhatItDidNotSee: a quarantined entry and a layer that cannot be read are no proof that nobody came
// back, and the name of a field is searched like its value.
func TestASweepSaysWhatItDidNotSee(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	r := w.file()
	w.complete(w.plan(r.ID))
	for what, c := range map[string]struct {
		change  func(*model.Store)
		problem string
		persons bool
	}{
		"nothing":             {func(*model.Store) {}, "", false},
		"a quarantined entry": {func(s *model.Store) { s.Quarantine = shutQuarantine{} }, "an item cannot be read: internal", false},
		"a quarantine, and a layer that names the person": {func(s *model.Store) {
			s.Quarantine, s.Maintainer = unlistedQuarantine{}, spareLayer{s.Maintainer}
		}, "", true},
		"a layer":  {func(s *model.Store) { s.Maintainer = shutLayer{s.Maintainer} }, "no permission to read it", false},
		"one text": {func(s *model.Store) { s.Texts = shutText{s.Texts} }, "not looked into: an item cannot be read: permission denied", false},
		"one text, and a layer that names the person": {func(s *model.Store) {
			s.Texts, s.Maintainer = shutText{s.Texts}, spareLayer{s.Maintainer}
		}, "an item cannot be read", true},
		"one item, and a layer that names the person": {func(s *model.Store) {
			s.Browser, s.Texts, s.Maintainer = shutItem{s.Browser}, nil, spareLayer{s.Maintainer}
		}, "an item cannot be read", true},
		"an item in no list": {func(s *model.Store) {
			s.Browser, s.Names, s.Texts, s.Maintainer = shutItem{noList{s.Browser}}, oneName{}, nil, nil
		}, "an item cannot be read", false},
		"what is not listed": {func(s *model.Store) { s.Browser, s.Texts = partlyListed{s.Browser}, nil }, "not looked into: a part of it cannot be listed", false},
		"a field's name":     {func(s *model.Store) { s.Browser, s.Texts = oddField{s.Browser}, nil }, "", true},
	} {
		t.Run(what, func(t *testing.T) {
			s := w.store("db")
			c.change(&s)
			swept, problems, _ := w.desk.Sweep(t.Context(), alone(s), "", nil)
			if (len(swept) > 0) != c.persons || !c.persons && (len(problems) > 0) != (c.problem != "") || !strings.Contains(strings.Join(problems, "\n"), c.problem) {
				t.Errorf("%d persons came back, problems %q; want %v and %q", len(swept), problems, c.persons, c.problem)
			}
		})
	}
}

// TestAVerificationByHashSaysWhatItDidNotSee: a layer that cannot be read is not clean in the row of the
// hashes either.
func TestAVerificationByHashSaysWhatItDidNotSee(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "asked by " + name})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n2", Content: "rain"})
	r := w.file()
	w.complete(w.plan(r.ID))
	s := w.store("db")
	s.Maintainer = shutLayer{s.Maintainer}
	layers, err := w.desk.Verify(t.Context(), r.ID, ana, alone(s))
	if row := byHash(layers)["db"]; err != nil || row.Verdict != model.VerdictUnaudited || !strings.Contains(row.Reason, "no permission to read it") {
		t.Errorf("%+v, %v; want it unaudited", row, err)
	}
}

// TestASweepSaysOfADatabaseAmongNotes: in a row nothing stands between two values, so that no whole word shows the person.
func TestASweepSaysOfADatabaseAmongNotes(t *testing.T) {
	database := "SQLite format 3\x00" + strings.Repeat("\x00", 500)
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"s/memory/idea/m.md": "by " + name + "\n", "s/memory/idea/n.md": "rye\n", "c/memories/raw_memories.md": "rye\n",
		"c/memories/memory_summary.md": "v1\nrye\n", "cs/.memory/daily/d.md": "tea\n"})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "vault", Path: filepath.Join(w.dir, "s")}, {Name: "c", Kind: "claude", Path: filepath.Join(w.dir, "c")},
		{Name: "cs", Kind: "crewship", Path: filepath.Join(w.dir, "cs", ".memory")}}
	w.open()
	w.complete(w.plan(w.file().ID))
	plant(t, w.dir, map[string]string{"c/memories_1.sqlite": database}) // the rows of a store's own are made from its items
	makeChunks(t, filepath.Join(w.dir, "cs/.memory/index.sqlite"), "about tea")
	if _, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(problems) > 0 {
		t.Fatalf("%q, %v", problems, err)
	}
	for _, file := range []string{"s/memory/idea/crm.db", "s/memory/idea/.stversions/crm~20261101-101010.db", "cs/.memory/.snapshots/run1/index.sqlite"} {
		plant(t, w.dir, map[string]string{file: database + "q" + name + "Harbour"})
		w.open()
		if _, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || !strings.Contains(strings.Join(problems, "\n"), "look inside by hand") {
			t.Errorf("%s: %q, %v; want that the database is not proven clean", file, problems, err)
		}
		if err := os.Remove(filepath.Join(w.dir, file)); err != nil {
			t.Fatal(err)
		}
	}
}

// largeText is a store with a file that is too large for an item.
type largeText struct{ model.Texts }

func (x largeText) EachText(ctx context.Context, fn func(model.Text, error) bool) ([]string, error) {
	return x.Texts.EachText(ctx, func(t model.Text, err error) bool {
		if strings.HasSuffix(t.ID, "film.mp4") {
			return fn(model.Text{ID: t.ID}, model.Errorf(model.Unsupported, "read", "it is too large"))
		}
		return fn(t, err)
	})
}

// TestASweepReadsAFileThatIsTooLargeForAnItem: its bytes are searched as they lie.
func TestASweepReadsAFileThatIsTooLargeForAnItem(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"s/memory/idea/m.md": "by " + name + "\n", "s/memory/idea/n.md": "rye\n", "s/memory/idea/film.mp4": "a film\n"})
	w.more = []backends.StoreConfig{w.vault("s")}
	w.open()
	w.complete(w.plan(w.file().ID))
	for _, body := range []string{"a film\n", "a film\nby " + name + "\n"} {
		plant(t, w.dir, map[string]string{"s/memory/idea/film.mp4": body})
		w.open()
		s := w.store("s")
		s.Texts = largeText{s.Texts}
		swept, problems, err := w.desk.Sweep(t.Context(), alone(s), "", nil)
		if err != nil || len(problems) > 0 || (len(swept) == 1) != strings.Contains(body, name) {
			t.Errorf("%q: %+v, %q, %v", body, swept, problems, err)
		}
	}
}

// TestAQuarantinedEntryIsReadLikeAnItem: the bytes of one that is too large are searched by a sweep and a plan is not
// complete without them; a link is passed over.
func TestAQuarantinedEntryIsReadLikeAnItem(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"cs/.memory/AGENT.md": "by " + name + "\n", "cs/.memory/daily/2026-01-01.md": "tea\n", "h/USER.md": "tea\n",
		"cs/.memory/.quarantine/.gitkeep": ""}) // it holds nothing that could not be read
	w.more = []backends.StoreConfig{{Name: "cs", Kind: "crewship", Path: filepath.Join(w.dir, "cs", ".memory")}, {Name: "h", Kind: "curated", Path: filepath.Join(w.dir, "h")}}
	w.open()
	done := w.plan(w.file().ID)
	w.complete(done)
	page, err := w.desk.Log.List(t.Context(), audit.Filter{Action: "forget"}, 10, "")
	if err != nil || len(page.Rows) == 0 || page.Rows[0].Plan != done.Hash {
		t.Errorf("a step of the plan %s is recorded as %+v, %v", done.Hash, page.Rows, err)
	}
	quarantine := filepath.Join(w.dir, "cs/.memory/.quarantine")
	entry := filepath.Join("cs/.memory/.quarantine", strings.Repeat("a", 64)+".md")
	if err := os.MkdirAll(quarantine, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{filepath.Join(quarantine, strings.Repeat("b", 64)+".md"), filepath.Join(w.dir, "h/MEMORY.md")} {
		if err := os.Symlink(filepath.Join(w.dir, "elsewhere.md"), link); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		body string
		size int64
		want string // of the plan's problems
	}{{}, {"tea\n", 6 << 20, ""}, {name + " was here\n", 6 << 20, ""}, {name + " was here\n", 256<<20 + 1, "attest"}} {
		body, want := c.body, c.want
		if body != "" {
			plant(t, w.dir, map[string]string{entry: body})
			if err := os.Truncate(filepath.Join(w.dir, entry), c.size); err != nil {
				t.Fatal(err)
			}
		}
		w.open()
		swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
		if err != nil || len(problems) > 0 || (len(swept) == 1) != strings.Contains(body, name) {
			t.Errorf("%.20q: swept %+v, %q, %v", body, swept, problems, err)
		}
		p, err := w.desk.MakePlan(t.Context(), w.file().ID, w.fleet, nil)
		var said []string
		for _, s := range p.Stores {
			said = append(said, s.Problems...)
		}
		if err != nil || (len(said) > 0) != (want != "") || !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("%.20q: the plan says %q, %v; want %q", body, said, err, want)
		}
		if body != "" {
			if err := os.Remove(filepath.Join(w.dir, entry)); err != nil && !errors.Is(err, fs.ErrNotExist) { // a sweep takes what can be read
				t.Fatal(err)
			}
		}
	}
}
