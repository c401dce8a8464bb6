package beads

import (
	"bytes"

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
	out = jsonedit.Redaction{Concerns: req.Concerns, Redact: req.Redact, Stays: s.has}.Value(line, "")
	return out, !bytes.Equal(out, line)
}

// beside is redacted for the line of an edited item: MayEdit is not called again for values that Retain
// writes. refused is the number of values that may not be edited and stay.
func (s *snapshot) beside(line []byte, layer, id string, req model.ScrubRequest) (out []byte, changed bool, refused int) {
	if req.Concerns == nil || !req.Concerns(line) {
		return line, false, 0
	}
	r := jsonedit.Redaction{Concerns: req.Concerns, Redact: req.Redact, Stays: s.has, Silent: ownMembers(line)}
	r.May = func(path string, before, after []byte) bool {
		if req.MayEdit == nil || req.MayEdit(model.RecordEdit{Layer: layer, ID: id, Path: path, Before: string(before), After: string(after)}) {
			return true
		}
		refused++
		return false
	}
	out = r.Value(line, "")
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
