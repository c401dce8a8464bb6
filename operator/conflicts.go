package operator

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/conflict/names"
	"memdesk/model"
	"memdesk/undo"
)

// Conflicts is the triage of conflict copies in every store. It is safe for concurrent use.
type Conflicts struct {
	session *Session
	changes *Changes
	list    walked[conflict.Copy]

	mu    sync.Mutex
	notes []string                    // of the last walk: changes that were stopped halfway and unread stores, in words
	seen  map[string]*conflict.Memory // by store; nil for one that reports no changes
	known map[string]map[string]Part  // by store and id: what the last walk over the store found
}

// Part is the part that an item has in a conflict.
type Part string

// The parts.
const (
	PartBase Part = "conflict" // it has copies, or markers inside
	PartCopy Part = "copy"
)

// Conflicts is a list of the session's conflicts. It keeps results for stores that report changes.
func (s *Session) Conflicts(changes *Changes) *Conflicts {
	return &Conflicts{session: s, changes: changes}
}

// Conflicts lists, grouped by base, in a stable order; the first page begins a new search.
func (s *Conflicts) Conflicts(ctx context.Context, q PageQuery) (Page[conflict.Copy], error) {
	page, err := s.list.page(ctx, "conflicts", q, func(c conflict.Copy) bool {
		return q.Matches(c.Store, c.ID, c.BaseID, c.Tool, string(c.Confidence), string(c.Class), ConflictState(c), c.Reason, c.Problem)
	}, func(c conflict.Copy) string {
		if c.ID != "" {
			return ""
		}
		return c.Store + ": " + c.Problem
	}, s.walk)
	if err != nil {
		return page, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	page.Notice = strings.Join(s.notes, "; ")
	return page, nil
}

// walk goes through the stores in the fleet's order. A store that cannot be read, or not to its end, has a
// row that says so.
func (s *Conflicts) walk(ctx context.Context) iter.Seq[conflict.Copy] {
	s.mu.Lock()
	s.notes = nil
	s.mu.Unlock()
	return func(yield func(conflict.Copy) bool) {
		kept, _, err := s.session.Undo.List()
		if err != nil {
			s.note("whether a copy has come back, or a resolve was interrupted, is not known: " + err.Error())
		}
		for _, e := range Interrupted(kept) {
			s.note("a change of " + e.Item + " was interrupted: :undo lists both texts")
		}
		for _, m := range s.session.Fleet.Members() {
			if m.Err != nil {
				if !yield(conflict.Copy{Store: m.Name, Problem: "not open: " + model.Reason(m.Err)}) {
					return
				}
				continue
			}
			opt := s.session.ConflictOptions()
			opt.Removed = undo.Removed(kept, m.Store)
			opt.Memory = s.memory(m.Store)
			opt.Note = func(n string, _ bool) { s.note(m.Name + ": " + n) }
			if !s.look(ctx, m.Store, opt, yield) {
				return
			}
		}
	}
}

// look goes through one store, and keeps what each item is in a conflict.
func (s *Conflicts) look(ctx context.Context, st model.Store, opt conflict.Options, yield func(conflict.Copy) bool) bool {
	found := map[string]Part{}
	s.learn(st.Name, found, false)
	whole := true
	for c, err := range conflict.List(ctx, st, opt) {
		if err != nil {
			whole, c = false, conflict.Copy{Store: st.Name, Problem: model.Reason(err)}
		}
		s.mu.Lock()
		if c.BaseID != "" {
			found[c.BaseID] = PartBase
		}
		if c.ID != "" && c.ID != c.BaseID {
			found[c.ID] = PartCopy
		}
		s.mu.Unlock()
		if !yield(c) {
			return false
		}
	}
	if whole && ctx.Err() == nil { // a walk that was stopped knows less than the one before
		s.learn(st.Name, found, true)
	}
	return true
}

// learn makes found known; where an earlier walk has found something, only once this one is over.
func (s *Conflicts) learn(store string, found map[string]Part, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]map[string]Part{}
	}
	if over || s.known[store] == nil {
		s.known[store] = found
	}
}

// Part is what the last walks know of an item; empty: nothing. It reads no store.
func (s *Conflicts) Part(ref model.Ref) Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[ref.Store][ref.ID]
}

func (s *Conflicts) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, text)
}

// memory holds the results of earlier walks over a store, if the store reports its changes.
func (s *Conflicts) memory(st model.Store) *conflict.Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.seen[st.Name]; m != nil {
		return m
	}
	m := conflict.NewMemory()
	if !s.changes.hear(st, func(c model.Change, last bool) {
		m.Changed(c)
		if last {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.seen, st.Name)
		}
	}) {
		return nil
	}
	if s.seen == nil {
		s.seen = map[string]*conflict.Memory{}
	}
	s.seen[st.Name] = m
	return m
}

