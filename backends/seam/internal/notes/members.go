package notes

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

var errNotJSON = errors.New("not one JSON value")

// cutMembers removes the members of a JSON text's objects, at any depth, that drop selects, and keeps every
// other byte. It returns their number. The path of a member is the keys that lead to it, its own last; an
// array counts as the key "".
func cutMembers(data []byte, drop func(path []string) bool) ([]byte, int, error) {
	if !json.Valid(data) {
		return nil, 0, errNotJSON
	}
	c := cutter{data: data, drop: drop}
	c.value(c.space(0))
	slices.SortStableFunc(c.cuts, func(a, b [2]int) int { return a[0] - b[0] })
	var out []byte
	done := 0
	for _, cut := range c.cuts {
		if cut[0] > done {
			out = append(out, data[done:cut[0]]...)
		}
		done = max(done, cut[1])
	}
	return append(out, data[done:]...), c.n, nil
}

// cutter walks over a valid text.
type cutter struct {
	data []byte
	drop func([]string) bool
	path []string // of the value at hand
	cuts [][2]int // start and end; they may overlap
	n    int
}

func (c *cutter) space(at int) int {
	for at < len(c.data) && bytes.IndexByte([]byte(" \t\r\n"), c.data[at]) >= 0 {
		at++
	}
	return at
}

// value returns the end of the value at an offset.
func (c *cutter) value(at int) int {
	switch c.data[at] {
	case '{':
		return c.object(at)
	case '[':
		c.path = append(c.path, "")
		defer c.leave()
		for at = c.space(at + 1); c.data[at] != ']'; {
			if at = c.space(c.value(at)); c.data[at] == ',' {
				at = c.space(at + 1)
			}
		}
		return at + 1
	case '"':
		return c.text(at)
	}
	for at < len(c.data) && bytes.IndexByte([]byte(",]} \t\r\n"), c.data[at]) < 0 {
		at++
	}
	return at
}

func (c *cutter) text(at int) int {
	for at++; c.data[at] != '"'; at++ {
		if c.data[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func (c *cutter) leave() { c.path = c.path[:len(c.path)-1] }

// object cuts members: one with a successor goes with its comma, the last one with the comma before it.
func (c *cutter) object(at int) int {
	kept := -1 // end of the last kept member
	for at = c.space(at + 1); c.data[at] != '}'; {
		start := at
		end := c.text(at)
		var key string
		_ = json.Unmarshal(c.data[start:end], &key) // valid, as the whole is
		colon := c.space(end)
		c.path = append(c.path, key)
		if c.drop(c.path) {
			c.leave()
			end = c.skip(c.space(colon + 1))
			c.n++
			next := c.space(end)
			switch {
			case c.data[next] == ',':
				at = c.space(next + 1)
				c.cut(start, at)
			case kept >= 0:
				c.cut(kept, end)
				at = next
			default:
				c.cut(start, end)
				at = next
			}
			continue
		}
		kept = c.value(c.space(colon + 1))
		c.leave()
		if at = c.space(kept); c.data[at] == ',' {
			at = c.space(at + 1)
		}
	}
	return at + 1
}

// skip is value without its content.
func (c *cutter) skip(at int) int {
	quiet := cutter{data: c.data, drop: func([]string) bool { return false }}
	return quiet.value(at)
}

func (c *cutter) cut(from, to int) { c.cuts = append(c.cuts, [2]int{from, to}) }
