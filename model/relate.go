package model

import (
	"context"
	"time"
)

// Namer streams names without opening what they name.
type Namer interface {
	// Names calls yield once for every item, hidden ones and conflict copies
	// included, in no order, until it returns false. Nothing is opened or sized.
	// Problems name what could not be looked at, in words: the walk was not whole.
	Names(ctx context.Context, yield func(id string) bool) (problems []string, err error)
}

// Texts streams what all items say, for those who must look through every one of
// them: an erasure, a sweep. It is List and Read of everything in one pass, and no
// power of its own.
type Texts interface {
	// EachText calls yield once for every item that Browser.List gives with Hidden and
	// every other that Names gives, in no order and from several goroutines at once,
	// until it returns false. For an item that Browser.Read would refuse it gives the
	// id with Read's error; one that has gone meanwhile is left out. Problems name what
	// could not be looked at, in words: the pass was not whole. A caller that needs more
	// of an item reads it.
	EachText(ctx context.Context, yield func(t Text, err error) bool) (problems []string, err error)
}

// Text is an item's body, exactly as Browser.Read gives it.
type Text struct {
	ID   string
	Body string
	Meta []Field
	// Binary: the body is no UTF-8, as FlagBinary says.
	Binary bool
	// Whole gives the item as Browser.Read does but for its links, without another
	// look at the store; nil where that takes a Read.
	Whole func() Item
}

// Conflicts gives what a store itself knows to be in conflict, beside what file
// names tell.
type Conflicts interface {
	// StoreConflicts lists merge markers inside items and writes that a
	// compare-and-swap displaced.
	StoreConflicts(ctx context.Context) ([]StoreConflict, error)
}

// StoreConflict is one such conflict.
type StoreConflict struct {
	CopyID string // readable and forgettable; equal to BaseID for markers inside an item
	BaseID string // empty when it cannot be told
	Tool   string // who made it: git, memdesk
	Reason string // in words
	At     time.Time
}

// Subjects lists the items that a store ties to a person by keys of its own.
type Subjects interface {
	// Concerning streams the items tied to any of the given subject ids, matched
	// whole and exactly, archived and hidden ones included, in no order.
	Concerning(ctx context.Context, subjects []string, yield func(SubjectHit) bool) error
}

// SubjectHit is an item that concerns a person, and why.
type SubjectHit struct {
	ID      string
	Subject string // which of the given ids
	Reason  string // in words: "tagged", "derived from n12"
	// Called is a name, an address or a number by which the store knows the person, and Reason
	// its field: such a hit is of no item, and ID is empty.
	Called string
}

// Fall is an item that goes because others do: a hyperedge that is left with fewer
// than two members.
type Fall struct {
	ID   string
	With []string // the members that go
	Left int      // members that stay
}

// Graph walks the relations of items.
type Graph interface {
	// Neighbours walks breadth first from an item, which is left out. NotFound for an
	// absent start.
	Neighbours(ctx context.Context, id string, req GraphRequest) ([]Header, error)
	// Subgraph gives the items within depth steps of the given ones, those included,
	// and the relations among them. Absent ids are passed over.
	Subgraph(ctx context.Context, ids []string, depth int) ([]Header, []Link, error)
	// Similar ranks items by the distance of their vectors to this item's.
	// Unsupported when the item has no vector, with what to do.
	Similar(ctx context.Context, id string, limit int) (RecallResult, error)
}

// GraphRequest bounds a walk. Depth 0 acts as 1, Limit 0 as DefaultPage.
type GraphRequest struct {
	Outgoing, Incoming bool // both false: either way
	Depth              int
	Kinds              []string // of relations; empty: all
	Limit              int
}

// Work is a store of work items: views over them that agents plan with. Changes are
// edits of an item's document, through Retain.
type Work interface {
	// WorkItems gives what the request asks for, in the store's order.
	WorkItems(ctx context.Context, req WorkRequest) (WorkResult, error)
	// Dependencies lists the pairs in which the item stands on either side; NotFound
	// for an absent item.
	Dependencies(ctx context.Context, id string) ([]Dependency, error)
}

// WorkRequest selects work items; all that is set must match. Nothing set gives every
// item.
type WorkRequest struct {
	ID     string // this item
	Ready  bool   // what can be begun now
	Search string // a substring of id, aliases, title or description, case apart
	Query  string // in the published query language
	Filter WorkFilter
	Limit  int // 0: all
}

// WorkResult holds the work items found. Total counts the matches, those beyond the limit too.
type WorkResult struct {
	Items []WorkItem
	Total int64
	// Ignored are the terms that the query language passes over and that therefore
	// matched everything; nothing may be changed on such a result.
	Ignored []string
	// First is the status of a new item of this store, Last the one that ends it.
	First, Last string
}

// WorkFilter is equality on every field that is set, all of them (provider-contract.md
// B15). State queued and in_action are phases, which bring the ancestors and
// descendants of what they match with them.
type WorkFilter struct {
	Type, State, Workflow, Label, Assignee, Owner, Parent, Profile, NextOwner string
	Priority                                                                  *int
	Human                                                                     *bool
}

// WorkItem is a work item as the published port shows it; the word beat means the
// same thing.
type WorkItem struct {
	ID          string   `json:"id"`
	Aliases     []string `json:"aliases,omitempty"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Notes       string   `json:"notes,omitempty"`
	Acceptance  string   `json:"acceptance,omitempty"`
	Type        string   `json:"type"`
	State       string   `json:"state"`
	Status      string   `json:"status"`
	Workflow    string   `json:"workflowId,omitempty"`
	Profile     string   `json:"profileId,omitempty"`
	Priority    int      `json:"priority"`
	Labels      []string `json:"labels"`
	Assignee    string   `json:"assignee,omitempty"`
	Owner       string   `json:"owner,omitempty"`
	Parent      string   `json:"parent,omitempty"`
	// Human: somebody has to act before an agent can.
	Human bool `json:"requiresHumanAction,omitempty"`
	// Aside: no work to hand out, such as a gate, a message or a template.
	Aside     bool      `json:"-"`
	NextOwner string    `json:"nextActionOwnerKind,omitempty"`
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Closed    time.Time `json:"closed,omitzero"`
}

// Dependency is one pair: Blocked cannot begin before Blocker is done.
type Dependency struct {
	Blocker, Blocked string
	Kind             string // as the store names it; empty: blocks
}

// Events gives the backend's own audit events.
type Events interface {
	// StoreEvents lists the newest first, at most limit; they are of this process
	// where a store keeps none.
	StoreEvents(ctx context.Context, limit int) ([]StoreEvent, error)
}

// StoreEvent is one event by the name and payload that its system documents. It
// never holds a credential or a response body.
type StoreEvent struct {
	At      time.Time
	Name    string
	Payload []Field
}

// Watcher reports changes as they happen.
type Watcher interface {
	// Watch sends until its context ends, then closes the channel. Bursts are
	// joined; a change may be told twice, never not at all: when some were lost an
	// event with Lost says so.
	Watch(ctx context.Context) (<-chan Change, error)
}

// Change is one change of a store.
type Change struct {
	ID   string // empty: something, somewhere
	Lost bool   // more changed than is told: look at everything again
}
