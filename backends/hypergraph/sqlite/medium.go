package sqlite

import (
	"strings"

	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

// Maintainer shows and cleans the database's file and the files beside it. Scrub is refused where the
// store is read-only.
func (s *Store) Maintainer() model.Maintainer {
	var loose map[string]string
	if s.kind == RecurseSchema { // an item's id is text
		loose = map[string]string{"nodes": `typeof(id) <> 'text'`, "hyperedges": `typeof(id) <> 'text'`}
	}
	return litefile.Medium{
		Loose:   loose,
		File:    s.file,
		Items:   []string{"nodes", "hyperedges", "membership", "decisions", "counters"},
		Tied:    []string{"node_id", "hyperedge_id"},
		Raw:     func(id string) string { return strings.TrimPrefix(id, "edge/") },
		Sibling: s.sibling,
	}
}

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
