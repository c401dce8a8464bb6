package litefile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// busySlice is how long SQLite itself waits for a lock. Its wait cannot be
// interrupted, so it is short and a File repeats it up to busyWait or the end of
// the caller's context.
const busySlice = 100 // milliseconds

// access is a connection's permission.
type access string

const (
	readOnlyFile   access = "ro" // the file is opened without write access
	readOnlyHandle access = "rq" // write access, for SQLite's own files beside the database, but queries only
	readWrite      access = "rw"
	memoryHandle   access = "mq" // a database in memory, queries only
	memoryWrite    access = "mw"
)

// dsn names the database for the driver. The path is escaped, so that `?`, `#`,
// `%` and spaces in it stay part of the name. No journal mode is set: a file
// keeps its own.
func dsn(path string, a access) string {
	v := url.Values{}
	v.Set("_busy_timeout", strconv.Itoa(busySlice))
	v.Set("_foreign_keys", "1")
	v.Set("_synchronous", "FULL")
	v.Set("_stmt_cache_size", "64")
	v.Set("mode", "rw")
	switch a {
	case readOnlyFile:
		v.Set("mode", "ro")
	case readOnlyHandle:
		v.Set("_query_only", "1")
	case memoryHandle, memoryWrite: // shared: the connections of one name see one database
		v.Set("mode", "memory")
		v.Set("cache", "shared")
		v.Set("_secure_delete", "1")
		if a == memoryHandle {
			v.Set("_query_only", "1")
		}
	}
	return "file:" + escapePath(path) + "?" + v.Encode()
}

func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// Attached is another database file that each connection sees under a name of its own.
type Attached struct{ Name, Path string }

// connector opens connections of one file and attaches others to each.
type connector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// openPool opens a pool of at most n connections; none is made before its first use.
func openPool(path string, a access, n int, with ...Attached) *sql.DB {
	hook := func(c *sqlite3.SQLiteConn) error {
		if a == memoryHandle || a == memoryWrite { // a large sort would go to a file
			if _, err := c.Exec(`PRAGMA temp_store = MEMORY`, nil); err != nil {
				return err
			}
		}
		for _, o := range with {
			if _, err := c.Exec(`ATTACH DATABASE ? AS `+quote(o.Name), []driver.Value{dsn(o.Path, a)}); err != nil {
				return err
			}
		}
		return nil
	}
	db := sql.OpenDB(connector{dsn(path, a), &sqlite3.SQLiteDriver{ConnectHook: hook}})
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}

// sidecars remembers which of SQLite's own files stood beside the database
// before it was opened.
type sidecars struct {
	path   string
	before bool
}

func noteSidecars(path string) sidecars {
	return sidecars{path: path, before: exists(path+"-wal") || exists(path+"-shm")}
}

// tidy removes -wal and -shm that a reader without write access had to make and
// cannot remove itself: a connection with write access does it on closing, and
// only when no other program uses the database.
func (c sidecars) tidy() {
	if c.before || !exists(c.path+"-wal") && !exists(c.path+"-shm") {
		return
	}
	db := openPool(c.path, readOnlyHandle, 1)
	defer db.Close()
	var n int
	_ = db.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&n)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
