package beads

import (
	"bytes"
	"context"
	"slices"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/tracker"
	"memdesk/model"
)

// Of returns the pairs of deps.jsonl and those inside the issues, each once.
func (s *snapshot) Of(_ context.Context, id string) ([]model.Dependency, error) {
	s.once.Do(func() {
		seen := map[model.Dependency]bool{}
		s.near = map[string][]model.Dependency{}
		add := func(d model.Dependency) {
			if seen[d] {
				return
			}
			seen[d] = true
			s.near[d.Blocked] = append(s.near[d.Blocked], d)
			if d.Blocker != d.Blocked {
				s.near[d.Blocker] = append(s.near[d.Blocker], d)
			}
		}
		for _, p := range s.pairs {
			add(model.Dependency{Blocker: p.blocker, Blocked: p.blocked, Kind: "blocks"})
		}
		for i := range s.entries {
			for _, d := range s.embedded(i) {
				add(d.Dependency)
			}
		}
	})
	return s.near[id], nil
}

// inner is a dependency inside an issue's own line.
type inner struct {
	model.Dependency
	at jsonedit.Span // in the raw array
}

// embedded reads bd's array in the line.
func (s *snapshot) embedded(i int) []inner {
	e := &s.entries[i]
	if e.kind != tracker.Issue || e.depends.None() {
		return nil
	}
	return innerOf(e.depends.In(s.line(i)), e.raw)
}

func innerOf(raw []byte, id string) []inner {
	var out []inner
	_ = jsonedit.Elements(raw, func(v jsonedit.Span) { // a value that is no array has no elements
		o, err := jsonedit.Parse(v.In(raw))
		if err != nil {
			return
		}
		d := inner{at: v, Dependency: model.Dependency{Blocked: id, Kind: "blocks"}}
		if s, ok := o.Text("issue_id"); ok && s != "" {
			d.Blocked = s
		}
		if s, ok := o.Text("type"); ok && s != "" {
			d.Kind = s
		}
		var ok bool
		if d.Blocker, ok = o.Text("depends_on_id"); ok && d.Blocker != "" {
			out = append(out, d)
		}
	})
	return out
}

// parentOf returns the parent of an item, which bd's export has only as a dependency.
func parentOf(raw []byte, id string) string {
	for _, d := range innerOf(raw, id) {
		if d.Kind == "parent-child" && d.Blocked == id {
			return d.Blocker
		}
	}
	return ""
}

// blockers are the ids of the field depends, sorted.
func (s *snapshot) blockers(i int) []string {
	id := s.entries[i].raw
	s.listing.Do(func() {
		s.blocking = map[string][]string{}
		for _, p := range s.pairs {
			s.blocking[p.blocked] = append(s.blocking[p.blocked], p.blocker)
		}
	})
	out := slices.Clone(s.blocking[id])
	for _, d := range s.embedded(i) {
		if d.Kind == "blocks" && d.Blocked == id {
			out = append(out, d.Blocker)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// relate changes the array inside the line: it removes gone and adds fresh. Where as many are added as
// removed, each new one replaces an old one, whose other members stay.
func relate(o *jsonedit.Object, id string, gone, fresh []string, now string) {
	raw := o.Raw("dependencies")
	have := innerOf(raw, id)
	drop := func(d inner) bool {
		return d.Kind == "blocks" && d.Blocked == id && slices.Contains(gone, d.Blocker)
	}
	known := func(blocker string) bool {
		return slices.ContainsFunc(have, func(d inner) bool { return d.Kind == "blocks" && d.Blocker == blocker && d.Blocked == id })
	}
	comma, colon := o.Manner()
	var out [][]byte
	var placed []string // ids of fresh that replace others
	changed := false
	_ = jsonedit.Elements(raw, func(v jsonedit.Span) { // every element, raw
		if i := slices.IndexFunc(have, func(d inner) bool { return d.at == v }); i >= 0 && drop(have[i]) {
			changed = true
			if len(gone) != len(fresh) {
				return
			}
			if n := slices.Index(gone, have[i].Blocker); !known(fresh[n]) {
				if d, err := jsonedit.Parse(v.In(raw)); err == nil && d.Raw("depends_on_id") != nil {
					d.Set(jsonedit.Quote(fresh[n]), "depends_on_id")
					out, placed = append(out, d.Line), append(placed, fresh[n])
				}
			}
			return
		}
		out = append(out, v.In(raw))
	})
	for _, blocker := range fresh {
		if known(blocker) || slices.Contains(placed, blocker) {
			continue
		}
		changed = true
		var b []byte
		for n, f := range [][2]string{{"issue_id", id}, {"depends_on_id", blocker}, {"type", "blocks"}, {"created_at", now}} {
			if n > 0 {
				b = append(b, comma...)
			}
			b = append(append(append(b, jsonedit.Quote(f[0])...), colon...), jsonedit.Quote(f[1])...)
		}
		out = append(out, append(append([]byte("{"), b...), '}'))
	}
	switch {
	case !changed:
	case len(out) == 0:
		o.Remove("dependencies")
	default:
		o.Set(slices.Concat([]byte("["), bytes.Join(out, []byte(comma)), []byte("]")), "dependencies")
	}
}
