package tui

import (
	"context"
	"time"

	"memdesk/model"
)

// Acts changes memory on behalf of the operator. Every act is recorded and what
// it displaces is kept before it happens; a store that refuses or has moved on is
// an error that changes nothing. It is safe for concurrent use.
type Acts interface {
	// Preview says in words what forgetting an item would do beside removing it.
	Preview(ctx context.Context, store, id string) (warnings []string, err error)
	// Forget removes one item that is at revision seen; Conflict when it is not. An
	// empty seen takes it as it is.
	Forget(ctx context.Context, store, id string, seen model.Revision, reason string) (Done, error)
	// Retain writes one item; Conflict when it is not at the revision that req
	// expects. What it displaces is kept.
	Retain(ctx context.Context, store string, req model.RetainRequest, reason string) (Done, error)
	// Release writes a text over the live source of a quarantine entry and removes
	// the entry. The text must pass the scanner; a nil body releases a source that
	// has been cleaned already. seen is the revision of the source.
	Release(ctx context.Context, store, id string, body *string, seen model.Revision, reason string) (Done, error)
	// Undos lists what can be put back, newest first; damaged counts the entries that
	// cannot be read.
	Undos(ctx context.Context) (rows []UndoRow, damaged int, err error)
	// Undo puts back what a change displaced; Conflict when the item has changed
	// since.
	Undo(ctx context.Context, id, reason string) (Done, error)
}

// Done is what an act did.
type Done struct {
	Store, Item string
	Removed     int64    // items that are gone now
	Relations   int64    // that went with them, or with Undo came back with them
	Undo        string   // takes the act back; empty: nothing was kept
	Obstacle    string   // why Undo cannot put it back, empty when it can
	Warnings    []string // what did not go as asked, in words
}

// UndoRow is one change that was kept.
type UndoRow struct {
	ID, Store, Item string
	Op              string
	At, Expires     time.Time
	Bytes           int64
	Existed         bool   // false: the change made the item, so putting back removes it
	Confirmed       bool   // false: nobody knows whether the change was made
	Obstacle        string // why it cannot be put back; empty when it can
}
