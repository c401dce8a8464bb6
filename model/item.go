package model

import (
	"slices"
	"time"
)

// Flag marks an item in a list. Flags are the program's own words, never text
// from a store.
type Flag string

// The flags that backends set.
const (
	FlagArchived    Flag = "archived"    // the store's own search skips it
	FlagBookkeeping Flag = "bookkeeping" // the agent's machinery, hidden by default
	FlagNearCap     Flag = "near-cap"    // 80 % of its tier's cap or more
	FlagOverCap     Flag = "over-cap"
	FlagBinary      Flag = "binary"   // not UTF-8: listed, sized, moved and removed as bytes
	FlagReadOnly    Flag = "readonly" // only its own writer may change it
	FlagEdge        Flag = "edge"     // a hyperedge
	FlagBlocked     Flag = "blocked"  // the scanner rejects it, and agents do not get it
	FlagPending     Flag = "pending"  // waits for somebody's approval
	FlagUnreadable  Flag = "unreadable"
	FlagExpired     Flag = "expired" // expired: the store's own program does not return it
)

// Field is one ordered metadata entry of a structured item.
type Field struct {
	Name     string
	Value    string
	ReadOnly bool // shown, kept by the store, never written by memdesk
	// Sealed: nothing can edit the field, not even Scrub; it goes with the item only.
	Sealed bool
}

// Values are the values of fields by their names.
func Values(fields []Field) map[string]string {
	out := make(map[string]string, len(fields))
	for _, f := range fields {
		out[f.Name] = f.Value
	}
	return out
}

// Header is an item without its body, as lists have it.
type Header struct {
	ID       string
	Tier     string
	Scope    string // the item's owner inside the store, empty where there is one scope only
	Title    string
	Bytes    int64     // of the body
	Modified time.Time // zero when the store does not know
	// Stamp changes whenever the item may have: time and size, inode, row version.
	Stamp string
	// Revision is set only where the store keeps one; Read computes it.
	Revision Revision
	Flags    []Flag
}

// Has reports whether the header carries the flag.
func (h Header) Has(f Flag) bool { return slices.Contains(h.Flags, f) }

// Item is a whole document. Body holds the stored bytes unchanged, so it may be
// invalid UTF-8 for a FlagBinary item.
type Item struct {
	Header
	Meta  []Field
	Body  string
	Links []Link // read-only neighbours, at most LinkLimit
	// LinksTotal counts all neighbours, those beyond Links included.
	LinksTotal int64
}

// LinkLimit is the most links an Item carries; LinksTotal tells the rest.
const LinkLimit = 100

// Link is one relation of an item, shown beside it.
type Link struct {
	ID    string // of the relation itself, when it is an item
	Kind  string
	Role  string // the item's own role in it
	Label string
	Other []string // ids of the other members
}

// Document is the item without what the store alone decides.
func (it Item) Document() Document { return Document{Meta: it.Meta, Body: it.Body} }
