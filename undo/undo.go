// Package undo keeps what a change displaced until it expires, and restores it through the same Provider that
// changed it. It does not decide what may be changed, and its entries can be erased.
//
// look.go reads what a change would displace, undo.go makes one change and together.go several, restore.go puts back, and
// files.go keeps the entries.
package undo

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"memdesk/internal/clock"
	"memdesk/internal/recalled"
	"memdesk/model"
)

// DefaultKeep is how long an entry is kept.
const DefaultKeep = 30 * 24 * time.Hour

// Entry is one change that can be undone, or several under one act.
type Entry struct {
	ID      string    `json:"undo"`
	Store   string    `json:"store"`
	Where   string    `json:"where"` // identity of the store: its name may later mean another store
	At      time.Time `json:"at"`
	Expires time.Time `json:"expires"`
	// Side is the item of one change. Of several it is the first, with the act's own Op, the bytes of all and an obstacle of any.
	Side
	// Undoes says that the change took back an act of this Op on several items.
	Undoes bool `json:"undoes,omitempty"`
	// Sides are the items of an entry with several changes; the body then holds theirs, one after the other.
	Sides []Side `json:"sides,omitempty"`
	// Renewed are the read-only fields that the store makes anew when the item is restored after a forget
	// (model.TierSpec.Renews).
	Renewed []string `json:"renewed,omitempty"`

	// Parts are items that may fall with this one: the relations of a node.
	Parts []Part `json:"parts,omitempty"`
	// PartsTotal counts all of them, with those beyond Parts.
	PartsTotal int64 `json:"parts_total,omitempty"`
	// Unseated counts the relations that stay and do not get the item back as a member: their places are not in
	// Beside.
	Unseated int64 `json:"unseated,omitempty"`
	// Counted says that the store named the falling ones in Falls, and that Parts has exactly those.
	Counted bool     `json:"counted,omitempty"`
	Falls   []string `json:"falls,omitempty"`
	lost    []string // parts of Falls that Restore cannot restore, with the reason; known only before the act
}

// Side is one item of a change: the state that the change displaces, and what tells whether it was made. The displaced text is the
// entry's body, or a part of it.
type Side struct {
	Item string   `json:"id"`
	Raw  []byte   `json:"raw_id,omitempty"` // the id where it is no UTF-8, in files of earlier versions
	Op   model.Op `json:"op"`
	// Was is the item's id before the change, where the change gives it another. Until the change is confirmed the item has one
	// of the two.
	Was string `json:"was,omitempty"`
	// Existed is false when the change created the item: undoing it removes the item.
	Existed bool          `json:"existed"`
	Bytes   int64         `json:"bytes"` // of the displaced text
	Meta    []model.Field `json:"meta,omitempty"`
	// Beside is the data beside the item's document, without its memberships, which are in Falls.
	Beside *model.Beside `json:"beside,omitempty"`
	// Obstacle says why Restore cannot restore the item, in the program's own words; the bytes are kept all
	// the same.
	Obstacle string `json:"obstacle,omitempty"`

	// Before is the revision before the change; of one change only until it is confirmed.
	Before model.Revision `json:"before,omitempty"`
	// After is the item's revision after the change, Absent after a forget; empty while the change is not
	// confirmed.
	After model.Revision `json:"after,omitempty"`
	// Plan is the SHA-256 of the planned text: after a crash it tells whether that was written.
	Plan string `json:"plan,omitempty"`
	// Will is the revision that the store foretold for a change that is not confirmed; empty where it did not.
	Will model.Revision `json:"will,omitempty"`
}

// Part is an item that fell, or may have fallen, with another.
type Part struct {
	Item   string        `json:"id"`
	Meta   []model.Field `json:"meta,omitempty"`
	Body   string        `json:"body"`
	Beside *model.Beside `json:"beside,omitempty"`
}

// Keeper keeps entries in one directory. It is safe for concurrent use, also by
// several processes.
type Keeper struct {
	dir   string
	keep  time.Duration
	clock clock.Clock
	ready func() error                     // makes the parent; nil: it exists
	judge func(model.RetainRequest) string // see Heed; may be nil
	swept atomic.Pointer[time.Time]
}

