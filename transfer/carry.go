package transfer

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/model"
)

// carried is the write of an item as new: the addresses to try, in this order, and the data that cannot go
// with it.
type carried struct {
	at   []address
	req  model.RetainRequest
	lost []string
}

// address is the id or key for the write of an item; neither, where the store makes one.
type address struct{ id, key string }

// carry prepares the write of an item as new in a tier. Data for which a store of another family has no field
// goes into the front matter of a text, into the members of an object, or into the field for any data; where
// there is none of these it is lost, and reported.
func (r *run) carry(it model.Item, tier string, beside *model.Beside) carried {
	source, _ := r.From.Tier(it.Tier)
	spec, ok := r.To.Tier(tier)
	if !ok { // the write makes it, see mapTier
		spec = source
	}
	c := carried{req: model.RetainRequest{Mode: model.Replace, IfMatch: model.Absent, Content: it.Body, Binary: it.Has(model.FlagBinary)}}
	r.address(&c, it, spec)
	more := slices.Concat(nonEmpty(it.Meta), r.about(it))
	switch {
	case r.family && source.Document == model.Structured:
		// A store of the same family ignores its own fields; an edge's members are such a field, and an edge
		// cannot be made without them.
		c.req.Meta = renamed(it.Meta, it.Tier, tier)
	case spec.Text == model.TextObject:
		c.req.Content, c.lost = members(append([]model.Field{{Name: "text", Value: it.Body}}, more...))
	case spec.Document == model.Opaque && source.Document == model.Structured:
		c.req.Content = model.Document{Meta: more, Body: it.Body}.Encode(model.Structured)
	case spec.Document == model.Opaque: // bytes are kept
		if !r.sameKind {
			c.lose(r.about(it))
		}
	case spec.Extra != "":
		text, lost := members(more)
		c.req.Meta, c.lost = []model.Field{{Name: spec.Extra, Value: text}}, lost
	default:
		// Never nil, which would leave the fields to the store.
		c.req.Meta = slices.DeleteFunc(append([]model.Field{}, it.Meta...), func(f model.Field) bool { return f.ReadOnly })
		kept := map[string]bool{}
		for _, f := range c.req.Meta {
			kept[f.Name] = true
		}
		c.lose(slices.DeleteFunc(more, func(f model.Field) bool { return kept[f.Name] }))
	}
	if spec.Text == model.TextList && source.Text != model.TextList {
		c.req.Content = "- " + strings.ReplaceAll(strings.TrimSuffix(it.Body, "\n"), "\n", "\n  ")
	}
	r.setBeside(&c, it, beside)
	return c
}

// lose records fields that have no place in the destination.
func (c *carried) lose(fields []model.Field) {
	for _, f := range fields {
		c.lost = append(c.lost, f.Name)
	}
}

// address returns the addresses to try: the item's own id, then others for a destination that requires
// another form of id.
func (r *run) address(c *carried, it model.Item, spec model.TierSpec) {
	if r.sameKind && spec.Document == model.Opaque && it.Tier == spec.Name {
		c.at = []address{{id: it.ID}}
		return
	}
	c.req.Tier = spec.Name
	key := keyOf(it.ID)
	switch {
	case spec.Document == model.Structured && r.family:
		c.at = []address{{id: it.ID}}
	case spec.Document == model.Structured:
		c.at = []address{{id: it.ID}, {key: key}, {id: r.From.Name + "/" + key}}
	case spec.KeyRule != model.KeyIgnored:
		c.at = []address{{key: key}}
	}
	if len(c.at) == 0 || !r.family && spec.KeyRule != model.KeyRequired {
		c.at = append(c.at, address{})
	}
}

