package gdpr_test

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

func verdictOf(rows []receipt.Layer, layer string) model.Verdict {
	for _, l := range rows {
		if l.Layer == layer {
			return l.Verdict
		}
	}
	return ""
}

// TestABystandersRecords: a binary file and a binary cell that hold only another person's longer id stay byte for byte,
// because an item explains the word; those that hold the subject's own go.
func TestABystandersRecords(t *testing.T) {
	record := func(id string) string { return "\x00\x01\x02\x03\x00" + id + "\x00\x00\xff\xfe\x00\x01" }
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/o.md": "this is " + ana + "2\n", "v/hers.md": "of " + ana + "\n", "v/bob.bin": record(ana + "2"), "v/hers.bin": record("x" + ana), "v/.o.md.bak": record(ana + "2")})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "v")}}
	w.put("db", model.RetainRequest{Tier: "session", Key: "o", Content: "this is " + ana + "2"})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
	db, err := sql.Open("sqlite3", "file:"+w.path("db"))
	if err != nil {
		t.Fatal(err)
	}
	execAll(t, db, `CREATE TABLE cache(k TEXT PRIMARY KEY, v BLOB)`)
	for k, id := range map[string]string{"bob": ana + "2", "hers": "x" + ana} {
		if _, err := db.Exec(`INSERT INTO cache VALUES(?, ?)`, k, []byte(record(id))); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.complete(w.plan(w.file().ID))
	for name, stays := range map[string]bool{"v/bob.bin": true, "v/.o.md.bak": true, "v/hers.bin": false} {
		if _, err := os.Stat(filepath.Join(w.dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v; want it to stay: %v", name, err, stays)
		}
	}
	if db, err = sql.Open("sqlite3", "file:"+w.path("db")); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for k, want := range map[string]string{"bob": record(ana + "2"), "hers": ""} {
		var got []byte
		if err := db.QueryRow(`SELECT v FROM cache WHERE k = ?`, k).Scan(&got); err != nil || string(got) != want {
			t.Errorf("cell %s: %q, %v; want %q", k, got, err, want)
		}
	}
}

// TestForeignBlobs erases a subject from binary cells in another program's table: a redactable cell
// must keep the rest, any other must go, and one that names a bystander must stay.
func TestForeignBlobs(t *testing.T) {
	m, err := subject.New(name)
	if err != nil {
		t.Fatal(err)
	}
	packed := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	wide := func(text string) (out []byte) {
		for _, c := range []byte(text) {
			out = append(out, c, 0)
		}
		return out
	}
	record := func(text string) []byte {
		return append([]byte{0, 1, 2, 3, 0, byte(len(text))}, append([]byte(text), 0, 0, 0xff, 0xfe, 0, 1)...)
	}
	for form, of := range map[string]func(string) []byte{
		"text":   func(s string) []byte { return []byte(s) },
		"record": record, "packed": packed, "wide": wide,
		"joined":           func(s string) []byte { return record("x" + s + "y") },
		"packed in record": func(s string) []byte { return append([]byte{0, 9, 0, 7}, packed(s)...) },
		"packed twice":     func(s string) []byte { return packed(string(packed(s))) },
	} {
		for where, items := range map[string]bool{"beside an item": true, "alone": false} {
			t.Run(form+" "+where, func(t *testing.T) {
				w := newWorld(t)
				w.put("db", model.RetainRequest{Tier: "session", Key: "n0", Content: "prefers tea"})
				if items {
					w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
				}
				db, err := sql.Open("sqlite3", "file:"+w.path("db"))
				if err != nil {
					t.Fatal(err)
				}
				execAll(t, db, `CREATE TABLE cache(k TEXT PRIMARY KEY, v BLOB)`)
				for k, v := range map[string][]byte{"theirs": of("we met " + name + " there"), "other": of("we met " + other + " there")} {
					if _, err := db.Exec(`INSERT INTO cache VALUES(?, ?)`, k, v); err != nil {
						t.Fatal(err)
					}
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				w.open()
				r := w.file()
				p := w.plan(r.ID)
				if !slices.ContainsFunc(p.Stores[0].Steps, func(st gdpr.Step) bool {
					return st.ID == "memory.sqlite:cache" && st.Action == gdpr.Scrub
				}) {
					t.Errorf("the plan does not name the table: %+v", p.Stores[0].Steps)
				}
				if rows, err := w.desk.Verify(t.Context(), r.ID, "", w.fleet); err != nil || verdictOf(rows, "memory.sqlite:cache") != model.VerdictResidue {
					t.Errorf("verification before the erasure: %+v, %v", rows, err)
				}
				w.complete(p)
				if left := w.traces(w.dir); len(left) > 0 {
					t.Errorf("traces: %q", left)
				}
				db, err = sql.Open("sqlite3", "file:"+w.path("db")+"?mode=ro")
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				var rows int
				var kept, cleaned []byte
				if err := db.QueryRow(`SELECT count(*), (SELECT v FROM cache WHERE k = 'other'), (SELECT v FROM cache WHERE k = 'theirs') FROM cache`).Scan(&rows, &kept, &cleaned); err != nil || rows != 2 || !bytes.Equal(kept, of("we met "+other+" there")) {
					t.Errorf("%d rows, %q, %v", rows, kept, err)
				}
				if m.NamesBytes(cleaned) || form == "text" && string(cleaned) != "we met [erased] there" {
					t.Errorf("left: %q", cleaned)
				}
			})
		}
	}
}

// TestAForeignBlobThatNobodyCanOpen: an encrypted cell of another program must keep a request
// unfinished until its content is attested.
func TestAForeignBlobThatNobodyCanOpen(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n0", Content: "met " + name})
	db, err := sql.Open("sqlite3", "file:"+w.path("db"))
	if err != nil {
		t.Fatal(err)
	}
	execAll(t, db, `CREATE TABLE cache(v BLOB)`, `INSERT INTO cache VALUES (CAST('Salted__0123456789abcdef' AS BLOB))`)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	r := w.file()
	p, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil)
	if err != nil || len(p.Stores[0].Problems) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	out, err := w.erase(p)
	if err != nil || out.Status == gdpr.StateComplete || verdictOf(out.Layers, "memory.sqlite:cache") != model.VerdictUnaudited {
		t.Errorf("%+v, %v", out, err)
	}
}
