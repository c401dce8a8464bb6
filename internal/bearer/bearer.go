// Package bearer identifies the callers of a served store by their tokens and bounds the share of each: calls
// at a time and bytes in memory. It is in front of everything that memdesk serves to agents over HTTP.
package bearer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/model"
)

// Caller is the holder of a token.
type Caller struct {
	Name   string // for the audit log of the serving side
	Token  model.Secret
	Scopes []string // agents-door.md AD4; nil means those of the door
}

// Limits bound calls and bytes. A share is one caller's part of the whole, so that no caller can keep out
// another; 0 is the default.
type Limits struct {
	Calls, CallShare int   // at a time
	Waiting          int   // further calls of one caller, which wait for their turn; -1: none
	Bytes, ByteShare int64 // of request bodies held at a time
}

// The defaults.
const (
	Calls     = 64
	CallShare = 16
	Waiting   = 64
	Bytes     = 320 << 20
	ByteShare = 160 << 20
)

// Door admits callers. It is safe for concurrent use.
type Door struct {
	limits Limits

	mu     sync.Mutex
	guests []*Guest // never changed in place
	calls  int
	bytes  int64
	ended  chan struct{} // closed and made anew at the end of a call
}

// Guest is a caller with its current calls and bytes.
type Guest struct {
	Caller
	door *Door
	sum  [sha256.Size]byte

	calls   int // under door.mu, as the others
	waiting int
	bytes   int64
}

// New makes a door for the callers whose token is set.
func New(callers []Caller, l Limits) *Door {
	l.Calls = cmp.Or(l.Calls, Calls)
	l.CallShare = cmp.Or(l.CallShare, min(CallShare, l.Calls))
	l.Waiting = cmp.Or(l.Waiting, Waiting)
	l.Bytes = cmp.Or(l.Bytes, Bytes)
	l.ByteShare = cmp.Or(l.ByteShare, min(ByteShare, l.Bytes))
	d := &Door{limits: l, ended: make(chan struct{})}
	d.Update(callers)
	return d
}

// Update admits only these callers from the next request on. An unchanged caller keeps its count; a running
// call ends by itself.
func (d *Door) Update(callers []Caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var guests []*Guest
	for _, c := range callers {
		if !c.Token.IsSet() {
			continue
		}
		g := &Guest{Caller: c, door: d, sum: sha256.Sum256([]byte(c.Token.Reveal()))}
		for _, old := range d.guests {
			if old.Name == g.Name && old.sum == g.sum && slices.Equal(old.Scopes, g.Scopes) && (old.Scopes == nil) == (g.Scopes == nil) {
				g = old
			}
		}
		guests = append(guests, g)
	}
	d.guests = guests
}

// Admit finds the caller of a request's token, or nil. All tokens are compared, in constant time. A token
// counts only in the header, never in the query.
func (d *Door) Admit(r *http.Request) *Guest {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimLeft(token, " "); token == "" || !strings.EqualFold(scheme, "Bearer") { // RFC 9110, 11.1 and 11.4
		return nil
	}
	sum := sha256.Sum256([]byte(token))
	d.mu.Lock()
	guests := d.guests
	d.mu.Unlock()
	var found *Guest
	for _, g := range guests {
		if subtle.ConstantTimeCompare(sum[:], g.sum[:]) == 1 {
			found = g
		}
	}
	return found
}

// Call is one call of a caller, from Begin to End.
type Call struct {
	guest *Guest
	bytes int64
	once  sync.Once
}

// Begin counts a call. Beyond the caller's share, or everybody's, the call waits for the end of another one:
// RateLimited when too many wait, or when ctx ends first. The caller of Begin calls End.
func (g *Guest) Begin(ctx context.Context) (*Call, error) {
	d := g.door
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		var full error
		switch {
		case g.calls >= d.limits.CallShare:
			full = model.Errorf(model.RateLimited, "serve", "more than %d calls of one caller at a time: try again", d.limits.CallShare)
		case d.calls >= d.limits.Calls:
			full = model.Errorf(model.RateLimited, "serve", "more than %d calls at a time: try again", d.limits.Calls)
		default:
			g.calls++
			d.calls++
			return &Call{guest: g}, nil
		}
		if g.waiting >= d.limits.Waiting || ctx.Err() != nil {
			return nil, full
		}
		g.waiting++
		ended := d.ended
		d.mu.Unlock()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		d.mu.Lock()
		g.waiting--
	}
}

// Patience is how long a call of a served address waits for its turn.
const Patience = 10 * time.Second

// RetryAfter is the header's value, in seconds, of the answer to a call that found no turn: its turn may come at
// any moment, and the next try waits with Patience.
const RetryAfter = "1"

// BeginSoon is Begin for a request, with Patience.
func (g *Guest) BeginSoon(r *http.Request) (*Call, error) {
	ctx, cancel := context.WithTimeout(r.Context(), Patience)
	defer cancel()
	return g.Begin(ctx)
}

// End releases the call's share.
func (c *Call) End() {
	c.once.Do(func() {
		d := c.guest.door
		d.mu.Lock()
		defer d.mu.Unlock()
		c.guest.calls--
		d.calls--
		c.guest.bytes -= c.bytes
		d.bytes -= c.bytes
		close(d.ended)
		d.ended = make(chan struct{})
	})
}

// take counts bytes before they are held.
func (c *Call) take(n int64) error {
	d := c.guest.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.guest.bytes+n > d.limits.ByteShare || d.bytes+n > d.limits.Bytes {
		return model.Errorf(model.RateLimited, "serve", "too many bytes of requests at a time: try again")
	}
	c.bytes += n
	c.guest.bytes += n
	d.bytes += n
	return nil
}

// Body reads the body of a request, at most limit bytes; they count until End. More
// is InvalidInput.
func (c *Call) Body(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	in := http.MaxBytesReader(w, r.Body, limit)
	var out bytes.Buffer
	step := int64(4 << 10)
	for {
		if err := c.take(step); err != nil {
			return nil, err
		}
		n, err := io.CopyN(&out, in, step)
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			return nil, tooLarge(limit)
		case errors.Is(err, io.EOF):
			return out.Bytes(), nil
		case err != nil || n < step:
			return nil, model.Errorf(model.Unavailable, "serve", "the request did not arrive whole")
		}
		step = min(2*step, 1<<20)
	}
}

func tooLarge(limit int64) error {
	return model.E(model.InvalidInput, "serve", fmt.Errorf("the request is larger than %d bytes", limit))
}
