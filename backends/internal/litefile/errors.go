package litefile

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"syscall"

	"github.com/mattn/go-sqlite3"

	"memdesk/model"
)

// Worded gives an error of the driver, the operating system or a context
// its kind and words an operator can act on. It never holds a path: the driver's
// messages carry none and those of the operating system are stripped of theirs.
// A *model.Error passes as it is.
func Worded(op string, err error) error {
	var known *model.Error
	var lite sqlite3.Error
	var path *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return model.Ended(op, err)
	case errors.Is(err, sql.ErrConnDone), err.Error() == "sql: database is closed": // database/sql exports only the first
		return model.Errorf(model.Unavailable, op, "the store is closed")
	case errors.As(err, &lite):
		return wordedLite(op, lite)
	case errors.As(err, &path):
		return model.E(fileKind(path), op, path.Err)
	}
	return model.E(model.Internal, op, err)
}

// errNoSpace is the cause where SQLite cannot make its -shm, which it needs to read a database in WAL mode.
var errNoSpace = errors.New("the disk is full: free space and try again; a database in WAL mode needs some even to be read")

func fileKind(err error) model.Kind {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return model.NotFound
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return model.PermissionDenied
	}
	return model.Unavailable
}

func wordedLite(op string, err sqlite3.Error) error {
	switch err.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return model.Errorf(model.Locked, op, "another program holds the database's lock; try again when it is done")
	case sqlite3.ErrInterrupt:
		return model.Errorf(model.Timeout, op, "interrupted")
	case sqlite3.ErrCorrupt:
		return model.Errorf(model.Internal, op, "the database file is damaged (%s): copy it, run PRAGMA integrity_check on the copy and restore what it names", err.Error())
	case sqlite3.ErrNotADB:
		return model.Errorf(model.Internal, op, "the file is not an SQLite database, or is encrypted")
	case sqlite3.ErrFull:
		return model.E(model.Unavailable, op, &model.Untouched{Err: errors.New("the disk is full: nothing was changed, free space and try again")})
	case sqlite3.ErrIoErr:
		if errors.Is(err.SystemErrno, syscall.ENOSPC) {
			return model.E(model.Unavailable, op, errNoSpace)
		}
		return model.Errorf(model.Unavailable, op, "the disk did not read or write (%s)", err.Error())
	case sqlite3.ErrReadonly:
		return readOnlyError(op, err)
	case sqlite3.ErrPerm, sqlite3.ErrAuth:
		return model.Errorf(model.PermissionDenied, op, "the database may not be used (%s)", err.Error())
	case sqlite3.ErrCantOpen:
		return model.Errorf(model.Unavailable, op, "the database, or a -wal, -shm or -journal file beside it, cannot be opened (%s): "+
			"a database in WAL mode needs a directory that can be written, even for reading", err.Error())
	case sqlite3.ErrTooBig:
		return model.Errorf(model.InvalidInput, op, "a value is larger than SQLite takes")
	case sqlite3.ErrConstraint:
		return constraintError(op, err)
	}
	return model.E(model.Internal, op, err)
}

func readOnlyError(op string, err sqlite3.Error) error {
	switch err.ExtendedCode {
	case sqlite3.ErrReadonlyRollback:
		return model.Errorf(model.PermissionDenied, op, "a writer crashed and left a journal that must be rolled back first: open the file once with write access")
	case sqlite3.ErrReadonlyRecovery, sqlite3.ErrReadonlyCantLock:
		return model.Errorf(model.PermissionDenied, op, "the write-ahead log must be recovered first: open the file once with write access")
	}
	return model.Errorf(model.PermissionDenied, op, "the database cannot be written (%s); one in WAL mode needs a directory that can be written even to be read: run as its owner, or open a copy", err.Error())
}

// constraintError tells a duplicate from a value the schema refuses and from a
// row that others depend on. SQLite's text names columns and lists, no values.
func constraintError(op string, err sqlite3.Error) error {
	kind := model.InvalidInput
	switch err.ExtendedCode {
	case sqlite3.ErrConstraintPrimaryKey, sqlite3.ErrConstraintUnique, sqlite3.ErrConstraintRowID:
		kind = model.AlreadyExists
	case sqlite3.ErrConstraintForeignKey, sqlite3.ErrConstraintTrigger:
		kind = model.Conflict
	}
	return model.E(kind, op, err)
}

func isBusy(err error) bool {
	var lite sqlite3.Error
	return errors.As(err, &lite) && (lite.Code == sqlite3.ErrBusy || lite.Code == sqlite3.ErrLocked) ||
		errors.Is(err, model.Locked)
}
