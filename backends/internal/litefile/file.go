// Package litefile opens one SQLite file that other programs may be using: pools of connections, transactions that wait for
// locks, errors in words, the file's layers, and the cleaning of its medium; or one database in memory. It knows no table by
// name.
package litefile

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"memdesk/backends/internal/sharedfd"
	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// MaxReaders is the number of connections that reads share.
const MaxReaders = 8

// File is an open database file. It is safe for concurrent use: reads share a pool of
// connections, changes queue on one. Close releases it.
type File struct {
	Path     string
	Name     string // without its directory, for messages
	readOnly string // why changes are refused, empty where they are not

	readers  *sql.DB
	writer   *sql.DB // nil in a file opened for reading
	identity identity
	attached []identity
	schemas  []string // main, and the names of the attached files
	sidecars []sidecars
	held     []func() // of sharedfd, for the file and the attached ones
	locks    vitals.LockWatch
	triggers triggers
	memory   *memory // nil: a file

	closing sync.Once
	closed  error
}

// Open opens a database file for reading, and for changes unless asked not to or the file,
// or an attached one, cannot be written. It creates nothing. Each connection sees the attached
// files too. Errors are NotFound, InvalidInput for what is no regular file with content, and
// PermissionDenied.
func Open(path string, readOnly bool, with ...Attached) (*File, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, model.Errorf(model.InvalidInput, "open", "a path is needed: a database file")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, Worded("open", err)
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, model.Errorf(model.NotFound, "open", "there is no file %q: check the path", filepath.Base(abs))
	case err != nil:
		return nil, Worded("open", err)
	case !info.Mode().IsRegular():
		return nil, model.Errorf(model.InvalidInput, "open", "%q is not a regular file", info.Name())
	}
	if err := unix.Access(abs, unix.R_OK); err != nil {
		return nil, model.Errorf(model.PermissionDenied, "open", "the database cannot be read by this user: %w", err)
	}
	f := &File{Path: abs, Name: filepath.Base(abs), schemas: []string{"main"}, sidecars: []sidecars{noteSidecars(abs)}, readOnly: vitals.Unwritable(abs)}
	if f.identity, err = identify(abs); err != nil {
		return nil, Worded("open", err)
	}
	for _, o := range with {
		id, err := identify(o.Path)
		if err != nil {
			return nil, Worded("open", err)
		}
		f.schemas = append(f.schemas, o.Name)
		f.attached, f.sidecars = append(f.attached, id), append(f.sidecars, noteSidecars(o.Path))
		f.readOnly = cmp.Or(f.readOnly, vitals.Unwritable(o.Path))
	}
	if readOnly {
		f.readOnly = "opened for reading only"
	}
	for _, id := range append([]identity{f.identity}, f.attached...) {
		f.held = append(f.held, sharedfd.Hold(id.path, id.info))
	}
	f.connect(with)
	return f, nil
}

// connect makes the pools; no connection is opened yet.
func (f *File) connect(with []Attached) {
	a := readOnlyFile
	if f.readOnly == "" {
		a = readOnlyHandle
		f.writer = openPool(f.Path, readWrite, 1, with...)
	}
	f.readers = openPool(f.Path, a, MaxReaders, with...)
}

// ReadOnlyReason says in words why changes are refused; empty where they are not.
func (f *File) ReadOnlyReason() string { return f.readOnly }

// Readers is the pool that reads share. The caller closes the connections it takes.
func (f *File) Readers() *sql.DB { return f.readers }

// Writer is the pool of the one connection for changes; nil in a file opened for reading.
func (f *File) Writer() *sql.DB { return f.writer }

// Explain says of an error of opening what the operator can do about it.
func (f *File) Explain(err error) error {
	switch model.KindOf(err) {
	case model.Unavailable:
		if !errors.Is(err, errNoSpace) && (f.readOnly != "" || vitals.Unwritable(filepath.Dir(f.Path)) != "") {
			return model.Errorf(model.Unavailable, "open", "%q is in WAL mode and SQLite cannot keep its -shm file beside it: "+
				"give write access to the directory, or open a copy of the file", f.Name)
		}
	case model.Internal:
		return model.Errorf(model.Internal, "open", "%q: %w", f.Name, errors.Unwrap(err))
	}
	return err
}

// Standing is Unavailable when the file, or an attached one, is gone or another stands in its place.
func (f *File) Standing(op string) error {
	if f.memory != nil {
		return nil
	}
	err := f.identity.check(op, f.Name)
	for _, id := range f.attached {
		if err == nil {
			err = id.check(op, filepath.Base(id.path))
		}
	}
	return err
}

