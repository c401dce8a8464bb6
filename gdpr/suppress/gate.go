package suppress

import (
	"context"
	"errors"
	"hash/maphash"
	"unicode/utf8"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// Gate refuses to retain what names a suppressed person: in the content, the
// metadata, the id or the subject, and in what an append makes of the end of the item
// and the text that is added. Undo, copies, conflict resolution and the release of a
// quarantine all come through Retain. A list that cannot be read refuses everything,
// because nobody can say who is on it.
func Gate(l *List) model.Middleware {
	turn := newTurns()
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Retain == nil {
			return next(ctx)
		}
		ix, found, err := l.named(*c.Retain)
		switch {
		case err != nil:
			return model.Refuse("retain", err.Error())
		case len(found) > 0:
			return refuse(found[0])
		}
		id := extended(ix, c)
		if id == "" {
			return next(ctx)
		}
		done, err := turn.wait(ctx, c.Store.Name+"\x00"+id)
		if err != nil {
			return err
		}
		defer done()
		return judged(ctx, ix, c, id, next)
	}
}

// Judge says why the gate would refuse a Retain, whatever stands in the store; empty
// where it names nobody who is suppressed, and where the list cannot be read now.
func (l *List) Judge(req model.RetainRequest) string {
	_, found, err := l.named(req)
	if err != nil || len(found) == 0 {
		return ""
	}
	return reason(found[0])
}

// named gives the suppressed persons whom a Retain names, and the index they are from.
func (l *List) named(req model.RetainRequest) (*Index, []Match, error) {
	texts := []string{req.Content, req.ID, req.Key, req.DataSubjectID}
	for _, f := range req.Meta {
		texts = append(texts, f.Value, f.Name)
	}
	ix, err := l.Now()
	if err != nil {
		return nil, nil, err
	}
	return ix, ix.Find(false, texts...), nil
}

// appendTries bounds how often an append is judged anew because another process was
// faster.
const appendTries = 64

// judged lets an append through to exactly the text that it was judged with: the turns
// are of this process, and half a name may come from another one in between. A caller
// with an expectation of its own hears of the change; for one without the text is
// judged again. Where a store tells no revisions, the look before it is all there is.
func judged(ctx context.Context, ix *Index, c *model.Call, id string, next func(context.Context) error) error {
	own := c.Retain.IfMatch
	defer func() { c.Retain.IfMatch = own }()
	var tried model.Revision
	var conflict error
	for range appendTries {
		now := model.Absent
		switch it, err := c.Store.Browser.Read(ctx, id); {
		case err == nil:
			if found := ix.across(it.Body, c.Retain.Content); len(found) > 0 {
				return refuse(found[0])
			}
			now = it.Revision
		case model.KindOf(err).Retryable():
			return err // what the text would be cannot be said
		case model.KindOf(err) != model.NotFound: // no text to which one could be added: the store says so
			return next(ctx)
		}
		switch {
		case own != "" || now == "":
			return next(ctx)
		case conflict != nil && now == tried: // something else than another writer forbids it
			return conflict
		}
		c.Retain.IfMatch, tried = now, now
		if conflict = next(ctx); model.KindOf(conflict) != model.Conflict {
			return conflict
		}
	}
	return model.Errorf(model.Locked, "retain", "others keep writing to it, and nobody could say what the text would be: try again; nothing was written")
}

// Error is the refusal of a text that names a suppressed person.
type Error struct{ Reason string }

// Error gives the reason.
func (e *Error) Error() string { return e.Unwrap().Error() }

// Unwrap is the refusal that it is to those who do not ask for whom.
func (e *Error) Unwrap() error { return model.Refuse("retain", e.Reason+"; nothing was written") }

// Refused reports whether err refuses a text because of a suppressed person.
func Refused(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

func refuse(m Match) error { return &Error{reason(m)} }

func reason(m Match) string {
	return "it names a person who was erased under request " + m.Person.Request
}

// extended is the item to whose text a call adds, where anybody is suppressed; empty
// where it adds to none that could be read.
func extended(ix *Index, c *model.Call) string {
	if c.Retain.Mode != model.Append || ix.Empty() || c.Store == nil || c.Store.Browser == nil {
		return ""
	}
	id := c.Retain.ID
	if id == "" && c.Store.Address != nil {
		id, _ = c.Store.Address(*c.Retain) // a bad address is refused by the store itself
	}
	return id
}

// reach is how much of both sides a name can take up where they meet.
const reach = 2 * subject.MaxTerm

// across gives the persons whom a text names where another one is added to it: an
// append has no separator, so half a name in each is a whole one.
func (x *Index) across(text, added string) []Match {
	text, added = text[max(0, len(text)-reach):], added[:min(len(added), reach)]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	var out []Match
	for _, m := range x.Find(true, text+added) {
		if m.Start < len(text) && m.End > len(text) {
			out = append(out, m)
		}
	}
	return out
}

// turns lets appends to one item go one after the other, so that none is added
// between the look at the text and the write.
type turns struct {
	seed maphash.Seed
	busy [64]chan struct{} // by the hash of the item: there are more items than that
}

func newTurns() *turns {
	t := &turns{seed: maphash.MakeSeed()}
	for i := range t.busy {
		t.busy[i] = make(chan struct{}, 1)
	}
	return t
}

func (t *turns) wait(ctx context.Context, item string) (done func(), err error) {
	at := t.busy[maphash.String(t.seed, item)%uint64(len(t.busy))]
	select {
	case at <- struct{}{}:
		return func() { <-at }, nil
	case <-ctx.Done():
		return nil, model.FromContext(ctx, "retain")
	}
}
