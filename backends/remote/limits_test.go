package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/backends/remote"
	"memdesk/internal/bearer"
	"memdesk/model"
)

// far is a server whose store counts the operations that reach it.
func far(t *testing.T, callers ...string) (url string, reached func() int) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	store := graph(inmem.New(nil), false).Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		mu.Lock()
		n++
		mu.Unlock()
		return next(ctx)
	})
	cfg := remote.ServeConfig{Limits: bearer.Limits{Waiting: -1}, Store: func(remote.Caller) model.Store { return store }}
	for _, c := range callers {
		cfg.Callers = append(cfg.Callers, bearer.Caller{Name: c, Token: model.NewSecret(token + c)})
	}
	srv := httptest.NewServer(remote.Handler(cfg))
	t.Cleanup(srv.Close)
	return srv.URL, func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

func send(t *testing.T, url, caller, path string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token+caller)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// A request's fields must be bounded before a store sees them, and never repeated in an answer.
func TestFieldsAreBounded(t *testing.T) {
	url, reached := far(t, "a")
	retain := func(field, value string) string {
		return fmt.Sprintf(`{%q:%q,"mode":"replace","content":"x","tier":"task"}`, field, value)
	}
	long, deep := strings.Repeat("d", 5000), strings.Repeat("d/", 20000)
	for _, tt := range []struct{ path, body string }{
		{"/v1/retain", `{"id":"` + deep + `x.md","mode":"replace","content":"x"}`},
		{"/v1/retain", `{"id":"` + strings.Repeat("d/", 64) + `x.md","mode":"replace","content":"x"}`},
		{"/v1/retain", `{"id":"` + long + `","mode":"replace","content":"x"}`},
		{"/v1/retain", retain("key", long)}, {"/v1/retain", retain("agent_id", long)}, {"/v1/retain", retain("if_match", long)},
		{"/v1/retain", `{"mode":"replace","content":"x","tier":"` + long + `"}`},
		{"/v1/retain", `{"mode":"replace","content":"x","tier":"task","meta":[{"name":"` + long + `","value":"x"}]}`},
		{"/v1/forget", `{"id":"` + deep + `"}`}, {"/v1/forget", `{"data_subject_id":"` + long + `"}`},
		{"/v1/read", `{"id":"` + deep + `"}`}, {"/v1/falls", `{"ids":["a","` + deep + `"]}`},
		{"/v1/recall", `{"query":"x","workspace_id":"` + long + `"}`},
	} {
		status, body := send(t, url, "a", tt.path, strings.NewReader(tt.body))
		if status != http.StatusBadRequest || len(body) > 500 {
			t.Errorf("%s with %.40s…: %d %.200s", tt.path, tt.body, status, body)
		}
	}
	if n := reached(); n != 0 {
		t.Errorf("%d operations reached the store", n)
	}
	id := strings.Repeat("d/", 63) + "x"
	if status, body := send(t, url, "a", "/v1/read", strings.NewReader(`{"id":"`+id+`"}`)); status != http.StatusNotFound || reached() != 1 {
		t.Errorf("an id within the bounds: %d %s", status, body)
	}
	large := strings.Repeat("harbour lights ", 100_000)
	if status, body := send(t, url, "a", "/v1/retain", strings.NewReader(`{"mode":"replace","tier":"task","content":"`+large+`"}`)); status != 200 {
		t.Errorf("a document of %d bytes: %d %s", len(large), status, body)
	}
}