// RefuseWhenReadOnly is PermissionDenied with the reason in a file opened for reading.
func (f *File) RefuseWhenReadOnly(op string) error {
	if f.writer == nil {
		return model.Errorf(model.PermissionDenied, op, "%s is read-only: %s", f.Name, f.readOnly)
	}
	return nil
}

// Close releases the file. SQLite's -wal and -shm are gone afterwards unless they
// were there before or another program still uses them.
func (f *File) Close() error {
	f.closing.Do(func() {
		f.memory.release()
		err := f.readers.Close()
		if f.writer != nil {
			if werr := f.writer.Close(); err == nil {
				err = werr
			}
		} else {
			for _, c := range f.sidecars {
				c.tidy()
			}
		}
		for _, release := range f.held { // after the pools: closing a descriptor drops this process's locks on the file
			release()
		}
		f.closed = Worded("close", err)
	})
	return f.closed
}

// View runs fn on one consistent snapshot. fn must set its results anew on each
// call: a snapshot that a lock prevented is tried again.
func (f *File) View(ctx context.Context, op string, fn func(*Query) error) error {
	if err := f.Standing(op); err != nil {
		return err
	}
	defer f.Reading()()
	return RetryBusy(ctx, func() error {
		conn, err := f.readers.Conn(ctx)
		if err != nil {
			return Worded(op, err)
		}
		defer conn.Close()
		return Snapshot(ctx, conn, op, fn)
	})
}

// Snapshot runs fn in a read transaction of a connection that the caller holds.
func Snapshot(ctx context.Context, conn *sql.Conn, op string, fn func(*Query) error) error {
	q := &Query{ctx: ctx, conn: conn, op: op}
	if _, err := q.Exec(`BEGIN`); err != nil {
		return err
	}
	defer rollback(conn)
	return fn(q)
}

// Change takes the write lock, runs fn and commits; anything else rolls back.
func (f *File) Change(ctx context.Context, op string, fn func(*Query) error) error {
	if err := f.RefuseWhenReadOnly(op); err != nil {
		return err
	}
	defer f.memory.changing()()
	conn, err := Connect(ctx, f.writer)
	if err != nil {
		return waitedForLock(op, err)
	}
	defer conn.Close()
	q := &Query{ctx: ctx, conn: conn, op: op}
	if err := RetryBusy(ctx, func() error { return direct(ctx, conn, op, `BEGIN IMMEDIATE`) }); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			rollback(conn)
		}
	}()
	// The lock is ours: from here a wait is only for readers of a rollback journal.
	if _, err := q.Exec(`PRAGMA busy_timeout = 5000`); err != nil {
		return err
	}
	defer shortWaits(conn)
	if err := f.refuseTriggers(q); err != nil {
		return err
	}
	if err := fn(q); err != nil {
		return err
	}
	if q.broken != nil {
		return q.broken
	}
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	if err := f.Standing(op); err != nil { // what is committed to a file that is gone is lost
		return err
	}
	shortWaits(conn)
	// A commit that has begun is not interrupted: its outcome would be unknown.
	if err := RetryBusy(ctx, func() error { return direct(context.WithoutCancel(ctx), conn, op, `COMMIT`) }); err != nil {
		return f.uncommitted(op, err)
	}
	committed = true
	return nil
}

// uncommitted is the error of a commit. Files that belong together commit in turn, so the first may be changed.
func (f *File) uncommitted(op string, err error) error {
	var none *model.Untouched
	if len(f.attached) > 0 && errors.As(err, &none) {
		return model.Errorf(model.Unavailable, op, "the disk is full: free space and look at what was changed")
	}
	return err
}

// Direct runs statements that no transaction may hold (VACUUM, a journal mode), one by one, on the connection for changes.
func (f *File) Direct(ctx context.Context, op string, statements ...string) error {
	if err := f.RefuseWhenReadOnly(op); err != nil {
		return err
	}
	defer f.memory.changing()()
	conn, err := Connect(ctx, f.writer)
	if err != nil {
		return waitedForLock(op, err)
	}
	defer conn.Close()
	for _, text := range statements {
		if err := RetryBusy(ctx, func() error { return direct(ctx, conn, op, text) }); err != nil {
			return err
		}
	}
	return nil
}

// Tables are the file's tables and their definitions, in the order of their names.
func Tables(q *Query) (names []string, ddl map[string]string, err error) {
	ddl = map[string]string{}
	err = q.Each(`SELECT name, COALESCE(sql, '') FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`, nil,
		func(scan func(...any) error) error {
			var name, text string
			if err := scan(&name, &text); err != nil {
				return err
			}
			names, ddl[name] = append(names, name), text
			return nil
		})
	return names, ddl, err
}
