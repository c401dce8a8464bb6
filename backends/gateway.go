package backends

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"memdesk/backends/gateway"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// gatewayConfig is a block as the backend takes it, without its key.
func gatewayConfig(c StoreConfig, env Env) gateway.Config {
	return gateway.Config{
		Name: c.Name, Location: c.Path, BaseURL: c.BaseURL, UserID: c.UserID, AppID: c.AppID, ProjectID: c.ProjectID,
		Scope: c.Scope, TopK: c.TopK, Timeout: time.Duration(c.Timeout),
		Session: c.Session, ConversationID: c.ConversationID, SenderID: c.SenderID,
		SearchPath: c.SearchPath, AddPath: c.AddPath, FlushPath: c.FlushPath, Fields: c.Fields,
		ReadOnly: c.ReadOnly, Clock: env.Clock, Journal: journalOf(c.Name, env),
	}
}

// journalOf is where the events of a store lie that keeps none itself: in memdesk's
// state. Empty without a place for state.
func journalOf(store string, env Env) string {
	state, err := statedir.Path(env.lookup())
	if err != nil || model.CheckStoreName(store) != nil {
		return ""
	}
	return filepath.Join(state, "events", store+".jsonl")
}

// beaverKeys are in Beaver's own file where path names one.
var beaverKeys = []string{"base_url", "user_id", "user_key_env", "user_key_file", "app_id", "project_id", "scope", "top_k", "timeout"}

// checkGateway applies the rules of provider-contract.md G2 to G4 to a block.
func checkGateway(c StoreConfig, set func(string) bool) (string, error) {
	if set("path") {
		for _, key := range beaverKeys {
			if set(key) {
				return key, fmt.Errorf("%s stands in the config.json that path names: give one or the other", key)
			}
		}
		c.BaseURL, c.UserID, c.Scope = "http://localhost", "in-the-file", gateway.Scopes // the rest is checked here, these when it is opened
	}
	cfg := gatewayConfig(c, Env{})
	if bad := cfg.Check(); bad != nil {
		return bad.Key, bad
	}
	switch {
	case set("top_k") && c.TopK < 1:
		return "top_k", fmt.Errorf("top_k must be 1 to %d", gateway.MaxTopK)
	case set("timeout") && c.Timeout == 0:
		return "timeout", fmt.Errorf("timeout must be more than 0")
	}
	for key, v := range map[string]string{"app_id": c.AppID, "project_id": c.ProjectID} {
		if set(key) && v == "" {
			return key, fmt.Errorf("%s must not be empty", key)
		}
	}
	if set("path") {
		return "", nil
	}
	return checkSecret("user_key", c.UserKeyEnv, c.UserKeyFile)
}

func openGateway(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	cfg := gatewayConfig(c, env)
	if c.BaseURL == "" && c.Path == "" {
		return model.Store{}, model.Errorf(model.InvalidInput, "open", "a gateway needs the path of Beaver's config.json, or a block with base_url, user_id and a user key")
	}
	if c.Path == "" {
		key, err := readSecret(env, "user_key", c.UserKeyEnv, c.UserKeyFile)
		if err != nil {
			return model.Store{}, err
		}
		cfg.UserKey = key
		return gateway.Open(ctx, cfg)
	}
	mode, file, err := gateway.ReadBeaver(c.Path)
	if err != nil {
		return model.Store{}, err
	}
	if mode == gateway.Curated {
		return model.Store{}, model.Errorf(model.Unsupported, "open", "memory.mode is curated there: no gateway is in use; open the directory of its MEMORY.md as a curated store")
	}
	cfg.BaseURL, cfg.UserID, cfg.UserKey = file.BaseURL, file.UserID, file.UserKey
	cfg.AppID, cfg.ProjectID, cfg.Scope, cfg.TopK, cfg.Timeout = file.AppID, file.ProjectID, file.Scope, file.TopK, file.Timeout
	return gateway.Open(ctx, cfg)
}
