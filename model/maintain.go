package model

import (
	"context"
	"fmt"
	"io"
)

// Maintainer shows and cleans the medium beneath the items: files, indexes,
// logs, versions, temporary files. It never changes what is remembered.
//
// Every method ends with its context. Scrub is idempotent: run again after any
// interruption it does what is still missing.
type Maintainer interface {
	// Layers lists every layer that can hold text of an item, including the items' own bytes and layers out
	// of Scrub's reach. A layer that could not be looked at has its Reason, and is never left out.
	Layers(ctx context.Context) ([]Layer, error)
	// OpenLayer reads a layer's bytes as they are on the medium. The caller closes. NotFound when it is gone
	// since, Unsupported when Layers says it cannot be read.
	OpenLayer(ctx context.Context, id string) (io.ReadCloser, error)
	// Scrub removes what Forget leaves in layers that are no items: log lines, version blobs, index postings,
	// free pages, siblings. The results name every layer that was in scope, done or not; after an error
	// nothing is known.
	Scrub(ctx context.Context, req ScrubRequest) ([]LayerResult, error)
}

// LayerKind says what Scrub can do about a layer.
type LayerKind string

// The kinds of layers.
const (
	LayerItem     LayerKind = "item"     // bytes of items: gone with Forget
	LayerDerived  LayerKind = "derived"  // made from items: logs, versions, indexes, temporary files
	LayerExternal LayerKind = "external" // named, but out of reach: backups, history of git, archived logs
)

// Layer is one place on the medium.
type Layer struct {
	ID    string // relative to the store, never an absolute path; for OpenLayer
	Kind  LayerKind
	Bytes int64
	// Readable: OpenLayer returns its bytes. Otherwise Reason says why not, in words; of a file
	// with Rows it can say which part of the file the bytes are.
	Readable bool
	Reason   string
	// Advice tells an operator with more rights than this program what to do, once for all layers with the
	// same words; empty where nobody can do anything.
	Advice string
	// Links is how many other names the file has, here or elsewhere on its disk: bytes that are removed or
	// rewritten under this name stay under those.
	Links int64
	// Waits names the other program that holds the layer, so that Scrub leaves it alone for now; empty for
	// none.
	Waits string
	// ItemID is the item of these bytes, or of the file that they are attached to (an extended attribute, of
	// another kind than LayerItem), where the layer belongs to one item.
	ItemID string
	// File is the absolute path of the layer's own file on this machine, for listing its attributes without
	// opening it, of a symbolic link itself, or of a git repository's directory. It is never shown; empty: OpenLayer is the only way.
	File string
	// HeldWith is the absolute path of the file on this machine whose hold keeps the layer, where File is empty or another: the
	// database of a table or of a log, or the file of an extended attribute. It is never shown.
	HeldWith string
	// Rows: it is a file of the store's own database, whose rows are items or made from them.
	Rows bool
	// Repository: it is a git repository's own directory, or the file that leads there, which the store keeps whole.
	Repository bool
}

// ScrubRequest says what to remove.
type ScrubRequest struct {
	// Removed are the ids that Forget has removed: their versions, vectors, log lines and quarantine entries
	// go with them.
	Removed []string
	// Renamed maps ids of Removed to the new ids of their items: a link to an old id then leads to the new
	// one, and keeps its other content.
	Renamed map[string]string
	// Edited are the ids of items that Retain has edited and that stay. In their records Redact edits the
	// values that Retain does not write: author, commenters, fields that the store does not know.
	Edited []string
	// Held are the ids of items on hold. Scrub leaves the rows that belong to them in other tables and files, and what
	// their own rows say beside their text. A layer of one item alone (Layer.ItemID) is left to the caller's May.
	Held []string
	// HeldFiles are the files of layers (Layer.HeldWith, or else Layer.File) that are on hold: nothing in them changes. May
	// refuses these layers too.
	HeldFiles []string
	// SideRows, where it is set with Dry, makes the call a list: it receives rows that Read does not show. Of every item
	// these are the rows that go only with it as a whole (a conversation's older versions, pending writes), of one of Held
	// also those that Scrub leaves for its sake. Where Concerns is set too they are all rows of their layers. What cannot be
	// read is an error, or a layer that says so.
	SideRows func(SideRow)
	// Subjects are the subject's ids, for a medium with an erasure of its own.
	Subjects []string
	// Concerns reports whether a record (a log line, a version, a row of a side table, a temporary file)
	// names the subject. nil: only Removed counts. It must be safe for concurrent use.
	Concerns func(record []byte) bool
	// Redact returns the record with every name of the subject replaced and the rest unchanged. nil: a record
	// for which Concerns is true is removed, or its field emptied. It must be safe for concurrent use.
	Redact func(record []byte) []byte
	// Traces reports whether the bytes of a medium hold a trace of the subject, weak evidence included:
	// deleted text in free pages and dead words is worth a rewrite. May be nil. It must be safe for
	// concurrent use.
	Traces func(ctx context.Context, medium io.Reader) (bool, error)
	// May is called before a layer is cleaned: with its id and, where it would be removed as a whole, with
	// its bytes; nil bytes mean that records are taken out of it. A refused layer stays, with the verdict
	// residue. nil: every layer may be cleaned. It is not called for layers without content of their own:
	// rows of an index that is built from the items, lock files, empty directories, and leftovers of an
	// interrupted write of this program whose loss loses nothing.
	May func(layer string, whole []byte) bool
	// MayEdit is called for each value that Redact would change in an edited item's record beside the fields
	// that Retain writes; a refused value stays, and its layer has the verdict residue. nil: every value may
	// be edited.
	MayEdit func(RecordEdit) bool
	// Dry calls May and MayEdit for everything that would be cleaned once Removed are gone, and does nothing
	// else: it takes no lock, changes nothing, and has no results.
	Dry bool
	// Listed are the store's layers where the caller has just listed them, so that a dry run does not list
	// them again. May be nil.
	Listed []Layer
	// Step receives progress, in words; may be nil.
	Step func(layer, what string)
}

