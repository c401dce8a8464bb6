package notes

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/title"
	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
	"memdesk/quarantine"
)

// facts are read from a file's whole content.
type facts struct {
	head    head
	stamp   string // of the file when it was read: good enough for a list
	sum     uint64 // of the text: what a verdict must hang on
	binary  bool
	verdict quarantine.Verdict
	tooBig  bool // not read and not scanned
}

const (
	// readLimit bounds what a search reads of one file, in bytes. A larger file is
	// not searched, and the answer says so.
	readLimit = 4 << 20
	// wholeLimit bounds a file that is read as a whole, in bytes. A larger one can be
	// listed and removed only, and the error says so.
	wholeLimit = 256 << 20
	// factsKept bounds the cache.
	factsKept = 200_000
)

// content reads a file and tells its facts. The text is empty for a file that is
// over the limit.
func (s *store) content(root *rootdir.Dir, id string) (string, facts, rootdir.Meta, error) {
	data, m, err := root.Read(id, readLimit)
	switch {
	case errors.Is(err, rootdir.ErrTooLarge):
		return "", facts{stamp: m.Stamp(), tooBig: true}, m, nil
	case err != nil:
		return "", facts{}, m, err
	}
	text := string(data)
	return text, s.factsOf(id, text, m), m, nil
}

// factsOf tells the facts of a text that was just read, from memory when the very
// same text was looked at before.
func (s *store) factsOf(id, text string, m rootdir.Meta) facts {
	sum := maphash.String(s.seed, text)
	s.mu.Lock()
	f, ok := s.facts[id]
	s.mu.Unlock()
	if !ok || f.sum != sum || f.tooBig {
		f = s.examine(id, text)
	}
	f.stamp, f.sum = m.Stamp(), sum
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.facts) >= factsKept {
		clear(s.facts)
	}
	s.facts[id] = f
	return f
}

func (s *store) examine(id, text string) facts {
	f := facts{binary: !utf8.ValidString(text)}
	if f.binary {
		return f
	}
	if isNote(id) {
		f.head = parseHead(text)
	} else {
		f.head.title = title.Heading(text)
	}
	if l := s.cfg.Layout; l != nil {
		kind, title := l.Head(id, text)
		f.head = head{kind: kind, title: cmp.Or(title, f.head.title)}
	}
	f.verdict, _ = scan(text)
	return f
}

// scan is the scanner's verdict. A byte order mark at the very beginning is how some
// editors save, and hides nothing.
func scan(text string) (quarantine.Verdict, bool) {
	return quarantine.Scan(strings.TrimPrefix(text, "\ufeff"))
}

// currentFacts reads the file only when it is not known as it is now.
func (s *store) currentFacts(root *rootdir.Dir, id string) (facts, rootdir.Meta, error) {
	m, err := root.Stat(id)
	if err != nil {
		return facts{}, m, err
	}
	if f, ok := s.knownFacts(id, m); ok {
		return f, m, nil
	}
	_, f, m, err := s.content(root, id)
	return f, m, err
}

// knownFacts are those of a file that is as it was when it was read.
func (s *store) knownFacts(id string, m rootdir.Meta) (facts, bool) {
	s.mu.Lock()
	f, ok := s.facts[id]
	s.mu.Unlock()
	return f, ok && f.stamp == m.Stamp()
}

// header returns the row of a list, from the entry and, when it was read, the facts.
func (s *store) header(e *entry, f facts, m rootdir.Meta) model.Header {
	h := model.Header{
		ID: e.id, Tier: e.tier, Scope: s.scopeOf(e.id), Title: f.head.title,
		Bytes: m.Size, Modified: m.Modified.UTC(), Stamp: m.Stamp(),
	}
	if m.Kind != rootdir.File {
		h.Flags = append(h.Flags, model.FlagUnreadable)
	}
	if f.binary {
		h.Flags = append(h.Flags, model.FlagBinary)
	}
	if !f.verdict.Clean() {
		h.Flags = append(h.Flags, model.FlagBlocked)
	}
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
	data, m, err := root.Read(id, wholeLimit)
	if err != nil {
		return model.Item{}, err
	}
	text := string(data)
	f := s.examine(id, text)
	e := entry{id: id, class: class{status: f.head.status}, tier: s.entryTier(id, f.head.kind)}
	it := model.Item{Header: s.header(&e, f, m), Body: text}
	it.Revision = seam.RevisionOf(text)
	it.Meta = s.metaOf(ctx, id)
	return it, nil
}

// metaOf are the fields that a program keeps of an item beside it.
func (s *store) metaOf(ctx context.Context, id string) []model.Field {
	if s.cfg.Layout == nil || s.cfg.Layout.Meta == nil {
		return nil
	}
	return s.cfg.Layout.Meta(ctx, id)
}

func absent(op, id string) error {
	return model.Errorf(model.NotFound, op, "%q does not exist", id)
}

// checkID is InvalidInput for an id that no item can have (R34): it climbs, is not
// in normal form, or names machinery.
func (s *store) checkID(op, id string) error {
	if len(id) > rootdir.MaxName {
		return rootdir.CheckName(id) // it does not quote the id
	}
	at, err := seam.Resolve(strings.ReplaceAll(id, `\`, "_")) // a file of this name can be shown, not written
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

// locate is checkID for a change, which only a locator can carry.
func (s *store) locate(op, id string) (seam.Locator, error) {
	if err := s.checkID(op, id); err != nil {
		return seam.Locator{}, err
	}
	return seam.Resolve(id)
}
