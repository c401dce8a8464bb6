package gdpr_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/internal/clock"
	"memdesk/model"
)

// world is a desk and two stores on disk: a database and a Crewship directory.
type world struct {
	t     testing.TB
	desk  *gdpr.Desk
	dir   string // of the stores
	clock *clock.Fake
	extra []model.Middleware // faults, just outside of the store
	fleet *backends.Fleet
	more  []backends.StoreConfig // further stores beside the two
}

const (
	ana   = "subj-ana-zx9q"
	mail  = "ana.zx9q@example.test"
	name  = "Ana Zxribeiro"
	other = "subj-bob-yw7k"
)

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldFrom(t, "")
}

// memDir is a temporary directory in memory where the machine has one: hundreds of erasures flush
// thousands of times, and for a killed process flushes do not matter.
func memDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "memdesk-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// addPostgres makes an empty store of a database, named pg; open opens it.
func (w *world) addPostgres(dsn string) {
	w.t.Helper()
	w.t.Setenv("MEMDESK_GDPR_DSN", dsn)
	server := backends.StoreConfig{Name: "pg", Kind: "postgres", DSNEnv: "MEMDESK_GDPR_DSN"}
	kind, _ := backends.Builtin().Kind("postgres")
	if err := kind.Create(w.t.Context(), server, backends.Env{Clock: w.clock}); err != nil {
		w.t.Fatal(err)
	}
	w.more = append(w.more, server)
}

// newWorldFrom copies the stores of another world.
func newWorldFrom(t testing.TB, dir string) *world {
	t.Helper()
	c := at("2026-03-01T12:00:00Z")
	w := &world{t: t, clock: c, desk: newDesk(t, c), dir: memDir(t)}
	if dir != "" {
		if err := os.CopyFS(w.dir, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		w.open()
		t.Cleanup(func() { _ = w.fleet.Close() })
		return w
	}
	kind, _ := backends.Builtin().Kind("sqlite")
	if err := kind.Create(t.Context(), backends.StoreConfig{Name: "db", Kind: "sqlite", Path: w.path("db")}, backends.Env{Clock: c}); err != nil {
		t.Fatal(err)
	}
	w.open()
	t.Cleanup(func() { _ = w.fleet.Close() })
	return w
}

func (w *world) path(store string) string {
	if store == "db" {
		return filepath.Join(w.dir, "memory.sqlite")
	}
	return filepath.Join(w.dir, store, ".memory")
}

// open opens the fleet again, as another process would.
func (w *world) open() {
	w.t.Helper()
	if w.fleet != nil {
		if err := w.fleet.Close(); err != nil {
			w.t.Fatal(err)
		}
	}
	configs := []backends.StoreConfig{{Name: "db", Kind: "sqlite", Path: w.path("db")}}
	if _, err := os.Stat(w.path("agent")); err == nil {
		configs = append(configs, backends.StoreConfig{Name: "agent", Kind: "crewship", Path: w.path("agent")})
	}
	configs = append(configs, w.more...)
	gate := w.desk.Gate()
	all := func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		run := func(ctx context.Context) error { return gate(ctx, c, next) }
		for _, m := range w.extra {
			inner := run
			run = func(ctx context.Context) error { return m(ctx, c, inner) }
		}
		return run(ctx)
	}
	w.fleet = backends.Open(w.t.Context(), backends.Builtin(), configs, backends.Env{Clock: w.clock},
		backends.Policy{Audit: audit.Middleware(w.desk.Log), Gate: all})
	for _, m := range w.fleet.Members() {
		if m.Err != nil {
			w.t.Fatal(m.Err)
		}
	}
}

// vault is a vault in the directory of its name.
func (w *world) vault(name string) backends.StoreConfig {
	return backends.StoreConfig{Name: name, Kind: "vault", Path: filepath.Join(w.dir, name)}
}

func (w *world) store(name string) model.Store {
	w.t.Helper()
	s, err := w.fleet.Store(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// put writes one item and returns its id.
func (w *world) put(store string, req model.RetainRequest) string {
	w.t.Helper()
	if req.Mode == "" {
		req.Mode = model.Replace
	}
	res, err := w.store(store).Provider.Retain(w.t.Context(), req)
	if err != nil {
		w.t.Fatalf("retain %+v: %v", req, err)
	}
	return res.ID
}

// agent makes a Crewship .memory directory with these files.
func (w *world) agent(files map[string]string) {
	w.t.Helper()
	for name, body := range files {
		path := filepath.Join(w.path("agent"), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	w.open()
}

// fill puts texts of the subject and of a bystander into every layer.
func (w *world) fill() {
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "n2", Content: name + " asked for a copy"})
	w.put("db", model.RetainRequest{Tier: "archive", Key: "n3", Content: "write to " + mail})
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "n4", Content: "Summary:\n- " + name + " likes tea\n- " + other + " likes coffee\n- the printer is broken\n"})
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "n5-" + ana, Content: "the id names her"})
	w.put("db", model.RetainRequest{Tier: "session", Key: "b1", Content: "bob is " + other, DataSubjectID: other})
	w.put("db", model.RetainRequest{Tier: "session", Key: "b2", Content: ana + "2 is another account"})
	for i := range 20 {
		w.put("db", model.RetainRequest{Tier: "longterm", Key: fmt.Sprintf("x%d", i), Content: fmt.Sprintf("note %d about routers", i)})
	}
	w.agent(map[string]string{
		"AGENT.md":            "The agent.\nAsk " + name + " for keys.\nAsk " + other + " for tea.\n",
		"daily/2026-02-01.md": "- 2026-02-01T00:00:00Z — " + name + " called\n",
		"daily/2026-02-02.md": "- 2026-02-02T00:00:00Z — nothing\n",
		"daily/2026-02-03.md": "- 2026-02-03T00:00:00Z — " + other + " called\n",
		"daily/2026-02-04.md": "- 2026-02-04T00:00:00Z — quiet\n",
		"daily/2026-02-05.md": "- 2026-02-05T00:00:00Z — quiet\n",
		"daily/2026-02-06.md": "- 2026-02-06T00:00:00Z — quiet\n",
		"daily/2026-02-07.md": "- 2026-02-07T00:00:00Z — quiet\n",
		"daily/2026-02-08.md": "- 2026-02-08T00:00:00Z — quiet\n",
		"daily/2026-02-09.md": "- 2026-02-09T00:00:00Z — quiet\n",
		"daily/2026-02-10.md": "- 2026-02-10T00:00:00Z — quiet\n",
		"daily/2026-02-11.md": "- 2026-02-11T00:00:00Z — quiet\n",

		"daily/2026-02-01.md.tmp.0123456789abcdef": name + " left behind\n",
		".snapshots/r1/AGENT.md":                   "Ask " + mail + "\n",
	})
}