// setBeside adds the data beside the document: vector, times, subject.
func (r *run) setBeside(c *carried, it model.Item, beside *model.Beside) {
	vector := beside != nil && len(beside.Vector) > 0
	switch {
	case r.family && r.To.Beside != nil:
		c.req.Beside = beside
		if beside == nil { // the document's times are used all the same
			c.req.Beside = &model.Beside{}
		}
	case r.To.Beside != nil && r.To.Graph != nil: // a graph keeps a new item's times and owner
		c.req.Beside = &model.Beside{}
		if vector {
			c.req.Beside = beside
		}
		if !it.Modified.IsZero() {
			at := it.Modified.UTC().Format(time.RFC3339Nano)
			c.req.Meta = append(c.req.Meta, model.Field{Name: "created_at", Value: at}, model.Field{Name: "updated_at", Value: at})
		}
		if !it.Has(model.FlagEdge) && r.To.Capabilities()["cascade"] {
			c.req.DataSubjectID = subject(it)
		}
	case r.family && r.From.Beside != nil:
		if !it.Has(model.FlagEdge) { // lost are the fields that the store fills by itself
			c.lose(slices.DeleteFunc(nonEmpty(it.Meta), func(f model.Field) bool { return !f.ReadOnly }))
		}
	case vector:
		c.lost = append(c.lost, "vector")
	}
}

// about returns an item's title, scope, time and source as fields.
func (r *run) about(it model.Item) []model.Field {
	var out []model.Field
	if it.Title != "" && it.Title != it.ID && !strings.Contains(it.Body, it.Title) {
		out = append(out, model.Field{Name: "title", Value: it.Title})
	}
	if it.Scope != "" {
		out = append(out, model.Field{Name: "scope", Value: it.Scope})
	}
	if !it.Modified.IsZero() {
		out = append(out, model.Field{Name: "modified", Value: it.Modified.UTC().Format(time.RFC3339Nano)})
	}
	out = append(out, model.Field{Name: "copied_from", Value: r.From.Name + ":" + model.EncodeID(it.ID)})
	have := model.Values(it.Meta)
	out = slices.DeleteFunc(out, func(f model.Field) bool { return have[f.Name] == f.Value })
	for i, f := range out {
		if have[f.Name] != "" { // the item's own field with another meaning
			out[i].Name = "item_" + f.Name
		}
	}
	return out
}

// owners are the fields in which stores name an item's owner.
var owners = []string{"subject", "user_id", "userId", "resourceId"}

// subject is the person that the source's own fields name; empty for none.
func subject(it model.Item) string {
	for _, name := range owners {
		for _, f := range it.Meta {
			if f.Name == name && f.Value != "" {
				return f.Value
			}
		}
	}
	return ""
}

// nonEmpty are the fields that have a value.
func nonEmpty(meta []model.Field) []model.Field {
	return slices.DeleteFunc(slices.Clone(meta), func(f model.Field) bool { return f.Value == "" })
}

// renamed are the fields, where the one that holds the tier follows the mapping.
func renamed(meta []model.Field, from, to string) []model.Field {
	out := []model.Field{}
	for _, f := range meta {
		if f.Name == "tier" && f.Value == from {
			f.Value = to
		}
		out = append(out, f)
	}
	return out
}

// members writes fields as a JSON object in their order. A repeated name is left out, and what JSON cannot
// hold is replaced: lost says so.
func members(fields []model.Field) (text string, lost []string) {
	var out []string
	seen := map[string]bool{}
	for _, f := range fields {
		if seen[f.Name] {
			lost = append(lost, f.Name)
			continue
		}
		seen[f.Name] = true
		out = append(out, quoted(f.Name)+":"+quoted(f.Value))
		if strings.Contains(f.Name+f.Value, "\x00") {
			lost = append(lost, "NUL of "+f.Name)
		}
		if !utf8.ValidString(f.Name) || !utf8.ValidString(f.Value) {
			lost = append(lost, "bytes of "+f.Name)
		}
	}
	return "{" + strings.Join(out, ",") + "}", lost
}

// quoted is a text as a JSON string without NUL, which PostgreSQL accepts in no JSON.
func quoted(s string) string {
	text, _ := json.Marshal(strings.ReplaceAll(s, "\x00", "\ufffd")) // a string always encodes
	return string(text)
}
