package texts

import (
	"errors"
	"hash/maphash"
	"strings"
	"sync"
	"unique"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/quarantine"
)

// Facts are computed from a file's whole text.
type Facts struct {
	Kind, Status, Title string // as the store reads them; empty where absent
	Binary              bool
	Verdict             quarantine.Verdict
	TooBig              bool // not read and not scanned

	stamp string // of the file when it was read: enough for a list
	sum   uint64 // of the text: the key of a verdict
}

// factsKept bounds the remembered facts.
const factsKept = 200_000

// Memory remembers the facts of files by their ids. It is safe for concurrent use.
type Memory struct {
	examine func(id, text string) Facts
	seed    maphash.Seed // of the sums

	mu   sync.Mutex
	kept map[string]Facts
}

// NewMemory is an empty memory; examine computes the facts of a text.
func NewMemory(examine func(id, text string) Facts) *Memory {
	return &Memory{examine: examine, seed: maphash.MakeSeed(), kept: map[string]Facts{}}
}

// Of returns the facts of a text that was just read, from memory when the same text was examined before.
func (k *Memory) Of(id, text string, m rootdir.Meta) Facts {
	sum := maphash.String(k.seed, text)
	k.mu.Lock()
	f, ok := k.kept[id]
	k.mu.Unlock()
	if !ok || f.sum != sum {
		f = k.examine(id, text)
		// A substring would keep the whole text in memory.
		f.Kind, f.Status, f.Title = unique.Make(f.Kind).Value(), unique.Make(f.Status).Value(), strings.Clone(f.Title)
	}
	f.stamp, f.sum = m.Stamp(), sum
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) >= factsKept {
		clear(k.kept)
	}
	k.kept[id] = f
	return f
}

// Known returns the facts of an unchanged file.
func (k *Memory) Known(id string, m rootdir.Meta) (Facts, bool) {
	k.mu.Lock()
	f, ok := k.kept[id]
	k.mu.Unlock()
	return f, ok && f.stamp == m.Stamp()
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
