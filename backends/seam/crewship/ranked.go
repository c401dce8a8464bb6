package crewship

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-sqlite3"

	"memdesk/backends/seam/internal/linesearch"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// rankIndex is the full-text index of one memory directory, as Crewship keeps it in index.sqlite
// (crewship-disk.md, Ranked recall), built in memory for one query: only of the files that can match, with
// the totals of all, from which ranks are computed. Crewship's own file replaces it where that is fresh
// (indexed).
type rankIndex struct {
	db   *sql.DB // nil when no file can match
	rows []rowsOf
	// texts are the rows in the order of their row ids: the index in memory holds their short forms.
	texts []string
	// count and tokens are of the rows that cannot match and are not in db.
	count, tokens int64
	// tooBig and unreadable count the files that are not in the index.
	tooBig, unreadable int
}

// rowsOf are the rows of one file.
type rowsOf struct {
	label string
	order string // the label, so that it sorts in the order of a walk: each directory bytewise
	rows  []rankRow
}

// rankRow is a row, and the form of it that goes into the index (others).
type rankRow struct{ text, short string }

const rankSchema = `CREATE VIRTUAL TABLE memory_chunks USING fts5(file UNINDEXED, content, tokenize='unicode61')`

// ranked builds the index of a memory directory for the words of a query. The caller closes it.
func (s *store) ranked(ctx context.Context, snap *snapshot, p *memoryDir, words []string) (*rankIndex, error) {
	dir, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	tree := snap.of(p).tree
	x := &rankIndex{}
	var mu sync.Mutex
	q, rest := linesearch.AnyOf(words), othersOf(words)
	err = rootdir.InParallel(ctx, "recall", dir, tree.Len(), func(files *rootdir.Files, i int) error {
		f := tree.At(i)
		if !isRanked(f) {
			return nil
		}
		data, _, err := files.Read(f.Place(), texts.ReadLimit)
		if err != nil {
			if m, ok := walk.Stat(files, f.Place()); !ok || m.Kind != rootdir.File { // a walk of names takes all for files
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case isTooLarge(err):
				x.tooBig++
			case !errors.Is(err, model.NotFound):
				x.unreadable++
			}
			return nil
		}
		found, plain := q.In(data)
		if !plain && !utf8.Valid(data) {
			return nil
		}
		count, n := int64(0), int64(0)
		if !found {
			n = countTokens(data)
		}
		var rows []rankRow
		for row := range chunks(data) {
			if !found {
				count++
				continue
			}
			text := string(bytes.Join(row, paragraphs))
			short, tokens, in := rest.in(text)
			if in {
				rows = append(rows, rankRow{text, short})
				continue
			}
			count++
			n += tokens
		}
		mu.Lock()
		defer mu.Unlock()
		if len(rows) > 0 {
			x.rows = append(x.rows, rowsOf{f.Path(), strings.ReplaceAll(f.Path(), "/", "\x00"), rows})
		}
		x.count += count
		x.tokens += n
		return nil
	})
	if err != nil || len(x.rows) == 0 {
		return x, err
	}
	slices.SortFunc(x.rows, func(a, b rowsOf) int { return strings.Compare(a.order, b.order) })
	return x, x.build(ctx)
}

// isRanked reports whether Crewship indexes a file, as far as the walk tells.
func isRanked(f walk.File) bool {
	return strings.HasSuffix(f.Name(), ".md") && tierAt(f) != tierProposals && f.Kind() == rootdir.File
}

func (x *rankIndex) close() {
	if x.db != nil {
		_ = x.db.Close()
	}
}

