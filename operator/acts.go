package operator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
	"memdesk/quarantine/review"
	"memdesk/undo"
	"memdesk/work"
)

// Done is the result of an act.
type Done struct {
	Store, Item string
	Bytes       int64          // of the item that was written
	Revision    model.Revision // current revision
	Removed     int64          // items removed
	Gone        bool           // of a restore: the change had created the item, which is now removed
	Kept        string         // of a resolve: id of the copy's kept text; empty when it went
	Relations   int64          // removed along with them, or restored with them
	Fell        string         // unit of Relations: relation, or item
	Undo        string         // entry that undoes the act; empty: nothing was kept
	Expires     time.Time      // of Undo
	Obstacle    string         // why Restore is impossible; empty when it is possible
	Warnings    []string       // deviations from the request, in words
	Notes       []string       // further facts
}

// begin checks the session's right to an act, finds the store and passes the reason to the log.
func (s *Session) begin(ctx context.Context, act Act, store, id, reason string) (context.Context, model.Store, error) {
	ctx = audit.WithReason(ctx, reason)
	if err := s.Allow(ctx, act, store, id); err != nil {
		return ctx, model.Store{}, err
	}
	st, err := s.Fleet.Store(store)
	return ctx, st, err
}

// recorded does an act of several changes, and records it by its own word around the changes, each of which
// is in the log too.
func (s *Session) recorded(ctx context.Context, act Act, store, id, reason string, do func(context.Context) error) error {
	e := audit.Entry{Action: string(act), Store: store, Target: model.Ref{Store: store, ID: id}.String(), Reason: reason}
	return s.Log.Act(ctx, e, func(ctx context.Context) (map[string]int64, error) { return nil, do(ctx) })
}

// keep copies the facts of an undo entry.
func (d *Done) keep(e undo.Entry) {
	d.Undo, d.Obstacle, d.Expires = e.ID, e.Obstacle, e.Expires
}

// Preview names the side effects of forgetting an item.
func (s *Session) Preview(ctx context.Context, store, id string) (warnings []string, err error) {
	st, err := s.Fleet.Store(store)
	if err != nil {
		return nil, err
	}
	return s.Undo.Preview(ctx, st, id)
}

// Fallen are the items of a store that go along with others.
type Fallen struct {
	Store string
	IDs   []string
}

// FallsOf names the items that go along with the items of refs, taken together: an edge between two of them may fall
// with neither alone. Stores come in the order in which refs name them; one in which nothing falls is left out.
func FallsOf(ctx context.Context, fleet *backends.Fleet, refs []model.Ref) (out []Fallen, err error) {
	ids := map[string][]string{}
	var stores []string
	for _, r := range refs {
		if ids[r.Store] == nil {
			stores = append(stores, r.Store)
		}
		ids[r.Store] = append(ids[r.Store], r.ID)
	}
	for _, name := range stores {
		s, err := fleet.Store(name)
		if err != nil {
			return out, err
		}
		if s.Falls == nil {
			continue
		}
		falls, err := s.Falls(ctx, ids[name])
		if err != nil {
			return out, err
		}
		if len(falls) > 0 {
			here := Fallen{Store: name}
			for _, f := range falls {
				here.IDs = append(here.IDs, f.ID)
			}
			out = append(out, here)
		}
	}
	return out, nil
}

// Forget removes one item, and keeps it for undo. It is Conflict when the item is not at req.IfMatch; an
// absent item is Removed 0 and no error.
func (s *Session) Forget(ctx context.Context, store string, req model.ForgetRequest, reason string) (Done, error) {
	ctx, st, err := s.begin(ctx, Forget, store, req.ID, reason)
	if err != nil {
		return Done{}, err
	}
	if req.KeepHistory && !st.Capabilities()["keep_history"] {
		return Done{}, model.Errorf(model.InvalidInput, "", "%s keeps no earlier texts that --keep-history could leave", st.Name)
	}
	res, e, err := s.Undo.Forget(ctx, st, req)
	done := Done{Store: store, Item: req.ID, Removed: res.Removed, Fell: undo.FallNoun(e.Falls), Warnings: res.Warnings}
	done.keep(e)
	if err != nil {
		return done, err
	}
	if done.Relations, err = e.Fell(ctx, st); err != nil { // the item is gone nevertheless
		done.Warnings = append(done.Warnings, "which relations went with it cannot be seen: "+err.Error())
	}
	return done, nil
}

