package sshd

import (
	"net"
	"slices"
	"sync"
	"time"

	charm "charm.land/ssh"
	"golang.org/x/crypto/ssh"
)

// lobby holds the connections without a console: those that have not shown a key yet, and those that have and
// ask for nothing. It refuses no connection: a full lobby drops the oldest connection of the source with the
// most, so that one source can displace only itself. A connection that has shown its key has the lobby's
// patience to open a console.
type lobby struct {
	size     int
	patience time.Duration

	mu     sync.Mutex
	guests []*guest // oldest first
}

// guest is one connection. Its source is its address, and from the login on the
// fingerprint of its key.
type guest struct {
	net.Conn
	lobby *lobby

	// All under lobby.mu.
	source   string
	consoles int
	gone     bool
	limit    *time.Timer

	channels chan struct{} // one per open channel
}

// enter adds a connection; out, if any, has to leave for it, and the caller closes out.
func (l *lobby) enter(conn net.Conn) (in, out *guest) {
	source, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		source = conn.RemoteAddr().String()
	}
	in = &guest{Conn: conn, lobby: l, source: source, channels: make(chan struct{}, maxChannels)}
	l.mu.Lock()
	defer l.mu.Unlock()
	return in, l.add(in)
}

// add adds a guest and, when there are too many, removes the oldest of the source with the most. The caller
// holds mu and closes the result.
func (l *lobby) add(in *guest) (out *guest) {
	l.guests = append(l.guests, in)
	if len(l.guests) <= l.size {
		return nil
	}
	count := map[string]int{}
	most := 0
	for _, g := range l.guests {
		count[g.source]++
		most = max(most, count[g.source])
	}
	for _, g := range l.guests {
		if count[g.source] == most {
			l.remove(g)
			return g
		}
	}
	return nil
}

// remove takes a guest out. The caller holds mu.
func (l *lobby) remove(g *guest) {
	l.guests = slices.DeleteFunc(l.guests, func(other *guest) bool { return other == g })
	if g.limit != nil {
		g.limit.Stop()
	}
}

// prove records the key of a login.
func (g *guest) prove(fingerprint string) {
	g.lobby.mu.Lock()
	defer g.lobby.mu.Unlock()
	g.source = fingerprint
	g.wait()
}

// wait gives a guest the time to open a console. The caller holds mu.
func (g *guest) wait() {
	g.limit = time.AfterFunc(g.lobby.patience, func() { _ = g.Close() })
}

// begin removes a guest from the lobby when its console begins.
func (g *guest) begin() {
	g.lobby.mu.Lock()
	defer g.lobby.mu.Unlock()
	if g.consoles++; g.consoles == 1 {
		g.lobby.remove(g)
	}
}

// end returns a guest to the lobby after its last console.
func (g *guest) end() {
	g.lobby.mu.Lock()
	if g.consoles--; g.consoles > 0 || g.gone {
		g.lobby.mu.Unlock()
		return
	}
	g.wait()
	out := g.lobby.add(g)
	g.lobby.mu.Unlock()
	if out != nil {
		_ = out.Close()
	}
}

// Close leaves the lobby and closes the connection.
func (g *guest) Close() error {
	g.lobby.mu.Lock()
	g.gone = true
	g.lobby.remove(g)
	g.lobby.mu.Unlock()
	return g.Conn.Close()
}

// guestKey carries the guest of a connection.
type guestKey struct{}

func guestOf(ctx charm.Context) *guest { return ctx.Value(guestKey{}).(*guest) }

// The limits of one connection.
const (
	maxChannels = 4  // open at a time
	maxEnv      = 32 // variables that a channel may send
	maxRequest  = 4 << 10
)

// channel serves one channel of a connection, or refuses it when the connection has too many.
func channel(srv *charm.Server, conn *ssh.ServerConn, ch ssh.NewChannel, ctx charm.Context) {
	open := guestOf(ctx).channels
	select {
	case open <- struct{}{}:
		defer func() { <-open }()
		read := make(chan struct{})
		charm.DefaultSessionHandler(srv, conn, filtered{ch, read}, terminal{ctx, read})
	default:
		_ = ch.Reject(ssh.ResourceShortage, "too many channels on this connection")
	}
}

// terminal is the context of one channel. read is closed when the session has read the terminal and its size.
type terminal struct {
	charm.Context
	read chan struct{}
}

// filtered is a channel that passes only the requests of a console. All others are answered "no" here: the
// library says yes to some, such as the forwarding of the client's agent.
type filtered struct {
	ssh.NewChannel
	read <-chan struct{} // as in terminal
}

// Accept opens the channel. Sizes wait until the session has read the first one: the library writes each over
// it, without a lock, and then waits for a reader of the sizes.
func (f filtered) Accept() (ssh.Channel, <-chan *ssh.Request, error) {
	ch, reqs, err := f.NewChannel.Accept()
	if err != nil {
		return nil, nil, err
	}
	passed := make(chan *ssh.Request)
	go func() {
		defer close(passed)
		env := 0
		var size *ssh.Request // the newest that waits
		for {
			var read <-chan struct{}
			if size != nil {
				read = f.read
			}
			select {
			case <-read:
				passed <- size
				size = nil
			case r, ok := <-reqs:
				if !ok {
					return
				}
				if r.Type == "env" {
					env++
				}
				switch {
				case !ofConsole(r, env):
					_ = r.Reply(false, nil) // the connection may be gone
				case r.Type == "window-change":
					_ = r.Reply(true, nil)
					r.WantReply, size = false, r
				default:
					passed <- r
				}
			}
		}
	}()
	return ch, passed, nil
}

// ofConsole reports whether a console needs the request; env counts those that
// set a variable.
func ofConsole(r *ssh.Request, env int) bool {
	switch r.Type {
	case "pty-req", "window-change", "shell", "exec", "subsystem":
		return len(r.Payload) <= maxRequest
	case "env":
		return env <= maxEnv && len(r.Payload) <= maxRequest
	}
	return false
}
