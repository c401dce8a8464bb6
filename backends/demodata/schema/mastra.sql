PRAGMA journal_mode = WAL;
CREATE TABLE mastra_threads (id TEXT NOT NULL PRIMARY KEY, resourceId TEXT NOT NULL, title TEXT NOT NULL, metadata TEXT, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL);
CREATE TABLE mastra_messages (id TEXT NOT NULL PRIMARY KEY, thread_id TEXT NOT NULL, content TEXT NOT NULL, role TEXT NOT NULL, type TEXT NOT NULL, createdAt TEXT NOT NULL, resourceId TEXT);
CREATE TABLE mastra_resources (id TEXT NOT NULL PRIMARY KEY, workingMemory TEXT, metadata TEXT, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL);
CREATE TABLE mastra_observational_memory (id TEXT NOT NULL PRIMARY KEY, lookupKey TEXT NOT NULL, scope TEXT NOT NULL, resourceId TEXT, threadId TEXT, activeObservations TEXT NOT NULL,
	generationCount INTEGER NOT NULL, isObserving INTEGER NOT NULL, isReflecting INTEGER NOT NULL, isBufferingObservation INTEGER NOT NULL, isBufferingReflection INTEGER NOT NULL,
	bufferedObservations TEXT, bufferedObservationChunks TEXT, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL);
CREATE TABLE mastra_thread_state (threadId TEXT NOT NULL, type TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (threadId, type));
