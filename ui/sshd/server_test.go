package sshd_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"memdesk/ui/sshd"
)

// limit bounds a test's wait for an event that must come; only a failure waits that long.
const limit = time.Minute

func wait[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-ch:
		if !ok {
			t.Fatalf("%s: closed", what)
		}
		return v
	case <-time.After(limit):
		t.Fatalf("%s never came", what)
	}
	panic("unreachable")
}

// served is a server on the loopback with the keys of ana, who may change memory, and of ben, who may read.
type served struct {
	t        *testing.T
	addr     string
	reach    func() (net.Conn, error) // opens a connection
	host     ssh.PublicKey
	ana, ben ssh.Signer
	sessions chan sshd.Session
	end      context.CancelFunc
	ended    chan error

	mu   sync.Mutex
	gone bool // the keys were removed
	log  []string
	told func(line string) // of each line of the log; may be nil
}

func (s *served) keys() ([]sshd.AuthorizedKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil, errors.New("no keys")
	}
	return sshd.ParseAuthorizedKeys(strings.NewReader(line("", s.ana) + "\n" + line(`environment="MEMDESK_ROLE=readonly"`, s.ben)))
}

// echo is a console that prints its size and every key, until q.
func (s *served) echo(ctx context.Context, one sshd.Session) error {
	s.sessions <- one
	size := <-one.Sizes
	fmt.Fprintf(one.Output, "begin %dx%d\n", size.Width, size.Height)
	keys := make(chan string)
	go func() {
		defer close(keys)
		buf := make([]byte, 64)
		for {
			n, err := one.Input.Read(buf)
			if err != nil {
				return
			}
			keys <- string(buf[:n])
		}
	}()
	for {
		select {
		case <-ctx.Done():
			fmt.Fprint(one.Output, "the server ends\n")
			return nil
		case size, ok := <-one.Sizes:
			if ok {
				fmt.Fprintf(one.Output, "now %dx%d\n", size.Width, size.Height)
			}
		case k, ok := <-keys:
			switch {
			case !ok:
				return nil
			case k == "!":
				panic("s3cret of a store")
			case k == "e":
				return errors.New("no store \x1b[31mis open")
			case k == "q":
				return nil
			}
			fmt.Fprintf(one.Output, "key %s\n", k)
		}
	}
}

func serve(t *testing.T, sessions int) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, sessions, l, func() (net.Conn, error) { return net.DialTimeout("tcp", l.Addr().String(), limit) })
}

