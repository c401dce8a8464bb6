package mem0

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/model"
)

// openCollection opens a pgvector table, and Python's history where it is configured.
func openCollection(ctx context.Context, c Config) (model.Store, error) {
	server, location, err := records.Connect(c.DSN, c.Schema, c.ReadOnly)
	if err != nil {
		return model.Store{}, err
	}
	out, err := c.over(ctx, server, location)
	if err != nil {
		_ = server.Close() // the first error counts
	}
	return out, err
}

func (c Config) over(ctx context.Context, server records.Server, location string) (model.Store, error) {
	schema := cmp.Or(c.Schema, "public")
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
	s := &store{memories: records.ServerPayloads(schema, name), entities: records.ServerPayloads(schema, entities)}
	reason := ""
	if c.ReadOnly {
		reason = "opened for reading only"
	}
	tables := records.ServerMedium{DB: server, Schema: schema, Tables: []string{name, entities}, Columns: have, Vectors: []string{"vector"},
		Clean: func(tx records.Tx, req model.ScrubRequest, may func(string) bool) (map[string]int64, error) {
			edited, err := s.memories.Redact(tx, name, req)
			n, cerr := s.entities.Clean(tx, "user_id", req, func() bool { return may(entities) })
			return map[string]int64{entities: n, name: edited}, cmp.Or(err, cerr)
		},
		Outside: "write-ahead log, replicas, base backups, dumps, graph stores, model and embedding providers, telemetry", SideRows: func(tx records.Tx, req model.ScrubRequest) error { return s.memories.SideRows(tx, name, req) }}
	if entities == "" {
		tables.Tables = tables.Tables[:1]
	}
	cfg := records.Config{Location: location + "/" + name, Files: []string{c.History}, DB: server, ReadOnlyReason: reason, Maintainer: ownerless{tables, server, s}, Remote: true, Collate: `COLLATE "C"`, Like: "ILIKE"}
	if c.History != "" {
		file, err := s.openHistory(ctx, c)
		if err != nil {
			return model.Store{}, err
		}
		db := records.Joined{DB: server, Beside: records.Lite{File: file}}
		medium := litefile.Medium{File: file, Items: messageTable, Tied: []string{"memory_id"}, Rows: s.dropOwnerless(server, file.Name)}
		cfg.DB, cfg.ReadOnlyReason = db, cmp.Or(reason, s.unknown, file.ReadOnlyReason())
		cfg.Maintainer = litefile.Media{ownerless{medium, db, s}, tables}
	}
	return records.New(s.config(c, cfg)), nil
}

// choose finds the table with a collection's columns.
func (c Config) choose(schema string, have map[string][]string) (name, entities string, err error) {
	is := func(table string) bool {
		return !slices.ContainsFunc(records.PayloadColumns, func(column string) bool { return !slices.Contains(have[table], column) })
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

// openHistory opens a history file in another place.
func (s *store) openHistory(ctx context.Context, c Config) (*litefile.File, error) {
	python, err := pythons(ctx, c.History, c.ReadOnly)
	if err != nil {
		return nil, err
	}
	f, err := litefile.Open(c.History, c.ReadOnly)
	if err != nil {
		return nil, err
	}
	s.history, s.spoken = "main.memory_history", ""
	if s.python = python; python {
		s.history = "main.history"
	}
	err = f.GuardTriggers(ctx, nil)
	if err == nil {
		err = records.Lite{File: f}.View(ctx, "open", s.look)
	}
	if err != nil {
		_ = f.Close() // the first error counts
		return nil, f.Explain(err)
	}
	return f, nil
}

// dropOwnerless removes the history of deleted memories where it names the subject (M06).
func (s *store) dropOwnerless(server records.Server, file string) func(q *litefile.Query, req model.ScrubRequest) ([]model.LayerResult, error) {
	return func(q *litefile.Query, req model.ScrubRequest) ([]model.LayerResult, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // inside the caller's transaction, which ends with it
		defer cancel()
		res := model.LayerResult{Layer: "history, owner unknown", Method: "rows that name the person removed", Verdict: model.VerdictClean}
		err := server.View(ctx, "scrub", func(tx records.Tx) (err error) {
			old, is, _, _ := s.names()
			res.Rows, err = records.DropNamed(q, s.history, "memory_id", []string{old, is}, strings.Replace(s.history, "main.", file+":", 1), req, func(memory string) (bool, error) {
				_, stands, err := s.memories.Row(tx, memory)
				return stands, err
			})
			return err
		})
		if err != nil || res.Rows == 0 {
			return nil, err
		}
		return []model.LayerResult{res}, nil
	}
}
