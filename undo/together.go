package undo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"memdesk/model"
)

// The operations of entries that stand for several changes, beside those of one change.
const (
	OpResolve  model.Op = "resolve"
	OpRepair   model.Op = "repair"
	OpRename   model.Op = "rename"
	OpTakeback model.Op = "takeback"
)

// wasResolve is the operation's name in entries of earlier versions.
const wasResolve model.Op = "together"

// Change is one of several changes under one entry: a Retain in replace mode or a Forget, each by ID. Exactly
// one of the two is set.
type Change struct {
	Retain *model.RetainRequest
	Forget *model.ForgetRequest
}

func (c Change) id() string {
	if c.Retain != nil {
		return c.Retain.ID
	}
	return c.Forget.ID
}

func (c Change) expected() model.Revision {
	if c.Retain != nil {
		return c.Retain.IfMatch
	}
	return c.Forget.IfMatch
}

// rollbackTime bounds the rollback of one change when a later one failed.
const rollbackTime = 10 * time.Second

// Together makes several changes of one store, in their order, under one entry that durably keeps everything
// they displace, before the first of them. Every change is bound to the kept revision, or to the one that the
// caller expects: if one item differs, nothing is changed and the error is Conflict. The entry is written
// before the first change and after the last: a crash between them leaves it to the plans to tell which
// changes were made. When a later change is refused, the earlier ones are rolled back; if that fails, the entry stays and the error names it. The
// results are in the changes' order. op names the act in the entry.
func (k *Keeper) Together(ctx context.Context, s model.Store, op model.Op, changes []Change) ([]model.RetainResult, Entry, error) {
	return k.together(ctx, s, Entry{Side: Side{Op: op}}, changes)
}

// keepAll is lookAll, and saves the entry unless it is empty.
func (k *Keeper) keepAll(ctx context.Context, s model.Store, all Entry, changes []Change, left map[int]error) (Entry, string, error) {
	if s.Browser == nil {
		return Entry{}, "", model.Errorf(model.Unsupported, "undo", "the store cannot show its items, so nothing could be kept")
	}
	e, body, err := k.lookAll(ctx, s, all, changes, left)
	if err == nil && len(e.Sides) > 0 {
		e, err = k.save(s, e, body)
	}
	return e, body, err
}

func (k *Keeper) together(ctx context.Context, s model.Store, all Entry, changes []Change) ([]model.RetainResult, Entry, error) {
	e, body, err := k.keepAll(ctx, s, all, changes, nil)
	if err != nil {
		return nil, Entry{}, err
	}
	results := make([]model.RetainResult, len(changes))
	for i, c := range changes {
		var after model.Revision
		results[i], after, err = carryOut(ctx, s, c, e.Sides[i].Before, k.ahead(s, &e, i, body))
		if err != nil {
			e, err = k.takeBack(ctx, s, e, body, i, err)
			return nil, e, err
		}
		e.Sides[i].made(after, results[i])
	}
	e.Item = e.Sides[0].Item
	return results, e, k.confirm(&e, body, model.RetainResult{ID: e.Item, Revision: e.Sides[0].After})
}

// Possible is Together without the rollback: a change that cannot be made stays out, and left says why, by its
// place. The entry holds the others; it is empty where there are none.
func (k *Keeper) Possible(ctx context.Context, s model.Store, op model.Op, changes []Change) (left map[int]error, e Entry, err error) {
	left = map[int]error{}
	e, body, err := k.keepAll(ctx, s, Entry{Side: Side{Op: op}}, changes, left)
	if err != nil {
		return nil, Entry{}, err
	}
	if len(e.Sides) == 0 {
		return left, Entry{}, nil
	}
	texts, made := e.Bodies(body), []Side(nil)
	var kept strings.Builder
	n := -1 // the change's side
	for i, c := range changes {
		if left[i] != nil {
			continue
		}
		n++
		res, after, err := carryOut(ctx, s, c, e.Sides[n].Before, k.ahead(s, &e, n, body))
		if err == nil || model.IsPartial(err) {
			e.Sides[n].made(after, res)
		}
		if err != nil {
			left[i] = err
		}
		if err == nil || !model.Unchanged(err) {
			made = append(made, e.Sides[n])
			kept.WriteString(texts[n])
		}
	}
	if len(made) == 0 {
		return left, Entry{}, k.drop(e.ID)
	}
	e.Sides, e.Item, e.Bytes = made, made[0].Item, int64(kept.Len())
	return left, e, k.confirm(&e, kept.String(), model.RetainResult{ID: e.Item, Revision: made[0].After})
}

// made notes what a side's change left.
func (side *Side) made(after model.Revision, res model.RetainResult) {
	side.After, side.Will = after, ""
	side.named(cmp.Or(res.ID, side.Item))
	if res.Displaced != nil {
		side.Beside = res.Displaced
	}
}

