package origin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/quarantine"
	"memdesk/quarantine/review"
	"memdesk/quarantine/signal"
)

// Rules configure how a gate judges writes and what it records.
type Rules struct {
	Ledger *Ledger
	Shelf  *Shelf
	Clock  clock.Clock
	// Default is the writer of changes without one: the operator of the session.
	Default Writer
	// ReviewAll holds back every untrusted write, not only those to tiers whose text is loaded as
	// instructions.
	ReviewAll bool
	// Suspect judges a write by its words and its context; nil: no write is held for them.
	Suspect func(ctx context.Context, w review.Write) review.Verdict
	// Names reports whether texts name an erased person, for whom no row is kept: an erasure forgets items by
	// their ids, and its process may die before it cleans the ledger. Nil: nobody is erased. On an error
	// nothing is recorded.
	Names func(texts ...string) (bool, error)
	// Note receives what could not be recorded in the ledger; nil drops it.
	Note func(problem string)
}

// HeldError refuses a write that waits for an operator.
type HeldError struct {
	Entry, Category, Pattern string
}

// Error names the verdict.
func (e *HeldError) Error() string { return e.Unwrap().Error() }

// Unwrap is the plain refusal, for callers that do not know held writes.
func (e *HeldError) Unwrap() error {
	return model.Refuse("retain", fmt.Sprintf("held for review (%s / %s): `memdesk quarantine list` shows it", e.Category, e.Pattern))
}

// Gate records the writer of every Retain and Forget, and holds back an agent's write that a scanner rejects
// or that needs trust. It lies inside the gate of erasure, so that nothing about an erased person is kept.
func Gate(r Rules) model.Middleware {
	r.Clock = clock.Or(r.Clock)
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Retain == nil && (c.Forget == nil || c.Forget.ID == "") {
			return next(ctx)
		}
		if c.Forget != nil {
			if held, err := r.Shelf.holds(ctx, c.Store, c.Forget.ID); err != nil {
				return err
			} else if held {
				return next(ctx) // no item goes
			}
		}
		w, named := From(ctx)
		if !named {
			w = r.Default
		}
		id, created, was := c.ID, false, (*model.Item)(nil)
		if c.Retain != nil {
			if id == "" && c.Store.Address != nil {
				id, _ = c.Store.Address(*c.Retain) // the store itself refuses a bad address
			}
			item, absent, err := before(ctx, c.Store, id)
			if err != nil {
				return err
			}
			was, created = item, absent || c.Retain.IfMatch == model.Absent
			if review.HeldID(id) && (w.Agent || w.Face == Contract) { // a forget of the held write would mean the item
				return model.Errorf(model.InvalidInput, "retain", "%q is the form of a held write's id: give the item another one", id)
			}
			if w.Agent {
				if err := r.review(ctx, c, id, w, was); err != nil {
					return err
				}
			}
		}
		err := next(ctx)
		if err == nil || !model.Unchanged(err) {
			r.note(ctx, c, id, created, was, w, err)
		} else if c.Retain != nil && w.Agent && errors.Is(err, model.InvalidInput) {
			err = r.rejected(ctx, c, id, w, err)
		}
		return err
	}
}

// before reads the item that a write changes; nil when it does not exist, or when the store cannot show it. absent says
// that it does not exist: a takeback removes an item that a write created.
func before(ctx context.Context, s *model.Store, id string) (was *model.Item, absent bool, err error) {
	if id == "" || s.Browser == nil {
		return nil, id == "" && s.Address != nil, nil // without an address the store makes a new item
	}
	it, err := s.Browser.Read(ctx, id)
	switch {
	case err == nil:
		return &it, false, nil
	case model.KindOf(err).Retryable():
		return nil, false, err
	}
	return nil, errors.Is(err, model.NotFound), nil // the store itself reports a bad id
}

