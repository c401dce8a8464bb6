package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/embed"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/model"
)

func checkPostgres(c StoreConfig, set func(string) bool) (string, error) {
	if key, err := checkSecret("dsn", c.DSNEnv, c.DSNFile); err != nil {
		return key, err
	}
	switch {
	case set("max_conns") && (c.MaxConns < 1 || c.MaxConns > postgres.MaxConns):
		return "max_conns", fmt.Errorf("max_conns goes from 1 to %d", postgres.MaxConns)
	case c.MinConns < 0 || c.MinConns > cmp.Or(c.MaxConns, postgres.DefaultMaxConns):
		return "min_conns", errors.New("min_conns goes from 0 to max_conns")
	}
	return checkEmbedder(c, set)
}

// checkEmbedder is the rule of the two keys that embed a query.
func checkEmbedder(c StoreConfig, _ func(string) bool) (string, error) {
	if _, err := embed.New(c.EmbedURL, c.EmbedCommand); err != nil {
		key := "embed_url"
		if c.EmbedURL == "" {
			key = "embed_command"
		}
		return key, err
	}
	return "", nil
}

func postgresConfig(c StoreConfig, env Env) (postgres.Config, error) {
	dsn, err := readSecret(env, "dsn", c.DSNEnv, c.DSNFile)
	return postgres.Config{DSN: dsn, Workspace: c.Workspace, MaxConns: c.MaxConns, MinConns: c.MinConns, ReadOnly: c.ReadOnly, Distributed: c.Distributed, Clock: env.Clock}, err
}

func openPostgres(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	embedder, err := embed.New(c.EmbedURL, c.EmbedCommand)
	if err != nil {
		return model.Store{}, err
	}
	cfg, err := postgresConfig(c, env)
	if err != nil {
		return model.Store{}, err
	}
	db, err := postgres.Open(ctx, cfg)
	if err != nil {
		return model.Store{}, err
	}
	return hypergraph.Adapt(hypergraph.Config{
		Name: c.Name, Kind: c.Kind, Location: db.Location(), Backend: db,
		ReadOnly: db.ReadOnlyReason() != "", ReadOnlyReason: db.ReadOnlyReason(), Notes: db.Notes(), Clock: env.Clock,
		Bound: model.Bound{Workspace: c.Workspace}, Embedder: embedder, Migrator: db, Reindex: db.Reindex, Watcher: db, Maintainer: db.Maintainer(), Remote: true, Look: db.Look, Deep: db.Deep,
	}), nil
}

// createPostgres makes the schema in a database that is there.
func createPostgres(ctx context.Context, c StoreConfig, env Env) error {
	cfg, err := postgresConfig(c, env)
	if err != nil {
		return err
	}
	db, err := postgres.Open(ctx, cfg)
	if err == nil {
		defer db.Close()
		return model.Errorf(model.AlreadyExists, "create", "the database has memdesk's schema already; nothing was done")
	}
	if !errors.Is(err, model.NotFound) {
		return err
	}
	if db, err = postgres.Create(ctx, cfg); err != nil {
		return err
	}
	return db.Close()
}
