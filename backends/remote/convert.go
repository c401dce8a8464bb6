package remote

import (
	"time"

	"memdesk/backends/internal/declared"
	"memdesk/model"
)

// timeOf is nil for an unknown time and for one that JSON cannot hold.
func timeOf(t time.Time) *time.Time {
	if y := t.UTC().Year(); t.IsZero() || y < 0 || y > 9999 {
		return nil
	}
	u := t.UTC()
	return &u
}

func timeIn(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// mapped converts a slice; an empty one stays empty, never null.
func mapped[A, B any](in []A, fn func(A) B) []B {
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = fn(v)
	}
	return out
}

func fieldOut(f model.Field) field { return field{f.Name, f.Value, f.ReadOnly, f.Sealed} }
func fieldIn(f field) model.Field  { return model.Field(f) }

// tierOut: data beside a document is not served, so a store with such data renews it.
func tierOut(t model.TierSpec, beside bool) tier {
	if beside {
		t.Renews = []string{model.AllFields}
	}
	return tier(declared.Of(t))
}

func tierIn(t tier) model.TierSpec { return declared.Tier(t).Spec() }

func headerOut(h model.Header) header {
	return header{ID: id(h.ID), Tier: h.Tier, Scope: h.Scope, Title: h.Title, Bytes: h.Bytes, Modified: timeOf(h.Modified),
		Stamp: h.Stamp, Revision: h.Revision, Flags: h.Flags}
}

func headerIn(h header) model.Header {
	return model.Header{ID: string(h.ID), Tier: h.Tier, Scope: h.Scope, Title: h.Title, Bytes: h.Bytes, Modified: timeIn(h.Modified),
		Stamp: h.Stamp, Revision: h.Revision, Flags: h.Flags}
}

func itemOut(it model.Item) item {
	return item{header: headerOut(it.Header), content: contentOf(it.Body), Meta: mapped(it.Meta, fieldOut),
		Links: mapped(it.Links, linkOut), LinksTotal: it.LinksTotal}
}

func itemIn(op string, it item) (model.Item, error) {
	body, err := it.bytes(op)
	if err != nil {
		return model.Item{}, err
	}
	out := model.Item{Header: headerIn(it.header), Body: body, LinksTotal: it.LinksTotal}
	for _, f := range it.Meta {
		out.Meta = append(out.Meta, fieldIn(f))
	}
	for _, l := range it.Links {
		out.Links = append(out.Links, model.Link{ID: string(l.ID), Kind: l.Kind, Role: l.Role, Label: l.Label, Other: mapped(l.Other, func(i id) string { return string(i) })})
	}
	return out, nil
}

func linkOut(l model.Link) link {
	return link{id(l.ID), l.Kind, l.Role, l.Label, mapped(l.Other, func(s string) id { return id(s) })}
}

func pageOut(p model.Page) page {
	return page{Items: mapped(p.Items, headerOut), Next: p.Next, Prev: p.Prev,
		Total: count{p.Total.N, p.Total.AtLeast, p.Total.Unknown}, Problems: p.Problems}
}

func pageIn(p page) model.Page {
	return model.Page{Items: mapped(p.Items, headerIn), Next: p.Next, Prev: p.Prev,
		Total: model.Count{N: p.Total.N, AtLeast: p.Total.AtLeast, Unknown: p.Total.Unknown}, Problems: p.Problems}
}

func hitOut(h model.RecallSnippet) hit {
	return hit{id(h.ID), h.Source, h.Snippet, h.Line, h.Score, mapped(h.Meta, fieldOut)}
}

func recallOut(r model.RecallResult, warnings []string) recallResult {
	out := recallResult{Hits: mapped(r.Hits, hitOut), Quarantined: r.Quarantined, Bounded: r.Bounded, BoundNote: r.BoundNote, Warnings: warnings}
	if r.Total != model.TotalUnknown {
		out.Total = &r.Total
	}
	return out
}

func quarantinedOut(q model.Quarantined) quarantined {
	return quarantined{ID: id(q.ID), Source: q.Source, SourceID: id(q.SourceID), Category: q.Category, Pattern: q.Pattern,
		SHA256: q.SHA256, At: timeOf(q.At), Bytes: q.Bytes, content: contentOf(q.Body), Problem: q.Problem, Unread: q.Unread}
}

func quarantinedIn(q quarantined) (model.Quarantined, error) {
	body, err := q.bytes("quarantine")
	return model.Quarantined{ID: string(q.ID), Source: q.Source, SourceID: string(q.SourceID), Category: q.Category, Pattern: q.Pattern,
		SHA256: q.SHA256, At: timeIn(q.At), Bytes: q.Bytes, Body: body, Problem: q.Problem, Unread: q.Unread}, err
}
