package cli_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Names that a store ties to the id must be proposed, escaped, when the request is filed, and must
// never become aliases by themselves.
func TestARequestProposesNames(t *testing.T) {
	d := newDesk(t)
	c := backends.StoreConfig{Name: "sqlite", Kind: "sqlite", Path: filepath.Join(d.dir, "own.sqlite")}
	kind, _ := backends.Builtin().Kind("sqlite")
	if err := kind.Create(t.Context(), c, backends.Env{Clock: clock.System{}}); err != nil {
		t.Fatal(err)
	}
	fleet := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{c}, backends.Env{Clock: clock.System{}}, backends.Policy{
		Audit: func(ctx context.Context, _ *model.Call, next func(context.Context) error) error { return next(ctx) }})
	s, err := fleet.Store("sqlite")
	if err == nil {
		_, err = s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "k", Mode: model.Replace, Content: "tea", DataSubjectID: "usr_ida9931"})
	}
	if cerr := fleet.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	db, err := sql.Open("sqlite3", c.Path) // another program writes what the scanner keeps out of memdesk's writes
	if err == nil {
		_, err = db.Exec(`UPDATE nodes SET metadata = ?`, `{"name": "Ida \u001b[31mFrostfeld", "full_name": "Ida \u202eFrost", "email": "ida@example.test"}`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	request := func(more ...string) result {
		t.Helper()
		return d.bare(append([]string{"--open", "sqlite=" + c.Path, "gdpr", "request", "--subject", "usr_ida9931", "--received", "2026-01-31", "--ground", "asked", "--yes"}, more...)...).want(t, 0)
	}
	r := request("--json")
	got := map[any]any{}
	for _, one := range r.rows {
		if one["type"] == "proposal" {
			got[one["field"]] = one["value"]
			if one["store"] != "sqlite" {
				t.Errorf("%v", one)
			}
		}
	}
	if len(got) != 2 || got["full_name"] == nil || got["email"] != "ida@example.test" || !strings.Contains(r.err, "ida@example.test") {
		t.Errorf("proposed %v, said %s", got, r.err)
	}
	if n := r.last(t, "request")["aliases"]; n != 0.0 {
		t.Errorf("%v aliases; a proposal is nobody's until it is given", n)
	}
	if strings.ContainsAny(r.err, "\x1b\u202e") || strings.Contains(r.out, "\x1b") {
		t.Errorf("an escape reaches the terminal: %q %q", r.out, r.err)
	}
	if r = request("--alias", "ida@example.test"); strings.Contains(r.err, `"ida@example.test"`) {
		t.Errorf("a name that was given is proposed: %s", r.err)
	}
}
