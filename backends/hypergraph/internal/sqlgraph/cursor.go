package sqlgraph

import (
	"math"

	"memdesk/backends/internal/cursor"
)

// Position is the key of a row in a list's order.
type Position struct {
	Key any // int64 or float64; nil in the order by id
	ID  string
	Row int64 // the row's number, where the list needs it
}

// Beside is the cursor of the page before or after a row.
func (l *List) Beside(back bool, p Position) string {
	c := cursor.Place{Before: back, Mark: true, ID: p.ID}
	switch k := p.Key.(type) {
	case int64:
		c.Number = k
	case float64:
		c.Number = int64(math.Float64bits(k))
	}
	return l.cursors.Encode(c)
}

// parse reads a cursor of this list. Without a mark it has no position: it is the list's start, or its end.
func (l *List) parse(op, text string) (cursor.Place, Position, error) {
	c, err := l.cursors.Decode(op, text)
	if err == nil && l.Cond.Dollar && !Storable(c.ID) {
		err = cursor.Foreign(op)
	}
	p := Position{ID: c.ID}
	switch {
	case !c.Mark || l.Key == "":
	case l.Floats:
		p.Key = math.Float64frombits(uint64(c.Number))
	default:
		p.Key = c.Number
	}
	return c, p, err
}
