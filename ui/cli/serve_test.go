package cli_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/crypto/ssh"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/cli"
)

// guest is an operator connected over SSH: its screen is read through a terminal emulator.
type guest struct {
	t       *testing.T
	client  *ssh.Client
	session *ssh.Session
	in      io.WriteCloser

	mu     sync.Mutex
	drawn  *sync.Cond
	screen *vt.Emulator
	raw    bytes.Buffer
	ended  bool
}

const patience = time.Minute

func newGuest(t *testing.T, addr string, key ssh.Signer, w, h int) *guest {
	t.Helper()
	return newGuestAs(t, "ana", addr, key, w, h)
}

func newGuestAs(t *testing.T, user, addr string, key ssh.Signer, w, h int, env ...string) *guest {
	t.Helper()
	c, err := ssh.Dial("tcp", addr, &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	g := &guest{t: t, client: c, screen: vt.NewEmulator(w, h)}
	g.drawn = sync.NewCond(&g.mu)
	// A frame of the size before a resize may set margins below the last row. Windows Terminal ignores them; the emulator
	// scrolls outside its rows and panics.
	g.screen.RegisterCsiHandler('r', func(params ansi.Params) bool {
		bottom, _, _ := params.Param(1, 0)
		return bottom > g.screen.Height()
	})
	if g.session, err = c.NewSession(); err != nil {
		t.Fatal(err)
	}
	for _, kv := range append([]string{"LANG=C.UTF-8"}, env...) {
		name, value, _ := strings.Cut(kv, "=")
		_ = g.session.Setenv(name, value)
	}
	if err := g.session.RequestPty("xterm-256color", h, w, nil); err != nil {
		t.Fatal(err)
	}
	g.in, _ = g.session.StdinPipe()
	out, _ := g.session.StdoutPipe()
	if err := g.session.Shell(); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := out.Read(buf)
			g.mu.Lock()
			g.raw.Write(buf[:n])
			_, _ = g.screen.Write(buf[:n])
			g.ended = err != nil
			g.drawn.Broadcast()
			g.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { _, _ = io.Copy(g.in, g.screen) }() // the terminal's answers to queries
	t.Cleanup(func() {
		if c, ok := g.screen.InputPipe().(io.Closer); ok {
			_ = c.Close()
		}
	})
	return g
}

func (g *guest) see(texts ...string) *guest {
	g.t.Helper()
	g.until(fmt.Sprintf("%q", texts), func(s string) bool {
		for _, text := range texts {
			if !strings.Contains(s, text) {
				return false
			}
		}
		return true
	})
	return g
}

// until waits for the screen to satisfy ok, which is called under the lock.
func (g *guest) until(what string, ok func(screen string) bool) {
	g.t.Helper()
	ended := make(chan struct{})
	defer close(ended)
	go func() { // the condition may also depend on another screen
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				g.drawn.Broadcast()
			case <-ended:
				return
			}
		}
	}()
	deadline := time.Now().Add(patience)
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		s := g.screen.String()
		if ok(s) {
			return
		}
		if g.ended || !time.Now().Before(deadline) {
			g.t.Fatalf("the screen never showed %s; it shows\n%s", what, s)
		}
		g.drawn.Wait()
	}
}

func (g *guest) press(keys string) *guest {
	g.t.Helper()
	if _, err := io.WriteString(g.in, keys); err != nil {
		g.t.Fatal(err)
	}
	return g
}

// wait waits for the end of the session.
func (g *guest) wait() error {
	g.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- g.session.Wait() }() // the client's end ends it
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		g.t.Fatalf("the session does not end; it shows\n%s", g.frame())
		return nil
	}
}

func (g *guest) resize(w, h int) *guest {
	g.t.Helper()
	g.mu.Lock()
	was := g.screen.Height()
	if g.screen.Resize(w, h); h != was {
		_, _ = g.screen.WriteString(ansi.SetTopBottomMargins(6, 10)) // as a late frame of the height before leaves them
	}
	g.mu.Unlock()
	if err := g.session.WindowChange(h, w); err != nil {
		g.t.Fatal(err)
	}
	return g
}

