package testpg_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/internal/testpg"
)

func TestDatabasesAreApart(t *testing.T) {
	one, other := testpg.DSN(t), testpg.DSN(t)
	testpg.Exec(t, one, `CREATE TABLE x (n int); INSERT INTO x VALUES (1)`)
	testpg.Exec(t, other, `CREATE TABLE x (n int)`)
	conn, err := pgx.Connect(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var n int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM x`).Scan(&n); err != nil || n != 0 {
		t.Errorf("the other database holds %d rows, %v", n, err)
	}
}

func TestStopKeepsAndStartGoesOn(t *testing.T) {
	s := testpg.New(t)
	dsn := s.DSN("postgres", "postgres")
	testpg.Exec(t, dsn, `CREATE TABLE x (n int)`)
	s.Stop()
	if conn, err := pgx.Connect(t.Context(), dsn); err == nil {
		conn.Close(t.Context())
		t.Fatal("a stopped server answers")
	}
	if err := s.Start("-c", "fsync=on"); err != nil {
		t.Fatal(err)
	}
	testpg.Exec(t, dsn, `INSERT INTO x VALUES (1)`)
}

// TestNothingIsLeft kills a test process and checks that its server has ended.
func TestNothingIsLeft(t *testing.T) {
	if os.Getenv("TESTPG_CHILD") != "" {
		dir := filepath.Dir(testpg.New(t).DataDir())
		if err := os.WriteFile(os.Getenv("TESTPG_CHILD"), []byte(dir), 0o600); err != nil {
			t.Fatal(err)
		}
		select {} // until it is killed
	}
	note := filepath.Join(t.TempDir(), "dir")
	child := exec.Command(os.Args[0], "-test.run=^TestNothingIsLeft$")
	child.Env = append(os.Environ(), "TESTPG_CHILD="+note)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	dir := await(t, func() string { b, _ := os.ReadFile(note); return string(b) })
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	await(t, func() string {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return "gone"
		}
		return ""
	})
	await(t, func() string { // who removed the directory ends after it
		if err := exec.Command("pgrep", "-f", dir).Run(); err != nil {
			return "none is left"
		}
		return ""
	})
}

func await(t *testing.T, look func() string) string {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if s := look(); s != "" {
			return s
		}
		time.Sleep(20 * time.Millisecond) // another process ends it, so there is nothing to wait on
	}
	t.Fatal("it did not come about")
	return ""
}
