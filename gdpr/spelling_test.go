package gdpr_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
	"memdesk/backends/demodata"
	"memdesk/gdpr"
	"memdesk/model"
)

// earlier gives the open stores the identities that versions without Place gave them.
func (w *world) earlier() {
	members := w.fleet.Members()
	for i := range members {
		members[i].Store.Place = ""
	}
	w.fleet = backends.NewFleet(members, nil)
}

// someItem is the id of an item of a store.
func (w *world) someItem(store string) string {
	w.t.Helper()
	page, err := w.store(store).Browser.List(w.t.Context(), model.PageRequest{Limit: 1})
	if err != nil || len(page.Items) == 0 {
		w.t.Fatalf("%s has no item: %v", store, err)
	}
	return page.Items[0].ID
}

// TestAHoldIsOnThePlaceAndNotOnItsPath: a hold that was set where a store was opened by one path is kept where it
// is opened by another path of the same files. A hold with the identity of the typed path, as earlier versions
// stored it, is kept too, and after a plan under every path.
func TestAHoldIsOnThePlaceAndNotOnItsPath(t *testing.T) {
	t.Parallel()
	demo := memDir(t)
	if err := demodata.Seed(t.Context(), filepath.Join(demo, "d"), at("2026-03-01T12:00:00Z").Now()); err != nil {
		t.Fatal(err)
	}
	for kind, paths := range map[string][2]string{"sqlite": {".recurse", ".recurse/rlm.db"}, "beads": {"work", "work/.beads"}, "curated": {"desk", "desk/memories"}} {
		for _, turned := range []bool{false, true} {
			for _, old := range []bool{false, true} {
				w := newWorld(t)
				d := filepath.Join(w.dir, "d")
				if err := os.CopyFS(d, os.DirFS(filepath.Join(demo, "d"))); err != nil {
					t.Fatal(err)
				}
				plant(t, d, map[string]string{".recurse/.keep": ""})
				if err := os.Rename(filepath.Join(d, "graph.db"), filepath.Join(d, ".recurse", "rlm.db")); err != nil {
					t.Fatal(err)
				}
				if turned {
					paths[0], paths[1] = paths[1], paths[0]
				}
				w.more = []backends.StoreConfig{{Name: "one", Kind: kind, Path: filepath.Join(d, paths[0])}, {Name: "two", Kind: kind, Path: filepath.Join(d, paths[1])}}
				w.open()
				r, item := w.file(), w.someItem("one")
				if old {
					w.earlier()
				}
				h, err := w.desk.Locate(t.Context(), w.fleet, gdpr.Hold{Store: "one", ID: item, Ground: "a claim"})
				if h.Store = "then"; old {
					h.File, h.Dirs = "", ""
				}
				if err == nil {
					_, err = w.desk.Hold(t.Context(), r.ID, h)
				}
				if err != nil {
					t.Fatal(err)
				}
				w.open()
				refused := func(name string) {
					t.Helper()
					if _, err := w.store(name).Provider.Forget(t.Context(), model.ForgetRequest{ID: item}); !model.IsRefusal(err) {
						t.Errorf("%s, forget as %q by %s, old %v: %v; want a refusal", kind, name, paths, old, err)
					}
					if _, err := w.store(name).Provider.Forget(t.Context(), model.ForgetRequest{DataSubjectID: "nobody"}); !model.IsRefusal(err) {
						t.Errorf("%s, the cascade of %q by %s, old %v: %v; want a refusal", kind, name, paths, old, err)
					}
				}
				refused("one")
				if old {
					if p := actions(w.plan(r.ID)); p["one:"+item].Action != gdpr.Held {
						t.Errorf("%s by %s, old: the plan has %+v; want it held", kind, paths, p["one:"+item])
					}
				}
				refused("two")
			}
		}
	}
}

// TestAPlanOfAnEarlierVersion: a plan with the identity of the typed path is of the same store, and is carried out or
// made anew; the word that the store is about this person alone stays.
func TestAPlanOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		w := newWorld(t)
		w.more = []backends.StoreConfig{{Name: "graph", Kind: "sqlite", Path: filepath.Join(w.dir, ".recurse")}}
		plant(t, w.dir, map[string]string{".recurse/.keep": ""})
		kind, _ := backends.Builtin().Kind("sqlite")
		if err := kind.Create(t.Context(), backends.StoreConfig{Name: "graph", Kind: "sqlite", Path: filepath.Join(w.dir, ".recurse", "rlm.db")}, backends.Env{Clock: w.clock}); err != nil {
			t.Fatal(err)
		}
		w.open()
		for i := range 20 {
			w.put("graph", model.RetainRequest{Tier: "longterm", Key: fmt.Sprint("n", i), Content: name + " likes tea"})
		}
		w.earlier()
		r := w.file()
		if _, err := w.desk.Whole(t.Context(), r.ID, w.store("graph")); err != nil {
			t.Fatal(err)
		}
		p := w.plan(r.ID)
		w.open()
		if again {
			old := p
			if p = w.plan(r.ID); len(p.Stores) != len(old.Stores) || p.Stores[1].Where == old.Stores[1].Where {
				t.Errorf("the plan has %+v; want the same stores, and the identity of now", p.Stores)
			}
		}
		w.complete(p)
	}
}

// TestAHoldOfARelativePath: an earlier version kept the path of a relatively named configuration relative, and its holds
// must not fall with the update.
func TestAHoldOfARelativePath(t *testing.T) {
	w := newWorld(t)
	w.fill()
	r, item := w.file(), w.someItem("db")
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	typed, err := filepath.Rel(wd, w.store("db").Location)
	if err != nil {
		t.Fatal(err)
	}
	old := model.Store{Kind: w.store("db").Kind, Location: typed}.Identity()
	if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "then", Where: old, ID: item, Ground: "a claim"}); err != nil {
		t.Fatal(err)
	}
	for what, req := range map[string]model.ForgetRequest{"the item": {ID: item}, "a cascade": {DataSubjectID: "nobody"}} {
		if _, err := w.store("db").Provider.Forget(t.Context(), req); !model.IsRefusal(err) {
			t.Errorf("%s: %v; want a refusal", what, err)
		}
	}
	if p := actions(w.plan(r.ID)); p["db:"+item].Action != gdpr.Held {
		t.Errorf("the plan has %+v; want it held", p["db:"+item])
	}
}
