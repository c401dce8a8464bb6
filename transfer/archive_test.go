package transfer_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"memdesk/backends"
	"memdesk/backends/demodata"
	"memdesk/internal/clock"
	"memdesk/internal/filelock"
	"memdesk/model"
	"memdesk/transfer"
)

var now = time.Date(2026, 5, 21, 12, 0, 0, 0, time.UTC)

func demo(t *testing.T) *backends.Fleet {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	if err := demodata.Seed(t.Context(), dir, now); err != nil {
		t.Fatal(err)
	}
	reg := backends.Builtin()
	cfg, err := backends.LoadConfig(reg, filepath.Join(dir, demodata.ConfigFile), true, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	fleet := backends.Open(t.Context(), reg, cfg.Stores, backends.Env{Clock: clock.Fixed(now)}, backends.Policy{Audit: backends.Unrecorded})
	t.Cleanup(func() { _ = fleet.Close() })
	return fleet
}

// items are all items of a store and the data beside them, without renewed fields.
func items(t *testing.T, s model.Store) map[string]model.Item {
	t.Helper()
	out := map[string]model.Item{}
	req := model.PageRequest{Hidden: true, Limit: 7}
	for {
		page, err := s.Browser.List(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Items {
			it, err := s.Browser.Read(t.Context(), h.ID)
			if err != nil {
				t.Fatal(err)
			}
			it.Stamp, it.Revision, it.Links, it.LinksTotal = "", "", nil, 0
			it.Modified = it.Modified.UTC()
			out[h.ID] = it
		}
		if page.Next == "" {
			if !page.Total.Unknown && page.Total.N != int64(len(out)) {
				t.Errorf("%s: %d listed, the total is %d", s.Name, len(out), page.Total.N)
			}
			return out
		}
		req.Cursor = page.Next
	}
}

func export(t *testing.T, s model.Store) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "export")
	last := int64(0)
	m, err := transfer.Export(t.Context(), s, dir, now, func(done, _ int64) { last = done })
	if err != nil || m.Items != last || len(m.Problems) > 0 {
		t.Fatalf("%s: %+v, %d said: %v", s.Name, m, last, err)
	}
	return dir
}

