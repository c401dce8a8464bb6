package gdpr_test

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"memdesk/backends"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// utf16le is a text as some editors save it.
func utf16le(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

// wide writes ASCII in full-width letters.
func wide(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r + 0xfee0
		}
		return r
	}, s)
}

// percented writes every byte as an escape.
func percented(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

// vector is an embedding that identifies its node in a file's bytes.
func vector(seed byte) []byte {
	var b []byte
	for i := range 8 {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(seed)+float32(i)/7))
	}
	return b
}

// needlesOf returns the encodings of a word that must not be found. It does not use the program's own search
// code.
func needlesOf(word string) map[string][]byte {
	out := map[string][]byte{"clear": []byte(word), "upper case": []byte(strings.ToUpper(word)), "utf-16le": []byte(utf16le(word)[2:]), "full width": []byte(wide(word)),
		"percent": []byte(percented(word)), "percent, lower case": []byte(strings.ToLower(percented(word))), "hex": []byte(hex.EncodeToString([]byte(word)))}
	be := []byte(utf16le(word)[2:])
	for i := 0; i+1 < len(be); i += 2 {
		be[i], be[i+1] = be[i+1], be[i]
	}
	out["utf-16be"] = be
	for skip := range 3 {
		enc := base64.StdEncoding.EncodeToString(append(bytes.Repeat([]byte{' '}, skip), word+"   "...))
		out[fmt.Sprint("base64 at ", skip)] = []byte(enc[(skip*8+5)/6 : (skip+len(word))*8/6])
	}
	return out
}

// execAll runs statements on another program's database.
func execAll(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
}