// unmake notes that a side's change was rolled back.
func (side *Side) unmake() {
	side.After, side.Item, side.Was = "", cmp.Or(side.Was, side.Item), ""
}

// carryOut makes one change bound to a revision. ahead may be nil.
func carryOut(ctx context.Context, s model.Store, c Change, before model.Revision, ahead func(string, model.RetainResult) error) (model.RetainResult, model.Revision, error) {
	if c.Retain != nil {
		req := *c.Retain
		req.Unseen = req.Unseen || req.IfMatch == ""
		req.Mode, req.IfMatch, req.Ahead = model.Replace, before, ahead
		res, err := s.Provider.Retain(ctx, req)
		return res, res.Revision, err
	}
	req := *c.Forget
	req.IfMatch = before
	res, err := s.Provider.Forget(ctx, req)
	if err == nil && res.Removed == 0 && before != model.Absent {
		err = model.Errorf(model.Conflict, "forget", "%q is gone; somebody else removed it", req.ID)
	}
	return model.RetainResult{}, model.Absent, err
}

// lookAll completes an entry with the texts that the changes would displace. A change that cannot be made stays
// out, and left says why, by its place, as Untouched; nil: it fails all.
func (k *Keeper) lookAll(ctx context.Context, s model.Store, all Entry, changes []Change, left map[int]error) (Entry, string, error) {
	if len(changes) == 0 {
		return Entry{}, "", model.Errorf(model.InvalidInput, "undo", "there is nothing to change")
	}
	all.Existed = true
	var body strings.Builder
	seen, parts := map[string]bool{}, map[string]bool{}
	for i, c := range changes {
		if c.id() == "" {
			return Entry{}, "", model.Errorf(model.InvalidInput, "undo", "a change without an id cannot be kept with others")
		}
		if seen[c.id()] {
			return Entry{}, "", model.Errorf(model.InvalidInput, "undo", "%q is changed twice", c.id())
		}
		seen[c.id()] = true
		op := model.OpForget
		if c.Retain != nil {
			op = model.OpRetain
		}
		e, text, err := k.look(ctx, s, c.id(), op)
		if err == nil {
			if differs := model.CheckMatch(string(op), c.expected(), e.Existed, e.After); differs != nil {
				err = model.Errorf(model.Conflict, "", "%s: %w", c.id(), differs)
			}
		}
		switch {
		case err != nil && left == nil:
			return Entry{}, "", err
		case err != nil:
			left[i] = &model.Untouched{Err: err}
			continue
		}
		all.related(e, parts)
		side := e.Side
		side.Before, side.After, side.Bytes = e.After, "", int64(len(text))
		if c.Retain != nil {
			side.Plan = digest(s, c.Retain.Content)
		}
		if e.Obstacle != "" && all.Obstacle == "" {
			all.Obstacle = c.id() + ": " + e.Obstacle
		}
		all.Sides = append(all.Sides, side)
		body.WriteString(text)
	}
	if len(all.Sides) > 0 {
		all.Item = all.Sides[0].Item
	}
	return all, body.String(), k.fallTogether(ctx, s, &all, parts)
}

// related adds the relations that may fall with one of several items; have are those that the entry has.
func (e *Entry) related(one Entry, have map[string]bool) {
	for _, p := range one.Parts {
		if !have[p.Item] {
			have[p.Item] = true
			e.Parts = append(e.Parts, p)
			e.PartsTotal++
		}
	}
	e.PartsTotal += one.PartsTotal - int64(len(one.Parts))
	e.Unseated += one.Unseated
}

// fallTogether adds the relations that fall only because several items go.
func (k *Keeper) fallTogether(ctx context.Context, s model.Store, e *Entry, have map[string]bool) error {
	var going []string
	for _, side := range e.Sides {
		if side.Op == model.OpForget && side.Existed {
			going = append(going, side.Item)
		}
	}
	if s.Falls == nil || len(going) == 0 {
		return nil
	}
	falls, err := s.Falls(ctx, going)
	if err != nil {
		return err
	}
	e.Counted = true
	for i, f := range falls {
		if e.Falls = append(e.Falls, f.ID); i >= maxFalls || have[f.ID] {
			continue
		}
		p, _, err := k.part(ctx, s, f.ID)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		e.Parts = append(e.Parts, p)
		e.PartsTotal = max(e.PartsTotal, int64(len(e.Parts)))
	}
	return nil
}

// digest is the SHA-256 of a text. Where a store's texts are JSON objects it does not depend on white space and the order of names:
// the store may show them in a form of its own.
func digest(s model.Store, text string) string {
	if slices.ContainsFunc(s.Tiers, func(t model.TierSpec) bool { return t.Text == model.TextObject }) {
		text = canonical(text)
	}
	return plainDigest(text)
}

func plainDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// planned reports whether a text is that of a plan. Earlier versions made plans of the bytes alone.
func planned(s model.Store, text, plan string) bool {
	return plainDigest(text) == plan || digest(s, text) == plan
}

// canonical is a JSON value without white space, its names sorted; another text as it is.
func canonical(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber() // as written
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	if _, err := d.Token(); err != io.EOF {
		return text
	}
	form, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(form)
}

// Bodies splits an entry's body into those of its sides.
func (e Entry) Bodies(body string) []string {
	out := make([]string, len(e.Sides))
	for i, s := range e.Sides {
		n := min(max(s.Bytes, 0), int64(len(body)))
		out[i], body = body[:n], body[n:]
	}
	return out
}

// anySide calls match for each side as if it were an entry of its own: an erasure by one item's id must also
// find the second side.
func (e Entry) anySide(body string, match func(e Entry, body string) bool) bool {
	for i, text := range e.Bodies(body) {
		one := e
		one.Side, one.Sides = e.Sides[i], nil
		if match(one, text) {
			return true
		}
	}
	return false
}

// takeBack rolls back the changes before the one that failed. Where a rollback fails too, the error has a
// kind of its own: that of the first may say that nothing was changed.
func (k *Keeper) takeBack(ctx context.Context, s model.Store, e Entry, body string, failed int, err error) (Entry, error) {
	if !model.Unchanged(err) {
		_ = k.write(e, body) // only its progress; the texts are saved already
		return e, model.Errorf(model.KindOf(err), "", "%w; whether the change was made is not certain, both texts are kept as undo entry %s", err, e.ID)
	}
	ctx = context.WithoutCancel(ctx)
	texts := e.Bodies(body)
	for i := failed - 1; i >= 0; i-- {
		one, cancel := context.WithTimeout(ctx, rollbackTime)
		_, _, back := carryOut(one, s, reverse(s, e.Sides[i], texts[i], e.Sides[i].After), e.Sides[i].After, nil)
		cancel()
		if back != nil {
			_ = k.write(e, body)
			return e, model.Errorf(model.Internal, "", "%v; %s was changed already and could not be put back (%v): undo entry %s keeps what stood there", err, e.Sides[i].Item, back, e.ID)
		}
		e.Sides[i].unmake()
	}
	if failed == 0 { // nothing fell
		return Entry{}, errors.Join(err, k.drop(e.ID))
	}
	ctx, cancel := context.WithTimeout(ctx, rollbackTime*time.Duration(1+len(e.Parts)))
	defer cancel()
	if _, lost, warnings := restoreParts(ctx, s, e); lost {
		_ = k.write(e, body)
		return e, model.Errorf(model.Internal, "", "%v; not all that fell could be put back (%s): undo entry %s keeps it", err, strings.Join(warnings, "; "), e.ID)
	}
	return Entry{}, errors.Join(err, k.drop(e.ID))
}

// AllSides are the items of an entry, also of one with a single change.
func (e Entry) AllSides() []Side {
	if len(e.Sides) > 0 {
		return e.Sides
	}
	return []Side{e.Side}
}

// FeatureBinary is the flag of stores whose Retain accepts any bytes.
const FeatureBinary = "binary"

// stands reports whether a side's change was made and is still in place. An item in neither its old nor its
// changed state is Conflict.
func (side Side) stands(ctx context.Context, s model.Store) (now model.Revision, done bool, err error) {
	if side.After == "" && side.Was != "" {
		if _, now, err = current(ctx, s, side.Was); err != nil || now == side.Before {
			return now, false, err
		}
	}
	it, now, err := current(ctx, s, side.Item)
	switch {
	case err != nil:
		return "", false, err
	case side.After != "" && now == side.After:
		return now, side.After != side.Before, nil
	case now == side.Before:
		return now, false, nil
	case side.After == "" && side.Op == model.OpForget && now == model.Absent:
		return now, true, nil
	case side.After == "" && side.Will != "" && now == side.Will:
		return now, true, nil
	case side.After == "" && side.Plan != "" && now != model.Absent && planned(s, it.Body, side.Plan):
		return now, true, nil
	}
	return "", false, model.Errorf(model.Conflict, "undo", "%s has changed since: it is at revision %s; compare and write by hand, the entry stays", side.Item, now)
}

// current reads an item and its revision, Absent for no item.
func current(ctx context.Context, s model.Store, id string) (model.Item, model.Revision, error) {
	it, err := s.Browser.Read(ctx, id)
	if errors.Is(err, model.NotFound) {
		return model.Item{}, model.Absent, nil
	}
	return it, it.Revision, err
}