// SideRow is a row beside the items, or a part of one.
type SideRow struct {
	Layer string
	Of    []string // items of Held that it belongs to, and those with which it goes as a whole; one of none says which longer words are others'
	Whole bool     // it belongs to Subjects, or goes as a whole because it names the subject
	Cells []SideCell
}

// SideCell is a cell as it is, and as a search reads it: a number in the ways to write it, because a column of numbers keeps no
// zeros before a person's. Column may be empty.
type SideCell struct{ Column, Text, Words string }

// Permits calls May for a layer. A refused layer has a result of its own, except in a dry run, which permits
// nothing.
func (r ScrubRequest) Permits(layer string, whole []byte) (LayerResult, bool) {
	if r.May == nil || r.May(layer, whole) {
		return LayerResult{}, !r.Dry
	}
	return LayerResult{Layer: layer, Method: "left alone", Verdict: VerdictResidue, Reason: "nobody has seen it as it is now: make a new plan"}, false
}

// RecordEdit is one value of an item's record, or a value's name, before and after Redact.
type RecordEdit struct {
	Layer, ID     string // of the medium, and of the item whose record it is
	Path          string // of the value in the record: "comments[0].author"
	Before, After string // as in the record, quotes and escapes included
}

// Verdict is the finding about one layer after an erasure.
type Verdict string

// The verdicts (erasure-physical.md, Verdicts). Only clean is a pass.
const (
	VerdictClean      Verdict = "clean"        // looked at completely, nothing found
	VerdictResidue    Verdict = "residue"      // something remains
	VerdictPending    Verdict = "pending"      // held back by a reader or a sync; to be tried again
	VerdictUnaudited  Verdict = "unaudited"    // not looked at
	VerdictOutOfScope Verdict = "out_of_scope" // listed, but out of reach
	VerdictAttested   Verdict = "attested"     // a person looked where the program cannot, and attests it
	VerdictFailed     Verdict = "failed"       // tried and failed
)

// LayerResult reports Scrub's work on one layer, before verification.
type LayerResult struct {
	Layer   string
	Method  string // in words: "FTS optimize, VACUUM, checkpoint"
	Rows    int64  // records removed or rewritten
	Verdict Verdict
	Reason  string // of every verdict but clean; of clean, why a scan may still find the subject
}

// Reindexer rebuilds the data that a store derives from its items.
type Reindexer interface {
	// Reindex rebuilds the named derived tier, or every one for an empty name, and
	// returns how many items it holds.
	// InvalidInput for a tier that is not derived.
	Reindex(ctx context.Context, tier string) (int64, error)
	// ChangedSince streams ids, in no order, until yield returns false: of the items that changed at or after mtime, in seconds
	// since 1970, and of those whose last change has no time in the store.
	ChangedSince(ctx context.Context, mtime float64, yield func(id string) bool) error
}

// Repairer finds the items that keep the owner's program from working, and sets them aside.
type Repairer interface {
	// Broken returns the ids of items that the owner's program cannot read or would drop.
	Broken(ctx context.Context) ([]string, error)
	// SetAside writes these items to a new file beside the store and returns its name. The items stay in the
	// store until they are forgotten. NotFound when one is gone.
	SetAside(ctx context.Context, ids []string) (file string, err error)
}

// Migrator moves a store's schema between versions.
type Migrator interface {
	// Schema reports the store's version and the known steps.
	Schema(ctx context.Context) (SchemaState, error)
	// Migrate moves to the target version, up or down, one transaction per step that also records the version
	// (provider-contract.md H16). It stops at the first error, which names the version. A step down that
	// would remove items is refused while there are any: nothing could restore them.
	Migrate(ctx context.Context, target int) (SchemaState, error)
}

// SchemaState is a store's schema version and the known steps.
type SchemaState struct {
	Current, Latest int
	Steps           []SchemaStep // known steps, ascending
}

// SchemaStep is one version.
type SchemaStep struct {
	Version int
	What    string // in words
	Applied bool
	Items   bool // the step made the items' tables: below this version there are none
}

// Removes reports whether moving to the target removes the items' tables.
func (s SchemaState) Removes(target int) bool {
	for _, step := range s.Steps {
		if step.Applied && step.Items && step.Version > target {
			return true
		}
	}
	return false
}

// RefuseToDrop is the error of a step down that would remove items.
func RefuseToDrop(step int) error {
	return Refuse("migrate", fmt.Sprintf("the store holds items, and going below schema %d removes them for good: "+
		"copy them to another store (`memdesk copy`), forget them here, then migrate", step))
}