// recurse plants two live databases of another program: one last written through a write-ahead log that
// still exists, one with a kept rollback journal.
func (c *canaries) recurse(t *testing.T, w *world) {
	t.Helper()
	schema, err := os.ReadFile(filepath.Join("..", "backends", "hypergraph", "sqlite", "testdata", "recurse.sql"))
	if err != nil {
		t.Fatal(err)
	}
	more := `CREATE TABLE node_embeddings (node_id TEXT PRIMARY KEY, embedding BLOB NOT NULL, model TEXT NOT NULL, dimensions INTEGER NOT NULL);
		CREATE TABLE proposals (id TEXT PRIMARY KEY, type TEXT NOT NULL, title TEXT NOT NULL, description TEXT, rationale TEXT, evidence TEXT, status TEXT DEFAULT 'pending');
		CREATE TABLE projects (id TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT)`
	build := t.TempDir()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(build, "rlm.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	execAll(t, db, "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", string(schema), more)
	for i, of := range []func(string) string{c.her, c.him} {
		node := func(id, content, provenance, meta, tier string) string {
			return fmt.Sprintf(`INSERT INTO nodes (id, type, content, provenance, metadata, tier, confidence) VALUES ('%s%d', 'fact', '%s', '%s', '%s', '%s', 0.9)`, id, i, content, provenance, meta, tier)
		}
		tied := of("recurse vector's node")
		execAll(t, db,
			node("rn", "prefers "+of("recurse node"), "", "{}", "task"),
			node("rp", "a line", `{"source":"call with `+of("recurse provenance")+`"}`, "{}", "task"),
			node("rm", "another line", "{}", `{"who":"`+of("recurse metadata")+`"}`, "longterm"),
			node("ra", "was about "+of("recurse archived tier"), "", "{}", "archive"),
			node("rv", "likes "+tied, "", "{}", "session"),
			node("rd", "a goal", "", "{}", "session"),
			fmt.Sprintf(`UPDATE nodes SET type = 'decision', subtype = 'goal' WHERE id = 'rd%d'`, i),
			fmt.Sprintf(`INSERT INTO node_embeddings VALUES ('rv%d', X'%x', 'm', 8)`, i, vector(byte(3+i))),
			fmt.Sprintf(`INSERT INTO decisions (node_id, decision_type, prompt) VALUES ('rd%d', 'goal', 'asked by %s')`, i, of("recurse decision's prompt")),
			fmt.Sprintf(`INSERT INTO hyperedges (id, type, label) VALUES ('re%d', 'relation', 'a friend of %s')`, i, of("recurse edge label")),
			fmt.Sprintf(`INSERT INTO membership VALUES ('re%d', 'a-rfc', 'subject', 0), ('re%d', 'c-space', 'object', 1)`, i, i),
			fmt.Sprintf(`INSERT INTO hyperedges (id, type, label, metadata) VALUES ('rf%d', 'context', 'x', '{"for":"%s"}')`, i, of("recurse edge metadata")),
			fmt.Sprintf(`INSERT INTO membership VALUES ('rf%d', 'a-rfc', 'context', 0)`, i),
			fmt.Sprintf(`INSERT INTO evolution_log (operation, node_ids, reasoning) VALUES ('decay', '["x"]', 'decayed: %s is quiet')`, of("recurse evolution log")),
			fmt.Sprintf(`INSERT INTO proposals (id, type, title, description) VALUES ('p%d', 'new_subtype', 't', 'for %s')`, i, of("recurse proposal")),
			fmt.Sprintf(`INSERT INTO projects (id, path, name) VALUES ('j%d', '/home/%s/src', 'x')`, i, of("recurse project")),
			node("rg", "once "+of("recurse free pages"), "", "{}", "task"),
			fmt.Sprintf(`DELETE FROM nodes WHERE id = 'rg%d'`, i))
	}
	for i := range 30 {
		execAll(t, db, fmt.Sprintf(`INSERT INTO nodes (id, type, content) VALUES ('q%d', 'fact', 'note %d on bridges')`, i, i))
	}
	for _, name := range []string{"rlm.db", "rlm.db-wal"} { // the state that a killed program leaves
		copyFile(t, filepath.Join(build, name), filepath.Join(w.dir, "recurse", name))
	}
	kept, err := sql.Open("sqlite3", "file:"+filepath.Join(w.dir, "recurse", "kept.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	kept.SetMaxOpenConns(1)
	execAll(t, kept, "PRAGMA journal_mode = PERSIST", string(schema), more)
	for i, of := range []func(string) string{c.her, c.him} {
		execAll(t, kept, fmt.Sprintf(`INSERT INTO nodes (id, type, content) VALUES ('k%d', 'fact', 'now and then %s')`, i, of("recurse kept journal")))
	}
	for i := range 30 {
		execAll(t, kept, fmt.Sprintf(`INSERT INTO nodes (id, type, content) VALUES ('q%d', 'fact', 'note %d on piers')`, i, i))
	}
	execAll(t, kept, "UPDATE nodes SET access_count = access_count + 1") // every page goes through the journal
	w.more = append(w.more, backends.StoreConfig{Name: "rlm", Kind: "sqlite", Path: filepath.Join(w.dir, "recurse", "rlm.db")},
		backends.StoreConfig{Name: "kept", Kind: "sqlite", Path: filepath.Join(w.dir, "recurse", "kept.db")})
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}

func (c *canaries) putPostgres(t *testing.T, w *world) {
	t.Helper()
	for i, of := range []func(string) string{c.her, c.him} {
		n := func(s string) string { return fmt.Sprint(s, i) }
		put := func(req model.RetainRequest) {
			t.Helper()
			req.Mode = model.Replace
			if _, err := w.store("pg").Provider.Retain(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		put(model.RetainRequest{ID: n("pn"), Tier: "task", Content: "prefers " + of("postgres node")})
		put(model.RetainRequest{ID: n("pt"), Tier: "session", Content: "tea", DataSubjectID: of("postgres subject")})
		put(model.RetainRequest{ID: n("pm"), Tier: "archive", Content: "x", Meta: []model.Field{{Name: "provenance", Value: `{"by":"` + of("postgres metadata") + `"}`}}})
		put(model.RetainRequest{ID: n("po"), Tier: "task", Content: "once " + of("postgres dead row") + strings.Repeat(" and more", 400)})
		put(model.RetainRequest{ID: n("po"), Tier: "task", Content: "quiet now"})
	}
	for i := range 30 {
		if _, err := w.store("pg").Provider.Retain(t.Context(), model.RetainRequest{ID: fmt.Sprint("q", i), Tier: "task", Mode: model.Replace, Content: "a note on tides"}); err != nil {
			t.Fatal(err)
		}
	}
}

// serverFiles are the files of the server's data directory that this user may read, with their bytes.
// They exclude the server's own log: a receipt names it as out of reach.
func serverFiles(t *testing.T) map[string][]byte {
	t.Helper()
	u, err := url.Parse(os.Getenv("MEMDESK_GDPR_DSN"))
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSuffix(testpg.Value(t, u.String(), "SHOW data_directory"), "/")
	out := map[string][]byte{}
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(path, "log") && !strings.Contains(path, "pg_wal") {
			return nil
		}
		if b, err := os.ReadFile(path); err == nil {
			out[path] = b
		}
		return nil
	})
	return out
}
