package gdpr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// Found is an item that concerns the subject.
type Found struct {
	Item    model.Item
	Layer   string   // item, edge, quarantine
	Tagged  bool     // by a key of the store, or a field that names the item's subject
	Derived bool     // made from an item of the subject
	Named   []string // where the name is: id, body, metadata
	Alias   bool     // an alias only, not the id
	Methods []subject.Method
	Others  []string // other persons it is tagged with
	Members []string // members of an archive that name the subject
	Reason  string
}

// The layers of found items.
const (
	layerItem       = "item"
	layerEdge       = "edge"
	layerQuarantine = "quarantine"
	layerLink       = "link" // another name of a file
)

func layerOf(it model.Item) string {
	if it.Has(model.FlagEdge) {
		return layerEdge
	}
	return layerItem
}

// search is one pass over one store.
type search struct {
	// What it is asked.
	store      model.Store
	m          *subject.Matcher
	lean       bool                       // found items are kept without their text
	othersOnly bool                       // the caller wants the bystanders alone: no item is found
	held       func(id string) string     // the ground of a hold, empty for none; nil: holds are not known
	holds      storeHolds                 // of all requests; empty where nobody asks
	isAttested func(id, body string) bool // a person attested exactly this body; nil: no item is attested
	chosen     map[string]Action          // by id: the operator's choices against the policy

	// What it found of the subject.
	found    []Found
	reasons  map[string][]string // by id: the store's reasons, from Subjects
	proposed *proposals          // names among the items of Subjects
	lists    map[string]bool     // indexes that name the subject in lines of items on hold alone

	// What it learned of the store.
	bystanders *subject.Bystanders
	items      int64               // looked at
	bytes      int64               // of them
	seen       map[string]bool     // known ids, present or planned
	children   map[string][]string // parent → children, by the store's own parent fields
	holding    map[string]bool     // the items on hold among those looked at

	// What it could not look at.
	problems  []string
	closed    []string // items that hold what could not be opened, and what
	shutItems int
	looked    int64           // items that could not be opened and are attested
	heldShut  map[string]bool // on hold, and could not be opened or read
}

// findLean runs a search and keeps no text: for callers that read each item once more, one at a time.
func findLean(ctx context.Context, s model.Store, m *subject.Matcher) (*search, error) {
	q := newSearch(s, m)
	q.lean = true
	return q.run(ctx, nil)
}

func newSearch(s model.Store, m *subject.Matcher) *search {
	return &search{store: s, m: m, bystanders: &subject.Bystanders{}, proposed: &proposals{m: m, store: s.Name}, children: map[string][]string{}, reasons: map[string][]string{},
		seen: map[string]bool{}, heldShut: map[string]bool{}, holding: map[string]bool{}, lists: map[string]bool{}}
}

// search prepares a search that knows what is on hold.
func (d *Desk) search(s model.Store, m *subject.Matcher) (q *search, err error) {
	q = newSearch(s, m)
	q.holds, err = d.holdsIn(&s)
	return q, err
}

