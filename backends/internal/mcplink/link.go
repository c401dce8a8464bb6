// Package mcplink is the connection to a server of the Model Context Protocol, over a command's
// input and output or over HTTP: made when it is needed, and again after it broke. It knows no
// tool.
package mcplink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/backends/internal/endpoint"
	"memdesk/backends/internal/snippet"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// maxAnswer bounds one answer over HTTP, in bytes; the SDK bounds a line to as much.
const maxAnswer = mcp.DefaultMaxLineLength

// endLimit is how long a command may take to end once its input has.
const endLimit = 2 * time.Second

// hungAfter is how long calls run into their time limits, with no answer among them, before the server counts as
// hung. A busy one takes less.
const hungAfter = time.Minute

// Config says where the server is.
type Config struct {
	Command string
	Args    []string
	BaseURL string
	Token   model.Secret     // of BaseURL; unset: none is sent
	Now     func() time.Time // the clock of the store
}

// Link is the connection to a server. What was under way when it broke is not sent again. It
// is safe for concurrent use.
type Link struct {
	Where string // for people
	dial  func() mcp.Transport
	token model.Secret
	now   func() time.Time
	late  atomic.Pointer[time.Time] // when a call first ran into its time limit, with no answer since

	mu      sync.Mutex
	session *mcp.ClientSession
	closed  bool
}

// New checks where the server is; it starts nothing.
func New(c Config) (*Link, error) {
	switch {
	case c.Command != "" && c.BaseURL != "":
		return nil, model.Errorf(model.InvalidInput, "open", "command and base_url are two servers: give one")
	case c.Command != "":
		return &Link{Where: shown(c.Command, c.Args), now: c.Now, dial: func() mcp.Transport {
			return &mcp.CommandTransport{Command: exec.Command(c.Command, c.Args...), TerminateDuration: endLimit}
		}}, nil
	}
	base, err := endpoint.Check("base_url", c.BaseURL)
	if err != nil {
		return nil, err
	}
	client := &http.Client{CheckRedirect: endpoint.NoRedirect, Transport: bearer{c.Token, &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute}}}
	return &Link{Where: base.Host + base.Path, token: c.Token, now: c.Now, dial: func() mcp.Transport {
		return &mcp.StreamableClientTransport{Endpoint: base.String(), HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxAnswer}
	}}, nil
}

var (
	secretFlag  = regexp.MustCompile(`(?i)^-[\w-]*(key|token|secret|pass|auth|credential)[\w-]*$`)
	secretValue = regexp.MustCompile(`(?is)((?:key|token|secret|pass|auth|credential)[\w-]*\s*[=:]\s*).+$`) // also within --header=NAME: VALUE
	secretBoth  = regexp.MustCompile(`(?s)://[^/@\s]*\?.*@.*$`)                                             // a password with a ?, or a query with an @
	secretUser  = regexp.MustCompile(`://[^/@\s]*@`)
	secretQuery = regexp.MustCompile(`(?s)(://[^?#]*\?).+$`) // hosted servers take keys in it, under any name
)

// shown is a command for people, without its secrets. Where one is left out, a hash keeps apart two commands that
// differ by it alone: a store is known again by its location.
func shown(command string, args []string) string {
	words := []string{command}
	for i, word := range args {
		word = secretBoth.ReplaceAllString(word, "://***")
		word = secretUser.ReplaceAllString(secretQuery.ReplaceAllString(word, "$1***"), "://***@")
		word = secretValue.ReplaceAllString(word, "$1***")
		if i > 0 && secretFlag.MatchString(args[i-1]) {
			word = "***"
		}
		words = append(words, word)
	}
	if !slices.Equal(words[1:], args) {
		sum := sha256.Sum256([]byte(strings.Join(args, "\x00")))
		words = append(words, "("+hex.EncodeToString(sum[:4])+")")
	}
	return strings.Join(words, " ")
}

// bearer sends the token with every request and bounds the answers.
type bearer struct {
	token model.Secret
	next  *http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token.IsSet() {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token.Reveal())
	}
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		err = model.Errorf(model.PermissionDenied, "call", "the server answered with HTTP status %d: check the token and its scopes", res.StatusCode)
	case http.StatusTooManyRequests:
		err = endpoint.PutOff("call", res.Header.Get("Retry-After"), "")
	}
	if err != nil {
		return nil, errors.Join(err, res.Body.Close())
	}
	res.Body = limited{io.LimitReader(res.Body, maxAnswer), res.Body}
	return res, nil
}

func (b bearer) CloseIdleConnections() { b.next.CloseIdleConnections() }

type limited struct {
	io.Reader
	io.Closer
}

// open gives the session, or makes it.
func (l *Link) open(ctx context.Context, op string) (*mcp.ClientSession, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, model.Errorf(model.Unavailable, op, "the store is closed")
	case l.session != nil:
		return l.session, nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "memdesk", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	s, err := client.Connect(ctx, l.dial(), nil)
	if err != nil {
		return nil, worded(ctx, op, err)
	}
	l.session = s
	return s, nil
}

