package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memdesk/backends/internal/pgtls"
	"memdesk/model"
)

// worded gives an error of the driver or the server its kind and a text that an operator can act on.
// The driver's own text names user, host and database, and a server's detail contains values of a row;
// neither is ever passed on. A *model.Error is returned unchanged.
func worded(op string, err error) error {
	var known *model.Error
	var server *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.As(err, &server):
		if words := pgtls.Connect(err); words != "" {
			return model.Errorf(model.PermissionDenied, op, "%s (SQLSTATE %s)", words, server.Code)
		}
		return wordedServer(op, server)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return model.Ended(op, err)
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return model.Errorf(model.Internal, op, "the server rolled the transaction back instead of committing it: nothing was changed")
	case err.Error() == "closed pool":
		return model.Errorf(model.Unavailable, op, "the store is closed")
	case unreachable(err):
		return model.Errorf(model.Unavailable, op, "%s", unreachableWords(err))
	}
	return model.Errorf(model.Internal, op, "the PostgreSQL driver reports an error that memdesk has no words for (%s)", typeName(err))
}

func unreachable(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "unexpected EOF")
}

// unreachableWords says why a server is unreachable without naming it.
func unreachableWords(err error) string {
	if words := pgtls.Connect(err); words != "" {
		return words
	}
	text := err.Error()
	for _, w := range []struct{ sign, words string }{
		{"connection refused", "nothing answers at the server's address: is PostgreSQL running, and are host and port right?"},
		{"no such file", "the server's socket is not there: is PostgreSQL running, and is the host's directory right?"},
		{"no such host", "the server's host name is unknown"},
		{"server misbehaving", "the server's host name cannot be looked up now"},
	} {
		if strings.Contains(strings.ToLower(text), w.sign) {
			return w.words
		}
	}
	return "the connection to the server broke: whether a change under way was made is unknown, look before you repeat it"
}

// typeName is the innermost error's type, which contains no value.
func typeName(err error) string {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
}

// wordedServer decides by SQLSTATE (the PostgreSQL manual, Appendix A).
func wordedServer(op string, e *pgconn.PgError) error {
	say := func(kind model.Kind, words string) error {
		return model.Errorf(kind, op, "%s (SQLSTATE %s)", words, e.Code)
	}
	switch e.Code {
	case "28P01", "28000":
		return say(model.PermissionDenied, "the server refuses this user or its password: check the connection string, its sslmode too, and pg_hba.conf")
	case "3D000":
		return say(model.NotFound, "the server has no such database: create it, or correct the connection string")
	case "42501":
		if e.Routine == "check_enable_rls" {
			return say(model.PermissionDenied, "row-level security hides rows from the database role, and memdesk does not work on a part of a store: give the role BYPASSRLS, or a database of its own")
		}
		return say(model.PermissionDenied, "the database role lacks a privilege for this: grant it USAGE on schema memdesk and SELECT, INSERT, UPDATE, DELETE on its tables")
	case "25006":
		return say(model.PermissionDenied, "the server takes no changes: it is a standby or set to read-only")
	case "40001", "40P01":
		return say(model.Locked, "another transaction was in the way; try again")
	case "55P03":
		return say(model.Locked, "another transaction holds what this needs; try again when it is done")
	case "57014":
		return say(model.Timeout, "the server ended the statement: cancelled, or over its time")
	case "57P01", "57P02":
		return say(model.Unavailable, "the server is shutting down: whether a change under way was made is unknown, look before you repeat it")
	case "57P03":
		return say(model.Unavailable, "the server is starting up or shutting down; try again soon")
	case "53300":
		return say(model.Unavailable, "the server has no connection left: lower max_conns, or raise the server's max_connections")
	case "53100":
		return say(model.Unavailable, "the server's disk is full: nothing was changed")
	case "53200":
		return say(model.Unavailable, "the server is out of memory")
	case "23505":
		return say(model.AlreadyExists, "there is such an item already")
	case "23503":
		return say(model.Conflict, "another item depends on this one, or one that is named is gone")
	case "23514", "23502", "22P02", "22003":
		return say(model.InvalidInput, "a value is outside what the schema admits")
	case "22021", "22P05":
		return say(model.InvalidInput, "PostgreSQL stores no NUL character in a text")
	case "54000", "22001":
		return say(model.InvalidInput, "a value is larger than PostgreSQL takes")
	case "3F000", "42P01", "42703", "42883":
		return say(model.Unavailable, "the memdesk schema is not what it should be: see its version with memdesk migrate")
	case "25P02":
		return say(model.Internal, "the transaction was broken by an earlier error")
	}
	switch e.Code[:2] {
	case "08":
		return say(model.Unavailable, "the connection to the server broke")
	case "28":
		return say(model.PermissionDenied, "the server refuses this user")
	case "53", "57", "58":
		return say(model.Unavailable, "the server cannot serve now")
	}
	return say(model.Internal, "the server reports an error that memdesk has no words for")
}

// again reports whether a transaction may be rerun: another one made the server undo it completely.
func again(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code == "40001" || e.Code == "40P01"
	}
	return errors.Is(err, errAgain)
}

// errAgain marks the worded error of a transaction that may be rerun.
var errAgain = errors.New("another transaction was in the way")

// lost reports whether a statement failed because its connection had already ended, so that the server
// never began it.
func lost(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code == "57P01" || e.Code == "57P02"
	}
	return pgconn.SafeToRetry(err) || unreachable(err)
}
