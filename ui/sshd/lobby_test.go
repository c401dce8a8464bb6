package sshd_test

import (
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"
)

// console logs in and opens a console that answers.
func (s *served) console(key ssh.Signer) (*ssh.Client, *terminal) {
	s.t.Helper()
	c, err := s.dial(ssh.PublicKeys(key))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	m := s.terminal(c)
	m.until(m.out, "begin")
	return c, m
}

// Connections that send nothing must displace each other, but no client with a key; the first few stay
// until they time out.
func TestIdleConnections(t *testing.T) {
	s := serve(t, 0)
	var idle []net.Conn
	for range 300 {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		idle = append(idle, conn)
	}
	_, first := s.console(s.ana)
	_, second := s.console(s.ben)
	first.press("a")
	first.until(first.out, "key a")
	second.press("b")
	second.until(second.out, "key b")
	// 300 came and 64 can wait: at least 236 were dropped, and their readers see it.
	dropped := make(chan struct{}, len(idle))
	for _, conn := range idle {
		go func() {
			buf := make([]byte, 256)
			for {
				if _, err := conn.Read(buf); err != nil {
					break
				}
			}
			dropped <- struct{}{}
		}()
	}
	for range 300 - 64 {
		wait(t, "the end of an idle connection", dropped)
	}
}

// A reader that logs in without opening a console must keep no client out and end no console.
func TestIdleLogins(t *testing.T) {
	s := serve(t, 0)
	_, before := s.console(s.ana)
	for range 80 {
		c, err := s.dial(ssh.PublicKeys(s.ben))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	_, after := s.console(s.ana)
	for _, m := range []*terminal{before, after} {
		m.press("a")
		m.until(m.out, "key a")
	}
}

// A login without a console must end; one with a console must stay, and so must a connection until its
// last console has ended.
func TestPatience(t *testing.T) { synctest.Test(t, testPatience) }

func testPatience(t *testing.T) {
	l := newInside()
	s := serveOn(t, 0, l, l.dial)
	_, open := s.console(s.ana)
	idle, err := s.dial(ssh.PublicKeys(s.ben))
	if err != nil {
		t.Fatal(err)
	}
	if err := idle.Wait(); err == nil {
		t.Error("it ends without an error")
	}
	open.press("a")
	open.until(open.out, "key a")
	c, left := s.console(s.ana)
	left.press("q")
	_ = c.Wait() // says that it was cut
	open.press("b")
	open.until(open.out, "key b")
}

// One connection may have only a few channels at a time.
func TestChannels(t *testing.T) {
	s := serve(t, 0)
	c, console := s.console(s.ana)
	var open []ssh.Channel
	refused := 0
	for range 50 {
		ch, reqs, err := c.OpenChannel("session", nil)
		var no *ssh.OpenChannelError
		switch {
		case err == nil:
			go ssh.DiscardRequests(reqs)
			open = append(open, ch)
		case errors.As(err, &no) && no.Reason == ssh.ResourceShortage:
			refused++
		default:
			t.Fatal(err)
		}
	}
	if len(open) != 3 || refused != 47 { // and the console
		t.Errorf("%d channels open and %d refused, want 3 and 47", len(open), refused)
	}
	console.press("a")
	console.until(console.out, "key a")
	for _, ch := range open {
		if err := ch.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(limit); ; { // the slot is free once the server has seen the end
		if ch, _, err := c.OpenChannel("session", nil); err == nil {
			_ = ch.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a closed channel keeps its place")
		}
	}
}

// A session must accept only a console's requests, and its input must be bounded.
func TestRequests(t *testing.T) {
	s := serve(t, 0)
	c, err := s.dial(ssh.PublicKeys(s.ana))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ch, reqs, err := c.OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	go ssh.DiscardRequests(reqs)
	env := ssh.Marshal(struct{ Name, Value string }{"LANG", "C"})
	for _, tt := range []struct {
		kind    string
		payload []byte
		want    bool
	}{
		{"auth-agent-req@openssh.com", nil, false},
		{"x11-req", nil, false},
		{"break", nil, false},
		{"env", ssh.Marshal(struct{ Name, Value string }{"LANG", string(make([]byte, 8<<10))}), false},
		{"env", env, true},
	} {
		if ok, err := ch.SendRequest(tt.kind, true, tt.payload); err != nil || ok != tt.want {
			t.Errorf("%s of %d bytes is answered %v, %v; want %v", tt.kind, len(tt.payload), ok, err, tt.want)
		}
	}
	taken := 0
	for range 100 {
		ok, err := ch.SendRequest("env", true, env)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			taken++
		}
	}
	if taken >= 32 {
		t.Errorf("%d more variables are taken", taken)
	}
	if ok, err := ch.SendRequest("pty-req", true, ssh.Marshal(struct {
		Term                       string
		Columns, Rows, Width, High uint32
		Modes                      string
	}{"xterm", 80, 24, 0, 0, ""})); err != nil || !ok {
		t.Errorf("a terminal is answered %v, %v", ok, err)
	}
}

// A window that changes its size before the shell, or in a session that is refused, must stop no channel and leave nothing behind.
func TestSizesBeforeAShell(t *testing.T) {
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
	if err := session.RequestPty("xterm", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := session.WindowChange(30, 90); err != nil {
			t.Fatal(err)
		}
	}
	begun := make(chan error, 1)
	go func() { begun <- session.Shell() }()
	if err := wait(t, "the shell", begun); err != nil {
		t.Fatal(err)
	}
	refused, requests, err := c.OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	go ssh.DiscardRequests(requests)
	size := struct{ Columns, Rows, Width, Height uint32 }{90, 30, 0, 0}
	for _, r := range []struct {
		name    string
		payload any
	}{
		{"pty-req", struct {
			Term                         string
			Columns, Rows, Width, Height uint32
			Modes                        string
		}{"xterm", 80, 24, 0, 0, ""}},
		{"exec", struct{ Command string }{"id"}}, {"window-change", size}, {"window-change", size}, {"window-change", size},
	} {
		_, err := refused.SendRequest(r.name, false, ssh.Marshal(r.payload))
		if errors.Is(err, io.EOF) && r.name == "window-change" { // the server was faster, and has closed the channel
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Close()
	for end := time.Now().Add(limit); time.Now().Before(end); {
		stacks := make([]byte, 1<<20)
		if !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "ssh.(*session).handleRequests") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a channel is still served after its connection has ended")
}