// New returns a keeper over dir; ready makes its parent on the first write. keep 0 is DefaultKeep. The first
// write of a keeper sweeps expired entries, and then the first of each hour.
func New(dir string, keep time.Duration, c clock.Clock, ready func() error) *Keeper {
	if keep <= 0 {
		keep = DefaultKeep
	}
	return &Keeper{dir: dir, keep: keep, clock: clock.Or(c), ready: ready}
}

// Heed sets judge, which says why an item could not be written again, empty where it could: the preview of a
// change and its entry repeat that. It must be called before the keeper is used.
func (k *Keeper) Heed(judge func(model.RetainRequest) string) { k.judge = judge }

// tries bounds how often a change without an expected revision is attempted
// while other writers keep changing the item.
const tries = 10

// Retain writes through s and durably keeps the displaced text before the write. A replace is bound to
// exactly the kept revision, so nothing unseen is lost; without IfMatch it is retried when another writer was
// faster. An append is bound too where the store joins texts its own way (R06): the earlier text cannot be cut
// out of the new one there. Where a store cannot show its items the write has no undo, and the entry is zero.
// Where it cannot tell the address of a request without an id, a replace creates only, and an append has no undo.
// An error that leaves open whether the change was made comes with the entry, unconfirmed; a model.Partial comes with
// the result of the part that was made. An erasure has no undo either, and takes earlier entries about its item along.
func (k *Keeper) Retain(ctx context.Context, s model.Store, req model.RetainRequest) (model.RetainResult, Entry, error) {
	res, e, err := k.retain(ctx, s, req)
	var part *model.Partial
	if errors.As(err, &part) {
		res = part.Retained
	}
	return res, e, err
}

func (k *Keeper) retain(ctx context.Context, s model.Store, req model.RetainRequest) (model.RetainResult, Entry, error) {
	if req.Erase {
		res, err := s.Provider.Retain(ctx, req)
		return res, Entry{}, k.erased(err, s, "", cmp.Or(res.ID, req.ID))
	}
	id := req.ID
	addressed := id != ""
	if !addressed && s.Address != nil {
		var err error
		id, err = s.Address(req)
		addressed = err == nil // the store itself refuses a bad address, under the log
	}
	switch {
	case s.Browser != nil && id == "" && s.Address == nil && req.Mode == model.Replace:
		return k.create(ctx, s, req)
	case s.Browser == nil || !addressed || req.Mode.Check() != nil:
		res, err := s.Provider.Retain(ctx, req)
		return res, Entry{}, err
	case id == "": // the store makes a new item: nothing is displaced
		return k.act(ctx, s, Entry{Side: Side{Op: model.OpRetain, After: model.Absent}}, "", req)
	case req.Mode == model.Append && req.IfMatch == "" && !s.Deviates("R06"):
		return k.append(ctx, s, id, req)
	}
	var seen model.Revision
	var conflict error
	for n := 1; ; n++ {
		e, body, err := k.look(ctx, s, id, model.OpRetain)
		if err != nil {
			return model.RetainResult{}, Entry{}, err
		}
		if lasting(conflict, seen, e.After) {
			return model.RetainResult{}, Entry{}, conflict
		}
		bound := req
		bound.IfMatch, bound.Unseen = cmp.Or(bound.IfMatch, e.After), bound.Unseen || bound.IfMatch == ""
		res, e, err := k.rewrite(ctx, s, e, body, bound)
		if !errors.Is(err, model.Conflict) || req.IfMatch != "" || n == tries {
			return res, e, err
		}
		seen, conflict = bound.IfMatch, err
	}
}

