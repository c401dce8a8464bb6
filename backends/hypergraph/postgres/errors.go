package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"memdesk/backends/internal/pgserver"
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
		if words := pgserver.Connect(err); words != "" {
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
	if words := pgserver.Connect(err); words != "" {
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

// states are the kinds and words of SQLSTATEs, and of their classes (the PostgreSQL manual, Appendix A).
var states = []struct {
	codes string // with blanks between them
	kind  model.Kind
	words string
}{
	{"28P01 28000", model.PermissionDenied, "the server refuses this user or its password: check the connection string, its sslmode too, and pg_hba.conf"},
	{"3D000", model.NotFound, "the server has no such database: create it, or correct the connection string"},
	{"42501", model.PermissionDenied, "the database role lacks a privilege for this: grant it USAGE on schema memdesk and SELECT, INSERT, UPDATE, DELETE on its tables"},
	{"25006", model.PermissionDenied, "the server takes no changes: it is a standby or set to read-only"},
	{"40001 40P01", model.Locked, "another transaction was in the way; try again"},
	{"55P03", model.Locked, "another transaction holds what this needs; try again when it is done"},
	{"57014", model.Timeout, "the server ended the statement: cancelled, or over its time"},
	{"57P01 57P02", model.Unavailable, "the server ended the connection: whether a change under way was made is unknown, look before you repeat it"},
	{"57P03", model.Unavailable, "the server is starting up or shutting down; try again soon"},
	{"53300", model.Unavailable, "the server has no connection left: lower max_conns, or raise the server's max_connections"},
	{"53100", model.Unavailable, "the server's disk is full: nothing was changed"},
	{"53200", model.Unavailable, "the server is out of memory"},
	{"23505", model.AlreadyExists, "there is such an item already"},
	{"23503", model.Conflict, "another item depends on this one, or one that is named is gone"},
	{"23514 23502 22P02 22003", model.InvalidInput, "a value is outside what the schema admits"},
	{"22021 22P05", model.InvalidInput, "PostgreSQL stores no NUL character in a text"},
	{"54000 22001", model.InvalidInput, "a value is larger than PostgreSQL takes"},
	{"3F000 42P01 42703 42883", model.Unavailable, "the memdesk schema is not what it should be: somebody else changed it"},
	{"25P02", model.Internal, "the transaction was broken by an earlier error"},
	{"08", model.Unavailable, "the connection to the server broke"},
	{"28", model.PermissionDenied, "the server refuses this user"},
	{"53 57 58", model.Unavailable, "the server cannot serve now"},
}

// wordedServer decides by SQLSTATE, which a pooler may leave out.
func wordedServer(op string, e *pgconn.PgError) error {
	say := func(kind model.Kind, words string) error {
		return model.E(kind, op, pgserver.Proven(e, fmt.Errorf("%s (SQLSTATE %s)", words, e.Code)))
	}
	if pgserver.Policy(e) {
		return say(model.PermissionDenied, pgserver.HidesRows+", or a database of its own")
	}
	for _, code := range []string{e.Code, e.Code[:min(2, len(e.Code))]} {
		for _, s := range states {
			if slices.Contains(strings.Fields(s.codes), code) {
				return say(s.kind, s.words)
			}
		}
	}
	return say(model.Internal, "the server reports an error that memdesk has no words for")
}

// again reports whether a transaction may be rerun: another one made the server undo it completely.
func again(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return pgserver.Again(e)
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
