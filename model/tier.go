package model

import "slices"

// KeyRule says how a tier's items are addressed.
type KeyRule string

// The key rules (provider-contract.md R9, R10).
const (
	KeyIgnored  KeyRule = "ignored"  // one item per scope, whatever Key holds
	KeyRequired KeyRule = "required" // one item per key
	KeyOptional KeyRule = "optional" // the store makes a key when none is given
)

// CapUnit is the unit of a cap.
type CapUnit string

// The cap units.
const (
	CapBytes   CapUnit = "bytes"
	CapChars   CapUnit = "characters"
	CapEntries CapUnit = "entries"
)

// DocumentKind says how an item becomes text and back.
type DocumentKind string

// The document kinds.
const (
	// Opaque: the bytes are the document; front matter is parsed for display only.
	Opaque DocumentKind = "opaque"
	// Structured: metadata are fields, written as front matter before the body.
	Structured DocumentKind = "structured"
)

// TierSpec is a store's declaration of one of its tiers. The conformance suite tests a store against it.
type TierSpec struct {
	Name     string
	Title    string // in words, for people
	KeyRule  KeyRule
	KeyHint  string // the form of a key: "a date, 2026-05-21"
	Cap      int64  // of the resulting item in CapUnit; 0 means none
	CapSoft  bool   // a write beyond the cap succeeds with a warning: the rest is kept and not loaded
	CapUnit  CapUnit
	Writable bool // false: Retain of new content is refused; an edit that only removes may pass
	Hidden   bool // left out of lists unless asked for
	Document DocumentKind
	Sealed   bool // not Writable, and no edit passes: its items can only be forgotten
	Foreign  bool // neither Retain nor Forget changes its items: people keep them in another program
	Aside    bool // Recall without a tier leaves it out, as the store's own agents do
	// OwnerMakes: Retain edits existing items; only the owner's program makes new ones.
	OwnerMakes bool
	// Restores: Retain with Restore, and with what Beside and Keep gave, restores a forgotten item all the same, and an edited
	// one where the tier is not Sealed.
	Restores bool
	// Owned: the store says who owns each item. An item that only names another person is never forgotten for
	// that person's sake: the name goes, the item stays.
	Owned bool
	// Titled: an item has a title beside its text, the field "title", which Retain sets.
	Titled bool
	// Text is the form of text that the tier accepts; empty: any.
	Text TextForm
	// Extra names a field that accepts any JSON object, for data without a field in the store; empty: there
	// is none.
	Extra string
	// Index: its items list others of their directory, and changes to those change their lines. An erasure
	// edits index items first, while they are as planned.
	Index bool
	// Renews names the read-only fields that the store makes anew when an item is retained again after
	// Forget; AllFields means all of them.
	Renews []string
}

// AllFields in TierSpec.Renews: the owner's program makes the item, and every read-only field.
const AllFields = "*"

// Renewed are the item's read-only fields, with a value, that would begin anew.
func (t TierSpec) Renewed(meta []Field) []string {
	var out []string
	for _, f := range meta {
		if f.ReadOnly && f.Value != "" && (slices.Contains(t.Renews, f.Name) || slices.Contains(t.Renews, AllFields)) {
			out = append(out, f.Name)
		}
	}
	return out
}

// TextForm is the form that a tier requires of a text.
type TextForm string

// The text forms.
const (
	TextList   TextForm = "list"   // Markdown list: each entry begins with `- `, its further lines with two spaces
	TextObject TextForm = "object" // one JSON object
)

// SoftCap is 80 % of the cap, from which a write warns (R13); 0 without a cap.
func (t TierSpec) SoftCap() int64 { return (t.Cap*8 + 9) / 10 }

// HardCap is the cap beyond which a write is refused; 0 for none.
func (t TierSpec) HardCap() int64 {
	if t.CapSoft {
		return 0
	}
	return t.Cap
}

// CapFlag is the flag for an item of this size; empty for none.
func (t TierSpec) CapFlag(size int64) Flag {
	switch {
	case t.Cap == 0:
		return ""
	case size > t.Cap:
		return FlagOverCap
	case size >= t.SoftCap():
		return FlagNearCap
	}
	return ""
}

// Deviation declares a rule of the contract that a backend cannot keep. The
// suite may skip only these, and memdesk shows them.
type Deviation struct {
	Rule   string // "R31"
	Reason string // for people
}