func signer(t *testing.T) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// server runs serve ssh on the desk and returns its address.
func (d *desk) server(keys string) (addr string) {
	d.t.Helper()
	file := filepath.Join(d.dir, "authorized_keys")
	if err := os.WriteFile(file, []byte(keys), 0o600); err != nil {
		d.t.Fatal(err)
	}
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	stores := []string{"--open", "crewship=" + d.mem}
	if text, _ := os.ReadFile(d.env["MEMDESK_CONFIG"]); bytes.Contains(text, []byte("[[store]]")) {
		stores = nil // those are all there are, and an erasure is over all
	}
	p := cli.Program{Args: append(stores, "serve", "ssh", "--listen", "127.0.0.1:0", "--authorized-keys", file),
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: w, Env: d.environ(), Dir: d.dir,
		Clock: clock.System{}, Version: "test", Kinds: backends.Builtin(), Terminal: func(any) bool { return false }, User: "daemon"}
	go func() {
		ended <- p.Run(ctx)
		_ = w.Close()
	}()
	found := make(chan string, 1)
	go func() {
		var all bytes.Buffer
		buf := make([]byte, 4096)
		on := regexp.MustCompile(`serving the console on (\S+) to`)
		for {
			n, err := r.Read(buf)
			all.Write(buf[:n])
			if m := on.FindSubmatch(all.Bytes()); m != nil && addr != "-" {
				select {
				case found <- string(m[1]):
				default:
				}
			}
			if err != nil {
				close(found)
				return
			}
		}
	}()
	d.t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			d.t.Errorf("serve ssh ends with %d", code)
		}
	})
	addr, ok := <-found
	if !ok {
		d.t.Fatal("serve ssh did not begin")
	}
	return addr
}

// Two operators at one server: each change must be recorded under its own key, a reader must change
// nothing, and a resized screen must show no stale text.
func TestServeSSH(t *testing.T) {
	d := newDesk(t)
	ana, ben := signer(t), signer(t)
	addr := d.server(string(ssh.MarshalAuthorizedKey(ana.PublicKey())) + `environment="MEMDESK_ROLE=readonly" ` + string(ssh.MarshalAuthorizedKey(ben.PublicKey())))
	g := newGuest(t, addr, ana, 80, 24)
	g.see("[2 Tiers]", "daily", "SHA256:").press("G").see("journal of a day").press("\r").see("1 of 1").resize(200, 50).see("│").resize(60, 15).see("[2 Tiers]", "2026-05-21")
	reader := newGuest(t, addr, ben, 100, 30)
	reader.see("[2 Tiers]", "daily", "READ-ONLY: this key may only look").press("G").see("journal of a day").press("\r").see("1 of 1").press("d").see("this console is read-only")
	g.press("d").see("Forget daily/2026-05-21.md?", "reason")
	g.see("[Cancel]", "enter cancel").press("\x1b[Z").see("[Forget]").press("\r").see("forgot daily/2026-05-21.md")
	g.press("1").see("[1 Health]", "audit log: not anchored: whoever owns it can rewrite it")
	g.press("q")
	if err := g.wait(); err != nil {
		t.Errorf("the session ends with %v", err)
	}
	if d.read("daily/2026-05-21.md") != "-" {
		t.Error("the item is there still")
	}
	found := false
	for _, r := range d.bare("--json", "audit", "list").rows {
		if r["action"] == "forget" && r["phase"] == "outcome" {
			found = true
			if r["actor"] != ssh.FingerprintSHA256(ana.PublicKey()) {
				t.Errorf("the log names %v", r["actor"])
			}
			if s := fmt.Sprint(r["session"]); !strings.HasPrefix(s, "ssh:ana@127.0.0.1") {
				t.Errorf("the log has the session %q", s)
			}
		}
	}
	if !found {
		t.Error("the log has no outcome of the forget")
	}
	reader.mu.Lock()
	raw := reader.raw.String()
	reader.mu.Unlock()
	if !strings.Contains(raw, "\x1b[38;2;") && !strings.Contains(raw, "\x1b[38;5;") {
		t.Error("the console over SSH has no colours")
	}
	info, err := os.Stat(filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "ssh", "host_ed25519"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("host key: %v, %v", info, err)
	}
}

func TestServeSSHRefuses(t *testing.T) {
	d := newDesk(t)
	open := filepath.Join(d.dir, "open")
	if err := os.WriteFile(open, ssh.MarshalAuthorizedKey(signer(t).PublicKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"no keys":         {[]string{"serve", "ssh"}, "--authorized-keys"},
		"no such file":    {[]string{"serve", "ssh", "--authorized-keys", "none"}, "none: the authorized keys cannot be read: no such file"},
		"no address":      {[]string{"serve", "ssh", "--authorized-keys", open, "--listen", "nowhere"}, "cannot listen"},
		"no store":        {[]string{"--open", "crewship=/nonexistent/x", "--store", "other", "serve", "ssh", "--authorized-keys", open}, "no store is named"},
		"no session":      {[]string{"serve", "ssh", "--authorized-keys", open, "--max-sessions", "0"}, "--max-sessions"},
		"a bad key":       {[]string{"--config", d.file("keys.toml", "[ui.keys]\nX = \"nothing\"\n"), "--open", "crewship=" + d.mem, "serve", "ssh", "--authorized-keys", open}, "no act is called"},
		"its own command": {[]string{"serve", "ssh", "now"}, "1 argument given"},
	} {
		t.Run(name, func(t *testing.T) {
			args := tt.args
			if args[0] == "serve" {
				args = append([]string{"--open", "crewship=" + d.mem}, args...)
			}
			if r := d.bare(args...); r.code != 2 || !strings.Contains(r.err, tt.says) {
				t.Errorf("code %d, %q", r.code, r.err)
			}
		})
	}
}