func serveOn(t *testing.T, sessions int, l net.Listener, reach func() (net.Conn, error)) *served {
	t.Helper()
	s := &served{t: t, addr: l.Addr().String(), reach: reach, ana: newKey(t), ben: newKey(t), sessions: make(chan sshd.Session, 64), ended: make(chan error, 1)}
	host := newKey(t)
	s.host = host.PublicKey()
	server, err := sshd.New(sshd.Options{HostKey: host, Keys: s.keys, Console: s.echo, Sessions: sessions, Log: func(format string, args ...any) {
		l := fmt.Sprintf(format, args...)
		s.mu.Lock()
		s.log = append(s.log, l)
		told := s.told
		s.mu.Unlock()
		if told != nil {
			told(l)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, s.end = context.WithCancel(context.Background())
	go func() { s.ended <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		s.end()
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *served) dial(auth ...ssh.AuthMethod) (*ssh.Client, error) {
	conn, err := s.reach()
	if err != nil {
		return nil, err
	}
	c, channels, requests, err := ssh.NewClientConn(conn, s.addr, &ssh.ClientConfig{User: "someone", Auth: auth, HostKeyCallback: ssh.FixedHostKey(s.host)})
	if err != nil {
		return nil, err
	}
	return ssh.NewClient(c, channels, requests), nil
}

// terminal is a session with a pseudo-terminal, from the client's side.
type terminal struct {
	*ssh.Session
	t   *testing.T
	in  io.WriteCloser
	out chan string
	err chan string
}

func (s *served) terminal(c *ssh.Client) *terminal {
	s.t.Helper()
	session, err := c.NewSession()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, kv := range [][2]string{{"LANG", "de_DE.UTF-8"}, {"LD_PRELOAD", "/tmp/evil.so"}, {"EDITOR", "vim"}, {"NO_COLOR", "1"}} {
		if err := session.Setenv(kv[0], kv[1]); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := session.RequestPty("xterm-256color", 24, 80, nil); err != nil {
		s.t.Fatal(err)
	}
	m := &terminal{Session: session, t: s.t, out: make(chan string, 64), err: make(chan string, 64)}
	m.in, _ = session.StdinPipe()
	for _, p := range []struct {
		open func() (io.Reader, error)
		to   chan string
	}{{session.StdoutPipe, m.out}, {session.StderrPipe, m.err}} {
		r, err := p.open()
		if err != nil {
			s.t.Fatal(err)
		}
		go func() {
			defer close(p.to)
			buf := make([]byte, 1024)
			for {
				n, err := r.Read(buf)
				if n > 0 {
					p.to <- string(buf[:n])
				}
				if err != nil {
					return
				}
			}
		}()
	}
	if err := session.Shell(); err != nil {
		s.t.Fatal(err)
	}
	return m
}

// until reads output until it contains want.
func (m *terminal) until(ch chan string, want string) string {
	m.t.Helper()
	got := ""
	for !strings.Contains(got, want) {
		got += wait(m.t, fmt.Sprintf("%q after %q", want, got), ch)
	}
	return got
}

func (m *terminal) press(s string) {
	m.t.Helper()
	if _, err := io.WriteString(m.in, s); err != nil {
		m.t.Fatal(err)
	}
}

func TestSession(t *testing.T) {
	s := serve(t, 0)
	for _, tt := range []struct {
		key  ssh.Signer
		role sshd.Role
	}{{s.ana, sshd.Operator}, {s.ben, sshd.Reader}} {
		c, err := s.dial(ssh.PublicKeys(newKey(t), tt.key)) // offers another key first
		if err != nil {
			t.Fatal(err)
		}
		m := s.terminal(c)
		one := wait(t, "the session", s.sessions)
		if want := ssh.FingerprintSHA256(tt.key.PublicKey()); one.Operator.Key != want || one.Operator.ID != want || !one.Operator.Authenticated {
			t.Errorf("operator %+v, want %s", one.Operator, want)
		}
		if one.Role != tt.role || one.User != "someone" || !strings.HasPrefix(one.Name(), "ssh:someone@127.0.0.1:") {
			t.Errorf("role %s, name %s", one.Role, one.Name())
		}
		if got := strings.Join(one.Environ, " "); got != "TERM=xterm-256color NO_COLOR=1 LANG=de_DE.UTF-8" {
			t.Errorf("environment %q", got)
		}
		m.until(m.out, "begin 80x24\r\n")
		for _, size := range [][2]int{{100, 30}, {0, 0}, {1 << 20, 1 << 20}, {200, 50}} {
			if err := m.WindowChange(size[1], size[0]); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("now %dx%d\r\n", size[0], size[1])
			switch size[0] {
			case 0:
				want = "now 80x24\r\n"
			case 1 << 20:
				want = "now 1000x1000\r\n"
			}
			m.until(m.out, want)
		}
		m.press("a")
		m.until(m.out, "key a\r\n")
		m.press("q")
		if err := m.Wait(); err != nil {
			t.Errorf("the session ends with %v", err)
		}
		_ = c.Close()
	}
}

// Only an authorized key may log in.
func TestLogin(t *testing.T) {
	s := serve(t, 0)
	for name, auth := range map[string][]ssh.AuthMethod{
		"another key": {ssh.PublicKeys(newKey(t))},
		"password":    {ssh.Password("secret")},
		"nothing":     nil,
		"questions":   {ssh.KeyboardInteractive(func(string, string, []string, []bool) ([]string, error) { return nil, nil })},
	} {
		if c, err := s.dial(auth...); err == nil {
			t.Errorf("%s comes in", name)
			_ = c.Close()
		}
	}
	c, err := s.dial(ssh.PublicKeys(s.ana))
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.gone = true
	s.mu.Unlock()
	m := s.terminal(c)
	m.until(m.err, "keys cannot be read")
	if d, err := s.dial(ssh.PublicKeys(s.ana)); err == nil {
		t.Error("a key that was taken out comes in")
		_ = d.Close()
	}
}

// The server must offer only consoles.
func TestNothingElse(t *testing.T) {
	s := serve(t, 0)
	c, err := s.dial(ssh.PublicKeys(s.ana))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	session, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := session.CombinedOutput("id")
	if err == nil || !strings.Contains(string(out), "runs no commands") || strings.Contains(string(out), "uid") {
		t.Errorf("a command: %q, %v", out, err)
	}
	if session, err = c.NewSession(); err != nil {
		t.Fatal(err)
	}
	if err := session.RequestSubsystem("sftp"); err == nil {
		t.Error("there is file transfer")
	}
	if session, err = c.NewSession(); err != nil {
		t.Fatal(err)
	}
	if out, err = session.CombinedOutput(""); err == nil || !strings.Contains(string(out), "needs a terminal") {
		t.Errorf("a shell without a terminal: %q, %v", out, err)
	}
	if conn, err := c.Dial("tcp", s.addr); err == nil {
		t.Error("connections are forwarded out")
		_ = conn.Close()
	}
	if l, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		t.Error("connections are forwarded in")
		_ = l.Close()
	}
	if len(s.sessions) != 0 {
		t.Error("a console was opened")
	}
}

func TestSeats(t *testing.T) {
	s := serve(t, 1)
	c, err := s.dial(ssh.PublicKeys(s.ana))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	first := s.terminal(c)
	first.until(first.out, "begin")
	second := s.terminal(c)
	second.until(second.err, "all sessions of this server are taken")
	// A dropped connection must give its slot back.
	_ = c.Close()
	if c, err = s.dial(ssh.PublicKeys(s.ana)); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for deadline := time.Now().Add(limit); ; {
		third := s.terminal(c)
		select {
		case got := <-third.out: // closed without a message while the slot was still taken
			if strings.Contains(got, "begin") {
				return
			}
		case <-third.err:
		}
		if time.Now().After(deadline) {
			t.Fatal("the seat of a dropped connection stays taken")
		}
	}
}

// TestOneKeyLeavesSeats: one in four is for the other keys, also while a session of the key is being refused.
func TestOneKeyLeavesSeats(t *testing.T) {
	s := serve(t, 4)
	refused, read := make(chan struct{}, 1), make(chan struct{})
	end := sync.OnceFunc(func() { close(read) })
	defer end()
	s.mu.Lock()
	s.told = func(line string) {
		if strings.Contains(line, "its share") {
			refused <- struct{}{}
			<-read // the client is slow to read why
		}
	}
	s.mu.Unlock()
	c, err := s.dial(ssh.PublicKeys(s.ana))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 3 {
		one := s.terminal(c)
		one.until(one.out, "begin")
	}
	fourth := s.terminal(c)
	wait(t, "the refusal", refused)
	other, err := s.dial(ssh.PublicKeys(s.ben))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	one := s.terminal(other)
	for range 10 { // its session goes on meanwhile to where it needs a seat
		_, _, _ = other.SendRequest("none", true, nil)
	}
	end()
	fourth.until(fourth.err, "left to other keys")
	one.until(one.out, "begin")
}

func TestEnds(t *testing.T) {
	s := serve(t, 0)
	c, err := s.dial(ssh.PublicKeys(s.ana))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	broken := s.terminal(c)
	broken.until(broken.out, "begin")
	broken.press("!")
	if got := broken.until(broken.err, "internal error"); strings.Contains(got, "s3cret") {
		t.Errorf("a panic tells %q", got)
	}
	failed := s.terminal(c)
	failed.until(failed.out, "begin")
	failed.press("e")
	failed.until(failed.err, "no store ^[[31mis open")
	var exit *ssh.ExitError
	if err := failed.Wait(); !errors.As(err, &exit) || exit.ExitStatus() != 1 {
		t.Errorf("a console that fails ends with %v", err)
	}
	open := s.terminal(c)
	open.until(open.out, "begin")
	s.end()
	open.until(open.out, "the server ends")
	if err := wait(t, "the end of the server", s.ended); err != nil {
		t.Error(err)
	}
	s.ended <- nil
	if _, err := s.dial(ssh.PublicKeys(s.ana)); err == nil {
		t.Error("the server goes on")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := strings.Join(s.log, "\n"); strings.Contains(all, "s3cret") || !strings.Contains(all, "session begins") {
		t.Errorf("log:\n%s", all)
	}
}
