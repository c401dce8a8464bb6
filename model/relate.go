package model

import (
	"context"
	"time"
)

// Namer streams names without opening what they name.
type Namer interface {
	// Names calls yield once for every item, hidden ones and conflict copies included, in no order, until it
	// returns false. Nothing is opened or sized. Problems name what could not be looked at: the walk is then
	// incomplete.
	Names(ctx context.Context, yield func(id string) bool) (problems []string, err error)
}

// Texts streams the texts of all items, for callers that must search every one: an erasure, a sweep. It gives
// no more than List and Read of everything, in one pass.
type Texts interface {
	// EachText calls yield once for every item that Browser.List returns with Hidden and every other that
	// Names gives, in no order and from several goroutines at once, until it returns false. For an item that
	// Browser.Read would refuse it gives the id with Read's error; an item deleted since is left out.
	// Problems name what could not be looked at: the pass is then incomplete. A caller that needs more of an
	// item reads it.
	EachText(ctx context.Context, yield func(t Text, err error) bool) (problems []string, err error)
}

// Text is an item's body, exactly as Browser.Read gives it.
type Text struct {
	ID   string
	Body string
	Meta []Field
	// Binary: the body is no UTF-8, as FlagBinary says.
	Binary bool
	// Whole returns the item as Browser.Read does, without its links and without access to the store; nil
	// where that needs a Read.
	Whole func() Item
}

// Conflicts returns the conflicts that a store itself knows, besides those that file names show.
type Conflicts interface {
	// StoreConflicts lists merge markers inside items and writes that a compare-and-swap displaced.
	StoreConflicts(ctx context.Context) ([]StoreConflict, error)
}

// StoreConflict is one such conflict.
type StoreConflict struct {
	CopyID string // readable and forgettable; equal to BaseID for markers inside an item
	BaseID string // empty when unknown
	Tool   string // origin of the copy: git, memdesk
	Reason string // in words
	At     time.Time
}

// Subjects lists the items that a store ties to a person by its own keys.
type Subjects interface {
	// Concerning streams the items tied to any of the given subject ids, matched whole and exactly, archived
	// and hidden ones included, in no order.
	Concerning(ctx context.Context, subjects []string, yield func(SubjectHit) bool) error
}

// SubjectHit is an item that concerns a subject, and why.
type SubjectHit struct {
	ID      string
	Subject string // which of the given ids
	Reason  string // in words: "tagged", "derived from n12"
	// Called is a name, an address or a number under which the store knows the subject, and Reason its field:
	// such a hit is no item, and ID is empty.
	Called string
	// Revision is that of the item, where the store has it at hand.
	Revision Revision
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
	// Subgraph returns the items within depth steps of the given ones, those included, and the relations
	// among them. Absent ids are skipped. More than 10,000 items are InvalidInput.
	Subgraph(ctx context.Context, ids []string, depth int) ([]Header, []Link, error)
	// Similar ranks items by the distance of their vectors to this item's. Unsupported when the item has no
	// vector; the error says what to do.
	Similar(ctx context.Context, id string, limit int) (RecallResult, error)
}

// GraphRequest bounds a walk. Depth 0 acts as 1, Limit 0 as DefaultPage.
type GraphRequest struct {
	Outgoing, Incoming bool // both false: either way
	Depth              int
	Kinds              []string // of relations; empty: all
	Limit              int
}

// Work is a store of work items: the views with which agents plan. Changes are edits of an item's document,
// through Retain.
type Work interface {
	// WorkItems returns the requested items, in the store's order.
	WorkItems(ctx context.Context, req WorkRequest) (WorkResult, error)
	// Dependencies lists the pairs in which the item is on either side; NotFound for an absent item.
	Dependencies(ctx context.Context, id string) ([]Dependency, error)
}

// WorkRequest selects work items; all set fields must match. Without any, every item is selected.
type WorkRequest struct {
	ID     string // this item
	Ready  bool   // can be begun now
	Search string // a substring of id, aliases, title or description, case apart
	Query  string // in the published query language
	Filter WorkFilter
	Limit  int // 0: all
}

// WorkResult holds the matching work items. Total counts the matches, with those beyond the limit.
type WorkResult struct {
	Items []WorkItem
	Total int64
	// Ignored are the terms that the query language ignores, and that therefore matched everything; nothing
	// may be changed on such a result.
	Ignored []string
	// Problems name parts that could not be looked at, as in Page.
	Problems []string
	// First is the status of a new item of this store, Last the one that ends it.
	First, Last string
}

// WorkFilter is equality on every field that is set, all of them (provider-contract.md B15). State queued and
// in_action are phases, which include the ancestors and descendants of their matches.
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
	// Human: a person has to act before an agent can.
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
	Kind             string // the store's own word; empty: blocks
}

// Events returns the backend's own audit events.
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
	// Watch sends until its context ends or it hears no more, then closes the channel. Bursts are joined; a change may be
	// reported twice, but is never lost silently: an event with Lost says that some were.
	Watch(ctx context.Context) (<-chan Change, error)
}

// Change is one change of a store.
type Change struct {
	ID   string // empty: unknown item
	Lost bool   // more changed than is reported: read everything again
}
