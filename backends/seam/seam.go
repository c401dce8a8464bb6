// Package seam is the text-tree family: stores that are directories of text. It defines the naming of
// places in such a tree, its capabilities and safe writes; the texts' meaning is each member's business.
package seam

import (
	"context"
	"errors"
	"time"

	"memdesk/model"
)

// ErrInvalidLocator is in every error about a key that cannot name a place. It is a caller's mistake, of
// kind InvalidInput, never NotFound (provider-contract.md S4, S5).
var ErrInvalidLocator = errors.New("invalid locator")

// The conflict strategies that members declare (S14). A name, not a mechanism.
const (
	StrategyNone      = "none"       // the last write wins
	StrategyWholeFile = "whole-file" // both files are kept
)

// KeptNote is the note of a store that its own files no longer identify, only items that it had.
const KeptNote = "no file here identifies this store any more: it opens while undo keeps an item of it, or an erasure is open that lists one"

// Capabilities are the four published flags of a member; each defaults to false
// (S13). They are declarations, not mechanisms.
type Capabilities struct {
	ConcurrentWriters bool
	ConflictFiles     bool
	Encryption        bool
	Sync              bool
}

// Features names the flags as the contract publishes them, for model.Store.
func (c Capabilities) Features() map[string]bool {
	return map[string]bool{
		"concurrent_writers": c.ConcurrentWriters,
		"conflict_files":     c.ConflictFiles,
		"encryption":         c.Encryption,
		"sync":               c.Sync,
	}
}

// Info describes a place without reading it (S11).
type Info struct {
	Locator  Locator
	Dir      bool
	Size     int64 // bytes of a file; 0 for a directory
	Modified time.Time
	// Irregular: a symbolic link or a special file. It is listed and sized 0, and
	// neither read, written nor removed.
	Irregular bool
	// Stamp changes whenever the file may have changed: time, size and identity.
	Stamp string
}

// MTime is the time of the last change in seconds since 1970, as the published
// contract gives it.
func (i Info) MTime() float64 { return float64(i.Modified.UnixNano()) / float64(time.Second) }

// Tree is a tree of text: the seven verbs of the published seam (S1), and a
// conditional write and a removal that the published one lacks. No path crosses
// it, only Locators and text (S2).
//
// Every method is safe for concurrent use, ends with its context, and returns
// *model.Error values without an absolute path. Reading makes nothing: no
// directory, no lock file.
type Tree interface {
	// Resolve names a place (S3, S6); no parts give the root. A part may hold
	// slashes. ErrInvalidLocator for "..", a backslash or a NUL. Nothing is looked
	// up.
	Resolve(parts ...string) (Locator, error)

	// Read returns the exact bytes of a file, without newline translation (S7);
	// they may be invalid UTF-8, which the caller must expect. NotFound when there
	// is none, PermissionDenied for a directory or a symbolic link.
	Read(ctx context.Context, at Locator) (string, error)

	// Write replaces a file and returns its locator (S8). It is atomic and durable
	// and makes missing parents. InvalidInput for text that is not UTF-8 and for
	// the root, PermissionDenied for a directory or a symbolic link in the place.
	// Nothing has changed when it fails, unless the error says "written".
	Write(ctx context.Context, at Locator, text string) (Locator, error)

	// WriteIf is Write when the file still has the expected revision
	// (RevisionOf), or does not exist for model.Absent; else Conflict and nothing
	// changes. An empty expectation always holds. Among writers through any Tree
	// of this program on the same directory exactly one of several with the same
	// expectation succeeds; a foreign writer may slip in between the look and the
	// exchange unless the member says otherwise.
	WriteIf(ctx context.Context, at Locator, text string, expected model.Revision) (Locator, error)

	// List gives the immediate children, sorted by key, dotfiles included; nothing
	// for an empty directory, a file or an absent place, without an error (S9).
	// Names that no locator can hold (a backslash) are left out.
	List(ctx context.Context, at Locator) ([]Locator, error)

	// Exists reports whether there is a file or a directory (S10).
	Exists(ctx context.Context, at Locator) (bool, error)

	// Info describes a place (S11); NotFound when there is nothing.
	Info(ctx context.Context, at Locator) (Info, error)

	// Mkdir makes a directory and its parents and returns its locator; an existing
	// one is no error (S12).
	Mkdir(ctx context.Context, at Locator) (Locator, error)

	// Remove unlinks a file under the same expectation as WriteIf and reports
	// whether it was there; an absent file is false and no error, whatever was
	// expected. PermissionDenied for a directory or a symbolic link.
	Remove(ctx context.Context, at Locator, expected model.Revision) (bool, error)

	// Capabilities and ConflictStrategy are the member's declarations (S13, S14).
	Capabilities() Capabilities
	ConflictStrategy() string
}

// RevisionOf is the revision of a text, as WriteIf and Remove expect it.
func RevisionOf(text string) model.Revision {
	return model.RevisionOf(model.Document{Body: text})
}
