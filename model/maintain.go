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
	// Layers lists every place that can hold text of an item, the items' own bytes
	// and what no scrub can reach included. What could not be looked at is a layer
	// with its Reason, never left out.
	Layers(ctx context.Context) ([]Layer, error)
	// OpenLayer reads a layer's bytes as they lie on the medium. The caller closes.
	// NotFound when it is gone meanwhile, Unsupported when Layers says it cannot be
	// read.
	OpenLayer(ctx context.Context, id string) (io.ReadCloser, error)
	// Scrub removes what Forget leaves in layers that are no items: log lines,
	// version blobs, index postings, free pages, siblings. The results name every
	// layer that was in scope, done or not; an error means that nothing can be said.
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
	// Readable: OpenLayer gives its bytes. Otherwise Reason says why not, in words.
	Readable bool
	Reason   string
	// Advice tells somebody with more rights than this program what to do, once for
	// all layers with the same words; empty where nobody can.
	Advice string
	// Links is how many other names the file has, here or elsewhere on its disk: what
	// is removed or written anew under this one keeps its bytes under those.
	Links int64
	// Waits says in words which other program holds the layer, so that Scrub leaves it alone for
	// now; empty: none does.
	Waits string
	// ItemID is the item whose bytes these are, or to whose file they are attached (an
	// extended attribute, of another kind than LayerItem), where the layer is one item's.
	ItemID string
	// File is the absolute path of the layer's own file on this machine, by which its attributes are
	// listed without opening it. It is shown to nobody; empty: OpenLayer is the only way.
	File string
}

// ScrubRequest says what has to go.
type ScrubRequest struct {
	// Removed are the ids that Forget has removed: their versions, vectors, log lines
	// and quarantine entries go with them.
	Removed []string
	// Renamed are the ids under which some of Removed go on: a link to one leads to the
	// other then, and keeps what else it says.
	Renamed map[string]string
	// Edited are the ids of items that Retain has edited and that stay. What their
	// records say beside the fields that Retain writes, who made them, who commented,
	// fields that the store does not know, goes through Redact.
	Edited []string
	// Subjects are the person's ids, for a medium with an erasure of its own.
	Subjects []string
	// Concerns reports whether a record (a log line, a version, a row of a side
	// table, a temporary file) names the person. nil: Removed alone counts. It is
	// safe for concurrent use.
	Concerns func(record []byte) bool
	// Redact gives the record with every name of the person replaced and the rest
	// unchanged. nil: a record that Concerns names is removed, or its field emptied.
	// It is safe for concurrent use.
	Redact func(record []byte) []byte
	// Traces reports whether the bytes of a medium hold a trace of the person, weak
	// evidence included: what a deletion has left in free pages and dead words is
	// worth a rewrite. nil: nobody asks. It is safe for concurrent use.
	Traces func(ctx context.Context, medium io.Reader) (bool, error)
	// May is asked before a place is cleaned: with the layer's id, and with its bytes
	// where it would be removed as a whole, nil where records are taken out of it. What
	// may not be cleaned stays, with the verdict residue. nil: every place may. Not
	// asked about is what holds nothing of its own: rows of an index that is built from
	// the items, lock files, empty directories, and what an interrupted write of this
	// program left where nothing would be lost by it.
	May func(layer string, whole []byte) bool
	// MayEdit is asked about each value that Redact would change in the record of an
	// edited item beside the fields that Retain writes; what may not be edited stays,
	// and its layer has the verdict residue. nil: every value may.
	MayEdit func(RecordEdit) bool
	// Dry asks May and MayEdit about every place that would be cleaned once Removed are gone, and
	// does nothing else: no lock is taken, nothing is changed, there are no results.
	Dry bool
	// Listed are the store's layers where the caller has just listed them, so that a dry run
	// does not list them again. nil: it has not.
	Listed []Layer
	// Rows is about how many items were removed; a member may choose a cheaper way
	// for few.
	Rows int64
	// Step hears of progress, in words; nil: nobody listens.
	Step func(layer, what string)
}

// Permits asks May about a place. What it refuses has a result of its own, but in a
// dry run, which permits nothing.
func (r ScrubRequest) Permits(layer string, whole []byte) (LayerResult, bool) {
	if r.May == nil || r.May(layer, whole) {
		return LayerResult{}, !r.Dry
	}
	return LayerResult{Layer: layer, Method: "left alone", Verdict: VerdictResidue, Reason: "nobody has seen it as it is now: make a new plan"}, false
}

// RecordEdit is one value of an item's record, or the name of one, before and after
// Redact.
type RecordEdit struct {
	Layer, ID     string // of the medium, and of the item whose record it is
	Path          string // of the value in the record: "comments[0].author"
	Before, After string // as they stand in the record, quotes and escapes included
}

// Verdict is the finding about one layer after an erasure.
type Verdict string

// The verdicts (erasure-physical.md, Verdicts). Only clean is a pass.
const (
	VerdictClean      Verdict = "clean"        // looked at whole, nothing found
	VerdictResidue    Verdict = "residue"      // something is left
	VerdictPending    Verdict = "pending"      // held back by a reader or a sync; to be tried again
	VerdictUnaudited  Verdict = "unaudited"    // not looked at
	VerdictOutOfScope Verdict = "out_of_scope" // named, not reachable from here
	VerdictAttested   Verdict = "attested"     // a person looked where the program cannot, and says so
	VerdictFailed     Verdict = "failed"       // tried and failed
)

// LayerResult reports Scrub's work on one layer, before verification.
type LayerResult struct {
	Layer   string
	Method  string // in words: "FTS optimize, VACUUM, checkpoint"
	Rows    int64  // records removed or rewritten
	Verdict Verdict
	Reason  string // of every verdict but clean
}

// Reindexer rebuilds what a store derives from its items.
type Reindexer interface {
	// Reindex rebuilds the named derived tier, or every one for an empty name, and
	// returns how many items it holds.
	// InvalidInput for a tier that is not derived.
	Reindex(ctx context.Context, tier string) (int64, error)
	// ChangedSince streams the ids of items changed at or after the time, in seconds
	// since 1970, in no order; yield returns false to stop.
	ChangedSince(ctx context.Context, mtime float64, yield func(id string) bool) error
}

// Repairer finds what keeps the program that owns the store from working, and sets it aside.
type Repairer interface {
	// Broken gives the ids of the items that the owner's program cannot read or would drop.
	Broken(ctx context.Context) ([]string, error)
	// SetAside writes these items to a new file beside the store and returns its name. The items
	// stay where they are until they are forgotten. NotFound when one is gone.
	SetAside(ctx context.Context, ids []string) (file string, err error)
}

// Migrator moves a store's schema between versions.
type Migrator interface {
	// Schema reports the store's version and the known steps.
	Schema(ctx context.Context) (SchemaState, error)
	// Migrate moves to the target version, up or down, one transaction per step that
	// also records the version (provider-contract.md H16). It stops at the first
	// error, which names the version. A step down that would take items with it is
	// refused while there are any: nothing could put them back.
	Migrate(ctx context.Context, target int) (SchemaState, error)
}

// SchemaState is where a store's schema stands.
type SchemaState struct {
	Current, Latest int
	Steps           []SchemaStep // known steps, ascending
}

// SchemaStep is one version.
type SchemaStep struct {
	Version int
	What    string // in words
	Applied bool
	Items   bool // it made the place of items: below this version there are none
}

// Removes reports whether moving to the target takes the place of items away.
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
