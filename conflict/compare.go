package conflict

import (
	"context"
	"slices"
	"time"

	"memdesk/conflict/merge"
	"memdesk/model"
)

// Comparison is a copy beside its base.
type Comparison struct {
	Copy
	BaseText, CopyText string
	// Ancestor is the common ancestor of both texts, when Origin says where it was found; else Unknown says
	// why there is none.
	Ancestor string
	Origin   string // "version 3 of the store, by time", "git commit 1a2b3c, by time"
	Unknown  string
	Front    []FieldPair
	Hunks    []merge.Hunk // left is the base, right is the copy
}

// Threefold reports whether an ancestor was found.
func (c Comparison) Threefold() bool { return c.Origin != "" }

// Compare reads both sides of a copy and finds their ancestor. An orphan is compared with nothing.
func Compare(ctx context.Context, s model.Store, c Copy) (Comparison, error) {
	out := Comparison{Copy: c}
	if s.Browser == nil {
		return out, model.Errorf(model.Unsupported, "conflicts", "the store cannot show its items")
	}
	it, err := s.Browser.Read(ctx, c.ID)
	if err != nil {
		return out, err
	}
	out.CopyText, out.CopyRev = it.Body, it.Revision
	base := it // where both sides stand in one item
	if c.BaseID != "" && c.BaseID != c.ID {
		if base, err = s.Browser.Read(ctx, c.BaseID); err != nil {
			return out, err
		}
	}
	if c.BaseID != "" {
		out.BaseText, out.BaseRev = base.Body, base.Revision
	}
	out.Redundant = c.BaseID != "" && c.BaseID != c.ID && same(s, base, it)
	if out.Binary || !c.Resolvable() || c.BaseID == "" {
		out.Unknown = "not looked for"
		return out, nil
	}
	if out.Front = CompareFront(out.BaseText, out.CopyText); !textual(s) {
		out.Front = pairsOf(base.Meta, it.Meta)
	}
	out.findAncestor(ctx, s)
	if out.Threefold() {
		out.Hunks = merge.Three(out.Ancestor, out.BaseText, out.CopyText)
		for i, h := range out.Hunks {
			// The base's own text says nothing about the split: the copy may have been made from an earlier one.
			out.Hunks[i].Unsure = out.Ancestor == out.BaseText || h.Kind == merge.Left && len(h.Left) < len(h.Ancestor) || h.Kind == merge.Right && len(h.Right) < len(h.Ancestor)
		}
	} else {
		out.Hunks = merge.Two(out.BaseText, out.CopyText)
	}
	return out, nil
}

// maxVersions bounds how many recorded versions are read.
const maxVersions = 50

// findAncestor takes the newest recorded text from before both sides were last written: from the store's own
// history, else from git. It may be younger than the split: a device that was offline wrote its copy later.
func (c *Comparison) findAncestor(ctx context.Context, s model.Store) {
	before := c.CopyTime
	if !c.BaseTime.IsZero() && c.BaseTime.Before(before) {
		before = c.BaseTime
	}
	c.Unknown = "the store keeps no versions"
	if s.History != nil && c.fromHistory(ctx, s.History, before) {
		return
	}
	text, origin, why := gitVersion(ctx, s.Location, c.BaseID, before)
	if origin != "" {
		c.Ancestor, c.Origin, c.Unknown = text, origin, ""
		return
	}
	c.Unknown += "; " + why
}

func (c *Comparison) fromHistory(ctx context.Context, h model.History, before time.Time) bool {
	all, err := h.Revisions(ctx, c.BaseID)
	switch {
	case err != nil:
		c.Unknown = "the store's versions cannot be read: " + err.Error()
		return false
	case all.State != model.Recorded:
		c.Unknown = "the store has recorded no versions: " + all.Reason
		return false
	}
	c.Unknown = "the store has no version from before both"
	// a store that records changes lists the oldest first
	slices.SortStableFunc(all.Versions, func(a, b model.Version) int { return b.At.Compare(a.At) })
	for _, v := range all.Versions[:min(len(all.Versions), maxVersions)] {
		if !v.Readable || v.At.IsZero() || v.At.After(before) { // of an unknown time it may be later than both
			continue
		}
		it, err := h.ReadRevision(ctx, c.BaseID, v.ID)
		if err != nil {
			continue
		}
		c.Ancestor, c.Origin, c.Unknown = it.Body, "version "+v.ID+" of the store, by time", ""
		return true
	}
	return false
}