// Compare reads both sides as they are now.
func (s *Conflicts) Compare(ctx context.Context, c conflict.Copy) (conflict.Comparison, error) {
	st, err := s.session.Fleet.Store(c.Store)
	if err != nil {
		return conflict.Comparison{Copy: c}, err
	}
	return conflict.Compare(ctx, st, c)
}

// Resolve ends one conflict; Conflict, with nothing changed, when a side is not as c has it. The displaced
// item is kept.
func (s *Conflicts) Resolve(ctx context.Context, c conflict.Copy, ch conflict.Choice, reason string) (Done, error) {
	done, err := s.session.Resolve(ctx, c, ch, reason)
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.seen[c.Store]; m != nil { // earlier than the watcher reports it
		m.Changed(model.Change{ID: c.ID})
		m.Changed(model.Change{ID: c.Target})
	}
	if err == nil { // a base with further copies is known again after the next walk
		delete(s.known[c.Store], c.ID)
		delete(s.known[c.Store], c.BaseID)
	}
	return done, err
}

// Returned reports whether a copy that Resolve removed is there again.
func (s *Conflicts) Returned(ctx context.Context, c conflict.Copy) (bool, error) {
	st, err := s.session.Fleet.Store(c.Store)
	if err != nil {
		return false, err
	}
	if st.Browser == nil {
		return false, nil
	}
	kept, _, err := s.session.Undo.List()
	if err != nil || undo.Removed(kept, st)[c.ID].IsZero() { // restored by hand
		return false, err
	}
	_, err = st.Browser.Read(ctx, c.ID)
	if errors.Is(err, model.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// Redundant searches all stores for copies that equal their base byte for byte and may be removed; spared
// counts those that the tool's vendor warns against removing.
func (s *Conflicts) Redundant(ctx context.Context) (all []conflict.Copy, spared int, err error) {
	for _, m := range s.session.Fleet.Members() {
		copies, left, merr := s.session.Redundant(ctx, m)
		all, spared, err = append(all, copies...), spared+left, errors.Join(err, merr)
	}
	return all, spared, err
}

// Resolve ends one conflict, and keeps both texts under one undo entry.
func (s *Session) Resolve(ctx context.Context, c conflict.Copy, ch conflict.Choice, reason string) (Done, error) {
	ctx, st, err := s.begin(ctx, Resolve, c.Store, c.Target, reason)
	if err != nil {
		return Done{}, err
	}
	var res conflict.Resolution
	err = s.recorded(ctx, Resolve, c.Store, c.Target, reason, func(ctx context.Context) (err error) {
		res, err = conflict.Resolve(ctx, s.Undo, st, c, ch)
		return err
	})
	done := Done{Store: c.Store, Item: res.Base, Revision: res.BaseRevision, Kept: res.Kept, Warnings: res.Notes}
	done.keep(res.Undo)
	if res.Kept == "" {
		done.Removed = 1
	}
	return done, err
}

// Redundant finds the copies of one store that equal their base byte for byte and may be removed. With an
// error it returns the copies found before it.
func (s *Session) Redundant(ctx context.Context, m backends.Member) (all []conflict.Copy, spared int, err error) {
	if m.Err != nil {
		return nil, 0, m.Err
	}
	opt := s.ConflictOptions()
	opt.Markers = conflict.LookNone
	for c, err := range conflict.List(ctx, m.Store, opt) {
		switch {
		case err != nil:
			return all, spared, err
		case !c.Redundant || !removable(c.Class):
		case c.RenameOnly():
			spared++
		default:
			all = append(all, c)
		}
	}
	return all, spared, nil
}

// Interrupted are those undo entries that belong to multi-item changes that stopped halfway: they keep the texts.
func Interrupted(entries []undo.Entry) []undo.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e undo.Entry) bool { return len(e.Sides) == 0 || e.After != "" })
}

// ConflictState is the state of a copy in a word.
func ConflictState(c conflict.Copy) string {
	switch {
	case c.Problem != "":
		return "unknown"
	case c.Class == names.InFile:
		return "markers"
	case !c.Returned.IsZero():
		return "returned"
	case c.Orphan:
		return "orphan"
	case c.Redundant:
		return "redundant"
	}
	return "differs"
}

// ConflictRank orders copies: 0 needs a look first, 3 only has to be removed.
func ConflictRank(c conflict.Copy) int {
	switch {
	case c.Problem != "" || !c.Returned.IsZero():
		return 0
	case c.Redundant:
		return 3
	case c.Confidence == names.Possible:
		return 2
	}
	return 1
}

// removable are the classes whose redundant copies go in bulk.
func removable(c names.Class) bool {
	return c == names.Conflict || c == names.Duplicate || c == names.Displaced
}
