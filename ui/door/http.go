package door

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/backends"
	"memdesk/internal/bearer"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// HTTP configures the service over HTTP.
type HTTP struct {
	// Callers hold the tokens.
	Callers []backends.Caller
	// Desk returns a caller's desk, the same one at every call; a caller without a desk gets nothing.
	Desk func(backends.Caller) *Desk
	// Door, when set, admits the callers instead of Callers: it may be shared by several servers, and its
	// callers may change.
	Door *bearer.Door
	// Called hears calls without a known token; nil: calls are not counted.
	Called func(verb, outcome string)
	// Origins are the web origins that may call beside the server's own.
	Origins []string
}

// The paths of a door (AD3, AD6).
const (
	Path         = "/mcp"
	metadataPath = "/.well-known/oauth-protected-resource"
)

const (
	maxSessions = 256 // of one caller
	idleSession = 30 * time.Minute
)

// Handler serves the desks at Path. It mounts into any server that keeps both paths.
func (c HTTP) Handler() http.Handler {
	if c.Door == nil {
		c.Door = bearer.New(c.Callers, bearer.Limits{})
	}
	h := &handler{HTTP: c, servers: map[*Desk]*mcp.Server{}, desks: map[string]*Desk{}}
	stream := func(o mcp.StreamableHTTPOptions) http.Handler {
		o.JSONResponse, o.MaxRequestBodyBytes = true, MaxRequest
		inner := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
			return r.Context().Value(serverKey{}).(*mcp.Server)
		}, &o)
		// The token was checked before; this binds a session to its first caller.
		return auth.RequireBearerToken(h.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(inner)
	}
	h.sessions, h.single = stream(mcp.StreamableHTTPOptions{SessionTimeout: idleSession}), stream(mcp.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+metadataPath, h.metadata)
	mux.HandleFunc("GET "+metadataPath+Path, h.metadata)
	mux.HandleFunc(Path, h.serve)
	return h.outside(mux)
}

type handler struct {
	HTTP
	sessions, single http.Handler // of revisions with sessions, and without

	mu      sync.Mutex
	servers map[*Desk]*mcp.Server
	desks   map[string]*Desk // the newest of each caller, by name
}

// serverKey carries the server of a request's caller.
type serverKey struct{}

// server is the desk's server; it is made once. When the caller had another desk before, with other scopes,
// the sessions of that one end: their calls would still have its scopes.
func (h *handler) server(caller string, d *Desk) *mcp.Server {
	h.mu.Lock()
	s := h.servers[d]
	if s == nil {
		s = d.Server()
		h.servers[d] = s
	}
	before := h.desks[caller]
	h.desks[caller] = d
	old := h.servers[before]
	h.mu.Unlock()
	if before != nil && before != d {
		for session := range old.Sessions() {
			_ = session.Close() // it takes no more calls in any case
		}
	}
	return s
}

// outside refuses pages of other origins, and names that DNS rebinding points here (AD7).
func (h *handler) outside(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if local != nil && loopback(local.String()) && !loopback(r.Host) {
			refuse(w, http.StatusForbidden, "the Host is not this machine")
			return
		}
		if from := r.Header.Values("Origin"); len(from) > 0 && (len(from) > 1 || from[0] != h.self(r) && !slices.Contains(h.Origins, from[0])) {
			refuse(w, http.StatusForbidden, "pages of this Origin may not call")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// loopback reports whether an address or a Host is this machine.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// self is the server's own origin as the caller reached it.
func (h *handler) self(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// metadata is that of the protected resource (RFC 9728), open to all.
func (h *handler) metadata(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = safetext.NewJSONWriter(w).Write(object{"resource": h.self(r) + Path, "authorization_servers": []string{},
		"scopes_supported": bearer.Scopes, "bearer_methods_supported": []string{"header"}})
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	where := fmt.Sprintf("resource_metadata=%q", h.self(r)+metadataPath+Path)
	guest := h.Door.Admit(r)
	var desk *Desk
	if guest != nil {
		desk = h.Desk(guest.Caller)
	}
	if desk == nil {
		if h.Called != nil {
			h.Called("any", bearer.Unknown)
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer %s, scope=%q", where, strings.Join(bearer.Scopes, " ")))
		refuse(w, http.StatusUnauthorized, "the server rejected the token (401)")
		return
	}
	if r.Method != http.MethodPost && r.Method != http.MethodDelete {
		w.Header().Set("Allow", "POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, "POST requests, DELETE ends a session")
		return
	}
	call, err := guest.BeginSoon(r)
	if err != nil {
		refuse(w, http.StatusTooManyRequests, message(err))
		return
	}
	defer call.End()
	server := h.server(guest.Name, desk)
	if r.Method == http.MethodPost {
		body, err := call.Body(w, r, MaxRequest)
		if err != nil {
			refuse(w, statusOf(err), message(err))
			return
		}
		calls, answer := messages(body)
		if answer == "" && !new(asked).add(calls) {
			answer = sameID
		}
		if answer != "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, answer+"\n")
			return
		}
		if scope := missing(r.Context(), desk, calls); scope != "" {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error=\"insufficient_scope\", scope=%q, %s", scope, where))
			refuse(w, http.StatusForbidden, "the token has not the scope "+scope)
			return
		}
		if !isSingle(r) && r.Header.Get("Mcp-Session-Id") == "" && len(slices.Collect(server.Sessions())) >= maxSessions {
			refuse(w, http.StatusTooManyRequests, "too many sessions of this token: end some")
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	inner := h.sessions
	if isSingle(r) {
		inner = h.single
	}
	inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, server)))
}

// isSingle reports whether a request is of a revision without sessions (AD2): the first is 2026-07-28.
func isSingle(r *http.Request) bool { return r.Header.Get("Mcp-Protocol-Version") >= "2026" }

func statusOf(err error) int {
	switch model.KindOf(err) {
	case model.InvalidInput:
		return http.StatusRequestEntityTooLarge
	case model.RateLimited:
		return http.StatusTooManyRequests
	}
	return http.StatusBadRequest
}

// missing is the first scope that a request's tool calls need and the caller lacks (AD5). The refusal is
// recorded.
func missing(ctx context.Context, d *Desk, all []jsonrpc.Message) string {
	for _, m := range all {
		r, ok := m.(*jsonrpc.Request)
		var params map[string]json.RawMessage // names as they are spelled: a struct takes Name for name
		var name string
		if !ok || r.Method != "tools/call" || json.Unmarshal(r.Params, &params) != nil || json.Unmarshal(params["name"], &name) != nil {
			continue
		}
		args := params["arguments"]
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		if scope := d.Missing(name, args); scope != "" {
			d.Refused(ctx, bearer.Verb(scope), scope)
			d.called(name, model.Refuse("serve", scope))
			return scope
		}
	}
	return ""
}

// verify names the caller of a token for the transport.
func (h *handler) verify(_ context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
	guest := h.Door.Admit(r)
	if guest == nil {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: guest.Name, Scopes: guest.Scopes}, nil
}

func refuse(w http.ResponseWriter, status int, why string) {
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", bearer.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = safetext.NewJSONWriter(w).Write(object{"error": why})
}
