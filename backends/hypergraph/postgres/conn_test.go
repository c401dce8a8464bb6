package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"memdesk/internal/testpg"
)

func dialed(t *testing.T, more string) *conn {
	t.Helper()
	dsn := testpg.DSN(t)
	d, err := parseDSN(dsn + more)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dial(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close(context.Background()) })
	return c
}

// TestValues sends each sort of argument and reads it back, with statements kept on
// the server and without.
func TestValues(t *testing.T) {
	t.Parallel()
	odd := "a\"b\\c{d},'e'\nNULL\tüñ😀 "
	none := (*string)(nil)
	for _, more := range []string{"", "&default_query_exec_mode=cache_describe"} {
		c := dialed(t, more)
		for _, tc := range []struct {
			sql  string
			arg  any
			dest any
			want any
		}{
			{`SELECT $1::text`, odd, new(string), odd},
			{`SELECT $1::text`, "", new(string), ""},
			{`SELECT $1::text`, &odd, new(*string), &odd},
			{`SELECT $1::text`, none, new(*string), none},
			{`SELECT $1::text`, nil, new(*string), none},
			{`SELECT $1::bigint`, int64(math.MinInt64), new(int64), int64(math.MinInt64)},
			{`SELECT $1::bigint`, int64(math.MaxInt64), new(int64), int64(math.MaxInt64)},
			{`SELECT $1::integer`, -7, new(int), -7},
			{`SELECT $1::smallint`, int32(-7), new(int64), int64(-7)},
			{`SELECT $1::bigint`, nil, new(*int64), (*int64)(nil)},
			{`SELECT $1::bigint`, 9, new(*int64), ptr(int64(9))},
			{`SELECT $1::float8`, 0.1, new(float64), 0.1},
			{`SELECT $1::float8`, math.Inf(-1), new(float64), math.Inf(-1)},
			{`SELECT $1::float8`, math.MaxFloat64, new(float64), math.MaxFloat64},
			{`SELECT $1::float4`, 0.5, new(float64), 0.5},
			{`SELECT $1::bool`, true, new(bool), true},
			{`SELECT $1::bool`, false, new(bool), false},
			{`SELECT $1::bytea`, []byte("\x00\xff\\x41"), new([]byte), []byte("\x00\xff\\x41")},
			{`SELECT $1::bytea`, []byte{}, new([]byte), []byte{}},
			{`SELECT $1::bytea`, []byte(nil), new([]byte), []byte(nil)},
			{`SELECT array_to_string($1::text[], '|', '<null>')`, []string{odd, "", "null", " x "}, new(string), odd + "||null| x "},
			{`SELECT cardinality($1::text[])`, []string{}, new(int), 0},
			{`SELECT $1::text[] IS NULL`, []string(nil), new(bool), true},
			{`SELECT array_to_string($1::bigint[], '|')`, []int64{1, -2, math.MaxInt64}, new(string), "1|-2|9223372036854775807"},
			{`SELECT $1::name = ANY('{a,b}')`, "b", new(bool), true},
			{`SELECT 'b'::name <> ALL($1)`, []string{"a"}, new(bool), true},
			{`SELECT $1::tsvector::text`, tsvector{{"b", []uint16{2, lastPlace}}, {"a", nil}}, new(string), "'a' 'b':2,16383"},
			{`SELECT $1::tsvector::text`, tsvector{}, new(string), ""},
		} {
			found, err := c.one(t.Context(), tc.sql, []any{tc.arg}, tc.dest)
			if err != nil || !found {
				t.Errorf("%s with %#v: %v, found %v", tc.sql, tc.arg, err, found)
				continue
			}
			if diff := cmp.Diff(tc.want, deref(tc.dest)); diff != "" {
				t.Errorf("%s with %#v:\n%s", tc.sql, tc.arg, diff)
			}
		}
	}
}

func ptr[T any](v T) *T { return &v }

func deref(dest any) any {
	switch d := dest.(type) {
	case *string:
		return *d
	case **string:
		return *d
	case *int:
		return *d
	case *int64:
		return *d
	case **int64:
		return *d
	case *float64:
		return *d
	case *bool:
		return *d
	case *[]byte:
		return *d
	}
	return fmt.Sprintf("%T", dest)
}