// rewrite makes a write. Where the addressed item cannot be put back, it keeps each other item that the write removes: an
// approved proposal removes an entry that it names by a part of its text. The entry about the first of these is
// returned then.
func (k *Keeper) rewrite(ctx context.Context, s model.Store, e Entry, body string, req model.RetainRequest) (model.RetainResult, Entry, error) {
	var others []Entry
	var texts []string
	if s.Rewrites != nil && e.Obstacle != "" {
		ids, err := s.Rewrites(ctx, req)
		if err != nil {
			return model.RetainResult{}, Entry{}, err
		}
		for _, id := range ids {
			o, text, err := k.look(ctx, s, id, model.OpForget)
			if err == nil && o.Existed {
				o, err = k.save(s, o, text)
				others, texts = append(others, o), append(texts, text)
			}
			if err != nil {
				return model.RetainResult{}, Entry{}, err
			}
		}
	}
	res, e, acted := k.act(ctx, s, e, body, req)
	err := acted
	first := true
	for i, o := range others {
		if acted != nil {
			_, err = k.settle(o, err)
			continue
		}
		switch _, gone := s.Browser.Read(ctx, o.Item); {
		case gone == nil:
			err = errors.Join(err, k.drop(o.ID))
		case errors.Is(gone, model.NotFound):
			err = errors.Join(err, k.confirm(&o, texts[i], model.RetainResult{ID: res.ID, Bytes: res.Bytes, Revision: model.Absent, Warnings: res.Warnings}))
			if first {
				e, first = o, false
			}
		}
	}
	return res, e, err
}

// create writes where only the store can tell which item a request names: the text of an item there could not be
// kept, so the request may create only.
func (k *Keeper) create(ctx context.Context, s model.Store, req model.RetainRequest) (model.RetainResult, Entry, error) {
	const unnamed = "this store does not say which item a tier and a key name, so the text there cannot be kept: replace the item by its id"
	if req.IfMatch == "" {
		req.IfMatch = model.Absent
	}
	if req.IfMatch != model.Absent {
		return model.RetainResult{}, Entry{}, model.Errorf(model.Conflict, string(model.OpRetain), unnamed)
	}
	res, e, err := k.act(ctx, s, Entry{Side: Side{Op: model.OpRetain, After: model.Absent}}, "", req)
	if errors.Is(err, model.Conflict) {
		err = model.Errorf(model.Conflict, "", "%w; "+unnamed, err)
	}
	return res, e, err
}

// lasting detects a conflict that a retry cannot solve: the item still has the tried revision, so something
// else forbids the change.
func lasting(conflict error, tried, now model.Revision) bool {
	return conflict != nil && now == tried && now != model.Absent
}

// act saves the entry and makes the write.
func (k *Keeper) act(ctx context.Context, s model.Store, e Entry, body string, req model.RetainRequest) (model.RetainResult, Entry, error) {
	switch {
	case req.Mode == model.Replace:
		e.plan(s, body, req.Content)
	case !s.Deviates("R06"):
		e.plan(s, body, body+req.Content)
	}
	e, err := k.save(s, e, body)
	if err != nil {
		return model.RetainResult{}, Entry{}, err
	}
	req.Ahead = k.ahead(s, &e, 0, body)
	res, err := s.Provider.Retain(ctx, req)
	if err != nil {
		e, err = k.settle(e, err)
		return res, e, err
	}
	e.named(res.ID)
	return res, e, k.confirm(&e, body, res)
}

// ahead keeps the result of a write before it is durable, where the planned text would not tell after a crash whether it was made:
// the store shows it otherwise than it was sent, only the fields change, or the store makes the id. i is the side of the write in an
// entry of several. That entry holds all texts, so it is not written again for the data beside an edit alone.
func (k *Keeper) ahead(s model.Store, e *Entry, i int, body string) func(string, model.RetainResult) error {
	side, several := &e.Side, len(e.Sides) > 0
	if several {
		side = &e.Sides[i]
	}
	return func(text string, res model.RetainResult) error {
		told := side.Item == res.ID && side.Plan != "" && planned(s, text, side.Plan)
		side.named(res.ID)
		side.Will, side.Beside = res.Revision, cmp.Or(res.Displaced, side.Beside)
		if told && (several || res.Displaced == nil) {
			return nil
		}
		return k.writePending(e.pending(), body)
	}
}

