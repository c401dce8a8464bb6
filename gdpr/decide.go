package gdpr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// The policy, unless a choice overrides it for an item:
//
//  1. An item on hold, under whatever request, stays as it is.
//  2. An item that is tagged with another person too, or that only mentions the
//     subject inside a larger text, is shared: it is redacted. Larger is a record
//     of three lines or more of which at most half name the subject, and a file with
//     any line that does not. So is an item that names the subject in its metadata only,
//     in another role than that of whom it concerns (tag.go), and one of a tier whose
//     items have an owner by the store's own rules.
//  3. An item under which others hang that stay cannot go: it is redacted.
//  4. A file of a tier that only its own writer fills is redacted like any other: such
//     a tier takes the mark in the place of what is removed, and nothing else. Where the
//     mark would begin a value of YAML, in which a bracket begins a list, it has none.
//  5. An item that can only be forgotten is forgotten, whatever was chosen for it: a
//     tracker's line of an item that was deleted long ago.
//  6. An item whose id is the subject's identifier and nothing else is about the subject,
//     whatever it says: it is forgotten. Where the id has other words too and the item
//     stays, it gets an id without the identifier.
//  7. In a store that has no delete every item is redacted.
//  8. What the store removes together with an item that is forgotten is forgotten
//     with it, before it, by a step of its own: an edge left with fewer than two
//     members, whatever was chosen for it. Where such an edge is on hold its members
//     are redacted and stay under their ids.
//  9. An item with a field that nothing can edit and that names the person goes as a
//     whole: a comment in bd's database.
//  10. A work item that is assigned to the person is the team's: it is redacted.
//  11. Everything else that concerns the subject is forgotten, quarantine entries
//     and items that are no text in any encoding among it.

// Erased stands where an identifier stood.
const Erased = model.Erased

// shared texts: at least this many lines that say something, of which at most
// half name the person.
const sharedLines = 3

func (d *Desk) decide(ctx context.Context, r *Request, m *subject.Matcher, s model.Store, q *search) ([]Step, error) {
	going, sealed := map[string]bool{}, map[string]bool{}
	for i := range q.found {
		f := &q.found[i]
		going[f.Item.ID] = d.action(m, s, q, f) == Forget
		sealed[f.Item.ID] = isSealed(s, f.Item)
	}
	// A parent of what stays must stay too, and so on upwards: until nothing changes.
	settle := func() {
		for changed := true; changed; {
			changed = false
			for id, goes := range going {
				if !goes || sealed[id] {
					continue
				}
				for _, c := range q.children[id] {
					if !going[c] {
						going[id], changed = false, true
						break
					}
				}
			}
		}
	}
	settle()
	if err := q.addFalls(ctx, m, going, settle); err != nil {
		return nil, err
	}
	var out []Step
	renamed := map[string]string{}
	for i := range q.found {
		f := &q.found[i]
		st := Step{Store: s.Name, ID: f.Item.ID, Layer: f.Layer, Reason: f.Reason, Action: d.action(m, s, q, f),
			Revision: f.Item.Revision, Bytes: f.Item.Bytes, Others: len(f.Others) > 0}
		fall, falls := q.falls[f.Item.ID]
		switch {
		case falls:
			st.Action, st.Fallen = Forget, f.bystander()
			if why := fallReason(fall); st.Reason != why {
				st.Reason += "; " + why
			}
		case st.Action == Held || going[f.Item.ID]:
		case q.stays[f.Item.ID]:
			st.Action = Redact
			st.Reason += "; an item on hold would go with it, so it stays without the subject"
		case st.Action == Forget:
			st.Action = Redact
			st.Reason += "; other items hang under it, so it stays without the subject"
		}
		switch st.Action {
		case Forget:
			if sealed[f.Item.ID] && f.Layer == layerItem {
				st.Reason += "; it cannot be edited, so it goes as a whole: another copy of the store that still holds it may bring it back"
			}
			if name := sealedField(m, f.Item); name != "" && f.Layer == layerItem {
				st.Reason += "; its field " + name + " cannot be edited by the store's program, so it goes as a whole"
			}
			if raw(f.Item) && !editable(m, f.Item) {
				st.Reason += "; its bytes are no text that could be edited, so it goes as a whole"
			}
		case Held:
			st.Ground = q.held(f.Item.ID)
		case Redact:
			if m.Names(f.Item.ID) && !q.stays[f.Item.ID] { // under another id it would lose what ties it
				st.NewID = q.free(ctx, m.Redact(f.Item.ID, "erased"))
				renamed[f.Item.ID] = st.NewID
			}
		}
		out = append(out, st)
	}
	for i := range out {
		if out[i].Action == Redact {
			redact(m, s, q.found[i].Item, &out[i], renamed)
		}
	}
	return indexesFirst(s, q.found, renamesFirst(edgesFirst(childrenFirst(out, q.children)))), nil
}

