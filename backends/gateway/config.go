package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/backends/internal/endpoint"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the backend's name in a configuration.
const Kind = "gateway"

// Defaults of the published configuration (provider-contract.md G2, G4, G21).
const (
	DefaultTopK    = 8
	MaxTopK        = 100
	DefaultTimeout = 10 * time.Second
	DefaultApp     = "default"
	DefaultProject = "default"
	// DefaultSession names memdesk's own conversation: the gateway sees it as
	// chat:memdesk.
	DefaultSession = "memdesk"
	// Assistant is the sender of every answer (G12).
	Assistant = "beaver"
)

// Scopes are the parts of memory that a search may use (G3).
var Scopes = []string{"current_chat", "resources", "all_user_memory"}

// Config says which gateway to use, and as which user.
type Config struct {
	Name     string
	Location string // for people; empty: BaseURL

	BaseURL string // http or https, without credentials, query or fragment
	UserID  string
	UserKey model.Secret

	AppID, ProjectID string
	Scope            []string      // some of Scopes; it has no default
	TopK             int           // 0: DefaultTopK
	Timeout          time.Duration // of one request; 0: DefaultTimeout

	// Session names the conversation of the Provider's calls: writes go to chat:<Session>. A search sends
	// ConversationID, or the bare session where it is empty; SenderID sends the user's message, or UserID
	// where it is empty (G21).
	Session        string
	ConversationID string
	SenderID       string

	// SearchPath, AddPath and FlushPath are below BaseURL; empty: as published.
	SearchPath, AddPath, FlushPath string
	// Fields maps published field names to the gateway's own; FieldNames lists them.
	Fields map[string]string

	ReadOnly bool
	Clock    clock.Clock // nil means the system's
	// Journal is the file of the audit events, made at the first one; empty keeps only those of this process.
	// A failure to store an event is the operation's error (G19).
	Journal string
	// Transport carries the requests; nil makes one without a proxy and without kept connections, which
	// therefore repeats nothing by itself.
	Transport http.RoundTripper
}

// FieldNames are the published names that Fields may map, of requests and
// answers.
var FieldNames = []string{
	"user_id", "user_key", "conversation_id", "query", "scope", "top_k", "app_id", "project_id",
	"session_id", "messages", "sender_id", "role", "timestamp", "content",
	"results", "id", "text", "score", "source_scope", "resource_uri",
}

// ConfigError names the wrong key, as a configuration file spells it.
type ConfigError struct {
	Key    string // base_url, top_k
	Reason string // without the key's name and without any secret
}

// Error reads "key reason".
func (e *ConfigError) Error() string { return e.Key + " " + e.Reason }

func wrong(key, format string, args ...any) *ConfigError {
	return &ConfigError{key, fmt.Sprintf(format, args...)}
}

// Check applies every rule that needs neither the key nor the network (G2 to G4): nil, or the first error.
// Missing values are not wrong, apart from BaseURL, UserID and Scope (G3).
func (c Config) Check() *ConfigError {
	if err := checkURL(c.BaseURL); err != nil {
		return err
	}
	for _, f := range []struct{ key, value string }{
		{"user_id", c.UserID}, {"app_id", cmp.Or(c.AppID, "x")}, {"project_id", cmp.Or(c.ProjectID, "x")},
		{"session", cmp.Or(c.Session, "x")}, {"conversation_id", cmp.Or(c.ConversationID, "x")}, {"sender_id", cmp.Or(c.SenderID, "x")},
	} {
		if strings.TrimSpace(f.value) == "" {
			return wrong(f.key, "must not be empty")
		}
		if !utf8.ValidString(f.value) {
			return wrong(f.key, "is not UTF-8 text")
		}
	}
	if err := checkScope(c.Scope); err != nil {
		return err
	}
	switch {
	case c.TopK < 0 || c.TopK > MaxTopK:
		return wrong("top_k", "must be 1 to %d", MaxTopK)
	case c.Timeout < 0:
		return wrong("timeout", "must be more than 0")
	}
	for _, p := range []struct{ key, value string }{{"search_path", c.SearchPath}, {"add_path", c.AddPath}, {"flush_path", c.FlushPath}} {
		if err := checkPath(p.key, p.value); err != nil {
			return err
		}
	}
	return checkFields(c.Fields)
}