// ActOf is the act of a write.
func ActOf(req model.RetainRequest) Act {
	switch {
	case req.Mode == model.Append:
		return Append
	case req.IfMatch == model.Absent:
		return Create
	}
	return Edit
}

// Retain writes one item, and keeps the displaced text for undo. It is Conflict when the item is not at the
// revision of req. With an error of model.IsPartial the item was written.
func (s *Session) Retain(ctx context.Context, store string, req model.RetainRequest, reason string) (Done, error) {
	ctx, st, err := s.begin(ctx, ActOf(req), store, req.ID, reason)
	if err != nil {
		return Done{}, err
	}
	res, e, err := s.Undo.Retain(ctx, st, req)
	done := Done{Store: store, Item: res.ID, Bytes: res.Bytes, Revision: res.Revision, Warnings: res.Warnings}
	done.keep(e)
	return done, err
}

// Release writes a text over the live source of a quarantine entry and removes the entry, or makes a held
// write. The text must pass the scanner; a nil body releases a source that is clean already. seen is the
// revision of the source. The record names the source, which is there after the entry has gone: that has a record of
// its own, a forget.
func (s *Session) Release(ctx context.Context, store, id string, body *string, seen model.Revision, reason string) (Done, error) {
	ctx, st, err := s.begin(ctx, Release, store, id, reason)
	if err != nil {
		return Done{}, err
	}
	target := id
	if e, err := review.Read(ctx, st, id); err == nil && !review.HeldID(id) && e.SourceID != "" {
		target = e.SourceID
	}
	var res review.Release
	err = s.recorded(ctx, Release, store, target, reason, func(ctx context.Context) (err error) {
		if review.HeldID(id) {
			res, err = s.Shelf.Release(ctx, s.Undo, st, id, body)
		} else {
			res, err = review.Do(ctx, s.Undo, st, id, body, seen)
		}
		return err
	})
	done := Done{Store: store, Item: res.Source, Removed: res.Removed, Revision: res.Revision}
	done.keep(res.Undo)
	return done, err
}

// Repair moves items that the store's own program cannot read into a file beside the store. The file is
// written first, so that a forgotten item is never the only copy.
func (s *Session) Repair(ctx context.Context, store string, ids []string) (file string, done Done, err error) {
	ctx, st, err := s.begin(ctx, Repair, store, "", "")
	if err != nil {
		return "", done, err
	}
	done = Done{Store: store}
	if file, err = st.Repairer.SetAside(ctx, ids); err != nil {
		return "", done, err
	}
	changes := make([]undo.Change, len(ids))
	for i, id := range ids {
		changes[i].Forget = &model.ForgetRequest{ID: id}
	}
	slices.Reverse(changes) // undo goes from the last to the first, so each line comes back before those behind it
	_, e, err := s.Undo.Together(ctx, st, undo.OpRepair, changes)
	done.keep(e)
	if err == nil {
		done.Removed = int64(len(ids))
	}
	return file, done, err
}

// Reindex rebuilds the index of a tier, empty for all, and counts the items in it.
func (s *Session) Reindex(ctx context.Context, store, tier string) (int64, error) {
	ctx, st, err := s.begin(ctx, Reindex, store, "", "")
	if err != nil {
		return 0, err
	}
	if st.Reindexer == nil {
		return 0, model.Errorf(model.Unsupported, string(Reindex), "store %s has no index to build", st.Name)
	}
	return st.Reindexer.Reindex(ctx, tier)
}

