// Package tracker is the work-graph family: the published port of work items, its result envelope and query
// language, and the adapter that makes a store of documents from any backend with work items.
package tracker

import (
	"context"
	"time"

	"memdesk/model"
)

// Kind is the kind of an entry.
type Kind int

// The kinds of entries.
const (
	Issue  Kind = iota // a work item
	Memory             // a remembered text under a key
	Line               // any other line: a header, a foreign record, an unreadable one
)

// The tiers that are no status of a work item.
const (
	TierMemory    = "memory"
	TierLine      = "line"
	TierTombstone = "tombstone"
	TierCustom    = "custom" // a status that cannot be a tier's name
)

// The prefixes of ids that name no work item.
const (
	MemoryPrefix = "memory/"
	LinePrefix   = "line/"
)

// Head is an entry in a list: what is known without decoding all of it.
type Head struct {
	ID       string // handle, unique in its view
	Kind     Kind
	Tier     string
	Title    string
	Modified time.Time // zero: unknown to the store
	Stamp    string
	Bytes    int64 // of the body
	Archived bool
	Problem  string // why it is unreadable, in words
}

// Record is an entry as a document.
type Record struct {
	Head
	Fields []model.Field
	Body   string
	// Back is the result of Keeper.Keep for a removed entry that is restored; nil otherwise. Put returns it where
	// it could not use it.
	Back *model.Beside
}

// Document is the record without the store's own fields.
func (r Record) Document() model.Document { return model.Document{Meta: r.Fields, Body: r.Body} }

// Revision is over the writable fields and the body.
func (r Record) Revision() model.Revision { return model.RevisionOf(r.Document()) }

// Field returns a field's value, empty where there is none.
func (r Record) Field(name string) string {
	for _, f := range r.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// View is a snapshot of a store. Its entries keep their places. It is safe for concurrent use and needs no
// closing.
type View interface {
	// Len counts the entries, i runs from 0 in the store's own order.
	Len() int
	// Find returns the place of an id, -1 when it does not exist.
	Find(id string) int
	// ID, Tier and Updated are the cheap parts of Head.
	ID(i int) string
	Tier(i int) string
	Updated(i int) time.Time
	// Head returns the entry's list view.
	Head(i int) Head
	// Record decodes the whole entry.
	Record(i int) Record
	// Bead decodes the fields of the port and the query language; ok is false for an entry that is no work
	// item.
	Bead(i int) (b Bead, ok bool)
	// Texts are title and body, for a search that needs no more.
	Texts(i int) (title, body string)
	// Tiers lists the tiers that occur.
	Tiers() []string
	// Of returns the pairs with the item on either side, in the store's order, each once.
	Of(ctx context.Context, id string) ([]model.Dependency, error)
	// Problems name parts that could not be looked at; beside those that are entries where entries is false.
	Problems(entries bool) []string
}

// Filler is a View with some entries of which only id, title and state are known.
type Filler interface {
	// Stubs counts those entries.
	Stubs() int
	// Whole returns an entry with its text and all its fields.
	Whole(ctx context.Context, i int) (Record, error)
}

// Beginner is a Backend that can show its first entries before it has read the
// others.
type Beginner interface {
	// Beginning returns at least the first n entries, with their places and ids
	// in the View; whole is true when it is the View itself. The rest of the
	// store is not read: Of knows only the pairs inside these entries, and
	// there are only the tiers and problems of these entries.
	Beginning(ctx context.Context, n int) (v View, whole bool, err error)
}

// Backend keeps work items. Every method ends with its context, is safe for
// concurrent use and answers with a *model.Error.
type Backend interface {
	// View returns the store's current state.
	View(ctx context.Context) (View, error)
	// Put writes one entry. change gets the current entry, or a zero Record with exists false, and returns
	// the wanted one; its error stops the write and is returned unchanged. change may run more than once,
	// when another writer was faster. Nothing is written when nothing differs. Other entries are never
	// changed. Put returns the stored record.
	Put(ctx context.Context, id string, change func(have Record, exists bool) (Record, error)) (Record, error)
	// Remove removes one entry with the pairs that name it, but for those inside other items' lines; an absent one
	// is false and no error. check may refuse, by its error.
	Remove(ctx context.Context, id string, check func(Record) error) (bool, error)
	// Ping checks that the store answers, and changes nothing.
	Ping(ctx context.Context) error
	// Close releases what the backend holds.
	Close() error
}

// Skipper is a Backend that leaves out the parts of its files that it cannot read.
type Skipper interface {
	// Unread names them as they were last read; none while it is known that the files have changed since. It reads no
	// file.
	Unread() []string
}

// Keeper is a Backend that can restore a removed entry in its old place.
type Keeper interface {
	// Keep returns what Remove would remove of an entry, for Record.Back; NotFound for an absent one.
	Keep(ctx context.Context, id string) (model.Beside, error)
}

// Blocks reports whether a pair of this kind prevents work on its second side (beads-foolery-knots.md,
// Dependency types).
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
