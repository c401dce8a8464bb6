package undo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"memdesk/model"
)

// Restored reports the result of a restore.
type Restored struct {
	Store, Item string
	Removed     bool // the change had created the item: it is removed again
	Result      model.RetainResult
	Again       Entry    // undoes the restore
	Relations   int64    // fallen relations that were restored
	Warnings    []string // what is not as it was: relations that could not be restored, vectors that are stale
	Notes       []string // the store's own fields that began anew
}

// Restore restores what entry id displaced, provided that the item still has the state that the change left;
// otherwise the error is Conflict and nothing changes. The entry is used up, and the returned entry undoes
// the restore. Fallen relations are restored too; Result.Warnings names those that could not be.
func (k *Keeper) Restore(ctx context.Context, open func(name string) (model.Store, error), id string) (Restored, error) {
	e, body, err := k.Read(id)
	if err != nil {
		return Restored{}, err
	}
	if e.Obstacle != "" {
		return Restored{}, model.Errorf(model.Unsupported, "undo", "%s cannot be put back: %s. `undo show --raw %s` gives the bytes", id, e.Obstacle, id)
	}
	s, err := open(e.Store)
	if err != nil {
		return Restored{}, err
	}
	if !slices.Contains(s.Identities(), e.Where) {
		return Restored{}, model.Errorf(model.Conflict, "undo", "%s belongs to another store of the name %q: open that one", id, e.Store)
	}
	if len(e.Sides) > 0 {
		return k.restoreTogether(ctx, s, e, body)
	}
	out := Restored{Item: e.Item, Store: e.Store, Removed: !e.Existed}
	if e.After == "" {
		made, err := e.wasMade(ctx, s)
		if err != nil {
			return out, err
		}
		if !made {
			out.Removed = false
			return out, k.unmade(e, &out)
		}
	}
	if c := reverse(s, e.Side, body, e.After); c.Retain != nil {
		out.Result, out.Again, err = k.Retain(ctx, s, *c.Retain)
	} else {
		var res model.ForgetResult
		res, out.Again, err = k.Forget(ctx, s, *c.Forget)
		if err == nil && res.Removed == 0 {
			err = model.Errorf(model.Conflict, "undo", "%q, which the change created, is gone: somebody else removed it", e.Item)
		}
	}
	if err != nil {
		return out, err
	}
	if e.Existed {
		if e.Beside != nil {
			out.Warnings = out.Result.Warnings
		}
		out.Notes = renewed(ctx, s, e)
	}
	return out, k.finish(ctx, s, e, &out)
}

// longestChange is longer than a change may run.
const longestChange = time.Hour

// unmade reports that a change did not reach the store, and drops its entry. That of a young change stays: another process
// may be about to make it.
func (k *Keeper) unmade(e Entry, out *Restored) error {
	first := e.AllSides()[0]
	out.Item = cmp.Or(first.Was, first.Item)
	out.Notes = []string{"everything stands as it did before the change: there was nothing to put back"}
	if e.After == "" && k.clock.Now().Sub(e.At) < longestChange {
		out.Notes = append(out.Notes, "undo entry "+e.ID+" stays: its change may still be running")
		return nil
	}
	return k.drop(e.ID)
}

// wasMade looks whether an interrupted change of one item was made, and completes the entry then. Conflict where
// the item does not tell.
func (e *Entry) wasMade(ctx context.Context, s model.Store) (bool, error) {
	if e.Item == "" || s.Browser == nil { // the store chose the id, or does not show the item
		return false, model.Errorf(model.Conflict, "undo", "the change that %s belongs to was never confirmed, and its item is not known; compare with `undo show %s` and write by hand", e.ID, e.ID)
	}
	now, made, err := e.stands(ctx, s)
	if made {
		e.After = now
	}
	return made, err
}

// finish restores the fallen relations of a restored item, and drops the entry. The entry stays where it has
// the only copy of a relation.
func (k *Keeper) finish(ctx context.Context, s model.Store, e Entry, out *Restored) error {
	back, lost, warnings := restoreParts(ctx, s, e)
	out.Relations, out.Warnings = back, append(out.Warnings, warnings...)
	if lost {
		out.Notes = append(out.Notes, "undo entry "+e.ID+" stays: it keeps what was not put back")
		return nil
	}
	return k.drop(e.ID)
}

// renewed names the store's own fields that changed: a restored node is new to its store.
func renewed(ctx context.Context, s model.Store, e Entry) []string {
	if e.After != model.Absent {
		return nil
	}
	it, err := s.Browser.Read(ctx, e.Item)
	if err != nil {
		return []string{"it could not be read again to compare: " + err.Error()}
	}
	now := model.Values(it.Meta)
	var out []string
	for _, f := range e.Meta {
		if f.ReadOnly && now[f.Name] != f.Value {
			out = append(out, f.Name+" was "+f.Value+", the store begins anew")
		}
	}
	return out
}

