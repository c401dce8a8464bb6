-- The tables of an agent's index (openclaw.md), as far as a test and the demo need them.
CREATE TABLE memory_index_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE memory_index_sources(id INTEGER PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL, hash TEXT NOT NULL, mtime REAL NOT NULL, size INTEGER NOT NULL, UNIQUE(path, source)) STRICT;
CREATE TABLE memory_index_chunks(id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, hash TEXT NOT NULL, model TEXT NOT NULL, text TEXT NOT NULL, embedding BLOB NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE memory_index_chunk_provenance(chunk_id TEXT PRIMARY KEY REFERENCES memory_index_chunks(id) ON DELETE CASCADE, origin_class TEXT NOT NULL, session_kind TEXT NOT NULL, observed_at INTEGER NOT NULL, supersedes_key TEXT) STRICT;
CREATE TABLE memory_index_chunk_recall_metadata(chunk_id TEXT PRIMARY KEY REFERENCES memory_index_chunks(id) ON DELETE CASCADE, importance INTEGER, triggers TEXT, project_key TEXT) STRICT;
CREATE TABLE memory_embedding_cache(provider TEXT, model TEXT, provider_key TEXT, hash TEXT, embedding BLOB, dims INTEGER, updated_at INTEGER NOT NULL, PRIMARY KEY(provider, model, provider_key, hash)) STRICT;
CREATE TABLE memory_index_state(id INTEGER PRIMARY KEY CHECK(id=1), revision INTEGER NOT NULL) STRICT;
INSERT INTO memory_index_state VALUES(1, 1);
CREATE TRIGGER memory_index_chunks_bump AFTER DELETE ON memory_index_chunks BEGIN UPDATE memory_index_state SET revision = revision + 1 WHERE id = 1; END;
CREATE VIRTUAL TABLE memory_index_chunks_fts USING fts5(text, id UNINDEXED, path UNINDEXED);
CREATE VIRTUAL TABLE memory_index_paths_fts USING fts5(path, source UNINDEXED);
CREATE TABLE transcript_events(id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT NOT NULL) STRICT;
PRAGMA user_version = 18;
