package beads

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/tracker"
	"memdesk/model"
)

// column is a field of a work item's document and its members: the first one that exists is read and written.
type column struct {
	name string
	keys []string
	sort columnSort
}

type columnSort int

const (
	text columnSort = iota
	integer
	list
	pairs // no member: the field depends
)

// core fields are always shown, optional ones where they exist, kept ones belong to the store.
var (
	core = []column{
		{tracker.FieldTitle, []string{"title"}, text},
		{tracker.FieldStatus, []string{"status"}, text},
		{tracker.FieldType, []string{"issue_type", "type"}, text},
		{tracker.FieldPriority, []string{"priority"}, integer},
		{"labels", []string{"labels"}, list},
		{"assignee", []string{"assignee"}, text},
		{"owner", []string{"owner"}, text},
		{"parent", []string{"parent"}, text},
		{tracker.FieldDepends, nil, pairs},
		{"acceptance_criteria", []string{"acceptance_criteria", "acceptance"}, text},
		{"design", []string{"design"}, text},
		{"notes", []string{"notes"}, text},
	}
	optional = []column{
		{"close_reason", []string{"close_reason"}, text},
		{"due_at", []string{"due_at", "due"}, text},
		{"defer_until", []string{"defer_until"}, text},
		{"external_ref", []string{"external_ref"}, text},
		{"spec_id", []string{"spec_id"}, text},
		{"estimated_minutes", []string{"estimated_minutes", "estimate"}, integer},
	}
	kept = []column{
		{"created_at", []string{"created_at", "created"}, text},
		{"created_by", []string{"created_by"}, text},
		{"updated_at", []string{"updated_at", "updated"}, text},
		{"started_at", []string{"started_at"}, text},
		{"closed_at", []string{"closed_at", "closed"}, text},
	}
	writable = slices.Concat(core, optional)
	// aside are members that are no field: the id, the body, arrays that a list of pairs shows.
	aside = []string{"id", "description", "_type"}
)

// Record decodes the whole entry.
func (s *snapshot) Record(i int) tracker.Record {
	r := tracker.Record{Head: s.Head(i)}
	_, r.Body = s.Texts(i)
	e := &s.entries[i]
	if e.kind == tracker.Line {
		r.Fields = []model.Field{
			{Name: "line", Value: strconv.Itoa(e.number), ReadOnly: true},
			{Name: "problem", Value: e.problem, ReadOnly: true},
		}
		return r
	}
	o, err := jsonedit.Parse(s.line(i))
	if err != nil { // valid when it was scanned
		return r
	}
	shown := map[string]bool{}
	if e.kind == tracker.Memory {
		r.Fields = append(r.Fields, model.Field{Name: "key", Value: e.raw, ReadOnly: true})
		shown["key"], shown["value"] = true, true
	} else {
		s.columns(&r, o, i, shown)
	}
	r.Fields = append(r.Fields, strangers(o, shown)...)
	return r
}

func (s *snapshot) columns(r *tracker.Record, o *jsonedit.Object, i int, shown map[string]bool) {
	for n, c := range writable {
		if n >= len(core) && o.Find(c.keys...) < 0 {
			continue
		}
		r.Fields = append(r.Fields, model.Field{Name: c.name, Value: c.value(s, o, i)})
		noted(shown, c, o)
	}
	for _, c := range kept {
		if o.Find(c.keys...) >= 0 {
			v, _ := o.Text(c.keys...)
			r.Fields = append(r.Fields, model.Field{Name: c.name, Value: v, ReadOnly: true})
			noted(shown, c, o)
		}
	}
}

// noted records the field's name and the member that was read; an older spelling beside it is a stranger.
func noted(shown map[string]bool, c column, o *jsonedit.Object) {
	shown[c.name] = true
	if i := o.Find(c.keys...); i >= 0 {
		shown[o.Members[i].Name] = true
	}
}

func (c column) value(s *snapshot, o *jsonedit.Object, i int) string {
	switch c.sort {
	case pairs:
		return tracker.JoinNames(s.blockers(i))
	case list:
		return listText(o.Raw(c.keys...))
	}
	v, _ := o.Text(c.keys...)
	if v == "" {
		switch c.name {
		case tracker.FieldStatus:
			return tracker.DefaultStatus
		case tracker.FieldType:
			return tracker.DefaultType
		case tracker.FieldPriority:
			return strconv.Itoa(tracker.DefaultPriority)
		}
	}
	return v
}

// fieldRest is the field for members that cannot be one each. A search for a person reads it, and Scrub edits
// the members.
const fieldRest = "rest_of_line"

