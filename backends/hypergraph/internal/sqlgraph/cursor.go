package sqlgraph

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// cursor is a position in one list and the side of it on which the page lies. Unset, it is the list's
// start or end.
type cursor struct {
	List string `json:"l"` // fingerprint of the list's request
	Back bool   `json:"b,omitempty"`
	Key  string `json:"k,omitempty"`
	ID   string `json:"i,omitempty"`
	Set  bool   `json:"s,omitempty"` // Key and ID are valid
}

// Position is the key of a row in a list's order.
type Position struct {
	Key any // int64 or float64; nil in the order by id
	ID  string
	Row int64 // the row's number, where the list needs it
}

// fingerprint tells lists apart, so that one list refuses another's cursor.
func fingerprint(what string, l hypergraph.Listing) string {
	l.Cursor, l.End, l.Limit = "", false, 0
	b, err := json.Marshal(l)
	if err != nil { // a listing holds nothing that fails to encode
		b = fmt.Appendf(nil, "%#v", l)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(what)) // a hash never fails
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

// Beside is the cursor of the page before or after a row.
func (l *List) Beside(back bool, p Position) string {
	c := cursor{List: l.fingerprint, Back: back, ID: p.ID, Set: true}
	switch k := p.Key.(type) {
	case int64:
		c.Key = strconv.FormatInt(k, 10)
	case float64:
		c.Key = strconv.FormatFloat(k, 'g', -1, 64)
	}
	return c.encode()
}

// parse is InvalidInput for text that is no cursor of this list.
func (l *List) parse(op, text string) (cursor, Position, error) {
	bad := model.Errorf(model.InvalidInput, op, "the cursor does not belong to this list: start again without one")
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return cursor{}, Position{}, bad
	}
	var c cursor
	if err := json.Unmarshal(b, &c); err != nil || c.List != l.fingerprint || l.Cond.Dollar && !Storable(c.ID) {
		return cursor{}, Position{}, bad
	}
	p := Position{ID: c.ID}
	switch {
	case !c.Set || l.Key == "":
	case l.Floats:
		p.Key, err = strconv.ParseFloat(c.Key, 64)
	default:
		p.Key, err = strconv.ParseInt(c.Key, 10, 64)
	}
	if err != nil {
		return cursor{}, Position{}, bad
	}
	return c, p, nil
}
