package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/snippet"
	"memdesk/internal/clock"
	"memdesk/model"
)

// The two databases of a recurse data directory (recurse.md, "Files").
const (
	agentDB = "rlm.db"
	cliDB   = "memory.db"
)

var recurseFiles = map[string]string{
	agentDB: "what the live agent remembers",
	cliDB:   "the command line's memory search, which the agent does not read",
}

// Open opens a database. Opening read-only creates nothing. Errors are NotFound for a missing path,
// InvalidInput for a file that is no memory database, PermissionDenied for an unreadable one, and Locked. A
// file of a newer memdesk is Unsupported, a damaged one Internal.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	path, err := locate(cfg)
	if err != nil {
		return nil, err
	}
	file, err := litefile.Open(path, cfg.ReadOnly)
	if err != nil {
		return nil, err
	}
	s := newStore(file, cfg.Clock)
	if err := s.prepare(ctx, cfg); err != nil {
		_ = s.Close()
		return nil, err
	}
	if s.kind == RecurseSchema {
		s.notes = recurseNotes(ctx, s, path)
	}
	return s, nil
}

func newStore(file *litefile.File, c clock.Clock) *Store {
	s := &Store{file: file, clock: clock.Or(c), cache: vectorCache{VectorCache: sqlgraph.NewVectorCache()}}
	s.ops = newOps(s, nil)
	return s
}

// locate finds the file and refuses a path that cannot be a database before SQLite sees it. It never
// opens the file: closing a descriptor would drop the locks that this process holds on it.
func locate(cfg Config) (string, error) {
	if cfg.Path == "" || strings.ContainsRune(cfg.Path, 0) {
		return "", model.Errorf(model.InvalidInput, "open", "a path is needed: a database, or a directory with %s or %s", agentDB, cliDB)
	}
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return "", litefile.Worded("open", err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && cfg.Create && !cfg.ReadOnly:
		return path, createFile(path)
	case errors.Is(err, os.ErrNotExist):
		return "", model.Errorf(model.NotFound, "open", "there is no file %q: check the path; a new store comes into being only with create", filepath.Base(path))
	case err != nil:
		return "", litefile.Worded("open", err)
	case info.IsDir():
		return locateInDirectory(path)
	case !info.Mode().IsRegular():
		return "", model.Errorf(model.InvalidInput, "open", "%q is not a regular file", info.Name())
	case info.Size() == 0 && (!cfg.Create || cfg.ReadOnly):
		return "", model.Errorf(model.InvalidInput, "open", "%q is an empty file, not a memory database", info.Name())
	}
	return path, nil
}

func locateInDirectory(dir string) (string, error) {
	for _, name := range []string{agentDB, cliDB} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return path, nil
		}
	}
	return "", model.Errorf(model.InvalidInput, "open", "the directory %q holds neither %s nor %s: name the database file itself", filepath.Base(dir), agentDB, cliDB)
}

// createFile makes an empty private file first, because SQLite would make one that others may read.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return litefile.Worded("open", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) { // another process was first
		return nil
	}
	if err != nil {
		return litefile.Worded("open", err)
	}
	return litefile.Worded("open", f.Close())
}

// prepare recognises the schema and migrates a store of memdesk's own.
func (s *Store) prepare(ctx context.Context, cfg Config) error {
	var found contents
	if err := s.view(ctx, "open", func(q *query) (err error) {
		found, err = readContents(q)
		return err
	}); err != nil {
		return s.file.Explain(err)
	}
	if err := s.file.GuardTriggers(ctx, recurseTrigger); err != nil {
		return err
	}
	switch {
	case found.isRecurse():
		s.kind, s.layout = RecurseSchema, recurseLayout(found.has("node_embeddings"))
	case found.application == applicationID || len(found.tables) == 0 && cfg.Create:
		s.kind, s.layout = OwnSchema, ownLayout()
		if err := s.migrate(ctx, found, cfg.Create); err != nil {
			return err
		}
		s.vocabulary = fileVocabulary("", "")
		return nil
	default:
		return model.Errorf(model.InvalidInput, "open", "%q is no memory database: %s", s.file.Name, found.describe())
	}
	s.vocabulary = fileVocabulary(found.tables["nodes"], found.tables["hyperedges"])
	return nil
}