// named notes the id that a change gives the item.
func (side *Side) named(id string) {
	if id != side.Item {
		side.Was, side.Item = cmp.Or(side.Was, side.Item), id
	}
}

// append appends without an expected revision, so that all parallel appends survive. The earlier text is the
// new one without the addition. When others have written since, the addition cannot be cut out, and the entry is
// zero; an append displaces nothing.
func (k *Keeper) append(ctx context.Context, s model.Store, id string, req model.RetainRequest) (model.RetainResult, Entry, error) {
	e, body, err := k.look(ctx, s, id, model.OpRetain)
	if err != nil {
		return model.RetainResult{}, Entry{}, err
	}
	e.plan(s, body, body+req.Content)
	if e, err = k.save(s, e, body); err != nil {
		return model.RetainResult{}, Entry{}, err
	}
	res, err := s.Provider.Retain(ctx, req)
	if err != nil {
		e, err = k.settle(e, err)
		return res, e, err
	}
	e.named(res.ID)
	now, err := s.Browser.Read(ctx, res.ID)
	if err != nil || now.Revision != res.Revision || !strings.HasSuffix(now.Body, req.Content) {
		return res, Entry{}, k.drop(e.ID)
	}
	if req.Meta == nil && req.DataSubjectID == "" && e.Existed { // the append left the fields alone: another writer may have set one since the look
		e.Meta = now.Meta
	}
	before := strings.TrimSuffix(now.Body, req.Content)
	e.Existed = e.Existed || before != ""
	e.Bytes = int64(len(before))
	return res, e, k.confirm(&e, before, res)
}

// Forget removes one item through s and durably keeps it before it goes. An absent item is Removed 0 and a
// zero entry. An erasure and a request for a data subject have no undo and go straight through, because they must
// leave no copies; an erasure takes earlier entries about its item, or its person, along.
func (k *Keeper) Forget(ctx context.Context, s model.Store, req model.ForgetRequest) (model.ForgetResult, Entry, error) {
	if req.Erase {
		res, err := k.erase(ctx, s, req)
		return res, Entry{}, err
	}
	if req.CheckSelectors() != nil || req.DataSubjectID != "" || s.Browser == nil && !recalled.Only(s) {
		res, err := s.Provider.Forget(ctx, req)
		return res, Entry{}, err
	}
	if s.Browser == nil {
		return k.forgetRecalled(ctx, s, req)
	}
	var seen model.Revision
	var conflict error
	for n := 1; ; n++ {
		e, body, err := k.look(ctx, s, req.ID, model.OpForget)
		if err != nil {
			return model.ForgetResult{}, Entry{}, err
		}
		if lasting(conflict, seen, e.After) {
			return model.ForgetResult{}, Entry{}, conflict
		}
		if !e.Existed {
			// The store answers by its own rules about an item that was not seen. One that exists by now must not go
			// unseen: an impossible revision makes that a conflict.
			unseen := req
			unseen.IfMatch = cmp.Or(req.IfMatch, neverSeen)
			res, err := s.Provider.Forget(ctx, unseen)
			if errors.Is(err, model.Conflict) && req.IfMatch == "" && n < tries {
				continue // created meanwhile: look again
			}
			return res, Entry{}, err
		}
		bound := req
		// A quarantine entry has no revision to expect: it is immutable, named by the hash of its content.
		if bound.IfMatch == "" && e.After != model.Absent {
			bound.IfMatch = e.After
		}
		res, e, err := k.forget(ctx, s, e, body, bound)
		if !errors.Is(err, model.Conflict) || req.IfMatch != "" || n == tries {
			return res, e, err
		}
		seen, conflict = bound.IfMatch, err
	}
}

