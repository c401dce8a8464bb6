package conflict

import (
	"slices"
	"strings"

	"memdesk/conflict/names"
)

// maxChain bounds how many markers are cut from one name.
const maxChain = 8

// reading is one way to pair a copy with a base.
type reading struct {
	match  names.Match // of the outermost marker
	need   names.Need
	baseID string // empty: no base exists
	chain  []Step
	target string // the base's id when the name alone does not give it
}

// pair returns the readings of a candidate whose base exists, likeliest first: the fewest markers cut, then
// the longest base, because an intermediate copy may be the true base.
func (t *tree) pair(c candidate) []reading {
	type partial struct {
		reading
		bases []string
		self  names.Match
	}
	dir, own := folder(c.id)
	level := make([]partial, 0, len(c.matches))
	for _, m := range c.matches {
		level = append(level, partial{reading{match: m, need: m.Need}, m.Bases, m})
	}
	var out []reading
	for depth := 0; depth < maxChain && len(level) > 0 && len(out) == 0; depth++ {
		var next []partial
		for _, p := range level {
			for i, b := range p.bases {
				step := Step{Name: b, Marker: p.self.Marker, Tool: p.self.Row.Tool, Row: p.self.Row.Number}
				chain := append(slices.Clone(p.chain), step)
				ids, match, need, found := t.lookup(dir+b), p.match, p.need, len(out)
				if len(ids) > 1 {
					match.Confidence, need = names.Possible, names.BaseAndContent
				}
				for _, id := range ids {
					if id != c.id && b != own {
						out = append(out, reading{match: match, need: need, baseID: id, chain: chain})
					}
				}
				if len(out) > found {
					break // further bases of a match come from the same cut
				}
				if i > 0 {
					continue
				}
				for _, m := range names.Classify(b, t.hosts) {
					next = append(next, partial{reading{match: p.match, need: max(p.need, m.Need), chain: chain}, m.Bases, m})
				}
			}
		}
		level = next[:min(len(next), 64)]
	}
	slices.SortStableFunc(out, func(a, b reading) int { return len(b.baseID) - len(a.baseID) })
	return out
}

// orphan is the reading of a name without an existing base: the most certain one that is valid without it.
func (t *tree) orphan(c candidate) (reading, bool) {
	for _, m := range c.matches {
		if m.Orphan == "" {
			continue
		}
		r := reading{match: m, need: m.Need}
		for len(r.chain) < maxChain {
			r.chain = append(r.chain, Step{Name: m.Base(), Marker: m.Marker, Tool: m.Row.Tool, Row: m.Row.Number})
			all := names.Classify(m.Base(), nil)
			i := slices.IndexFunc(all, func(n names.Match) bool { return n.Orphan != "" })
			if i < 0 {
				break
			}
			m = all[i]
		}
		return r, true
	}
	return reading{}, false
}

// describe fills in what a reading says.
func describe(store, id string, r reading) Copy {
	row := r.match.Row
	dir, _ := folder(id)
	c := Copy{Store: store, ID: id, BaseID: r.baseID, Chain: r.chain, Class: row.Class, Tool: row.Tool, Also: row.Also, Row: row.Number,
		Confidence: r.match.Confidence, Base: BasePresent, Shared: -1, Who: r.match.Who, Cautions: cautionsFor(row.Tool, row.Number, row.Class)}
	c.Target = r.baseID
	if n := len(r.chain); n > 0 && r.baseID == "" {
		c.Target = dir + r.chain[n-1].Name
	}
	if r.target != "" {
		c.Target = r.target
	}
	return c
}

// reasons joins the reasons for a match.
func reasons(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}
