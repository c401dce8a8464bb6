package notes

import (
	"context"
	"slices"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Layout describes the notes of a program other than AgentM. Every function is needed.
type Layout struct {
	Tiers []model.TierSpec
	// Enter reports whether a directory of this path can hold items; Item whether a file with this id can be
	// one. A symbolic link is none.
	Enter, Item func(path string) bool
	// Head returns an item's tier and title from the beginning of its text, which is empty where it was not
	// read; an empty title is derived from the text.
	Head func(id, text string) (tier, title string)
	// Scope is an item's.
	Scope func(id string) string
	// Address gives the id of a new item.
	Address func(tier, key string) (string, error)
	// Check refuses a change of an item.
	Check func(op, id string) error
	// Fresh returns the text of a new item that was requested by tier.
	Fresh func(id, tier, text string) (string, error)
	// Wrote updates other files' statements about a written item; Removed those about a removed one. old is
	// nil for a new item, before is as in model.ForgetRequest.
	Wrote   func(ctx context.Context, id string, old *string, text string, req model.RetainRequest) (warnings []string)
	Removed func(ctx context.Context, id string, before *model.Beside) (warnings []string, err error)
	// Rewrites returns the items that Wrote or Removed changes; nil where they change none.
	Rewrites func(context.Context, model.RetainRequest) ([]string, error)
	// Beside returns the statements of other files about an item; nil where there are none.
	Beside func(ctx context.Context, id string) (model.Beside, error)
	// Side describes a file that is no item.
	Side func(id string) Side
	// Path is the inverse of a side's name.
	Path func(name string) string
	// Parts are media of their own beside the notes; the walk over layers skips their files.
	Parts []Part
	// Outside names what lies outside of the directory and may hold the notes' texts; nil: nothing is known.
	Outside func() []model.Layer
	// Meta are an item's read-only fields outside its document; nil where it has none.
	Meta func(ctx context.Context, id string) []model.Field
	// Deep returns the findings of a full read.
	Deep func(ctx context.Context) []model.HealthFinding
}

// Side is a file that a program keeps beside its notes.
type Side struct {
	Name   string // of its layer; empty: its path
	Reason string // its owner, and how to remove a subject's data from it; empty: another program's
	// Lines: it is text whose lines that name the subject are removed. Otherwise it is not written.
	Lines bool
}

// Part is a medium beside the notes with a scrub of its own.
type Part interface {
	model.Maintainer
	// Owns reports whether a file or directory, by its absolute path, belongs to it.
	Owns(path string) bool
}

// parts are those of the layout.
func (s *store) parts() []Part {
	if s.cfg.Layout == nil {
		return nil
	}
	return s.cfg.Layout.Parts
}

func (s *store) isItem(id string) bool {
	if s.cfg.Layout != nil {
		return s.cfg.Layout.isItem(id)
	}
	return isItem(id)
}

// isItem is Item without what an interrupted write of memdesk left.
func (l *Layout) isItem(id string) bool { return !isLeftover(id) && l.Item(id) }

func (s *store) isOpenDir(path string) bool {
	if s.cfg.Layout != nil {
		return s.cfg.Layout.Enter(path)
	}
	return isOpenDir(path)
}

func (s *store) recalled(id, status string) bool {
	return s.cfg.Layout != nil || recalled(id, status)
}

// tierOf is the tier of an item.
func (s *store) tierOf(id, kind string, known func(string) bool) string {
	if l := s.cfg.Layout; l != nil {
		if kind == "" {
			kind, _ = l.Head(id, "")
		}
		return kind
	}
	return tierOf(id, kind, known)
}

// headOf is the class of a note's beginning.
func (s *store) headOf(at rootdir.Place, data []byte) class {
	if l := s.cfg.Layout; l != nil {
		kind, _ := l.Head(at.Path(), string(data))
		return class{kind: kind}
	}
	return classOf(data)
}

// scopes are those of a snapshot, sorted.
func (s *store) scopes(snap *snapshot) []string {
	switch {
	case s.cfg.Layout != nil:
	case s.cfg.Memory == "":
		return []string{""}
	default:
		return []string{scopeMemory, scopeOperator}
	}
	seen := map[string]bool{"": true}
	out := []string{""}
	for _, f := range snap.tree.All() {
		if at := s.scopeAt(f); !seen[at] {
			seen[at] = true
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// check asks the layout about a change.
func (s *store) check(op, id string) error {
	if s.cfg.Layout == nil {
		return nil
	}
	return s.cfg.Layout.Check(op, id)
}

// fresh is a request with the text of a new item of its tier.
func (s *store) fresh(to target, req model.RetainRequest) (model.RetainRequest, error) {
	if s.cfg.Layout == nil || to.tier == "" {
		return req, nil
	}
	var err error
	req.Content, err = s.cfg.Layout.Fresh(to.at.Key(), to.tier, req.Content)
	return req, err
}
