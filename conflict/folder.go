package conflict

import (
	"strings"

	"memdesk/conflict/names"
)

// byFolder reads an item in a folder that is itself a second copy: Resilio Sync makes X.Conflict beside X
// (conflict-names.md, row 12). The innermost such folder counts.
func byFolder(id string) (candidate, bool) {
	dir, name := folder(id)
	for end := len(dir) - 1; end > 0; {
		start := strings.LastIndexByte(dir[:end], '/') + 1
		part := dir[start:end]
		if i := strings.IndexByte(part, '.'); i > 0 && len(part) >= i+len(".Conflict") {
			for _, m := range names.Classify(part, nil) {
				if m.Row.Number == rowResilio {
					return candidate{id: id, matches: []names.Match{m}, target: dir[:start] + m.Base() + dir[end:] + name}, true
				}
			}
		}
		end = start - 1
	}
	return candidate{}, false
}

const rowResilio = 12

// pairedByFolder pairs an item with that of the same path in the other folder.
func (t *tree) pairedByFolder(c candidate) (paired, bool) {
	m := c.matches[0]
	r := reading{match: m, need: m.Need, target: c.target, chain: []Step{{Name: m.Base(), Marker: m.Marker, Tool: m.Row.Tool, Row: m.Row.Number}}}
	p := paired{id: c.id, key: c.target, lone: r, orphan: m.Orphan != ""}
	if ids := t.lookup(c.target); len(ids) == 1 && ids[0] != c.id {
		r.baseID = ids[0]
		p.readings, p.key = []reading{r}, ids[0]
	}
	return p, p.orphan || len(p.readings) > 0
}
