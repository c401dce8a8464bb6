package backends

import (
	"context"
	"net/http"
	"strings"

	"memdesk/backends/remote"
	"memdesk/model"
)

// Caller is somebody who may use a served store, with a bearer token.
type Caller = remote.Caller

// Served says what is served to whom.
type Served = remote.ServeConfig

// Serve is the Provider contract over HTTP for one store: what `memdesk serve
// provider` listens with.
func Serve(c Served) http.Handler { return remote.Handler(c) }

func checkRemote(c StoreConfig, _ func(string) bool) (string, error) {
	if c.BaseURL == "" {
		return "kind", model.Errorf(model.InvalidInput, "config", "a remote store needs base_url = \"https://…\"")
	}
	return checkSecret("token", c.TokenEnv, c.TokenFile)
}

// openRemote also takes TOKENVARIABLE@URL as its location, for --open.
func openRemote(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	if name, url, ok := strings.Cut(c.Location, "@"); ok && c.BaseURL == "" {
		c.TokenEnv, c.BaseURL = name, url
	}
	if c.BaseURL == "" {
		return model.Store{}, model.Errorf(model.InvalidInput, "open", "a remote store needs the variable with its token and its URL: --open remote=TOKEN@https://host:port")
	}
	token, err := readSecret(env, "token", c.TokenEnv, c.TokenFile)
	if err != nil {
		return model.Store{}, err
	}
	s, err := remote.Open(ctx, remote.Config{Name: c.Name, BaseURL: c.BaseURL, Token: token, Clock: env.Clock})
	if err == nil && c.ReadOnly && !s.ReadOnly {
		s.ReadOnly, s.ReadOnlyReason = true, "its configuration says read_only"
	}
	return s, err
}
