package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends/gateway"
	"memdesk/model"
)

const fixtures = "../../../shared/fixtures/gateway"

// transcript is one recorded request with the answer to replay and the expected result of a client.
type transcript struct {
	Name    string
	Request struct {
		Path string
		Body json.RawMessage
	}
	Response struct {
		Status   int
		Body     json.RawMessage
		BodyText string `json:"body_text"`
		Delay    int    `json:"delay_ms"`
		Close    bool   `json:"close_without_reply"`
	}
	Expect struct {
		Usable *int `json:"usable_results"`
		OK     bool
		Error  string
		Asked  int
	}
}

func (tr transcript) serve(gone <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case tr.Response.Delay > 0: // longer than any limit
			select {
			case <-gone:
			case <-r.Context().Done():
			}
		case tr.Response.Close:
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = c.Close()
			}
		default:
			w.WriteHeader(tr.Response.Status)
			_, _ = w.Write(tr.Response.Body)
			_, _ = io.WriteString(w, tr.Response.BodyText)
		}
	}
}

func TestTranscripts(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(fixtures, "[0-9]*.json"))
	if len(paths) == 0 {
		t.Skip("the shared fixtures are not here")
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		noErr(t, err)
		var tr transcript
		noErr(t, json.Unmarshal(data, &tr))
		t.Run(tr.Name, func(t *testing.T) { tr.run(t) })
	}
}

func (tr transcript) run(t *testing.T) {
	s := newServer(t)
	gone := make(chan struct{})
	t.Cleanup(func() { close(gone) })
	s.reply(tr.Request.Path, tr.serve(gone))
	var body struct {
		UserID  string `json:"user_id"`
		UserKey string `json:"user_key"`
		Query   string
		TopK    int `json:"top_k"`
		Scope   []string
	}
	noErr(t, json.Unmarshal(tr.Request.Body, &body))
	cfg := gateway.Config{BaseURL: s.URL, UserID: body.UserID, UserKey: model.NewSecret(body.UserKey), Session: "c-1001", TopK: body.TopK, Scope: body.Scope, Timeout: time.Minute}
	if tr.Response.Delay > 0 { // only there the limit is tested
		cfg.Timeout = 300 * time.Millisecond
	}
	refused := cfg.Check() != nil // a request that this client never sends
	if refused {
		cfg.TopK, cfg.Scope = 0, gateway.Scopes
	}
	store := opened(t, cfg)
	var said strings.Builder
	if strings.HasSuffix(tr.Request.Path, "search") {
		res, err := recall(t, store, body.Query)
		fmt.Fprintf(&said, "%+v %v", res, err)
		tr.check(t, err)
		var want, got any
		noErr(t, json.Unmarshal(tr.Request.Body, &want))
		noErr(t, json.Unmarshal([]byte(s.last()), &got))
		if !refused && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("sent %v, want %v", got, want)
		}
		n := len(res.Hits) + len(res.Quarantined)
		if tr.Expect.Usable != nil && n != *tr.Expect.Usable || tr.Expect.Asked > 0 && n != tr.Expect.Asked {
			t.Errorf("%d usable results, want %+v", n, tr.Expect)
		}
	} else {
		res, err := retain(t, store, "what did we decide?")
		fmt.Fprintf(&said, "%+v %v", res, err)
		tr.check(t, err)
		if flush := strings.HasSuffix(tr.Request.Path, "flush"); model.IsPartial(err) != (flush && !tr.Expect.OK) {
			t.Errorf("partial: %v", err)
		}
		want := "add flush"
		if strings.HasSuffix(tr.Request.Path, "add") && !tr.Expect.OK {
			want = "add"
		}
		if got := s.paths(); got != want {
			t.Errorf("calls %q, want %q", got, want)
		}
	}
	events, err := store.Events.StoreEvents(t.Context(), 0)
	noErr(t, err)
	fmt.Fprintf(&said, "%+v", events)
	for _, secret := range []string{body.UserKey, "RAWSECRET-AX12"} {
		if strings.Contains(said.String(), secret) {
			t.Errorf("%s is shown: %s", secret, said.String())
		}
	}
}

func (tr transcript) check(t *testing.T, err error) {
	t.Helper()
	if (err != nil) != (tr.Expect.Error != "") {
		t.Fatalf("err = %v, want %q", err, tr.Expect.Error)
	}
	words := map[string]string{"malformed": "answer", "auth": "does not accept", "timeout": "did not answer", "network": "no answer"}
	if word, ok := words[tr.Expect.Error]; ok && !strings.Contains(err.Error(), word) || strings.HasPrefix(tr.Expect.Error, "http") && !strings.Contains(err.Error(), tr.Expect.Error) {
		t.Errorf("err = %v, want %q", err, tr.Expect.Error)
	}
}

func TestBadConfigurations(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(fixtures, "expected.json"))
	if err != nil {
		t.Skip("the shared fixtures are not here")
	}
	var want struct {
		UserKey string            `json:"user_key"`
		Bad     map[string]string `json:"bad_config"`
	}
	noErr(t, json.Unmarshal(data, &want))
	for name, why := range want.Bad {
		text, err := os.ReadFile(filepath.Join(fixtures, "bad_config", name))
		noErr(t, err)
		_, _, err = gateway.ParseBeaver(text)
		if model.KindOf(err) != model.InvalidInput || strings.Contains(fmt.Sprint(err), want.UserKey) {
			t.Errorf("%s (%s): %v", name, why, err)
		}
	}
}