// scanned is the scanner's verdict on what a write adds to an item: its text, its fields, its id or key. text is the
// item's text afterwards, and fields are the new or changed ones, the subject's tag among them.
func scanned(req model.RetainRequest, id string, was *model.Item) (v quarantine.Verdict, hit bool, text string, fields []model.Field) {
	old, text := "", req.Content
	if was != nil {
		old = was.Body
	}
	if req.Mode == model.Append {
		text = old + text
	}
	if v, hit := quarantine.Scan(text); hit && len(quarantine.Added(old, text)) > 0 {
		return v, true, text, nil
	}
	meta := req.Meta
	if req.DataSubjectID != "" {
		meta = append(slices.Clone(meta), model.Field{Name: "subject", Value: req.DataSubjectID})
	}
	for _, f := range meta {
		if was != nil && slices.ContainsFunc(was.Meta, func(have model.Field) bool { return have.Name == f.Name && have.Value == f.Value }) {
			continue
		}
		for _, part := range []string{f.Value, f.Name} { // a store may keep any name, and give it to its readers
			if v, hit := quarantine.Scan(part); hit {
				return v, true, text, nil
			}
		}
		fields = append(fields, f)
	}
	v, hit = quarantine.Scan(cmp.Or(id, req.Key))
	return v, hit, text, fields
}

// review holds back a write that an operator must see first.
func (r Rules) review(ctx context.Context, c *model.Call, id string, w Writer, was *model.Item) error {
	v, hit, text, fields := scanned(*c.Retain, id, was)
	if hit {
		return r.hold(c, id, w, v.Category, v.Pattern)
	}
	tier := c.Retain.Tier
	if was != nil {
		tier = was.Tier
	}
	if tier == "" && id != "" {
		tier = tierOf(c.Store, id)
	}
	if w.Trust != Trusted && (r.ReviewAll || Instructs(tier) || instructs(id, c.Retain.Key) || loadsItself(text)) {
		if t, ok := c.Store.Tier(tier); ok && !t.Writable {
			return model.Errorf(model.PermissionDenied, "retain", "tier %s is written by its own writer only", t.Name)
		}
		return r.hold(c, id, w, CategoryOrigin, PatternOrigin)
	}
	if r.Suspect != nil {
		v := r.Suspect(ctx, review.Write{Store: *c.Store, Tier: tier, ID: id, Key: c.Retain.Key, Text: c.Retain.Content, Becomes: text,
			Fields: fields, Was: was, Trusted: w.Trust == Trusted, History: history{r, c.Store, w}})
		if v.Waits {
			return r.hold(c, id, w, CategorySignals, v.Pattern, v.Score.Signals...)
		}
	}
	return nil
}

// history holds the ledger's entries for the writer of one write.
type history struct {
	rules  Rules
	store  *model.Store
	writer Writer
}

// Vouched implements review.History. A store's own word on its items' writers vouches for nothing.
func (h history) Vouched(it model.Item) bool {
	if h.rules.Ledger == nil {
		return false
	}
	r, ok := h.rules.Ledger.Current(h.store.Name, it.ID, it.Revision)
	return ok && r.Trust == Trusted
}

// Lately implements review.History.
func (h history) Lately(within time.Duration) int {
	if h.rules.Ledger == nil {
		return 0
	}
	return h.rules.Ledger.lately(h.writer, h.rules.Clock.Now().Add(-within))
}

// tierOf guesses the tier of a new item from its id: its name, else the nearest folder with a tier's name.
func tierOf(s *model.Store, id string) string {
	parts := strings.Split(id, "/")
	base := parts[len(parts)-1]
	parts = append(parts[:len(parts)-1], strings.TrimSuffix(base, ".md"), base)
	for _, name := range slices.Backward(parts) {
		if t, ok := s.Tier(name); ok {
			return t.Name
		}
	}
	return base
}

// rejected holds a text that the store's own scanner refused.
func (r Rules) rejected(ctx context.Context, c *model.Call, id string, w Writer, refusal error) error {
	was, _, err := before(ctx, c.Store, id)
	if err != nil || was == nil {
		return refusal
	}
	if v, hit := quarantine.Scan(was.Body + c.Retain.Content); hit && c.Retain.Mode == model.Append {
		return r.hold(c, id, w, v.Category, v.Pattern)
	}
	return refusal
}

