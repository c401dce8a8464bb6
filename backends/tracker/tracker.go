// Package tracker is the work-graph family: the published port of work items,
// its result envelope and query language, and the adapter that makes a store of
// documents of any backend that keeps work items.
package tracker

import (
	"context"
	"time"

	"memdesk/model"
)

// Kind says what sort of thing an entry is.
type Kind int

// The kinds of entries.
const (
	Issue  Kind = iota // a work item
	Memory             // a remembered text under a key
	Line               // a line that is neither: a header, a foreign record, one that cannot be read
)

// The tiers that are no status of a work item.
const (
	TierMemory    = "memory"
	TierLine      = "line"
	TierTombstone = "tombstone"
	TierCustom    = "custom" // a status that no tier can be named after
)

// The prefixes of ids that name no work item.
const (
	MemoryPrefix = "memory/"
	LinePrefix   = "line/"
)

// Head is an entry in a list: what can be told without decoding all of it.
type Head struct {
	ID       string // handle, unique in its view
	Kind     Kind
	Tier     string
	Title    string
	Modified time.Time // zero: the store does not say
	Stamp    string
	Bytes    int64 // of the body
	Archived bool
	Problem  string // why it cannot be read, in words
}

// Record is an entry as a document.
type Record struct {
	Head
	Fields []model.Field
	Body   string
	// Back is what Keeper.Keep gave of an entry that comes back after it was removed; nil otherwise.
	Back *model.Beside
}

// Document is the record without what the store alone decides.
func (r Record) Document() model.Document { return model.Document{Meta: r.Fields, Body: r.Body} }

// Revision is over the writable fields and the body.
func (r Record) Revision() model.Revision { return model.RevisionOf(r.Document()) }

// Field gives a field's value, empty where there is none.
func (r Record) Field(name string) string {
	for _, f := range r.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// View is a store at one moment. Its entries keep their places. It is safe for
// concurrent use and needs no closing.
type View interface {
	// Len counts the entries, i runs from 0 in the store's own order.
	Len() int
	// Find gives the place of an id, -1 when it is not there.
	Find(id string) int
	// ID, Tier and Updated are the cheap parts of Head.
	ID(i int) string
	Tier(i int) string
	Updated(i int) time.Time
	// Head tells what a list shows.
	Head(i int) Head
	// Record decodes the whole entry.
	Record(i int) Record
	// Bead decodes what the port and the query language look at; ok is false for an
	// entry that is no work item.
	Bead(i int) (b Bead, ok bool)
	// Texts are title and body, for a search that wants no more.
	Texts(i int) (title, body string)
	// Tiers lists the tiers that occur.
	Tiers() []string
	// Dependencies are all pairs, in the store's order, each once.
	Dependencies() []model.Dependency
	// Problems name what could not be looked at, in words.
	Problems() []string
}

// Related is a View that asks for the pairs of one item at a time, where asking
// for all of them would be too much. Its Dependencies then give none.
type Related interface {
	// Of gives the pairs in which the item stands on either side.
	Of(ctx context.Context, id string) ([]model.Dependency, error)
}

// PairsOf gives the pairs in which an item stands, however the view knows them.
func PairsOf(ctx context.Context, v View, id string) ([]model.Dependency, error) {
	if r, ok := v.(Related); ok {
		return r.Of(ctx, id)
	}
	var out []model.Dependency
	for _, d := range v.Dependencies() {
		if d.Blocked == id || d.Blocker == id {
			out = append(out, d)
		}
	}
	return out, nil
}

// Filler is a View of which some entries are known by id, title and state only.
type Filler interface {
	// Stubs counts those entries.
	Stubs() int
	// Whole gives an entry with its text and all its fields.
	Whole(ctx context.Context, i int) (Record, error)
}

// Beginner is a Backend that can show its first entries before it has read the
// others.
type Beginner interface {
	// Beginning gives the first n entries, or more, in the places and under the ids
	// that they have in the View; whole is true when it is the View itself. What lies
	// behind the entries is not looked at: no dependencies, and only the tiers and
	// problems that they have.
	Beginning(ctx context.Context, n int) (v View, whole bool, err error)
}

// Backend keeps work items. Every method ends with its context, is safe for
// concurrent use and answers with a *model.Error.
type Backend interface {
	// View gives the store as it is now.
	View(ctx context.Context) (View, error)
	// Put writes one entry. change sees the entry as it is, or a zero Record with
	// exists false, and returns it as it shall be; its error stops the write and is
	// returned unchanged. change may run more than once, when another writer was
	// faster. Nothing is written when the result equals what is there. Other entries
	// are never changed. The record as it is stored is returned.
	Put(ctx context.Context, id string, change func(have Record, exists bool) (Record, error)) (Record, error)
	// Remove removes one entry with the pairs that name it; an absent one is false
	// and no error. check may refuse, by its error.
	Remove(ctx context.Context, id string, check func(Record) error) (bool, error)
	// Ping looks whether the store answers, and changes nothing.
	Ping(ctx context.Context) error
	// Close releases what the backend holds.
	Close() error
}

// Keeper is a Backend that puts a removed entry back where it stood.
type Keeper interface {
	// Keep gives what Remove would take of an entry, for Record.Back; NotFound for an absent one.
	Keep(ctx context.Context, id string) (model.Beside, error)
}

// Blocks reports whether a pair of this kind keeps its second side from being
// begun (beads-foolery-knots.md, Dependency types).
func Blocks(kind string) bool {
	switch kind {
	case "", "blocks", "blocked_by", "conditional-blocks", "waits-for":
		return true
	}
	return false
}

// Statuses are the statuses of the published store, in the order of a life.
func Statuses() []string {
	return []string{"open", "in_progress", "blocked", "deferred", "hooked", "pinned", "closed"}
}