// indexesFirst puts the items that list others before those: a rename or a removal takes its line along,
// and the index would not be as it was seen.
func indexesFirst(s model.Store, found []Found, steps []Step) []Step {
	index := map[string]bool{}
	for i := range found {
		tier, _ := s.Tier(found[i].Item.Tier)
		index[found[i].Item.ID] = tier.Index
	}
	slices.SortStableFunc(steps, func(a, b Step) int {
		rank := func(st Step) int {
			if index[st.ID] && st.Action == Redact && st.NewID == "" {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	return steps
}

// relisted is an index whose lines lead to the new ids of items that get one.
func relisted(it model.Item, renamed map[string]string) model.Item {
	dir := strings.TrimSuffix(it.ID, path.Base(it.ID))
	for was, is := range renamed {
		from, in := strings.CutPrefix(was, dir)
		to, stays := strings.CutPrefix(is, dir)
		if in && stays {
			it.Body = replaceName(it.Body, from, to)
			if linked := inLink(from); linked != from {
				it.Body = replaceName(it.Body, linked, inLink(to))
			}
		}
	}
	return it
}

// inLink is the name of a file as a link spells it, percent-encoded.
func inLink(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// replaceName replaces the name of a file where it stands by itself: ana.md is not in mariana.md.
func replaceName(text, from, to string) string {
	inName := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' }
	var b strings.Builder
	for at := 0; ; {
		i := strings.Index(text[at:], from)
		if i < 0 {
			return b.String() + text[at:]
		}
		i += at
		end := i + len(from)
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[end:])
		b.WriteString(text[at:i])
		if inName(before) || inName(after) || before == '.' || before == '%' {
			b.WriteString(from)
		} else {
			b.WriteString(to)
		}
		at = end
	}
}

// renamesFirst puts the items that get another id before those that hang under them or
// wait for them and are edited: a link is to an item that there is.
func renamesFirst(steps []Step) []Step {
	slices.SortStableFunc(steps, func(a, b Step) int {
		last := func(st Step) int {
			if st.Action == Redact && st.NewID == "" {
				return 1
			}
			return 0
		}
		return last(a) - last(b)
	})
	return steps
}

// action applies the policy to one item.
func (d *Desk) action(m *subject.Matcher, s model.Store, q *search, f *Found) Action {
	id := f.Item.ID
	if q.held(id) != "" {
		return Held
	}
	if isSealed(s, f.Item) || s.Browser == nil { // what is known by recall alone cannot be edited
		return Forget
	}
	if a, ok := q.chosen[id]; ok {
		return a
	}
	can := s.Capabilities()
	switch {
	case !can["forget"] && can["retain"] && f.Layer == layerItem:
		return Redact
	case f.Layer == layerQuarantine, f.Item.Has(model.FlagUnreadable), !editable(m, f.Item):
		return Forget
	case len(f.Others) > 0:
		return Redact
	case f.Tagged || f.Derived, isIdentifierID(m, id):
		return Forget
	case sealedField(m, f.Item) != "" && can["forget"]:
		return Forget
	case s.Work != nil && (slices.Contains(f.Named, "assignee") || slices.Contains(f.Named, "owner")):
		return Redact
	case !slices.Contains(f.Named, "body") && !slices.Contains(f.Named, "id"), owned(s, f.Item.Tier):
		return Redact
	case mentions(m, plain(f.Item), opaque(s, f.Item.Tier)):
		return Redact
	}
	return Forget
}

// owned reports whether the store says whose the items of a tier are.
func owned(s model.Store, tier string) bool {
	t, ok := s.Tier(tier)
	return ok && t.Owned
}

// isSealed reports whether the store takes no edit of an item and lets go of it.
func isSealed(s model.Store, it model.Item) bool {
	t, ok := s.Tier(it.Tier)
	return ok && t.Sealed && s.Capabilities()["forget"]
}

// sealedField names the first field that names the person and that nothing can edit;
// empty where there is none.
func sealedField(m *subject.Matcher, it model.Item) string {
	for _, f := range it.Meta {
		if f.Sealed && m.Names(f.Value) {
			return f.Name
		}
	}
	return ""
}

// plain returns an item's text, decoded.
func plain(it model.Item) string {
	if text, _, ok := subject.Plain([]byte(it.Body)); ok {
		return text
	}
	return it.Body
}

// editable reports whether the person can be taken out of an item's body: of bytes
// that are no text nothing can be.
func editable(m *subject.Matcher, it model.Item) bool {
	if !raw(it) && !subject.IsContainer(it.Body) {
		return true
	}
	_, ok := m.RedactBytes([]byte(it.Body), Erased)
	return ok
}

// isIdentifierID reports whether an item's id is an identifier of the subject and nothing
// else. An id that only decodes to one says nothing about the text: the id is redacted.
func isIdentifierID(m *subject.Matcher, id string) bool {
	stem := path.Base(id)
	stem = strings.TrimSuffix(stem, path.Ext(stem))
	if !m.Names(stem) {
		stem = path.Base(id)
	}
	hits := m.Text(stem)
	readable := func(h subject.Hit) bool {
		return slices.Contains([]subject.Method{subject.Exact, subject.Folded, subject.Reversed, subject.Dialled}, h.Method)
	}
	return slices.ContainsFunc(hits, readable) && !letters(m.Redact(stem, ""))
}

func letters(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// opaque tells a file that people and agents write into from a record of one
// thing.
func opaque(s model.Store, tier string) bool {
	t, ok := s.Tier(tier)
	return ok && t.Document == model.Opaque
}

// mentions reports whether a text is larger than what it says of the person:
// several lines, of which at most half name the subject; in a file, any line that does
// not.
func mentions(m *subject.Matcher, body string, file bool) bool {
	lines, naming := 0, 0
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		lines++
		if m.Names(line) {
			naming++
		}
	}
	return lines >= sharedLines && naming*2 <= lines || file && naming < lines
}

// redact writes the edited text into the step. renamed are the new ids of items by the
// old ones: what gets one takes all with it that the store shows, and links lead to it.
func redact(m *subject.Matcher, s model.Store, it model.Item, st *Step, renamed map[string]string) {
	tier, declared := s.Tier(it.Tier)
	if tier.Index {
		it = relisted(it, renamed)
	}
	st.body(m, it, Erased)
	switch {
	case raw(it):
	case declared && !tier.Writable || it.Has(model.FlagReadOnly):
		st.NewBody = beginsValue.ReplaceAllString(st.NewBody, "${1}"+model.ErasedWord)
	case tier.Document == model.Opaque: // the front matter is the item's own, and must stay readable
		n := len(frontMatter.FindString(st.NewBody))
		st.NewBody = frontValue.ReplaceAllString(st.NewBody[:n], "${1}"+model.ErasedWord) + st.NewBody[n:]
	}
	if declared && tier.Cap > 0 && !tier.CapSoft && int64(len(st.NewBody)) > max(tier.Cap, int64(len(it.Body))) {
		st.body(m, it, "") // the mark is longer than what it stands for, and the tier is full
	}
	work := s.Work != nil // the store holds work items: one may be a title and nothing else
	if it.Meta != nil && tier.Document != model.Opaque {
		changed := false
		meta := []model.Field{}
		for _, f := range it.Meta {
			if f.ReadOnly && (st.NewID == "" || !work) {
				continue
			}
			was := f.Value
			if work {
				f.Value = relinked(f, renamed)
			}
			v := redactField(m, f)
			if work {
				v = redactWork(m, f)
			}
			changed = changed || f.Value != was
			if v != f.Value {
				f.Value, changed = v, true
			}
			if m.Names(f.Name) {
				f.Name, changed = m.Redact(f.Name, "erased"), true
			}
			meta = append(meta, f)
		}
		if changed || m.Names(it.ID) || work && it.Body == "" {
			st.NewMeta = meta
		}
	}
	if strings.TrimSpace(st.NewBody) == "" && (!work || it.Body != "" || len(st.NewMeta) == 0) {
		st.NewBody, st.NewBytes, st.Binary = Erased, nil, false // an empty text cannot be written
	}
}

// relinked is the value of a field that leads to other items, with the new ids of those
// that get one.
func relinked(f model.Field, renamed map[string]string) string {
	if f.ReadOnly { // as it stands in the store
		for was, is := range renamed {
			f.Value = strings.ReplaceAll(f.Value, `"`+was+`"`, `"`+is+`"`)
		}
	}
	if f.Name != "depends" {
		return cmp.Or(renamed[f.Value], f.Value)
	}
	ids := strings.Split(f.Value, ", ")
	for i, id := range ids {
		ids[i] = cmp.Or(renamed[id], id)
	}
	return strings.Join(ids, ", ")
}

// beginsValue is a mark where a YAML value begins (crewship-disk.md, File formats).
var beginsValue = regexp.MustCompile(`(?m)^([ \t]*(?:- )?[a-z_]+:[ \t]+)` + regexp.QuoteMeta(Erased))

// frontValue is a mark where a value of a front matter begins: YAML takes its bracket for a list's.
var frontValue = regexp.MustCompile(`(?m)^([ \t]*(?:- )*(?:[A-Za-z_][\w-]*:[ \t]+)?)` + regexp.QuoteMeta(Erased))

// frontMatter is a text's, to the line that ends it.
var frontMatter = regexp.MustCompile(`\A\x{feff}?---\r?\n(?s:.*?)\n---[ \t]*(?:\r?\n|\z)`)

// body edits an item's text. One in another encoding stays in it, byte by byte but
// for the person, and stands in the step as people read it, too.
func (st *Step) body(m *subject.Matcher, it model.Item, with string) {
	st.NewBody = m.Redact(it.Body, with)
	if !raw(it) {
		return
	}
	if b, ok := m.RedactBytes([]byte(it.Body), with); ok {
		_, enc, _ := subject.Plain([]byte(it.Body))
		text, _, _ := subject.Plain(b)
		st.Binary, st.NewBytes, st.NewBody = true, b, strings.TrimPrefix(text, "\ufeff")
		if note := fmt.Sprintf("; its text is %s and stays so, or becomes UTF-8 where the store takes nothing else", enc); !strings.Contains(st.Reason, note) {
			st.Reason += note
		}
	}
}

// free gives an id that nothing else has, now or in this plan; empty stays empty.
func (q *search) free(ctx context.Context, id string) string {
	if id == "" {
		return ""
	}
	ext := path.Ext(id)
	for n, next := 2, id; ; n++ {
		if !q.taken(ctx, next) {
			q.seen[next] = true
			return next
		}
		next = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(id, ext), n, ext)
	}
}

// taken reports whether an id stands for an item already. A store that was looked
// through in one pass is asked.
func (q *search) taken(ctx context.Context, id string) bool {
	if q.seen[id] || q.store.Texts == nil {
		return q.seen[id]
	}
	_, err := q.store.Browser.Read(ctx, id)
	return !errors.Is(err, model.NotFound) && !errors.Is(err, model.InvalidInput) // what is no id of the store is nobody's
}

// redactField edits a metadata value. One that is an identifier as a whole is
// emptied: no field is about nobody in particular.
func redactField(m *subject.Matcher, f model.Field) string {
	for _, t := range m.Terms() {
		if f.Value == t {
			return ""
		}
	}
	return m.Redact(f.Value, Erased)
}

// redactWork edits a field of a work item so that its store takes it: a title, a
// status and a type are never empty, a status is a word, labels that begin with a
// bracket are a JSON array, and a dependency is on an item that there is.
func redactWork(m *subject.Matcher, f model.Field) string {
	if !m.Names(f.Value) {
		return redactField(m, f)
	}
	switch f.Name {
	case "title", "type":
		return m.Redact(f.Value, Erased)
	case "status":
		return m.Redact(f.Value, "erased")
	case "labels":
		if strings.HasPrefix(strings.TrimSpace(f.Value), "[") {
			return m.Redact(f.Value, Erased)
		}
		return m.Redact(f.Value, "erased")
	case "depends":
		ids := strings.Split(f.Value, ", ")
		return strings.Join(slices.DeleteFunc(ids, m.Names), ", ")
	}
	return redactField(m, f)
}

// childrenFirst orders the steps so that no item goes before those under it.
func childrenFirst(steps []Step, children map[string][]string) []Step {
	depth := map[string]int{}
	var down func(id string, seen int) int
	down = func(id string, seen int) int {
		if d, ok := depth[id]; ok || seen > 1000 {
			return d
		}
		depth[id] = 0 // a cycle ends here
		n := 0
		for _, c := range children[id] {
			n = max(n, 1+down(c, seen+1))
		}
		depth[id] = n
		return n
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return down(a.ID, 0) - down(b.ID, 0) })
	return steps
}
