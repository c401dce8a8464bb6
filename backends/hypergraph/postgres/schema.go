package postgres

// The schema. Table and column names follow recurse (recurse.md, Schema), except that:
//
//   - Every key begins with the workspace, so that the tables can be partitioned or
//     distributed by it (DISTRIBUTE.md).
//   - Ids, subtypes and subjects are compared byte by byte (COLLATE "C"), whatever
//     the database's locale. Times are UTC nanoseconds since 1970.
//   - nodes.words holds the words of content and metadata as this package splits
//     them (words.go), so that a search finds the same nodes on any server.
//     words_whole is false where the text has more words than fit.
//   - row_version grows with every change of a node, and of an edge or its members:
//     it makes two transactions that change one edge's members conflict.
//   - node_embeddings holds the vector as float32, little-endian. Where the server has
//     pgvector, node_vectors holds it a second time, indexed (hnsw.go).
//   - The triggers notify watchers of every program's changes (watch.go).

// schemaName contains everything, so that memdesk touches no other schema.
const schemaName = "memdesk"

// step is one version of the schema, made in a transaction that also records it (provider-contract.md H16).
type step struct {
	version  int
	what     string
	up, down []string
	// perServer steps need features that a distributed database lacks, and are skipped there.
	perServer bool
	// items are the tables whose rows are items, of any workspace: while one has any, the step down is
	// refused.
	items []string
}

var steps = []step{
	{1, "nodes, hyperedges, members, decisions and vectors", tablesUp, tablesDown, false, []string{"nodes", "hyperedges"}},
	{2, "the index of words", wordsUp, wordsDown, false, nil},
	{3, "word of changes to watchers", watchUp, watchDown, true, nil},
}

// latest is the schema version of this program.
func latest() int { return steps[len(steps)-1].version }

