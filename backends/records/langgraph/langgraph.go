// Package langgraph opens LangGraph's store and checkpoints in PostgreSQL, with the tables of the JavaScript
// or of the Python package (langgraph.md). Forgetting a thread clears all its tables, editing a value removes
// its vectors.
package langgraph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the kind's name in a configuration.
const Kind = "langgraph"

// Config says which database to open and how.
type Config struct {
	Name     string
	DSN      model.Secret
	Schema   string // empty: public
	ReadOnly bool
	Clock    clock.Clock
}

// layout says which tables exist, and which package's they are.
type layout struct {
	schema string
	have   map[string][]string // columns by table
	python bool
}

// Open opens a database. InvalidInput where both halves are missing, or the store's namespace column is
// neither package's.
func Open(ctx context.Context, c Config) (model.Store, error) {
	db, location, err := records.Connect(c.DSN, c.Schema, c.ReadOnly)
	if err != nil {
		return model.Store{}, err
	}
	l := layout{schema: cmp.Or(c.Schema, "public")}
	reason := ""
	if c.ReadOnly {
		reason = "opened for reading only"
	}
	err = db.View(ctx, "open", func(tx records.Tx) error {
		why, err := l.look(tx)
		reason = cmp.Or(reason, why)
		return err
	})
	if err != nil {
		_ = db.Close() // the first error counts
		return model.Store{}, err
	}
	return records.New(records.Config{
		Name: c.Name, Kind: Kind, Location: location, DB: db, Tables: l.tables(), ReadOnlyReason: reason, Remote: true, Collate: `COLLATE "C"`, Like: "ILIKE", Clock: c.Clock,
		Notes:      []string{l.whose(), "a graph that runs writes its next checkpoint from memory: a thread that is forgotten meanwhile comes back"},
		Concerning: l.concerning, Observe: l.observe, Maintainer: l.medium(db),
	}), nil
}

var checkpointTables = []string{"checkpoint_writes", "checkpoint_blobs", "checkpoints"}

// knownMigrations and knownCheckpointMigrations are the last steps of store_migrations and of JavaScript's
// checkpoint_migrations that this package knows.
const (
	knownMigrations           = 3
	knownCheckpointMigrations = 4
)

// look reads the columns. reason says why the store is read-only.
func (l *layout) look(tx records.Tx) (reason string, err error) {
	if l.have, err = records.ServerColumns(tx, l.schema); err != nil {
		return "", err
	}
	if err := l.recognise(); err != nil {
		return "", err
	}
	if reason, err = l.newer(tx); err != nil {
		return "", err
	}
	return cmp.Or(l.lacks(), reason), nil
}

// recognise tells whose tables these are: JavaScript's or Python's.
func (l *layout) recognise() error {
	if !slices.ContainsFunc([]string{"namespace_path", "prefix", "key", "value"}, func(c string) bool { return slices.Contains(l.have["store"], c) }) {
		l.have["store"], l.have["store_vectors"] = nil, nil // another program's
	}
	store := l.have["store"]
	switch {
	case len(store) > 0:
	case l.has("checkpoints"):
		return nil
	default:
		return model.Errorf(model.InvalidInput, "open", "schema %q has neither LangGraph's store nor its checkpoints", l.schema)
	}
	l.python = slices.Contains(store, "prefix")
	if l.python == slices.Contains(store, "namespace_path") {
		return model.Errorf(model.InvalidInput, "open", "the table store is neither package's: its columns are %s", strings.Join(store, ", "))
	}
	for _, c := range []string{"key", "value"} {
		if !slices.Contains(store, c) {
			return model.Errorf(model.InvalidInput, "open", "the table store has no column %s: its columns are %s", c, strings.Join(store, ", "))
		}
	}
	return nil
}

// newer says which tables are at a migration that this package does not know.
func (l *layout) newer(tx records.Tx) (reason string, err error) {
	javaScript := !l.python && !slices.Contains(l.have["checkpoint_writes"], "task_path") // Python's numbers of checkpoints are not known
	for _, m := range []struct {
		table, what string
		known       int64
		read        bool
	}{
		{"store_migrations", "the store is", knownMigrations, len(l.have["store"]) > 0},
		{"checkpoint_migrations", "the checkpoints are", knownCheckpointMigrations, javaScript},
	} {
		if !m.read || !l.has(m.table) {
			continue
		}
		var at int64
		if _, err := records.One(tx, `SELECT COALESCE(max(v), 0)::bigint FROM `+l.table(m.table), nil, &at); err != nil {
			return "", err
		}
		if at > m.known {
			reason = fmt.Sprintf("%s at migration %d, and this version knows %d", m.what, at, m.known)
		}
	}
	return reason, nil
}

