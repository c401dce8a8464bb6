package conflict

import (
	"slices"
	"strings"
	"sync"

	"memdesk/model"
)

// Memory keeps results of comparisons, so that a list after a change reads only changed items. Names are
// walked again each time, which opens no file. It is for one store and safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	changes uint64            // counts the calls of Changed
	last    map[string]uint64 // id → when it last changed
	lost    uint64            // when everything may have changed
	sets    map[string]remembered
	markers map[string]remembered // by id
}

// remembered is a result, the items read for it, and when.
type remembered struct {
	copies []Copy
	read   []string
	at     uint64
}

// rememberedMost bounds each kind of result; beyond it the memory is emptied.
const rememberedMost = 100_000

// NewMemory returns an empty memory. It may be used only while every change of the store is reported to it.
func NewMemory() *Memory {
	m := &Memory{}
	m.forget()
	return m
}

func (m *Memory) forget() {
	m.last, m.sets, m.markers = map[string]uint64{}, map[string]remembered{}, map[string]remembered{}
}

// Changed records a change of the store.
func (m *Memory) Changed(c model.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes++
	if c.Lost || len(m.last) >= rememberedMost {
		m.forget()
		m.lost = m.changes
		return
	}
	m.last[c.ID] = m.changes
}

// now is the time for items read from here on.
func (m *Memory) now() uint64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

// recall returns the result for key as long as no item read for it has changed.
func (m *Memory) recall(of func(*Memory) map[string]remembered, key string) ([]Copy, bool) {
	if m == nil {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := of(m)[key]
	if !ok || r.at < m.lost {
		return nil, false
	}
	for _, id := range r.read {
		if m.last[id] > r.at {
			return nil, false
		}
	}
	return slices.Clone(r.copies), true
}

func (m *Memory) keep(of func(*Memory) map[string]remembered, key string, r remembered) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(of(m)) >= rememberedMost {
		clear(of(m))
	}
	of(m)[key] = r
}

func ofSets(m *Memory) map[string]remembered    { return m.sets }
func ofMarkers(m *Memory) map[string]remembered { return m.markers }

// signature identifies a set by everything that decided its pairing.
func signature(set []paired) string {
	var s strings.Builder
	for _, p := range set {
		s.WriteString(p.id)
		for _, r := range p.readings {
			s.WriteString("\x00" + r.baseID)
		}
		s.WriteByte('\n')
	}
	return s.String()
}
