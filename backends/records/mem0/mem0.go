// Package mem0 opens the memories of mem0 with their vectors, messages, history and entities (mem0.md): its SQLite files, its
// pgvector collection, or its REST server. A memory that is forgotten in files leaves the history and the entities too, which
// mem0's own delete does not do.
package mem0

import (
	"cmp"
	"context"
	"fmt"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the name of this kind in a configuration.
const Kind = "mem0"

// Config says where the memories are and how to open them: files (Path), a collection (DSN) or a
// server (BaseURL).
type Config struct {
	Name string
	// Path is a folder, or the vector file.
	Path string
	// History is the history file; empty: beside the vectors it is looked for, of a collection it is
	// not reached.
	History string
	// DSN is the connection string of a PostgreSQL database. Schema is public where it is empty;
	// Collection names the table where there are several.
	DSN                model.Secret
	Schema, Collection string
	// BaseURL is mem0's REST server and APIKey its key; unset: none is sent. UserID limits a store to
	// one user's memories, for a key that may not list all.
	BaseURL  string
	APIKey   model.Secret
	UserID   string
	ReadOnly bool
	Clock    clock.Clock
}

// store is what of the databases there is.
type store struct {
	engine
	history     string // the table of earlier texts; empty: it is not reached
	python      bool   // the history has Python's columns,
	pastColumns []string
	spoken      string // the table of messages; empty: there is none
}

// The names under which a connection to the vector file sees the others.
const (
	historyName  = "history_file"
	entitiesName = "entity_file"
)

// Open opens a store. NotFound, InvalidInput and Unsupported as locate says.
func Open(ctx context.Context, c Config) (model.Store, error) {
	switch {
	case c.BaseURL != "":
		return openServer(ctx, c)
	case c.DSN.IsSet():
		return openCollection(ctx, c)
	}
	found, err := locate(ctx, c.Path, c.History)
	if err != nil {
		return model.Store{}, err
	}
	s := &store{engine: lite, python: found.python}
	if found.entities != "" {
		s.entities = entitiesName + ".vectors"
	}
	switch {
	case found.history == "":
	case found.python:
		s.history = historyName + ".history"
	default:
		s.history, s.spoken = historyName+".memory_history", historyName+".messages"
	}
	readOnly := c.ReadOnly
	var with []litefile.Attached
	for _, other := range []litefile.Attached{{Name: historyName, Path: found.history}, {Name: entitiesName, Path: found.entities}} {
		if other.Path == "" {
			continue
		}
		with = append(with, other)
		readOnly = readOnly || !litefile.Writable(other.Path)
	}
	f, err := litefile.Open(found.vectors, readOnly, with...)
	if err != nil {
		return model.Store{}, err
	}
	db := records.Lite{File: f}
	media, reason, err := found.open(ctx, f, readOnly)
	if err == nil && found.python {
		err = db.View(ctx, "open", func(tx records.Tx) (err error) {
			s.pastColumns, err = columnsOf(tx, historyName, "history")
			return err
		})
	}
	if err != nil {
		_ = f.Close() // the first error is the one that counts
		return model.Store{}, f.Explain(err)
	}
	return records.New(s.config(c, records.Config{
		Location: c.Path, DB: closing{db, media}, ReadOnlyReason: reason, Maintainer: ownerless{media, db, s},
	})), nil
}

// config fills in what stores of files and of a collection have in common.
func (s *store) config(c Config, r records.Config) records.Config {
	r.Name, r.Kind, r.Clock, r.Tables = c.Name, Kind, c.Clock, s.tables()
	r.Notes = append(r.Notes, "an edit leaves the vector as it is: semantic recall finds the memory by its old meaning until mem0 embeds it again")
	r.Concerning, r.Observe = s.concerning, s.observe
	if s.history == "" {
		r.Notes = append(r.Notes, unreached)
	} else {
		r.History = revisions{s, r.DB}
	}
	return r
}

// past is the transaction that sees the history.
func (s *store) past(tx records.Tx) records.Tx {
	if two, ok := tx.(pair); ok {
		return two.past
	}
	return tx
}

// columnsOf names a table's columns in one of the files of a connection.
func columnsOf(tx records.Tx, file, table string) (names []string, err error) {
	err = tx.Each(`SELECT name FROM pragma_table_info(?, ?)`, []any{table, file}, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// ownerless names, beside the layers of the files, the history of memories that are gone and that
// says nothing of whose they were (M06).
type ownerless struct {
	litefile.Media
	db records.DB
	s  *store
}

// Layers lists the files, and the rows whose owner is unknown.
func (o ownerless) Layers(ctx context.Context) ([]model.Layer, error) {
	out, err := o.Media.Layers(ctx)
	if err != nil || o.s.history == "" {
		return out, err
	}
	n := 0
	err = o.db.View(ctx, "layers", func(tx records.Tx) (err error) {
		n, err = o.s.ownerlessRows(tx)
		return err
	})
	if n > 0 {
		out = append(out, model.Layer{ID: "history, owner unknown", Kind: model.LayerExternal,
			Reason: fmt.Sprintf("%d rows of the history are of memories that are gone, and nothing says whose they were: those that name the subject are removed, the others stay", n),
			Advice: "look at the history of deleted memories, and remove the rows of the subject by hand"})
	}
	return out, err
}

// open opens the files for maintenance and looks for triggers in each: reason says why the store
// is read-only.
func (f files) open(ctx context.Context, db *litefile.File, readOnly bool) (media litefile.Media, reason string, err error) {
	if media, err = f.media(db, readOnly); err != nil {
		return nil, "", err
	}
	for _, m := range media {
		if err := m.File.GuardTriggers(ctx, nil); err != nil {
			return nil, "", err
		}
		reason = cmp.Or(reason, m.File.ReadOnlyReason())
	}
	return media, reason, nil
}

// closing closes the files that only scrubs use with the store.
type closing struct {
	records.Lite
	media litefile.Media
}

func (c closing) Close() error {
	for _, m := range c.media[1:] { // the first is the store's own
		_ = m.File.Close()
	}
	return c.Lite.Close()
}

// media are the files as a maintainer sees them.
func (f files) media(db *litefile.File, readOnly bool) (litefile.Media, error) {
	out := litefile.Media{{File: db, Items: []string{"vectors"}, Owners: []string{"user_id"},
		Edited: func(id string) (string, string, string) { return "vectors", "id", id }}}
	if f.history != "" {
		file, err := litefile.Open(f.history, readOnly, litefile.Attached{Name: "vector_file", Path: f.vectors})
		if err != nil {
			return nil, err
		}
		const gone = `memory_id NOT IN (SELECT id FROM vector_file.vectors)`
		out = append(out, litefile.Medium{File: file, Items: []string{"messages"}, Tied: []string{"memory_id"}, NamedRows: map[string]string{"memory_history": gone, "history": gone}})
	}
	if f.entities != "" {
		file, err := litefile.Open(f.entities, readOnly)
		if err != nil {
			return nil, err
		}
		out = append(out, litefile.Medium{File: file, Owners: []string{"user_id"}, OwnedRows: map[string]string{"vectors": `json_valid(payload) AND json_extract(payload, '$.user_id') = ?`}})
	}
	return out, nil
}