// strangers are the members without a field in memdesk, raw: one field each, or one together for names that
// front matter cannot contain and for duplicates that do not count.
func strangers(o *jsonedit.Object, shown map[string]bool) []model.Field {
	var out []model.Field
	var rest []string
	for i, m := range o.Members {
		value := string(m.Value.In(o.Line))
		switch {
		case o.Find(m.Name) != i, !plainName(m.Name):
			rest = append(rest, string(jsonedit.Quote(m.Name))+":"+value)
		case !shown[m.Name] && !slices.Contains(aside, m.Name):
			shown[m.Name] = true
			out = append(out, model.Field{Name: m.Name, Value: value, ReadOnly: true})
		}
	}
	if rest != nil {
		out = append(out, model.Field{Name: fieldRest, Value: "{" + strings.Join(rest, ",") + "}", ReadOnly: true})
	}
	return out
}

// plainName reports whether front matter can contain a name.
func plainName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	})
}

// listText writes an array of strings as a list, any other value raw.
func listText(raw []byte) string {
	if raw == nil || string(raw) == "null" {
		return ""
	}
	names, ok := jsonedit.Texts(raw)
	if !ok {
		return string(raw)
	}
	return tracker.JoinNames(names)
}

// listRaw reads a person's list: names with commas, or a JSON array.
func listRaw(s, comma string) ([]byte, error) {
	names, err := tracker.SplitNames(s)
	if err != nil {
		return nil, err
	}
	out := []byte("[")
	for i, n := range names {
		if i > 0 {
			out = append(out, comma...)
		}
		out = append(out, jsonedit.Quote(n)...)
	}
	return append(out, ']'), nil
}