func (w *world) file() gdpr.Due {
	w.t.Helper()
	r, err := w.desk.File(w.t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{mail, name}, Received: "2026-02-20", Ground: "consent withdrawn by " + name})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// fileFor files a request of a person without aliases.
func (w *world) fileFor(subject string) gdpr.Due {
	w.t.Helper()
	r, err := w.desk.File(w.t.Context(), gdpr.Intake{Subject: subject, Received: "2026-02-20", Ground: "a letter"})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) plan(id string) gdpr.Plan {
	w.t.Helper()
	p, err := w.desk.MakePlan(w.t.Context(), id, w.fleet, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range p.Stores {
		if s.Error != "" || len(s.Problems) > 0 {
			w.t.Fatalf("%s: %s %q", s.Store, s.Error, s.Problems)
		}
	}
	return p
}

func order(p gdpr.Plan) gdpr.Order {
	n, _ := p.Count()
	return gdpr.Order{Request: p.Request, PlanHash: p.Hash, ConfirmCount: n}
}

func (w *world) erase(p gdpr.Plan) (gdpr.Outcome, error) {
	return w.desk.Erase(w.t.Context(), order(p), w.fleet, nil)
}

// complete erases and fails on residue.
func (w *world) complete(p gdpr.Plan) gdpr.Outcome {
	w.t.Helper()
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StateComplete {
		for _, l := range out.Layers {
			if l.Verdict != model.VerdictClean {
				w.t.Logf("%+v", l)
			}
		}
		w.t.Fatalf("erase = %s, %q, %v; want complete", out.Status, out.Problems, err)
	}
	return out
}

// inScope erases, and fails unless only layers out of scope and holds keep the subject. It then attests
// each of them, and the request must end.
func (w *world) inScope(p gdpr.Plan) gdpr.Outcome {
	w.t.Helper()
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StateInScope {
		w.t.Fatalf("erase = %s, %q, %v; want complete in scope", out.Status, out.Problems, err)
	}
	for _, l := range out.Layers {
		if !l.HoldsPerson() {
			continue
		}
		if _, err := w.desk.Attest(w.t.Context(), p.Request, w.fleet, gdpr.Looked{Store: l.Store, Layers: []string{l.Layer}, Ground: "Art. 17(3)(e)"}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.complete(p)
	return out
}

// needles are the forms of an id that must not be found.
func needles() map[string][]byte {
	out := map[string][]byte{}
	for _, t := range []string{ana, mail, name} {
		sum := sha256.Sum256([]byte(t))
		out[t] = []byte(t)
		out["folded "+t] = []byte(strings.ToLower(t))
		out["upper "+t] = []byte(strings.ToUpper(t))
		out["sha256 "+t] = []byte(hex.EncodeToString(sum[:]))
		out["base64 "+t] = []byte(base64.RawStdEncoding.EncodeToString([]byte(t))[:len(t)])
	}
	return out
}

// traces are the files below dirs that hold a needle, except in longer words of a bystander.
func (w *world) traces(dirs ...string) []string {
	w.t.Helper()
	var out []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b = bytes.ReplaceAll(b, []byte(ana+"2"), nil)
			for what, n := range needles() {
				if bytes.Contains(b, n) || strings.Contains(path, ana) {
					out = append(out, filepath.Base(path)+": "+what)
				}
			}
			return nil
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return out
}

// contents are all items by ref, for comparison.
func (w *world) contents() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, m := range w.fleet.Open() {
		req := model.PageRequest{Hidden: true, Limit: model.MaxPage}
		for {
			page, err := m.Store.Browser.List(w.t.Context(), req)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, h := range page.Items {
				it, err := m.Store.Browser.Read(w.t.Context(), h.ID)
				if err != nil {
					w.t.Fatal(err)
				}
				out[m.Name+":"+h.ID] = string(it.Revision) + " " + it.Body
			}
			if page.Next == "" {
				break
			}
			req.Cursor = page.Next
		}
	}
	return out
}
