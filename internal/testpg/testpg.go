// Package testpg gives tests a private PostgreSQL: one cluster per test process on its own socket, with
// databases in it. Nothing outlives the process.
package testpg

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable names the environment variable with the connection string of a server
// to use instead. Its role must be allowed to make databases.
const Variable = "MEMDESK_TEST_POSTGRES"

// patience bounds the start of a cluster on a busy machine.
const patience = 90 * time.Second

var shared struct {
	once   sync.Once
	server *Server
	dsn    string
	err    error
	number atomic.Int64
}

// DSN makes a new, empty database and returns its connection string. The
// database is dropped after the test. Without a server the test fails, and the
// failure names the command that installs one.
func DSN(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() {
		if shared.dsn = os.Getenv(Variable); shared.dsn != "" {
			return
		}
		if shared.server, shared.err = Begin(); shared.err == nil {
			shared.dsn = shared.server.DSN("postgres", "postgres")
		}
	})
	if shared.err != nil {
		t.Fatalf("%v", shared.err)
	}
	name := fmt.Sprintf("memdesk_%d_%d", os.Getpid(), shared.number.Add(1))
	Exec(t, shared.dsn, `CREATE DATABASE `+name+` ENCODING 'UTF8' TEMPLATE template0`)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := execute(ctx, shared.dsn, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return inDatabase(t, shared.dsn, name)
}

func inDatabase(t testing.TB, dsn, name string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		return dsn + " dbname=" + name // keyword form: the last word counts
	}
	u.Path = "/" + name
	return u.String()
}

// Exec runs unchanged statements on its own connection.
func Exec(t testing.TB, dsn, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := execute(ctx, dsn, sql); err != nil {
		t.Fatalf("%.80s: %v", sql, err)
	}
}

func execute(ctx context.Context, dsn, sql string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

// Value is the single value of a statement's result, as text.
func Value(t testing.TB, dsn, sql string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatalf("%.80s: %v", sql, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var out string
	if err := conn.QueryRow(ctx, sql).Scan(&out); err != nil {
		t.Fatalf("%.80s: %v", sql, err)
	}
	return out
}