// restoreParts restores the fallen relations; one that still exists is left alone. lost reports that one may
// still be missing.
func restoreParts(ctx context.Context, s model.Store, e Entry) (back int64, lost bool, warnings []string) {
	if e.Op == model.OpRetain {
		return 0, false, nil
	}
	seated := e.Beside != nil || slices.ContainsFunc(e.Sides, func(side Side) bool { return side.Beside != nil })
	for _, p := range e.Parts {
		_, err := s.Browser.Read(ctx, p.Item)
		switch {
		case errors.Is(err, model.NotFound):
			if _, err = s.Provider.Retain(ctx, model.RetainRequest{ID: p.Item, Content: p.Body, Mode: model.Replace, IfMatch: model.Absent, Meta: p.Meta, Restore: true, Beside: p.Beside}); err == nil {
				back++
			}
			lost = lost || err != nil
		case err != nil:
			lost = true
		case !seated:
			err = errors.New("it still stands, without this member, which only its own system can add again")
		}
		if err != nil {
			warnings = append(warnings, "relation "+p.Item+" is not put back: "+err.Error())
		}
	}
	more := e.PartsTotal - int64(len(e.Parts))
	beyond := max(int64(len(e.Falls))-maxFalls, 0)
	switch {
	case beyond > 0:
		warnings = append(warnings, fmt.Sprintf("%d relations fell beyond those that an entry keeps and were not put back", beyond))
	case more > 0 && seated: // they exist, and have the member again, but for the unseated
	case more > 0 && e.Counted:
		warnings = append(warnings, fmt.Sprintf("%d more relations stand without this member, which only their own system can add again", more))
	case more > 0:
		warnings = append(warnings, "there were more relations than an entry keeps; some were not put back")
	}
	if e.Unseated > 0 {
		warnings = append(warnings, fmt.Sprintf("%d %s without this member: undo keeps no more places", e.Unseated, verb(e.Unseated, "relation stands", "relations stand")))
	}
	return back, lost, warnings
}

// reverse is the change that restores a side, which stands at revision now. That revision is the act's own or was read,
// so it counts as seen: a text that had a finding of the scanner and still has it can be put back.
func reverse(s model.Store, side Side, text string, now model.Revision) Change {
	if !side.Existed {
		return Change{Forget: &model.ForgetRequest{ID: side.Item, IfMatch: now, Beside: side.Beside}}
	}
	meta := side.Meta
	if side.Op != model.OpForget { // for a new item, fields that the store keeps itself are ignored or needed
		meta = slices.DeleteFunc(slices.Clone(meta), func(f model.Field) bool { return f.ReadOnly })
	}
	return Change{Retain: &model.RetainRequest{ID: side.Item, Content: text, Mode: model.Replace, IfMatch: now, Meta: meta, Binary: asBytes(s, text), Restore: true, Beside: side.Beside}}
}

// Reverse is the change that restores an item to its state before entry e's change, which left the item at
// revision after; NotFound where e keeps no such state, Unsupported where it cannot be restored.
func (k *Keeper) Reverse(s model.Store, e Entry, item string, after model.Revision) (Change, error) {
	sides := e.AllSides()
	i := slices.IndexFunc(sides, func(side Side) bool { return side.Item == item && side.After == after && side.Existed })
	if i < 0 || after == "" {
		return Change{}, model.Errorf(model.NotFound, "undo", "%s keeps no such text", e.ID)
	}
	if sides[i].Obstacle != "" {
		return Change{}, model.Errorf(model.Unsupported, "", "%s", sides[i].Obstacle)
	}
	_, body, err := k.Read(e.ID)
	if err != nil {
		return Change{}, err
	}
	return reverse(s, sides[i], Entry{Sides: sides}.Bodies(body)[i], after), nil
}

// asBytes reports whether a text can only be restored as bytes, where the store accepts those.
func asBytes(s model.Store, text string) bool {
	return s.Features[FeatureBinary] && (text == "" || !utf8.ValidString(text))
}

// restoreTogether restores what several changes displaced. Sides that are unchanged are left alone, so an
// entry of an interrupted act works too.
func (k *Keeper) restoreTogether(ctx context.Context, s model.Store, e Entry, body string) (Restored, error) {
	out := Restored{Item: e.Item, Store: e.Store}
	var changes []Change
	texts := e.Bodies(body)
	for i := len(e.Sides) - 1; i >= 0; i-- {
		side := e.Sides[i]
		now, done, err := side.stands(ctx, s)
		if err != nil {
			return out, err
		}
		if !done {
			continue
		}
		changes = append(changes, reverse(s, side, texts[i], now))
	}
	if len(changes) == 0 {
		return out, k.unmade(e, &out)
	}
	res, again, err := k.together(ctx, s, Entry{Side: Side{Op: e.Op}, Undoes: !e.Undoes}, changes)
	out.Again = again
	if err != nil {
		return out, err
	}
	out.Result = res[len(res)-1]
	for i, c := range changes {
		if c.Retain != nil && c.Retain.Beside != nil && c.Retain.Beside.Left != "" { // relations come back in finish
			out.Warnings = append(out.Warnings, res[i].Warnings...)
		}
	}
	first := changes[len(changes)-1]
	out.Removed = first.Forget != nil && first.Forget.ID == e.Item
	return out, k.finish(ctx, s, e, &out)
}