// A scope that the store does not know must be named as ignored, and one that it knows must not.
func TestAnIgnoredScope(t *testing.T) {
	unbound := hypergraph.Adapt(hypergraph.Config{Name: "near", Kind: "inmem", Backend: inmem.New(nil), Bound: model.Bound{Workspace: "ws"}})
	srv := httptest.NewServer(remote.Handler(remote.ServeConfig{Store: func(remote.Caller) model.Store { return unbound },
		Callers: []bearer.Caller{{Name: "a", Token: model.NewSecret(token + "a")}}}))
	t.Cleanup(srv.Close)
	for path, body := range map[string]string{"/v1/retain": `"workspace_id":"ws","tier":"task","mode":"replace","content":"x"`, "/v1/recall": `"query":"x"`, "/v1/forget": `"id":"none"`} {
		status, got := send(t, srv.URL, "a", path, strings.NewReader(`{"agent_id":"bob",`+body+`}`))
		if status != 200 || !strings.Contains(got, `"warnings":["agent_id was ignored: the store knows no agents"]`) {
			t.Errorf("%s: %d %s", path, status, got)
		}
		if _, got := send(t, srv.URL, "a", path, strings.NewReader(`{`+body+`}`)); strings.Contains(got, "ignored") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// Large requests with few fields must cost no memory.
func TestLargeRequestsOfSmallCalls(t *testing.T) {
	url, reached := far(t, "a")
	body := append([]byte(`{"id":"`), bytes.Repeat([]byte("x"), 32<<20)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/read", struct{ io.Reader }{bytes.NewReader(body)}) // of unknown length
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer "+token+"a")
			req.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(req)
			if err != nil { // the server closed before all was sent
				return
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusBadRequest {
				t.Errorf("status %d", res.StatusCode)
			}
		})
	}
	wg.Wait()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
		t.Errorf("ten requests allocated %d bytes", got)
	}
	if reached() != 0 {
		t.Error("one reached the store")
	}
}

// Slow requests of one caller must block only that caller.
func TestSlowRequests(t *testing.T) {
	url, _ := far(t, "a", "b")
	host := strings.TrimPrefix(url, "http://")
	for range bearer.Calls {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/retain HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %sa\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", token)
	}
	body := `{"mode":"replace","tier":"task","content":"x"}`
	for status := 0; status != http.StatusTooManyRequests; { // until the slow ones have arrived
		status, _ = send(t, url, "a", "/v1/retain", strings.NewReader(body))
	}
	for range 20 {
		if status, answer := send(t, url, "b", "/v1/retain", strings.NewReader(body)); status != 200 {
			t.Fatalf("another caller: %d %s", status, answer)
		}
	}
}

// A caller may do what its scopes allow; other calls must be refused before the store, and reported.
func TestScopes(t *testing.T) {
	reached, refused := 0, []string{}
	store := graph(inmem.New(nil), false).Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		reached++
		return next(ctx)
	})
	srv := httptest.NewServer(remote.Handler(remote.ServeConfig{Store: func(remote.Caller) model.Store { return store },
		Callers: []remote.Caller{{Name: "a", Token: model.NewSecret(token + "a"), Scopes: []string{bearer.ScopeRecall}}},
		Refused: func(_ context.Context, c remote.Caller, scope string) { refused = append(refused, c.Name+" "+scope) }}))
	defer srv.Close()
	for _, tt := range []struct {
		path, body string
		want       int
	}{
		{"/v1/retain", `{"tier":"task","mode":"replace","content":"x"}`, 403}, {"/v1/forget", `{"id":"x"}`, 403},
		{"/v1/recall", `{"query":"x"}`, 200}, {"/v1/list", `{}`, 200},
	} {
		before := reached
		if status, body := send(t, srv.URL, "a", tt.path, strings.NewReader(tt.body)); status != tt.want || status == 403 && reached != before {
			t.Errorf("%s: %d %s", tt.path, status, body)
		}
	}
	if got := strings.Join(refused, ","); got != "a memory:retain,a memory:forget" {
		t.Errorf("refused %q", got)
	}
}

