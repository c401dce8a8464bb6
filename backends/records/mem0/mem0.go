// Package mem0 opens the SQLite files of mem0: memories with their vectors, messages, history and entities (mem0.md). A forgotten
// memory leaves the history and the entities too, which mem0's own delete does not do.
package mem0

import (
	"cmp"
	"context"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the name of this kind in a configuration.
const Kind = "mem0"

// Config says which files to open and how.
type Config struct {
	Name string
	// Path is a folder, or the vector file.
	Path string
	// History is the history file; empty: it is looked for beside the vectors.
	History  string
	ReadOnly bool
	Clock    clock.Clock
}

// store is what of the files there is.
type store struct {
	files
	db records.Lite
}

// The names under which a connection to the vector file sees the others.
const (
	historyName  = "history_file"
	entitiesName = "entity_file"
)

// Open opens a store. NotFound, InvalidInput and Unsupported as locate says.
func Open(ctx context.Context, c Config) (model.Store, error) {
	found, err := locate(ctx, c.Path, c.History)
	if err != nil {
		return model.Store{}, err
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
	s := &store{files: found, db: records.Lite{File: f}}
	media, reason, err := s.open(ctx, readOnly)
	if err != nil {
		_ = f.Close() // the first error is the one that counts
		return model.Store{}, f.Explain(err)
	}
	notes := []string{"an edit leaves the vector as it is: semantic recall finds the memory by its old meaning until mem0 embeds it again"}
	if found.history == "" {
		notes = append(notes, "no history file was found: what mem0 keeps of earlier texts is not reached")
	}
	return records.New(records.Config{
		Name: c.Name, Kind: Kind, Location: c.Path, DB: closing{s.db, media}, Tables: s.tables(), ReadOnlyReason: reason, Clock: c.Clock,
		Notes: notes, Concerning: s.concerning, Observe: s.observe, History: s.history(), Maintainer: media,
	}), nil
}

// history is the store's own record of earlier texts; nil where there is no file.
func (s *store) history() model.History {
	if s.files.history == "" {
		return nil
	}
	return revisions{s}
}

// open opens the files for maintenance and looks for triggers in each: reason says why the store
// is read-only.
func (s *store) open(ctx context.Context, readOnly bool) (media litefile.Media, reason string, err error) {
	if media, err = s.media(readOnly); err != nil {
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
func (s *store) media(readOnly bool) (litefile.Media, error) {
	out := litefile.Media{{File: s.db.File, Items: []string{"vectors"}, Owners: []string{"user_id"},
		Edited: func(id string) (string, string, string) { return "vectors", "id", id }}}
	if s.files.history != "" {
		f, err := litefile.Open(s.files.history, readOnly, litefile.Attached{Name: "vector_file", Path: s.vectors})
		if err != nil {
			return nil, err
		}
		const gone = `memory_id NOT IN (SELECT id FROM vector_file.vectors)`
		out = append(out, litefile.Medium{File: f, Items: []string{"messages"}, Tied: []string{"memory_id"}, NamedRows: map[string]string{"memory_history": gone, "history": gone}})
	}
	if s.entities != "" {
		f, err := litefile.Open(s.entities, readOnly)
		if err != nil {
			return nil, err
		}
		out = append(out, litefile.Medium{File: f, Owners: []string{"user_id"}, OwnedRows: map[string]string{"vectors": `json_valid(payload) AND json_extract(payload, '$.user_id') = ?`}})
	}
	return out, nil
}
