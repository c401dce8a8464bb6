// Package pgtls words why a PostgreSQL server and memdesk do not agree on TLS, for
// every family that connects to one. No word of the driver or of a certificate is
// passed on: they name hosts.
package pgtls

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
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
