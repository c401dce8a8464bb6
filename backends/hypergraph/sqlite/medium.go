package sqlite

import (
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

// Maintainer shows and cleans the database's file and the files beside it. Scrub is refused where the
// store is read-only.
func (s *Store) Maintainer() model.Maintainer {
	if s.inMemory {
		return memoryMedium{s}
	}
	var loose map[string]string
	items := ownItems
	if s.kind == RecurseSchema { // an item's id is text
		loose = map[string]string{"nodes": `typeof(id) <> 'text'`, "hyperedges": `typeof(id) <> 'text'`, "decisions": `node_id IS NULL OR node_id NOT IN (SELECT id FROM nodes)`}
		items = recurseItems
	}
	return litefile.Medium{
		Loose:   loose,
		File:    s.file,
		Items:   items,
		Tied:    []string{"node_id", "hyperedge_id"},
		Lists:   []string{"node_ids"},
		Raw:     hypergraph.TiedBy,
		Own:     ownRow,
		Sibling: s.sibling,
	}
}

// ownRow finds the row of a node or an edge, for litefile.Medium.
func ownRow(id string) (table, column, key string) {
	if key, ok := hypergraph.TiedBy("node_id", id); ok {
		return "nodes", "id", key
	}
	key, ok := hypergraph.TiedBy("hyperedge_id", id)
	if !ok {
		return "", "", ""
	}
	return "hyperedges", "id", key
}

// ownItems and recurseItems are the tables of items of the two schemas, with their columns.
var (
	ownItems = map[string][]string{
		"nodes":      append([]string{"seq", "row_version", "has_vector"}, nodeColumns...),
		"hyperedges": edgeItem,
		"membership": memberItem,
		"decisions":  decisionItem,
		"counters":   nil,
	}
	recurseItems = map[string][]string{"nodes": recurseColumns, "hyperedges": edgeItem, "membership": memberItem, "decisions": decisionItem}

	edgeItem     = []string{"id", "type", "label", "weight", "created_at", "metadata"}
	memberItem   = []string{"hyperedge_id", "node_id", "role", "position"}
	decisionItem = []string{"node_id", "decision_type", "confidence", "prompt", "files", "branch", "commit_hash", "parent_id", "status"}
)

// sibling explains why a file beside the database belongs to the same agent; empty: it does not.
func (s *Store) sibling(name string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "-wal"), "-shm"), "-journal")
	switch {
	case s.kind != RecurseSchema:
	case base == agentDB || base == cliDB:
		return "recurse's other database: open it as a store of its own and erase there too"
	case base == "rlm_trace.db":
		return "recurse's trace: no memory store, its details can quote memory; delete it where tracing is not needed"
	}
	return ""
}
