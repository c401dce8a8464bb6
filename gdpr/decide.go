package gdpr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/gdpr/subject"
	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// The policy, unless a choice overrides it for an item:
//
//  1. An item on hold, under whatever request, stays unchanged.
//  2. A shared item is redacted. An item is shared if it is tagged with another person too; if it only
//     mentions the subject in a larger text (a record of three lines or more of which at most half name the
//     subject, or a file with any line that does not); if it names the subject only in its metadata, in
//     another role than the one that says whom it concerns (tag.go); or if the store's own rules give its
//     tier's items an owner.
//  3. An item that is the parent of a remaining item cannot go: it is redacted.
//  4. A file of a tier that only its own writer fills is redacted like any other: such a tier accepts the
//     mark in the place of the removed text, and no other change. Where the mark would begin a YAML value,
//     in which a bracket begins a list, it has no brackets.
//  5. An item that can only be forgotten is forgotten, whatever was chosen for it: a tracker's line of an
//     item that was deleted long ago, a quarantine entry, bytes that are no text.
//     An item of a tier that only people change, in another program, is out of scope: it is named, and left. So is
//     the log of a database among files.
//  6. An item whose id is exactly the subject's identifier is about the subject, whatever its text: it is
//     forgotten. If the id has other words too and the item stays, it gets an id without the identifier.
//  7. In a store without a delete every item is redacted.
//  8. An item that the store removes together with a forgotten one is forgotten before it, by a step of its
//     own, whatever was chosen for it: an edge left with fewer than two members. If such an edge is on hold,
//     its members are redacted and keep their ids.
//  9. An item with a read-only field that names the subject goes as a whole: a comment in bd's database.
//  10. A work item that is assigned to the subject is the team's: it is redacted.
//  11. An index is redacted: files stay that it lists. Lines of a file that goes go with it.
//  12. Every other item that concerns the subject is forgotten, quarantine entries and items that are no
//     text in any encoding among them.

// Erased stands where an identifier stood.
const Erased = model.Erased

// sharedLines: a shared text has at least this many lines that are not blank, of which at most half name the
// subject.
const sharedLines = 3

// settle lets a parent of what stays stay too, and so on upwards, except those that are sealed.
func settle(going, sealed map[string]bool, children map[string][]string) {
	parents := map[string][]string{}
	var stays []string
	for id, goes := range going {
		if !goes || sealed[id] {
			continue
		}
		for _, c := range children[id] {
			if parents[c] = append(parents[c], id); !going[c] {
				stays = append(stays, c)
			}
		}
	}
	for len(stays) > 0 {
		id := stays[len(stays)-1]
		stays = stays[:len(stays)-1]
		for _, p := range parents[id] {
			if going[p] {
				going[p] = false
				stays = append(stays, p)
			}
		}
	}
}

