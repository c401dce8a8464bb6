package mem0

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/model"
)

// uuid is an id as PostgreSQL prints it: another spelling is no id.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// collection is a pgvector table and the entity store beside it; entities is empty where there is
// none.
func collection(schema, memories, entities string) engine {
	table := func(name string) string {
		if name == "" {
			return ""
		}
		return pgx.Identifier{schema, name}.Sanitize()
	}
	return engine{
		memories: table(memories), entities: table(entities), id: "m.id::text", vector: "m.vector::text", payload: "m.payload::text",
		object: "jsonb_typeof(m.payload) = 'object'",
		key:    func(name string) string { return `(m.payload->>'` + name + `')` },
		today:  "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')", row: "id = ?::uuid", json: "?::jsonb", holds: "strpos(payload::text, ?) > 0",
		lookup: func(keys []string) (string, []any) {
			return "m.id = ANY(?::uuid[])", []any{keys}
		},
		unescape: func(id string) (string, bool) { return id, uuid.MatchString(id) },
		insert: `INSERT INTO %[1]s (id, vector, payload) SELECT id, vector, payload FROM jsonb_populate_record(NULL::%[1]s,
			jsonb_build_object('id', ?::text, 'vector', ?::text, 'payload', ?::jsonb)) ON CONFLICT DO NOTHING`,
	}
}

// openCollection opens a pgvector table, and Python's history where it is configured.
func openCollection(ctx context.Context, c Config) (model.Store, error) {
	server, location, err := records.Connect(c.DSN, c.ReadOnly)
	if err != nil {
		return model.Store{}, err
	}
	out, err := c.over(ctx, server, location)
	if err != nil {
		_ = server.Close() // the first error is the one that counts
	}
	return out, err
}

func (c Config) over(ctx context.Context, server records.Server, location string) (model.Store, error) {
	schema := c.Schema
	if schema == "" {
		schema = "public"
	}
	var have map[string][]string
	var name, entities string
	err := server.View(ctx, "open", func(tx records.Tx) (err error) {
		if have, err = records.ServerColumns(tx, schema); err == nil {
			name, entities, err = c.choose(schema, have)
		}
		return err
	})
	if err != nil {
		return model.Store{}, err
	}
	s := &store{engine: collection(schema, name, entities)}
	reason := ""
	if c.ReadOnly {
		reason = "opened for reading only"
	}
	tables := records.ServerMedium{DB: server, Schema: schema, Tables: []string{name, entities}, Columns: have, Vectors: []string{"vector"}, Clean: s.entityCleaner(entities),
		Outside: "write-ahead log, replicas, base backups, dumps, graph stores"}
	if entities == "" {
		tables.Tables = tables.Tables[:1]
	}
	cfg := records.Config{Location: location + "/" + name, DB: server, ReadOnlyReason: reason, Maintainer: tables, Remote: true, Collate: `COLLATE "C"`, Like: "ILIKE"}
	if c.History != "" {
		file, err := s.openHistory(ctx, c)
		if err != nil {
			return model.Store{}, err
		}
		db := joined{server, records.Lite{File: file}}
		medium := litefile.Medium{File: file, Items: []string{"messages"}, Tied: []string{"memory_id"}, Rows: db.dropOwnerless(s)}
		cfg.DB, cfg.ReadOnlyReason = db, cmp.Or(reason, file.ReadOnlyReason())
		cfg.Maintainer = twoMedia{tables, ownerless{litefile.Media{medium}, db, s}}
	}
	return records.New(s.config(c, cfg)), nil
}

// choose finds the table with a collection's columns.
func (c Config) choose(schema string, have map[string][]string) (name, entities string, err error) {
	is := func(table string) bool {
		return !slices.ContainsFunc(memoryColumns, func(column string) bool { return !slices.Contains(have[table], column) })
	}
	var found []string
	for table := range have {
		if is(table) && !strings.HasSuffix(table, entitiesSuffix) {
			found = append(found, table)
		}
	}
	slices.Sort(found)
	switch {
	case c.Collection != "" && !is(c.Collection):
		return "", "", model.Errorf(model.InvalidInput, "open", "schema %q has no collection %q of mem0's (id, vector, payload)", schema, c.Collection)
	case c.Collection != "":
		name = c.Collection
	case len(found) == 1:
		name = found[0]
	case len(found) == 0:
		return "", "", model.Errorf(model.InvalidInput, "open", "schema %q has no table with the columns of mem0's collections (id, vector, payload)", schema)
	default:
		return "", "", model.Errorf(model.InvalidInput, "open", "%d candidates for the collection: %s; name one", len(found), strings.Join(found, ", "))
	}
	if is(name + entitiesSuffix) {
		entities = name + entitiesSuffix
	}
	return name, entities, nil
}

// openHistory opens the history file that lies elsewhere.
func (s *store) openHistory(ctx context.Context, c Config) (*litefile.File, error) {
	kind := fileKind(ctx, c.History)
	if kind != "python" && kind != "history" {
		return nil, model.Errorf(model.InvalidInput, "open", "the history file has not the columns of mem0's history")
	}
	f, err := litefile.Open(c.History, c.ReadOnly)
	if err != nil {
		return nil, err
	}
	s.history, s.spoken = "main.memory_history", ""
	if s.python = kind == "python"; s.python {
		s.history = "main.history"
	}
	err = f.GuardTriggers(ctx, nil)
	if err == nil {
		err = records.Lite{File: f}.View(ctx, "open", func(tx records.Tx) (err error) {
			s.pastColumns, err = columnsOf(tx, "main", "history")
			return err
		})
	}
	if err != nil {
		_ = f.Close() // the first error is the one that counts
		return nil, f.Explain(err)
	}
	return f, nil
}

