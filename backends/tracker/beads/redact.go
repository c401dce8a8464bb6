package beads

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/tracker"
	"memdesk/model"
)

// redacted removes the subject from every name and value of a line, at any depth. Parts that do not name the
// subject keep their bytes. The id of an existing item stays: it is that item's.
func (s *snapshot) redacted(line []byte, req model.ScrubRequest) (out []byte, changed bool) {
	if req.Concerns == nil || !req.Concerns(line) {
		return line, false
	}
	r := redaction{req: req, has: s.has}
	out = r.value(line, "")
	return out, !bytes.Equal(out, line)
}

// beside is redacted for the line of an edited item: MayEdit is not called again for values that Retain
// writes. refused is the number of values that may not be edited and stay.
func (s *snapshot) beside(line []byte, layer, id string, req model.ScrubRequest) (out []byte, changed bool, refused int) {
	if req.Concerns == nil || !req.Concerns(line) {
		return line, false, 0
	}
	r := redaction{req: req, has: s.has, own: ownMembers(line)}
	r.may = func(path string, before, after []byte) bool {
		if req.MayEdit == nil || req.MayEdit(model.RecordEdit{Layer: layer, ID: id, Path: path, Before: string(before), After: string(after)}) {
			return true
		}
		refused++
		return false
	}
	out = r.value(line, "")
	return out, !bytes.Equal(out, line), refused
}

// ownMembers are the places in a line of values that Retain writes.
func ownMembers(line []byte) map[int32]bool {
	own := map[int32]bool{}
	o, err := jsonedit.Parse(line)
	if err != nil {
		return own
	}
	names := [][]string{{"description"}}
	if kind, _ := o.Text("_type"); kind == "memory" {
		names = [][]string{{"value"}}
	} else {
		for _, c := range writable {
			names = append(names, c.keys)
		}
	}
	for _, n := range names {
		if i := o.Find(n...); i >= 0 {
			own[o.Members[i].Value.Start] = true
		}
	}
	return own
}

// redaction is the edit of one line.
type redaction struct {
	req model.ScrubRequest
	has func(id string) bool
	own map[int32]bool // places of values for which MayEdit is not called
	may func(path string, before, after []byte) bool
}

// ask returns the edit of a value where it may be made.
func (r *redaction) ask(path string, before, after []byte) []byte {
	if r.may == nil || bytes.Equal(before, after) || r.may(path, before, after) {
		return after
	}
	return before
}

// value edits a raw JSON value; invalid JSON stays.
func (r *redaction) value(raw []byte, path string) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return raw
	}
	switch c := bytes.TrimLeft(raw, " \t\r\n"); c[0] {
	case '{':
		return r.object(raw, path)
	case '[':
		var spans []jsonedit.Span
		if err := jsonedit.Elements(raw, func(v jsonedit.Span) { spans = append(spans, v) }); err != nil {
			return raw
		}
		return replaced(raw, spans, func(i int, v []byte) []byte { return r.value(v, path+"["+strconv.Itoa(i)+"]") })
	case '"':
		return r.ask(path, raw, r.text(raw))
	default:
		if r.req.Concerns(raw) { // a number that identifies the subject
			return r.ask(path, raw, []byte("null"))
		}
		return raw
	}
}

// object edits names and values. Two names that become equal get different ones, so that no reader skips the
// first.
func (r *redaction) object(raw []byte, path string) []byte {
	var spans []jsonedit.Span
	var at []string
	names := map[string]bool{}
	err := jsonedit.Members(raw, func(key, value jsonedit.Span) {
		name := jsonedit.Unquote(key.In(raw))
		spans, at = append(spans, jsonedit.Span{Start: key.Start - 1, End: key.End + 1}, value), append(at, strings.TrimPrefix(path+"."+name, "."))
		names[name] = true
	})
	if err != nil {
		return raw
	}
	return replaced(raw, spans, func(i int, v []byte) []byte {
		switch {
		case i%2 == 1 && path == "" && r.own[spans[i].Start]:
			silent := *r
			silent.may = nil
			return silent.value(v, at[i/2])
		case i%2 == 1:
			return r.value(v, at[i/2])
		}
		edited := r.text(v)
		if bytes.Equal(edited, v) {
			return v
		}
		name := jsonedit.Unquote(edited[1 : len(edited)-1])
		next := name
		for n := 2; names[next]; n++ {
			next = name + "-" + strconv.Itoa(n)
		}
		if !bytes.Equal(r.ask(at[i/2]+" (the name)", v, jsonedit.Quote(next)), jsonedit.Quote(next)) {
			return v
		}
		names[next] = true
		return jsonedit.Quote(next)
	})
}

// text edits a string between its quotes, with its own escapes where that gives the same text.
func (r *redaction) text(raw []byte) []byte {
	s := jsonedit.Unquote(raw[1 : len(raw)-1])
	if !r.req.Concerns([]byte(s)) && !r.req.Concerns(raw) || r.has(s) {
		return raw
	}
	if r.req.Redact == nil {
		return []byte(`""`)
	}
	want := string(r.req.Redact([]byte(s)))
	if own := slices.Concat([]byte(`"`), r.req.Redact(raw[1:len(raw)-1]), []byte(`"`)); json.Valid(own) && jsonedit.Unquote(own[1:len(own)-1]) == want {
		return own
	}
	return jsonedit.Quote(want)
}

// replaced replaces each stretch by the result of edit.
func replaced(raw []byte, spans []jsonedit.Span, edit func(i int, v []byte) []byte) []byte {
	var out []byte
	at := int32(0)
	for i, v := range spans {
		out = append(append(out, raw[at:v.Start]...), edit(i, v.In(raw))...)
		at = v.End
	}
	return append(out, raw[at:]...)
}

// scrubPairs is the edit of deps.jsonl: a pair goes with one of its items. A pair of two other items stays,
// without the subject who made it.
func (s *snapshot) scrubPairs(req model.ScrubRequest, concerns func([]byte) bool) lineEdit {
	gone := s.gone(req)
	return func(line []byte) ([]byte, bool) {
		o, err := jsonedit.Parse(line)
		if err != nil {
			return dropping(concerns)(line)
		}
		blocker, ok1 := o.Text("blockerId")
		blocked, ok2 := o.Text("blockedId")
		switch {
		case !ok1 || !ok2 || blocker == "" || blocked == "": // not a pair
			return dropping(concerns)(line)
		case gone(blocker), gone(blocked):
			return nil, true
		}
		return s.redacted(line, req)
	}
}

// scrubExport is the edit of another export of the items: the line of a removed item goes. That of another item
// stays, without its references to removed ones and without the subject; mentioned counts those whose texts
// still mention a removed item.
func (s *snapshot) scrubExport(req model.ScrubRequest, concerns func([]byte) bool, mentioned *int) lineEdit {
	gone := s.gone(req)
	return func(line []byte) ([]byte, bool) {
		if !concerns(line) {
			return line, false
		}
		lines, _ := scanFile(bytes.TrimSuffix(line, []byte("\n")))
		if len(lines) != 1 || lines[0].kind != tracker.Issue || lines[0].problem != "" || gone(lines[0].raw) {
			return nil, true
		}
		left, _ := relinked(line, req.Renamed)
		left, _ = unnamedLine(left, gone)
		left, _ = s.redacted(left, req)
		if concerns(left) {
			*mentioned++
		}
		return left, !bytes.Equal(left, line)
	}
}
