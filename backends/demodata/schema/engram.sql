CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT NOT NULL, directory TEXT NOT NULL, started_at TEXT NOT NULL DEFAULT (datetime('now')), ended_at TEXT, summary TEXT);
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, type TEXT NOT NULL, title TEXT NOT NULL, content TEXT NOT NULL, tool_name TEXT, project TEXT, scope TEXT NOT NULL DEFAULT 'project',
	topic_key TEXT, normalized_hash TEXT, revision_count INTEGER NOT NULL DEFAULT 1, duplicate_count INTEGER NOT NULL DEFAULT 1, last_seen_at TEXT,
	created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now')), deleted_at TEXT, FOREIGN KEY (session_id) REFERENCES sessions(id));
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, content TEXT NOT NULL, project TEXT, created_at TEXT NOT NULL DEFAULT (datetime('now')), FOREIGN KEY (session_id) REFERENCES sessions(id));
CREATE VIRTUAL TABLE observations_fts USING fts5(title, content, tool_name, type, project, content='observations', content_rowid='id');
CREATE TRIGGER obs_fts_insert AFTER INSERT ON observations BEGIN
	INSERT INTO observations_fts(rowid, title, content, tool_name, type, project) VALUES (new.id, new.title, new.content, new.tool_name, new.type, new.project); END;
CREATE TRIGGER obs_fts_delete AFTER DELETE ON observations BEGIN
	INSERT INTO observations_fts(observations_fts, rowid, title, content, tool_name, type, project) VALUES ('delete', old.id, old.title, old.content, old.tool_name, old.type, old.project); END;
CREATE TRIGGER obs_fts_update AFTER UPDATE ON observations BEGIN
	INSERT INTO observations_fts(observations_fts, rowid, title, content, tool_name, type, project) VALUES ('delete', old.id, old.title, old.content, old.tool_name, old.type, old.project);
	INSERT INTO observations_fts(rowid, title, content, tool_name, type, project) VALUES (new.id, new.title, new.content, new.tool_name, new.type, new.project); END;
