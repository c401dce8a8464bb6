package conflict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"memdesk/conflict/names"
	"memdesk/model"
	"memdesk/undo"
)

// Take says which side a resolution keeps.
type Take string

// The ways to resolve.
const (
	TakeBase   Take = "base"   // the base stays, the copy goes
	TakeCopy   Take = "copy"   // the base gets the copy's bytes, the copy goes
	TakeBoth   Take = "both"   // the copy stays under a name without a tool's marker
	TakeMerged Take = "merged" // the base gets a text, the copy goes
)

// Choice is how to resolve one copy.
type Choice struct {
	Take   Take
	Merged string // with TakeMerged
	// BaseRev and CopyRev are the revisions that the operator saw; empty: those of the Copy.
	BaseRev, CopyRev model.Revision
}

// Resolution reports the result of a resolve.
type Resolution struct {
	Base         string
	BaseRevision model.Revision // the base's new revision
	Kept         string         // the id that now has the copy's text; empty when it was removed
	Undo         undo.Entry     // restores both
	Notes        []string
}

// Resolve ends one conflict: Retain of the result, bound to the base's seen revision, then Forget of the
// copy, bound likewise, under one undo entry that keeps both. If a side has changed since, the error is
// Conflict and nothing changes. A copy whose tool's vendor warns against deletion is never just removed: its
// text stays under a new name, Kept.
func Resolve(ctx context.Context, k *undo.Keeper, s model.Store, c Copy, ch Choice) (Resolution, error) {
	r := resolver{ctx: ctx, s: s, c: c, ch: ch, out: Resolution{Base: c.Target}}
	if r.ch.BaseRev == "" {
		r.ch.BaseRev = c.BaseRev
	}
	if r.ch.CopyRev == "" {
		r.ch.CopyRev = c.CopyRev
	}
	if err := r.read(); err != nil {
		return r.out, err
	}
	changes, err := r.plan()
	if err != nil {
		return r.out, err
	}
	res, entry, err := k.Together(ctx, s, undo.OpResolve, changes)
	r.out.Undo = entry
	if err != nil {
		return r.out, err
	}
	for i, change := range changes {
		if change.Retain != nil && change.Retain.ID == c.Target {
			r.out.BaseRevision = res[i].Revision
		}
		r.out.Notes = append(r.out.Notes, res[i].Warnings...)
	}
	return r.out, nil
}

type resolver struct {
	ctx        context.Context
	s          model.Store
	c          Copy
	ch         Choice
	base, copy model.Item
	hasBase    bool
	out        Resolution
}

// read reads both sides again, and stops when one differs from its seen revision.
func (r *resolver) read() error {
	if r.s.Browser == nil {
		return model.Errorf(model.Unsupported, "resolve", "the store cannot show its items")
	}
	var err error
	if r.copy, err = r.s.Browser.Read(r.ctx, r.c.ID); err != nil {
		if errors.Is(err, model.NotFound) && r.ch.CopyRev != "" {
			return model.Errorf(model.Conflict, "resolve", "the copy %q is gone; nothing was changed", r.c.ID)
		}
		return err
	}
	if err := r.seen("the copy", r.ch.CopyRev, true, r.copy.Revision); err != nil {
		return err
	}
	if r.c.Target == "" {
		if r.ch.Take == TakeBoth {
			return nil
		}
		return model.Errorf(model.InvalidInput, "resolve", "nobody can tell what %q is a copy of; rename it with --take both, or forget it", r.c.ID)
	}
	r.base, err = r.s.Browser.Read(r.ctx, r.c.Target)
	switch {
	case err == nil:
		r.hasBase, r.out.BaseRevision = true, r.base.Revision
	case !errors.Is(err, model.NotFound):
		return err
	}
	return r.seen("the base", r.ch.BaseRev, r.hasBase, r.base.Revision)
}

func (r *resolver) seen(side string, want model.Revision, exists bool, now model.Revision) error {
	if err := model.CheckMatch("resolve", want, exists, now); err != nil {
		return model.Errorf(model.Conflict, "", "%s is not as it was shown, nothing was changed: %w", side, err)
	}
	return nil
}

