package crewship

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"memdesk/backends/internal/sharedfd"
)

// database reads crewship.db and never changes it, nor leaves a file beside it.
type database struct{ path string }

// copyLimit bounds the copy of a database whose writer died, in bytes.
const copyLimit = 256 << 20

var errNoDatabase = errors.New("there is no crewship.db")

// read runs fn on the database. The way in depends on who else is at it:
//
//   - no -wal: nobody is writing, and opening it as immutable makes no files; should
//     a writer come in meanwhile, the read is repeated;
//   - -wal and -shm: a writer has it open, and read-only access uses its files;
//   - -wal alone: its writer died; opening it there would leave a new -shm, so
//     a private copy is read.
//
// Immutable is never used beside a -wal: it would ignore what is in it.
func (d database) read(ctx context.Context, fn func(*sql.DB) error) error {
	if d.path == "" {
		return errNoDatabase
	}
	for range 3 {
		wal, shm := present(d.path+"-wal"), present(d.path+"-shm")
		if wal && !shm {
			return d.readCopy(ctx, fn)
		}
		before := d.stamp()
		err := d.run(ctx, d.path, !wal, fn)
		if wal || before == d.stamp() {
			return err
		}
	}
	return errors.New("it keeps changing while it is opened")
}

func present(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// stamp changes when the database does.
func (d database) stamp() string {
	if d.path == "" {
		return ""
	}
	out := ""
	for _, suffix := range []string{"", "-wal"} {
		if fi, err := os.Lstat(d.path + suffix); err == nil {
			out += fmt.Sprintf("%d-%d;", fi.ModTime().UnixNano(), fi.Size())
		}
	}
	return out
}

func (d database) run(ctx context.Context, path string, immutable bool, fn func(*sql.DB) error) error {
	if fi, err := os.Stat(path); err != nil {
		return errors.New(reason(err))
	} else if !fi.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	q := url.Values{"mode": {"ro"}, "_query_only": {"1"}, "_busy_timeout": {"250"}}
	if immutable {
		q.Set("immutable", "1")
	}
	dsn := (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: q.Encode()}).String()
	db := sql.OpenDB(connector{dsn})
	defer db.Close()
	db.SetMaxOpenConns(1)
	// A schema is hostile too: no function may run from a view or a default.
	if _, err := db.ExecContext(ctx, "PRAGMA trusted_schema = OFF"); err != nil {
		return words(err)
	}
	return words(fn(db))
}

// words keeps only SQLite's own message.
func words(err error) error {
	var se sqlite3.Error
	if errors.As(err, &se) {
		return errors.New(strings.TrimSpace(sqlite3.ErrNo(se.Code).Error()))
	}
	return err
}

func (d database) readCopy(ctx context.Context, fn func(*sql.DB) error) error {
	var size int64
	for _, suffix := range []string{"", "-wal"} {
		fi, err := os.Stat(d.path + suffix)
		if err != nil {
			return errors.New(reason(err))
		}
		size += fi.Size()
	}
	if size > copyLimit {
		return fmt.Errorf("its writer left a log behind and it is too large to copy (%d MiB); start Crewship once", size>>20)
	}
	dir, err := os.MkdirTemp("", copyPrefix)
	if err != nil {
		return errors.New(reason(err))
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, dbName)
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(d.path+suffix, to+suffix); err != nil {
			return errors.New(reason(err))
		}
	}
	return d.run(ctx, to, false, fn)
}

// copyPrefix begins the names of the directories of copies, and staleCopy is the age from which nobody reads
// one any more.
const (
	copyPrefix = "memdesk-crewship-"
	staleCopy  = time.Hour
)

// sweepCopies removes the copies that a killed run left.
func sweepCopies() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), copyPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		if fi, err := os.Lstat(dir); err == nil && fi.IsDir() && time.Since(fi.ModTime()) > staleCopy {
			_ = os.RemoveAll(dir) // another user's stays
		}
	}
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	src, err := sharedfd.Open(info, func() (*os.File, error) { return os.Open(from) })
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// connector opens SQLite without a registered driver name.
type connector struct{ dsn string }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	return (&sqlite3.SQLiteDriver{}).Open(c.dsn)
}

func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }
