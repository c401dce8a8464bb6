package hypergraph

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode/utf8"

	"memdesk/model"
)

// The prefixes of item ids. A node's item id is its bare id; only an ambiguous id gets nodePrefix, so
// that every node of a hostile database stays addressable and none shadows an edge.
const (
	edgePrefix = "edge/"
	nodePrefix = "node/"
)

// NodeItemID is the item id of a node: its bare id, or node/<id> where the id is empty, begins with a
// slash (provider-contract.md R15) or begins with edge/ or node/.
func NodeItemID(id string) string {
	if needsPrefix(id) {
		return nodePrefix + id
	}
	return id
}

// EdgeItemID is the item id of a hyperedge: edge/<id>.
func EdgeItemID(id string) string { return edgePrefix + id }

func needsPrefix(id string) bool {
	return id == "" || id[0] == '/' || strings.HasPrefix(id, edgePrefix) || strings.HasPrefix(id, nodePrefix)
}

// TiedBy is what a column node_id or hyperedge_id, or a list node_ids, holds in the rows of an item; false where the column holds
// the other sort.
func TiedBy(column, item string) (id string, ok bool) {
	at, err := parseItemID("scrub", item)
	return at.id, err == nil && at.edge == (column == "hyperedge_id")
}

// itemID is a parsed item id.
type itemID struct {
	edge bool
	id   string // bare, as the backend takes it
}

func (i itemID) String() string {
	if i.edge {
		return EdgeItemID(i.id)
	}
	return NodeItemID(i.id)
}

// parseItemID reads an item id. A shape that NodeItemID and EdgeItemID never write is InvalidInput (R34).
func parseItemID(op, s string) (itemID, error) {
	switch {
	case strings.HasPrefix(s, edgePrefix):
		return itemID{edge: true, id: s[len(edgePrefix):]}, nil
	case strings.HasPrefix(s, nodePrefix) && needsPrefix(s[len(nodePrefix):]):
		return itemID{id: s[len(nodePrefix):]}, nil
	case needsPrefix(s):
		return itemID{}, model.Errorf(model.InvalidInput, op, "%q is no id of this store: nodes go by their bare id, edges by edge/<id>", s)
	}
	return itemID{id: s}, nil
}

// checkKey applies R11: a key is one path segment.
func checkKey(key string) error {
	switch {
	case !utf8.ValidString(key):
		return model.Errorf(model.InvalidInput, "retain", "the key is not valid UTF-8")
	case strings.ContainsAny(key, "/\\\x00") || strings.Contains(key, ".."):
		return model.Errorf(model.InvalidInput, "retain", "key %q: a key is one name, without /, \\, NUL or two dots", key)
	}
	return nil
}

// checkNewID refuses ids that a database may hold but that memdesk does not create. A restored item keeps its own.
func checkNewID(id string, req model.RetainRequest) error {
	if id == "" || !req.Restore && (strings.Contains(id, "\x00") || !utf8.ValidString(id)) {
		return model.Errorf(model.InvalidInput, "retain", "%q is no id for a new item: it is empty, holds a NUL or is not valid UTF-8", id)
	}
	return nil
}

// newID makes a UUID of version 4, the shape of every id in a recurse database.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it aborts the program
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
