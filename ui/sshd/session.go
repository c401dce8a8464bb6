package sshd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	charm "charm.land/ssh"
	"golang.org/x/crypto/ssh"

	"memdesk/audit"
	"memdesk/internal/safetext"
	"memdesk/ui/tui"
)

// Session is one operator at one terminal.
type Session struct {
	Operator audit.Actor // authenticated by the key
	Role     Role
	User     string // the given login name: a claim, since any name comes in with a key
	Remote   string
	Environ  []string // KEY=value: TERM and the client's variables of language and colour
	Input    io.Reader
	Output   io.Writer
	// Sizes gives the size of the terminal at the start and after each change. It is
	// closed with the session.
	Sizes <-chan tui.Size
}

// Name is the session's name in the audit log.
func (s Session) Name() string {
	user := s.User
	if len(user) > maxUser { // leaves room for the address in a record
		user = user[:maxUser-1] + "~"
	}
	return "ssh:" + user + "@" + s.Remote
}

const (
	maxSide  = 1000 // columns or rows: a larger terminal is clamped
	maxValue = 64   // bytes of a variable from the client
	maxUser  = 32   // bytes of the login name that the client gives
)

// session is one channel of a connection.
func (s *Server) session(ch charm.Session) {
	defer func() {
		if recover() != nil { // its value may hold content of a store
			s.logf("%s: a session ended by an internal error", ch.RemoteAddr())
			refuse(ch, 1, "memdesk: an internal error ended this session")
		}
	}()
	pty, changes, isTerminal := ch.Pty()
	close(ch.Context().(terminal).read)
	sizes := make(chan tui.Size, 1)
	if isTerminal {
		go forward(changes, sizes) // of a session that is refused, too
	}
	key := ch.PublicKey()
	keys, err := s.o.Keys()
	if err != nil || key == nil {
		refuse(ch, 1, "memdesk: the authorized keys cannot be read now")
		return
	}
	known, ok := find(keys, key)
	switch {
	case !ok: // removed from the file since the login
		refuse(ch, 1, "memdesk: this key is not authorized any more")
		return
	case ch.RawCommand() != "":
		refuse(ch, 2, "memdesk: this server has the console only and runs no commands. Connect without one")
		return
	case !isTerminal:
		refuse(ch, 2, "memdesk: the console needs a terminal: ssh -t")
		return
	}
	leave, err := s.sit(string(key.Marshal()), len(keys) > 1)
	switch err {
	case errFull:
		s.logf("%s: refused: all %d sessions are taken", ch.RemoteAddr(), cap(s.seat))
		refuse(ch, 1, "memdesk: all sessions of this server are taken, try again later")
		return
	case errShare:
		s.logf("%s: refused: its key has its share of the %d sessions", ch.RemoteAddr(), cap(s.seat))
		refuse(ch, 1, "memdesk: this key has as many sessions as one key may have here, the others are left to other keys: end one first")
		return
	}
	defer leave()
	g := guestOf(ch.Context())
	g.begin()
	defer g.end()
	s.serve(ch, known, pty, sizes)
}

// Why a session gets no seat.
var (
	errFull  = errors.New("all sessions are taken")
	errShare = errors.New("the key has its share of the sessions")
)

// sit takes a seat for a session of a key, or none. Where there are other keys, one seat in four is left to
// them: a session above its key's share must not hold a seat while another key looks for one.
func (s *Server) sit(key string, others bool) (leave func(), err error) {
	most := cap(s.seat)
	if others {
		most = max(1, most-(most+3)/4)
	}
	s.keys.Lock()
	defer s.keys.Unlock()
	select {
	case s.seat <- struct{}{}:
	default:
		return nil, errFull
	}
	if s.held[key] >= most {
		<-s.seat
		return nil, errShare
	}
	s.held[key]++
	return func() {
		s.keys.Lock()
		defer s.keys.Unlock()
		if s.held[key]--; s.held[key] == 0 {
			delete(s.held, key)
		}
		<-s.seat
	}, nil
}

func (s *Server) serve(ch charm.Session, known AuthorizedKey, pty charm.Pty, sizes <-chan tui.Size) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	defer context.AfterFunc(ch.Context(), cancel)()
	sum := ssh.FingerprintSHA256(known.Key)
	one := Session{
		Operator: audit.Actor{ID: sum, Authenticated: true, Key: sum},
		Role:     known.Role, User: ch.User(), Remote: ch.RemoteAddr().String(),
		Environ: environ(pty.Term, ch.Environ()), Input: ch, Output: ch, Sizes: sizes,
	}
	s.logf("%s: %s (%s) as %q: session begins", one.Remote, sum, one.Role, one.User)
	if err := s.o.Console(ctx, one); err != nil {
		refuse(ch, 1, "memdesk: "+err.Error())
	}
	s.logf("%s: %s: session ends", one.Remote, sum)
}

// refuse writes one line on the session's error stream and ends it.
func refuse(ch charm.Session, code int, line string) {
	_, _ = io.WriteString(ch.Stderr(), safetext.Line(line).String()+"\r\n")
	_ = ch.Exit(code)
}

// forward passes sizes on, only the newest when the reader is late: the library stops serving the connection
// while a size waits. It ends with the channel.
func forward(changes <-chan charm.Window, sizes chan tui.Size) {
	defer close(sizes)
	for w := range changes {
		// RFC 4254 6.2: a dimension of zero must be ignored.
		size := tui.Size{Width: min(w.Width, maxSide), Height: min(w.Height, maxSide)}
		if size.Width <= 0 || size.Height <= 0 {
			size = tui.Size{Width: 80, Height: 24}
		}
		select {
		case <-sizes:
		default:
		}
		sizes <- size
	}
}

// environ takes from the client only the variables that say how to write to its terminal.
func environ(term string, sent []string) []string {
	out := []string{"TERM=" + clip(term)}
	for _, kv := range slices.Backward(sent) { // the last of a name counts, as in a shell
		name, value, _ := strings.Cut(kv, "=")
		known := name == "LANG" || strings.HasPrefix(name, "LC_") || name == "COLORTERM" || name == "NO_COLOR"
		if known && len(name) <= maxValue && !slices.ContainsFunc(out, func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			out = append(out, fmt.Sprintf("%s=%s", name, clip(value)))
		}
		if len(out) > 16 {
			break
		}
	}
	return out
}

// clip keeps the characters of a terminal's or a locale's name.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= 0x20 || r >= 0x7f {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), maxValue)]
}
