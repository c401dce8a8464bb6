package conflict

import (
	"strings"
	"sync"

	"memdesk/model"
)

// Memory keeps what was compared, so that a look after a change reads only what
// has changed. Names are walked anew each time, which reads no file. It is for one
// store and safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	changes uint64            // counts what Changed was told
	last    map[string]uint64 // id → when it last changed
	lost    uint64            // when everything may have changed
	sets    map[string]remembered
	markers map[string]remembered // by id
}

// remembered is an answer, what was read for it, and when.
type remembered struct {
	copies []Copy
	read   []string
	at     uint64
}

// rememberedMost bounds each kind of answer; beyond it memory begins anew.
const rememberedMost = 100_000

// NewMemory returns an empty memory. It may be used only while every change of
// the store is told to it.
func NewMemory() *Memory {
	m := &Memory{}
	m.forget()
	return m
}

func (m *Memory) forget() {
	m.last, m.sets, m.markers = map[string]uint64{}, map[string]remembered{}, map[string]remembered{}
}

// Changed takes a change of the store in.
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

// now is a time for what is read from here on.
func (m *Memory) now() uint64 {
	if m == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

// recall gives the answer for key while nothing that was read for it has changed.
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
	out := make([]Copy, len(r.copies))
	copy(out, r.copies)
	return out, true
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

// signature names a set by everything that pairing has decided.
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
