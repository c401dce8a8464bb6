package transfer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
	"memdesk/transfer"
)

func openPostgres(t *testing.T) model.Store {
	t.Helper()
	db, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(testpg.DSN(t)), Workspace: "w"})
	if err != nil {
		t.Fatal(err)
	}
	s := hypergraph.Adapt(hypergraph.Config{Name: "server", Kind: "postgres", Backend: db})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestRoundTripThroughAServer: a copy from a file to a server and back into a file must be equal, and
// data that the server cannot store must be reported for each item.
func TestRoundTripThroughAServer(t *testing.T) {
	first, between, back := openSQLite(t, "first"), openPostgres(t), openSQLite(t, "back")
	fill(t, first)
	want := content(t, first)
	const withNUL = "holds a NUL"
	if _, err := first.Provider.Retain(t.Context(), model.RetainRequest{ID: withNUL, Tier: "task", Mode: model.Replace, Content: "a\x00b"}); err != nil {
		t.Fatal(err)
	}
	for _, leg := range []struct {
		from, to model.Store
		failed   int64
	}{{first, between, 1}, {between, back, 0}} {
		sum, all, err := run(t, leg.from, leg.to, transfer.Options{}, &memory{})
		if err != nil || sum.Failed != leg.failed || sum.Copied != int64(len(want)) {
			t.Fatalf("%+v, %v: %+v", sum, err, all)
		}
		for _, o := range all {
			if o.ID == withNUL && (o.Result != transfer.Failed || !strings.Contains(o.Reason, "NUL")) {
				t.Errorf("the item that cannot be stored: %+v", o)
			}
		}
	}
	if d := cmp.Diff(want, content(t, between)); d != "" {
		t.Errorf("(-first +server):\n%s", d)
	}
	if d := cmp.Diff(want, content(t, back)); d != "" {
		t.Errorf("(-first +back):\n%s", d)
	}
}