// TestScanRefuses gives no value for what does not fit, instead of a wrong one.
func TestScanRefuses(t *testing.T) {
	t.Parallel()
	c := dialed(t, "")
	for _, tc := range []struct {
		sql  string
		dest []any
		says string
	}{
		{`SELECT NULL::text`, []any{new(string)}, "NULL"},
		{`SELECT NULL::bigint`, []any{new(int64)}, "NULL"},
		{`SELECT 1.5::float8`, []any{new(int64)}, "fit"},
		{`SELECT 1::bigint`, []any{new(string)}, "fit"},
		{`SELECT 1::bigint`, []any{new(float64)}, "fit"},
		{`SELECT '1'::text`, []any{new(int)}, "fit"},
		{`SELECT 1::bigint`, []any{new(bool)}, "fit"},
		{`SELECT 1, 2`, []any{new(int)}, "columns"},
		{`SELECT 1`, []any{new(uint8)}, "fit"},
	} {
		if _, err := c.one(t.Context(), tc.sql, nil, tc.dest...); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s into %T: %v", tc.sql, tc.dest[0], err)
		}
	}
	if _, err := c.exec(t.Context(), `SELECT $1::text`, uint8(1)); err == nil {
		t.Error("an argument of an unknown type was sent")
	}
	if _, err := c.exec(t.Context(), `SELECT $1::text`, "a", "b"); err == nil {
		t.Error("an argument too many was sent")
	}
}

// TestStatementsKept counts what stays prepared on the server.
func TestStatementsKept(t *testing.T) {
	t.Parallel()
	held := func(c *conn) (n int) {
		if _, err := c.exec(t.Context(), `SELECT 1`); err != nil {
			t.Fatal(err)
		}
		results, err := c.pg.Exec(t.Context(), `SELECT count(*) FROM pg_prepared_statements`).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Sscan(string(results[0].Rows[0][0]), &n)
		return n
	}
	ask := func(c *conn, sql string) {
		t.Helper()
		if _, err := c.one(t.Context(), sql, nil, new(int)); err != nil {
			t.Fatal(err)
		}
	}
	c := dialed(t, "")
	for range 3 {
		ask(c, `SELECT 0`)
	}
	if n := held(c); n != 1 {
		t.Errorf("one statement, run three times, is prepared %d times", n)
	}
	for i := range statementsKept + 10 {
		ask(c, fmt.Sprintf(`SELECT %d`, i+1))
		ask(c, `SELECT 0`)
	}
	if n := held(c); n != statementsKept {
		t.Errorf("%d statements are kept on the server, want %d", n, statementsKept)
	}
	if c.statements[`SELECT 0`] == nil || c.statements[`SELECT 1`] != nil {
		t.Error("what is used all the time was dropped, or what was not used for longest was kept")
	}

	c = dialed(t, "&default_query_exec_mode=cache_describe")
	ask(c, `SELECT 0`)
	ask(c, `SELECT 0`)
	if n := held(c); n != 0 {
		t.Errorf("%d statements are kept for a pooler, want none", n)
	}
}

