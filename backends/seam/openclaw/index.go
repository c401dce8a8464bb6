package openclaw

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/seam/internal/media"
	"memdesk/backends/seam/internal/notes"
	"memdesk/model"
)

const indexName = "openclaw-agent.sqlite"

// indexes are the agents' databases.
func indexes(dir string) map[string]string {
	out := map[string]string{}
	for _, f := range notes.Glob(dir, "agents/*/agent/"+indexName) {
		id := filepath.Base(filepath.Dir(filepath.Dir(f)))
		if info, err := os.Lstat(f); err == nil && info.Mode().IsRegular() {
			out[id] = path.Join("agents", id, "agent", indexName)
		}
	}
	return out
}

// origin is the index's entry for one file.
type origin struct {
	class, session string
	observed       int64 // seconds since 1970, the newest
	importance     int64 // the highest; 0: none
}

// provenance is one index's entries for all files.
type provenance struct {
	stamp  string // of the database when it was read
	files  map[string]origin
	failed time.Time // of the last failed read
}

// retry is the pause before an unreadable database is read again.
const retry = 2 * time.Second

// classes, from the least trusted; any other value of a database is unknown.
var classes = []string{"untrusted", "agent", "system", "owner"}

const unknown = "unknown"

// meta are the index's fields of an item (OC6).
func (s *store) meta(ctx context.Context, id string) []model.Field {
	a, file, ok := s.at(id)
	if !ok {
		return nil
	}
	o, ok := s.origins(ctx, a.id)[file]
	if !ok {
		o = origin{class: unknown, session: unknown}
	}
	field := func(name, value string) model.Field { return model.Field{Name: name, Value: value, ReadOnly: true} }
	out := []model.Field{field("origin_class", o.class), field("session_kind", o.session)}
	if o.observed > 0 {
		out = append(out, field("observed_at", time.Unix(o.observed, 0).UTC().Format(time.RFC3339)))
	}
	if o.importance > 0 {
		out = append(out, field("importance", strconv.FormatInt(o.importance, 10)))
	}
	return out
}

// origins are the entries of an agent's index, read again when the database has changed. An unreadable
// database says nothing (OC7); Health reports it.
func (s *store) origins(ctx context.Context, agent string) map[string]origin {
	at := s.indexes[agent]
	if at == "" {
		return nil
	}
	file := filepath.Join(s.path, filepath.FromSlash(at))
	stamp := stampOf(file) + stampOf(file+"-wal")
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[agent]
	if known.stamp == stamp || time.Since(known.failed) < retry {
		return known.files
	}
	files, err := readOrigins(ctx, file)
	switch {
	case err != nil && ctx.Err() != nil: // this caller left, and that says nothing about the database
		return known.files
	case err != nil:
		s.known[agent] = provenance{failed: time.Now()}
		return nil
	}
	s.known[agent] = provenance{stamp: stamp, files: files}
	return files
}

func stampOf(file string) string {
	info, err := os.Lstat(file)
	if err != nil {
		return "-"
	}
	return strconv.FormatInt(info.ModTime().UnixNano(), 36) + "." + strconv.FormatInt(info.Size(), 36) + " "
}

// reading runs fn on a database opened for reading, without traces. The index only adds to an item, so no
// reader waits for a lock on it (OC7).
func reading(ctx context.Context, file string, fn func(*litefile.Query) error) error {
	f, err := litefile.Open(file, true)
	if err != nil {
		return err
	}
	return errors.Join(f.View(litefile.Impatient(ctx), "read", fn), f.Close())
}

const selectOrigins = `SELECT c.path, COALESCE(p.origin_class, ''), COALESCE(p.session_kind, ''), COALESCE(p.observed_at, 0), COALESCE(r.importance, 0)
	FROM memory_index_chunks c
	LEFT JOIN memory_index_chunk_provenance p ON p.chunk_id = c.id
	LEFT JOIN memory_index_chunk_recall_metadata r ON r.chunk_id = c.id
	WHERE c.source = 'memory'`

func readOrigins(ctx context.Context, file string) (out map[string]origin, err error) {
	err = reading(ctx, file, func(q *litefile.Query) error {
		out = map[string]origin{}
		return q.Each(selectOrigins, nil, func(scan func(...any) error) error {
			var at, class, session string
			var observed, importance int64
			if err := scan(&at, &class, &session, &observed, &importance); err != nil {
				return err
			}
			if !slices.Contains(classes, class) {
				class, session = unknown, unknown
			}
			o, seen := out[at]
			switch {
			case !seen:
				o = origin{class: class, session: session}
			case rank(class) < rank(o.class):
				o.class, o.session = class, session
			}
			o.observed, o.importance = max(o.observed, seconds(observed)), max(o.importance, importance)
			out[at] = o
			return nil
		})
	})
	return out, err
}

// rank orders classes from the least trusted; a chunk of unknown class makes its file unknown.
func rank(class string) int { return slices.Index(classes, class) }

// seconds accepts times in milliseconds too.
func seconds(t int64) int64 {
	if t > 1e11 {
		return t / 1000
	}
	return t
}

