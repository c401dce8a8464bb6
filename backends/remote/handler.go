package remote

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// Caller is somebody who may use a served store.
type Caller struct {
	Name  string // for the audit log of the serving side
	Token model.Secret
}

// ServeConfig says what is served to whom.
type ServeConfig struct {
	// Store gives the store as one caller sees it: wrapped in what records who acts.
	// It is asked once per caller.
	Store func(Caller) model.Store
	// Callers hold the bearer tokens; none means that nobody gets in.
	Callers []Caller
	// Timeout of one call that is no stream; 0 means 30 s.
	Timeout time.Duration
	// Concurrent is the most calls at a time, 0 means 64; more are RateLimited.
	Concurrent int
}

// Handler serves a store. It answers JSON only, never a path of the machine or a
// credential, and lets nobody in without a token.
func Handler(c ServeConfig) http.Handler {
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Concurrent == 0 {
		c.Concurrent = 64
	}
	h := &handler{cfg: c, slots: make(chan struct{}, c.Concurrent)}
	for _, caller := range c.Callers {
		if caller.Token.IsSet() {
			h.callers = append(h.callers, known{sha256.Sum256([]byte(caller.Token.Reveal())), c.Store(caller)})
		}
	}
	return h
}

type handler struct {
	cfg     ServeConfig
	callers []known
	slots   chan struct{}
}

type known struct {
	token [sha256.Size]byte
	store model.Store
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	store, ok := h.admit(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, model.Errorf(model.PermissionDenied, "serve", "a bearer token is needed that this server knows"))
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		fail(w, model.Errorf(model.RateLimited, "serve", "more than %d calls at a time: try again", h.cfg.Concurrent))
		return
	}
	rt, found := routeOf(r.URL.Path)
	switch {
	case !found:
		refuse(w, http.StatusNotFound, model.Errorf(model.Unsupported, "serve", "there is no call %s", safetext.Escaper{ASCII: true}.Line(r.URL.Path)))
	case r.Method != rt.Method:
		w.Header().Set("Allow", rt.Method)
		refuse(w, http.StatusMethodNotAllowed, model.Errorf(model.InvalidInput, "serve", "%s takes %s", rt.Path, rt.Method))
	case !rt.has(store):
		refuse(w, http.StatusNotImplemented, model.Errorf(model.Unsupported, "serve", "the store has no %s", rt.Facet))
	default:
		h.answer(w, r, rt, store)
	}
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, rt route, store model.Store) {
	body, err := readBody(w, r)
	if err != nil {
		fail(w, err)
		return
	}
	if rt.stream != nil {
		streamTo(w, r, rt, store, body)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.cfg.Timeout)
	defer cancel()
	out, err := rt.call(ctx, store, body)
	if err != nil {
		fail(w, err)
		return
	}
	write(w, http.StatusOK, out)
}

// admit finds the caller of a token. All are compared, in constant time.
func (h *handler) admit(r *http.Request) (model.Store, bool) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i, c := range h.callers {
		if subtle.ConstantTimeCompare(sum[:], c.token[:]) == 1 {
			found = i
		}
	}
	if !ok || token == "" || found < 0 {
		return model.Store{}, false
	}
	return h.callers[found].store, true
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Method == http.MethodGet {
		return nil, nil
	}
	if t, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(t) != "application/json" {
		return nil, model.Errorf(model.InvalidInput, "serve", "the request must be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, model.Errorf(model.InvalidInput, "serve", "the request is larger than %d bytes", MaxBody)
	case err != nil:
		return nil, model.Errorf(model.Unavailable, "serve", "the request did not arrive whole")
	}
	return body, nil
}

// decode reads a request; a field that is not known is an error, because it may
// have meant something.
func decode[T any](body []byte) (T, error) {
	var v T
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, model.Errorf(model.InvalidInput, "serve", "the request is not what the call takes: %s", plain(err))
	}
	if d.More() {
		return v, model.Errorf(model.InvalidInput, "serve", "the request holds more than one object")
	}
	return v, nil
}

// plain is a decoder's message without what it quotes of the request.
func plain(err error) string {
	var typ *json.UnmarshalTypeError
	var syn *json.SyntaxError
	switch {
	case errors.As(err, &typ):
		return fmt.Sprintf("%s wants another type", typ.Field)
	case errors.As(err, &syn):
		return fmt.Sprintf("no JSON at byte %d", syn.Offset)
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	return "no JSON object"
}

// streamTo writes one line per value and a last one that says it is whole.
func streamTo(w http.ResponseWriter, r *http.Request, rt route, store model.Store, body []byte) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := safetext.NewJSONWriter(w)
	var sent error
	problems, err := rt.stream(r.Context(), store, body, func(l line) bool {
		sent = out.Write(l)
		return sent == nil
	})
	if sent != nil { // nobody listens any more
		return
	}
	last := line{Done: true, Problems: problems}
	if err != nil {
		f := failureOf(err)
		last = line{Error: &f}
	}
	_ = out.Write(last)
}

func write(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	_ = safetext.NewJSONWriter(w).Write(v)
}

func fail(w http.ResponseWriter, err error) { refuse(w, statusOf(err), err) }

func refuse(w http.ResponseWriter, status int, err error) {
	write(w, status, failed{failureOf(err)})
}

func failureOf(err error) failure {
	f := failure{Code: code(model.KindOf(err)), Message: err.Error(), Retryable: model.KindOf(err).Retryable(), Refused: model.IsRefusal(err)}
	var e *model.Error
	if errors.As(err, &e) {
		f.Retryable = e.Retryable
		if e.Err != nil {
			f.Message = e.Err.Error()
		}
	}
	return f
}

// statusOf is for proxies and logs; clients go by the code.
func statusOf(err error) int {
	switch model.KindOf(err) {
	case model.NotFound:
		return http.StatusNotFound
	case model.AlreadyExists, model.Conflict:
		return http.StatusConflict
	case model.InvalidInput:
		return http.StatusBadRequest
	case model.Locked:
		return http.StatusLocked
	case model.Timeout:
		return http.StatusGatewayTimeout
	case model.Unavailable:
		return http.StatusServiceUnavailable
	case model.PermissionDenied:
		return http.StatusForbidden
	case model.RateLimited:
		return http.StatusTooManyRequests
	case model.Unsupported:
		return http.StatusNotImplemented
	}
	return http.StatusInternalServerError
}
