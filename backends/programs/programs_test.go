package programs_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"memdesk/backends"
	"memdesk/internal/testnpm"
	"memdesk/model"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens one store as a configuration would.
func open(t *testing.T, c backends.StoreConfig, getenv func(string) string) model.Store {
	t.Helper()
	c.Name = c.Kind
	fleet := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{c}, backends.Env{Getenv: getenv}, backends.Policy{Audit: backends.Unrecorded})
	t.Cleanup(func() { _ = fleet.Close() })
	s, err := fleet.Store(c.Name)
	must(t, err)
	return s
}

// state is an environment with the test's own state directory.
func state(t *testing.T) func(string) string {
	t.Helper()
	dir := t.TempDir()
	return func(name string) string {
		if name == "XDG_STATE_HOME" {
			return dir
		}
		return os.Getenv(name)
	}
}

// program is a script of testdata that answers calls, one line each.
type program struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// start runs testdata/NAME.mjs beside the packages until the test ends.
func start(t *testing.T, name string, packages []string, args ...string) *program {
	t.Helper()
	node, modules := testnpm.Require(t, packages...)
	dir := t.TempDir() // a module finds packages beside it
	must(t, os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")))
	must(t, os.CopyFS(dir, os.DirFS("testdata")))
	cmd := exec.Command(node, append([]string{name + ".mjs"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "MEM0_TELEMETRY=false")
	errs, err := os.Create(filepath.Join(dir, "stderr"))
	must(t, err)
	cmd.Stderr = errs
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // the script ends with its input
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = errs.Close()
		if t.Failed() {
			text, _ := os.ReadFile(errs.Name())
			t.Logf("%s said: %.2000s", name, text)
		}
	})
	p := &program{in: in, out: bufio.NewReader(out)}
	var ready string
	must(t, p.answer(&ready))
	return p
}

// call runs one call and stores its result in into, unless that is nil.
func (p *program) call(name string, with map[string]any, into any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	line, err := json.Marshal(map[string]any{"call": name, "with": with})
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return err
	}
	return p.answer(into)
}

func (p *program) answer(into any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the program ended: %w", err)
	}
	var got struct {
		OK    json.RawMessage `json:"ok"`
		Error string          `json:"error"`
	}
	if err := json.Unmarshal(line, &got); err != nil {
		return fmt.Errorf("%.200s: %w", line, err)
	}
	if got.Error != "" {
		return fmt.Errorf("the program: %s", got.Error)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(got.OK, into)
}

// do is call for a test that cannot continue after a failure.
func do[T any](t *testing.T, p *program, name string, with map[string]any) T {
	t.Helper()
	var out T
	must(t, p.call(name, with, &out))
	return out
}

// text reads an item's body.
func text(t *testing.T, s model.Store, id string) string {
	t.Helper()
	it, err := s.Browser.Read(t.Context(), id)
	must(t, err)
	return it.Body
}

// write replaces an item's text at the revision just read.
func write(t *testing.T, s model.Store, id, body string) error {
	it, err := s.Browser.Read(t.Context(), id)
	if err != nil {
		return err
	}
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace, Content: body, IfMatch: it.Revision})
	return err
}

// forget removes one item.
func forget(t *testing.T, s model.Store, id string) {
	t.Helper()
	res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
	if err != nil || res.Removed < 1 {
		t.Fatalf("forget %s: removed %d, %v", id, res.Removed, err)
	}
}

// atOnce runs all sides concurrently, n times each. None may fail.
func atOnce(t *testing.T, n int, sides ...func(i int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for _, side := range sides {
		wg.Go(func() {
			for i := range n {
				if err := side(i); err != nil {
					t.Errorf("write %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}