// lost gives up a session after a failure of the connection; the next call makes another.
func (l *Link) lost(s *mcp.ClientSession) {
	l.mu.Lock()
	if l.session == s {
		l.session = nil
	}
	l.mu.Unlock()
	go func() { _ = s.Close() }() // it may wait for a command to end
}

// Close ends the connection. A server that is gone already is closed too.
func (l *Link) Close() error {
	l.mu.Lock()
	s := l.session
	l.session, l.closed = nil, true
	l.mu.Unlock()
	if s != nil {
		_ = s.Close()
	}
	return nil
}

// Tools are the names of the server's tools.
func (l *Link) Tools(ctx context.Context) (map[string]bool, error) {
	s, err := l.open(ctx, "open")
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for t, err := range s.Tools(ctx, nil) {
		if err != nil {
			l.lost(s)
			return nil, worded(ctx, "open", err)
		}
		out[t.Name] = true
	}
	return out, nil
}

// Call runs a tool once and gives its answer as it came. A failure of the connection says
// nothing of what the server did.
func (l *Link) Call(ctx context.Context, op, tool string, args map[string]any) (*mcp.CallToolResult, error) {
	if err := model.FromContext(ctx, op); err != nil {
		return nil, err
	}
	res, err := l.call(ctx, op, tool, args)
	switch {
	case err == nil || ctx.Err() == nil:
		l.late.Store(nil)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		now := l.now()
		l.late.CompareAndSwap(nil, &now)
	}
	return res, err
}

// Hangs reports whether the server has answered nothing for so long that only another process or connection helps.
// The link starts none by itself: a server that is asked in a hurry may need longer to start.
func (l *Link) Hangs() bool {
	late := l.late.Load()
	return late != nil && l.now().Sub(*late) >= hungAfter
}

func (l *Link) call(ctx context.Context, op, tool string, args map[string]any) (*mcp.CallToolResult, error) {
	s, err := l.open(ctx, op)
	if err != nil {
		return nil, err
	}
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		var answered *jsonrpc.Error
		if !errors.As(err, &answered) && ctx.Err() == nil {
			l.lost(s)
		}
		if answered != nil {
			answered.Message = endpoint.Conceal(answered.Message, l.token)
		}
		return nil, worded(ctx, op, err)
	}
	if res.IsError {
		l.conceal(res)
	}
	return res, nil
}

// conceal removes the token from the words of a failure.
func (l *Link) conceal(res *mcp.CallToolResult) {
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			t.Text = endpoint.Conceal(t.Text, l.token)
		}
	}
	if data, err := json.Marshal(res.StructuredContent); err == nil && res.StructuredContent != nil {
		res.StructuredContent = json.RawMessage(endpoint.Conceal(string(data), l.token))
	}
}

// refusals are the codes that say the server did nothing; with any other it may have begun.
var refusals = []int64{jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest, jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidParams}

// worded is a failure of the connection or of the protocol. Its own text may hold an
// address and is dropped, but for what the server itself answered.
func worded(ctx context.Context, op string, err error) error {
	if e := model.FromContext(ctx, op); e != nil {
		return e
	}
	var known *model.Error
	var answered *jsonrpc.Error
	switch {
	case errors.As(err, &known):
		return &model.Error{Op: op, Kind: known.Kind, Retryable: known.Retryable, Err: known.Err}
	case errors.As(err, &answered) && slices.Contains(refusals, answered.Code):
		return model.Errorf(model.InvalidInput, op, "the server refuses the call: %s", Said(answered.Message))
	case errors.As(err, &answered):
		return model.Errorf(model.Internal, op, "the server: %s", Said(answered.Message))
	case errors.Is(err, exec.ErrNotFound):
		return model.Errorf(model.Unavailable, op, "there is no such command")
	}
	return model.Errorf(model.Unavailable, op, "the server cannot be reached, or the connection to it broke")
}

// Said is a server's words on one line.
func Said(text string) string {
	return safetext.LineMax(snippet.First(text, 500), 500).String()
}

// Facts reads the structured answer of a tool, or the text that older servers send. An answer without one of the
// fields in must is an error.
func Facts[T any](op string, res *mcp.CallToolResult, must ...string) (T, error) {
	var out T
	data := []byte(Text(res))
	if res.StructuredContent != nil {
		var err error
		if data, err = json.Marshal(res.StructuredContent); err != nil {
			return out, model.Errorf(model.Unavailable, op, "the server's answer cannot be read")
		}
	}
	if json.Unmarshal(data, &out) != nil {
		return out, model.Errorf(model.Unavailable, op, "the server did not answer with what the tool gives")
	}
	if name := endpoint.Missing(data, must...); name != "" {
		return out, model.Errorf(model.Unavailable, op, "the server did not answer with what the tool gives: %q is missing", name)
	}
	return out, nil
}

// Text is the answer of a tool as text.
func Text(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}