func (d *Desk) decide(ctx context.Context, m *subject.Matcher, s model.Store, q *search) ([]Step, error) {
	going, sealed := map[string]bool{}, map[string]bool{}
	for i := range q.found {
		f := &q.found[i]
		going[f.Item.ID] = d.action(m, s, q, f) == Forget
		sealed[f.Item.ID] = isSealed(s, f.Item)
	}
	settle := func() { settle(going, sealed, q.children) }
	settle()
	by, err := d.heldIn(&s)
	if err != nil {
		return nil, err
	}
	if err := q.addFalls(ctx, m, going, by != "", settle); err != nil {
		return nil, err
	}
	under, err := q.underNamed(ctx, m, going)
	if err != nil {
		return nil, err
	}
	var out []Step
	renamed := map[string]string{}
	for i := range q.found {
		f := &q.found[i]
		st := Step{Store: s.Name, ID: f.Item.ID, Layer: f.Layer, Reason: f.Reason, Action: d.action(m, s, q, f),
			Revision: f.Item.Revision, Bytes: f.Item.Bytes, Others: len(f.Others) > 0, Tied: len(q.reasons[f.Item.ID]) > 0,
			Listed: f.Layer == layerQuarantine && q.seen[f.Item.ID]}
		fall, falls := q.falls[f.Item.ID]
		switch {
		case falls:
			st.Action, st.Fallen = Forget, f.bystander()
			if why := fallReason(fall); st.Reason != why {
				st.Reason += "; " + why
			}
		case st.Action == Held || going[f.Item.ID]:
		case st.Action == Forget && q.stays[f.Item.ID] && whole(m, s, f): // the gate refuses it, and the run says why
		case q.stays[f.Item.ID]:
			st.Action = Redact
			st.Reason += "; an item on hold would go or change with it, so it stays without the person"
		case st.Action == Forget:
			st.Action = Redact
			st.Reason += "; other items hang under it, so it stays without the person"
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
			if q.chosen[f.Item.ID] == Redact {
				st.Reason += "; redact was chosen, and cannot be done: keep it back (`memdesk gdpr hold`) or edit it in its own program"
			}
		case OutOfScope:
			st.Reason += "; " + leftTo(s, f.Item)
		case Held:
			st.Ground = q.held(f.Item.ID)
		case Redact:
			switch id := f.Item.ID; {
			case !m.Names(id):
				if parent := under[id]; parent != "" {
					st.Reason += "; it belongs to " + parent + ", whose id names the person: forget that one as a whole, or keep both back"
				}
			case keepsID(s, f.Item):
				st.Reason += "; " + ownIDsReason
			case slices.ContainsFunc(q.children[id], func(child string) bool { return q.held(child) != "" }):
				st.Reason += "; an item on hold hangs under it, so it keeps its id"
			case !q.stays[id]: // a new id would break its ties
				st.NewID = q.free(ctx, m.Redact(id, "erased"))
				renamed[id] = st.NewID
			}
		}
		out = append(out, st)
	}
	for i := range out {
		if out[i].Action != Redact {
			continue
		}
		it, held := q.found[i].Item, func(body string) string { return body }
		if tierOf(s, it).Index {
			if it, held, err = q.unlisted(ctx, it, out); err != nil {
				return nil, err
			}
		}
		redact(m, s, it, &out[i], renamed)
		out[i].NewBody = held(out[i].NewBody)
		if out[i].Binary {
			out[i].NewBytes, out[i].NewBody = []byte(held(string(out[i].NewBytes))), strings.ToValidUTF8(out[i].NewBody, "\ufffd")
		}
	}
	out, err = fallsFirst(ctx, s, edgesFirst(childrenFirst(out, q.children)))
	return duplicatesFirst(s, indexesFirst(s, q.found, renamesFirst(out, q.children))), err
}

// duplicatesFirst puts the last duplicate of a work item's id first: those behind one that goes get the handle
// before theirs.
func duplicatesFirst(s model.Store, steps []Step) []Step {
	if s.Work == nil {
		return steps
	}
	number := func(id string) (n int) {
		if i := strings.LastIndexByte(id, '#'); i > 0 {
			n, _ = strconv.Atoi(id[i+1:])
		}
		return n
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(number(b.ID), number(a.ID)) })
	return steps
}

// indexesFirst puts index items before the items that they list: a rename or removal also edits the index's
// line, and the index would then differ from the planned revision.
func indexesFirst(s model.Store, found []Found, steps []Step) []Step {
	index := map[string]bool{}
	for i := range found {
		index[found[i].Item.ID] = tierOf(s, found[i].Item).Index
	}
	return foremost(steps, func(st Step) bool { return index[st.ID] && st.Action == Redact })
}

// foremost moves some steps before the others.
func foremost(steps []Step, is func(Step) bool) []Step {
	slices.SortStableFunc(steps, func(a, b Step) int { return before(is(a), is(b)) })
	return steps
}

