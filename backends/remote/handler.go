package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/internal/bearer"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// Caller is an authorised user of a served store.
type Caller = bearer.Caller

// ServeConfig says which store is served, and to whom.
type ServeConfig struct {
	// Store returns the store for one caller: wrapped to record who acts. It is called for every request, and
	// must return the same store to the same caller.
	Store func(Caller) model.Store
	// Callers hold the bearer tokens; without any nobody is admitted.
	Callers []Caller
	// Timeout of one call that does not stream; 0 means 30 s.
	Timeout time.Duration
	// Refused records a call that a caller's scopes do not allow; nil records nothing.
	Refused func(ctx context.Context, c Caller, scope string)
	// Called receives every call of the contract and its outcome (bearer.Outcome); may be nil.
	Called func(verb, outcome string)
	// Limits bound each caller's use; more is RateLimited.
	Limits bearer.Limits
	// Door, when set, admits callers in place of Callers and Limits: it may be shared by several servers, and
	// its callers may change.
	Door *bearer.Door
}

// Handler serves a store. It answers only JSON, never shows a path of the machine or a credential, and admits
// nobody without a token.
func Handler(c ServeConfig) http.Handler {
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Called == nil {
		c.Called = func(string, string) {}
	}
	if c.Door == nil {
		c.Door = bearer.New(c.Callers, c.Limits)
	}
	return &handler{c}
}

type handler struct{ cfg ServeConfig }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	guest := h.cfg.Door.Admit(r)
	if guest == nil {
		h.cfg.Called("any", bearer.Unknown)
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, model.Errorf(model.PermissionDenied, "serve", "the server rejected the token (401)"))
		return
	}
	call, err := guest.BeginSoon(r)
	if err != nil {
		w.Header().Set("Retry-After", bearer.RetryAfter) // nothing was begun
		fail(w, err)
		return
	}
	defer call.End()
	store := h.cfg.Store(guest.Caller)
	rt, found := routeOf(r.URL.Path)
	switch {
	case !found:
		refuse(w, http.StatusNotFound, model.Errorf(model.Unsupported, "serve", "there is no call %s", safetext.Escaper{ASCII: true}.Line(r.URL.Path)))
	case r.Method != rt.Method:
		w.Header().Set("Allow", rt.Method)
		refuse(w, http.StatusMethodNotAllowed, model.Errorf(model.InvalidInput, "serve", "%s takes %s", rt.Path, rt.Method))
	case !rt.has(store):
		refuse(w, http.StatusNotImplemented, model.Errorf(model.Unsupported, "serve", "the store has no %s", rt.Facet))
	case !guest.May(rt.scope()):
		if h.cfg.Refused != nil {
			h.cfg.Refused(r.Context(), guest.Caller, rt.scope())
		}
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error=\"insufficient_scope\", scope=%q", rt.scope()))
		refused := model.Refuse("serve", "the token has not the scope "+rt.scope())
		h.cfg.Called(rt.verb(), bearer.Outcome(refused))
		fail(w, refused)
	default:
		h.answer(w, r, rt, store, call)
	}
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, rt route, store model.Store, in *bearer.Call) {
	body, err := readBody(w, r, rt, in)
	if err != nil {
		h.cfg.Called(rt.verb(), bearer.Outcome(err))
		fail(w, err)
		return
	}
	if rt.stream != nil {
		h.cfg.Called(rt.verb(), bearer.Outcome(streamTo(w, r, rt, store, body)))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.cfg.Timeout)
	defer cancel()
	out, err := rt.call(ctx, store, body)
	var data []byte
	if err == nil {
		data, err = encode(out)
	}
	h.cfg.Called(rt.verb(), bearer.Outcome(err))
	if err != nil {
		fail(w, err)
		return
	}
	write(w, http.StatusOK, data)
}

