package gdpr

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"memdesk/gdpr/subject"
	"memdesk/internal/frontmatter"
	"memdesk/model"
)

// redact writes the edited item into its step. An item that gets a new id keeps everything that the store shows of it, and
// links lead to the new ids. Of an index the lines of what goes are dropped, and those of what is on hold are kept.
func (c *decision) redact(ctx context.Context, it model.Item, st *Step, steps []Step) error {
	if !tierOf(c.store, it).Index {
		c.edit(it, st)
		return nil
	}
	it, held, err := c.unlisted(ctx, it, steps)
	if err != nil {
		return err
	}
	c.edit(relisted(it, c.renamed), st)
	st.NewBody = held(st.NewBody)
	if st.Binary {
		st.NewBytes, st.NewBody = []byte(held(string(st.NewBytes))), strings.ToValidUTF8(st.NewBody, "\ufffd")
	}
	return nil
}

// edit writes the item's text and fields without the subject into its step.
func (c *decision) edit(it model.Item, st *Step) {
	tier, declared := c.store.Tier(it.Tier)
	work := c.store.Work != nil // the store holds work items: a work item may be only a title
	st.body(c.m, it, Erased)
	switch {
	case raw(it):
	case declared && !tier.Writable || it.Has(model.FlagReadOnly):
		st.NewBody = beginsValue.ReplaceAllString(st.NewBody, "${1}"+model.ErasedWord)
	case tier.Document == model.Opaque: // the front matter is the item's own, and must stay readable
		_, text := frontmatter.Split(st.NewBody)
		front := frontValue.ReplaceAllString(strings.TrimSuffix(st.NewBody, text), "${1}"+model.ErasedWord)
		st.NewBody = frontFlow.ReplaceAllStringFunc(front, func(line string) string { return strings.ReplaceAll(line, Erased, model.ErasedWord) }) + text
	}
	if declared && tier.Cap > 0 && !tier.CapSoft && int64(len(st.NewBody)) > max(tier.Cap, int64(len(it.Body))) {
		st.body(c.m, it, "") // the mark is longer than the text that it replaces, and the tier is full
	}
	if it.Meta != nil && tier.Document != model.Opaque {
		if meta, changed := c.editMeta(it, st.NewID != ""); changed || c.m.Names(it.ID) || work && it.Body == "" {
			st.NewMeta = meta
		}
	}
	fields := len(st.NewMeta) > 0 && (work || tier.Text == model.TextList) // fields alone make the item
	bare := it.Body == "" && (fields || declared && tier.Document == model.Structured && !work)
	if strings.TrimSpace(st.NewBody) == "" && !bare {
		st.NewBody, st.NewBytes, st.Binary = Erased, nil, false // an empty text cannot be written
	}
}

// editMeta are the fields of an item without the subject, and whether that changes any. A work item that moves to a new id
// takes its read-only fields along.
func (c *decision) editMeta(it model.Item, moves bool) (meta []model.Field, changed bool) {
	work := c.store.Work != nil
	meta = []model.Field{}
	for _, f := range it.Meta {
		if f.ReadOnly && !(moves && work) {
			continue
		}
		was := f
		if work || parentField(f.Name) && !f.ReadOnly {
			f.Value = relinked(f, c.renamed)
		}
		f.Value = redactField(c.m, f, work)
		if c.m.Names(f.Name) {
			f.Name = c.m.Redact(f.Name, "erased")
		}
		changed = changed || f.Name != was.Name || f.Value != was.Value
		meta = append(meta, f)
	}
	return meta, changed
}

// redactField edits a metadata value. A value that is exactly an identifier is emptied: a field with only a mark in it says
// nothing. JSON stays JSON. A field of a work item must be such that its store accepts it: a title, a status and a type are
// never empty, a status is a word, labels that begin with a bracket are a JSON array, and a dependency is on an item that
// exists.
func redactField(m *subject.Matcher, f model.Field, work bool) string {
	if work && m.Names(f.Value) {
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
			return strings.Join(slices.DeleteFunc(strings.Split(f.Value, ", "), m.Names), ", ")
		}
	}
	now := m.Redact(f.Value, Erased)
	if now == Erased {
		return ""
	}
	return string(mendJSON([]byte(f.Value), []byte(now)))
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

// Beside is a value that the scrub edits in an item's record and that is none of the item's fields: the
// author of a work item, a commenter, data that only the tracker's program knows.
type Beside struct {
	Path   string `json:"path"` // path in the record
	Before string `json:"before"`
	After  string `json:"after"`
}

// Edited returns an item's text before and after a redaction, for people to compare: edited metadata before
// the body, and after it the values that the scrub edits beside the fields.
func (st Step) Edited(it model.Item) (before, after string) {
	before, after = plain(it), st.NewBody
	if st.NewMeta != nil {
		old := slices.DeleteFunc(slices.Clone(it.Meta), func(f model.Field) bool { return f.ReadOnly })
		before, after = model.Document{Meta: old, Body: plain(it)}.Encode(model.Structured), model.Document{Meta: st.NewMeta, Body: st.NewBody}.Encode(model.Structured)
	}
	if len(st.Beside) == 0 {
		return before, after
	}
	const head = "beside its fields, in its line:"
	was, will := []string{strings.TrimSuffix(before, "\n"), "", head}, []string{strings.TrimSuffix(after, "\n"), "", head}
	for _, b := range st.Beside {
		was, will = append(was, "  "+b.Path+": "+b.Before), append(will, "  "+b.Path+": "+b.After)
	}
	return strings.Join(was, "\n") + "\n", strings.Join(will, "\n") + "\n"
}
