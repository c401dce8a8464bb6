// Package pgserver is what every family that connects to a PostgreSQL server needs to
// know of one: why it and memdesk do not agree on TLS, what it proves by an error, and
// how a transaction ends. No word of the driver or of a certificate is passed on: they
// name hosts.
package pgserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"memdesk/model"
)

// Connect returns words for an error of a connection being made, or "" where the
// error has nothing to do with TLS.
func Connect(err error) string {
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var verification *tls.CertificateVerificationError
	var server *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &host):
		return "the server's certificate names another host than the connection string: give the host that it names (sslmode=verify-full compares them), or have the certificate name this one"
	case errors.As(err, &unknown):
		return "the server's certificate is not signed by an authority that is trusted here: name the authority's certificate by sslrootcert in the connection string"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate has expired, or is not valid yet: renew it, or set this machine's clock right"
	case errors.As(err, &invalid), errors.As(err, &verification):
		return "the server's certificate is not trusted: see sslrootcert in the connection string"
	case errors.As(err, &server):
		// The server's words are in its own language; these are the ones of English servers.
		if server.Code == "28000" && strings.Contains(server.Message, "no encryption") {
			return "the server lets this user in over TLS only: set sslmode=verify-full in the connection string"
		}
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return "the server speaks no TLS and the connection string asks for it: turn TLS on at the server (ssl = on), or set sslmode=disable where nobody can listen on the way"
	case strings.Contains(err.Error(), "tls error"):
		return "the server and memdesk do not agree on TLS: see sslmode in the connection string"
	}
	return ""
}

// Unreadable returns words for a connection string that names files which cannot
// be read, or "" where its fault is another.
func Unreadable(err error) string {
	var file *fs.PathError
	if errors.As(err, &file) {
		return "a file that the connection string names cannot be read: check sslrootcert, sslcert and sslkey"
	}
	return ""
}

// HidesRows is said where Policy reports true.
const HidesRows = "row-level security hides rows from the database role, and memdesk does not work on a part of a store: give the role BYPASSRLS"

// Policy reports whether the server would hide rows from this role.
func Policy(e *pgconn.PgError) bool { return e.Code == "42501" && e.Routine == "check_enable_rls" }

// Again reports whether the server undid a whole transaction because of another one.
func Again(e *pgconn.PgError) bool { return e.Code == "40001" || e.Code == "40P01" }

// Proven returns words, marked as Untouched where e says that the server is out of a resource: it rolled everything back.
func Proven(e *pgconn.PgError, words error) error {
	if strings.HasPrefix(e.Code, "53") {
		return &model.Untouched{Err: words}
	}
	return words
}

// endPatience is for a commit or rollback that has begun.
const endPatience = 30 * time.Second

// Unbroken ends a transaction. The end of ctx does not interrupt it: the outcome would be unknown.
func Unbroken(ctx context.Context, end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	return end(ctx)
}
