package backends

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/embed"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/backends/mcpclient"
	"memdesk/backends/records/engram"
	"memdesk/backends/records/langgraph"
	"memdesk/backends/records/mastra"
	"memdesk/backends/records/mcpgraph"
	"memdesk/backends/records/mem0"
	"memdesk/backends/remote"
	"memdesk/backends/seam/claude"
	"memdesk/backends/seam/crewship"
	"memdesk/backends/seam/curated"
	"memdesk/backends/seam/devicelocal"
	"memdesk/backends/seam/openclaw"
	"memdesk/backends/seam/vault"
	"memdesk/backends/tracker/beads"
	"memdesk/backends/tracker/knots"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// Builtin is the registry of every backend in this version. It is the one place
// where backends are named.
func Builtin() *Registry {
	reg := &Registry{}
	for _, k := range []Kind{
		{
			Name: "crewship", Summary: "memory that Crewship's agents keep on disk", NeedsPath: true,
			Location: "a Crewship data directory, or one agent's .memory directory",
			Keys:     []string{"path", "base_path", "memory_root", "workspace", "crew", "agent", "api_url", "api_token_env", "api_token_file"},
			Open:     openCrewship,
		},
		{
			Name: "sqlite", Summary: "a hypergraph in SQLite: a live recurse database, or memdesk's own", NeedsPath: true,
			Location: "a database file, or a .recurse directory",
			Keys:     []string{"path", "embed_url", "embed_command"},
			Open:     openSQLite, Create: createSQLite, Check: checkEmbedder,
		},
		{
			Name: "postgres", Summary: "a hypergraph on a PostgreSQL server, for many writers at once",
			Location: "the name of the environment variable that holds the connection string", Variable: true,
			Keys: []string{"dsn_env", "dsn_file", "max_conns", "min_conns", "workspace", "distributed", "embed_url", "embed_command"},
			Open: openPostgres, Create: createPostgres, Check: checkPostgres,
		},
		{
			Name: devicelocal.Kind, Summary: "notes that AgentM keeps on one device",
			Location: "the directory; empty: $AGENTM_DEVICE_LOCAL_ROOT, else ~/.agentm/memory",
			Keys:     []string{"path"},
			Open:     openDeviceLocal,
		},
		{
			Name: vault.Kind, Summary: "an AgentM vault of notes, shared with agents, editors and sync tools", NeedsPath: true,
			Location: "the vault's directory, or the .agentm-config.json that names it",
			Keys:     []string{"path", "memory_root", "lock_root"},
			Open:     openVault,
		},
		{
			Name: "inmem", Summary: "a hypergraph in memory, gone at the end", Location: "nothing",
			Open: openInMemory,
		},
		{
			Name: "curated", Summary: "MEMORY.md and USER.md, entry by entry", NeedsPath: true,
			Location: "a memories directory, or the .hermes that holds it",
			Keys:     []string{"path"},
			Open:     openCurated,
		},
		{
			Name: "gateway", Summary: "a Memory Gateway over HTTP: search, add and flush",
			Location: "Beaver's .beaver/config.json",
			Keys: []string{"path", "base_url", "user_id", "user_key_env", "user_key_file", "app_id", "project_id", "scope", "top_k",
				"session", "conversation_id", "sender_id", "search_path", "add_path", "flush_path", "fields"},
			Open: openGateway, Check: checkGateway,
		},
		{
			Name: "beads", Summary: "work items and memories of beads and Foolery: the JSONL, or the bd command", NeedsPath: true,
			Location: "a repository, or its .beads directory",
			Keys:     []string{"path", "port", "command"},
			Open:     openBeads,
		},
		{
			Name: remote.Kind, Summary: "any provider that answers the contract over HTTP", Bare: true,
			Location: "the name of an environment variable that holds the token, then @ and the URL: TOKEN@https://host:port",
			Keys:     []string{"base_url", "token_env", "token_file"},
			Open:     openRemote, Check: checkRemote,
		},
		{
			Name: claude.Kind, Summary: "Markdown memories of coding agents: Claude Code, its memory tool, Codex, Gemini CLI", NeedsPath: true,
			Location: "~/.claude, ~/.codex, ~/.gemini, one project's memory directory, or a directory behind the memory tool",
			Keys:     []string{"path"}, Own: map[string]any{"transcripts": "keep", "git": "keep"},
			Open: openClaude, Check: words(map[string][]string{"transcripts": {"keep", "redact"}, "git": {"keep", "rewrite"}}),
		},
		{
			Name: openclaw.Kind, Summary: "Markdown workspaces of OpenClaw's agents, and who wrote what", NeedsPath: true,
			Location: "~/.openclaw, or one workspace",
			Keys:     []string{"path"}, Own: map[string]any{"transcripts": "keep"},
			Open: openOpenClaw, Check: words(map[string][]string{"transcripts": {"keep", "redact"}}),
		},
		{
			Name: mastra.Kind, Summary: "conversations, working memory and observations of Mastra's agents in libSQL", NeedsPath: true,
			Location: "the database file",
			Keys:     []string{"path"},
			Open:     openMastra,
		},
		{
			Name: mem0.Kind, Summary: "memories, messages and history that mem0 keeps in SQLite or pgvector, or behind its REST server",
			Location: "the folder of its databases, or the vector file",
			Keys:     []string{"path", "history", "dsn_env", "dsn_file", "schema", "base_url", "user_id"},
			Own:      map[string]any{"collection": "", "api_key_env": "", "api_key_file": Path("")},
			Open:     openMem0, Check: checkMem0,
		},
		{
			Name: engram.Kind, Summary: "observations, prompts and sessions that Engram keeps in SQLite", NeedsPath: true,
			Location: "the database file",
			Keys:     []string{"path"},
			Open:     openEngram,
		},
		{
			Name: mcpgraph.Kind, Summary: "entities and relations of the official MCP memory server", NeedsPath: true,
			Location: "its memory.jsonl",
			Keys:     []string{"path"},
			Open:     openMCPGraph,
		},
		{
			Name: langgraph.Kind, Summary: "LangGraph's store and checkpoints in PostgreSQL",
			Location: "the name of the environment variable that holds the connection string", Variable: true,
			Keys: []string{"dsn_env", "dsn_file", "schema"},
			Open: openLangGraph, Check: checkLangGraph,
		},
		{
			Name: mcpclient.Kind, Summary: "a memory server that agents reach over MCP: memdesk's own tools, or the official memory server's", Bare: true,
			Location: "the command with its arguments, the URL, or the name of the variable that holds the token, then @ and the URL",
			Keys:     []string{"command", "base_url", "token_env", "token_file"}, Own: map[string]any{"args": []string(nil)},
			Open: openMCP, Check: checkMCP,
		},
		{
			Name: "knots", Summary: "work items of Knots, through the kno command", NeedsPath: true,
			Location: "a repository, or its .knots directory",
			Keys:     []string{"path", "command"},
			Open:     openKnots,
		},
	} {
		if err := reg.Register(k); err != nil {
			panic(err) // two rows of this table with one name
		}
	}
	return reg
}

