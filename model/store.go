package model

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Store is one opened store: the Provider that agents use and, as fields, the read facets of its backend; nil
// means that it lacks the facet. It is a value: Wrap returns a changed copy.
type Store struct {
	Name     string
	Kind     string
	Location string // for people; may be a path, never holds a secret
	// Place is the file or directory that the store opened, where Location is only one of several paths that lead
	// to it: a directory or the database in it. Identity uses it. Empty: Location.
	Place       string
	Environment string // the operator's word: production, staging
	ReadOnly    bool   // by configuration or by the medium
	// ReadOnlyReason says which of the two.
	ReadOnlyReason string

	Tiers      []TierSpec
	Orders     []Order // orders of List; the first is the default
	Deviations []Deviation
	// Features are the family's own capability flags, by their published names.
	Features map[string]bool
	// Limits are the family's own numbers, by their published names: max_connections, max_vector_dimensions,
	// maxConcurrency. The family decides what 0 means.
	Limits map[string]int
	// Scanner names the rules by which the store's own agents block a text (quarantine.RulesOf); empty:
	// Crewship's.
	Scanner string
	// Notes are facts about this store that operators must know: which of two databases is open, that a write
	// takes effect later.
	Notes []string

	Provider   Provider
	Browser    Browser
	History    History
	Quarantine Quarantine
	Conflicts  Conflicts
	Subjects   Subjects
	Names      Namer
	Texts      Texts
	Graph      Graph
	Work       Work
	Events     Events
	Watcher    Watcher
	Maintainer Maintainer
	Reindexer  Reindexer
	Repairer   Repairer
	Migrator   Migrator

	// Timeout is how long one operation may take by the store's own configuration; 0
	// leaves it to the caller.
	Timeout time.Duration

	// Address returns the id that a request without one would write, by the store's tier and key rules alone:
	// no I/O, so the item need not exist. Empty means that the store would make a new id. A new item's own id is
	// checked against the request's tier. nil where the store cannot say.
	Address func(RetainRequest) (string, error)

	// PathOf returns the place of an item's own file by its id alone: a directory that the store opens, and the path
	// below it; for an item that shares its file with others that file, and the id. No I/O, so the file need not exist.
	// nil where the id is the path below Location, or Location is the file.
	PathOf func(id string) (dir, file string)

	// Files are the files on this machine that a write of any item may change, by their absolute paths: a database and its
	// history, or a directory with all that lies in it. They need not exist, and an empty one is none. nil where a write
	// changes only the item's own file and those of Rewrites, or the store's one file.
	Files []string

	// Origin returns the writer of an item, where the store itself knows it; false where it does not. No I/O.
	// nil where the store knows no writers.
	Origin func(Item) (Origin, bool)

	// Falls returns the items that Forget of all these items together would remove in addition; it changes
	// nothing. nil where Forget removes only its own items.
	Falls func(ctx context.Context, ids []string) ([]Fall, error)

	// Rewrites returns the ids of the items that a Retain would change or remove beside its own. Of a Forget
	// callers ask with the id alone, without a Mode: then the items that it would change. It changes nothing. nil
	// where both touch only their own item.
	Rewrites func(context.Context, RetainRequest) ([]string, error)

	// Beside reads the data beside an item's document, for callers that keep the item to retain it again.
	// NotFound for an absent item. nil where the document is the whole item.
	Beside func(ctx context.Context, id string) (Beside, error)

	// Keep reads the rows that Forget of an item would remove, for Beside.Rows of the request that restores
	// it (TierSpec.Restores), and the row that a renamed item takes over (FileRow). NotFound for an absent item.
	// nil where no item has such rows.
	Keep func(ctx context.Context, id string) ([]BesideRow, error)

	// Closer releases the store's resources; nil when there are none.
	Closer func() error
}

// Close releases the store. It is safe on a store without a Closer.
func (s Store) Close() error {
	if s.Closer == nil {
		return nil
	}
	return s.Closer()
}

// Capabilities is computed from the fields, so it cannot claim a missing facet.
func (s Store) Capabilities() map[string]bool {
	writable := false
	for _, t := range s.Tiers {
		writable = writable || t.Writable
	}
	caps := map[string]bool{
		"recall":     s.Provider != nil,
		"health":     s.Provider != nil,
		"retain":     s.Provider != nil && writable && !s.ReadOnly,
		"forget":     s.Provider != nil && !s.ReadOnly && !s.Deviates("R30"),
		"cascade":    s.Provider != nil && !s.ReadOnly && !s.Deviates("R33"),
		"browse":     s.Browser != nil,
		"history":    s.History != nil,
		"quarantine": s.Quarantine != nil,
		"conflicts":  s.Conflicts != nil,
		"subjects":   s.Subjects != nil,
		"names":      s.Names != nil,
		"graph":      s.Graph != nil,
		"work":       s.Work != nil,
		"events":     s.Events != nil,
		"watch":      s.Watcher != nil,
		"maintain":   s.Maintainer != nil,
		"reindex":    s.Reindexer != nil,
		"repair":     s.Repairer != nil,
		"migrate":    s.Migrator != nil,
	}
	for k, v := range s.Features {
		caps[k] = v
	}
	return caps
}

// FileOf is what a renamed item takes over: who may not read the one file may not read the other, and a row ends when it
// was to end. nil where there is nothing.
func (s Store) FileOf(ctx context.Context, id string) (*Beside, error) {
	if s.Keep == nil {
		return nil, nil
	}
	rows, err := s.Keep(ctx, id)
	rows = slices.DeleteFunc(rows, func(r BesideRow) bool { return r.Table != FileRow })
	if KindOf(err) == Unsupported || len(rows) == 0 && err == nil {
		return nil, nil
	}
	return &Beside{Rows: rows}, err
}

// Deviates reports whether the store declares that it does not keep a rule.
func (s Store) Deviates(rule string) bool {
	return slices.ContainsFunc(s.Deviations, func(d Deviation) bool { return RuleName(d.Rule) == RuleName(rule) })
}

// RuleName is one spelling of a rule: stores write R6 and R06.
func RuleName(rule string) string {
	if rule == "" {
		return ""
	}
	return rule[:1] + strings.TrimLeft(rule[1:], "0")
}

// Tier finds a declared tier.
func (s Store) Tier(name string) (TierSpec, bool) {
	for _, t := range s.Tiers {
		if t.Name == name {
			return t, true
		}
	}
	return TierSpec{}, false
}
