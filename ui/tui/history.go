package tui

import (
	"context"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// revisions are the recorded versions of items.
type revisions struct{ d *desk }

// openHistory lists the recorded versions of an item, each to be read only.
func (rv *revisions) openHistory(ref model.Ref) tea.Cmd {
	d := rv.d
	return openSide(rv.d, "History", recordKind[model.Version]{
		noun:  "version",
		empty: "The store has recorded no version of this item.",
		columns: []column{
			{"WHEN", 21, false}, {"SIZE", 10, true}, {"BYTES", 9, false}, {"BY", 16, false}, {"VERSION", 0, false},
		},
		least: []int{21, 10, 9, 8, 10}, about: d.esc.LineMax(ref.ID, prose.MaxTitle),
		fetch: func(ctx context.Context, q PageQuery) (span[record[model.Version]], said, error) {
			return d.fetchVersions(ctx, ref, q)
		},
		detail:  func(ctx context.Context, raw model.Version) *text.Page { return d.versionText(ctx, ref, raw) },
		marking: true, name: "history", field: func(raw model.Version) string { return raw.ID }, datum: versionDatum,
		keys: func(p *records[model.Version]) []act.Act {
			return []act.Act{{Keys: []string{"c"}, Name: "compare", Doc: "compare with the version that is marked (space), or with the item as it is now",
				Why: func() string { return noCompare(p) }, Do: func() tea.Cmd { return rv.compareVersions(ref, p) }}}
		},
	})
}

// fetchVersions gives all versions as one page: stores list them in one answer.
func (d *desk) fetchVersions(ctx context.Context, ref model.Ref, q PageQuery) (span[record[model.Version]], said, error) {
	s, err := d.fleet.Store(ref.Store)
	if err == nil && s.History == nil {
		err = model.Errorf(model.Unsupported, "history", "this store keeps no earlier versions")
	}
	if err != nil {
		return span[record[model.Version]]{}, said{}, err
	}
	h, err := s.History.Revisions(ctx, ref.ID)
	if err != nil {
		return span[record[model.Version]]{}, said{}, err
	}
	var out span[record[model.Version]]
	for i, v := range h.Versions {
		if q.Matches(v.ID, v.By, v.Hash) {
			out.rows = append(out.rows, versionRecord(d, i, v))
		}
	}
	out.total = model.Count{N: int64(len(out.rows))}
	var notice said
	if h.State != model.Recorded {
		notice.text = d.esc.Sprintf("the history is %s: %s", string(h.State), d.esc.LineMax(h.Reason, prose.MaxReason))
	}
	return out, notice, nil
}

func versionRecord(d *desk, i int, v model.Version) record[model.Version] {
	esc := d.esc
	kept := "kept"
	tones := []paint.Tone{paint.ToneInfo, paint.ToneInfo, paint.ToneInfo}
	if !v.Readable {
		kept, tones[2] = "gone", paint.ToneWarn
	}
	return record[model.Version]{key: strconv.Itoa(i) + "/" + v.ID, raw: v, tones: tones, cells: []safetext.Text{
		esc.Const(prose.Moment(v.At)), esc.Const(prose.Size(v.Bytes)), esc.Const(" " + kept), orElse(esc.Line(v.By), esc.Const("not known")), esc.LineMax(v.ID, prose.MaxTitle),
	}}
}

// versionText is the item as it was. It runs in a command.
func (d *desk) versionText(ctx context.Context, ref model.Ref, v model.Version) *text.Page {
	esc := d.esc
	head := []text.Line{{Value: esc.Sprintf("As it was at %s", prose.Moment(v.At)), Kind: text.Title}}
	if v.By != "" {
		head = append(head, text.Line{Name: esc.Const("by"), Value: esc.LineMax(v.By, maxField)})
	}
	if v.Hash != "" {
		head = append(head, text.Line{Name: esc.Const("hash"), Value: esc.LineMax(v.Hash, maxField)})
	}
	head = append(head, text.Line{Kind: text.Blank})
	s, err := d.fleet.Store(ref.Store)
	if err == nil && s.History == nil {
		err = model.Errorf(model.Unsupported, "history", "this store keeps no earlier versions")
	}
	var it model.Item
	if err == nil {
		it, err = s.History.ReadRevision(ctx, ref.ID, v.ID)
	}
	if err != nil {
		return text.NewPage(append(head, text.Line{Value: esc.Sprintf("!! this version cannot be shown: %s", prose.Reason(esc, err)), Kind: text.Warn}), "")
	}
	t := itemText(d, s, it)
	t.Head = append(head, t.Head...)
	return t
}

func versionDatum(v model.Version) datum {
	var r datum
	r.add("version", v.ID)
	r.add("at", stampOf(v.At))
	r.add("by", v.By)
	r.add("bytes", v.Bytes)
	r.add("sha256", v.Hash)
	r.add("readable", v.Readable)
	return r
}

// sides are the versions to compare, the older one first; without a mark the
// newer side is the item as it is now.
func sides(p *records[model.Version]) (old, new *model.Version, why string) {
	var picked []record[model.Version]
	for _, id := range p.marks.order {
		picked = append(picked, p.marks.kept[id])
	}
	here, ok := p.list.current()
	switch {
	case !ok:
		return nil, nil, p.list.nothing()
	case len(picked) > 2:
		return nil, nil, "more than two versions are marked; u takes the marks away"
	case len(picked) == 1 && picked[0].key == here.key:
		return nil, nil, "this is the version that is marked: go to another one"
	case len(picked) < 2:
		picked = append(picked, here)
	}
	versions := make([]*model.Version, len(picked))
	for i, r := range picked {
		v := r.raw
		if !v.Readable {
			return nil, nil, "the bytes of a version that is to be compared are gone"
		}
		versions[i] = &v
	}
	if len(versions) == 1 {
		return versions[0], nil, ""
	}
	if versions[0].At.After(versions[1].At) {
		versions[0], versions[1] = versions[1], versions[0]
	}
	return versions[0], versions[1], ""
}

func noCompare(p *records[model.Version]) string {
	_, _, why := sides(p)
	return why
}

// compareVersions shows what has changed between two versions.
func (rv *revisions) compareVersions(ref model.Ref, p *records[model.Version]) tea.Cmd {
	old, new, _ := sides(p)
	d, esc := rv.d, rv.d.esc
	return rv.d.ask(func(ctx context.Context) any {
		read := func(v *model.Version) (text, name string, err error) {
			s, it, err := d.readable(ctx, ref)
			if v == nil {
				return it.Document().Encode(kindOf(s, it.Tier)), "as it is now", err
			}
			if s, err = d.fleet.Store(ref.Store); err == nil {
				it, err = s.History.ReadRevision(ctx, ref.ID, v.ID)
			}
			return it.Document().Encode(kindOf(s, it.Tier)), "as it was at " + prose.Moment(v.At), err
		}
		before, was, err := read(old)
		after, is := "", ""
		if err == nil {
			after, is, err = read(new)
		}
		if err != nil {
			return acted{quiet: true, text: esc.Sprintf("not compared: %s", prose.Reason(esc, err))}
		}
		var c comparison
		c.compare(esc, was, is, before, after)
		return acted{ok: true, quiet: true, title: "Compare", page: c.text([]text.Line{
			{Value: esc.LineMax(ref.ID, prose.MaxTitle), Kind: text.Title},
			{Value: esc.Sprintf("%s added, %s removed.", prose.Plural(int64(c.added), "line"), prose.Plural(int64(c.removed), "line"))},
			{Kind: text.Blank},
		})}
	})
}