// run looks at every item the store can show: hidden, archived, edges,
// quarantine. An item that could not be looked at is a problem, never left out.
func (q *search) run(ctx context.Context, step func(int64)) (*search, error) {
	s, m := q.store, q.m
	if s.Subjects != nil {
		err := s.Subjects.Concerning(ctx, m.Terms(), func(h model.SubjectHit) bool {
			if h.Called != "" {
				q.proposed.take(h.Reason, strings.TrimSpace(h.Called))
				return true
			}
			q.reasons[h.ID] = append(q.reasons[h.ID], h.Reason)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	if s.Browser == nil && !recallOnly(s) {
		return q, nil // nothing can be found or removed: the store is named as out of reach
	}
	if recallOnly(s) {
		err := q.recalled(ctx)
		slices.SortFunc(q.found, byID)
		return q, err
	}
	if err := q.sift(ctx, step); err != nil {
		return nil, err
	}
	if err := q.beneath(ctx); err != nil {
		return nil, err
	}
	if q.othersOnly { // the quarantine has none
		return q, nil
	}
	if err := q.quarantine(ctx); err != nil {
		return nil, err
	}
	q.found = slices.DeleteFunc(q.found, func(f Found) bool { return q.explained(ctx, f) })
	if err := q.keepIndexLines(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(q.found, byID)
	q.problems = slices.DeleteFunc(q.problems, func(p string) bool { return isLink(s, p) })
	return q, nil
}

// isLink reports whether a store's problem is a symbolic link. A link holds no text: a target in the store is
// searched under its own name, and the layer of the link's name says that it leads elsewhere.
func isLink(s model.Store, problem string) bool {
	return s.Maintainer != nil && strings.HasSuffix(problem, model.LinkProblem)
}

// unread notes an item that the store would not give. An error that makes the rest unknown too is returned.
func (q *search) unread(ctx context.Context, id string, err error) error {
	switch {
	case ctx.Err() != nil:
		return model.FromContext(ctx, "discover")
	case model.KindOf(err).Retryable():
		return err // the store went away
	case errors.Is(err, model.ErrLink):
		return nil
	case q.isHeld(id):
		q.heldShut[id] = true
		return nil
	case q.isAttested != nil && q.isAttested(id, ""):
		q.looked++
		return nil
	}
	why := string(model.KindOf(err))
	if errors.Is(err, model.Unsupported) { // the reason says how it ends
		why = model.Reason(err)
	}
	q.problems = append(q.problems, q.m.Redact("item "+id+" cannot be read: "+why, Erased))
	return nil
}

// note keeps what an item tells about other items, whether it concerns the subject or not. near is false
// where the item contains no word of the subject.
func (q *search) note(id, body string, meta []model.Field, near bool) {
	for _, f := range meta {
		if parentField(f.Name) && f.Value != "" {
			q.children[f.Value] = append(q.children[f.Value], id)
		}
	}
	if !near {
		return
	}
	if strings.IndexByte(body, 0) < 0 || wide(body) { // a record cannot explain its own bytes
		q.bystanders.Add(q.m, body)
	}
	for _, f := range meta {
		q.bystanders.Add(q.m, f.Value)
	}
	q.bystanders.Add(q.m, id)
}

// mark notes an item that is on hold.
func (q *search) mark(id string) {
	if q.holds.any.exists() && q.holds.by(id) != "" {
		q.holding[id] = true
	}
}

// beneath searches the rows that Read does not show. An item is found by a row that names the subject; the rows of one
// on hold are kept with it.
func (q *search) beneath(ctx context.Context) error {
	if q.store.Maintainer == nil {
		return nil
	}
	named := map[string]bool{}
	_, err := q.store.Maintainer.Scrub(ctx, model.ScrubRequest{Dry: true, Held: slices.Sorted(maps.Keys(q.holding)), SideRows: func(row model.SideRow) {
		for _, c := range row.Cells {
			if q.m.Near(c.Words) {
				q.bystanders.Add(q.m, c.Words)
			}
			if len(row.Of) == 0 || !q.m.NamesBytes([]byte(c.Words)) {
				continue
			}
			if slices.ContainsFunc(row.Of, func(id string) bool { return q.holding[id] }) {
				q.bystanders.Keep(q.m, c.Words)
			}
			if slices.ContainsFunc(row.Of, func(id string) bool { return !named[id] }) && concerns(q.m, q.bystanders)([]byte(c.Words)) {
				for _, id := range row.Of {
					named[id] = true
				}
			}
		}
	}})
	switch {
	case err != nil && ctx.Err() != nil:
		return model.FromContext(ctx, "discover")
	case q.othersOnly:
		return err
	case err != nil:
		q.problems = append(q.problems, "the rows beneath its items cannot be read: "+string(model.KindOf(err)))
	}
	for _, f := range q.found {
		delete(named, f.Item.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		it, err := q.store.Browser.Read(ctx, id)
		switch {
		case errors.Is(err, model.NotFound): // rows without an item
		case err != nil:
			if err := q.unread(ctx, id, err); err != nil {
				return err
			}
		default:
			q.look(it, namedBeside)
		}
	}
	return nil
}

// namedBeside is the place of an item that only rows beneath it name.
const namedBeside = "rows that its text does not show"

// explained reports whether an item was found only by a bystander's word in bytes that are no text. All bystanders are
// known after the search alone.
func (q *search) explained(ctx context.Context, f Found) bool {
	loose := slices.Contains(f.Methods, subject.Embedded) || slices.Contains(f.Methods, subject.Archive)
	if !loose || f.Tagged || !slices.Equal(f.Named, []string{"body"}) || f.Layer == layerQuarantine {
		return false
	}
	if q.lean {
		var err error
		if f.Item, err = q.store.Browser.Read(ctx, f.Item.ID); err != nil {
			return false
		}
	}
	return !concerns(q.m, q.bystanders)([]byte(f.Item.Body))
}

// concerns returns Matcher.NamesBytes for records beside those of bystanders: a longer word of one is no identifier.
func concerns(m *subject.Matcher, bystanders *subject.Bystanders) func(record []byte) bool {
	return func(record []byte) bool {
		if !m.NamesBytes(record) {
			return false
		}
		rep, err := m.Scan(context.Background(), bytes.NewReader(record), bystanders) // in memory: nothing can block
		return err != nil || rep.Hits+rep.Kept+rep.Alike > 0
	}
}

func wide(body string) bool {
	_, _, ok := subject.Plain([]byte(body))
	return ok
}

// look decides whether an item concerns the subject, and why; named are places beside it that are known to name the
// subject.
func (q *search) look(it model.Item, named ...string) {
	if q.othersOnly {
		return
	}
	f := Found{Item: it, Layer: layerOf(it), Named: named}
	own := q.reasons[it.ID]
	if f.Tagged = len(own) > 0; f.Tagged {
		q.proposed.add(it)
	}
	hit := func(where, text string) bool {
		hits := q.m.Text(text)
		if where == "body" && raw(it) {
			hits = q.m.Bytes([]byte(text))
		}
		for _, h := range hits {
			f.Alias = f.Alias || h.Term > 0
			f.Methods, f.Named = including(f.Methods, h.Method), including(f.Named, where)
		}
		return len(hits) > 0
	}
	hit("body", it.Body)
	var closed []string
	f.Members, closed = q.m.Inside(it.Body)
	q.shut(it.ID, it.Body, closed)
	hit("id", it.ID)
	for _, m := range it.Meta {
		if !hit(m.Name, m.Name+"\n"+m.Value) {
			continue
		}
		f.Derived = f.Derived || m.Name == "provenance" || m.Name == "source"
		f.Tagged = f.Tagged || tagged(q.m, m, q.store.Work != nil)
	}
	if len(own) == 0 && len(f.Named) == 0 {
		return
	}
	f.Others = others(it, q.m)
	f.Reason = f.words(own) + q.m.Redact(inMembers(f.Members), Erased)
	if q.lean && q.store.Browser != nil { // a title is a slice of the text and would keep all of it alive
		f.Item = model.Item{Header: model.Header{ID: strings.Clone(it.ID), Flags: it.Flags, Bytes: it.Bytes}}
	}
	q.found = append(q.found, f)
}

func (q *search) isHeld(id string) bool { return q.held != nil && q.held(id) != "" }

// shut notes the parts of an item that could not be opened. Verification lists them all again as layers of
// the items' bytes.
func (q *search) shut(id, body string, closed []string) {
	const told = 50
	switch {
	case len(closed) == 0:
		return
	case q.isHeld(id):
		q.heldShut[id] = true
		return
	case q.isAttested != nil && q.isAttested(id, body):
		q.looked++
		return
	}
	for _, why := range closed {
		switch more := q.shutItems - told; {
		case more < 0:
			q.closed = append(q.closed, q.m.Redact("item "+id+": "+why, Erased))
		case more == 0:
			q.closed = append(q.closed, "")
			fallthrough
		default:
			q.closed[told] = fmt.Sprintf("%d more in items that could not be opened", more+1)
		}
		q.shutItems++
	}
}

// raw reports whether an item's body is bytes that may be text in another encoding.
func raw(it model.Item) bool {
	return it.Has(model.FlagBinary) || strings.IndexByte(it.Body, 0) >= 0 || !utf8.ValidString(it.Body)
}

// parentField reports whether a field names an item's parent.
func parentField(name string) bool {
	return name == "parent" || name == "parent_id" || strings.HasSuffix(name, "_parent")
}

// methodWords are the methods in words. An exact find needs none.
var methodWords = map[subject.Method]string{
	subject.Exact:    "",
	subject.Folded:   "in another spelling",
	subject.Reversed: "last name first",
	subject.Dialled:  "as a telephone number",
	subject.Percent:  "percent-encoded",
	subject.Escaped:  "with escaped characters",
	subject.Entity:   "as HTML entities",
	subject.Quoted:   "in quoted-printable",
	subject.UTF7:     "in UTF-7",
	subject.UTF16:    "in UTF-16 or UTF-32",
	subject.Charset:  "in an older character encoding",
	subject.Latin1:   "in Latin-1",
	subject.Base64:   "in base64",
	subject.Base32:   "in base32",
	subject.Hex:      "in hex",
	subject.Archive:  "inside compressed data or a document",
	subject.Prefix:   "as a shortened index term",
	subject.Embedded: "inside a binary record",
}

// words says why an item was found, without naming the subject.
func (f *Found) words(own []string) string {
	parts := including(nil, own...)
	if f.Tagged && len(own) == 0 {
		parts = append(parts, "tagged")
	}
	what := "names the person"
	if f.Alias {
		what = "alias"
	}
	if f.Derived {
		parts = append(parts, "derived from something of the person")
	}
	if len(f.Named) > 0 {
		parts = append(parts, what+" in "+strings.Join(f.Named, ", "))
	}
	for _, m := range f.Methods {
		if how := methodWords[m]; how != "" {
			parts = append(parts, how)
		}
	}
	return strings.Join(parts, "; ")
}

// quarantine searches the entries of the store's quarantine. One that is an item too is found as an entry.
func (q *search) quarantine(ctx context.Context) error {
	var found []Found
	entries := map[string]bool{}
	problems, err := eachQuarantined(ctx, q.store, func(t model.Text, err error) error {
		if !q.seen[t.ID] {
			q.items++
		}
		if err != nil {
			return q.unread(ctx, t.ID, err)
		}
		hits := q.m.Text(join(t.ID, t.Body, t.Meta))
		if len(hits) == 0 && len(q.reasons[t.ID]) == 0 {
			return nil
		}
		f := Found{Layer: layerQuarantine, Named: []string{"body"}, Alias: len(hits) > 0 && hits[0].Term > 0,
			Item: model.Item{Header: model.Header{ID: t.ID, Bytes: int64(len(t.Body))}, Body: t.Body}}
		f.Reason = f.words(q.reasons[t.ID])
		if q.lean {
			f.Item.Body = ""
		}
		found, entries[t.ID] = append(found, f), true
		return nil
	})
	q.problems = including(q.problems, problems...)
	q.found = append(slices.DeleteFunc(q.found, func(o Found) bool { return entries[o.Item.ID] }), found...)
	return err
}

// others are the persons that an item is tagged with beside the subject.
func others(it model.Item, m *subject.Matcher) []string {
	var out []string
	for _, f := range it.Meta {
		for _, id := range taggedIn(f, subjectKeys) {
			if id != Erased && !m.Names(id) {
				out = including(out, id)
			}
		}
	}
	return out
}

// joinedNote mentions ids that may be the subject's under a longer id.
func joinedNote(words []string) []string {
	const shown = 8
	if len(words) == 0 {
		return nil
	}
	list := strings.Join(words[:min(len(words), shown)], ", ")
	if more := len(words) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return []string{"taken for somebody else's and left alone: " + list + "; one that is the same person's must be given as an alias"}
}

// including adds to a list what it does not have yet.
func including[T comparable](list []T, more ...T) []T {
	const few = 16
	if len(more) <= few {
		for _, v := range more {
			if !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
		return list
	}
	have := make(map[T]bool, len(list)+len(more))
	for _, v := range list {
		have[v] = true
	}
	for _, v := range more {
		if !have[v] {
			have[v], list = true, append(list, v)
		}
	}
	return list
}

func byID(a, b Found) int { return strings.Compare(a.Item.ID, b.Item.ID) }