// erase removes without an undo. The items of a person are asked for before they go: afterwards nothing tells them.
func (k *Keeper) erase(ctx context.Context, s model.Store, req model.ForgetRequest) (model.ForgetResult, error) {
	items := []string{req.ID}
	if req.DataSubjectID != "" {
		var err error
		if items, err = concerning(ctx, s, req.DataSubjectID); err != nil {
			return model.ForgetResult{}, err
		}
	}
	res, err := s.Provider.Forget(ctx, req)
	return res, k.erased(err, s, req.DataSubjectID, items...)
}

// erased drops the entries about what an erasure removed, or may have removed: once it has, the next call does not
// find the items of a person any more. err is the store's answer.
func (k *Keeper) erased(err error, s model.Store, person string, items ...string) error {
	if err != nil && model.Unchanged(err) {
		return err
	}
	return errors.Join(err, k.dropAbout(s, person, items...))
}

// concerning lists the items that the store ties to a person, and those that fall with them.
func concerning(ctx context.Context, s model.Store, person string) (items []string, err error) {
	if s.Subjects == nil {
		return nil, nil
	}
	err = s.Subjects.Concerning(ctx, []string{person}, func(h model.SubjectHit) bool {
		if h.Called == "" {
			items = append(items, h.ID)
		}
		return true
	})
	if err != nil || s.Falls == nil || len(items) == 0 {
		return items, err
	}
	falls, err := s.Falls(ctx, items)
	for _, f := range falls {
		items = append(items, f.ID)
	}
	return items, err
}

// forgetRecalled removes an item of a store that shows items only by recall. Its recalled text is kept for
// reading and cannot be restored.
func (k *Keeper) forgetRecalled(ctx context.Context, s model.Store, req model.ForgetRequest) (model.ForgetResult, Entry, error) {
	it, err := recalled.Read(ctx, s, req.ID)
	switch {
	case errors.Is(err, model.NotFound), errors.Is(err, model.Unsupported): // the store may have it all the same
		res, err := s.Provider.Forget(ctx, req)
		return res, Entry{}, err
	case err != nil:
		return model.ForgetResult{}, Entry{}, err
	}
	e := Entry{Side: Side{Item: req.ID, Op: model.OpForget, After: model.Absent, Existed: true, Meta: it.Meta, Obstacle: recalled.Obstacle}}
	return k.forget(ctx, s, e, it.Body, req)
}

// neverSeen is no revision of any item.
const neverSeen model.Revision = "never-seen"

func (k *Keeper) forget(ctx context.Context, s model.Store, e Entry, body string, req model.ForgetRequest) (model.ForgetResult, Entry, error) {
	e, err := k.save(s, e, body)
	if err != nil {
		return model.ForgetResult{}, Entry{}, err
	}
	res, err := s.Provider.Forget(ctx, req)
	if err != nil {
		e, err = k.settle(e, err)
		return res, e, err
	}
	if res.Removed == 0 {
		return res, Entry{}, k.drop(e.ID)
	}
	return res, e, k.confirm(&e, body, model.RetainResult{ID: e.Item, Revision: model.Absent})
}

// Fell counts, by looking, the relations that went with the forgotten item: one that has a new member
// meanwhile remains.
func (e Entry) Fell(ctx context.Context, s model.Store) (n int64, err error) {
	if e.After != model.Absent {
		return 0, nil
	}
	for _, id := range e.Falls {
		switch _, err := s.Browser.Read(ctx, id); {
		case errors.Is(err, model.NotFound):
			n++
		case err != nil:
			return n, err
		}
	}
	return n, nil
}

// settle handles an entry whose change failed: it is removed when the error proves that nothing was changed,
// else it stays, unconfirmed.
func (k *Keeper) settle(e Entry, err error) (Entry, error) {
	if model.Unchanged(err) {
		return Entry{}, errors.Join(err, k.drop(e.ID))
	}
	e.After = ""
	return e, model.Errorf(model.KindOf(err), "", "%w; whether the change was made is not certain, what stood there is kept as undo entry %s", err, e.ID)
}

// plan keeps the hash of the text that a change writes. One that leaves the text as it is cannot be told by it.
func (e *Entry) plan(s model.Store, before, after string) {
	if after != before {
		e.Plan = digest(s, after)
	}
}
