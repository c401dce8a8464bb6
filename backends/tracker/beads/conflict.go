package beads

import (
	"context"
	"fmt"

	"memdesk/backends/tracker"
	"memdesk/model"
)

// StoreConflicts lists the conflicts that an undecided merge left in the file, and ids on more than one line.
func (s *Store) StoreConflicts(ctx context.Context) ([]model.StoreConflict, error) {
	snap, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	var out []model.StoreConflict
	inMerge := map[int]bool{}
	for i := 0; i < len(snap.marks); i++ {
		m := snap.marks[i]
		if m.sort != '<' {
			continue
		}
		end := m
		for i+1 < len(snap.marks) && snap.marks[i+1].sort != '<' {
			i++
			end = snap.marks[i]
		}
		out = append(out, snap.undecided(m, end, inMerge)...)
	}
	first := map[string]int{}
	for i, e := range snap.entries {
		if e.kind == tracker.Line {
			continue
		}
		key := fmt.Sprint(e.kind, e.raw)
		base, twice := first[key]
		if !twice {
			first[key] = i
			continue
		}
		if inMerge[i] {
			continue
		}
		out = append(out, model.StoreConflict{
			CopyID: e.id, BaseID: snap.entries[base].id,
			Reason: fmt.Sprintf("the id stands on lines %d and %d of issues.jsonl; which one counts depends on the reader", snap.entries[base].number, e.number),
		})
	}
	return out, nil
}

// undecided returns a conflict for every item between two marks; for an id on both sides, the later line is
// the copy.
func (s *snapshot) undecided(from, to mark, seen map[int]bool) []model.StoreConflict {
	reason := fmt.Sprintf("git merge markers on lines %d to %d of issues.jsonl", from.number, to.number)
	if from.label != "" || to.label != "" {
		reason += fmt.Sprintf(", %q against %q", from.label, to.label)
	}
	reason += ": decide the merge and commit it; until then nothing is written to the file"
	base := map[string]string{}
	var out []model.StoreConflict
	place := map[string]int{}
	for i := from.entry; i < to.entry && i < len(s.entries); i++ {
		e := s.entries[i]
		seen[i] = true
		if b, twice := base[e.raw]; twice {
			out[place[e.raw]] = model.StoreConflict{CopyID: e.id, BaseID: b, Tool: "git", Reason: reason}
			continue
		}
		base[e.raw], place[e.raw] = e.id, len(out)
		out = append(out, model.StoreConflict{CopyID: e.id, BaseID: e.id, Tool: "git", Reason: reason})
	}
	if len(out) == 0 {
		out = append(out, model.StoreConflict{Tool: "git", Reason: reason})
	}
	return out
}
