package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/ui/cli"
)

// person is named by ten items of each store, whatever its size.
const person, named = "usr_growth7q", 10

// source is a store with n items, and its peers.
type source struct {
	kind     string
	config   backends.StoreConfig
	env      map[string]string // that names the store
	open     string            // as --open takes it
	cursor   string            // file with the cursor at nine tenths of the list
	peers    peers
	clone    func(name string) (source, error) // nil: no erasure is measured
	location string                            // the store for the erasing peer
}

// stores measures SQLite, vault and PostgreSQL with n items each, and the audit log with n records.
func (r *run) stores(n int) error {
	dir := filepath.Join(r.keep, fmt.Sprint("growth-", n))
	if r.keep == "" {
		var err error
		if dir, err = os.MkdirTemp("", "growth"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ofStores := r.wants("open", "page", "recall", "erase", "memory")
	if n <= r.items && ofStores {
		db, err := seeded(dir, "graph.db", func(path string) error { return seedGraph(path, n) })
		if err == nil {
			err = r.store(dir, n, files("sqlite", db, dir, graphPeers(db)))
		}
		if err != nil {
			return fmt.Errorf("sqlite: %w", err)
		}
	}
	if n <= r.files && (ofStores || r.wants("conflicts")) {
		notes, err := seeded(dir, "vault", func(path string) error { return seedNotes(path, n) })
		if err == nil && ofStores {
			err = r.store(dir, n, files("vault", notes, dir, notePeers(notes)))
		}
		if err == nil && r.wants("conflicts") {
			err = r.conflicts(notes, n)
		}
		if err != nil {
			return fmt.Errorf("vault: %w", err)
		}
	}
	if ofStores {
		s, err := r.database(n)
		if err == nil {
			s.cursor = filepath.Join(dir, "postgres.deep")
			err = r.store(dir, n, s)
		}
		if err != nil {
			return fmt.Errorf("postgres: %w", err)
		}
	}
	if r.wants("verify") {
		log, err := seeded(dir, "log", func(path string) error { return seedLog(path, n) })
		if err == nil {
			err = r.verify(log, n)
		}
		if err != nil {
			return fmt.Errorf("log: %w", err)
		}
	}
	return nil
}

// files is a store of files.
func files(kind, path, dir string, p peers) source {
	s := source{kind: kind, config: backends.StoreConfig{Name: kind, Kind: kind, Path: path}, open: kind + "=" + path, cursor: path + ".deep", peers: p, location: path}
	if kind == "vault" {
		s.config.LockRoot = filepath.Join(dir, "locks")
	}
	s.clone = func(name string) (source, error) { // not beside the store, where an erasure finds it
		clones, err := os.MkdirTemp("", "growth-clones")
		if err != nil {
			return source{}, err
		}
		to := filepath.Join(clones, name)
		if out, err := exec.Command("cp", "-r", path, to).CombinedOutput(); err != nil {
			return source{}, fmt.Errorf("%w: %s", err, out)
		}
		return files(kind, to, dir, p), nil
	}
	return s
}

// store measures one store with n items.
func (r *run) store(dir string, n int, src source) error {
	ctx := context.Background()
	kind, p := src.kind, src.peers
	getenv := func(k string) string {
		if v, ok := src.env[k]; ok {
			return v
		}
		return os.Getenv(k)
	}
	open := func() (*backends.Fleet, model.Store, error) {
		f := backends.Open(ctx, backends.Builtin(), []backends.StoreConfig{src.config}, backends.Env{Clock: clock.System{}, Getenv: getenv}, backends.Policy{Audit: backends.Unrecorded, Timeout: 10 * time.Minute})
		s, err := f.Store(kind)
		if err != nil {
			return f, s, errors.Join(err, f.Close())
		}
		return f, s, nil
	}
	if r.wants("open") {
		if err := r.compare("open", kind, n, p.names[0], func() error {
			f, s, err := open()
			if err != nil {
				return err
			}
			_, err = s.Browser.List(ctx, model.PageRequest{Limit: 50})
			return errors.Join(err, f.Close())
		}, p.open); err != nil {
			return err
		}
	}
	f, s, err := open()
	if err != nil {
		return err
	}
	if r.wants("page") {
		var deep string
		if deep, err = nineTenths(ctx, s, src.cursor, n); err == nil {
			err = r.compare("page", kind, n, "page one", func() error {
				_, err := s.Browser.List(ctx, model.PageRequest{Limit: 50, Cursor: deep})
				return err
			}, func() error {
				_, err := s.Browser.List(ctx, model.PageRequest{Limit: 50})
				return err
			})
		}
	}
	if err == nil && r.wants("recall") {
		err = r.compare("recall", kind, n, p.names[1], func() error {
			res, err := s.Provider.Recall(ctx, model.RecallRequest{Query: "needle", Limit: 20})
			if err == nil && len(res.Hits) == 0 {
				err = errors.New("the word was not found")
			}
			return err
		}, p.recall)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if r.wants("memory") {
		if err := r.memory(dir, n, src); err != nil {
			return err
		}
	}
	if n > r.erasures || src.clone == nil || !r.wants("erase") {
		return nil
	}
	return r.erasure(n, src)
}

// nineTenths is the cursor at nine tenths of a list, possibly kept in a file by an earlier run.
func nineTenths(ctx context.Context, s model.Store, file string, n int) (string, error) {
	if b, err := os.ReadFile(file); err == nil {
		return string(b), nil
	}
	deep := ""
	for seen := 0; seen < n*9/10; {
		page, err := s.Browser.List(ctx, model.PageRequest{Limit: model.MaxPage, Cursor: deep})
		if err != nil {
			return "", err
		}
		if page.Next == "" {
			break
		}
		deep, seen = page.Next, seen+len(page.Items)
	}
	return deep, os.WriteFile(file, []byte(deep), 0o600)
}

// erasure measures an erasure on a copy of the store, and the peer's on another.
func (r *run) erasure(n int, src source) error {
	for k, chart := range []string{src.kind, src.kind + ": " + src.peers.names[2]} {
		copied, err := src.clone(src.kind)
		if err != nil {
			return err
		}
		took, err := once(func() error {
			if k == 0 {
				return erase(copied)
			}
			return src.peers.erase(copied.location)
		})
		if err = errors.Join(err, os.RemoveAll(filepath.Dir(copied.location))); err != nil {
			return fmt.Errorf("%s: %w", chart, err)
		}
		r.add("erase", chart, k == 1, n, took)
	}
	return nil
}

// erase carries a request out from filing to the verified end.
func erase(src source) error {
	dir, err := os.MkdirTemp("", "growth-desk")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	run := func(args ...string) (string, error) {
		var out, errw strings.Builder
		p := cli.Program{Args: append([]string{"--open", src.open, "--timeout", "10m"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errw,
			Env: func(k string) string {
				return map[string]string{"HOME": dir, "XDG_STATE_HOME": filepath.Join(dir, "state"), "XDG_CACHE_HOME": dir, "LANG": "C.UTF-8", "PATH": os.Getenv("PATH")}[k]
			}, Dir: dir, Clock: clock.System{}, Version: "growth", Kinds: backends.Builtin(), Terminal: func(any) bool { return false }, User: "growth"}
		if code := p.Run(context.Background()); code != 0 {
			return "", fmt.Errorf("memdesk %v: exit %d: %s%s", args, code, out.String(), errw.String())
		}
		return out.String(), nil
	}
	field := func(text, name string) string {
		_, rest, _ := strings.Cut(text, `"`+name+`":"`)
		v, _, _ := strings.Cut(rest, `"`)
		return v
	}
	filed, err := run("--json", "gdpr", "request", "--subject", person, "--ground", "asked", "--yes")
	if err != nil {
		return err
	}
	id := field(filed, "request")
	plan, err := run("--json", "gdpr", "plan", id)
	if err != nil {
		return err
	}
	_, err = run("--json", "gdpr", "erase", id, "--plan-hash", field(plan, "plan_hash"), "--confirm-count", fmt.Sprint(named), "--yes")
	return err
}

// conflicts lists the copies among n files, one in a hundred.
func (r *run) conflicts(path string, n int) error {
	f := backends.Open(context.Background(), backends.Builtin(), []backends.StoreConfig{{Name: "vault", Kind: "vault", Path: path}},
		backends.Env{Clock: clock.System{}, Getenv: os.Getenv}, backends.Policy{Audit: backends.Unrecorded, ReadOnly: "measured", Timeout: 10 * time.Minute})
	defer f.Close()
	s, err := f.Store("vault")
	if err != nil {
		return err
	}
	return r.compare("conflicts", "vault", n, "find", func() error {
		found := 0
		for _, err := range conflict.List(context.Background(), s, conflict.Options{Markers: conflict.LookNone}) {
			if err != nil {
				return err
			}
			found++
		}
		if found < n/100 {
			return fmt.Errorf("%d copies of %d were found", found, n/100)
		}
		return nil
	}, command("find", path, "-type", "f", "-printf", "%P\n"))
}

// verify walks a log of n records.
func (r *run) verify(log string, n int) error {
	return r.compare("verify", "log", n, "sha256sum", func() error {
		rep, err := audit.Verify(context.Background(), log)
		if err == nil && (rep.Reason != "" || rep.Events < uint64(n)) {
			err = fmt.Errorf("%d records: %s", rep.Events, rep.Reason)
		}
		return err
	}, command("sh", "-c", "sha256sum "+log+"/log-*.jsonl"))
}

// memory is the peak memory of a process that opened the store and printed a page.
func (r *run) memory(dir string, n int, src source) error {
	held := func(open string) (float64, error) {
		self, err := os.Executable()
		if err != nil {
			return 0, err
		}
		c := exec.Command(self)
		most := filepath.Join(dir, "most")
		c.Env = []string{mostEnv + "=" + most, playEnv + "=" + strings.Join([]string{"--open", open, "--timeout", "10m", "items", "--limit", "50"}, "\n"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "LANG=C.UTF-8"}
		for k, v := range src.env {
			c.Env = append(c.Env, k+"="+v)
		}
		if out, err := c.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
		b, err := os.ReadFile(most)
		if err != nil {
			return 0, err
		}
		var kb float64
		_, err = fmt.Sscan(string(b), &kb)
		return kb / 1024, err
	}
	mb, err := held(src.open)
	if err != nil {
		return err
	}
	r.put("memory", src.kind, false, n, mb)
	empty, err := held("inmem=")
	if err != nil {
		return err
	}
	r.put("memory", "nothing open", true, n, empty)
	return nil
}

// compare measures both sides in turn and keeps the best time of each: the machine is not quiet.
func (r *run) compare(what, name string, n int, peer string, ours, theirs func() error) error {
	var best [2]time.Duration
	for began, i := time.Now(), 0; i < 2 || i < 9 && time.Since(began) < 3*time.Second; i++ {
		for k, do := range []func() error{ours, theirs} {
			took, err := once(do)
			if err != nil {
				return fmt.Errorf("%s: %w", []string{what, peer}[k], err)
			}
			if best[k] == 0 || took < best[k] {
				best[k] = took
			}
		}
	}
	r.add(what, name, false, n, best[0])
	r.add(what, name+": "+peer, true, n, best[1])
	return nil
}

func once(do func() error) (time.Duration, error) {
	began := time.Now()
	err := do()
	return time.Since(began), err
}