// encode writes an answer before its status is sent: JSON holds no score that is not a number.
func encode(v any) ([]byte, error) {
	data, err := safetext.MarshalJSON(v)
	if err != nil {
		return nil, model.Errorf(model.Internal, "serve", "the store's answer holds a value that JSON cannot: %w", err)
	}
	return data, nil
}

func readBody(w http.ResponseWriter, r *http.Request, rt route, in *bearer.Call) ([]byte, error) {
	if r.Method == http.MethodGet {
		return nil, nil
	}
	if t, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(t) != "application/json" {
		return nil, model.Errorf(model.InvalidInput, "serve", "the request must be application/json")
	}
	return in.Body(w, r, rt.limit())
}

// decode reads a request; an unknown field is an error, because it may have meant something.
func decode[T any](body []byte) (T, error) {
	var v T
	if !utf8.Valid(body) { // the decoder would replace other bytes
		return v, model.Errorf(model.InvalidInput, "serve", "the request is not UTF-8 text")
	}
	if safetext.HalfPair(body) {
		return v, model.Errorf(model.InvalidInput, "serve", "a text is cut inside a character: it holds half of a surrogate pair")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, model.Errorf(model.InvalidInput, "serve", "the request is not what the call takes: %s", plain(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return v, model.Errorf(model.InvalidInput, "serve", "the request holds more than one object")
	}
	return v, checkFields(reflect.ValueOf(v))
}

// MaxField is the most bytes of a field other than content, query and cursor.
const MaxField = 4 << 10

// checkFields bounds a request's fields before a store sees them: long and deep ids cost a store time, and
// errors repeat them.
func checkFields(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Type == reflect.TypeFor[content]() || f.Name == "Query" || f.Name == "Cursor" || f.Name == "Value" {
				continue // bounded by the size of the request
			}
			if err := checkFields(v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return checkFields(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkFields(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[id]() {
			return model.CheckID(v.String())
		}
		if v.Len() > MaxField {
			return model.Errorf(model.InvalidInput, "serve", "a field of %d bytes: %d are the most", v.Len(), MaxField)
		}
	}
	return nil
}

// plain is a decoder's message without its quotes of the request.
func plain(err error) string {
	var typ *json.UnmarshalTypeError
	var syn *json.SyntaxError
	switch {
	case errors.As(err, &typ) && typ.Field != "":
		return fmt.Sprintf("%s wants another type", typ.Field)
	case errors.As(err, &syn):
		return fmt.Sprintf("no JSON at byte %d", syn.Offset)
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	return "no JSON object"
}

// streamTo writes one line per value and a last one that says the list is complete. The error is the store's.
func streamTo(w http.ResponseWriter, r *http.Request, rt route, store model.Store, body []byte) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := safetext.NewJSONWriter(w)
	var sent error
	problems, err := rt.stream(r.Context(), store, body, func(l line) bool {
		sent = out.Write(l)
		return sent == nil
	})
	if sent != nil { // nobody is listening any more
		return model.E(model.Unavailable, "serve", sent)
	}
	last := line{Done: true, Problems: problems}
	if err != nil {
		f := failureOf(err)
		last = line{Error: &f}
	}
	_ = out.Write(last)
	return err
}

func write(w http.ResponseWriter, status int, data []byte) {
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n'))
}

func fail(w http.ResponseWriter, err error) { refuse(w, statusOf(err), err) }

func refuse(w http.ResponseWriter, status int, err error) {
	data, _ := encode(failed{failureOf(err)}) // strings and a bool: JSON holds them
	write(w, status, data)
}

func failureOf(err error) failure {
	f := failure{Code: model.KindOf(err).Code(), Message: err.Error(), Retryable: model.KindOf(err).Retryable(), Refused: model.IsRefusal(err)}
	var e *model.Error
	if errors.As(err, &e) {
		f.Retryable = e.Retryable
		if e.Err != nil {
			f.Message = e.Err.Error()
		}
	}
	return f
}

// statusOf is for proxies and logs; clients read the code.
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
