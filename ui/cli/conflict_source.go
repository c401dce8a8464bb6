package cli

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/conflict/names"
	"memdesk/model"
	"memdesk/ui/tui"
	"memdesk/undo"
)

// conflictSource lists the conflicts of every store.
type conflictSource struct {
	fleet *backends.Fleet
	undo  *undo.Keeper
	opt   conflict.Options
	ctx   context.Context // of the console: watching ends with it
	list  walked[conflict.Copy]

	mu    sync.Mutex
	notes []string                    // of the last walk: what was not looked at, in words
	seen  map[string]*conflict.Memory // by store; nil for one that tells of no changes
}

// Conflicts implements tui.ConflictSource.
func (s *conflictSource) Conflicts(ctx context.Context, q tui.PageQuery) (tui.ConflictPage, error) {
	page, err := s.list.page(ctx, "conflicts", q, func(c conflict.Copy) bool {
		return matches(q, c.Store, c.ID, c.BaseID, c.Tool, string(c.Confidence), string(c.Class), conflictState(c), c.Reason, c.Problem)
	}, s.walk)
	if err != nil {
		return tui.ConflictPage{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	notice := strings.Join(append(s.interrupted(), s.notes...), "; ")
	return tui.ConflictPage{Copies: page.rows, Next: page.next, Total: page.total, Notice: notice}, nil
}

// interrupted names resolutions that were stopped halfway.
func (s *conflictSource) interrupted() []string {
	if s.undo == nil {
		return nil
	}
	entries, _, err := s.undo.List()
	if err != nil {
		return []string{"whether a resolve was interrupted is not known: " + err.Error()}
	}
	var out []string
	for _, e := range entries {
		if len(e.Sides) > 0 && e.After == "" {
			out = append(out, "a change of "+e.Item+" was interrupted: :undo lists both texts")
		}
	}
	return out
}

// walk goes through the stores in the fleet's order. A store that cannot be
// looked at, or not to its end, has a row that says so.
func (s *conflictSource) walk(ctx context.Context) iter.Seq[conflict.Copy] {
	s.mu.Lock()
	s.notes = nil
	s.mu.Unlock()
	return func(yield func(conflict.Copy) bool) {
		for _, m := range s.fleet.Members() {
			if m.Err != nil {
				if !yield(conflict.Copy{Store: m.Name, Problem: "not open: " + m.Err.Error()}) {
					return
				}
				continue
			}
			opt := s.opt
			if s.undo != nil {
				var err error
				if opt.Removed, err = s.undo.Removed(m.Store); err != nil {
					s.note(m.Name + ": whether a copy has come back is not known: " + err.Error())
				}
			}
			opt.Memory = s.memory(m.Store)
			opt.Note = func(n string) { s.note(m.Name + ": " + n) }
			for c, err := range conflict.List(ctx, m.Store, opt) {
				if err != nil {
					c = conflict.Copy{Store: m.Name, Problem: "the look stopped: " + err.Error()}
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}

func (s *conflictSource) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, text)
}

// memory holds the results of earlier walks over a store, if it reports what changes
// meanwhile.
func (s *conflictSource) memory(st model.Store) *conflict.Memory {
	if s.ctx == nil || st.Watcher == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.seen[st.Name]; ok {
		return m
	}
	if s.seen == nil {
		s.seen = map[string]*conflict.Memory{}
	}
	s.seen[st.Name] = nil // a store that cannot be watched now is read anew each time
	changes, err := st.Watcher.Watch(s.ctx)
	if err != nil {
		return nil
	}
	m := conflict.NewMemory()
	s.seen[st.Name] = m
	go func() { // ends with the console's context
		for c := range changes {
			m.Changed(c)
		}
		m.Changed(model.Change{Lost: true})
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen[st.Name] = nil
	}()
	return m
}

// Compare implements tui.ConflictSource.
func (s *conflictSource) Compare(ctx context.Context, c conflict.Copy) (conflict.Comparison, error) {
	st, err := s.fleet.Store(c.Store)
	if err != nil {
		return conflict.Comparison{Copy: c}, err
	}
	return conflict.Compare(ctx, st, c)
}

// Resolve implements tui.ConflictSource.
func (s *conflictSource) Resolve(ctx context.Context, c conflict.Copy, ch conflict.Choice, reason string) (tui.Done, error) {
	st, err := s.fleet.Store(c.Store)
	if err != nil {
		return tui.Done{}, err
	}
	res, err := conflict.Resolve(audit.WithReason(ctx, reason), s.undo, st, c, ch)
	s.mu.Lock()
	if m := s.seen[c.Store]; m != nil { // before the watcher tells
		m.Changed(model.Change{ID: c.ID})
		m.Changed(model.Change{ID: c.Target})
	}
	s.mu.Unlock()
	done := tui.Done{Store: c.Store, Item: res.Base, Undo: res.Undo.ID, Obstacle: res.Undo.Obstacle, Warnings: res.Notes}
	if res.Kept == "" {
		done.Removed = 1
	}
	return done, err
}

// Returned implements tui.ConflictSource.
func (s *conflictSource) Returned(ctx context.Context, c conflict.Copy) (bool, error) {
	st, err := s.fleet.Store(c.Store)
	if err != nil {
		return false, err
	}
	if st.Browser == nil {
		return false, nil
	}
	removed, err := s.undo.Removed(st)
	if err != nil || removed[c.ID].IsZero() { // put back by hand
		return false, err
	}
	_, err = st.Browser.Read(ctx, c.ID)
	if errors.Is(err, model.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// Redundant implements tui.ConflictSource.
func (s *conflictSource) Redundant(ctx context.Context) (all []conflict.Copy, spared int, err error) {
	for _, m := range s.fleet.Members() {
		if m.Err != nil {
			err = errors.Join(err, m.Err)
			continue
		}
		opt := s.opt
		opt.Markers = conflict.LookNone
		for c, lerr := range conflict.List(ctx, m.Store, opt) {
			switch {
			case lerr != nil:
				err = errors.Join(err, lerr)
			case !c.Redundant || !removable(c.Class):
			case c.RenameOnly():
				spared++
			default:
				all = append(all, c)
			}
		}
	}
	return all, spared, err
}

// removable are the classes whose redundant copies go in bulk.
func removable(c names.Class) bool {
	return c == names.Conflict || c == names.Duplicate || c == names.Displaced
}
