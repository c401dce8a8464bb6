package endpoint_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"memdesk/backends/internal/endpoint"
	"memdesk/model"
)

// TestCheck: a token and memory must go over https or stay on this machine, and a refusal must name the
// configuration key but not the address.
func TestCheck(t *testing.T) {
	for address, want := range map[string]string{
		"https://far.example/base/": "",
		"http://127.0.0.1:8080":     "",
		"http://localhost":          "",
		"http://[::1]:1":            "",
		"":                          "is missing",
		"far.example":               "is no URL",
		"ftp://far.example":         "must be http or https",
		"http://far.example":        "is plain http to another machine",
		"http://127.0.0.1.example":  "is plain http to another machine",
		"https://u:hunter2@far.x":   "must not hold a user",
		"https://far.x/?k=hunter2":  "must not hold a query",
		"https://far.x/#hunter2":    "must not hold a query",
	} {
		_, err := endpoint.Check("api_url", address)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", address, err)
		case want != "" && (model.KindOf(err) != model.InvalidInput || !strings.Contains(err.Error(), "api_url "+want)):
			t.Errorf("%q: %v, want %q", address, err, want)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%q is repeated: %v", address, err)
		}
	}
}

// TestClientIsPutOff: the answer 429 must become rate_limited, with the server's time for a retry where
// it gives one.
func TestClientIsPutOff(t *testing.T) {
	after := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer srv.Close()
	c, err := endpoint.NewClient(srv.URL, "X-API-Key", model.NewSecret("hunter2"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for value, want := range map[string]time.Duration{"": -1, "7": 7 * time.Second, "0": 0, "soon": -1, "-3": -1, "99999999999": -1,
		"Sun, 06 Nov 1994 08:49:37 GMT": 0} {
		after = value
		_, err := c.Do(t.Context(), "list", http.MethodGet, "x", nil, nil)
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.RateLimited || !e.Retryable || e.After != want {
			t.Errorf("Retry-After %q: %v (%+v), want after %s", value, err, e, want)
		}
	}
}

// TestAnEchoedKey: the reason of a server must not show the key that it was sent.
func TestAnEchoedKey(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"detail":"no use for ` + r.Header.Get("X-API-Key") + `"}`))
	}))
	defer srv.Close()
	c, err := endpoint.NewClient(srv.URL, "X-API-Key", model.NewSecret("hunter2"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Do(t.Context(), "list", http.MethodGet, "x", nil, nil); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "no use for ***") {
		t.Error(err)
	}
}