// before orders what is so before what is not.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// unlisted is an index without the lines of the files that go: once it is redacted they lead nowhere. The lines of items
// on hold are marks in it, which no redaction changes; held puts them back.
func (q *search) unlisted(ctx context.Context, it model.Item, steps []Step) (_ model.Item, held func(string) string, err error) {
	lines := slices.Collect(strings.Lines(it.Body))
	var gone []string
	for _, st := range steps {
		if st.Action == Forget && st.Layer == layerItem {
			gone = append(gone, st.ID)
		}
	}
	drop, err := q.lines(ctx, it, gone)
	if err != nil {
		return it, nil, err
	}
	keep, err := q.lines(ctx, it, slices.Collect(maps.Keys(q.holding)))
	if err != nil {
		return it, nil, err
	}
	mark := "\x1a"
	for strings.Contains(it.Body, mark) {
		mark += mark
	}
	var back []string
	for at := range lines {
		switch {
		case drop[at]:
			lines[at] = ""
		case keep[at]:
			n := at
			for q.m.Names(fmt.Sprint(mark, n, mark)) { // an identifier may be a number
				n += len(lines)
			}
			was := lines[at]
			lines[at] = fmt.Sprint(mark, n, mark)
			back = append(back, lines[at], was)
		}
	}
	it.Body = strings.Join(lines, "")
	return it, strings.NewReplacer(back...).Replace, nil
}

// lines are the places of an index's lines that list some items.
func (q *search) lines(ctx context.Context, index model.Item, ids []string) (map[int]bool, error) {
	out := map[int]bool{}
	if q.store.Beside == nil {
		return out, nil
	}
	dir, lines := strings.TrimSuffix(index.ID, path.Base(index.ID)), slices.Collect(strings.Lines(index.Body))
	for _, id := range ids {
		if !strings.HasPrefix(id, dir) {
			continue
		}
		beside, err := q.store.Beside(ctx, id)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, l := range beside.Lines {
			if l.At < len(lines) && lines[l.At] == l.Text {
				out[l.At] = true
			}
		}
	}
	return out, nil
}

