package crewship

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/title"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
	"memdesk/quarantine"
)

// examine returns the facts of a text.
func examine(_, text string) texts.Facts {
	if !utf8.ValidString(text) {
		return texts.Facts{Binary: true}
	}
	f := texts.Facts{Title: title.Heading(text)}
	f.Verdict, _ = quarantine.Scan(text)
	return f
}

// header is the row of a list, from the entry and, when it was read, the facts.
func (s *store) header(e *entry, f texts.Facts, m rootdir.Meta) model.Header {
	h := f.Header(e.id, e.tier, e.memory.scope(), m)
	spec, _ := s.tier(e.tier)
	if flag := spec.CapFlag(m.Size); flag != "" {
		h.Flags = append([]model.Flag{flag}, h.Flags...)
	}
	switch {
	case e.tier == tierProposals:
		h.Flags = append(h.Flags, model.FlagReadOnly)
		if !e.decided {
			h.Flags = append(h.Flags, model.FlagPending)
		}
	case e.tier == tierLessons:
		h.Flags = append(h.Flags, model.FlagReadOnly)
	case hidden(e.tier, e.label):
		h.Flags = append(h.Flags, model.FlagBookkeeping)
	}
	return h
}

// hidden entries are left out of plain lists: proposals, and dotfiles other than markdown. No markdown
// memory is hidden.
func hidden(tier, name string) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	return tier == tierProposals || strings.HasPrefix(base, ".") && !strings.HasSuffix(base, ".md")
}

// Read returns one item. A quarantine entry is readable by its id, as its whole file.
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
	if err := dir.Plain(e.label); err != nil {
		return model.Item{}, err
	}
	data, m, err := dir.Read(e.label, texts.WholeLimit)
	if err != nil {
		return model.Item{}, err
	}
	f := examine(id, string(data))
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

// resolve turns an id into an entry that need not exist. Its memory directory is nil when the store does
// not have it. InvalidInput for an id of another shape (R34) and for the machinery beside the memories.
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