func openCrewship(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	cfg := crewship.Config{
		Name: c.Name, Path: c.Path, BasePath: c.BasePath, MemoryRoot: c.MemoryRoot,
		Workspace: c.Workspace, Crew: c.Crew, Agent: c.Agent, APIURL: c.APIURL, ReadOnly: c.ReadOnly, Clock: env.Clock,
		SearchOnly: env.SearchOnly, Kept: env.kept(c),
	}
	if c.APIURL != "" {
		var err error
		if cfg.APIToken, err = readSecret(env, "api_token", c.APITokenEnv, c.APITokenFile); err != nil {
			return model.Store{}, err
		}
	}
	return crewship.Open(ctx, cfg)
}

func openDeviceLocal(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	return devicelocal.Open(ctx, devicelocal.Config{
		Name: c.Name, Path: c.Path, ReadOnly: c.ReadOnly, Clock: env.Clock, Env: os.Getenv, SearchOnly: env.SearchOnly,
	})
}

func openVault(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	return vault.Open(ctx, vault.Config{
		Name: c.Name, Path: c.Path, MemoryRoot: c.MemoryRoot, LockRoot: c.LockRoot, ReadOnly: c.ReadOnly,
		Clock: env.Clock, Env: os.Getenv, SearchOnly: env.SearchOnly,
	})
}

func openSQLite(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	embedder, err := embed.New(c.EmbedURL, c.EmbedCommand)
	if err != nil {
		return model.Store{}, err
	}
	db, err := sqlite.Open(ctx, sqlite.Config{Path: c.Path, ReadOnly: c.ReadOnly, Clock: env.Clock})
	if err != nil {
		return model.Store{}, err
	}
	store := hypergraph.Adapt(hypergraph.Config{
		Name: c.Name, Kind: c.Kind, Location: c.Path, Backend: db, Vocabulary: db.Vocabulary(),
		ReadOnly: db.ReadOnlyReason() != "", ReadOnlyReason: db.ReadOnlyReason(), Notes: db.Notes(), Clock: env.Clock,
		Maintainer: db.Maintainer(), Migrator: db.Migrator(), Reindex: db.Reindex(), Embedder: embedder, Look: db.Look, Deep: db.Deep,
	})
	store.Place, store.Events = db.Path(), db.Events()
	return store, nil
}