func (x *rankIndex) build(ctx context.Context) (err error) {
	x.db = sql.OpenDB(connector{":memory:"})
	x.db.SetMaxOpenConns(1) // each connection would have a memory of its own
	defer func() {
		if err != nil {
			x.close()
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
	for _, f := range x.rows {
		for _, row := range f.rows {
			if _, err := add.ExecContext(ctx, f.label, row.short); err != nil {
				return err
			}
			x.texts = append(x.texts, row.text)
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return x.addRest(ctx)
}

// others shortens the words of a row that are none of a query's. A rank depends on their number, not on their
// letters, and the index of one word is small.
type others struct {
	words []string // of the query, in lower case
	short string   // stands for each other word; empty: they stay
}

// othersOf finds a digit with which no word of the query begins.
func othersOf(words []string) others {
	firsts := ""
	for _, w := range words {
		if strings.ContainsFunc(w, isForeign) {
			return others{}
		}
		firsts += w[:1]
	}
	for _, c := range "0123456789" {
		if !strings.ContainsRune(firsts, c) {
			return others{words, string(c)}
		}
	}
	return others{}
}

// in returns a row with its other words shortened, and the number of its words. found is false for a row in which all are
// others. A word with a foreign character stays: FTS5 alone tells where it ends.
func (o others) in(row string) (short string, n int64, found bool) {
	if o.short == "" {
		return row, 0, true
	}
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(row, func(r rune) bool { return !isForeign(r) && !isLetter(r) }) {
		n++
		if strings.ContainsFunc(word, isForeign) || slices.ContainsFunc(o.words, func(w string) bool { return mayBegin(word, w) }) {
			found = true
		} else {
			word = o.short
		}
		b.WriteString(word)
		b.WriteByte(' ')
	}
	return b.String(), n, found
}

// isForeign reports whether a character is none of those for which Go and FTS5 agree: Latin letters, digits, signs. FTS5
// folds each of them to one letter, which may be ASCII.
func isForeign(r rune) bool { return r >= 0x250 && (r < 0x2010 || r > 0x205e) && r != '€' }

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// mayBegin reports whether a word can begin with a word of the query, of which a letter beyond ASCII may be any other.
func mayBegin(word, of string) bool {
	for _, want := range of {
		r, n := utf8.DecodeRuneInString(word)
		if n == 0 || r < utf8.RuneSelf && want < utf8.RuneSelf && unicode.ToLower(r) != want {
			return false
		}
		word = word[n:]
	}
	return true
}

// addRest adds the rows that are not in the index to its record of totals: the numbers of rows, of tokens
// of the unindexed column and of tokens of the text. The index counts its own tokens: for letters and marks
// of other scripts its tables are not those of Go.
func (x *rankIndex) addRest(ctx context.Context) error {
	var totals []byte
	if err := x.db.QueryRowContext(ctx, "SELECT block FROM memory_chunks_data WHERE id = 1").Scan(&totals); err != nil {
		return err
	}
	count, rest := readVarint(totals)
	files, rest := readVarint(rest)
	tokens, _ := readVarint(rest)
	totals = appendVarint(appendVarint(appendVarint(nil, count+x.count), files), tokens+x.tokens)
	_, err := x.db.ExecContext(ctx, "UPDATE memory_chunks_data SET block = ? WHERE id = 1", totals)
	return err
}

// appendVarint appends a number as SQLite writes it: seven bits a byte, the highest
// first. A number of more than 56 bits does not occur.
func appendVarint(b []byte, v int64) []byte {
	for shift := 49; shift > 0; shift -= 7 {
		if v>>shift != 0 {
			b = append(b, byte(v>>shift)|0x80)
		}
	}
	return append(b, byte(v)&0x7f)
}

// readVarint reads a number that appendVarint wrote, and returns the bytes after it.
func readVarint(b []byte) (v int64, rest []byte) {
	for i, c := range b {
		if v = v<<7 | int64(c&0x7f); c < 0x80 {
			return v, b[i+1:]
		}
	}
	return v, nil
}

// countTokens counts the runs of letters and digits in an ASCII text, as the tokenizer does, eight bytes at a time.
func countTokens(text []byte) (n int64) {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
	)
	within := func(w, first, last uint64) uint64 { return (w + (0x80-first)*ones) &^ (w + (0x7f-last)*ones) & high }
	in := uint64(0) // the high bit of its lowest byte: the text before ends within a token
	for len(text) > 0 {
		var eight [8]byte
		text = text[copy(eight[:], text):]
		w := binary.LittleEndian.Uint64(eight[:])
		tokens := within(w|0x20*ones, 'a', 'z') | within(w, '0', '9') // the high bit of each byte of one
		n += int64(bits.OnesCount64(tokens &^ (tokens<<8 | in)))
		in = tokens >> 56
	}
	return n
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
	rows, err := x.db.QueryContext(ctx, "SELECT rowid, file, content FROM memory_chunks WHERE memory_chunks MATCH ? ORDER BY rank", expr)
	if err == nil {
		defer rows.Close()
		for rows.Next() {
			var c chunk
			var id int
			if err = rows.Scan(&id, &c.label, &c.text); err != nil {
				break
			}
			if x.texts != nil {
				c.text = x.texts[id-1]
			}
			if c.text = strings.ToValidUTF8(c.text, "\uFFFD"); !yield(c) {
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
		return out, nil // match returns the reason
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

// chunkSize is the size of a chunk of paragraphs, in bytes.
const chunkSize = 500

// heading opens a section, paragraphs are divided by an empty line.
var heading, paragraphs = []byte("\n## "), []byte("\n\n")

// chunks divides a text into rows: at second-level headings, and a longer section at its empty lines. One
// long paragraph stays whole. It yields the paragraphs of each row, which are valid until it goes on.
func chunks(text []byte) iter.Seq[[][]byte] {
	return func(yield func([][]byte) bool) {
		var row [][]byte
		for section := range sections(text) {
			if len(section) <= chunkSize {
				if row = append(row[:0], section); !yield(row) {
					return
				}
				continue
			}
			row = row[:0]
			size := 0 // of the row, with an empty line behind it
			for p := range bytes.SplitSeq(section, paragraphs) {
				if p = bytes.TrimSpace(p); len(p) == 0 {
					continue
				}
				if size > 0 && size+len(p) > chunkSize {
					if !yield(row) {
						return
					}
					row, size = row[:0], 0
				}
				row = append(row, p)
				size += len(p) + len(paragraphs)
			}
			if size > 0 && !yield(row) {
				return
			}
		}
	}
}

func sections(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			section := text
			if i := bytes.Index(text, heading); i >= 0 {
				section = text[:i+1]
			}
			text = text[len(section):]
			if section = bytes.TrimSpace(section); len(section) > 0 && !yield(section) {
				return
			}
		}
	}
}
