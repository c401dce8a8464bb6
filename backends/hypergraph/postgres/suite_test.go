package postgres_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/hypergraphtest"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var workspaces atomic.Int64

// desk opens each store as its own workspace of one database, so that a suite also shows that
// workspaces stay separate.
func desk(t *testing.T) func(t *testing.T) *postgres.Store {
	var once sync.Once
	dsn := testpg.DSN(t)
	return func(t *testing.T) *postgres.Store {
		t.Helper()
		cfg := postgres.Config{DSN: model.NewSecret(dsn), Workspace: fmt.Sprint("ws-", workspaces.Add(1))}
		once.Do(func() {
			s, err := postgres.Create(t.Context(), cfg)
			must(t, err)
			must(t, s.Close())
		})
		s, err := postgres.Open(t.Context(), cfg)
		must(t, err)
		configs.Store(s, cfg)
		return s
	}
}

var configs sync.Map // of every store that a desk opened

// reopen opens a store's workspace again with a changed configuration.
func reopen(t *testing.T, s *postgres.Store, change func(*postgres.Config)) *postgres.Store {
	t.Helper()
	v, _ := configs.Load(s)
	cfg := v.(postgres.Config)
	change(&cfg)
	again, err := postgres.Open(t.Context(), cfg)
	must(t, err)
	return again
}

func TestBackend(t *testing.T) {
	t.Parallel()
	open := desk(t)
	hypergraphtest.Run(t, func(t *testing.T) hypergraph.Backend { return open(t) })
}
