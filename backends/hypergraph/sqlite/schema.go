package sqlite

import (
	"strconv"

	"memdesk/backends/hypergraph"
)

// The own schema. Table and column names follow recurse (recurse.md, "Schema"), so
// that one set of queries reads both; what differs:
//
//   - nodes has an integer key (seq) for the text index, the subject of a node
//     (subject_id, empty for none), row_version, which grows with every change of
//     the item, and has_vector, which says whether node_embeddings has a row for it.
//     Times are UTC nanoseconds since 1970. content stands last, so that filters
//     never read past it.
//   - nodes_fts is FTS5 over nodes' own text (external content), words folded by
//     unicode61 without diacritics, no prefix index. It is written by this package in
//     the transaction that writes the node, never by a trigger. It can be erased
//     with optimize or rebuild and VACUUM (erasure-physical.md, "Recommended recipe").
//   - counters holds items and bytes per tier, type and subtype, and those of the
//     edges under the tier name "edges", kept in the same transactions: totals cost
//     the same at any size.
//   - The lists of types, tiers and roles are CHECK constraints.
//
// The file is in WAL mode and carries application_id and, as user_version, the
// number of the last migration. A store in memory differs in one limit (memory.go).

// applicationID marks a file as memdesk's: "MDHG".
const applicationID = 0x4d444847

// migration is one step of the schema, applied in a transaction that also records its version
// (provider-contract.md H16).
type migration struct {
	version int64
	what    string
	up      []string
	down    []string
	// items are the tables whose rows are items: while one has any, the step down is refused.
	items []string
}

var migrations = []migration{
	{version: 1, what: "nodes, hyperedges, members, decisions, vectors and counters", up: tablesUp, down: tablesDown, items: []string{"nodes", "hyperedges"}},
	{version: 2, what: "the index of words", up: textUp, down: textDown},
}

var tablesUp = []string{
	`CREATE TABLE nodes (
		seq           INTEGER PRIMARY KEY,
		id            TEXT NOT NULL UNIQUE CHECK (id <> ''),
		type          TEXT NOT NULL CHECK (type IN ('entity', 'fact', 'experience', 'decision', 'snippet')),
		subtype       TEXT NOT NULL DEFAULT '',
		tier          TEXT NOT NULL DEFAULT 'task' CHECK (tier IN ('task', 'session', 'longterm', 'archive')),
		confidence    REAL NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0 AND 1),
		subject_id    TEXT NOT NULL DEFAULT '',
		created_at    INTEGER NOT NULL,
		updated_at    INTEGER NOT NULL,
		last_accessed INTEGER,
		access_count  INTEGER NOT NULL DEFAULT 0 CHECK (access_count >= 0),
		row_version   INTEGER NOT NULL DEFAULT 1,
		has_vector    INTEGER NOT NULL DEFAULT 0 CHECK (has_vector IN (0, 1)),
		provenance    TEXT NOT NULL DEFAULT '',
		metadata      TEXT NOT NULL DEFAULT '',
		content       TEXT NOT NULL
	) STRICT`,
	`CREATE INDEX nodes_by_creation ON nodes (created_at, id)`,
	`CREATE INDEX nodes_by_tier ON nodes (tier, created_at, id)`,
	`CREATE INDEX nodes_by_subject ON nodes (subject_id, id) WHERE subject_id <> ''`,
	`CREATE TABLE hyperedges (
		id         TEXT PRIMARY KEY NOT NULL CHECK (id <> ''),
		type       TEXT NOT NULL CHECK (type IN ('relation', 'composition', 'causation', 'context', 'spawns', 'considers',
			'chooses', 'rejects', 'implements', 'produces', 'informs')),
		label      TEXT NOT NULL DEFAULT '',
		weight     REAL NOT NULL DEFAULT 1.0 CHECK (weight >= 0),
		created_at INTEGER NOT NULL,
		metadata   TEXT NOT NULL DEFAULT ''
	) STRICT`,
	`CREATE INDEX hyperedges_by_creation ON hyperedges (created_at, id)`,
	`CREATE TABLE membership (
		hyperedge_id TEXT NOT NULL REFERENCES hyperedges (id) ON DELETE CASCADE,
		node_id      TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
		role         TEXT NOT NULL CHECK (role IN ('subject', 'object', 'context', 'participant')),
		position     INTEGER NOT NULL DEFAULT 0,
		PRIMARY KEY (hyperedge_id, node_id, role)
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX membership_by_node ON membership (node_id, hyperedge_id)`,
	`CREATE TABLE decisions (
		node_id       TEXT PRIMARY KEY NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
		decision_type TEXT NOT NULL CHECK (decision_type IN ('goal', 'decision', 'option', 'action', 'outcome', 'observation')),
		confidence    INTEGER NOT NULL DEFAULT 0 CHECK (confidence BETWEEN 0 AND 100),
		prompt        TEXT NOT NULL DEFAULT '',
		files         TEXT NOT NULL DEFAULT '',
		branch        TEXT NOT NULL DEFAULT '',
		commit_hash   TEXT NOT NULL DEFAULT '',
		parent_id     TEXT REFERENCES decisions (node_id),
		status        TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed', 'rejected'))
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX decisions_by_parent ON decisions (parent_id)`,
	vectorTable(maxVectorDimensions),
	`CREATE TABLE counters (
		tier    TEXT NOT NULL,
		type    TEXT NOT NULL,
		subtype TEXT NOT NULL,
		items   INTEGER NOT NULL CHECK (items >= 0),
		bytes   INTEGER NOT NULL CHECK (bytes >= 0),
		PRIMARY KEY (tier, type, subtype)
	) STRICT, WITHOUT ROWID`,
}

