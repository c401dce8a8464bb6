package change

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/diff"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
)

// Versions lists the recorded versions of an item, read-only.
func Versions(d *desk.Desk, ref model.Ref) tea.Cmd {
	return record.Open(d, "History", record.Kind[model.Version]{
		Noun:  "version",
		Empty: "The store has recorded no version of this item.",
		Columns: []record.Column{
			{Title: "WHEN", Width: 21, Least: 21, Dim: true}, {Title: "SIZE", Width: 10, Right: true, Dim: true}, {Title: "TEXT", Width: 9, Least: 9, Dim: true}, {Title: "BY", Width: 16, Least: 8}, {Title: "VERSION", Least: 10},
		},
		Traits: record.Traits[model.Version]{Less: map[int]func(a, b model.Version) int{1: func(a, b model.Version) int { return cmp.Compare(a.Bytes, b.Bytes) }}},
		About:  d.Esc.LineMax(ref.ID, prose.MaxTitle),
		Fetch: func(ctx context.Context, q operator.PageQuery) (record.Page[model.Version], error) {
			return fetchVersions(d, ctx, ref, q)
		},
		Detail:  func(ctx context.Context, raw model.Version) *text.Page { return versionText(d, ctx, ref, raw) },
		Marking: true, Name: "history", Field: func(raw model.Version) string { return raw.ID },
		Datum: versionDatum,
		Keys: func(p *record.List[model.Version]) []act.Act {
			why := func() string { _, _, why := sides(p); return why }
			return []act.Act{act.Compare.With(why, func() tea.Cmd { return compareVersions(d, ref, p) })}
		},
	})
}

// versionDatum is a version for copy and export, as `history --json` prints it.
func versionDatum(v model.Version) desk.Datum {
	out := desk.DatumOf("version", v.ID, "at", desk.StampOf(v.At), "by", v.By, "bytes", v.Bytes, "sha256", v.Hash, "readable", v.Readable)
	if v.Change != nil {
		out.Add("action", v.Change.Action)
		out.Add("previous", textOf(v.Change.Previous))
		out.Add("new", textOf(v.Change.New))
	}
	return out
}

