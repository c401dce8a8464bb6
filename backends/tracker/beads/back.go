package beads

import (
	"bytes"
	"context"
	"slices"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/tracker"
	"memdesk/model"
)

// Keep returns what Remove would remove of an entry: first its own line with its place, then the lines of
// deps.jsonl that name it, each with its place among the pairs.
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
	for n, p := range snap.pairs {
		if e.kind == tracker.Issue && (p.blocked == e.raw || p.blocker == e.raw) {
			out.Lines = append(out.Lines, model.BesideLine{At: n, Text: string(snap.deps[p.start:p.next])})
		}
	}
	return out, nil
}

// putBack returns both files with a removed entry restored in its old place and bytes, except for the time of
// its update. false where the kept data is another entry's, or there is no place for its pairs.
func (s *snapshot) putBack(want tracker.Record, now string) (issues, deps []byte, ok bool) {
	if want.Back == nil || len(want.Back.Lines) == 0 {
		return nil, nil, false
	}
	own, pairs := want.Back.Lines[0], want.Back.Lines[1:]
	was := parse([]byte(own.Text), nil)
	if len(was.entries) != 1 || was.entries[0].id != want.ID || len(pairs) > 0 && s.deps == nil {
		return nil, nil, false
	}
	old := was.Record(0).With(tracker.FieldDepends, want.Field(tracker.FieldDepends)) // pairs of deps.jsonl are not in the line
	if want.Kind == tracker.Memory {
		old = was.Record(0)
	}
	if old.Kind != want.Kind || old.Revision() != want.Revision() {
		return nil, nil, false
	}
	line := []byte(own.Text)
	if want.Kind == tracker.Issue {
		o, err := jsonedit.Parse(line)
		if err != nil {
			return nil, nil, false
		}
		o.Set(jsonedit.Quote(now), "updated_at", "updated")
		line = o.Line
	}
	issues = s.append(line)
	if own.At >= 0 && own.At < len(s.entries) {
		at := s.entries[own.At].start
		issues = slices.Concat(s.issues[:at], line, []byte(lineEnd(s.issues)), s.issues[at:])
	}
	deps = s.deps
	for _, p := range pairs {
		at := len(deps)
		if now := parse(nil, deps); p.At >= 0 && p.At < len(now.pairs) {
			at = now.pairs[p.At].start
		}
		before, text, after := deps[:at], []byte(p.Text), deps[at:]
		if len(after) > 0 && !bytes.HasSuffix(text, []byte("\n")) { // it was the last line
			text = append(text, lineEnd(deps)...)
		}
		if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) && !bytes.Equal(before, bom) {
			text = append([]byte(lineEnd(deps)), text...)
		}
		deps = slices.Concat(before, text, after)
	}
	return issues, deps, true
}
