package model

import (
	"context"
	"iter"
	"time"
)

// Browser lists and reads items; operators page and filter through it, while agents have only Recall. It
// changes nothing.
type Browser interface {
	// List returns one page. An unknown tier, scope or order, and a cursor of another list, are InvalidInput.
	// A page that ends early carries Next; the order is total, so no item is skipped or repeated while
	// nothing changes, and none that stays when others are forgotten. Conflict: the items at the cursor are
	// gone, and with them the place.
	List(ctx context.Context, req PageRequest) (Page, error)
	// Read returns one item with its revision, or NotFound. Archived, hidden and
	// quarantined items are readable.
	Read(ctx context.Context, id string) (Item, error)
	// Tiers counts items and bytes per scope and tier, hidden tiers included.
	Tiers(ctx context.Context) ([]TierCount, error)
}

// PageRequest asks for a window of a list.
type PageRequest struct {
	Tier   string // empty: all
	Scope  string // empty: all
	Query  string // filter over id, title and body as the store searches; empty: none
	Order  Order  // empty: the store's first
	Cursor string // opaque, from Page.Next or Page.Prev of the same list; empty: the start
	// End asks for the last page instead of the first; Cursor must be empty.
	End   bool
	Limit int // 1..MaxPage; 0 means DefaultPage
	// Hidden includes archived and bookkeeping items and hidden tiers.
	Hidden bool
}

// Page limits.
const (
	DefaultPage = 100
	MaxPage     = 1000
)

// PageLimit clamps a request's limit.
func PageLimit(n int) int {
	switch {
	case n <= 0:
		return DefaultPage
	case n > MaxPage:
		return MaxPage
	}
	return n
}

// Order names a sort order; a store declares the ones it has.
type Order string

// The orders that stores declare.
const (
	OrderNewest  Order = "newest"
	OrderOldest  Order = "oldest"
	OrderID      Order = "id"
	OrderLargest Order = "largest"
)

// Page is a window of a list, in the list's order from either direction.
type Page struct {
	Items []Header
	Next  string // cursor of the page after; empty at the end
	Prev  string // cursor of the page before; empty at the start
	Total Count  // of the whole list under the request's filters
	// Problems name parts of the store that could not be looked at: the list is then incomplete.
	Problems []string
}

// Pages are the pages of a list from that of req on; an error ends them.
func Pages(ctx context.Context, b Browser, req PageRequest) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for {
			page, err := b.List(ctx, req)
			if !yield(page, err) || err != nil || page.Next == "" {
				return
			}
			req.Cursor = page.Next
		}
	}
}

// Count is a number with its certainty.
type Count struct {
	N int64
	// AtLeast: counting stopped at N; there may be more.
	AtLeast bool
	// Unknown: nothing was counted, N means nothing.
	Unknown bool
}

// TierCount is the size of one tier in one scope.
type TierCount struct {
	Scope      string
	ScopeTitle string // for people, from the store's own names
	Tier       string
	Items      int64
	Bytes      int64
}

// History returns the earlier revisions that a store itself keeps.
type History interface {
	// Revisions lists newest first, a store that records changes oldest first (Version.Change). A store that
	// records nothing for the item says so in State; an empty list
	// alone never means "no history".
	Revisions(ctx context.Context, id string) (Versions, error)
	// ReadRevision returns the item at that version; NotFound when the version or its bytes are gone.
	ReadRevision(ctx context.Context, id, version string) (Item, error)
}

// HistoryState says whether a list of versions is known to be complete.
type HistoryState string

// The history states (crewship-disk.md, last section).
const (
	Recorded           HistoryState = "recorded"
	Unrecorded         HistoryState = "unrecorded"  // the store does not record this kind of item
	HistoryUnavailable HistoryState = "unavailable" // the record exists but cannot be read
)

// Versions is an item's history with the reason where there is none.
type Versions struct {
	State    HistoryState
	Reason   string
	Versions []Version
}

// Version is one recorded state of an item.
type Version struct {
	ID       string // for ReadRevision
	At       time.Time
	By       string
	Bytes    int64
	Hash     string // the store's own hash
	Readable bool   // the bytes still exist
	Change   *Edit  // of a store that records changes, not states; nil elsewhere
}

// Edit is one recorded change of a text; nil: there was none before, or there is none after it.
type Edit struct {
	Action        string
	Previous, New *string
}

// Quarantine lists the content that a store's own scanner has set aside. An entry is removed with Forget on
// its ID; nothing here changes anything.
type Quarantine interface {
	// Quarantined lists every entry, in a stable order. Entries that cannot be read
	// or parsed are listed with Problem set, never left out.
	Quarantined(ctx context.Context) ([]Quarantined, error)
	// ReadQuarantined returns one entry with its content.
	ReadQuarantined(ctx context.Context, id string) (Quarantined, error)
}

// Quarantined is one quarantine entry.
type Quarantined struct {
	ID       string // handle for Forget
	Source   string // the label that the store recorded
	SourceID string // id of the live source, whether it still exists or not; empty when unknown
	Category string
	Pattern  string
	SHA256   string
	At       time.Time
	Bytes    int64
	Body     string // only from ReadQuarantined
	Problem  string // why the entry could not be read or verified, in words
	Unread   bool   // it could not be read: there may be a text where Body is empty
	// Fields are what is known of the entry beside its text: of a write that waits, what it would do.
	Fields []Field
}