// edit changes a line from one record to another. Members with unchanged values are not touched.
func edit(line []byte, have, want tracker.Record, now string) ([]byte, error) {
	o, err := jsonedit.Parse(line)
	if err != nil {
		return nil, err
	}
	if unknown := stranger(have, want); unknown != "" {
		return nil, noField(unknown)
	}
	if have.Kind == tracker.Memory {
		o.Set(jsonedit.Quote(want.Body), "value")
		return o.Line, nil
	}
	for _, c := range writable {
		if v := want.Field(c.name); v != have.Field(c.name) {
			if err := c.write(o, v); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case want.Body == have.Body:
	case want.Body == "": // as bd writes an issue without one
		o.Remove("description")
	default:
		o.Set(jsonedit.Quote(want.Body), "description")
	}
	if was, is := have.Field(tracker.FieldStatus), want.Field(tracker.FieldStatus); was != is {
		if is == statusClosed {
			o.Set(jsonedit.Quote(now), "closed_at", "closed")
		} else if was == statusClosed { // bd accepts no open issue with a closing time
			o.Remove("closed_at", "closed")
		}
	}
	o.Set(jsonedit.Quote(now), "updated_at", "updated")
	return o.Line, nil
}

// stranger returns a wanted field that is not read-only and none of the store's.
func stranger(have, want tracker.Record) string {
	for _, f := range want.Fields {
		if f.ReadOnly || slices.ContainsFunc(have.Fields, func(h model.Field) bool { return h.Name == f.Name }) {
			continue
		}
		if want.Kind == tracker.Memory || !slices.ContainsFunc(writable, func(c column) bool { return c.name == f.Name }) {
			return f.Name
		}
	}
	return ""
}

func noField(name string) error {
	return model.Errorf(model.InvalidInput, "retain", "the store has no field %q", name)
}

// write writes a field's value into the line; an empty one removes the member.
func (c column) write(o *jsonedit.Object, v string) error {
	switch {
	case c.sort == pairs: // relate writes it
	case v == "":
		o.Remove(c.keys...)
	case c.sort == integer:
		n, err := strconv.ParseInt(v, 10, 32)
		if err != nil || n < 0 {
			return model.Errorf(model.InvalidInput, "retain", "%s %q: it is a whole number, 0 or more", c.name, v)
		}
		o.Set(strconv.AppendInt(nil, n, 10), c.keys...)
	case c.sort == list:
		comma, _ := o.Manner()
		raw, err := listRaw(v, comma)
		if err != nil {
			return err
		}
		o.Set(raw, c.keys...)
	default:
		if c.name == "due_at" || c.name == "defer_until" {
			if _, err := time.Parse(time.RFC3339Nano, v); err != nil {
				return model.Errorf(model.InvalidInput, "retain", "%s %q: write a time as 2026-05-21T10:00:00Z", c.name, v)
			}
		}
		o.Set(jsonedit.Quote(v), c.keys...)
	}
	return nil
}

// compose writes a new line. Read-only fields of a forgotten item are restored as they were shown, with their
// times.
func compose(want tracker.Record, typed bool, now string) ([]byte, error) {
	if want.Kind == tracker.Memory {
		o, err := jsonedit.Parse([]byte(`{"_type":"memory"}`))
		if err != nil {
			return nil, err
		}
		o.Set(jsonedit.Quote(strings.TrimPrefix(want.ID, tracker.MemoryPrefix)), "key")
		o.Set(jsonedit.Quote(want.Body), "value")
		return o.Line, restore(o, want, []string{"key", "value", "_type"})
	}
	o, err := jsonedit.Parse([]byte(`{}`))
	if err != nil {
		return nil, err
	}
	if typed {
		o.Set(jsonedit.Quote("issue"), "_type")
	}
	o.Set(jsonedit.Quote(want.ID), "id")
	o.Set(jsonedit.Quote(want.Field(tracker.FieldTitle)), "title")
	if want.Body != "" {
		o.Set(jsonedit.Quote(want.Body), "description")
	}
	known := []string{tracker.FieldTitle, tracker.FieldDepends}
	for _, c := range writable {
		known = append(known, c.name)
		if v := want.Field(c.name); v != "" && c.name != tracker.FieldTitle {
			if err := c.write(o, v); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range kept {
		known = append(known, c.name)
		v := want.Field(c.name)
		if v != "" && !slices.ContainsFunc(want.Fields, func(f model.Field) bool { return f.Name == c.name && f.ReadOnly }) {
			return nil, model.Errorf(model.InvalidInput, "retain", "only the store itself writes the field %q", c.name)
		}
		switch {
		case c.name == "updated_at", v == "" && c.name == "created_at":
			v = now
		case c.name == "closed_at" && want.Field(tracker.FieldStatus) != statusClosed:
			v = ""
		case c.name == "closed_at" && v == "":
			v = now
		}
		if v != "" {
			o.Set(jsonedit.Quote(v), c.name)
		}
	}
	if err := restore(o, want, known); err != nil {
		return nil, err
	}
	return o.Line, nil
}

// restore restores the members without a field in memdesk.
func restore(o *jsonedit.Object, want tracker.Record, known []string) error {
	for _, f := range want.Fields {
		if slices.Contains(known, f.Name) {
			continue
		}
		if rest, err := jsonedit.Parse([]byte(f.Value)); f.ReadOnly && f.Name == fieldRest && err == nil {
			for _, m := range rest.Members {
				if o.Find(m.Name) < 0 && !slices.Contains(known, m.Name) && !slices.Contains(aside, m.Name) {
					o.Set(m.Value.In(rest.Line), m.Name)
				}
			}
			continue
		}
		if !f.ReadOnly || slices.Contains(aside, f.Name) || !json.Valid([]byte(f.Value)) {
			return noField(f.Name)
		}
		o.Set([]byte(f.Value), f.Name)
	}
	return nil
}

// Bead decodes the fields of the port and the query language.
func (s *snapshot) Bead(i int) (tracker.Bead, bool) {
	e := &s.entries[i]
	if e.kind != tracker.Issue || e.tier == tracker.TierTombstone {
		return tracker.Bead{}, false
	}
	o, err := jsonedit.Parse(s.line(i))
	if err != nil {
		return tracker.Bead{}, false
	}
	get := func(keys ...string) string {
		v, ok := o.Text(keys...)
		if !ok {
			return ""
		}
		return v
	}
	b := tracker.Bead{
		ID: e.id, Title: get("title"), Description: get("description"), Notes: get("notes"), Acceptance: get("acceptance_criteria", "acceptance"),
		Type: get("issue_type", "type"), Status: get("status"), Assignee: get("assignee"), Owner: get("owner"), Parent: get("parent"),
		Priority: tracker.DefaultPriority,
		Created:  tracker.Time(get("created_at", "created")), Updated: tracker.Time(get("updated_at", "updated")), Closed: tracker.Time(get("closed_at", "closed")),
	}
	if n, err := strconv.ParseFloat(string(o.Raw("priority")), 64); err == nil && n == float64(int(n)) { // 3.0 is the integer 3
		b.Priority = int(n)
	}
	if b.Parent == "" {
		b.Parent = parentOf(o.Raw("dependencies"), e.raw)
	}
	b.Labels, _ = jsonedit.Texts(o.Raw("labels"))   // of another type: no labels
	b.Aliases, _ = jsonedit.Texts(o.Raw("aliases")) // of another type: no aliases
	b.Human = string(o.Raw("requiresHumanAction")) == "true" || string(o.Raw("requires_human_action")) == "true"
	b.Normalise()
	return b, true
}
