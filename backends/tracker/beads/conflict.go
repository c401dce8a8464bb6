package beads

import (
	"context"
	"fmt"

	"memdesk/backends/tracker"
	"memdesk/model"
)

// StoreConflicts lists the conflicts that an undecided merge left in the files, and ids on more than one line.
// Markers without an item between them are a conflict of their file.
func (s *Store) StoreConflicts(ctx context.Context) ([]model.StoreConflict, error) {
	snap, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	var out []model.StoreConflict
	inMerge := map[int]bool{}
	whole := false // the markers of issues.jsonl are no sets of items
	for i := 0; i < len(snap.marks); i++ {
		m := snap.marks[i]
		if m.sort != '<' {
			whole = true
			continue
		}
		end := m
		for i+1 < len(snap.marks) && snap.marks[i+1].sort != '<' {
			i++
			end = snap.marks[i]
		}
		if end.sort != '>' { // the end is missing: the set reaches to the next one
			end.entry = len(snap.entries)
			if i+1 < len(snap.marks) {
				end.entry = snap.marks[i+1].entry
			}
		}
		found := snap.undecided(m, end, inMerge)
		out, whole = append(out, found...), whole || len(found) == 0
	}
	if whole {
		out = append(out, model.StoreConflict{CopyID: issuesName, BaseID: issuesName, Tool: "git", Reason: markWords(issuesName, snap.marks)})
	}
	if len(snap.depMarks) > 0 {
		out = append(out, model.StoreConflict{CopyID: depsName, BaseID: depsName, Tool: "git", Reason: markWords(depsName, snap.depMarks)})
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
	if to.number > from.number && (from.label != "" || to.label != "") {
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
	return out
}