// database is an agent's index as a medium (OC12, OC13).
func (s *store) database(agent string) *media.Database {
	d := &media.Database{
		Path: filepath.Join(s.path, filepath.FromSlash(s.indexes[agent])), Layer: "index:" + agent,
		Apart: conversationTables, ApartLayer: transcripts + agent,
		Reason: "the conversations in " + strings.Join(conversationTables, ", ") + " of agent " + agent + ": delete the session in OpenClaw" + advice,
	}
	files := func(removed []string) (out []string) {
		for _, id := range removed {
			for _, dir := range s.homes[agent] {
				if rest, in := strings.CutPrefix(id, dir+"/"); in {
					out = append(out, rest)
				}
			}
		}
		return out
	}
	if s.redact {
		d.Reason = ""
	}
	d.Medium = func(f *litefile.File) litefile.Medium {
		m := litefile.Medium{File: f, Rows: func(q *litefile.Query, req model.ScrubRequest) ([]model.LayerResult, error) {
			var out []model.LayerResult
			if s.redact {
				var err error
				if out, err = repack(q, f.Name, req); err != nil {
					return nil, err
				}
			}
			chunks, err := dropChunks(q, f.Name, files(req.Removed), files(req.Held), req)
			return append(out, chunks...), err
		}, TiedRows: s.tied(agent),
			NamedRows: map[string]string{"memory_index_chunks_fts": "true", "memory_index_paths_fts": "true"}} // one without its chunk is a copy of the memory
		if !s.redact { // left unchanged
			m.Items = map[string][]string{}
			for _, table := range conversationTables {
				m.Items[table] = nil
			}
		}
		return m
	}
	d.Tied = func(ctx context.Context, f *litefile.File, removed []string) (tied bool, err error) {
		err = f.View(ctx, "scrub", func(q *litefile.Query) error {
			for _, file := range files(removed) {
				var n int64
				if _, err := q.One(`SELECT count(*) FROM memory_index_chunks WHERE path = ?`, []any{file}, &n); err != nil {
					return err
				}
				tied = tied || n > 0
			}
			return nil
		})
		return tied, err
	}
	return d
}

// tied are the ids of the notes to which rows of an agent's index belong.
func (s *store) tied(agent string) map[string][]string {
	const ofChunk = `(SELECT c.path FROM memory_index_chunks c WHERE c.id = chunk_id)`
	out := map[string][]string{}
	for table, file := range map[string]string{
		"memory_index_chunks": "path", "memory_index_sources": "path", "memory_index_chunks_fts": "path", "memory_index_paths_fts": "path",
		"memory_index_chunk_provenance": ofChunk, "memory_index_chunk_recall_metadata": ofChunk,
	} {
		for _, dir := range s.homes[agent] {
			out[table] = append(out[table], `'`+strings.ReplaceAll(dir, `'`, `''`)+`/' || `+file)
		}
	}
	return out
}

const transcriptTable = "transcript_events"

// chunk is a row of memory_index_chunks.
type chunk struct {
	id, path, hash string
	row            int64
}

// dropChunks removes the chunks that name the subject or belong to a removed file, with their full-text
// rows, provenance, recall metadata, source rows and cached embeddings. Those of a file on hold stay.
func dropChunks(q *litefile.Query, layer string, removed, held []string, req model.ScrubRequest) ([]model.LayerResult, error) {
	res := model.LayerResult{Layer: layer, Method: "chunks removed with their full-text, provenance, source and cache rows", Verdict: model.VerdictClean}
	concerns := func(text string) bool { return req.Concerns != nil && req.Concerns([]byte(text)) }
	var gone []chunk
	kept := map[string]bool{} // what ties other rows to the chunks that stay
	err := q.Each(`SELECT rowid, id, path, hash, text FROM memory_index_chunks`, nil, func(scan func(...any) error) error {
		var c chunk
		var text string
		err := scan(&c.row, &c.id, &c.path, &c.hash, &text)
		if slices.Contains(held, c.path) {
			kept[c.id], kept[c.hash], kept[c.path] = true, true, true
			return err
		}
		if err == nil && (slices.Contains(removed, c.path) || concerns(text) || concerns(c.path) || concerns(c.id)) {
			gone = append(gone, c)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	fts, err := litefile.Columns(q, "memory_index_chunks_fts")
	if err != nil {
		return nil, err
	}
	for _, c := range gone {
		if slices.Contains(fts, "id") {
			_, err = q.Exec(`DELETE FROM memory_index_chunks_fts WHERE id = ?`, c.id)
		} else if len(fts) > 0 {
			_, err = q.Exec(`DELETE FROM memory_index_chunks_fts WHERE rowid = ?`, c.row)
		}
		if err != nil {
			return nil, err
		}
		for _, d := range []struct{ table, column, value string }{
			{"memory_index_chunk_provenance", "chunk_id", c.id}, {"memory_index_chunk_recall_metadata", "chunk_id", c.id},
			{"memory_embedding_cache", "hash", c.hash}, {"memory_index_sources", "path", c.path}, {"memory_index_chunks", "id", c.id},
		} {
			if kept[d.value] { // the same text stays elsewhere
				continue
			}
			if there, err := litefile.Columns(q, d.table); err != nil || len(there) == 0 { // another version lacks it
				if err != nil {
					return nil, err
				}
				continue
			}
			n, err := q.Exec(`DELETE FROM `+d.table+` WHERE `+d.column+` = ?`, d.value)
			if err != nil {
				return nil, err
			}
			res.Rows += n
		}
	}
	return []model.LayerResult{res}, nil
}