// textOf is a string in a row, where a table escapes what is like a formula; nil: there is none.
func textOf(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// fetchVersions returns all versions as one page: stores list them in one answer.
func fetchVersions(d *desk.Desk, ctx context.Context, ref model.Ref, q operator.PageQuery) (record.Page[model.Version], error) {
	s, err := recorded(d, ref)
	if err != nil {
		return record.Page[model.Version]{}, err
	}
	h, err := s.History.Revisions(ctx, ref.ID)
	if err != nil {
		return record.Page[model.Version]{}, err
	}
	out := record.OnePage(h.Versions, func(i int, v model.Version) (record.Row[model.Version], bool) {
		return versionRecord(d, i, v), q.Matches(prose.Moment(v.At), v.ID, v.By, v.Hash)
	})
	if h.State != model.Recorded {
		out.Said.Text = d.Esc.Sprintf("the history is %s: %s", string(h.State), d.Esc.LineMax(h.Reason, prose.MaxReason))
	}
	return out, nil
}

// recorded is the store of an item, if it keeps versions.
func recorded(d *desk.Desk, ref model.Ref) (model.Store, error) {
	s, err := d.Fleet.Store(ref.Store)
	if err == nil && s.History == nil {
		err = model.Errorf(model.Unsupported, "history", "this store keeps no earlier versions")
	}
	return s, err
}

func versionRecord(d *desk.Desk, i int, v model.Version) record.Row[model.Version] {
	esc := d.Esc
	kept, tone := "kept", paint.ToneInfo
	if !v.Readable {
		kept, tone = "gone", paint.ToneWarn
	}
	return record.Row[model.Version]{Key: strconv.Itoa(i) + "/" + v.ID, Raw: v, Tones: []paint.Tone{2: tone}, Cells: []safetext.Text{
		esc.Const(prose.Moment(v.At)), esc.Const(prose.Size(v.Bytes)), esc.Const(" " + kept), desk.OrElse(esc.Line(v.By), esc.Const("not known")), esc.LineMax(v.ID, prose.MaxTitle),
	}}
}

// versionText is the item as it was. It runs in a command.
func versionText(d *desk.Desk, ctx context.Context, ref model.Ref, v model.Version) *text.Page {
	esc := d.Esc
	head := []text.Line{{Value: esc.Sprintf("As it was at %s", prose.Moment(v.At)), Kind: text.Title}}
	head = append(head, text.Known(desk.Field("by", esc.LineMax(v.By, desk.MaxField)), desk.Field("hash", esc.LineMax(v.Hash, desk.MaxField)))...)
	head = append(head, text.Line{Kind: text.Blank})
	s, err := recorded(d, ref)
	var it model.Item
	if err == nil {
		it, err = s.History.ReadRevision(ctx, ref.ID, v.ID)
	}
	if c := v.Change; err != nil && c != nil { // the list itself has its texts
		head = slices.Insert(head, len(head)-1, desk.Field("action", esc.Line(c.Action)))
		if !errors.Is(err, model.NotFound) {
			head = append(head, text.Line{Value: esc.Sprintf("the store was not read, this is what its list says: %s", prose.Reason(esc, err)), Kind: text.Alert})
		}
		if c.New == nil && c.Previous != nil {
			head = append(head, text.Line{Value: esc.Const("The change left no text. This is the text before it."), Kind: text.Note})
		}
		return text.NewPage(head, *cmp.Or(c.New, c.Previous, new(string)))
	}
	if err != nil {
		return text.NewPage(append(head, text.Line{Value: esc.Sprintf("this version cannot be shown: %s", prose.Reason(esc, err)), Kind: text.Alert}), "")
	}
	t := desk.ItemText(d, s, it)
	t.Head = append(head, t.Head...)
	return t
}

// sides are the versions to compare, the older one first; a nil newer side is the item as it is now.
func sides(p *record.List[model.Version]) (old, new *model.Version, why string) {
	picked := p.Marks.Rows()
	here, ok := p.Window.Current()
	switch {
	case !ok:
		return nil, nil, p.Window.Nothing()
	case len(picked) > 2:
		return nil, nil, "more than two versions are marked; u takes the marks away"
	case len(picked) == 1 && picked[0].Key == here.Key:
		return nil, nil, "this is the version that is marked: go to another one"
	case len(picked) < 2:
		picked = append(picked, here)
	}
	versions := make([]*model.Version, len(picked))
	for i, r := range picked {
		v := r.Raw
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

// compareVersions shows what has changed between two versions.
func compareVersions(d *desk.Desk, ref model.Ref, p *record.List[model.Version]) tea.Cmd {
	old, new, _ := sides(p)
	esc := d.Esc
	return d.Ask(func(ctx context.Context) any {
		read := func(v *model.Version) (text, name string, err error) {
			s, it, err := d.Readable(ctx, ref)
			if v == nil {
				return it.Document().Encode(operator.DocumentKind(s, it.Tier)), "as it is now", err
			}
			if s, err = d.Fleet.Store(ref.Store); err == nil {
				it, err = s.History.ReadRevision(ctx, ref.ID, v.ID)
			}
			return it.Document().Encode(operator.DocumentKind(s, it.Tier)), "as it was at " + prose.Moment(v.At), err
		}
		before, was, err := read(old)
		after, is := "", ""
		if err == nil {
			after, is, err = read(new)
		}
		if err != nil {
			return dialog.Acted{Quiet: true, Text: esc.Sprintf("not compared: %s", prose.Reason(esc, err))}
		}
		var c diff.Comparison
		c.Compare(esc, was, is, before, after)
		return dialog.Acted{Ok: true, Quiet: true, Title: "Compare", Page: c.Text([]text.Line{
			{Value: esc.LineMax(ref.ID, prose.MaxTitle), Kind: text.Title},
			{Value: esc.Sprintf("%s.", c.Counts())},
			{Kind: text.Blank},
		})}
	})
}
