package curated

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"unicode/utf8"

	"memdesk/backends/internal/title"
	"memdesk/backends/internal/window"
	"memdesk/backends/seam/internal/linesearch"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// entryItem is one entry as an item.
func (s *store) entryItem(f file, e entry) model.Item {
	it := model.Item{Body: e.text}
	it.ID, it.Tier, it.Title, it.Bytes = f.name+"/"+e.hash, tierOf(f.name), title.Line(e.text), int64(len(e.text))
	it.Stamp, it.Revision = e.hash, revisionOf(e.text)
	spec := model.TierSpec{Cap: int64(s.limit(f.name))}
	if flag := spec.CapFlag(f.size); flag != "" { // the cap is the file's
		it.Flags = append(it.Flags, flag)
	}
	if f.drift != "" {
		it.Flags = append(it.Flags, model.FlagReadOnly)
	}
	if _, hit := rules.Load(e.text); hit {
		it.Flags = append(it.Flags, model.FlagBlocked)
	}
	return it
}

// fileItem is a whole file, for reading and repair; it is not listed.
func fileItem(f file) model.Item {
	it := model.Item{Body: f.raw}
	it.ID, it.Tier, it.Title, it.Bytes = f.name, tierOf(f.name), "the whole file", int64(len(f.raw))
	it.Stamp, it.Revision, it.Flags = hashOf(f.raw), revisionOf(f.raw), []model.Flag{model.FlagBookkeeping}
	if !utf8.ValidString(f.raw) {
		it.Flags = append(it.Flags, model.FlagBinary)
	}
	return it
}

// everything is all items in file order, proposals last.
func (s *store) everything(ctx context.Context, op string) (out []model.Item, problems []string, err error) {
	files, err := s.both(ctx, op)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if f.bad != nil {
			problems = append(problems, f.name+": "+f.bad.Error())
		}
		for _, e := range f.entries {
			out = append(out, s.entryItem(f, e))
		}
	}
	pending, more, err := s.proposals(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pending {
		out = append(out, p.item())
	}
	return out, append(problems, more...), nil
}

// List implements model.Browser. A file that cannot be read is a problem of the
// page, never an empty tier.
func (s *store) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	if err := s.checkList(&req); err != nil {
		return model.Page{}, err
	}
	all, problems, err := s.everything(ctx, "list")
	if err != nil {
		return model.Page{}, err
	}
	rows := []window.Row{}
	words := linesearch.Whole(req.Query)
	for _, it := range all {
		if req.Tier != "" && it.Tier != req.Tier || it.Tier == TierPending && !req.Hidden && req.Tier != TierPending {
			continue
		}
		if req.Query != "" && !matches(it, words) {
			continue
		}
		rows = append(rows, window.Row{Header: it.Header, Value: window.Value(req.Order, it.Modified, it.Bytes)})
	}
	return window.Page(rows, req, problems)
}

// matches searches the id, the text and the fields.
func matches(it model.Item, words linesearch.Query) bool {
	in := func(text string) bool { return words.In([]byte(text)) }
	return in(it.ID) || in(it.Body) || slices.ContainsFunc(it.Meta, func(f model.Field) bool { return in(f.Value) })
}

func (s *store) checkList(req *model.PageRequest) error {
	const op = "list"
	req.Order = cmp.Or(req.Order, OrderFile)
	switch {
	case req.Tier != "" && !slices.ContainsFunc(s.tiers, func(t model.TierSpec) bool { return t.Name == req.Tier }):
		return model.Errorf(model.InvalidInput, op, "unknown tier %q; there are %s, %s and %s", req.Tier, TierMemory, TierUser, TierPending)
	case req.Scope != "":
		return model.Errorf(model.InvalidInput, op, "unknown scope %q: this store has one scope only, without a name", req.Scope)
	case req.Order != OrderFile && req.Order != model.OrderID && req.Order != model.OrderLargest:
		return model.Errorf(model.InvalidInput, op, "unknown order %q: there are file, id and largest", req.Order)
	}
	return nil
}

// Read implements model.Browser. The name of a whole file is an id too.
func (s *store) Read(ctx context.Context, id string) (model.Item, error) {
	at, ok := parseID(id)
	if !ok {
		return model.Item{}, absent(id)
	}
	files, err := s.both(ctx, "read")
	if err != nil {
		return model.Item{}, err
	}
	if at.pending != "" {
		d, p, err := s.proposal(at.pending)
		if err != nil {
			return model.Item{}, err
		}
		_ = d.Close() // opened for reading
		return p.item(), nil
	}
	f := files[indexOf(at.file)]
	if at.hash == "" && f.exists {
		return fileItem(f), nil
	}
	if f.bad != nil {
		return model.Item{}, f.bad
	}
	if i := find(f.entries, at.hash); i >= 0 {
		return s.entryItem(f, f.entries[i]), nil
	}
	return model.Item{}, absent(id)
}

func absent(id string) error {
	if len(id) > rootdir.MaxName {
		return badID("read", id)
	}
	return model.Errorf(model.NotFound, "read", "there is no item %q", id)
}

// Tiers implements model.Browser.
func (s *store) Tiers(ctx context.Context) ([]model.TierCount, error) {
	all, _, err := s.everything(ctx, "tiers")
	if err != nil {
		return nil, err
	}
	return window.Counts([]string{""}, s.tiers, headers(all)), nil
}

// Names implements model.Namer.
func (s *store) Names(ctx context.Context, yield func(id string) bool) ([]string, error) {
	all, problems, err := s.everything(ctx, "names")
	if err != nil {
		return nil, err
	}
	window.Names(headers(all), yield)
	return problems, nil
}

func headers(all []model.Item) iter.Seq[model.Header] {
	return func(yield func(model.Header) bool) {
		for _, it := range all {
			if !yield(it.Header) {
				return
			}
		}
	}
}
