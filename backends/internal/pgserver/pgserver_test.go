package pgserver_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/backends/records"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// TestTLS connects to servers that accept only TLS and to one without it. A store must open where the
// certificate is the host's and its authority is trusted; a refusal must say what to correct.
func TestTLS(t *testing.T) {
	t.Parallel()
	right, authority := testpg.TCP(t, "127.0.0.1")
	wrong, wrongAuthority := testpg.TCP(t, "db.example")
	plain, _ := testpg.TCP(t, "")
	with := func(dsn string, settings ...string) string { return dsn + "?" + strings.Join(settings, "&") }
	other := filepath.Join(t.TempDir(), "hunter2.pem")
	if err := os.WriteFile(other, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dsn   string
		kind  model.Kind // "": it opens
		words string
		tls   bool
	}{
		"the whole proof":             {with(right, "sslmode=verify-full", "sslrootcert="+authority), "", "", true},
		"without the host":            {with(wrong, "sslmode=verify-ca", "sslrootcert="+wrongAuthority), "", "", true},
		"TLS without a proof":         {with(right, "sslmode=require"), "", "", true},
		"no sslmode":                  {right, "", "", true},
		"both without TLS":            {with(plain, "sslmode=disable"), "", "", false},
		"another host's certificate":  {with(wrong, "sslmode=verify-full", "sslrootcert="+wrongAuthority), model.Unavailable, "certificate names another host", false},
		"another authority":           {with(right, "sslmode=verify-full", "sslrootcert="+wrongAuthority), model.Unavailable, "not signed by an authority that is trusted here", false},
		"the machine's authorities":   {with(right, "sslmode=verify-full"), model.Unavailable, "not signed by an authority that is trusted here", false},
		"TLS off":                     {with(right, "sslmode=disable"), model.PermissionDenied, "over TLS only: set sslmode=verify-full", false},
		"a server without TLS":        {with(plain, "sslmode=verify-full"), model.Unavailable, "speaks no TLS", false},
		"an authority that is absent": {with(right, "sslmode=verify-full", "sslrootcert=/nowhere/hunter2"), model.InvalidInput, "check sslrootcert", false},
		"an authority that is none":   {with(right, "sslmode=verify-full", "sslrootcert="+other), model.InvalidInput, "cannot be read", false},
	} {
		t.Run(name, func(t *testing.T) {
			graphErr, rowsErr := openGraph(t, c.dsn), openRows(t, c.dsn)
			for family, err := range map[string]error{"a graph": graphErr, "rows": rowsErr} {
				if c.kind == "" {
					if err != nil {
						t.Errorf("%s: %v", family, err)
					}
					continue
				}
				if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.words) {
					t.Errorf("%s: %v, want kind %q with %q", family, err, string(c.kind), c.words)
				}
				for _, held := range []string{"hunter2", "127.0.0.1", "db.example"} {
					if strings.Contains(fmt.Sprint(err), held) {
						t.Errorf("%s: the error holds %q: %v", family, held, err)
					}
				}
			}
			if c.kind == "" {
				if got := testpg.Value(t, c.dsn, `SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()`); got != fmt.Sprint(c.tls) {
					t.Errorf("TLS is %s, want %v", got, c.tls)
				}
			}
		})
	}
}

// openGraph makes a graph workspace and uses it.
func openGraph(t *testing.T, dsn string) error {
	s, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(dsn)})
	if err != nil {
		return err
	}
	defer s.Close()
	node := hypergraph.Node{ID: t.Name(), Type: "fact", Tier: "task", Content: "x", Confidence: 1}
	return s.CreateNode(t.Context(), node)
}

// openRows reads a database as the kinds for other programs' tables do.
func openRows(t *testing.T, dsn string) error {
	s, _, err := records.Connect(model.NewSecret(dsn), "", true)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.View(t.Context(), "open", func(tx records.Tx) error {
		_, err := records.One(tx, `SELECT 1`, nil, new(int))
		return err
	})
}
