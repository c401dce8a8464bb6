package postgres

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// place is the key of a row in a list's order; the order by id leaves at empty.
type place struct {
	at int64
	id string
}

// cursor is a place in one list and which side of it the page lies on. Unset, it is
// the list's start, or its end.
type cursor struct {
	List string `json:"l"` // fingerprint of what is listed
	Back bool   `json:"b,omitempty"`
	At   int64  `json:"k,omitempty"`
	ID   string `json:"i,omitempty"`
	Set  bool   `json:"s,omitempty"`
}

// fingerprint tells lists apart, so that the cursor of one is refused by another.
func fingerprint(what string, l hypergraph.Listing) string {
	l.Cursor, l.End, l.Limit = "", false, 0
	b, err := json.Marshal(l)
	if err != nil { // a listing holds nothing that does not encode
		b = fmt.Appendf(nil, "%#v", l)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte("postgres " + what)) // a hash never fails
	_, _ = h.Write(b)
	return strconv.FormatUint(h.Sum64(), 36)
}

func (c cursor) encode() string {
	b, err := json.Marshal(c)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// beside is the cursor of the page before or after a row.
func beside(list string, back bool, p place) string {
	return cursor{List: list, Back: back, At: p.at, ID: p.id, Set: true}.encode()
}

// parseCursor is InvalidInput for text that is no cursor of this list.
func parseCursor(op, list, text string) (cursor, error) {
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.List != list || !storable(c.ID) {
		return cursor{}, model.Errorf(model.InvalidInput, op, "the cursor does not belong to this list: start again without one")
	}
	return c, nil
}
