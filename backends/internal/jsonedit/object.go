// Package jsonedit changes single values of a JSON object and keeps every other byte: the order of members, number spelling,
// blanks, duplicates.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Object is one line as an editable sequence of members. Only what is set or
// removed changes; every other byte stays: order, numbers, blanks, duplicates.
type Object struct {
	Line    []byte
	Members []Member
	at      map[string]int // the member that counts, by name; nil: Find makes it
}

// few is how many members Find looks through one by one.
const few = 32

// Member is one name with its value. Of duplicates the last one counts, as every
// JSON reader has it.
type Member struct {
	Name       string
	Key, Value Span // key between its quotes
}

// Parse reads one object; an error is ErrSyntax.
func Parse(line []byte) (*Object, error) {
	o := &Object{Line: line}
	err := Members(line, func(key, value Span) {
		o.Members = append(o.Members, Member{Unquote(key.In(line)), key, value})
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// Find is the member that counts under the first of the names that is there, -1
// for none.
func (o *Object) Find(names ...string) int {
	if o.at == nil && len(o.Members) > few {
		o.at = make(map[string]int, len(o.Members))
		for i, m := range o.Members {
			o.at[m.Name] = i
		}
	}
	for _, name := range names {
		if i, there := o.at[name]; there {
			return i
		}
		if o.at != nil {
			continue
		}
		for i := len(o.Members) - 1; i >= 0; i-- {
			if o.Members[i].Name == name {
				return i
			}
		}
	}
	return -1
}

// Raw is the value under the first of the names that is there, nil for none.
func (o *Object) Raw(names ...string) []byte {
	if i := o.Find(names...); i >= 0 {
		return o.Members[i].Value.In(o.Line)
	}
	return nil
}

// Text is a string value decoded; of another type, the raw value with ok false.
func (o *Object) Text(names ...string) (s string, ok bool) {
	raw := o.Raw(names...)
	if len(raw) >= 2 && raw[0] == '"' {
		return Unquote(raw[1 : len(raw)-1]), true
	}
	if string(raw) == "null" {
		return "", true
	}
	return string(raw), raw == nil
}

// Set replaces the value under the first of the names that is there, or adds a
// member under the first name.
func (o *Object) Set(value []byte, names ...string) {
	if i := o.Find(names...); i >= 0 {
		v := o.Members[i].Value
		o.splice(v.Start, v.End, value)
		return
	}
	comma, colon := o.Manner()
	text := append(Quote(names[0]), colon...)
	text = append(text, value...)
	if n := len(o.Members); n > 0 {
		at := o.Members[n-1].Value.End
		o.splice(at, at, append([]byte(comma), text...))
		return
	}
	at := int32(bytes.IndexByte(o.Line, '{') + 1)
	o.splice(at, at, text)
}

// Remove takes out every member of the names, so that no older duplicate comes to
// light.
func (o *Object) Remove(names ...string) {
	line, n, err := Without(o.Line, func(name string) bool { return slices.Contains(names, name) })
	if err == nil && n > 0 {
		o.splice(0, int32(len(o.Line)), line)
	}
}

// Without returns an object without the members that drop selects, each with a comma beside it, and their number. Every
// other byte stays. An error is ErrSyntax.
func Without(object []byte, drop func(name string) bool) (rest []byte, n int, err error) {
	last, kept := int32(0), false // last is the end of the member before
	err = Members(object, func(key, value Span) {
		start := key.Start - 1
		if last == 0 {
			rest = append(rest, object[:start]...)
		}
		if drop(Unquote(key.In(object))) {
			n++
		} else {
			if kept {
				rest = append(rest, object[last:start]...)
			}
			rest, kept = append(rest, object[start:value.End]...), true
		}
		last = value.End
	})
	if err != nil {
		return nil, 0, err
	}
	return append(rest, object[last:]...), n, nil
}

// Cut takes out member i.
func (o *Object) Cut(i int) {
	m := o.Members[i]
	start, end := m.Key.Start-1, m.Value.End
	switch {
	case i > 0: // with the comma before it
		start = o.Members[i-1].Value.End
	case len(o.Members) > 1: // with the comma behind it
		end = o.Members[1].Key.Start - 1
	}
	o.splice(start, end, nil)
}

// Extra reports whether member i is none of these names, or a duplicate that does not count.
func (o *Object) Extra(i int, own ...string) bool {
	name := o.Members[i].Name
	return !slices.Contains(own, name) || o.Find(name) != i
}

// Rest is the object of the extra members; empty where there is none.
func (o *Object) Rest(own ...string) string {
	var out []string
	for i, m := range o.Members {
		if o.Extra(i, own...) {
			out = append(out, string(Quote(m.Name))+":"+string(m.Value.In(o.Line)))
		}
	}
	if out == nil {
		return ""
	}
	return "{" + strings.Join(out, ",") + "}"
}

// QuoteList writes texts as a JSON list, each as Quote does.
func QuoteList(texts []string) []byte {
	out := []byte("[")
	for i, t := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, Quote(t)...)
	}
	return append(out, ']')
}

// Texts reads the texts of a JSON list, in the bytes that they have; ok is false where it is no list of texts alone.
func Texts(list []byte) (texts []string, ok bool) {
	ok = json.Valid(list)
	err := Elements(list, func(v Span) {
		if list[v.Start] != '"' {
			ok = false
			return
		}
		texts = append(texts, Unquote(list[v.Start+1:v.End-1]))
	})
	return texts, ok && err == nil
}

// WithoutTexts drops texts from a JSON list of texts; emptied reports that none is left. What is no such list, or holds
// none of them, stays as it is.
func WithoutTexts(list string, drop func(text string) bool) (rest string, emptied bool) {
	texts, ok := Texts([]byte(list))
	kept := slices.DeleteFunc(slices.Clone(texts), drop)
	if !ok || len(kept) == len(texts) {
		return list, false
	}
	return string(QuoteList(kept)), len(kept) == 0
}

// Manner is how the line separates members and values: some writers put a blank.
func (o *Object) Manner() (comma, colon string) {
	comma, colon = ",", ":"
	if len(o.Members) == 0 {
		return comma, colon
	}
	m := o.Members[0]
	if between := o.Line[m.Key.End+1 : m.Value.Start]; len(between) > 1 && len(bytes.TrimLeft(between[1:], " ")) == 0 {
		colon = string(between)
	}
	if len(o.Members) > 1 {
		if between := o.Line[m.Value.End : o.Members[1].Key.Start-1]; len(between) > 1 && len(bytes.TrimLeft(between[1:], " ")) == 0 {
			comma = string(between)
		}
	}
	return comma, colon
}

// splice replaces a stretch and reads the line anew. What set and remove write
// keeps the line an object.
func (o *Object) splice(start, end int32, with []byte) {
	line := slices.Concat(o.Line[:start], with, o.Line[end:])
	if n, err := Parse(line); err == nil {
		*o = *n
	}
}
