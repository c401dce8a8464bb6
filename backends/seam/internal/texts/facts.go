package texts

import (
	"errors"
	"hash/maphash"
	"strings"
	"sync"
	"unique"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
	"memdesk/quarantine"
)

// Facts are computed from a file's whole text.
type Facts struct {
	Kind, Status, Title string // as the store reads them; empty where absent
	Binary              bool
	Verdict             quarantine.Verdict
	TooBig              bool // not read and not scanned
	Unread              bool // the file is there, and could not be read
}

// Header is the row of a list for a file with these facts.
func (f Facts) Header(id, tier, scope string, m rootdir.Meta) model.Header {
	h := model.Header{ID: id, Tier: tier, Scope: scope, Title: f.Title, Bytes: m.Size, Modified: m.Modified.UTC(), Stamp: m.Stamp()}
	if f.Unread || m.Kind != rootdir.File {
		h.Flags = append(h.Flags, model.FlagUnreadable)
	}
	if f.Binary {
		h.Flags = append(h.Flags, model.FlagBinary)
	}
	if !f.Verdict.Clean() {
		h.Flags = append(h.Flags, model.FlagBlocked)
	}
	return h
}

// factsKept bounds the remembered facts.
const factsKept = 200_000

// Memory remembers the facts of files by the hashes of their ids. It is safe for concurrent use.
type Memory struct {
	examine func(id, text string) Facts
	seed    maphash.Seed

	mu   sync.Mutex
	kept map[uint64]remembered
}

// remembered is small: a store has many files. Two ids of one hash do no harm, since their files have
// different stamps.
type remembered struct {
	title string
	rest  unique.Handle[Facts] // without the title: most files share it
	stamp uint64               // hash of the file's stamp when it was read: enough for a list
	sum   uint64               // hash of the text: the key of a verdict
}

func (r remembered) facts() Facts {
	f := r.rest.Value()
	f.Title = r.title
	return f
}

// NewMemory is an empty memory; examine computes the facts of a text.
func NewMemory(examine func(id, text string) Facts) *Memory {
	return &Memory{examine: examine, seed: maphash.MakeSeed(), kept: map[uint64]remembered{}}
}

func (k *Memory) hash(s string) uint64 { return maphash.String(k.seed, s) }

func (k *Memory) find(id string) (r remembered, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, ok = k.kept[k.hash(id)]
	return r, ok
}

// Of returns the facts of a text that was just read, from memory when the same text was examined before.
func (k *Memory) Of(id, text string, m rootdir.Meta) Facts {
	now := remembered{stamp: k.hash(m.Stamp()), sum: k.hash(text)}
	if was, ok := k.find(id); ok && was.sum == now.sum {
		now.title, now.rest = was.title, was.rest
	} else {
		f := k.examine(id, text)
		now.title = strings.Clone(f.Title) // a substring would keep the whole text in memory
		f.Title = ""
		now.rest = unique.Make(f) // it copies its strings
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) >= factsKept {
		clear(k.kept)
	}
	k.kept[k.hash(id)] = now
	return now.facts()
}

// Known returns the facts of an unchanged file.
func (k *Memory) Known(id string, m rootdir.Meta) (Facts, bool) {
	r, ok := k.find(id)
	if !ok || r.stamp != k.hash(m.Stamp()) {
		return Facts{}, false
	}
	return r.facts(), true
}

// Read reads a file of dir and returns its facts. The text is empty for a file over the limit.
func (k *Memory) Read(dir *rootdir.Dir, id, path string) (string, Facts, rootdir.Meta, error) {
	data, m, err := dir.Read(path, ReadLimit)
	switch {
	case errors.Is(err, rootdir.ErrTooLarge):
		return "", Facts{TooBig: true}, m, nil
	case err != nil:
		return "", Facts{}, m, err
	}
	text := string(data)
	return text, k.Of(id, text, m), m, nil
}

// Listed returns the facts of a file for a list, as it is now; was is how a walk saw it, and kept says that it has not
// changed since. Without facts (ok is false) it is as it was: it has vanished, cannot be read, or is no regular file.
// open opens the directory of path, when the file must be read.
func (k *Memory) Listed(open func() (*rootdir.Dir, error), id, path string, was rootdir.Meta, kept bool) (f Facts, m rootdir.Meta, ok bool) {
	if was.Kind != rootdir.File {
		return Facts{}, was, false
	}
	if kept {
		if f, ok = k.Known(id, was); ok {
			return f, was, true
		}
	}
	dir, err := open()
	if err == nil {
		f, m, err = k.Current(dir, id, path)
	}
	if err != nil {
		return Facts{Unread: !errors.Is(err, model.NotFound)}, was, false
	}
	return f, m, true
}

// Current reads the file only when its current version is unknown.
func (k *Memory) Current(dir *rootdir.Dir, id, path string) (Facts, rootdir.Meta, error) {
	m, err := dir.Stat(path)
	if err != nil {
		return Facts{}, m, err
	}
	if f, ok := k.Known(id, m); ok {
		return f, m, nil
	}
	_, f, m, err := k.Read(dir, id, path)
	return f, m, err
}