// vectorTable makes the table of vectors, each of at most that many dimensions.
func vectorTable(most int) string {
	return `CREATE TABLE node_embeddings (
		node_id    TEXT PRIMARY KEY NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
		embedding  BLOB NOT NULL,
		model      TEXT NOT NULL,
		dimensions INTEGER NOT NULL CHECK (dimensions BETWEEN 1 AND ` + strconv.Itoa(most) + ` AND length(embedding) = 4 * dimensions),
		created_at INTEGER NOT NULL,
		updated_at INTEGER NOT NULL
	) STRICT`
}

var tablesDown = []string{
	`DROP TABLE counters`,
	`DROP TABLE node_embeddings`,
	`DROP TABLE decisions`,
	`DROP TABLE membership`,
	`DROP TABLE hyperedges`,
	`DROP TABLE nodes`,
}

var textUp = []string{
	`CREATE VIRTUAL TABLE nodes_fts USING fts5 (content, metadata, content = 'nodes', content_rowid = 'seq',
		tokenize = 'unicode61 remove_diacritics 2')`,
	`INSERT INTO nodes_fts (nodes_fts) VALUES ('rebuild')`,
	`DELETE FROM counters`, // both are derived from the rows, and made anew by a step down and up again
	`INSERT INTO counters (tier, type, subtype, items, bytes) ` + countedRows,
}

// countedRows counts the rows as the counters keep them.
const countedRows = `SELECT tier, type, subtype, count(*), sum(bytes)
		FROM (SELECT tier, type, subtype, octet_length(content) AS bytes FROM nodes` + unsorted + `) GROUP BY tier, type, subtype
	UNION ALL SELECT '` + hypergraph.EdgeTier + `', type, '', count(*), sum(bytes)
		FROM (SELECT type, octet_length(label) AS bytes FROM hyperedges` + unsorted + `) GROUP BY type`

// textDown drops an index of words in any state, also one that is damaged or gone. FTS5 drops none whose configuration it
// cannot read, so that is written first.
var textDown = []string{
	`CREATE TABLE IF NOT EXISTS nodes_fts_config (k PRIMARY KEY, v) WITHOUT ROWID`,
	`INSERT OR REPLACE INTO nodes_fts_config (k, v) VALUES ('version', 4)`,
	`DROP TABLE IF EXISTS nodes_fts`,
	`DROP TABLE IF EXISTS nodes_fts_data`,
	`DROP TABLE IF EXISTS nodes_fts_idx`,
	`DROP TABLE IF EXISTS nodes_fts_docsize`,
	`DROP TABLE IF EXISTS nodes_fts_config`,
}
