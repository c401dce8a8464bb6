package crewship

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-sqlite3"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// rankIndex is the full-text index of one place, as Crewship keeps it in
// index.sqlite (crewship-disk.md, Ranked recall), built in memory. Crewship's own
// file is not read: it lags behind the files, and a fresh one holds the same rows.
type rankIndex struct {
	db    *sql.DB
	files []indexed // in the order of their rows
	racy  bool      // a file was so new that its stamp may not tell of a change
	// tooBig and unreadable count the files that are not in the index.
	tooBig, unreadable int
}

// indexed is a file of an index and its stamp when it was read.
type indexed struct{ label, stamp string }

const (
	rankSchema = `CREATE VIRTUAL TABLE memory_chunks USING fts5(file UNINDEXED, content, tokenize='unicode61')`
	// indexesKept bounds the indexes that wait in memory for the next query.
	indexesKept = 64
)

// ranked gives the index of a place as its files are now. The caller holds the turn.
func (s *store) ranked(ctx context.Context, snap *snapshot, p *place) (*rankIndex, error) {
	dir, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	now := rankIndex{}
	for i := range snap.entries {
		e := &snap.entries[i]
		if e.place != p || !strings.HasSuffix(e.label, ".md") || e.tier == tierProposals || e.meta.Kind != rootdir.File {
			continue
		}
		if m, err := dir.Stat(e.label); err == nil {
			now.files = append(now.files, indexed{e.label, m.Stamp()})
			now.racy = now.racy || time.Since(m.Modified) < racy
		}
	}
	slices.SortFunc(now.files, func(a, b indexed) int { // as a walk meets them: each directory bytewise
		return slices.Compare(strings.Split(a.label, "/"), strings.Split(b.label, "/"))
	})
	kept := s.indexes[p.prefix]
	if kept != nil && !kept.racy && slices.Equal(kept.files, now.files) {
		return kept, nil
	}
	if err := now.build(ctx, dir); err != nil {
		return nil, err
	}
	if kept != nil {
		_ = kept.db.Close()
	} else if len(s.indexes) >= indexesKept {
		s.dropIndexes()
	}
	s.indexes[p.prefix] = &now
	return &now, nil
}

func (s *store) dropIndexes() {
	for _, x := range s.indexes {
		_ = x.db.Close()
	}
	clear(s.indexes)
}

func (x *rankIndex) build(ctx context.Context, dir *rootdir.Dir) (err error) {
	x.db = sql.OpenDB(connector{":memory:"})
	x.db.SetMaxOpenConns(1) // each connection would have a memory of its own
	defer func() {
		if err != nil {
			_ = x.db.Close()
			err = rankError(ctx, err)
		}
	}()
	if _, err := x.db.ExecContext(ctx, rankSchema); err != nil {
		return err
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	add, err := tx.PrepareContext(ctx, "INSERT INTO memory_chunks(file, content) VALUES (?, ?)")
	if err != nil {
		return err
	}
	for _, f := range x.files {
		data, _, err := dir.Read(f.label, readLimit)
		switch {
		case isTooLarge(err):
			x.tooBig++
		case errors.Is(err, model.NotFound), err == nil && !utf8.Valid(data):
		case err != nil:
			x.unreadable++
		}
		if err != nil || !utf8.Valid(data) {
			continue
		}
		for _, c := range chunks(string(data)) {
			if _, err := add.ExecContext(ctx, f.label, c); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

func rankError(ctx context.Context, err error) error {
	if cerr := model.FromContext(ctx, "recall"); cerr != nil {
		return cerr
	}
	return model.Errorf(model.Internal, "recall", "the search index in memory: %w", words(err))
}

// chunk is a row of an index.
type chunk struct{ label, text string }

// match calls yield with the matching rows, best first, until it returns false. An
// expression that FTS5 cannot read matches nothing, as upstream.
func (x *rankIndex) match(ctx context.Context, expr string, yield func(chunk) bool) error {
	rows, err := x.db.QueryContext(ctx, "SELECT file, content FROM memory_chunks WHERE memory_chunks MATCH ? ORDER BY rank", expr)
	if err == nil {
		defer rows.Close()
		for rows.Next() {
			var c chunk
			if err = rows.Scan(&c.label, &c.text); err != nil || !yield(c) {
				break
			}
		}
		if err == nil {
			err = rows.Err()
		}
	}
	var se sqlite3.Error
	if errors.As(err, &se) && se.Code == sqlite3.ErrError && ctx.Err() == nil {
		return nil
	}
	if err != nil {
		return rankError(ctx, err)
	}
	return nil
}

// matching are the labels of all files with a matching row.
func (x *rankIndex) matching(ctx context.Context, expr string) (map[string]bool, error) {
	out := map[string]bool{}
	rows, err := x.db.QueryContext(ctx, "SELECT DISTINCT file FROM memory_chunks WHERE memory_chunks MATCH ?", expr)
	if err != nil {
		return out, nil // match tells why
	}
	defer rows.Close()
	for rows.Next() {
		var label string
		if err := rows.Scan(&label); err != nil {
			return nil, rankError(ctx, err)
		}
		out[label] = true
	}
	return out, nil
}

// chunkSize is how many bytes of paragraphs make a chunk.
const chunkSize = 500

// chunks divides a text into rows: at second-level headings, and a longer section at
// its empty lines. One long paragraph stays whole.
func chunks(text string) []string {
	var out []string
	for _, section := range sections(text) {
		if len(section) <= chunkSize {
			out = append(out, section)
			continue
		}
		joined := ""
		for paragraph := range strings.SplitSeq(section, "\n\n") {
			switch paragraph = strings.TrimSpace(paragraph); {
			case paragraph == "":
			case joined == "":
				joined = paragraph
			case len(joined)+len("\n\n")+len(paragraph) > chunkSize:
				out = append(out, joined)
				joined = paragraph
			default:
				joined += "\n\n" + paragraph
			}
		}
		if joined != "" {
			out = append(out, joined)
		}
	}
	return out
}

func sections(text string) []string {
	var out []string
	from, at := 0, 0
	take := func(to int) {
		if s := strings.TrimSpace(text[from:to]); s != "" {
			out = append(out, s)
		}
		from = to
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "## ") {
			take(at)
		}
		at += len(line)
	}
	take(at)
	return out
}
