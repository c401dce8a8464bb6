package beads

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/tracker"
	"memdesk/model"
)

// scrubItems removes from the items' file other items' references to removed ones, and the subject from
// values that Retain does not write in the lines of edited items. Every other byte of a line stays. The items
// themselves are forgotten one by one.
func (s *Store) scrubItems(ctx context.Context, id string, req model.ScrubRequest, concerns func([]byte) bool) model.LayerResult {
	res := model.LayerResult{Layer: id, Verdict: model.VerdictClean, Method: "took dependencies on removed items, and removed parents, out of other items' lines, and the person out of what edited items' lines say beside their own fields; items are forgotten one by one"}
	if s.export {
		res.Method = "only looked at: it is bd's export, and bd alone writes it"
	}
	failed := func(err error) model.LayerResult {
		res.Verdict, res.Reason = model.VerdictFailed, err.Error()
		return res
	}
	snap, _, err := s.load(ctx)
	if err != nil {
		return failed(err)
	}
	if req.Dry { // the items' own lines go with them
		if !s.export {
			if _, n, _ := snap.unnamed(id, req); n > 0 {
				req.Permits(id, nil)
			}
		}
		return res
	}
	n, refused := int64(0), 0
	if !s.export { // nothing in it is edited
		_, n, refused = snap.unnamed(id, req)
	}
	if n > 0 {
		if left, ok := req.Permits(id, nil); !ok {
			return left
		}
		err := s.rewriteLocked(ctx, "scrub", func(now *snapshot) (issues, deps []byte, err error) {
			issues, res.Rows, refused = now.unnamed(id, req)
			return issues, now.deps, nil
		})
		if err != nil {
			res.Rows = 0
			return failed(err)
		}
		if snap, _, err = s.load(ctx); err != nil {
			return failed(err)
		}
	}
	n = 0
	for line := range bytes.Lines(snap.issues) {
		if concerns(line) {
			n++
		}
	}
	switch {
	case refused > 0:
		res.Verdict, res.Reason = model.VerdictResidue, fmt.Sprintf("%d values beside an item's own fields are not as the plan has them: make a new plan", refused)
	case n > 0:
		res.Verdict, res.Reason = model.VerdictResidue, fmt.Sprintf("%d lines still name the person or a removed item", n)
	}
	return res
}

// unnamed is the file without references to ids that no longer exist and were removed or name the subject,
// and their number; refused counts the values that may not be edited. The id of an existing item stays: it is
// that item's.
func (s *snapshot) unnamed(layer string, req model.ScrubRequest) (issues []byte, rows int64, refused int) {
	gone := s.gone(req)
	edited := map[string]bool{}
	for _, id := range req.Edited {
		edited[id] = true
	}
	at := 0
	for i := range s.entries {
		e := &s.entries[i]
		line, n := s.line(i), int64(0)
		if e.kind == tracker.Issue {
			var led, taken int64
			line, led = relinked(line, req.Renamed)
			line, taken = unnamedLine(line, gone)
			n = led + taken
		}
		if edited[e.id] {
			without, changed, no := s.beside(line, layer, e.id, req)
			if refused += no; changed {
				line, n = without, n+1
			}
		}
		if n == 0 {
			continue
		}
		rows += n
		issues = append(append(issues, s.issues[at:e.start]...), line...)
		at = e.end
	}
	return append(issues, s.issues[at:]...), rows, refused
}

// gone returns a test for ids that are no item's any more, because the item was removed or the id names the
// subject.
func (s *snapshot) gone(req model.ScrubRequest) func(id string) bool {
	return func(id string) bool {
		if req.Dry && slices.Contains(req.Removed, id) {
			return true // by then
		}
		if id == "" || s.has(id) {
			return false
		}
		return slices.Contains(req.Removed, id) || req.Concerns != nil && req.Concerns(jsonedit.Quote(id))
	}
}

// has reports whether an id is a work item's.
func (s *snapshot) has(id string) bool {
	i := s.Find(id)
	return i >= 0 && s.entries[i].kind == tracker.Issue
}

// relinked is a line whose links lead to items' new ids, and the number of links that do not.
func relinked(line []byte, renamed map[string]string) ([]byte, int64) {
	if len(renamed) == 0 {
		return line, 0
	}
	o, err := jsonedit.Parse(line)
	if err != nil {
		return line, 0
	}
	var n int64
	lead := func(o *jsonedit.Object, member string) bool {
		id, ok := o.Text(member)
		next := renamed[id]
		if ok && next != "" {
			o.Set(jsonedit.Quote(next), member)
			n++
		}
		return ok && next != ""
	}
	if raw := o.Raw("dependencies"); raw != nil {
		var spans []jsonedit.Span
		if err := jsonedit.Elements(raw, func(v jsonedit.Span) { spans = append(spans, v) }); err == nil {
			before := n
			raw = jsonedit.Replaced(raw, spans, func(_ int, v []byte) []byte {
				d, err := jsonedit.Parse(v)
				if err != nil {
					return v
				}
				if from, to := lead(d, "issue_id"), lead(d, "depends_on_id"); from || to {
					return d.Line
				}
				return v
			})
			if n > before {
				o.Set(raw, "dependencies")
			}
		}
	}
	lead(o, "parent")
	return o.Line, n
}

func unnamedLine(line []byte, gone func(id string) bool) ([]byte, int64) {
	o, err := jsonedit.Parse(line)
	if err != nil { // valid when it was scanned
		return line, 0
	}
	var rows int64
	if raw, n := without(o.Raw("dependencies"), func(element []byte) bool {
		d, err := jsonedit.Parse(element)
		if err != nil {
			return false
		}
		blocker, _ := d.Text("depends_on_id")
		blocked, _ := d.Text("issue_id")
		return gone(blocker) || gone(blocked)
	}); n > 0 {
		rows += n
		o.Set(raw, "dependencies")
		left := 0
		_ = jsonedit.Elements(raw, func(jsonedit.Span) { left++ }) // it was an array
		if left == 0 {
			o.Remove("dependencies")
		}
	}
	if parent, ok := o.Text("parent"); ok && gone(parent) {
		rows++
		o.Remove("parent")
	}
	return o.Line, rows
}

// without removes elements from a raw array, each with one comma. The bytes between the others are kept.
func without(raw []byte, drop func(element []byte) bool) (out []byte, n int64) {
	var spans []jsonedit.Span
	if err := jsonedit.Elements(raw, func(v jsonedit.Span) { spans = append(spans, v) }); err != nil {
		return raw, 0
	}
	at, kept := 0, 0
	for i, v := range spans {
		switch {
		case !drop(v.In(raw)):
			kept++
			continue
		case kept > 0: // from the end of the element before
			out = append(out, raw[at:spans[i-1].End]...)
			at = int(v.End)
		default: // up to the beginning of the next one
			out = append(out, raw[at:v.Start]...)
			at = int(v.End)
			if i+1 < len(spans) {
				at = int(spans[i+1].Start)
			}
		}
		n++
	}
	return append(out, raw[at:]...), n
}
