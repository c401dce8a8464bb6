package embed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/hypergraph/embed"
	"memdesk/model"
)

func TestNeither(t *testing.T) {
	if e, err := embed.New("", ""); e != nil || err != nil {
		t.Errorf("no keys: %v, %v", e, err)
	}
	for _, c := range [][2]string{{"http://h/v1", "cat"}, {"ftp://h/x", ""}, {"h/x", ""}, {"https://u:p4ss@h/x", ""}, {"http://embed.example/v1", ""}, {"http://10.0.0.1/v1", ""}} {
		_, err := embed.New(c[0], c[1])
		if !errors.Is(err, model.InvalidInput) || strings.Contains(err.Error(), "p4ss") {
			t.Errorf("%q: %v", c, err)
		}
	}
}

func TestServer(t *testing.T) {
	answer := `{"data":[{"embedding":[1,0.5]}]}`
	status := http.StatusOK
	var asked struct{ Input, Model string }
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "k=v" {
			t.Errorf("asked with %q", r.URL.RawQuery)
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	defer srv.Close()
	e, err := embed.New(srv.URL+"/v1/embeddings?model=small&k=v", "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Embed(t.Context(), "a query")
	if err != nil || !slices.Equal(v, []float32{1, 0.5}) || asked.Input != "a query" || asked.Model != "small" {
		t.Errorf("%v, %v, asked %+v", v, err, asked)
	}
	for _, c := range []struct {
		status int
		answer string
	}{
		{500, "secret words"}, {401, ""}, {302, ""}, {200, ""}, {200, "<html>secret words"}, {200, `{"data":[]}`},
		{200, `{"data":[{"embedding":[]}]}`}, {200, `{"data":[{"embedding":["x"]}]}`}, {200, `{"data":[{"embedding":[` + strings.Repeat("1,", 1<<20) + `1]}]}`},
	} {
		status, answer = c.status, c.answer
		if v, err := e.Embed(t.Context(), "q"); !errors.Is(err, model.Unavailable) || v != nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d %.20q: %v, %v", c.status, c.answer, v, err)
		}
	}
	srv.Close()
	if _, err := e.Embed(t.Context(), "q"); !errors.Is(err, model.Unavailable) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("nobody answers: %v", err)
	}
}

func TestCommand(t *testing.T) {
	for command, want := range map[string][]float32{
		`n=$(wc -c); echo "[$n, 1]"`: {7, 1},
		`cat >/dev/null; echo "[]"`:  nil,
		`echo "not json"`:            nil,
		`exit 3`:                     nil,
		`no-such-program-at-all`:     nil,
		`yes 1111`:                   nil,
	} {
		e, err := embed.New("", command)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Embed(t.Context(), "a query")
		if !slices.Equal(v, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %v, %v", command, v, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	e, _ := embed.New("", `sleep 60 & sleep 60`)
	start := time.Now()
	if _, err := e.Embed(ctx, "q"); !errors.Is(err, model.Timeout) || time.Since(start) > 10*time.Second {
		t.Errorf("a slow command: %v after %v", err, time.Since(start))
	}
}