func checkURL(base string) *ConfigError {
	const key = "base_url"
	if strings.TrimSpace(base) == "" {
		return wrong(key, "must not be empty")
	}
	u, err := url.Parse(base)
	switch {
	case err != nil: // its text may contain the userinfo before an @
		return wrong(key, "is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return wrong(key, "must begin with http:// or https://")
	case u.User != nil:
		return wrong(key, "must not hold a user or a password")
	case u.Hostname() == "":
		return wrong(key, "names no host")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return wrong(key, "must not have a query or a fragment")
	case u.Scheme == "http" && !endpoint.Local(u.Hostname()):
		return wrong(key, "must be https beyond this machine: the user key travels in every request; without TLS there, give a tunnel on 127.0.0.1")
	}
	return nil
}

// checkScope is G3.
func checkScope(scope []string) *ConfigError {
	if len(scope) == 0 {
		return wrong("scope", "must not be empty: give some of %s", strings.Join(Scopes, ", "))
	}
	for _, s := range scope {
		if !slices.Contains(Scopes, s) {
			return wrong("scope", "holds %q, which is unknown: there are %s", s, strings.Join(Scopes, ", "))
		}
	}
	return nil
}

// checkPath keeps a path on the gateway's own host.
func checkPath(key, path string) *ConfigError {
	if path == "" {
		return nil
	}
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return wrong(key, "must be a path such as /memories/search")
	}
	return nil
}

func checkFields(fields map[string]string) *ConfigError {
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		own := fields[name]
		if !slices.Contains(FieldNames, name) {
			return wrong("fields", "maps %q, which is no published name: there are %s", name, strings.Join(FieldNames, ", "))
		}
		if own == "" || !utf8.ValidString(own) {
			return wrong("fields", "gives %s no name", name)
		}
		if other, twice := taken[own]; twice {
			return wrong("fields", "gives %s and %s the one name %q", other, name, own)
		}
		taken[own] = name
	}
	return nil
}

// checkKey refuses an impossible key, without repeating any of it.
func checkKey(key model.Secret) *ConfigError {
	switch v := key.Reveal(); {
	case strings.TrimSpace(v) == "":
		return wrong("user_key", "must not be empty")
	case !utf8.ValidString(v):
		return wrong("user_key", "is not UTF-8 text")
	}
	return nil
}

// filled fills in the defaults.
func (c Config) filled() Config {
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.Location = cmp.Or(c.Location, c.BaseURL)
	c.AppID, c.ProjectID = cmp.Or(c.AppID, DefaultApp), cmp.Or(c.ProjectID, DefaultProject)
	c.TopK, c.Timeout = cmp.Or(c.TopK, DefaultTopK), cmp.Or(c.Timeout, DefaultTimeout)
	c.Session = cmp.Or(c.Session, DefaultSession)
	c.SenderID = cmp.Or(c.SenderID, c.UserID)
	c.SearchPath = cmp.Or(c.SearchPath, "/memories/search")
	c.AddPath = cmp.Or(c.AddPath, "/memories/add")
	c.FlushPath = cmp.Or(c.FlushPath, "/memories/flush")
	var scope []string
	for _, s := range c.Scope { // keep each scope once
		if !slices.Contains(scope, s) {
			scope = append(scope, s)
		}
	}
	c.Scope = scope
	c.Clock = clock.Or(c.Clock)
	return c
}

// field is the gateway's own name of a published field.
func (c Config) field(name string) string {
	if own, ok := c.Fields[name]; ok {
		return own
	}
	return name
}
