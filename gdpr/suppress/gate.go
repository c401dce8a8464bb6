package suppress

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/gdpr/subject"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// Gate refuses to retain a text that names a suppressed person: in content, metadata, id or subject, and in
// the joined text of an append. Undo, copies, conflict resolution and the release of a quarantine all use
// Retain. A list that cannot be read refuses everything, because nobody can say who is on it.
func Gate(l *List) model.Middleware {
	turn := newTurns()
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Retain == nil {
			return next(ctx)
		}
		ix, found, err := l.named(ctx, *c.Retain)
		switch {
		case ctx.Err() != nil:
			return model.FromContext(ctx, "retain")
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

// Judge says why the gate would refuse a Retain, without regard to what the store has; empty where it names
// no suppressed person, and where the list cannot be read now.
func (l *List) Judge(req model.RetainRequest) string {
	_, found, err := l.named(context.Background(), req)
	if err != nil || len(found) == 0 {
		return ""
	}
	return reason(found[0])
}

// named returns the suppressed persons that a Retain names, and the index that found them.
func (l *List) named(ctx context.Context, req model.RetainRequest) (*Index, []Match, error) {
	texts := []string{req.Content, req.ID, req.Key, req.DataSubjectID}
	for _, f := range req.Meta {
		texts = append(texts, f.Value, f.Name)
	}
	if b := req.Beside; b != nil {
		for _, line := range b.Lines {
			texts = append(texts, line.Text)
		}
		for _, row := range b.Rows {
			for _, c := range row.Cells {
				if c.Type == model.CellText {
					texts = append(texts, c.Value)
				}
			}
		}
		for _, s := range b.Seats {
			texts = append(texts, s.Relation, s.Role)
		}
	}
	ix, err := l.Now()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, judgeTime)
	defer cancel()
	found, err := ix.find(ctx, false, texts...)
	if err == nil && len(found) == 0 && !ix.Empty() && subject.Opens(req.Content) {
		found, err = ix.inside(ctx, req.Content)
	}
	if err != nil {
		err = model.Errorf(model.Timeout, "retain", "it takes too long to say whether the text names an erased person: shorten it; nothing was written")
	}
	return ix, found, err
}

// judgeTime bounds the search of one Retain, which the deadline of its store does not: the gate stands before
// it. A text can be written so that its encodings cost a hundred times as much as prose.
var judgeTime = time.Minute

// inside returns the persons that a compressed text or an archive names. What cannot be opened names nobody
// here: a verification says so.
func (x *Index) inside(ctx context.Context, content string) (out []Match, err error) {
	look := func(texts ...string) {
		if len(out) == 0 && err == nil {
			out, err = x.find(ctx, false, texts...)
		}
	}
	_, _ = subject.Each(ctx, strings.NewReader(content), func(_ string, leaf io.Reader) error {
		_, err := Pieces(leaf, false, look)
		return err
	}, func(name string) { look(name) })
	return out, cmp.Or(err, model.FromContext(ctx, "retain"))
}

// LogMagic are the first bytes of a write-ahead log and of a rollback journal of SQLite.
var LogMagic = []string{"\x37\x7f\x06\x82", "\x37\x7f\x06\x83", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"}

// IsDatabase reports whether bytes begin a file of SQLite.
func IsDatabase(head string) bool {
	return slices.ContainsFunc(append([]string{"SQLite format 3\x00"}, LogMagic...), func(magic string) bool { return strings.HasPrefix(head, magic) })
}

// Pieces passes bytes to look in pieces that end between words, and reports whether they are a database's, where a
// word may touch the next. rows says that the rows of a database are items: then its bytes are not passed.
func Pieces(r io.Reader, rows bool, look func(...string)) (database bool, err error) {
	const piece, overlap = 1 << 20, 2 * subject.MaxTerm
	b := bufio.NewReaderSize(r, piece)
	head, err := b.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return database, model.E(model.Unavailable, "read", atomicfile.Pathless(err))
	}
	if database = IsDatabase(string(head)); database && rows {
		return true, nil
	}
	var window []byte
	for {
		n := len(window)
		window = append(window, make([]byte, piece)...)
		got, err := io.ReadFull(b, window[n:])
		window = window[:n+got]
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return database, model.E(model.Unavailable, "read", atomicfile.Pathless(err))
		}
		whole := window
		if !end {
			if i := bytes.LastIndexAny(window, " \n\t"); i > len(window)/2 {
				whole = window[:i]
			}
		}
		if look(string(whole)); end {
			return database, nil
		}
		from := max(0, len(whole)-overlap)
		if i := bytes.IndexAny(whole[from:], " \n\t"); i >= 0 {
			from += i
		}
		window = slices.Clone(window[from:])
	}
}

// appendTries bounds how often an append is judged again because another process was faster.
const appendTries = 64

// judged lets an append through only to the text that it was judged with: turns order appends of this
// process, but another process may add half a name in between. A caller with its own IfMatch gets the
// Conflict; for others the text is judged again. Where a store has no revisions, the check before the write
// must do.
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
			return err // the joined text is unknown
		case model.KindOf(err) != model.NotFound: // no text to append to: the store says so
			return next(ctx)
		}
		switch {
		case own != "" || now == "":
			return next(ctx)
		case conflict != nil && now == tried: // the conflict is not another writer
			return conflict
		}
		c.Retain.IfMatch, tried = now, now
		if conflict = next(ctx); model.KindOf(conflict) != model.Conflict {
			return conflict
		}
	}
	return model.Errorf(model.Locked, "retain", "others keep writing to it, and nobody could say what the text would be: try again; nothing was written")
}

// Error refuses a text that names a suppressed person.
type Error struct{ Reason string }

// Error gives the reason.
func (e *Error) Error() string { return e.Unwrap().Error() }

// Unwrap returns the plain refusal, without the person.
func (e *Error) Unwrap() error { return model.Refuse("retain", e.Reason+"; nothing was written") }

// Refused reports whether err refuses a text because it names a suppressed person.
func Refused(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

func refuse(m Match) error { return &Error{reason(m)} }

func reason(m Match) string {
	return "it names a person who was erased under request " + m.Person.Request
}

// extended is the item that a call appends to, if anybody is suppressed; empty if it appends to none that can
// be read.
func extended(ix *Index, c *model.Call) string {
	if c.Retain.Mode != model.Append || ix.Empty() || c.Store == nil || c.Store.Browser == nil {
		return ""
	}
	id := c.Retain.ID
	if id == "" && c.Store.Address != nil {
		id, _ = c.Store.Address(*c.Retain) // the store itself refuses a bad address
	}
	return id
}

// reach is how far a name can extend into each side of a join.
const reach = 2 * subject.MaxTerm

// across returns the persons that the joined text of an append names: it has no separator, so two halves make
// a whole name.
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

// turns serialises appends to one item, so that no other comes between check and write.
type turns struct {
	seed maphash.Seed
	busy [64]chan struct{} // by the hash of the item: there are more items than slots
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
