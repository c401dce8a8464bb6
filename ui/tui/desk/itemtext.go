package desk

import (
	"cmp"
	"slices"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// maxFields bounds the metadata fields shown; the rest is counted.
const maxFields = 500

// ItemText is an item for the pager: its title, a line of its state and what is wrong with it, then the body, then the rest.
func ItemText(d *Desk, s model.Store, it model.Item) *text.Page {
	esc := d.Esc
	spec, _ := s.Tier(it.Tier)
	state, written := itemState(d, spec, it), esc.Const("nobody knows")
	if d.Origins != nil {
		if w := d.Origins.WriterOfItem(s, it); w != nil {
			state, written = esc.Sprintf("%s, by %s", state, WriterCell(esc, w.Row)), WriterWords(d, *w)
		}
	}
	head := []text.Line{{Value: esc.LineMax(cmp.Or(FirstWords(it.Title), it.ID), MaxField), Kind: text.Title}, {Value: state, Kind: text.Note}}
	for _, f := range it.Flags {
		head = append(head, text.Line{Value: esc.Line(cmp.Or(flagWords[f], string(f))), Kind: text.Warn})
	}
	if part := d.Part(model.Ref{Store: s.Name, ID: it.ID}); part != "" {
		head = append(head, text.Advice(esc, partWords[part]).As(text.Warn))
	}
	head = append(head, text.Known(text.Line{Value: d.Planted(it.Body), Kind: text.Alert})...)
	if hidden := safetext.Hidden(it.Body); hidden > 0 {
		head = append(head, text.Line{Name: esc.Const("hidden"), Kind: text.Warn,
			Value: esc.Sprintf("%s shown escaped", prose.Plural(hidden, "control or invisible character"))})
	}
	head = append(head, text.Line{Kind: text.Blank})
	if it.Body == "" {
		head = append(head, text.Line{Value: esc.Const("The body is empty."), Kind: text.Note})
	}
	tier := esc.Line(it.Tier)
	if spec.Title != "" {
		tier = esc.Sprintf("%s (%s)", tier, esc.Line(spec.Title))
	}
	page := text.NewPage(head, it.Body)
	page.Foot = append(linkLines(esc, it), text.Line{Kind: text.Blank}, Field("reference", esc.Line(model.Ref{Store: s.Name, ID: it.ID}.String())), Field("tier", tier))
	page.Foot = append(page.Foot, text.Known(Field("scope", esc.Line(it.Scope)), Field("size", sizeText(esc, spec, it)), Field("changed", esc.Const(Changed(d, it.Modified))))...)
	if d.Origins != nil {
		page.Foot = append(page.Foot, Field("written by", written))
	}
	page.Foot = append(page.Foot, text.Known(Field("revision", esc.Line(string(it.Revision))))...)
	it.Meta = slices.DeleteFunc(slices.Clone(it.Meta), func(f model.Field) bool { return said(it, f) })
	page.Foot = append(page.Foot, MetaLines(esc, it)...)
	return page
}

// itemState is where an item is, how full that is, and since when it is so.
func itemState(d *Desk, spec model.TierSpec, it model.Item) safetext.Text {
	esc := d.Esc
	state := esc.Sprintf("%s, %s", esc.Line(it.Tier), prose.Size(it.Bytes))
	if spec.Cap > 0 && spec.CapUnit == model.CapBytes {
		state = esc.Sprintf("%s of %s", state, prose.Capacity(spec))
	}
	if !it.Modified.IsZero() {
		state = esc.Sprintf("%s, %s", state, d.Time.Day(it.Modified))
	}
	return state
}

// said reports whether a field of an item only repeats its title or its tier.
func said(it model.Item, f model.Field) bool {
	switch f.Name {
	case "title", "name":
		return f.Value == it.Title
	case "status", "type", "kind", "tier":
		return f.Value == it.Tier
	}
	return false
}

// partWords say what an item is in a conflict, and where that is settled.
var partWords = map[operator.Part]string{
	operator.PartBase: "it has a conflict: `5` Conflicts shows it",
	operator.PartCopy: "it is a conflict copy: `5` Conflicts shows it",
}

// Part is what an item is in a conflict, as far as the conflicts were looked at.
func (d *Desk) Part(ref model.Ref) operator.Part {
	if d.Conflicts == nil {
		return ""
	}
	return d.Conflicts.Part(ref)
}

// Planted says why a text looks planted; empty for any other.
func (d *Desk) Planted(body string) safetext.Text {
	if d.Stories == nil {
		return safetext.Text{}
	}
	signals := d.Stories.Planted(body)
	if len(signals) == 0 {
		return safetext.Text{}
	}
	return d.Esc.Sprintf("looks planted: %s; 4 Quarantine, S lists such texts by writer", strings.Join(signals, ", "))
}

// sizeText is what the line of an item's state leaves out of its size; often nothing.
func sizeText(esc safetext.Escaper, spec model.TierSpec, it model.Item) safetext.Text {
	exact := prose.Bytes(it.Bytes)
	switch {
	case spec.Cap > 0 && spec.CapUnit != model.CapBytes:
		return esc.Sprintf("%s, cap %s", exact, prose.Capacity(spec))
	case exact == prose.Size(it.Bytes):
		return safetext.Text{}
	}
	return esc.Const(exact)
}

func MetaLines(esc safetext.Escaper, it model.Item) []text.Line {
	if len(it.Meta) == 0 {
		return nil
	}
	lines := []text.Line{{Kind: text.Blank}, {Value: esc.Const("metadata"), Kind: text.Title}}
	var empty []safetext.Text
	for i, f := range it.Meta {
		if i == maxFields {
			lines = append(lines, text.Line{Value: esc.Sprintf("and %s", prose.Plural(len(it.Meta)-i, "more field")), Kind: text.Note})
			break
		}
		if f.Value == "" {
			empty = append(empty, esc.LineMax(f.Name, 200))
			continue
		}
		kind := text.Field
		if f.ReadOnly {
			kind = text.Note
		}
		lines = append(lines, text.Line{Name: esc.LineMax(f.Name, 200), Value: esc.LineMax(f.Value, MaxField), Kind: kind})
	}
	if len(empty) > 0 {
		lines = append(lines, text.Line{Value: esc.Sprintf("empty: %s", esc.Join(empty, ", ")), Kind: text.Note})
	}
	return lines
}

func linkLines(esc safetext.Escaper, it model.Item) []text.Line {
	if len(it.Links) == 0 && it.LinksTotal == 0 {
		return nil
	}
	lines := []text.Line{{Kind: text.Blank}, {Value: esc.Const("links"), Kind: text.Title}}
	for _, l := range it.Links {
		others := make([]safetext.Text, len(l.Other))
		for i, o := range l.Other {
			others[i] = esc.Line(o)
		}
		words := esc.Join(others, ", ")
		if l.Label != "" {
			words = esc.Sprintf("%s: %s", esc.Line(l.Label), words)
		}
		if l.Role != "" && l.Kind != "" && l.Kind != "blocks" { // whose roles, blocks and blocked by, name the kind already
			words = esc.Sprintf("%s (%s)", words, esc.Line(l.Kind))
		}
		lines = append(lines, text.Line{Name: esc.Line(cmp.Or(l.Role, l.Kind, "link")), Value: words}) // a role says how the item stands to the others
	}
	if rest := it.LinksTotal - int64(len(it.Links)); rest > 0 {
		lines = append(lines, text.Line{Value: esc.Sprintf("and %s that are not listed here", prose.Plural(rest, "more link")), Kind: text.Note})
	}
	return lines
}

// Nobody fills the column ORIGIN where the writer is unknown.
const Nobody = "?"

// WriterCell is a writer in a narrow column: the name, the same for an agent that the log calls "agent NAME"
// and its store NAME, without the word that no key has said it, and the channel of a text that came from elsewhere.
func WriterCell(esc safetext.Escaper, r origin.Row) safetext.Text {
	who := esc.LineMax(strings.TrimPrefix(strings.TrimPrefix(r.Actor, "agent "), "unauthenticated "), prose.MaxTitle)
	if r.Actor == origin.Unknown || r.Actor == "" {
		if who = esc.Const(Nobody); r.Session != "" {
			who = esc.LineMax(r.Session, prose.MaxTitle)
		}
	}
	switch r.Channel {
	case origin.Web, origin.Tool:
		return esc.Sprintf("%s, %s", who, esc.Const(r.Channel))
	}
	return who
}

func WriterWords(d *Desk, w origin.Written) safetext.Text {
	esc := d.Esc
	out := esc.LineMax(w.Actor, prose.MaxTitle)
	if w.Client != "" {
		out = esc.Sprintf("%s with %s", out, esc.LineMax(w.Program(), prose.MaxTitle))
	}
	if w.Session != "" {
		out = esc.Sprintf("%s in session %s", out, esc.LineMax(w.Session, prose.MaxTitle))
	}
	out = esc.Sprintf("%s, %s, %s", out, esc.LineMax(w.Source(), prose.MaxTitle), esc.Line(w.Trust))
	if w.Kept == origin.InStore {
		return esc.Sprintf("%s; so its store says", out)
	}
	return esc.Sprintf("%s, %s", out, esc.Const(d.Time.Ago(w.At)))
}