var tablesUp = []string{
	`CREATE TABLE memdesk.nodes (
		workspace     text COLLATE "C" NOT NULL,
		id            text COLLATE "C" NOT NULL CHECK (id <> ''),
		type          text COLLATE "C" NOT NULL CHECK (type IN ('entity', 'fact', 'experience', 'decision', 'snippet')),
		subtype       text COLLATE "C" NOT NULL DEFAULT '',
		tier          text COLLATE "C" NOT NULL DEFAULT 'task' CHECK (tier IN ('task', 'session', 'longterm', 'archive')),
		confidence    double precision NOT NULL DEFAULT 1.0 CHECK (confidence BETWEEN 0 AND 1),
		subject_id    text COLLATE "C" NOT NULL DEFAULT '',
		created_at    bigint NOT NULL,
		updated_at    bigint NOT NULL,
		last_accessed bigint,
		access_count  bigint NOT NULL DEFAULT 0 CHECK (access_count >= 0),
		row_version   bigint NOT NULL DEFAULT 1,
		has_vector    boolean NOT NULL DEFAULT false,
		words_whole   boolean NOT NULL DEFAULT true,
		provenance    text NOT NULL DEFAULT '',
		metadata      text NOT NULL DEFAULT '',
		content       text NOT NULL,
		words         tsvector NOT NULL DEFAULT '',
		PRIMARY KEY (workspace, id)
	)`,
	`CREATE INDEX nodes_by_creation ON memdesk.nodes (workspace, created_at, id)`,
	`CREATE INDEX nodes_by_tier ON memdesk.nodes (workspace, tier, created_at, id)`,
	`CREATE INDEX nodes_by_subject ON memdesk.nodes (workspace, subject_id, id) WHERE subject_id <> ''`,
	`CREATE TABLE memdesk.hyperedges (
		workspace   text COLLATE "C" NOT NULL,
		id          text COLLATE "C" NOT NULL CHECK (id <> ''),
		type        text COLLATE "C" NOT NULL CHECK (type IN ('relation', 'composition', 'causation', 'context', 'spawns', 'considers',
			'chooses', 'rejects', 'implements', 'produces', 'informs')),
		label       text NOT NULL DEFAULT '',
		weight      double precision NOT NULL DEFAULT 1.0 CHECK (weight >= 0),
		created_at  bigint NOT NULL,
		row_version bigint NOT NULL DEFAULT 1,
		metadata    text NOT NULL DEFAULT '',
		PRIMARY KEY (workspace, id)
	)`,
	`CREATE INDEX hyperedges_by_creation ON memdesk.hyperedges (workspace, created_at, id)`,
	`CREATE TABLE memdesk.membership (
		workspace    text COLLATE "C" NOT NULL,
		hyperedge_id text COLLATE "C" NOT NULL,
		node_id      text COLLATE "C" NOT NULL,
		role         text COLLATE "C" NOT NULL CHECK (role IN ('subject', 'object', 'context', 'participant')),
		position     bigint NOT NULL DEFAULT 0,
		PRIMARY KEY (workspace, hyperedge_id, node_id, role),
		FOREIGN KEY (workspace, hyperedge_id) REFERENCES memdesk.hyperedges (workspace, id) ON DELETE CASCADE,
		FOREIGN KEY (workspace, node_id) REFERENCES memdesk.nodes (workspace, id) ON DELETE CASCADE
	)`,
	`CREATE INDEX membership_by_node ON memdesk.membership (workspace, node_id, hyperedge_id)`,
	`CREATE TABLE memdesk.decisions (
		workspace     text COLLATE "C" NOT NULL,
		node_id       text COLLATE "C" NOT NULL,
		decision_type text COLLATE "C" NOT NULL CHECK (decision_type IN ('goal', 'decision', 'option', 'action', 'outcome', 'observation')),
		confidence    bigint NOT NULL DEFAULT 0 CHECK (confidence BETWEEN 0 AND 100),
		prompt        text NOT NULL DEFAULT '',
		files         text NOT NULL DEFAULT '',
		branch        text NOT NULL DEFAULT '',
		commit_hash   text NOT NULL DEFAULT '',
		parent_id     text COLLATE "C",
		status        text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed', 'rejected')),
		PRIMARY KEY (workspace, node_id),
		FOREIGN KEY (workspace, node_id) REFERENCES memdesk.nodes (workspace, id) ON DELETE CASCADE,
		FOREIGN KEY (workspace, parent_id) REFERENCES memdesk.decisions (workspace, node_id)
	)`,
	`CREATE INDEX decisions_by_parent ON memdesk.decisions (workspace, parent_id) WHERE parent_id IS NOT NULL`,
	`CREATE TABLE memdesk.node_embeddings (
		workspace  text COLLATE "C" NOT NULL,
		node_id    text COLLATE "C" NOT NULL,
		embedding  bytea NOT NULL,
		model      text NOT NULL,
		dimensions integer NOT NULL CHECK (dimensions BETWEEN 1 AND 16000 AND length(embedding) = 4 * dimensions),
		created_at bigint NOT NULL,
		updated_at bigint NOT NULL,
		PRIMARY KEY (workspace, node_id),
		FOREIGN KEY (workspace, node_id) REFERENCES memdesk.nodes (workspace, id) ON DELETE CASCADE
	)`,
	`ALTER TABLE memdesk.node_embeddings ALTER COLUMN embedding SET STORAGE EXTERNAL`, // floats do not compress
}

var tablesDown = []string{
	`DROP TABLE IF EXISTS memdesk.node_vectors`, // hnsw.go
	`DROP FUNCTION IF EXISTS memdesk.vector_of(bytea)`,
	`DROP TABLE memdesk.node_embeddings`,
	`DROP TABLE memdesk.decisions`,
	`DROP TABLE memdesk.membership`,
	`DROP TABLE memdesk.hyperedges`,
	`DROP TABLE memdesk.nodes`,
}

var wordsUp = []string{
	`CREATE INDEX nodes_by_words ON memdesk.nodes USING gin (words)`,
	`CREATE INDEX nodes_not_whole ON memdesk.nodes (workspace) WHERE NOT words_whole`,
	// The frequency of a word decides how it is looked up, so keep statistics on more words than by default.
	`ALTER TABLE memdesk.nodes ALTER COLUMN words SET STATISTICS 1000`,
}

