package litefile

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// holdEnv makes the test binary a process that has a file open until its input ends.
const holdEnv = "LITEFILE_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		db, err := sql.Open("sqlite3", path)
		if err == nil {
			_, err = db.Exec(`PRAGMA user_version`)
		}
		fmt.Println(err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = db.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func exec1(t *testing.T, path string, texts ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	must(t, err)
	defer db.Close()
	for _, text := range texts {
		_, err := db.Exec(text)
		must(t, err)
	}
}

// TestHeld: another process that has the file open must be detected, this one must not.
func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	exec1(t, path, `CREATE TABLE a(b)`)
	mine, err := os.Open(path)
	must(t, err)
	defer mine.Close()
	if by, err := Held(path); by != "" || err != nil {
		t.Errorf("held by %q, %v", by, err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdEnv+"="+path)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	if by, err := Held(path); by == "" && err == nil {
		t.Error("another process has it open, and nobody sees it")
	}
	must(t, in.Close())
	_ = cmd.Wait()
}

// TestApart: every byte must be in one of the two parts, and each text in the part of its table, over
// interior and overflow pages and indexes, in every page size.
func TestApart(t *testing.T) {
	for _, size := range []int{512, 4096, 65536} {
		path := filepath.Join(t.TempDir(), "a.db")
		exec1(t, path, fmt.Sprintf(`PRAGMA page_size = %d`, size), `CREATE TABLE kept(id INTEGER PRIMARY KEY, text TEXT)`, `CREATE TABLE apart(id TEXT PRIMARY KEY, text TEXT)`,
			`CREATE INDEX apart_text ON apart(text)`,
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO kept SELECT i, 'kept' || i || hex(zeroblob(i * 10)) FROM n`,
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO apart SELECT 'k' || i, 'apart' || i || hex(zeroblob(i * 10)) FROM n`,
			`DELETE FROM kept WHERE id % 3 = 0`, `VACUUM`)
		f, err := Open(path, true)
		must(t, err)
		data, err := os.Open(path)
		must(t, err)
		info, err := data.Stat()
		must(t, err)
		read := func(tables ...string) (string, string) {
			theirs, others, err := f.Apart(t.Context(), data, info.Size(), tables...)
			must(t, err)
			b, err := io.ReadAll(others)
			must(t, err)
			if theirs == nil {
				return "", string(b)
			}
			a, err := io.ReadAll(theirs)
			must(t, err)
			return string(a), string(b)
		}
		theirs, others := read("apart")
		// A table's definition belongs to the other part.
		if strings.Contains(theirs, "kept") || strings.Count(others, "apart1") > 0 || strings.Count(theirs, "apart299") < 2 || !strings.Contains(others, "kept299") {
			t.Errorf("page size %d: the texts stand in the wrong part", size)
		}
		if int64(len(theirs)+len(others)) != info.Size() {
			t.Errorf("page size %d: %d and %d bytes of %d", size, len(theirs), len(others), info.Size())
		}
		if theirs, others := read("absent"); theirs != "" || int64(len(others)) != info.Size() {
			t.Errorf("page size %d: without the table %d and %d bytes", size, len(theirs), len(others))
		}
		must(t, data.Close())
		must(t, f.Close())
	}
}

// FuzzPages: a damaged file must be an error, never a panic or an endless walk.
func FuzzPages(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.db")
	db, err := sql.Open("sqlite3", path)
	if err == nil {
		_, err = db.Exec(`PRAGMA page_size = 512; CREATE TABLE a(id TEXT PRIMARY KEY, b); INSERT INTO a VALUES('x', zeroblob(3000)), ('y', 1)`)
	}
	if err != nil {
		f.Fatal(err)
	}
	_ = db.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, 600, byte(200))
	f.Fuzz(func(t *testing.T, data []byte, at int, b byte) {
		if at >= 0 && at < len(data) {
			data[at] = b
		}
		if w, err := walkPages(strings.NewReader(string(data)), int64(len(data)), []uint32{2, 3}); err == nil {
			theirs, others := w.divide(int64(len(data)))
			n, _ := io.Copy(io.Discard, theirs)
			m, _ := io.Copy(io.Discard, others)
			if n+m != int64(len(data)) {
				t.Errorf("%d and %d bytes of %d", n, m, len(data))
			}
		}
	})
}