// plan returns the changes for the choice.
func (r *resolver) plan() ([]undo.Change, error) {
	if r.c.Class == names.InFile {
		return r.planInside()
	}
	var changes []undo.Change
	switch r.ch.Take {
	case TakeBase:
		if !r.hasBase {
			return nil, model.Errorf(model.InvalidInput, "resolve", "%q has no base: take the copy, keep both, or forget it", r.c.ID)
		}
	case TakeCopy:
		changes = r.toBase(changes, r.copy.Body)
	case TakeMerged:
		if r.ch.Merged == "" {
			return nil, model.Errorf(model.InvalidInput, "resolve", "the merged text is empty")
		}
		if n := Markers(r.c.Target, r.ch.Merged); n > max(Markers(r.c.Target, r.base.Body), Markers(r.c.Target, r.copy.Body)) {
			return nil, model.Errorf(model.InvalidInput, "resolve", "the merged text still holds merge markers")
		}
		changes = r.toBase(changes, r.ch.Merged)
	case TakeBoth:
		return r.rename(changes)
	default:
		return nil, model.Errorf(model.InvalidInput, "resolve", "take one of base, copy, both, merged, not %q", string(r.ch.Take))
	}
	if r.c.RenameOnly() {
		r.out.Notes = append(r.out.Notes, "the copy was renamed, not deleted: "+r.c.Cautions[0])
		return r.rename(changes)
	}
	return append(changes, r.forget()), nil
}

// planInside replaces a text with merge markers.
func (r *resolver) planInside() ([]undo.Change, error) {
	if r.ch.Take != TakeMerged || r.ch.Merged == "" {
		return nil, model.Errorf(model.InvalidInput, "resolve", "%q holds merge markers inside: give the text without them, with --take merged FILE", r.c.ID)
	}
	if n := Markers(r.c.ID, r.ch.Merged); n > 0 {
		return nil, model.Errorf(model.InvalidInput, "resolve", "the merged text still holds merge markers")
	}
	return r.toBase(nil, r.ch.Merged), nil
}

// toBase writes the result, unless the base has it already.
func (r *resolver) toBase(changes []undo.Change, text string) []undo.Change {
	want := model.Absent
	if r.hasBase {
		if r.base.Body == text {
			return changes
		}
		want = r.base.Revision
	}
	return append(changes, undo.Change{Retain: &model.RetainRequest{ID: r.c.Target, Content: text, Mode: model.Replace, IfMatch: want, Binary: asBytes(text)}})
}

// asBytes reports whether a text can only be written as bytes.
func asBytes(text string) bool { return text == "" || !utf8.ValidString(text) }

func (r *resolver) forget() undo.Change {
	return undo.Change{Forget: &model.ForgetRequest{ID: r.c.ID, IfMatch: r.copy.Revision}}
}

// rename keeps the copy's text under a name without a conflict marker.
func (r *resolver) rename(changes []undo.Change) ([]undo.Change, error) {
	id, err := r.freeName()
	if err != nil {
		return nil, err
	}
	r.out.Kept = id
	text := r.copy.Body
	if slug := slugOf(text); slug != "" && (!r.hasBase || slug == slugOf(r.base.Body)) {
		_, own := folder(id)
		_, target := folder(r.named())
		text = withSlug(text, newSlug(slug, stemOf(target), stemOf(own)))
		r.out.Notes = append(r.out.Notes, "the kept copy has the slug "+slugOf(text)+": two notes with one slug are one to their agent")
	}
	req := model.RetainRequest{ID: id, Content: text, Mode: model.Replace, IfMatch: model.Absent, Binary: asBytes(text)}
	dir, _ := folder(id)
	req.Restore = !model.PlainID(dir) // it stands there already, so it may have any name
	if req.Beside, err = r.s.FileOf(r.ctx, r.c.ID); err != nil {
		return nil, err
	}
	return append(changes, undo.Change{Retain: &req}, r.forget()), nil
}

func stemOf(name string) string {
	stem, _ := names.Split(name)
	return stem
}

// plain replaces what no new item may have in its name.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if model.PlainID(string(r)) && r != utf8.RuneError {
			return r
		}
		return '_'
	}, name)
}

// named is the id after which a kept copy is named: the base's, or its own without the lost-and-found, where
// it would be set aside again.
func (r *resolver) named() string {
	if r.c.Target == "" && dumpedID(r.c.ID) {
		before, after, _ := strings.Cut(r.c.ID, dump)
		return strings.TrimSuffix(before, ".") + after
	}
	return cmp.Or(r.c.Target, r.c.ID)
}

// freeName returns a free `stem-version-2.ext` beside the base, or a higher number.
func (r *resolver) freeName() (string, error) {
	dir, name := folder(r.named())
	stem, ext := names.Split(name)
	stem, ext = plain(stem), plain(ext)
	for n := 2; n < 1000; n++ {
		id := fmt.Sprintf("%s%s-version-%d%s", dir, stem, n, ext)
		_, own := folder(id)
		if len(names.Classify(own, nil)) > 0 {
			own = "version-" + own // the base is itself a copy
			id = dir + own
		}
		_, err := r.s.Browser.Read(r.ctx, id)
		if errors.Is(err, model.NotFound) {
			return id, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", model.Errorf(model.AlreadyExists, "resolve", "a thousand versions of %q stand there already", r.named())
}