func (r Rules) hold(c *model.Call, id string, w Writer, category, pattern string, signals ...signal.Signal) error {
	h, err := r.Shelf.Put(Held{Store: c.Store.Name, Request: *c.Retain, Item: id, Category: category, Pattern: pattern, Signals: signals, Writer: w, At: r.Clock.Now().UTC()})
	if errors.Is(err, model.RateLimited) || errors.Is(err, model.InvalidInput) {
		return err
	}
	if err != nil {
		return model.Errorf(model.Unavailable, "retain", "the text needs a review and cannot be kept for it; nothing was written")
	}
	return &HeldError{h.ID, category, pattern}
}

// note records the writer of a change, and of one that may have been made: err is nil or leaves that open.
func (r Rules) note(ctx context.Context, c *model.Call, id string, created bool, before *model.Item, w Writer, err error) {
	row := Row{Store: c.Store.Name, ID: id, Revision: model.Absent, Created: created, Writer: w, At: r.Clock.Now().UTC()}
	switch {
	case c.Retained != nil:
		row.ID, row.Revision = c.Retained.ID, c.Retained.Revision
		if id == "" && c.Retain.Mode == model.Append && !c.Store.Deviates("R06") && c.Retained.Bytes == int64(len(c.Retain.Content)) {
			row.Created = true // nothing stood before the addition (R06, R16)
		}
	case err != nil:
		row.Revision = ""
	case c.Forgot == nil || c.Forgot.Removed == 0:
		return
	}
	if row.ID == "" {
		return // the store gives no handle, so nobody could ask for it
	}
	if c.Retained != nil {
		switch was, stays, known := r.author(ctx, c, row, before); {
		case stays && !known:
			return // the newest row is of another revision: the writer is unknown, or known to the store
		case stays:
			row.Created, row.Writer, row.At = was.Created, was.Writer, was.At
			w = was.Writer
		case c.Retain.Mode == model.Append && !row.Created && !r.trusted(c.Store, before):
			row.Trust = Untrusted // whoever adds to a text has not vouched for it
		}
	}
	if r.Names != nil {
		switch named, err := r.Names(row.ID, w.Actor, w.Client, w.Version, w.Session, w.Detail); {
		case err != nil:
			r.say("the writer of an item of " + row.Store + " could not be noted: " + err.Error())
			return
		case named:
			return
		}
	}
	if err := r.Ledger.Append(row); err != nil {
		r.say("the writer of " + row.Store + ":" + model.EncodeID(row.ID) + " could not be noted: " + err.Error())
	}
}

// trusted reports whether an item's text is a trusted writer's; nil is an item that the store cannot show.
func (r Rules) trusted(s *model.Store, it *model.Item) bool {
	if it == nil {
		return false
	}
	was := Known(r.Ledger, *s, *it)
	return was != nil && was.Trust == Trusted
}

// author is the writer of a text that a change brings back, passes on or redacts: such a change makes nobody the
// writer, and nobody's text trusted. stays is false for any other change. The redaction of an untrusted caller is a text
// of its own: it may say anything.
func (r Rules) author(ctx context.Context, c *model.Call, row Row, before *model.Item) (was Row, stays, known bool) {
	if w, ok := ctx.Value(passedKey{}).(*Written); ok {
		if w == nil {
			return Row{}, true, false
		}
		was = w.Row
		was.Created = row.Created
		return was, true, true
	}
	if ctx.Value(restoringKey{}) != nil {
		was, known, err := r.Ledger.wrote(row.Store, row.ID, row.Revision)
		if err != nil {
			r.say("the writer of an earlier text of " + row.Store + " could not be read: " + err.Error())
		}
		return was, true, known
	}
	if !c.Retain.Erase || row.Trust != Trusted {
		return Row{}, false, false
	}
	if before != nil {
		if w := Known(r.Ledger, *c.Store, *before); w != nil {
			return w.Row, true, true
		}
	}
	return Row{}, true, false
}

func (r Rules) say(problem string) {
	if r.Note != nil {
		r.Note(problem)
	}
}
