// Package conflict finds second copies that sync layers, merges and refused writes leave in a store, says
// what each is and how certain that is, compares it with its base, and resolves it through the store's Retain
// and Forget. It never resolves anything by itself.
package conflict

import (
	"strings"
	"time"

	"memdesk/conflict/names"
	"memdesk/model"
)

// BaseState says what is known about a copy's base.
type BaseState string

// The states of a base.
const (
	BasePresent   BaseState = "present"
	BaseIdentical BaseState = "identical" // byte for byte the copy
	BaseMissing   BaseState = "missing"
	BaseUnknown   BaseState = "unknown" // one of the two could not be read
)

// Copy is one second copy. All text in it that comes from the store is hostile.
type Copy struct {
	Store string
	ID    string
	// BaseID is the base: an item of the same folder, or the copy itself for markers inside an item. Empty
	// for an orphan.
	BaseID string
	// Target is the base's id derived from the name alone, for an orphan that shall get it.
	Target string
	Chain  []Step // the markers that were cut, outermost first
	Class  names.Class
	Tool   string
	Also   []string // tools that write the same form
	Row    int      // of the table in the format document
	Reason string   // in words

	Confidence names.Confidence
	Base       BaseState
	Redundant  bool // meaningful unless Base is unknown
	Orphan     bool
	Shared     int      // equal lines in per cent; -1 when nothing was compared
	Twins      []string // copies of the same base with equal bytes, twenty at most
	Blocks     int      // of conflict markers inside the item
	Cautions   []string // of the tool's vendor, in words
	Who        string   // user or device, from the name
	At         time.Time
	// Returned is when this copy was resolved and removed, if it was: a sync layer has restored it since.
	Returned time.Time
	Problem  string // what could not be looked at, in words

	CopyRev, BaseRev   model.Revision // the compared revisions; empty when not read
	CopySize, BaseSize int64
	CopyTime, BaseTime time.Time
	Binary             bool // one of the two is not UTF-8: it is resolved as bytes
}

// Step is one marker that was cut from a name.
type Step struct {
	Name   string // the remaining name
	Marker string
	Tool   string
	Row    int
}

// Resolvable reports whether there is a second item to resolve; markers inside an item are removed by an
// edit.
func (c Copy) Resolvable() bool { return c.Class != names.InFile }

// folder splits an id into its folder, with the slash, and its name.
func folder(id string) (dir, name string) {
	i := strings.LastIndexByte(id, '/') + 1
	return id[:i], id[i:]
}