var wordsDown = []string{
	`ALTER TABLE memdesk.nodes ALTER COLUMN words SET STATISTICS -1`,
	`DROP INDEX memdesk.nodes_not_whole`,
	`DROP INDEX IF EXISTS memdesk.nodes_by_words`, // it may have been dropped already
}

// wordsAnew are the transactions that make the index of words anew. Each takes its strongest lock of the table first: one
// that already holds a lock that writers wait for, and then asks for a stronger one, deadlocks with every writer that has read.
var wordsAnew = []struct {
	exchange   bool // the index beside the old one takes its name
	statements []string
}{
	{statements: []string{`DROP INDEX IF EXISTS memdesk.nodes_by_words_anew`}}, // of a run that did not end
	{statements: []string{
		`CREATE INDEX IF NOT EXISTS nodes_by_words_anew ON memdesk.nodes USING gin (words)`,
		`CREATE INDEX IF NOT EXISTS nodes_not_whole ON memdesk.nodes (workspace) WHERE NOT words_whole`,
	}},
	{exchange: true, statements: []string{
		`DROP INDEX IF EXISTS memdesk.nodes_by_words`,
		`ALTER INDEX memdesk.nodes_by_words_anew RENAME TO nodes_by_words`,
	}},
}

// watchTables are the tables whose changes watchers receive, with the item of a row: n for a node or e
// for an edge, then its id.
var watchTables = []struct{ table, item string }{
	{"nodes", "'n' || id"}, {"hyperedges", "'e' || id"}, {"membership", "'e' || hyperedge_id"},
}

// watchUp makes a trigger per table and act. A notifying transaction queues at its commit for a lock of
// the whole database, so the triggers notify only while a watcher holds its lock.
var watchUp = func() []string {
	out := []string{
		`CREATE FUNCTION memdesk.watch_key(workspace text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT hashtextextended('memdesk.watch.' || workspace, 0) $$`,
		`CREATE FUNCTION memdesk.watch_channel(workspace text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'memdesk_' || md5(workspace) $$`,
		// The ids of a large change do not fit: an empty id means "something changed".
		`CREATE FUNCTION memdesk.tell(space text, items text[]) RETURNS void LANGUAGE plpgsql AS $$
		BEGIN
			IF pg_try_advisory_xact_lock_shared(memdesk.watch_key(space)) THEN
				RETURN;
			END IF;
			IF cardinality(items) > 50 THEN
				PERFORM pg_notify(memdesk.watch_channel(space), '');
			ELSE
				PERFORM pg_notify(memdesk.watch_channel(space), CASE WHEN octet_length(i) < 4000 THEN i ELSE '' END) FROM unnest(items) i;
			END IF;
		END $$`,
	}
	for _, w := range watchTables {
		out = append(out, `CREATE FUNCTION memdesk.tell_`+w.table+`() RETURNS trigger LANGUAGE plpgsql AS $$
		DECLARE space text; items text[];
		BEGIN
			FOR space, items IN SELECT workspace, (array_agg(DISTINCT `+w.item+`))[1:51] FROM changed GROUP BY workspace LOOP
				PERFORM memdesk.tell(space, items);
			END LOOP;
			RETURN NULL;
		END $$`)
		for _, act := range []struct{ name, as string }{{"insert", "NEW"}, {"update", "NEW"}, {"delete", "OLD"}} {
			out = append(out, `CREATE TRIGGER tell_`+act.name+` AFTER `+act.name+` ON memdesk.`+w.table+` REFERENCING `+act.as+` TABLE AS changed
				FOR EACH STATEMENT EXECUTE FUNCTION memdesk.tell_`+w.table+`()`)
		}
	}
	return out
}()

var watchDown = func() []string {
	var out []string
	for _, w := range watchTables {
		for _, act := range []string{"insert", "update", "delete"} {
			out = append(out, `DROP TRIGGER tell_`+act+` ON memdesk.`+w.table)
		}
		out = append(out, `DROP FUNCTION memdesk.tell_`+w.table+`()`)
	}
	return append(out, `DROP FUNCTION memdesk.tell(text, text[])`, `DROP FUNCTION memdesk.watch_channel(text)`, `DROP FUNCTION memdesk.watch_key(text)`)
}()
