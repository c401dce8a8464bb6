// Package mem0 opens the memories of mem0 with their vectors, messages, history and entities (mem0.md): its
// SQLite files, its pgvector collection, or its REST server. In files, forgetting a memory also clears its
// history and entities, which mem0's own delete does not do.
package mem0

import (
	"cmp"
	"context"
	"fmt"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/unreached"
	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the kind's name in a configuration.
const Kind = "mem0"

// Config says where the memories are and how to open them: files (Path), a collection (DSN) or a server
// (BaseURL).
type Config struct {
	Name string
	// Path is a directory, or the vector file.
	Path string
	// History is the history file; empty: for files it is looked for beside the vectors, for a collection it
	// is out of reach.
	History string
	// DSN is the connection string of a PostgreSQL database. An empty Schema means public; Collection names
	// the table where there are several.
	DSN                model.Secret
	Schema, Collection string
	// BaseURL is mem0's REST server and APIKey its key; unset: none is sent. UserID limits a store to one
	// user's memories, for a key that may not list all.
	BaseURL  string
	APIKey   model.Secret
	UserID   string
	ReadOnly bool
	Clock    clock.Clock
}

// store holds the databases that exist.
type store struct {
	memories, entities records.Payloads
	history            string   // the table of earlier texts; empty: out of reach
	unknown            string   // why the history file is not written; empty: it may be
	python             bool     // the history has Python's columns,
	pastColumns        []string // all columns of the history, and of the messages
	spokenColumns      []string
	spoken             string // the table of messages; empty: there is none
}

// The names of the other files in a connection to the vector file.
const (
	historyName  = "history_file"
	entitiesName = "entity_file"
)

// Open opens a store. NotFound, InvalidInput and Unsupported as for locate.
func Open(ctx context.Context, c Config) (model.Store, error) {
	switch {
	case c.BaseURL != "":
		return openServer(ctx, c)
	case c.DSN.IsSet():
		return openCollection(ctx, c)
	}
	found, err := locate(ctx, c.Path, c.History, c.ReadOnly)
	if err != nil {
		return model.Store{}, err
	}
	s := &store{memories: records.LitePayloads("main.vectors"), python: found.python}
	if found.entities != "" {
		s.entities = records.LitePayloads(entitiesName + ".vectors")
	}
	switch {
	case found.history == "":
	case found.python:
		s.history = historyName + ".history"
	default:
		s.history, s.spoken = historyName+".memory_history", historyName+".messages"
	}
	var with []litefile.Attached
	for _, other := range []litefile.Attached{{Name: historyName, Path: found.history}, {Name: entitiesName, Path: found.entities}} {
		if other.Path != "" {
			with = append(with, other)
		}
	}
	f, err := litefile.Open(found.vectors, c.ReadOnly, with...)
	if err != nil {
		return model.Store{}, err
	}
	db := records.Lite{File: f}
	media, others, reason, err := found.media(ctx, f, c.ReadOnly)
	if err == nil {
		err = db.View(ctx, "open", func(tx records.Tx) error {
			return cmp.Or(s.look(tx), s.memories.Look(tx), s.entities.Look(tx))
		})
	}
	if err != nil {
		_ = closing{db, others}.Close() // the first error counts
		return model.Store{}, f.Explain(err)
	}
	store := records.New(s.config(c, records.Config{
		Location: c.Path, Files: []string{found.vectors, found.history, found.entities}, DB: closing{db, others}, ReadOnlyReason: cmp.Or(reason, s.unknown), Maintainer: ownerless{append(media, unreached.Named("other vector stores, model and embedding providers, telemetry, backups", "they lie outside of mem0's files: what was sent or copied there is erased where it lies")), db, s},
	}))
	store.Place = found.vectors
	return store, nil
}

// config fills in the parts that stores of files and of a collection share.
func (s *store) config(c Config, r records.Config) records.Config {
	r.Name, r.Kind, r.Clock, r.Tables = c.Name, Kind, c.Clock, s.tables()
	r.Notes = append(r.Notes, "an edit leaves the vector as it is: semantic recall finds the memory by its old meaning until mem0 embeds it again")
	r.Concerning, r.Observe = s.concerning, s.observe
	if s.history == "" {
		r.Notes = append(r.Notes, noHistory)
	}
	return r
}

// ownerless adds a layer to those of the files for what of the history is hidden: rows of deleted memories, which do
// not say whose they were (M06), or, where none was found, the history itself.
type ownerless struct {
	model.Maintainer
	db records.DB
	s  *store
}

// Layers lists the files, and the rows of unknown owners.
func (o ownerless) Layers(ctx context.Context) ([]model.Layer, error) {
	out, err := o.Maintainer.Layers(ctx)
	if err != nil {
		return nil, err
	}
	if o.s.history == "" {
		return append(out, model.Layer{ID: "history", Kind: model.LayerDerived, Reason: noHistory, Advice: "name the history file in the configuration (history = \"PATH\"), then plan again; without one, attest that there is none"}), nil
	}
	var n int64
	err = o.db.View(ctx, "layers", func(tx records.Tx) (err error) { n, err = o.s.ownerlessRows(tx); return err })
	if n > 0 {
		out = append(out, model.Layer{ID: "history, owner unknown", Kind: model.LayerExternal,
			Reason: fmt.Sprintf("%d rows of the history are of memories that are gone, and nothing says whose they were: those that name the person are removed, the others stay", n), Advice: "look at the history of deleted memories, and remove the rows of the person by hand"})
	}
	return out, err
}

// closing closes the store and the files that only its scrubs use.
type closing struct {
	records.Lite
	others []*litefile.File
}

func (c closing) Close() error {
	for _, f := range c.others {
		_ = f.Close()
	}
	return c.Lite.Close()
}

// media opens the files for maintenance and checks each for triggers: reason says why the store is read-only.
// The first is the store's own.
func (f files) media(ctx context.Context, db *litefile.File, readOnly bool) (media litefile.Media, others []*litefile.File, reason string, err error) {
	add := func(m litefile.Medium, path string, with ...litefile.Attached) {
		if path == "" || err != nil {
			return
		}
		if m.File == nil {
			if m.File, err = litefile.Open(path, readOnly, with...); err != nil {
				return
			}
			others = append(others, m.File)
		}
		err = m.File.GuardTriggers(ctx, nil)
		media, reason = append(media, m), cmp.Or(reason, m.File.ReadOnlyReason())
	}
	const gone = `COALESCE(memory_id, '') NOT IN (SELECT id FROM vector_file.vectors WHERE id IS NOT NULL)`
	add(litefile.Medium{File: db, Items: map[string][]string{"vectors": records.PayloadColumns}, Owners: []string{"user_id"}, Own: records.OwnRow(map[string]string{"": "vectors"}), Edited: true}, f.vectors)
	add(litefile.Medium{Items: messageTable, Tied: []string{"memory_id"}, Raw: func(_, id string) (string, bool) { return records.Unescape(id) }, NamedRows: map[string]string{"memory_history": gone, "history": gone}}, f.history,
		litefile.Attached{Name: "vector_file", Path: f.vectors})
	add(litefile.Medium{Owners: []string{"user_id"}, OwnedRows: map[string]string{"vectors": `json_valid(payload) AND CAST(json_extract(payload, '$.user_id') AS TEXT) = ?`}}, f.entities)
	return media, others, reason, err
}
