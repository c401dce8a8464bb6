package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"memdesk/backends/gateway"
	"memdesk/model"
)

const (
	userKey   = "uk_test_only_51c0de"
	rawSecret = "RAWSECRET-TEST"
)

// call is one received request.
type call struct {
	path string
	body string
}

// server is a small gateway: it stores added messages and finds them by words. A reply set for a path
// overrides its answer.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	calls   []call
	texts   []string
	replies map[string]http.HandlerFunc
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{replies: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *server) reply(path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies[path] = h
}

// status answers with a code and a body that echoes the key.
func (s *server) status(path string, code int) {
	s.reply(path, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprintf(w, "denied %s %s", userKey, rawSecret)
	})
}

func (s *server) text(path, body string) {
	s.reply(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.calls = append(s.calls, call{r.URL.Path, string(data)})
	h := s.replies[r.URL.Path]
	s.mu.Unlock()
	if h != nil {
		h(w, r)
		return
	}
	var body struct {
		Query    string
		Messages []struct{ Role, Content string }
	}
	_ = json.Unmarshal(data, &body)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Path {
	case "/memories/add":
		for _, m := range body.Messages {
			if m.Role == "user" {
				s.texts = append(s.texts, m.Content)
			}
		}
		_, _ = io.WriteString(w, `{"status":"accumulated"}`)
	case "/memories/flush":
		_, _ = io.WriteString(w, `{"status":"extracted"}`)
	case "/memories/search":
		results := []map[string]any{}
		for i, t := range s.texts {
			if strings.Contains(t, body.Query) {
				results = append(results, map[string]any{"id": fmt.Sprintf("m-%d", i), "text": t, "score": 0.5, "raw": rawSecret})
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"results": results})
	default:
		http.NotFound(w, r)
	}
}

// paths lists the requests so far and clears the list.
func (s *server) paths() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.calls {
		out = append(out, strings.TrimPrefix(c.path, "/memories/"))
	}
	s.calls = nil
	return strings.Join(out, " ")
}

func (s *server) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		return ""
	}
	return s.calls[len(s.calls)-1].body
}

func config(url string) gateway.Config {
	return gateway.Config{Name: "gw", BaseURL: url, UserID: "u1", UserKey: model.NewSecret(userKey), Scope: []string{"current_chat", "resources"}, Timeout: 5 * time.Second}
}

func opened(t *testing.T, cfg gateway.Config) model.Store {
	t.Helper()
	s, err := gateway.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// silent is a listener that accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}
