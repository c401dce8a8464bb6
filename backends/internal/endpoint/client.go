package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"memdesk/backends/internal/snippet"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// maxAnswer bounds one answer, in bytes.
const maxAnswer = 64 << 20

// Client speaks JSON with a foreign server. It sends a request once, follows no redirect and repeats
// no address in its errors.
type Client struct {
	base   *url.URL
	header string // that carries the key
	key    model.Secret
	advice string // what to do about a refused key
	http   *http.Client
}

// NewClient checks the address; it makes no connection. An unset key is not sent.
func NewClient(base, header string, key model.Secret, advice string) (Client, error) {
	u, err := Check("base_url", base)
	if err != nil {
		return Client{}, err
	}
	return Client{u, header, key, advice, &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 2 * time.Minute},
		CheckRedirect: NoRedirect,
	}}, nil
}

// Where is the server for people.
func (c Client) Where() string { return c.base.Host + c.base.Path }

// Close drops the idle connections.
func (c Client) Close() { c.http.CloseIdleConnections() }

// Do sends one request and gives the answer's body; path is escaped already. PermissionDenied for a
// refused key, NotFound, RateLimited and InvalidInput by the answer's status, else Unavailable or
// Timeout, neither of which says that nothing was changed.
func (c Client) Do(ctx context.Context, op, method, path string, query url.Values, body any) ([]byte, error) {
	at := c.base.JoinPath(path)
	at.RawQuery = query.Encode()
	req, err := Request(ctx, op, method, at, body)
	if err != nil {
		return nil, err
	}
	if c.key.IsSet() {
		req.Header.Set(c.header, c.key.Reveal())
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, Unanswered(ctx, op, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, Unanswered(ctx, op, err)
	case len(data) > maxAnswer:
		return nil, model.Errorf(model.Unavailable, op, "the answer is larger than %d bytes", maxAnswer)
	case res.StatusCode == http.StatusTooManyRequests:
		return nil, PutOff(op, res.Header.Get("Retry-After"), "")
	case res.StatusCode != http.StatusOK:
		return nil, c.refused(op, res.StatusCode, data)
	}
	return data, nil
}

// Request is a request with body as JSON; nil sends none. It carries no key. A context that has ended
// is its own kind.
func Request(ctx context.Context, op, method string, at *url.URL, body any) (*http.Request, error) {
	if err := model.FromContext(ctx, op); err != nil {
		return nil, err
	}
	var in io.Reader
	if body != nil {
		data, err := safetext.MarshalJSON(body)
		if err != nil {
			return nil, model.Errorf(model.InvalidInput, op, "the request cannot be written as JSON")
		}
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), in)
	if err != nil {
		return nil, model.Errorf(model.Internal, op, "the request cannot be made")
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// Unanswered words a failure of the network. Its text may hold the URL and is dropped. Neither kind
// says that nothing was changed (model.Unchanged).
func Unanswered(ctx context.Context, op string, err error) error {
	if e := model.FromContext(ctx, op); e != nil {
		return e
	}
	var timeout net.Error
	var dial *net.OpError
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return model.Errorf(model.Timeout, op, "the server did not answer in time")
	case errors.As(err, &dial) && dial.Op == "dial":
		return model.Errorf(model.Unavailable, op, "the server cannot be reached")
	}
	return model.Errorf(model.Unavailable, op, "the connection to the server broke")
}

// PutOff is the error of a request that the server does not take now (HTTP status 429); why is the
// server's own reason, or "". after is its Retry-After: seconds or a date (RFC 9110, 10.2.3); without
// one nobody knows when, and After is negative.
func PutOff(op, after, why string) error {
	e := &model.Error{Op: op, Kind: model.RateLimited, Retryable: true, After: -1,
		Err: errors.New(cmp.Or(why, "the server takes no more requests now (HTTP status 429)"))}
	if n, err := strconv.Atoi(strings.TrimSpace(after)); err == nil && n >= 0 && n < 1<<20 {
		e.After = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		e.After = max(0, time.Until(at))
	}
	if e.After > 0 {
		e.Err = fmt.Errorf("%w: again in %s", e.Err, e.After.Round(time.Second))
	}
	return e
}

// Conceal removes a key from a server's words: an echoed request must not put it on a screen.
func Conceal(words string, key model.Secret) string {
	if !key.IsSet() {
		return words
	}
	return strings.ReplaceAll(words, key.Reveal(), "***")
}

// refused words an answer that is no success. The server's reason is repeated only where it is about
// the request.
func (c Client) refused(op string, status int, data []byte) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.Errorf(model.PermissionDenied, op, "the server answered with HTTP status %d: %s", status, c.advice)
	case http.StatusNotFound:
		return model.Errorf(model.NotFound, op, "the server has no such item")
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		var why struct {
			Detail any `json:"detail"`
		}
		words, _ := "", json.Unmarshal(data, &why) // another shape says nothing
		if text, ok := why.Detail.(string); ok {
			words = ": " + snippet.First(Conceal(text, c.key), 300)
		}
		return model.Errorf(model.InvalidInput, op, "the server does not take the request (HTTP status %d)%s", status, words)
	}
	return model.Errorf(model.Unavailable, op, "the server answered with HTTP status %d", status)
}
