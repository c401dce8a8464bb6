package bearer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"memdesk/internal/bearer"
	"memdesk/model"
)

const token = "0123456789abcdefghij"

func TestReadTokens(t *testing.T) {
	file := func(text string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"others may read":  file("a "+token, 0o640),
		"a pipe":           pipe,
		"a directory":      t.TempDir(),
		"absent":           filepath.Join(t.TempDir(), "none"),
		"short":            file("a short\n", 0o600),
		"no name":          file(token+"\n", 0o600),
		"a name twice":     file("a "+token+"\na "+token+"x\n", 0o600),
		"a token twice":    file("a "+token+"\nb "+token+"\n", 0o600),
		"an unknown scope": file("a "+token+" memory:recall,memory:all\n", 0o600),
		"no scope":         file("a "+token+" ,\n", 0o600),
		"four fields":      file("a "+token+" memory:recall x\n", 0o600),
		"nobody":           file("# nobody\n", 0o600),
	} {
		if got, err := bearer.ReadTokens(path); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	got, err := bearer.ReadTokens(file("\ufeff# who\n\nall "+token+"\nreader\t"+token+"r memory:recall,memory:health\n", 0o600))
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	for _, scope := range bearer.Scopes {
		want := scope == bearer.ScopeRecall || scope == bearer.ScopeHealth
		if !got[0].May(scope) || got[1].May(scope) != want {
			t.Errorf("%s: all %v, reader %v", scope, got[0].May(scope), got[1].May(scope))
		}
	}
}

func TestAdmit(t *testing.T) {
	d := bearer.New([]bearer.Caller{{Name: "a", Token: model.NewSecret(token)}, {Name: "unset"}}, bearer.Limits{})
	for header, want := range map[string]bool{
		"Bearer " + token: true, "bearer  " + token: true, "Bearer ": false, "Bearer" + token: false, token: false, "Bearer " + token + "x": false, "Basic " + token: false, "": false,
	} {
		r := httptest.NewRequest(http.MethodPost, "/?access_token="+token, nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		if got := d.Admit(r); (got != nil) != want {
			t.Errorf("%q comes in: %v", header, got != nil)
		}
	}
}

func guests(t *testing.T, l bearer.Limits) (a, b *bearer.Guest) {
	t.Helper()
	d := bearer.New([]bearer.Caller{{Name: "a", Token: model.NewSecret(token)}, {Name: "b", Token: model.NewSecret(token + "b")}}, l)
	var out []*bearer.Guest
	for _, s := range []string{token, token + "b"} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Authorization", "Bearer "+s)
		out = append(out, d.Admit(r))
	}
	return out[0], out[1]
}

// now is a context in which no call waits for its turn.
func now() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Calls beyond the share must wait for their turn, in a bounded number.
func TestCallsWait(t *testing.T) {
	a, _ := guests(t, bearer.Limits{Calls: 5, CallShare: 4, Waiting: 50})
	var wg sync.WaitGroup
	var most, running atomic.Int64
	for range 50 {
		wg.Go(func() {
			c, err := a.Begin(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.End()
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			runtime.Gosched()
			running.Add(-1)
		})
	}
	wg.Wait()
	if n := most.Load(); n > 4 {
		t.Errorf("%d calls of one caller at a time", n)
	}
	a, b := guests(t, bearer.Limits{Calls: 5, CallShare: 1, Waiting: 1})
	first, err := a.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	later := make(chan error, 2)
	for range 2 { // whichever comes last finds the place of the other taken
		go func() {
			c, err := a.Begin(t.Context())
			if err == nil {
				c.End()
			}
			later <- err
		}()
	}
	if err := <-later; !errors.Is(err, model.RateLimited) {
		t.Errorf("a call beyond those that wait: %v", err)
	}
	if c, err := b.Begin(now()); err != nil {
		t.Errorf("the other caller: %v", err)
	} else {
		c.End()
	}
	first.End()
	if err := <-later; err != nil {
		t.Errorf("the call that waited: %v", err)
	}
}

// One caller must get only its share of the calls, and leave the rest to others.
func TestCallShare(t *testing.T) {
	a, b := guests(t, bearer.Limits{Calls: 6, CallShare: 4})
	var held []*bearer.Call
	refused := 0
	for range 20 {
		c, err := a.Begin(now())
		switch {
		case err == nil:
			held = append(held, c)
		case errors.Is(err, model.RateLimited):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if len(held) != 4 || refused != 16 {
		t.Errorf("one caller has %d calls, %d refused", len(held), refused)
	}
	for range 2 {
		if _, err := b.Begin(now()); err != nil {
			t.Errorf("the other caller: %v", err)
		}
	}
	if _, err := b.Begin(now()); !errors.Is(err, model.RateLimited) {
		t.Errorf("a call beyond all: %v", err)
	}
	held[0].End()
	held[0].End() // a second End changes nothing
	if _, err := a.Begin(now()); err != nil {
		t.Errorf("after the end of a call: %v", err)
	}
	if _, err := a.Begin(now()); err == nil {
		t.Error("one end gave back two calls")
	}
}

// Bytes must count while they are held, for each caller separately.
func TestByteShare(t *testing.T) {
	a, b := guests(t, bearer.Limits{Bytes: 3 << 20, ByteShare: 1 << 20})
	read := func(g *bearer.Guest, size, limit int64, known bool) (*bearer.Call, error) {
		t.Helper()
		c, err := g.Begin(now())
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/", io.LimitReader(strings.NewReader(strings.Repeat("x", int(size))), size))
		if r.ContentLength = -1; known {
			r.ContentLength = size
		}
		body, err := c.Body(httptest.NewRecorder(), r, limit)
		if err == nil && int64(len(body)) != size {
			t.Errorf("%d of %d bytes", len(body), size)
		}
		return c, err
	}
	for _, known := range []bool{true, false} {
		if c, err := read(a, 2000, 1000, known); !errors.Is(err, model.InvalidInput) {
			t.Errorf("over the limit: %v", err)
		} else {
			c.End()
		}
		if c, err := read(a, 1000, 1000, known); err != nil {
			t.Errorf("at the limit: %v", err)
		} else {
			c.End()
		}
	}
	first, err := read(a, 500<<10, 1<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(a, 600<<10, 1<<20, true); !errors.Is(err, model.RateLimited) {
		t.Errorf("beyond the share: %v", err)
	}
	if _, err := read(b, 500<<10, 1<<20, true); err != nil {
		t.Errorf("the other caller: %v", err)
	}
	first.End()
}

func TestACutBody(t *testing.T) {
	a, _ := guests(t, bearer.Limits{})
	c, err := a.Begin(now())
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(bytes.NewReader(make([]byte, 10)), failing{}))
	r.ContentLength = -1
	if _, err := c.Body(httptest.NewRecorder(), r, 1000); !errors.Is(err, model.Unavailable) {
		t.Errorf("err = %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("reset") }
