package gdpr_test

import (
	"context"
	"reflect"
	"testing"

	"memdesk/gdpr"
	"memdesk/model"
)

// acts are the methods of a store's facets that may remove an item. Each is called on a store with an
// item on hold, and must be refused.
var acts = map[string]func(ctx context.Context, s model.Store) error{
	"Provider.Retain": func(ctx context.Context, s model.Store) error {
		_, err := s.Provider.Retain(ctx, model.RetainRequest{ID: "n2", Mode: model.Replace, Content: "other"})
		return err
	},
	"Provider.Forget": func(ctx context.Context, s model.Store) error {
		_, err := s.Provider.Forget(ctx, model.ForgetRequest{ID: "n2"})
		return err
	},
	"Maintainer.Scrub": func(ctx context.Context, s model.Store) error {
		_, err := s.Maintainer.Scrub(ctx, model.ScrubRequest{Removed: []string{"n2"}})
		return err
	},
	"Migrator.Migrate": func(ctx context.Context, s model.Store) error {
		_, err := s.Migrator.Migrate(ctx, 0)
		return err
	},
}

// harmless are the methods that cannot remove an item: reads, and rebuilds of derived data.
var harmless = map[string]bool{
	"Provider.Recall": true, "Provider.Health": true,
	"Browser.List": true, "Browser.Read": true, "Browser.Tiers": true,
	"History.Revisions": true, "History.ReadRevision": true,
	"Quarantine.Quarantined": true, "Quarantine.ReadQuarantined": true,
	"Conflicts.StoreConflicts": true, "Subjects.Concerning": true, "Names.Names": true, "Texts.EachText": true,
	"Graph.Neighbours": true, "Graph.Subgraph": true, "Graph.Similar": true,
	"Work.WorkItems": true, "Work.Dependencies": true,
	"Events.StoreEvents": true, "Watcher.Watch": true,
	"Maintainer.Layers": true, "Maintainer.OpenLayer": true,
	"Reindexer.Reindex": true, "Reindexer.ChangedSince": true,
	"Repairer.Broken": true, "Repairer.SetAside": true, // it writes a file beside the store; Forget removes
	"Migrator.Schema": true,
}

// TestEveryActThatRemovesStandsBehindTheGate finds the methods by reflection, so that each new one must
// be classified above.
func TestEveryActThatRemovesStandsBehindTheGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill()
	r := w.file()
	if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "db", ID: "n2", Ground: "Art. 17(3)(e): a claim"}); err != nil {
		t.Fatal(err)
	}
	reached := ""
	s := w.store("db").Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		c2 := *c
		return w.desk.Gate()(ctx, &c2, func(context.Context) error {
			reached = string(c.Op)
			return next(ctx) // the store's own layers refuse as well
		})
	})
	store := reflect.TypeFor[model.Store]()
	seen := 0
	for i := range store.NumField() {
		facet := store.Field(i)
		if facet.Type.Kind() != reflect.Interface {
			continue
		}
		for j := range facet.Type.NumMethod() {
			name := facet.Name + "." + facet.Type.Method(j).Name
			act, removes := acts[name]
			if removes == harmless[name] {
				t.Errorf("%s: nobody has said whether it can take an item away", name)
				continue
			}
			if !removes {
				continue
			}
			seen++
			reached = ""
			if err := act(t.Context(), s); !model.IsRefusal(err) || reached != "" {
				t.Errorf("%s with an item on hold: %v, and the gate let it through: %q", name, err, reached)
			}
			if _, err := w.store("db").Browser.Read(t.Context(), "n2"); err != nil {
				t.Fatalf("%s has taken the item on hold away: %v", name, err)
			}
		}
	}
	if seen != len(acts) {
		t.Errorf("%d of %d acts were found", seen, len(acts))
	}
}
