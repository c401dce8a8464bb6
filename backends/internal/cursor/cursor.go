// Package cursor writes a place in a list as a short opaque text, and reads it again. It knows no list:
// it tells the cursors of one from another's by what was asked for.
package cursor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"

	"memdesk/model"
)

// List is the check of the request that a cursor belongs to.
type List [4]byte

// ListOf is the list that these facts ask for: filter, order, and the sort of list.
func ListOf(facts ...any) List {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", facts))
	return List(sum[:len(List{})])
}

// Place is the row at the border of a page, by what the list is ordered by. A zero field takes no room.
type Place struct {
	Before bool // the page ends at the row, else it begins behind it
	Mark   bool // the list's own
	Number int64
	Text   string // any bytes
	ID     string // any bytes
}

// Between is the border between two rows, by their ids: for a list whose order is no value of its rows. An empty id is
// the start or the end of the list.
func Between(above, below string, before bool) Place {
	return Place{Before: before, ID: above, Text: below}
}

// Border is the number of rows above a Between in a list of n rows. It is Conflict where both of its rows have left the
// list: any number could skip a row or repeat one. Index is the number of a row, or -1.
func (p Place) Border(op string, n int, index func(id string) int) (int, error) {
	if p.Number != 0 { // of an earlier version, which counted rows
		return 0, Foreign(op)
	}
	above, below := index(p.ID), index(p.Text)
	switch {
	case below >= 0 && (p.Before || above < 0):
		return below, nil
	case above >= 0:
		return above + 1, nil
	case p.ID == "":
		return 0, nil
	case p.Text == "":
		return n, nil
	}
	return 0, model.Errorf(model.Conflict, op, "the rows at the cursor have left the list since: start again without it")
}

// The bits of a cursor's header say which fields follow.
const (
	before = 1 << iota
	mark
	number
	text
	uuid
)

// Encode writes the check, a header, the number, the text with its length, and the id.
func (l List) Encode(p Place) string {
	id, short := packUUID(p.ID)
	header := byte(0)
	for i, on := range []bool{p.Before, p.Mark, p.Number != 0, p.Text != "", short} {
		if on {
			header |= 1 << i
		}
	}
	b := append(l[:], header)
	if p.Number != 0 {
		b = binary.AppendVarint(b, p.Number)
	}
	if p.Text != "" {
		b = append(binary.AppendUvarint(b, uint64(len(p.Text))), p.Text...)
	}
	return base64.RawURLEncoding.EncodeToString(append(b, id...))
}

// Decode reads what Encode wrote for this list. It is InvalidInput for anything else.
func (l List) Decode(op, cursor string) (Place, error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) <= len(l) {
		return Place{}, Foreign(op)
	}
	header, b := b[len(l)], b[len(l)+1:]
	p := Place{Before: header&before != 0, Mark: header&mark != 0}
	if header&number != 0 {
		v, n := binary.Varint(b)
		p.Number, b = v, b[max(n, 0):]
	}
	if header&text != 0 {
		length, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		end := min(length, uint64(len(b)))
		p.Text, b = string(b[:end]), b[end:]
	}
	if p.ID = string(b); header&uuid != 0 && len(b) == 16 {
		p.ID = unpackUUID(b)
	}
	if l.Encode(p) != cursor { // of another list, cut, or with something added
		return Place{}, Foreign(op)
	}
	return p, nil
}

// Foreign is the error for a cursor of another list, of another version, or of nobody.
func Foreign(op string) error {
	return model.Errorf(model.InvalidInput, op, "the cursor is not one of this list: start again without it, or with the same filter and order")
}

// packUUID makes 16 bytes of a UUID's 36 characters; ok is false for any other id, which stays as it is.
func packUUID(id string) (b []byte, ok bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 || unpackUUID(b) != id {
		return []byte(id), false
	}
	return b, true
}

func unpackUUID(b []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// UnixNano is the nanoseconds from 1970 to a time, or to the nearest time that they can count to: the years 1678 to 2261.
func UnixNano(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}