// TestStatementOfAChangedTable fails once, as the server has it, and works then.
func TestStatementOfAChangedTable(t *testing.T) {
	t.Parallel()
	c := dialed(t, "")
	ctx := t.Context()
	for _, sql := range []string{`CREATE TEMP TABLE things (n integer)`, `INSERT INTO things VALUES (1)`} {
		if _, err := c.exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	const text = `SELECT * FROM things`
	if _, err := c.one(ctx, text, nil, new(int)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.exec(ctx, `ALTER TABLE things ALTER n TYPE text`); err != nil {
		t.Fatal(err)
	}
	var server *pgconn.PgError
	if _, err := c.one(ctx, text, nil, new(string)); !errors.As(err, &server) {
		t.Fatalf("the old plan: %v", err)
	}
	var s string
	if _, err := c.one(ctx, text, nil, &s); err != nil || s != "1" {
		t.Errorf("the new plan: %q, %v", s, err)
	}
}

// TestFailedStatementInTransaction is freed when the transaction is over, not inside.
func TestFailedStatementInTransaction(t *testing.T) {
	t.Parallel()
	c := dialed(t, "")
	ctx := t.Context()
	if _, err := c.exec(ctx, `BEGIN`); err != nil {
		t.Fatal(err)
	}
	if _, err := c.one(ctx, `SELECT 1 / $1::integer`, []any{0}, new(int)); err == nil {
		t.Fatal("no error")
	}
	if _, err := c.one(ctx, `SELECT 1`, nil, new(int)); worded("test", err) == nil || !strings.Contains(worded("test", err).Error(), "25P02") {
		t.Errorf("inside: %v", err)
	}
	if _, err := c.exec(ctx, `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if _, err := c.one(ctx, `SELECT 1 / $1::integer`, []any{1}, new(int)); err != nil || len(c.stale) != 0 {
		t.Errorf("after: %v, %d statements wait", err, len(c.stale))
	}
}

// TestConnectionString takes the words for drivers out before the server sees them.
func TestConnectionString(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		more    string
		unnamed bool
		bad     bool
	}{
		{"", false, false},
		{"&default_query_exec_mode=cache_statement&statement_cache_capacity=9&pool_max_conns=3", false, false},
		{"&default_query_exec_mode=cache_describe&description_cache_capacity=9", true, false},
		{"&default_query_exec_mode=describe_exec", true, false},
		{"&default_query_exec_mode=exec", true, false},
		{"&default_query_exec_mode=simple_protocol", true, false},
		{"&default_query_exec_mode=quickly", false, true},
		{"&default_query_exec_mode=", false, true},
	} {
		d, err := parseDSN("postgres://u@localhost/d?sslmode=disable" + tc.more)
		if (err != nil) != tc.bad || err == nil && (d.unnamed != tc.unnamed || len(d.RuntimeParams) > 0) {
			t.Errorf("%q: %+v, %v", tc.more, d.RuntimeParams, err)
		}
	}
}

// TestPool gives out one connection again and again, refuses none that is dead, and
// keeps none inside a transaction.
func TestPool(t *testing.T) {
	t.Parallel()
	d, err := parseDSN(testpg.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPool(d, 0, 2, func(context.Context, *conn) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	ctx := t.Context()
	pid := func() (n uint32) {
		t.Helper()
		if err := p.use(ctx, func(c *conn) error { n = c.pg.PID(); return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := pid()
	if again := pid(); again != first {
		t.Error("a free connection was not used again")
	}
	tx, err := p.begin(ctx, readCommitted)
	if err != nil {
		t.Fatal(err)
	}
	waiting, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	second, err := p.acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.acquire(waiting); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third connection of two: %v", err)
	}
	_, _ = tx.exec(ctx, `SELECT 1 / 0`)
	if err := tx.commit(ctx); !errors.Is(err, errRolledBack) {
		t.Errorf("the commit of a broken transaction: %v", err)
	}
	tx.end()
	p.release(second)

	err = p.use(ctx, func(c *conn) error {
		first = c.pg.PID()
		_, err := c.exec(ctx, `BEGIN`)
		return err
	})
	if err != nil || pid() == first {
		t.Errorf("a connection inside a transaction was kept: %v", err)
	}
	if err := p.use(ctx, func(c *conn) error { return c.pg.Conn().Close() }); err != nil {
		t.Fatal(err)
	}
	err = p.use(ctx, func(c *conn) error { _, err := c.exec(ctx, `SELECT 1`); return err })
	if err != nil && !lost(err) {
		t.Errorf("after a connection broke: %v", err)
	}
	if p.use(ctx, func(c *conn) error { _, err := c.exec(ctx, `SELECT 1`); return err }) != nil {
		t.Error("a broken connection was given out twice")
	}
}

// TestPoolMinimum makes connections before anybody asks.
func TestPoolMinimum(t *testing.T) {
	t.Parallel()
	d, err := parseDSN(testpg.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	made := make(chan bool, 3)
	p, err := newPool(d, 2, 3, func(context.Context, *conn) error { made <- true; return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for range 2 {
		select {
		case <-made:
		case <-time.After(20 * time.Second):
			t.Fatal("the pool is not filled")
		}
	}
}

// TestCopySource is read in pieces of any size.
func TestCopySource(t *testing.T) {
	t.Parallel()
	source := func(rows int) *copySource {
		return &copySource{rows: rows, width: 1, add: func(b copyRow, i int) copyRow { return b.text(strings.Repeat("x", i*1000)) }}
	}
	for _, rows := range []int{0, 1, 2, 200} {
		whole, err := io.ReadAll(source(rows))
		if err != nil {
			t.Fatal(err)
		}
		want := 19 + 2 // header and end
		for i := range rows {
			want += 2 + 4 + i*1000
		}
		if len(whole) != want {
			t.Errorf("%d rows are %d bytes, want %d", rows, len(whole), want)
		}
		var small []byte
		for s, p := source(rows), make([]byte, 7); ; {
			n, err := s.Read(p)
			small = append(small, p[:n]...)
			if err == io.EOF {
				break
			}
		}
		if string(small) != string(whole) {
			t.Errorf("%d rows read in small pieces differ", rows)
		}
	}
}