// Migrate moves a store's schema to a version.
func (s *Session) Migrate(ctx context.Context, store string, to int) (model.SchemaState, error) {
	ctx, st, err := s.begin(ctx, Migrate, store, "", "")
	if err != nil {
		return model.SchemaState{}, err
	}
	return st.Migrator.Migrate(ctx, to)
}

// MakeStore makes a new, empty store and never touches an existing one.
func (s *Session) MakeStore(ctx context.Context, c backends.StoreConfig) error {
	if err := s.Allow(ctx, MakeStore, c.Name, ""); err != nil {
		return err
	}
	kind, _ := s.Kinds.Kind(c.Kind)
	if kind.Create == nil {
		return model.Errorf(model.Unsupported, "create", "a store of kind %s is made by the system that it belongs to", c.Kind)
	}
	return s.Log.Act(ctx, audit.Entry{Action: string(MakeStore), Store: c.Name, Target: cmp.Or(c.Path, c.Location)}, func(ctx context.Context) (map[string]int64, error) {
		return nil, kind.Create(ctx, c, backends.Env{Clock: s.Clock, Getenv: s.Env})
	})
}

// Work is the port of a store's work items whose changes are kept for undo; kept is the last
// change.
func (s *Session) Work(ctx context.Context, store, reason string) (context.Context, work.Desk, *Done, error) {
	ctx, st, err := s.begin(ctx, ChangeWork, store, "", reason)
	if err != nil {
		return ctx, work.Desk{}, nil, err
	}
	kept := &Done{Store: store}
	return ctx, work.Desk{Store: st, Provider: keeping{st.Provider, s.Writes(), st, kept}}, kept, nil
}

// keeping is a store's provider whose changes are permitted and kept for undo; last, where there is one, is the newest.
type keeping struct {
	model.Provider
	writes Writes
	store  model.Store
	last   *Done
}

func (k keeping) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	res, e, err := k.writes.Retain(ctx, k.store, req)
	if k.last != nil {
		k.last.keep(e)
	}
	return res, err
}

func (k keeping) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	res, e, err := k.writes.Forget(ctx, k.store, req)
	if k.last != nil {
		k.last.keep(e)
	}
	return res, err
}

// Writes are the changes of an agents' door, each permitted and kept for undo.
type Writes struct{ s *Session }

// Writes are the session's.
func (s *Session) Writes() Writes { return Writes{s} }

// Provider makes a store's changes so, for a takeback to find the text before (AD20).
func (w Writes) Provider(st model.Store) model.Provider { return keeping{st.Provider, w, st, nil} }

// Retain is undo's, after the session's rules.
func (w Writes) Retain(ctx context.Context, st model.Store, req model.RetainRequest) (model.RetainResult, undo.Entry, error) {
	if err := w.s.Allow(ctx, ActOf(req), st.Name, req.ID); err != nil {
		return model.RetainResult{}, undo.Entry{}, err
	}
	return w.s.Undo.Retain(ctx, st, req)
}

// Forget is undo's, after the session's rules.
func (w Writes) Forget(ctx context.Context, st model.Store, req model.ForgetRequest) (model.ForgetResult, undo.Entry, error) {
	if err := w.s.Allow(ctx, Forget, st.Name, req.ID); err != nil {
		return model.ForgetResult{}, undo.Entry{}, err
	}
	return w.s.Undo.Forget(ctx, st, req)
}

// Together is undo's, after the session's rules.
func (w Writes) Together(ctx context.Context, st model.Store, op model.Op, changes []undo.Change) ([]model.RetainResult, undo.Entry, error) {
	for _, c := range changes {
		act, id := Forget, ""
		if c.Retain != nil {
			act, id = ActOf(*c.Retain), c.Retain.ID
		} else if c.Forget != nil {
			id = c.Forget.ID
		}
		if err := w.s.Allow(ctx, act, st.Name, id); err != nil {
			return nil, undo.Entry{}, err
		}
	}
	return w.s.Undo.Together(ctx, st, op, changes)
}