func openExport(t *testing.T, dir string) model.Store {
	t.Helper()
	s, err := transfer.OpenExport(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestAnExportOfPipesAndLinks: an export comes from elsewhere. A pipe in it must not be waited for.
func TestAnExportOfPipesAndLinks(t *testing.T) {
	s := openInMemory("from")
	fill(t, s)
	for _, name := range []string{"store.json", "items.jsonl"} {
		for what, put := range map[string]func(path, was string) error{
			"pipe": func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
			"link": func(path, was string) error { return os.Symlink(was, path) },
		} {
			dir := export(t, s)
			path, was := filepath.Join(dir, name), filepath.Join(t.TempDir(), name)
			if err := errors.Join(os.Rename(path, was), put(path, was)); err != nil {
				t.Fatal(err)
			}
			opened := make(chan error, 1)
			go func() {
				s, err := transfer.OpenExport(dir)
				_ = s.Close()
				opened <- err
			}()
			select {
			case err := <-opened:
				if !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), name+" is no regular file") {
					t.Errorf("%s as a %s: %v", name, what, err)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s as a %s is waited for", name, what)
			}
		}
	}
}

// TestExportHoldsEveryKind: reading an export must equal reading the store.
func TestExportHoldsEveryKind(t *testing.T) {
	kinds := 0
	for _, m := range demo(t).Members() {
		if m.Err != nil {
			t.Fatal(m.Err)
		}
		if m.Store.Browser == nil {
			continue
		}
		t.Run(m.Kind, func(t *testing.T) {
			kinds++
			want := items(t, m.Store)
			s := openExport(t, export(t, m.Store))
			if d := cmp.Diff(want, items(t, s), cmpopts.EquateEmpty()); d != "" || len(want) == 0 && m.Kind != "inmem" {
				t.Errorf("%d items (-store +export):\n%s", len(want), d)
			}
			for id := range want {
				if m.Store.Beside == nil {
					break
				}
				have, err := m.Store.Beside(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := s.Beside(t.Context(), id); err != nil || cmp.Diff(have, got, cmpopts.EquateEmpty()) != "" {
					t.Errorf("beside %s: %v %s", id, err, cmp.Diff(have, got))
				}
			}
		})
	}
	if kinds < 10 {
		t.Errorf("only %d kinds were tried", kinds)
	}
}

// TestExportIsCopiedBack: an export must fill an empty store of its kind with the same content.
func TestExportIsCopiedBack(t *testing.T) {
	fleet := demo(t)
	for kind, name := range map[string]string{"sqlite": "graph", "vault": "notes", "devicelocal": "device", "curated": "desk", "beads": "work", "mcpgraph": "assistant"} {
		t.Run(kind, func(t *testing.T) {
			from, err := fleet.Store(name)
			if err != nil {
				t.Fatal(err)
			}
			to := empty(t, kind)
			source := openExport(t, export(t, from))
			sum, all, err := run(t, source, to, transfer.Options{}, &memory{})
			want := content(t, from)
			for _, o := range all {
				switch {
				case o.Result == transfer.Copied:
				case strings.Contains(o.Reason, "filled by its own writer only"): // the plan said so
					delete(want, o.ID)
				default:
					t.Errorf("%+v", o)
				}
			}
			if err != nil || sum.Copied != int64(len(want)) || len(want) < 3 {
				t.Fatalf("%+v of %d: %v", sum, len(want), err)
			}
			if d := cmp.Diff(want, content(t, to)); d != "" {
				t.Errorf("(-from +to):\n%s", d)
			}
		})
	}
}

// empty opens an empty store of a kind.
func empty(t *testing.T, kind string) model.Store {
	t.Helper()
	dir := t.TempDir()
	c := backends.StoreConfig{Name: "new", Kind: kind, Path: dir}
	env := backends.Env{Clock: clock.Fixed(now), Getenv: func(k string) string { return map[string]string{"XDG_STATE_HOME": filepath.Join(dir, "state")}[k] }}
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reg := backends.Builtin()
	switch kind {
	case "sqlite":
		c.Path = filepath.Join(dir, "new.db")
		k, _ := reg.Kind(kind)
		if err := k.Create(t.Context(), c, env); err != nil {
			t.Fatal(err)
		}
	case "vault":
		write(".obsidian/app.json", "{}")
	case "beads":
		write(".beads/issues.jsonl", "")
	case "mcpgraph":
		write("memory.jsonl", "")
		c.Path = filepath.Join(dir, "memory.jsonl")
	}
	fleet := backends.Open(t.Context(), reg, []backends.StoreConfig{c}, env, backends.Policy{Audit: backends.Unrecorded})
	t.Cleanup(func() { _ = fleet.Close() })
	s, err := fleet.Store("new")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestExportKeepsBytesThatAreNoText(t *testing.T) {
	raw := "\xff\x00\x1b[31m\u202e"
	s := model.Store{Name: "odd", Kind: "odd", Browser: odd{model.Item{Header: model.Header{ID: "a\xffb", Tier: "t", Flags: []model.Flag{model.FlagBinary}}, Body: raw,
		Meta: []model.Field{{Name: "n", Value: raw, ReadOnly: true}}}}}
	got := items(t, openExport(t, export(t, s)))
	if it := got["a\xffb"]; it.Body != raw || len(it.Meta) != 1 || it.Meta[0] != (model.Field{Name: "n", Value: raw, ReadOnly: true}) || !it.Has(model.FlagBinary) {
		t.Errorf("%+v", got)
	}
}

// odd is a store of one item.
type odd struct{ it model.Item }

func (o odd) List(context.Context, model.PageRequest) (model.Page, error) {
	return model.Page{Items: []model.Header{o.it.Header}, Total: model.Count{N: 1}}, nil
}
func (o odd) Read(context.Context, string) (model.Item, error) { return o.it, nil }
func (o odd) Tiers(context.Context) ([]model.TierCount, error) { return nil, nil }

func TestExportIsWholeOrNotThere(t *testing.T) {
	s := openInMemory("from")
	fill(t, s)
	parent := t.TempDir()
	dir := filepath.Join(parent, "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := transfer.Export(ctx, s, dir, now, func(int64, int64) {}); err == nil {
		t.Error("a cancelled export went through")
	}
	if left, _ := os.ReadDir(parent); len(left) != 0 {
		t.Errorf("it left %v", left)
	}
	for _, name := range []string{".x.part-1", ".x.part-2", ".xy.part-3"} { // a killed one, a running one, another's
		if err := os.Mkdir(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".x.part-mine", ".x.part-4", ".x.part-5"} { // a user's own
		if err := os.Mkdir(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(parent, ".x.part-4", "notes")
	if err := errors.Join(os.WriteFile(own, nil, 0o600), os.Chmod(filepath.Join(parent, ".x.part-5"), 0o750), os.WriteFile(filepath.Join(parent, ".x.part-6"), nil, 0o600),
		syscall.Mkfifo(filepath.Join(parent, ".x.part-7"), 0o600)); err != nil {
		t.Fatal(err)
	}
	running, err := os.Open(filepath.Join(parent, ".x.part-2"))
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	if free, err := filelock.Try(running, true); err != nil || !free {
		t.Fatal(free, err)
	}
	if _, err := transfer.Export(t.Context(), s, dir+string(filepath.Separator), now, func(int64, int64) {}); err != nil {
		t.Errorf("with a final slash: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(parent, ".x*")); len(left) != 7 || filepath.Base(left[0]) != ".x.part-2" {
		t.Errorf("beside the export lies %v", left)
	}
	if _, err := os.Stat(own); err != nil {
		t.Error(err)
	}
	dir = export(t, s)
	if _, err := transfer.Export(t.Context(), s, dir, now, func(int64, int64) {}); !errors.Is(err, model.AlreadyExists) {
		t.Errorf("over another: %v", err)
	}
	path := filepath.Join(dir, "items.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"cut": whole[:len(whole)/2], "one byte": append([]byte(nil), append(whole[:len(whole)-10:len(whole)-10], append([]byte{'x'}, whole[len(whole)-9:]...)...)...), "empty": nil} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := transfer.OpenExport(dir); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%s: opened as %s: %v", name, s.Name, err)
		}
	}
	if _, err := transfer.OpenExport(parent); !errors.Is(err, model.InvalidInput) {
		t.Errorf("no export: %v", err)
	}
}

// TestAnExportThatIsNoneOfOurs: its files must not fill the memory, and an item that is there twice is not one item.
func TestAnExportThatIsNoneOfOurs(t *testing.T) {
	s := openInMemory("from")
	fill(t, s)
	huge := func(path string) error { return errors.Join(os.Truncate(path, 0), os.Truncate(path, 1<<40)) }
	for name, tt := range map[string]struct {
		file  string
		spoil func(path string) error
		words string
	}{
		"huge store.json":  {"store.json", huge, "not memdesk's"},
		"huge items.jsonl": {"items.jsonl", huge, "invalid character"},
		"an item twice": {"items.jsonl", func(path string) error {
			text, err := os.ReadFile(path)
			line, _, _ := strings.Cut(string(text), "\n")
			return errors.Join(err, os.WriteFile(path, []byte(string(text)+line+"\n"), 0o600))
		}, "twice"},
	} {
		dir := export(t, s)
		if err := tt.spoil(filepath.Join(dir, tt.file)); err != nil {
			t.Fatal(err)
		}
		if s, err := transfer.OpenExport(dir); !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: opened as %s: %v", name, s.Name, err)
		}
	}
}

// dated is a store whose items hold what JSON cannot.
type dated struct{ model.Browser }

func (o dated) Read(ctx context.Context, id string) (model.Item, error) {
	it, err := o.Browser.Read(ctx, id)
	if id == "late" {
		it.Modified = time.UnixMilli(1716300000000000)
	}
	return it, err
}

// TestOneOddItemDoesNotEndAnExport: a date beyond the year 9999 is unknown in an export; an item that cannot
// be written is named.
func TestOneOddItemDoesNotEndAnExport(t *testing.T) {
	s := openInMemory("from")
	for _, id := range []string{"late", "nan", "plain"} {
		if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Tier: "task", Content: "text", Mode: model.Replace}); err != nil {
			t.Fatal(err)
		}
	}
	s.Browser = dated{s.Browser}
	s.Beside = func(_ context.Context, id string) (model.Beside, error) {
		if id == "nan" {
			return model.Beside{Vector: []float32{float32(math.NaN())}}, nil
		}
		return model.Beside{}, nil
	}
	dir := filepath.Join(t.TempDir(), "export")
	m, err := transfer.Export(t.Context(), s, dir, now, func(int64, int64) {})
	if err != nil || m.Items != 2 || len(m.Problems) != 1 || !strings.HasPrefix(m.Problems[0], "nan: ") {
		t.Errorf("%+v, %v", m, err)
	}
	sum, all, err := run(t, openExport(t, dir), openInMemory("to"), transfer.Options{}, &memory{})
	if err != nil || sum.Copied != 2 || sum.Failed != 1 || !strings.Contains(all[0].Reason, "not looked at: nan: ") {
		t.Errorf("copied from there: %+v, %v", all, err)
	}
}

// A store lists what lies in its directory: an export there would be its items, and a copy there would copy itself again.
func TestNothingGoesIntoTheSource(t *testing.T) {
	dir := memoryDir(t, map[string]string{"AGENT.md": "likes tea\n"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	s := crewshipAt(t, dir)
	for _, out := range []string{filepath.Join(dir, "topics", "ex"), filepath.Join(link, "ex")} {
		if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := transfer.Export(t.Context(), s, out, time.Now(), func(int64, int64) {}); !errors.Is(err, model.InvalidInput) {
			t.Errorf("exported into %s: %v", out, err)
		}
		if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.Contains(e.Name(), "ex") }) {
			t.Errorf("left in %s: %v, %v", filepath.Dir(out), entries, err)
		}
	}
	to := s
	to.Name = "other"
	for _, place := range []string{dir, link, filepath.Join(dir, "topics")} {
		to.Location = place
		if _, err := transfer.NewPlan(s, to, transfer.Options{}); !errors.Is(err, model.InvalidInput) {
			t.Errorf("copied into %s: %v", place, err)
		}
	}
	to.Location, to.Place = filepath.Dir(dir), dir
	if _, err := transfer.NewPlan(s, to, transfer.Options{}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("copied into itself, opened by the directory above: %v", err)
	}
	to.Location, to.Place = dir+"-2", ""
	if _, err := transfer.NewPlan(s, to, transfer.Options{}); err != nil {
		t.Errorf("beside it: %v", err)
	}
}
