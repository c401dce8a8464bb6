package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"memdesk/model"
)

// answerLimit is the largest accepted answer, in bytes: a hundred results of 80 KiB each.
const answerLimit = 8 << 20

// Category is the sanitised kind of a failure, as events and errors name it
// (gateway-curated.md, Calls).
type Category string

// The categories.
const (
	CategoryTimeout      Category = "timeout"
	CategoryConnection   Category = "connection"
	CategoryHTTPStatus   Category = "http_status"
	CategoryInvalidJSON  Category = "invalid_json"
	CategoryInvalidShape Category = "invalid_shape"
)

// failure is a request that did not succeed. It holds no text from the gateway or the network.
type failure struct {
	Category Category
	Status   int    // with CategoryHTTPStatus
	Detail   string // memdesk's own words
	Unsent   bool   // no connection was made: nothing reached the gateway
}

func (f *failure) Error() string {
	if f.Detail != "" {
		return f.Detail
	}
	return string(f.Category)
}

// kind maps a failure to the contract's kinds. Any status but these three tells a caller nothing that it
// could correct.
func (f *failure) kind() model.Kind {
	switch {
	case f.Category == CategoryTimeout:
		return model.Timeout
	case f.Status == http.StatusUnauthorized, f.Status == http.StatusForbidden:
		return model.PermissionDenied
	case f.Status == http.StatusTooManyRequests:
		return model.RateLimited
	}
	return model.Unavailable
}

// pair is one field of a body under its published name; bodies keep the documented order.
type pair struct {
	name  string
	value any
}

// wire speaks the three calls. Every request is sent at most once.
type wire struct {
	cfg    Config
	client *http.Client
	close  func()
}

func newWire(cfg Config) *wire {
	w := &wire{cfg: cfg, close: func() {}}
	transport := cfg.Transport
	if transport == nil {
		t := &http.Transport{
			// No proxy: the key is in the body. No kept connections: the transport repeats a request whose
			// kept connection died, and an add must be sent once (G13).
			DisableKeepAlives:  true,
			DisableCompression: true,
			DialContext:        (&net.Dialer{Timeout: cfg.Timeout}).DialContext,
			TLSClientConfig:    &tls.Config{MinVersion: tls.VersionTLS12},
			// Not HTTP/2, whose transport may repeat a request that a server refused.
			TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		}
		transport, w.close = t, t.CloseIdleConnections
	}
	w.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirect would send the key elsewhere, or the add twice
	}}
	return w
}

// encode writes a body in the documented order under the gateway's own names.
func (w *wire) encode(fields []pair) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := appendJSON(&b, w.cfg.field(f.name)); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if list, ok := f.value.([][]pair); ok {
			b.WriteByte('[')
			for j, item := range list {
				if j > 0 {
					b.WriteByte(',')
				}
				data, err := w.encode(item)
				if err != nil {
					return nil, err
				}
				b.Write(data)
			}
			b.WriteByte(']')
			continue
		}
		if err := appendJSON(&b, f.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func appendJSON(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	return nil
}

// post sends one request, once, and returns the valid JSON that answered it.
func (w *wire) post(ctx context.Context, path string, fields []pair) (json.RawMessage, *failure) {
	body, err := w.encode(fields)
	if err != nil { // texts, numbers and lists always encode
		return nil, &failure{Category: CategoryInvalidShape, Detail: "the request could not be written as JSON"}
	}
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.cfg.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		return nil, &failure{Category: CategoryConnection, Detail: "base_url makes no request"}
	}
	req.GetBody = nil // no lower layer may send it again
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	res, err := w.client.Do(req)
	if err != nil {
		return nil, w.broken(ctx, err)
	}
	defer res.Body.Close() // read or given up: closing loses nothing
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return nil, refusal(res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, answerLimit+1))
	switch {
	case err != nil:
		return nil, w.broken(ctx, err)
	case len(data) > answerLimit:
		return nil, &failure{Category: CategoryInvalidShape, Detail: fmt.Sprintf("the answer is larger than %d MiB", answerLimit>>20)}
	case !json.Valid(data):
		return nil, &failure{Category: CategoryInvalidJSON, Detail: "the answer is no JSON"}
	}
	return data, nil
}

// refusal words a status without any of its body.
func refusal(status int) *failure {
	detail := fmt.Sprintf("the gateway answers http %d", status)
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		detail += ": it does not accept user_id and the user key"
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		detail += ": correct base_url or the path of the call"
	case status >= 300 && status < 400:
		detail += ", a redirect, which is not followed: correct base_url"
	case status == http.StatusTooManyRequests:
		detail += ": too many requests; wait"
	}
	return &failure{Category: CategoryHTTPStatus, Status: status, Detail: detail}
}

// broken classifies a transport error, whose own text names addresses.
func (w *wire) broken(ctx context.Context, err error) *failure {
	var ne net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &failure{Category: CategoryTimeout, Detail: "cancelled before the gateway answered"}
	case ctx.Err() != nil, errors.As(err, &ne) && ne.Timeout():
		return &failure{Category: CategoryTimeout, Detail: fmt.Sprintf("the gateway did not answer within %s", w.cfg.Timeout)}
	}
	return &failure{Category: CategoryConnection, Detail: "no answer from the gateway: " + network(err), Unsent: unsent(err)}
}

// unsent reports whether an error came before the first byte of a request: while dialling, or in the TLS
// handshake.
func unsent(err error) bool {
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &cert)
}

// network words a connection error without its own text.
func network(err error) string {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dns):
		return "its host name is not found"
	case errors.As(err, &cert):
		return "its certificate is not trusted"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection is refused; is it running?"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "its host cannot be reached"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "it closed the connection before the end of its answer"
	}
	return "the connection failed"
}

// address is the host and port that a health probe connects to.
func (w *wire) address() (host, port string, secure bool) {
	u, err := url.Parse(w.cfg.BaseURL)
	if err != nil { // checked at open
		return "", "", false
	}
	secure = u.Scheme == "https"
	port = u.Port()
	switch {
	case port != "":
	case secure:
		port = "443"
	default:
		port = "80"
	}
	return u.Hostname(), port, secure
}

// probe opens a connection, with TLS where the gateway has it, and closes it
// again. Nothing is sent beyond the handshake.
func (w *wire) probe(ctx context.Context) error {
	host, port, secure := w.address()
	addr := net.JoinHostPort(host, port)
	var conn net.Conn
	var err error
	if secure {
		conn, err = (&tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12}}).DialContext(ctx, "tcp", addr)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	}
	if err != nil {
		return err
	}
	return conn.Close()
}

// conceal removes the key from a gateway's text: an echoed request must not put it on a screen (G5).
func (w *wire) conceal(s string) string {
	key := w.cfg.UserKey.Reveal()
	if key == "" {
		return s
	}
	return strings.ReplaceAll(s, key, "***")
}

// healthDeadline is the contract's deadline for a remote store (R35).
const healthDeadline = time.Second