// TestOnlyUTF8: a decoder would replace other bytes, so that another text is stored than was sent (R12).
func TestOnlyUTF8(t *testing.T) {
	url, reached := far(t, "a")
	if status, body := send(t, url, "a", "/v1/retain", strings.NewReader("{\"id\":\"x\",\"mode\":\"replace\",\"content\":\"caf\xe9\"}")); status != http.StatusBadRequest || reached() > 0 {
		t.Errorf("a request: %d %s", status, body)
	}
	for _, request := range []string{`{"id":"x","mode":"replace","content":"a \ud800 b"}`, `{"id":"x","mode":"replace","content":"a"}}`, `{"id":"x","mode":"replace","content":"a"}]`,
		`{"id":"x","mode":"replace","content":"a"} {}`, `[]`} {
		if status, body := send(t, url, "a", "/v1/retain", strings.NewReader(request)); status != http.StatusBadRequest || reached() > 0 {
			t.Errorf("%s: %d %s", request, status, body)
		}
	}
	cut := "caf\xe9"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/store":
			_, _ = w.Write([]byte(`{"kind":"x","tiers":[],"facets":["browse","names"]}`))
		case "/v1/read":
			_, _ = w.Write([]byte("{\"id\":\"x\",\"tier\":\"task\",\"bytes\":4,\"content\":\"" + cut + "\"}"))
		default:
			_, _ = w.Write([]byte("{\"id\":\"caf\xe9\"}\n{\"done\":true}\n"))
		}
	}))
	defer srv.Close()
	s, err := remote.Open(t.Context(), remote.Config{Name: "far", BaseURL: srv.URL, Token: model.NewSecret(token)})
	if err != nil {
		t.Fatal(err)
	}
	for _, cut = range []string{cut, `a \udc00 b`} {
		if it, err := s.Browser.Read(t.Context(), "x"); !errors.Is(err, model.Unavailable) {
			t.Errorf("an answer: %q, %v", it.Body, err)
		}
	}
	if _, err := s.Names.Names(t.Context(), func(string) bool { return true }); !errors.Is(err, model.Unavailable) {
		t.Errorf("a line: %v", err)
	}
}

// TestOddValuesTravel: a date beyond the year 9999 must not hide the other items, a field that nothing can edit
// must say so, and a removal must keep the history that the operator wants to keep.
func TestOddValuesTravel(t *testing.T) {
	near := graph(inmem.New(nil), false)
	asked := model.ForgetRequest{}
	near = near.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpForget {
			asked = *c.Forget
		}
		return next(ctx)
	})
	near.Browser = dated{near.Browser}
	s := serve(t, near)
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "n", Tier: "task", Content: "x", Mode: model.Replace}); err != nil {
		t.Fatal(err)
	}
	if it, err := s.Browser.Read(t.Context(), "n"); err != nil || len(it.Meta) == 0 || !it.Meta[0].Sealed {
		t.Errorf("%+v, %v", it, err)
	}
	if page, err := s.Browser.List(t.Context(), model.PageRequest{}); err != nil || len(page.Items) != 1 || !page.Items[0].Modified.IsZero() {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "n", KeepHistory: true}); err != nil || !asked.KeepHistory {
		t.Errorf("%+v, %v", asked, err)
	}
}

// dated gives every item a date that JSON cannot hold, and a sealed field.
type dated struct{ model.Browser }

func (d dated) Read(ctx context.Context, id string) (model.Item, error) {
	it, err := d.Browser.Read(ctx, id)
	if len(it.Meta) > 0 {
		it.Meta[0].Sealed = true
	}
	return it, err
}

func (d dated) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	page, err := d.Browser.List(ctx, req)
	for i := range page.Items {
		page.Items[i].Modified = time.UnixMilli(1716300000000000)
	}
	return page, err
}

// TestAnAnswerThatJSONCannotHold: a score that is no number must be an error in words, not an empty success.
func TestAnAnswerThatJSONCannotHold(t *testing.T) {
	near := graph(inmem.New(nil), false)
	near.Provider = unscored{near.Provider}
	srv := httptest.NewServer(remote.Handler(remote.ServeConfig{Store: func(remote.Caller) model.Store { return near },
		Callers: []bearer.Caller{{Name: "a", Token: model.NewSecret(token)}}}))
	t.Cleanup(srv.Close)
	if code, body := send(t, srv.URL, "", "/v1/recall", strings.NewReader(`{"query":"x"}`)); code != http.StatusInternalServerError || !strings.Contains(body, "NaN") {
		t.Errorf("%d %q", code, body)
	}
}

type unscored struct{ model.Provider }

func (unscored) Recall(context.Context, model.RecallRequest) (model.RecallResult, error) {
	return model.RecallResult{Hits: []model.RecallSnippet{{ID: "n", Score: math.NaN()}}}, nil
}
