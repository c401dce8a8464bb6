package beads

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/tracker"
	"memdesk/model"
)

// Keep returns what Remove would remove of an entry: first its own line with its place, then the lines of
// deps.jsonl that name it, each with its place in the file.
func (s *Store) Keep(ctx context.Context, id string) (model.Beside, error) {
	snap, err := s.view(ctx)
	if err != nil {
		return model.Beside{}, err
	}
	i := snap.Find(id)
	if i < 0 {
		return model.Beside{}, model.Errorf(model.NotFound, "beside", "there is no item %.200q", id)
	}
	e := snap.entries[i]
	out := model.Beside{Lines: []model.BesideLine{{At: i, Text: string(snap.line(i))}}}
	if e.kind != tracker.Issue || snap.twins(e) > 1 {
		return out, nil
	}
	for _, p := range snap.pairs {
		if p.blocked == e.raw || p.blocker == e.raw {
			out.Lines = append(out.Lines, model.BesideLine{At: p.number - 1, Text: string(snap.deps[p.start:p.next])})
		}
	}
	return out, nil
}

// putBack returns both files with a removed entry restored in its old place and bytes, except for the time of
// its update. place is that of the entry; -1 where the kept data is another entry's. It is a Conflict where an entry
// of a repeated id has no kept line to come back: its handle is no id, so no new entry can have it.
func (s *snapshot) putBack(want tracker.Record, now string) (issues, deps []byte, place int, err error) {
	base := want.ID[:max(strings.LastIndexByte(want.ID, '#'), 0)]
	repeated := s.Find(base) >= 0
	defer func() {
		if repeated && place < 0 {
			err = model.Errorf(model.Conflict, "retain", "%q is the handle of a repeated id, and nothing kept its line; nothing was written", want.ID)
		}
	}()
	if want.Back == nil || len(want.Back.Lines) == 0 {
		return nil, nil, -1, nil
	}
	own, pairs := want.Back.Lines[0], want.Back.Lines[1:]
	was := parse([]byte(own.Text), nil)
	if len(was.entries) != 1 {
		return nil, nil, -1, nil
	}
	if was.entries[0].id == base {
		repeated = true
	} else if was.entries[0].id != want.ID {
		return nil, nil, -1, nil
	}
	old := was.Record(0).With(tracker.FieldDepends, want.Field(tracker.FieldDepends)) // pairs of deps.jsonl are not in the line
	if want.Kind == tracker.Memory {
		old = was.Record(0)
	}
	if old.Kind != want.Kind || old.Revision() != want.Revision() {
		return nil, nil, -1, nil
	}
	line := []byte(own.Text)
	if want.Kind == tracker.Issue {
		o, err := jsonedit.Parse(line)
		if err != nil {
			return nil, nil, -1, nil
		}
		o.Set(jsonedit.Quote(now), "updated_at", "updated")
		line = o.Line
	}
	issues, place = s.append(line), len(s.entries)
	if own.At >= 0 && own.At < len(s.entries) {
		at := s.entries[own.At].start
		place = own.At
		issues = slices.Concat(s.issues[:at], line, []byte(lineEnd(s.issues)), s.issues[at:])
	}
	if deps = s.deps; len(pairs) > 0 {
		deps = s.withPairs(pairs)
	}
	return issues, deps, place, nil
}

// withPairs adds kept lines to deps.jsonl, each behind as many lines as stood before it.
func (s *snapshot) withPairs(kept []model.BesideLine) (out []byte) {
	add := func(text []byte) {
		if len(text) > 0 && len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) && !bytes.Equal(out, bom) {
			out = append(out, lineEnd(s.deps)...)
		}
		out = append(out, text...)
	}
	lines, next := bytes.SplitAfter(s.deps, []byte("\n")), 0
	for n, p := range kept {
		for ; next < len(lines) && next+n < p.At; next++ {
			add(lines[next])
		}
		add([]byte(p.Text))
	}
	for _, line := range lines[next:] {
		add(line)
	}
	return out
}