// lacks says which table or column is missing; a table without a column is not used.
func (l *layout) lacks() (reason string) {
	threads := l.has("checkpoints")
	for _, t := range scanned {
		if slices.Contains(checkpointTables, t) && threads && !l.has(t) {
			reason = "the table " + t + " is missing beside the checkpoints"
		}
		wanted := slices.Clone(expected[t])
		if ns, _ := l.namespace(); t == "store_vectors" {
			wanted = append(wanted, ns, map[bool]string{true: "field_name", false: "field_path"}[l.python])
		}
		missing := slices.DeleteFunc(wanted, func(c string) bool { return !l.has(t) || slices.Contains(l.have[t], c) })
		if len(missing) > 0 {
			reason = "the table " + t + " is of a version that is not known: it lacks " + strings.Join(missing, ", ")
			if t != "store" {
				l.have[t] = nil
			}
		}
	}
	return reason
}

// expected are the columns that both packages have. A store without one of them is shown without it, another
// table is skipped; neither is written.
var expected = map[string][]string{
	"store": {"created_at", "updated_at", "expires_at"}, "store_vectors": {"key", "embedding", "created_at"},
	"checkpoints":       {"thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint", "metadata"},
	"checkpoint_blobs":  {"thread_id", "checkpoint_ns", "channel", "version", "type", "blob"},
	"checkpoint_writes": {"thread_id", "checkpoint_ns", "checkpoint_id", "channel", "type", "blob"},
}

// column is a column of the store's row m; NULL where the table lacks it.
func (l layout) column(name string) string {
	if slices.Contains(l.have["store"], name) {
		return "m." + name
	}
	return "NULL::timestamptz"
}

func (l layout) has(table string) bool { return len(l.have[table]) > 0 }

// table qualifies a name by the schema.
func (l layout) table(name string) string { return pgx.Identifier{l.schema, name}.Sanitize() }

// namespace is the store's column, and what joins its labels.
func (l layout) namespace() (column, separator string) {
	if l.python {
		return "prefix", "."
	}
	return "namespace_path", ":"
}

// whose says which package's tables they are.
func (l layout) whose() string {
	switch {
	case !l.has("store"):
		return "checkpoints alone, in schema " + l.schema
	case l.python:
		return "the Python package's tables, in schema " + l.schema
	}
	return "the JavaScript package's tables, in schema " + l.schema
}

func (l layout) tables() []records.Table {
	var out []records.Table
	if l.has("store") {
		out = append(out, l.values())
	}
	if l.has("checkpoints") {
		out = append(out, l.threads())
	}
	return out
}

// concerning finds rows by a whole label or by user_id, and threads by their id or a checkpoint's metadata
// (LG10).
func (l layout) concerning(tx records.Tx, subjects []string, yield func(id, subject, reason string)) error {
	for _, s := range subjects {
		if l.has("store") {
			ns, sep := l.namespace()
			t := l.values()
			err := tx.Each(`SELECT `+sqlKey("m", ns)+`, (? = ANY(string_to_array(`+ns+`, ?))) FROM `+l.table("store")+` m
				WHERE ? = ANY(string_to_array(`+ns+`, ?)) OR value @> jsonb_build_object('user_id', ?::text) OR value @> jsonb_build_object('userId', ?::text)`, []any{s, sep, s, sep, s, s}, func(scan func(...any) error) error {
				var key string
				var label bool
				err := scan(&key, &label)
				why := "its user_id"
				if label {
					why = "a label of its namespace"
				}
				yield(t.Escape(key), s, why)
				return err
			})
			if err != nil {
				return err
			}
		}
		if l.has("checkpoints") {
			ids, err := records.IDs(tx, "thread/", `SELECT DISTINCT thread_id FROM `+l.table("checkpoints")+` WHERE thread_id = ? OR metadata->>'user_id' = ? OR metadata->>'userId' = ?`, s, s, s)
			if err != nil {
				return err
			}
			for _, id := range ids {
				yield(id, s, "a thread of the person")
			}
		}
	}
	return nil
}
