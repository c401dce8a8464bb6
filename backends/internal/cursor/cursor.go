// Package cursor writes a row of a list as a short opaque text, and reads it again. It knows no
// list: a cursor of another one is told by its key.
package cursor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// keyBytes is how much of a key's hash a cursor carries: enough to tell one operator's lists apart.
const keyBytes = 6

// Row is the row at the border of a page, by what the list is ordered by.
type Row struct {
	Before bool // the page ends at the row, else it begins behind it
	Value  int64
	ID     string // any bytes
}

// Encode writes a row of the list of this key: whatever the list was asked for.
func Encode(key []byte, p Row) string {
	b := sum(key)
	flag := byte(0)
	if p.Before {
		flag = 1
	}
	b = append(b, flag)
	b = binary.AppendVarint(b, p.Value)
	return base64.RawURLEncoding.EncodeToString(append(b, p.ID...))
}

// Decode reads what Encode wrote for the same key; false for anything else.
func Decode(key []byte, text string) (Row, bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < keyBytes+2 || !slices.Equal(b[:keyBytes], sum(key)) || b[keyBytes] > 1 {
		return Row{}, false
	}
	p := Row{Before: b[keyBytes] == 1}
	value, n := binary.Varint(b[keyBytes+1:])
	if n <= 0 {
		return Row{}, false
	}
	p.Value, p.ID = value, string(b[keyBytes+1+n:])
	return p, true
}

func sum(key []byte) []byte {
	s := sha256.Sum256(key)
	return slices.Clone(s[:keyBytes])
}
