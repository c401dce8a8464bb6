// Package sshd serves the console over SSH: one console session per channel, public keys only, no shell, no
// command, no file transfer, no forwarding. It knows the operator and the role; it opens no store and changes
// nothing.
package sshd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	charm "charm.land/ssh"
	"charm.land/wish/v2"
	"golang.org/x/crypto/ssh"
)

// The limits of a server. It drops a connection that shows no key in time, or tries too many, or shows one
// and opens no console.
const (
	DefaultSessions  = 32
	maxWaiting       = 64 // connections without a console
	handshakeTimeout = 30 * time.Second
	patience         = 30 * time.Second // from the login to the console
	authTries        = 6
	farewell         = 5 * time.Second // for consoles to leave the terminal at the end
)

// Options configures a server.
type Options struct {
	HostKey ssh.Signer
	// Keys are read at every login, so that a removed key opens no new session. Open sessions stay.
	Keys func() ([]AuthorizedKey, error)
	// Console runs one session until the operator leaves or ctx ends; its error is shown to the operator. It is
	// called concurrently.
	Console func(ctx context.Context, s Session) error
	// Sessions bounds the concurrent sessions; 0 is DefaultSessions.
	Sessions int
	// Log takes one line about an event, unescaped: a sentence and its arguments; nil drops it.
	Log func(format string, args ...any)
}

// Server serves consoles.
type Server struct {
	o     Options
	ssh   *charm.Server
	seat  chan struct{} // one per session
	lobby *lobby
	ctx   context.Context // of the sessions
	mu    sync.Mutex      // of Log

	keys sync.Mutex     // of held, and of taking a seat
	held map[string]int // sessions of each key
}

// New prepares a server; it listens nowhere yet.
func New(o Options) (*Server, error) {
	if o.HostKey == nil || o.Keys == nil || o.Console == nil {
		return nil, errors.New("serve ssh: host key, authorized keys and console are needed")
	}
	o.Sessions = cmp.Or(o.Sessions, DefaultSessions)
	s := &Server{o: o, seat: make(chan struct{}, o.Sessions), lobby: &lobby{size: maxWaiting, patience: patience}, ctx: context.Background(), held: map[string]int{}}
	var err error
	s.ssh, err = wish.NewServer(
		wish.WithPublicKeyAuth(s.admit), // the only method: passwords and "none" are refused
		wish.WithVersion("memdesk"),
		charm.EmulatePty(),
		charm.WrapConn(func(ctx charm.Context, conn net.Conn) net.Conn { // that arrivals accepted
			ctx.SetValue(guestKey{}, conn.(*guest))
			return conn
		}),
		func(c *charm.Server) error {
			c.AddHostKey(o.HostKey)
			c.Handler = s.session
			c.HandshakeTimeout = handshakeTimeout
			c.ConnectionFailedCallback = func(conn net.Conn, err error) { s.logf("%s: no login: %v", conn.RemoteAddr(), err) }
			c.ServerConfigCallback = login
			// Consoles only: every other channel type is refused by name, so that a change of the library's defaults
			// opens nothing.
			c.ChannelHandlers = map[string]charm.ChannelHandler{"session": channel}
			c.RequestHandlers = map[string]charm.RequestHandler{}
			c.SubsystemHandlers = map[string]charm.SubsystemHandler{}
			return nil
		},
	)
	if err != nil {
		return nil, fmt.Errorf("serve ssh: %w", err)
	}
	return s, nil
}

// Serve accepts connections until ctx ends, then ends the consoles, waits until they have left their
// terminals, and closes the rest. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx = ctx
	ended := make(chan error, 1)
	go func() { ended <- s.ssh.Serve(arrivals{l, s}) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve ssh: %w", err)
	case <-ctx.Done():
	}
	_ = l.Close()
	limit := time.NewTimer(farewell)
	defer limit.Stop()
	for taken := 0; taken < cap(s.seat); taken++ { // holding every seat, nobody is left and nobody can begin
		select {
		case s.seat <- struct{}{}:
		case <-limit.C:
			taken = cap(s.seat)
		}
	}
	_ = s.ssh.Close()
	<-ended
	return nil
}

// arrivals takes connections into the lobby in order of arrival; the library's goroutines, one per
// connection, start in any order.
type arrivals struct {
	net.Listener
	s *Server
}

func (a arrivals) Accept() (net.Conn, error) {
	conn, err := a.Listener.Accept()
	if err != nil {
		return nil, err
	}
	in, out := a.s.lobby.enter(conn)
	if out != nil {
		a.s.logf("%s: dropped: too many connections without a console, and most are of its source", out.RemoteAddr())
		_ = out.Close()
	}
	return in, nil
}

// login configures the login of one connection. Only the key that signed counts: a client may ask about keys
// that it does not have.
func login(ctx charm.Context) *ssh.ServerConfig {
	return &ssh.ServerConfig{MaxAuthTries: authTries,
		VerifiedPublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey, p *ssh.Permissions, _ string) (*ssh.Permissions, error) {
			guestOf(ctx).prove(ssh.FingerprintSHA256(key))
			return p, nil
		}}
}

// admit looks a key up. It grants nothing by itself: clients may ask about keys
// that they do not have, so the role is taken from the key that signed.
func (s *Server) admit(ctx charm.Context, key charm.PublicKey) bool {
	keys, err := s.o.Keys()
	if err != nil {
		s.logf("%s: no login: %v", ctx.RemoteAddr(), err)
		return false
	}
	_, ok := find(keys, key)
	return ok
}

func (s *Server) logf(format string, args ...any) {
	if s.o.Log == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.Log(format, args...)
}