// relisted is an index whose links lead to the new ids of renamed items. It may move with them.
func relisted(it model.Item, renamed map[string]string) model.Item {
	dir := func(id string) string { return strings.TrimSuffix(id, path.Base(id)) }
	for was, is := range renamed {
		from, in := strings.CutPrefix(was, dir(it.ID))
		to, stays := strings.CutPrefix(is, dir(cmp.Or(renamed[it.ID], it.ID)))
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

// replaceName replaces a file's name where it is a whole word: ana.md is not in mariana.md.
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

// renamesFirst puts items that get a new id before those that hang under them, or link to them, and are
// edited, and a parent before its children: a link must lead to an existing item.
func renamesFirst(steps []Step, children map[string][]string) []Step {
	height := heights(children)
	rank := func(st Step) int {
		switch {
		case st.Action != Redact:
			return 0
		case st.NewID != "":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(steps, func(a, b Step) int {
		if rank(a) == 1 && rank(b) == 1 {
			return height(b.ID) - height(a.ID)
		}
		return rank(a) - rank(b)
	})
	return steps
}

// action applies the policy to one item.
func (d *Desk) action(m *subject.Matcher, s model.Store, q *search, f *Found) Action {
	id := f.Item.ID
	if q.held(id) != "" {
		return Held
	}
	if leftTo(s, f.Item) != "" {
		return OutOfScope
	}
	if isSealed(s, f.Item) || s.Browser == nil { // an item that is known by recall alone cannot be edited
		return Forget
	}
	if a, ok := q.chosen[id]; ok && !(a == Redact && whole(m, s, f)) {
		return a
	}
	can := s.Capabilities()
	switch {
	case !can["forget"] && can["retain"] && f.Layer == layerItem:
		return Redact
	case whole(m, s, f):
		return Forget
	case len(f.Others) > 0:
		return Redact
	case tierOf(s, f.Item).Index:
		return Redact
	case f.Tagged || f.Derived, isIdentifierID(m, id):
		return Forget
	case sealedField(m, f.Item) != "" && can["forget"]:
		return Forget
	case s.Work != nil && (slices.Contains(f.Named, "assignee") || slices.Contains(f.Named, "owner")):
		return Redact
	case !slices.Contains(f.Named, "body") && !slices.Contains(f.Named, "id"), tierOf(s, f.Item).Owned:
		return Redact
	case mentions(m, plain(f.Item), tierOf(s, f.Item).Document == model.Opaque):
		return Redact
	}
	return Forget
}

// whole reports whether an item can only go as a whole.
func whole(m *subject.Matcher, s model.Store, f *Found) bool {
	return f.Layer == layerQuarantine || f.Item.Has(model.FlagUnreadable) || !editable(m, f.Item) && !tierOf(s, f.Item).Index
}

const ownIDsReason = "its id names the person, and only the program that owns the store gives ids: forget it as a whole (`memdesk gdpr choose REQUEST --item REF --action forget`), or keep it back (`memdesk gdpr hold`)"

// leftTo says why an item is left to another program; empty: it is not.
func leftTo(s model.Store, it model.Item) string {
	switch {
	case tierOf(s, it).Foreign:
		return "people write it, and it is left to them: edit it in its own program"
	case slices.ContainsFunc(suppress.LogMagic, func(magic string) bool { return strings.HasPrefix(it.Body, magic) }):
		return "it is the log of the database beside it, which would lose everybody's newest rows with it: end the program whose database it is, so that the log goes into the database, then plan again"
	}
	return ""
}

// keepsID reports whether an item that stays keeps its id, whatever that names.
func keepsID(s model.Store, it model.Item) bool { return tierOf(s, it).OwnerMakes }

// tierOf is what a store declares of an item's tier; nothing where the store does not know the tier.
func tierOf(s model.Store, it model.Item) model.TierSpec {
	t, _ := s.Tier(it.Tier)
	return t
}

// isSealed reports whether an item can be removed but not edited.
func isSealed(s model.Store, it model.Item) bool {
	return tierOf(s, it).Sealed && s.Capabilities()["forget"]
}

// sealedField names the first read-only field that names the subject; empty where there is none.
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

// editable reports whether the subject can be taken out of an item's body: bytes that are no text cannot be
// edited.
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

// mentions reports whether a text is larger than what it says of the subject: several lines, of which at most
// half name the subject; in a file, any line that does not.
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

// redact writes the edited text into the step. renamed maps old ids to new ones: a renamed item keeps
// everything that the store shows of it, and links lead to the new id.
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
		front := frontValue.ReplaceAllString(st.NewBody[:n], "${1}"+model.ErasedWord)
		st.NewBody = frontFlow.ReplaceAllStringFunc(front, func(line string) string { return strings.ReplaceAll(line, Erased, model.ErasedWord) }) + st.NewBody[n:]
	}
	if declared && tier.Cap > 0 && !tier.CapSoft && int64(len(st.NewBody)) > max(tier.Cap, int64(len(it.Body))) {
		st.body(m, it, "") // the mark is longer than the text that it replaces, and the tier is full
	}
	work := s.Work != nil // the store holds work items: a work item may be only a title
	if it.Meta != nil && tier.Document != model.Opaque {
		changed := false
		meta := []model.Field{}
		for _, f := range it.Meta {
			if f.ReadOnly && (st.NewID == "" || !work) {
				continue
			}
			was := f.Value
			if work || parentField(f.Name) && !f.ReadOnly {
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
	fields := len(st.NewMeta) > 0 && (work || tier.Text == model.TextList) // fields alone make the item
	bare := it.Body == "" && (fields || declared && tier.Document == model.Structured && !work)
	if strings.TrimSpace(st.NewBody) == "" && !bare {
		st.NewBody, st.NewBytes, st.Binary = Erased, nil, false // an empty text cannot be written
	}
}

// relinked is the value of a field that links to other items, with the new ids of those that are renamed.
func relinked(f model.Field, renamed map[string]string) string {
	if f.ReadOnly { // the value that the store has
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

// beginsValue matches a mark where a YAML value begins (crewship-disk.md, File formats).
var beginsValue = regexp.MustCompile(`(?m)^([ \t]*(?:- )?[a-z_]+:[ \t]+)` + regexp.QuoteMeta(Erased))

// frontValue matches a mark where a front matter's value begins: YAML would read its bracket as a list.
var frontValue = regexp.MustCompile(`(?m)^([ \t]*(?:[-?] )*(?:[A-Za-z_][\w-]*:[ \t]+)?[&*]?)` + regexp.QuoteMeta(Erased))

// frontFlow matches a line whose value is a list or a map in brackets: a bracket in it would begin another.
var frontFlow = regexp.MustCompile(`(?m)^[ \t]*(?:- )*(?:[^\s:]+:[ \t]+)?[\[{].*`)

// frontMatter matches a text's front matter, up to and with the line that ends it.
var frontMatter = regexp.MustCompile(`\A\x{feff}?---\r?\n(?s:.*?)\n---[ \t]*(?:\r?\n|\z)`)

// body edits an item's text. A text in another encoding keeps it: only the subject's bytes change. The step
// then also has the text as people read it.
func (st *Step) body(m *subject.Matcher, it model.Item, with string) {
	st.NewBody = string(mendJSON([]byte(it.Body), []byte(m.Redact(it.Body, with))))
	if !raw(it) {
		return
	}
	b, ok := m.RedactBytes([]byte(it.Body), with)
	if !ok { // an index of bytes that are no text
		st.Binary, st.NewBytes, st.NewBody = true, []byte(st.NewBody), strings.ToValidUTF8(st.NewBody, "\ufffd")
		return
	}
	_, enc, _ := subject.Plain([]byte(it.Body))
	text, _, _ := subject.Plain(b)
	st.Binary, st.NewBytes, st.NewBody = true, b, strings.TrimPrefix(text, "\ufeff")
	if note := fmt.Sprintf("; its text is %s and stays so, or becomes UTF-8 where the store takes nothing else", enc); !strings.Contains(st.Reason, note) {
		st.Reason += note
	}
}

// free returns an id that no item has, now or in this plan; empty stays empty.
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

// taken reports whether an item has this id already. A store that was searched in one pass is asked.
func (q *search) taken(ctx context.Context, id string) bool {
	if q.seen[id] || q.store.Texts == nil {
		return q.seen[id]
	}
	_, err := q.store.Browser.Read(ctx, id)
	return !errors.Is(err, model.NotFound) && !errors.Is(err, model.InvalidInput) // an invalid id belongs to no item
}

// redactField edits a metadata value. A value that is exactly an identifier is emptied: a field with only a
// mark in it says nothing. JSON stays JSON.
func redactField(m *subject.Matcher, f model.Field) string {
	now := m.Redact(f.Value, Erased)
	if now == Erased {
		return ""
	}
	return string(mendJSON([]byte(f.Value), []byte(now)))
}

// redactWork edits a field of a work item so that its store accepts it: a title, a status and a type are
// never empty, a status is a word, labels that begin with a bracket are a JSON array, and a dependency is on
// an item that exists.
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
	height := heights(children)
	slices.SortStableFunc(steps, func(a, b Step) int { return height(a.ID) - height(b.ID) })
	return steps
}

// heights returns the function that counts the generations under an item. A tree may be deeper than a stack.
func heights(children map[string][]string) func(id string) int {
	height, done := map[string]int{}, map[string]bool{}
	return func(id string) int {
		for open := []string{id}; len(open) > 0; {
			at := open[len(open)-1]
			if _, begun := height[at]; !begun {
				height[at] = 0 // a cycle ends here
				for _, c := range children[at] {
					if _, begun := height[c]; !begun {
						open = append(open, c)
					}
				}
				continue
			}
			open = open[:len(open)-1]
			if done[at] {
				continue
			}
			for _, c := range children[at] {
				height[at] = max(height[at], 1+height[c])
			}
			done[at] = true
		}
		return height[id]
	}
}