// createSQLite makes a store of memdesk's own schema. Recurse makes its own.
func createSQLite(ctx context.Context, c StoreConfig, env Env) error {
	if _, err := os.Lstat(c.Path); err == nil {
		return model.Errorf(model.AlreadyExists, "create", "%q is there already; nothing was done", filepath.Base(c.Path))
	}
	db, err := sqlite.Open(ctx, sqlite.Config{Path: c.Path, Create: true, Clock: env.Clock})
	if err != nil {
		if info, serr := os.Lstat(c.Path); serr == nil && info.Mode().IsRegular() && info.Size() == 0 { // it would refuse the next try
			err = errors.Join(err, os.Remove(c.Path))
		}
		return err
	}
	return db.Close()
}

func openInMemory(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	db, err := inmem.Open(ctx, env.Clock)
	if err != nil {
		return model.Store{}, err
	}
	return hypergraph.Adapt(hypergraph.Config{
		Name: c.Name, Kind: c.Kind, Backend: db, ReadOnly: c.ReadOnly, Clock: env.Clock, Maintainer: db.Maintainer(),
		Notes: []string{"nothing is kept: it is gone when memdesk ends"},
	}), nil
}

func openBeads(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	return beads.Open(ctx, beads.Config{
		Name: c.Name, Path: c.Path, Port: c.Port, Command: c.Command, ReadOnly: c.ReadOnly, ReadOnlyReason: c.ReadOnlyReason, Clock: env.Clock,
	})
}

// openKnots honours the variables that Foolery gives kno.
func openKnots(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	return knots.Open(ctx, knots.Config{
		Name: c.Name, Path: c.Path, Command: cmp.Or(c.Command, os.Getenv("KNOTS_BIN")), DB: os.Getenv("KNOTS_DB_PATH"),
		ReadOnly: c.ReadOnly, Clock: env.Clock,
	})
}

func openCurated(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	return curated.Open(ctx, curated.Config{Name: c.Name, Path: c.Path, ReadOnly: c.ReadOnly, Clock: env.Clock})
}

// words is a kind's check that each key has one of its words.
func words(of map[string][]string) func(StoreConfig, func(string) bool) (string, error) {
	return func(c StoreConfig, _ func(string) bool) (string, error) {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if word, _ := c.Own[key].(string); word != "" && !slices.Contains(of[key], word) {
				return key, model.Errorf(model.InvalidInput, "config", "%s is %q: it is %s", key, word, strings.Join(of[key], " or "))
			}
		}
		return "", nil
	}
}

func openClaude(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	return claude.Open(ctx, claude.Config{
		Name: c.Name, Path: c.Path, Redact: c.Own["transcripts"] == "redact", Rewrite: c.Own["git"] == "rewrite", ReadOnly: c.ReadOnly, Clock: env.Clock, SearchOnly: env.SearchOnly, Kept: env.kept(c),
	})
}

func openOpenClaw(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	return openclaw.Open(ctx, openclaw.Config{
		Name: c.Name, Path: c.Path, Redact: c.Own["transcripts"] == "redact", ReadOnly: c.ReadOnly, Clock: env.Clock, SearchOnly: env.SearchOnly, Kept: env.kept(c),
	})
}

func openMastra(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	return mastra.Open(ctx, mastra.Config{Name: c.Name, Path: c.Path, ReadOnly: c.ReadOnly, Clock: env.Clock})
}

func openEngram(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	return engram.Open(ctx, engram.Config{Name: c.Name, Path: c.Path, ReadOnly: c.ReadOnly, Clock: env.Clock})
}

// openMCPGraph keeps the lock of its writes in the state directory: nothing but the store's own
// file belongs beside it.
func openMCPGraph(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	locks := ""
	if dir, err := statedir.Path(env.lookup()); err == nil {
		locks = filepath.Join(dir, "locks")
	}
	return mcpgraph.Open(ctx, mcpgraph.Config{Name: c.Name, Path: c.Path, Locks: locks, ReadOnly: c.ReadOnly, Clock: env.Clock})
}

func checkLangGraph(c StoreConfig, _ func(string) bool) (string, error) {
	return checkSecret("dsn", c.DSNEnv, c.DSNFile)
}

func openLangGraph(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	dsn, err := readSecret(env, "dsn", c.DSNEnv, c.DSNFile)
	if err != nil {
		return model.Store{}, err
	}
	return langgraph.Open(ctx, langgraph.Config{Name: c.Name, DSN: dsn, Schema: c.Schema, ReadOnly: c.ReadOnly, Clock: env.Clock})
}
