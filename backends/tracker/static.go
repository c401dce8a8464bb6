package tracker

import (
	"hash/fnv"
	"strconv"
	"time"
)

// Entry is a command's answer about one item.
type Entry struct {
	Record Record
	Bead   Bead
	IsWork bool
}

// Static is what a View has of the items that a command has listed.
type Static struct {
	entries []Entry
	places  map[string]int
	notes   []string
}

// NewStatic makes a View of entries, without the method Of. Of two with the same id the first is kept, the other is a problem.
func NewStatic(entries []Entry, problems []string) *Static {
	s := &Static{places: map[string]int{}, notes: problems}
	for _, e := range entries {
		if _, twice := s.places[e.Record.ID]; twice {
			s.notes = append(s.notes, "the command lists "+strconv.Quote(e.Record.ID)+" twice")
			continue
		}
		r := &e.Record
		h := fnv.New64a()
		for _, f := range r.Fields {
			_, _ = h.Write([]byte(strconv.Itoa(len(f.Value)) + ":" + f.Name + f.Value)) // a hash never fails
		}
		_, _ = h.Write([]byte(r.Body)) // as above
		r.Stamp = strconv.FormatUint(h.Sum64(), 36)
		r.Bytes = int64(len(r.Body))
		s.places[r.ID] = len(s.entries)
		s.entries = append(s.entries, e)
	}
	return s
}

// Len counts the entries.
func (s *Static) Len() int { return len(s.entries) }

// Find returns the place of an id.
func (s *Static) Find(id string) int {
	if i, ok := s.places[id]; ok {
		return i
	}
	return -1
}

// ID is the id.
func (s *Static) ID(i int) string { return s.entries[i].Record.ID }

// Tier is the status.
func (s *Static) Tier(i int) string { return s.entries[i].Record.Tier }

// Updated is the time of the last change.
func (s *Static) Updated(i int) time.Time { return s.entries[i].Record.Modified }

// Head returns the entry's list view.
func (s *Static) Head(i int) Head { return s.entries[i].Record.Head }

// Record is the whole entry.
func (s *Static) Record(i int) Record { return s.entries[i].Record }

// Bead is the entry as the port shows it.
func (s *Static) Bead(i int) (Bead, bool) { return s.entries[i].Bead, s.entries[i].IsWork }

// Texts are title and body.
func (s *Static) Texts(i int) (title, body string) {
	return s.entries[i].Record.Title, s.entries[i].Record.Body
}

// Tiers lists the tiers that occur.
func (s *Static) Tiers() []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range s.entries {
		if !seen[e.Record.Tier] {
			seen[e.Record.Tier] = true
			out = append(out, e.Record.Tier)
		}
	}
	return out
}

// Problems name parts that could not be looked at; none of them is an entry.
func (s *Static) Problems(bool) []string { return s.notes }
