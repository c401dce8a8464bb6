package beads

import (
	"bytes"
	"slices"
)

func indexByte(b []byte, c byte) int { return bytes.IndexByte(b, c) }

// object is one line as an editable sequence of members. Only what is set or
// removed changes; every other byte stays: order, numbers, blanks, duplicates.
type object struct {
	line    []byte
	members []member
}

// member is one name with its value. Of duplicates the last one counts, as every
// JSON reader has it.
type member struct {
	name       string
	key, value span // key between its quotes
}

func parseObject(line []byte) (*object, error) {
	o := &object{line: line}
	err := members(line, func(key, value span) {
		o.members = append(o.members, member{unquote(key.in(line)), key, value})
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// find is the member that counts under the first of the names that is there, -1
// for none.
func (o *object) find(names ...string) int {
	for _, name := range names {
		for i := len(o.members) - 1; i >= 0; i-- {
			if o.members[i].name == name {
				return i
			}
		}
	}
	return -1
}

// raw is the value under the first of the names that is there, nil for none.
func (o *object) raw(names ...string) []byte {
	if i := o.find(names...); i >= 0 {
		return o.members[i].value.in(o.line)
	}
	return nil
}

// text is a string value decoded; of another type, the raw value with ok false.
func (o *object) text(names ...string) (s string, ok bool) {
	raw := o.raw(names...)
	if len(raw) >= 2 && raw[0] == '"' {
		return unquote(raw[1 : len(raw)-1]), true
	}
	if string(raw) == "null" {
		return "", true
	}
	return string(raw), raw == nil
}

// set replaces the value under the first of the names that is there, or adds a
// member under the first name.
func (o *object) set(value []byte, names ...string) {
	if i := o.find(names...); i >= 0 {
		v := o.members[i].value
		o.splice(v.start, v.end, value)
		return
	}
	comma, colon := o.manner()
	text := append(quote(names[0]), colon...)
	text = append(text, value...)
	if n := len(o.members); n > 0 {
		at := o.members[n-1].value.end
		o.splice(at, at, append([]byte(comma), text...))
		return
	}
	at := int32(bytes.IndexByte(o.line, '{') + 1)
	o.splice(at, at, text)
}

// remove takes out every member of the names, so that no older duplicate comes to
// light.
func (o *object) remove(names ...string) {
	for {
		i := o.find(names...)
		if i < 0 {
			return
		}
		m := o.members[i]
		start, end := m.key.start-1, m.value.end
		switch {
		case i > 0: // with the comma before it
			start = o.members[i-1].value.end
		case len(o.members) > 1: // with the comma behind it
			end = o.members[1].key.start - 1
		}
		o.splice(start, end, nil)
	}
}

// manner is how the line separates members and values: some writers put a blank.
func (o *object) manner() (comma, colon string) {
	comma, colon = ",", ":"
	if len(o.members) == 0 {
		return comma, colon
	}
	m := o.members[0]
	if between := o.line[m.key.end+1 : m.value.start]; len(between) > 1 && len(bytes.TrimLeft(between[1:], " ")) == 0 {
		colon = string(between)
	}
	if len(o.members) > 1 {
		if between := o.line[m.value.end : o.members[1].key.start-1]; len(between) > 1 && len(bytes.TrimLeft(between[1:], " ")) == 0 {
			comma = string(between)
		}
	}
	return comma, colon
}

// splice replaces a stretch and reads the line anew. What set and remove write
// keeps the line an object.
func (o *object) splice(start, end int32, with []byte) {
	line := slices.Concat(o.line[:start], with, o.line[end:])
	if n, err := parseObject(line); err == nil {
		*o = *n
	}
}
