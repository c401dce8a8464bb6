package backends

import (
	"context"

	"memdesk/backends/records/mem0"
	"memdesk/model"
)

// checkMem0 wants one of mem0's three doors: files, a collection, or the REST server.
func checkMem0(c StoreConfig, set func(string) bool) (string, error) {
	dsn, rest := c.DSNEnv != "" || c.DSNFile != "", c.BaseURL != ""
	bad := func(key, why string) (string, error) {
		return key, model.Errorf(model.InvalidInput, "config", "%s", why)
	}
	switch {
	case c.Path == "" && !dsn && !rest:
		return bad("kind", "a mem0 store needs path, or dsn_env of its pgvector database, or base_url of its server")
	case c.Path != "" && (dsn || rest), dsn && rest:
		return bad("kind", "path, dsn_env and base_url are three doors of mem0: give one")
	case rest && c.History != "":
		return bad("history", "the history of a server lies behind it: history goes with path or dsn_env")
	}
	for _, key := range []string{"schema", "collection"} {
		if set(key) && !dsn {
			return bad(key, key+" goes with dsn_env")
		}
	}
	for _, key := range []string{"api_key_env", "api_key_file", "user_id"} {
		if set(key) && !rest {
			return bad(key, key+" goes with base_url")
		}
	}
	if dsn {
		return checkSecret("dsn", c.DSNEnv, c.DSNFile)
	}
	if name, file := ownText(c, "api_key_env"), ownText(c, "api_key_file"); name != "" || file != "" {
		return checkSecret("api_key", name, file)
	}
	return "", nil // a server may ask for no key
}

// ownText is a key of the kind's own, whose type the configuration's reader has checked.
func ownText(c StoreConfig, key string) string {
	switch v := c.Own[key].(type) {
	case string:
		return v
	case Path:
		return string(v)
	}
	return ""
}

func openMem0(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	cfg := mem0.Config{Name: c.Name, Path: c.Path, History: c.History, Schema: c.Schema, Collection: ownText(c, "collection"),
		BaseURL: c.BaseURL, UserID: c.UserID, ReadOnly: c.ReadOnly, Clock: env.Clock}
	var err error
	if c.DSNEnv != "" || c.DSNFile != "" {
		cfg.DSN, err = readSecret(env, "dsn", c.DSNEnv, c.DSNFile)
	}
	if name, file := ownText(c, "api_key_env"), ownText(c, "api_key_file"); err == nil && (name != "" || file != "") {
		cfg.APIKey, err = readSecret(env, "api_key", name, file)
	}
	if err != nil {
		return model.Store{}, err
	}
	return mem0.Open(ctx, cfg)
}
