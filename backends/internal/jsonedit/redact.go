package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Redaction takes a subject out of a JSON text, name by name and value by value. What does not name the subject
// keeps its bytes.
type Redaction struct {
	// Concerns reports whether a text names the subject, and Redact returns it without; nil: it is emptied.
	Concerns func([]byte) bool
	Redact   func([]byte) []byte
	// Stays reports that a text is left although it names the subject, as the id of an item; may be nil.
	Stays func(text string) bool
	// May is asked before an edit; a refused value stays. nil: every edit is made. Silent are the places of
	// members of the outermost object for which it is not asked.
	May    func(path string, before, after []byte) bool
	Silent map[int32]bool
}

// Value edits a value at a path ("comments[0].author"; empty for a whole text). Invalid JSON stays.
func (r Redaction) Value(raw []byte, path string) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return raw
	}
	switch c := bytes.TrimLeft(raw, " \t\r\n"); c[0] {
	case '{':
		return r.object(raw, path)
	case '[':
		var spans []Span
		if err := Elements(raw, func(v Span) { spans = append(spans, v) }); err != nil {
			return raw
		}
		r.Silent = nil
		return Replaced(raw, spans, func(i int, v []byte) []byte { return r.Value(v, path+"["+strconv.Itoa(i)+"]") })
	case '"':
		return r.ask(path, raw, r.text(raw))
	default:
		if r.Concerns(raw) { // a number that identifies the subject
			return r.ask(path, raw, []byte("null"))
		}
		return raw
	}
}

// ask returns the edit of a value where it may be made.
func (r Redaction) ask(path string, before, after []byte) []byte {
	if r.May == nil || bytes.Equal(before, after) || r.May(path, before, after) {
		return after
	}
	return before
}

// object edits names and values. Two names that become equal get different ones, so that no reader skips the
// first.
func (r Redaction) object(raw []byte, path string) []byte {
	var spans []Span
	var at []string
	names := map[string]bool{}
	err := Members(raw, func(key, value Span) {
		name := Unquote(key.In(raw))
		spans, at = append(spans, Span{Start: key.Start - 1, End: key.End + 1}, value), append(at, strings.TrimPrefix(path+"."+name, "."))
		names[name] = true
	})
	if err != nil {
		return raw
	}
	silent := r.Silent
	r.Silent = nil
	return Replaced(raw, spans, func(i int, v []byte) []byte {
		switch {
		case i%2 == 1 && silent[spans[i].Start]:
			unasked := r
			unasked.May = nil
			return unasked.Value(v, at[i/2])
		case i%2 == 1:
			return r.Value(v, at[i/2])
		}
		edited := r.text(v)
		if bytes.Equal(edited, v) {
			return v
		}
		name := Unquote(edited[1 : len(edited)-1])
		next := name
		for n := 2; names[next]; n++ {
			next = name + "-" + strconv.Itoa(n)
		}
		if !bytes.Equal(r.ask(at[i/2]+" (the name)", v, Quote(next)), Quote(next)) {
			return v
		}
		names[next] = true
		return Quote(next)
	})
}

// text edits a string between its quotes, with its own escapes where that gives the same text.
func (r Redaction) text(raw []byte) []byte {
	s := Unquote(raw[1 : len(raw)-1])
	if !r.Concerns([]byte(s)) && !r.Concerns(raw) || r.Stays != nil && r.Stays(s) {
		return raw
	}
	if r.Redact == nil {
		return []byte(`""`)
	}
	want := string(r.Redact([]byte(s)))
	if own := slices.Concat([]byte(`"`), r.Redact(raw[1:len(raw)-1]), []byte(`"`)); json.Valid(own) && Unquote(own[1:len(own)-1]) == want {
		return own
	}
	return Quote(want)
}

// Replaced replaces each stretch by the result of edit.
func Replaced(raw []byte, spans []Span, edit func(i int, v []byte) []byte) []byte {
	var out []byte
	at := int32(0)
	for i, v := range spans {
		out = append(append(out, raw[at:v.Start]...), edit(i, v.In(raw))...)
		at = v.End
	}
	return append(out, raw[at:]...)
}
