package crewship

import (
	"context"
	"errors"
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/title"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
	"memdesk/quarantine"
)

// facts are read from a file's content.
type facts struct {
	stamp   string // of the file when it was read: good enough for a list
	sum     uint64 // of the text: what a verdict must hang on
	title   string
	binary  bool
	verdict quarantine.Verdict
	tooBig  bool // not read and not scanned
}

const (
	// readLimit bounds what a search reads of one file, in bytes. It is far above
	// every cap; a larger file is not searched, and the answer says so.
	readLimit = 4 << 20
	// wholeLimit bounds a file that is read as a whole, in bytes. A larger one can
	// be listed and removed only, and the error says so.
	wholeLimit = 256 << 20
	// factsKept bounds the cache.
	factsKept = 200_000
)

// content reads a file and tells its facts. The text is empty for a file that is
// over the limit.
func (s *store) content(dir *rootdir.Dir, e *entry) (string, facts, rootdir.Meta, error) {
	data, m, err := dir.Read(e.label, readLimit)
	text := string(data)
	if err != nil {
		if !isTooLarge(err) {
			return "", facts{}, m, err
		}
		text = ""
	}
	sum := maphash.String(s.seed, text)
	f, known := s.keptFacts(e.id)
	if !known || f.sum != sum || f.tooBig || err != nil {
		f = examine(text, m)
	}
	f.sum, f.stamp, f.tooBig = sum, m.Stamp(), err != nil
	s.keepFacts(e.id, f)
	return text, f, m, nil
}

func examine(text string, m rootdir.Meta) facts {
	f := facts{stamp: m.Stamp(), binary: !utf8.ValidString(text)}
	if !f.binary {
		f.title = title.Heading(text)
		f.verdict, _ = quarantine.Scan(text)
	}
	return f
}

func (s *store) keptFacts(id string) (facts, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.facts[id]
	return f, ok
}

func (s *store) keepFacts(id string, f facts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.facts) >= factsKept {
		clear(s.facts)
	}
	s.facts[id] = f
}

// header returns the row of a list, from the entry and, when it was read, the facts.
func (s *store) header(e *entry, f facts, m rootdir.Meta) model.Header {
	h := model.Header{
		ID: e.id, Tier: e.tier, Scope: e.memory.scope(), Title: f.title,
		Bytes: m.Size, Modified: m.Modified.UTC(), Stamp: m.Stamp(),
	}
	spec, _ := s.tier(e.tier)
	if flag := spec.CapFlag(m.Size); flag != "" {
		h.Flags = append(h.Flags, flag)
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
	switch {
	case e.tier == tierProposals:
		h.Flags = append(h.Flags, model.FlagReadOnly)
		if !e.decided {
			h.Flags = append(h.Flags, model.FlagPending)
		}
	case e.tier == tierLessons:
		h.Flags = append(h.Flags, model.FlagReadOnly)
	case e.hidden():
		h.Flags = append(h.Flags, model.FlagBookkeeping)
	}
	return h
}

// hidden entries are left out of plain lists: proposals, and dotfiles that are
// no markdown. No markdown that is a memory is hidden.
func (e *entry) hidden() bool {
	base := e.label[strings.LastIndexByte(e.label, '/')+1:]
	return e.tier == tierProposals || strings.HasPrefix(base, ".") && !strings.HasSuffix(base, ".md")
}

// Read returns one item. An entry of the quarantine is readable by its id, as the
// whole file that it is.
func (s *store) Read(ctx context.Context, id string) (model.Item, error) {
	e, err := s.resolve(ctx, "read", id)
	if err != nil {
		return model.Item{}, err
	}
	if e.memory == nil {
		return model.Item{}, absent("read", id)
	}
	dir, err := s.open(e.memory)
	if err != nil {
		return model.Item{}, err
	}
	defer dir.Close()
	data, m, err := dir.Read(e.label, wholeLimit)
	if err != nil {
		return model.Item{}, err
	}
	f := examine(string(data), m)
	it := model.Item{Header: s.header(&e, f, m), Body: string(data)}
	it.Revision = revisionOf(data)
	return it, nil
}

func revisionOf(data []byte) model.Revision {
	return model.RevisionOf(model.Document{Body: string(data)})
}

func absent(op, id string) error {
	return model.Errorf(model.NotFound, op, "%q does not exist", id)
}

// resolve turns an id into an entry that need not exist. Its memory directory is nil when
// the store has no such memory directory. InvalidInput for an id of another shape (R34) and
// for the machinery beside the memories.
func (s *store) resolve(ctx context.Context, op, id string) (entry, error) {
	prefix, label, err := s.splitID(op, id)
	if err != nil {
		return entry{}, err
	}
	e := entry{id: id, label: label}
	if _, quarantined := quarantineLabel(label); quarantined {
		e.tier = tierQuarantine
	} else if !isMemory(label) {
		return entry{}, model.Errorf(model.InvalidInput, op, "%q is no memory but machinery beside the memories", id)
	}
	snap, err := s.survey(ctx, op)
	if err != nil {
		return entry{}, err
	}
	if e.memory = snap.find(prefix); e.memory != nil && e.tier == "" {
		e.tier = classify(e.memory.kind, label)
		e.decided = snap.names.isDecided(label)
	}
	return e, nil
}

func isTooLarge(err error) bool { return errors.Is(err, rootdir.ErrTooLarge) }