// entityCleaner removes from the entity store, the table of this name, the rows of an erased user,
// and what others' say of the person.
func (s *store) entityCleaner(name string) func(records.Tx, model.ScrubRequest) (map[string]int64, error) {
	return func(tx records.Tx, req model.ScrubRequest) (map[string]int64, error) {
		done := map[string]int64{}
		if s.entities == "" {
			return done, nil
		}
		for _, subject := range req.Subjects {
			n, err := tx.Exec(`DELETE FROM `+s.entities+` m WHERE `+s.key("user_id")+` = ?`, subject)
			if err != nil {
				return nil, err
			}
			done[name] += n
		}
		var named []entity
		err := tx.Each(`SELECT `+s.id+`, `+s.payload+` FROM `+s.entities+` m`, nil, func(scan func(...any) error) error {
			var e entity
			err := scan(&e.id, &e.payload)
			if err == nil && req.Concerns != nil && req.Concerns([]byte(e.payload)) {
				named = append(named, e)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, e := range named {
			text, args := `DELETE FROM `+s.entities+` WHERE `+s.row, []any{e.id}
			if req.Redact != nil {
				if clean := req.Redact([]byte(e.payload)); json.Valid(clean) {
					text, args = `UPDATE `+s.entities+` SET payload = `+s.json+` WHERE `+s.row, []any{string(clean), e.id}
				}
			}
			n, err := tx.Exec(text, args...)
			if err != nil {
				return nil, err
			}
			done[name] += n
		}
		return done, nil
	}
}

// pair is a transaction on the server and one on the history file.
type pair struct {
	records.Tx
	past records.Tx
}

// joined is a collection with the history file that lies elsewhere. They share no transaction: a
// change is committed to the history first, so that a crash between leaves a memory without its
// history, never text without its memory.
type joined struct {
	records.Server
	past records.Lite
}

// View implements records.DB.
func (j joined) View(ctx context.Context, op string, fn func(records.Tx) error) error {
	return j.Server.View(ctx, op, func(tx records.Tx) error {
		return j.past.View(ctx, op, func(past records.Tx) error { return fn(pair{tx, past}) })
	})
}

// Change implements records.DB.
func (j joined) Change(ctx context.Context, op string, fn func(records.Tx) error) error {
	return j.Server.Change(ctx, op, func(tx records.Tx) error {
		return j.past.Change(ctx, op, func(past records.Tx) error { return fn(pair{tx, past}) })
	})
}

// Look implements records.DB.
func (j joined) Look(now time.Time) []model.HealthFinding {
	return append(j.Server.Look(now), j.past.Look(now)...)
}

// Deep implements records.DB.
func (j joined) Deep(ctx context.Context) []model.HealthFinding {
	return append(j.Server.Deep(ctx), j.past.Deep(ctx)...)
}

// Close implements records.DB.
func (j joined) Close() error { return errors.Join(j.Server.Close(), j.past.Close()) }

// dropOwnerless removes the history of memories that are gone where it names the person (M06).
func (j joined) dropOwnerless(s *store) func(q *litefile.Query, req model.ScrubRequest) ([]model.LayerResult, error) {
	return func(q *litefile.Query, req model.ScrubRequest) ([]model.LayerResult, error) {
		if req.Concerns == nil {
			return nil, nil
		}
		old, is, _, _ := s.names()
		named := map[string][]string{} // rows by memory
		err := q.Each(`SELECT CAST(id AS TEXT), memory_id, COALESCE(`+old+`, ''), COALESCE(`+is+`, '') FROM `+s.history, nil, func(scan func(...any) error) error {
			var id, memory, before, after string
			err := scan(&id, &memory, &before, &after)
			if req.Concerns([]byte(before)) || req.Concerns([]byte(after)) {
				named[memory] = append(named[memory], id)
			}
			return err
		})
		if err != nil || len(named) == 0 {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // inside the caller's transaction, which ends with it
		defer cancel()
		err = j.Server.View(ctx, "scrub", func(tx records.Tx) error {
			for memory := range named {
				var one int64
				found := false
				if uuid.MatchString(memory) {
					var err error
					if found, err = tx.One(`SELECT 1 FROM `+s.memories+` WHERE `+s.row, []any{memory}, &one); err != nil {
						return err
					}
				}
				if found {
					delete(named, memory)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		res := model.LayerResult{Layer: "history, owner unknown", Method: "rows that name the person removed", Verdict: model.VerdictClean}
		for _, ids := range named {
			for _, id := range ids {
				n, err := q.Exec(`DELETE FROM `+s.history+` WHERE CAST(id AS TEXT) = ?`, id)
				if err != nil {
					return nil, err
				}
				res.Rows += n
			}
		}
		return []model.LayerResult{res}, nil
	}
}

// twoMedia are the collection's tables and the history file.
type twoMedia struct {
	tables records.ServerMedium
	past   ownerless
}

// Layers implements model.Maintainer.
func (m twoMedia) Layers(ctx context.Context) ([]model.Layer, error) {
	out, err := m.tables.Layers(ctx)
	if err != nil {
		return nil, err
	}
	more, err := m.past.Layers(ctx)
	return append(out, more...), err
}

// OpenLayer implements model.Maintainer.
func (m twoMedia) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	r, err := m.tables.OpenLayer(ctx, id)
	if errors.Is(err, model.NotFound) {
		return m.past.OpenLayer(ctx, id)
	}
	return r, err
}

// Scrub implements model.Maintainer.
func (m twoMedia) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	out, err := m.past.Scrub(ctx, req)
	if err != nil {
		return nil, err
	}
	more, err := m.tables.Scrub(ctx, req)
	return append(out, more...), err
}