// recurseTrigger matches recurse's own two triggers: they stamp the updated row and nothing else
// (recurse.md, "Schema").
var recurseTrigger = regexp.MustCompile(`(?i)^create trigger (if not exists )?[^ ]+ after update( of [a-z_]+( , [a-z_]+)*)? on nodes( for each row)? begin` +
	` update nodes set (updated_at|last_accessed) = current_timestamp where id = new \. id ; end$`)

// contents is a file's catalogue.
type contents struct {
	application, version int64
	tables               map[string]string // definition by name
	order                []string
}

func readContents(q *query) (contents, error) {
	var c contents
	if _, err := q.One(`PRAGMA application_id`, nil, &c.application); err != nil {
		return c, err
	}
	if _, err := q.One(`PRAGMA user_version`, nil, &c.version); err != nil {
		return c, err
	}
	var err error
	c.order, c.tables, err = litefile.Tables(q)
	return c, err
}

func (c contents) has(table string) bool {
	_, ok := c.tables[table]
	return ok
}

// isRecurse decides by the tables: such a file carries no version mark.
func (c contents) isRecurse() bool {
	return c.application == 0 && c.has("nodes") && c.has("hyperedges") && c.has("membership") && c.has("evolution_log")
}

// describe names up to eight of the tables found instead.
func (c contents) describe() string {
	if len(c.order) == 0 {
		return "it holds no tables"
	}
	quoted := make([]string, len(c.order))
	for i, n := range c.order {
		quoted[i] = fmt.Sprintf("%.40q", n)
	}
	return "its tables are " + snippet.Names(quoted, 8)
}

// recurseNotes says which of the two databases is open, what each holds, and what this one cannot address.
func recurseNotes(ctx context.Context, s *Store, path string) []string {
	notes := []string{"open: " + describeFile(ctx, s.file.Readers(), path)}
	for _, name := range []string{agentDB, cliDB} {
		other := filepath.Join(filepath.Dir(path), name)
		if info, err := os.Stat(other); other == path || err != nil || !info.Mode().IsRegular() {
			continue
		}
		notes = append(notes, "beside it: "+describeSibling(ctx, other))
	}
	var odd int64
	if err := s.file.Readers().QueryRowContext(ctx, `SELECT count(*) FROM nodes WHERE typeof(id) <> 'text'`).Scan(&odd); err == nil && odd > 0 {
		notes = append(notes, fmt.Sprintf("%d nodes have no text as their id: they can be neither listed nor addressed", odd))
	}
	return notes
}

func describeSibling(ctx context.Context, path string) string {
	f, err := litefile.Open(path, true)
	if err != nil {
		return filepath.Base(path) + " (cannot be read)"
	}
	defer f.Close()
	return describeFile(ctx, f.Readers(), path)
}

func describeFile(ctx context.Context, db *sql.DB, path string) string {
	name := filepath.Base(path)
	text := name
	if what := recurseFiles[name]; what != "" {
		text += ", " + what
	}
	info, err := os.Stat(path)
	if err != nil {
		return text + " (size unknown)"
	}
	text += fmt.Sprintf(": %d bytes", info.Size())
	var nodes, edges, vectors, log int64
	err = db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM hyperedges), (SELECT count(*) FROM evolution_log)`).
		Scan(&nodes, &edges, &log)
	if err != nil {
		return text + ", rows not counted: " + model.KindOf(litefile.Worded("open", err)).Error()
	}
	text += fmt.Sprintf(", %d nodes, %d edges, %d log rows", nodes, edges, log)
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM node_embeddings`).Scan(&vectors); err == nil {
		text += fmt.Sprintf(", %d vectors", vectors)
	}
	return text
}
