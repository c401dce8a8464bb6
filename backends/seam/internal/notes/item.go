package notes

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/title"
	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
	"memdesk/quarantine"
)

// examine returns the facts of a text.
func (s *store) examine(id, text string) texts.Facts {
	if !utf8.ValidString(text) {
		return texts.Facts{Binary: true}
	}
	var h head
	if isNote(id) {
		h = parseHead(text)
	} else {
		h.title = title.Heading(text)
	}
	if l := s.cfg.Layout; l != nil {
		kind, title := l.Head(id, text)
		h = head{kind: kind, title: cmp.Or(title, h.title)}
	}
	f := texts.Facts{Kind: h.kind, Status: h.status, Title: h.title}
	f.Verdict, _ = scan(text)
	return f
}

// judge is examine for a search, which shows no title.
func (s *store) judge(id, text string) (f texts.Facts) {
	if f.Binary = !utf8.ValidString(text); f.Binary {
		return f
	}
	if s.cfg.Layout == nil && isNote(id) {
		front, _ := splitFront(text)
		f.Status = parseFront(front).status
	}
	f.Verdict, _ = scan(text)
	return f
}

// scan is the scanner's verdict.
var scan = quarantine.RulesOf(quarantine.NotesRules).Scan

// header is the row of a list, from the entry and, when it was read, the facts.
func (s *store) header(e *entry, f texts.Facts, m rootdir.Meta) model.Header {
	h := f.Header(e.id, e.tier, s.scopeOf(e.id), m)
	if archived(e.status) {
		h.Flags = append(h.Flags, model.FlagArchived)
	}
	if e.status == statusUnfiled {
		h.Flags = append(h.Flags, model.FlagPending)
	}
	if hidden(e.id) {
		h.Flags = append(h.Flags, model.FlagBookkeeping)
	}
	return h
}

// Read returns one item with its front matter as read-only fields, which are part
// of the body.
func (s *store) Read(ctx context.Context, id string) (model.Item, error) {
	if err := model.FromContext(ctx, "read"); err != nil {
		return model.Item{}, err
	}
	if err := s.checkID("read", id); err != nil {
		return model.Item{}, err
	}
	root, err := s.open("read")
	if err != nil {
		return model.Item{}, err
	}
	if root == nil {
		return model.Item{}, absent("read", id)
	}
	defer root.Close()
	if err := root.Plain(id); err != nil {
		return model.Item{}, err
	}
	data, m, err := root.Read(id, texts.WholeLimit)
	if err != nil {
		return model.Item{}, err
	}
	text := string(data)
	f := s.examine(id, text)
	e := entry{id: id, class: class{status: f.Status}, tier: s.entryTier(id, f.Kind)}
	it := model.Item{Header: s.header(&e, f, m), Body: text}
	it.Revision = seam.RevisionOf(text)
	it.Meta = s.metaOf(ctx, id)
	return it, nil
}

// metaOf are the fields that a program keeps about an item beside it.
func (s *store) metaOf(ctx context.Context, id string) []model.Field {
	if s.cfg.Layout == nil || s.cfg.Layout.Meta == nil {
		return nil
	}
	return s.cfg.Layout.Meta(ctx, id)
}

func absent(op, id string) error {
	return model.Errorf(model.NotFound, op, "%q does not exist", id)
}

// checkID is InvalidInput for an id that no item can have (R34): it climbs, is not in normal form, or names
// machinery.
func (s *store) checkID(op, id string) error {
	if len(id) > rootdir.MaxName {
		return rootdir.CheckName(id) // it does not quote the id
	}
	at, err := seam.Resolve(strings.ReplaceAll(id, `\`, "_")) // a file of this name is shown and removed, and none is made
	switch {
	case err != nil:
		return model.Errorf(model.InvalidInput, op, "%q names no file of the store", id)
	case id == "" || at.Key() != strings.ReplaceAll(id, `\`, "_"):
		return model.Errorf(model.InvalidInput, op, "%q names no file of the store: write the path from its root", id)
	case !s.isItem(id) && (op == "retain" || !isLeftover(id)):
		return model.Errorf(model.InvalidInput, op, "%q is no item but machinery beside the items", id)
	}
	return nil
}

// locate is checkID for a change, which needs a locator.
func (s *store) locate(op, id string) (seam.Locator, error) {
	if err := s.checkID(op, id); err != nil {
		return seam.Locator{}, err
	}
	root, err := s.open(op)
	if root != nil {
		err = root.Plain(id)
		_ = root.Close() // it was only read
	}
	if err != nil {
		return seam.Locator{}, err
	}
	return seam.Listed(id), nil
}
