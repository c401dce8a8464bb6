// Package door is the agents' entrance: it serves the Provider of any store as the tools of the Model Context
// Protocol, over standard input or HTTP (agents-door.md). It changes memory only through the stores' own
// layers, so that scanning, suppression, origin, audit and erasure are in front of every store.
package door

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/internal/bearer"
	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/undo"
)

// The limits of a caller (AD15).
const (
	MaxRequest   = 1 << 20
	maxContent   = 64 << 10
	maxGet       = 256 << 10
	maxText      = 32 << 10
	maxQuery     = 1024
	maxReason    = 500
	pageItems    = 50
	writesMinute = 600
	writesBurst  = 100
	callsAtOnce  = 16
)

// reopenEvery is the pause between two tries to open a store that did not open.
const reopenEvery = 2 * time.Second

// Writes makes the changes, each kept for undo: an operator.Session's, or an undo.Keeper.
type Writes interface {
	Retain(ctx context.Context, s model.Store, req model.RetainRequest) (model.RetainResult, undo.Entry, error)
	Forget(ctx context.Context, s model.Store, req model.ForgetRequest) (model.ForgetResult, undo.Entry, error)
	Together(ctx context.Context, s model.Store, op model.Op, changes []undo.Change) ([]model.RetainResult, undo.Entry, error)
}

// Desk is the workplace of one caller: the stores opened for this caller, with the notes and the undo of the
// caller's changes.
type Desk struct {
	Fleet *backends.Fleet
	// Undo makes the changes; nil: nothing can be kept for undo, so nothing is changed.
	Undo   Writes
	Ledger *origin.Ledger // nil: writers are unknown
	Trace  *origin.Trace  // nil: recalls are not noted
	Clock  clock.Clock
	// Caller has the name and the scopes.
	Caller backends.Caller
	// Trusted are the channels whose word counts for this caller (AD17).
	Trusted []string
	// Unwritable says why nothing may be changed, empty when changes are allowed; nil: always allowed.
	Unwritable func() string
	// Refused records a call that the caller's scopes do not allow; nil records nothing.
	Refused func(ctx context.Context, verb, scope string)
	// Called hears every call of a tool with its outcome (bearer.Outcome); nil: calls are not counted.
	Called func(verb, outcome string)
	// Suspect reports whether a text looks planted and is kept from agents; nil: none is.
	Suspect func(ctx context.Context, store, tier, text string) bool
	// Tier receives a retain without a tier; empty: the caller must name one.
	Tier string
	// Face is Tools or Memory; Mount makes one STORE/TIER the memory directory itself.
	Face  string
	Mount string
	// Aliases are the alias sets offered beside the tools.
	Aliases []string
	Version string
	// Names are the paths of the memory face; nil: items are called by their ids, and cannot be renamed.
	Names *origin.Paths

	writes *rate.Limiter
	slots  chan struct{}
}

// The faces.
const (
	Tools  = "tools"
	Memory = "memory"
)

// call is one tool call.
type call struct {
	*Desk
	writer origin.Writer
}

// answer is the result of a tool: facts, and the same as text.
type answer struct {
	facts any
	text  string
}

// tool is a tool of one of the faces.
type tool struct {
	def    *mcp.Tool
	scopes func(args json.RawMessage) []string
	writes bool
	run    runner
	// plain: the answer is text only, and errors are their message (AD21).
	plain bool
	// meta is extra data for a client that is no model; nil: none.
	meta func(*call) mcp.Meta
}

type runner = func(ctx context.Context, c *call, args json.RawMessage) (answer, error)

// reading decodes the arguments before it runs; strict refuses unknown ones.
func reading[T any](run func(ctx context.Context, c *call, args T) (answer, error), strict bool) runner {
	return func(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
		args, err := decode[T](raw, strict)
		if err != nil {
			return answer{}, err
		}
		return run(ctx, c, args)
	}
}

func (d *Desk) tools() []tool {
	if d.Face == Memory {
		return []tool{memoryTool()}
	}
	out := mainTools()
	for _, a := range d.Aliases {
		for i, t := range out {
			if run, ok := lenient[a][t.def.Name]; ok {
				out[i].run, t.def.InputSchema.(object)["additionalProperties"] = run, true
			}
		}
		out = append(out, aliases[a]...)
	}
	return out
}

// Aliases are the names of the alias sets.
func Aliases() []string {
	return slices.Sorted(maps.Keys(aliases))
}

// Server makes the desk's MCP server. It lists the tools that the caller's scopes reach, and offers no other capability
// (AD2). A call of another tool is refused and recorded (AD5).
func (d *Desk) Server() *mcp.Server {
	d.defaults()
	d.writes = rate.NewLimiter(rate.Limit(float64(writesMinute)/60), writesBurst)
	d.slots = make(chan struct{}, callsAtOnce)
	s := mcp.NewServer(&mcp.Implementation{Name: "memdesk", Version: d.Version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	hidden := map[string]bool{}
	for _, t := range d.tools() {
		hidden[t.def.Name] = !slices.ContainsFunc(t.scopes(nil), d.Caller.May) // no use of it is allowed
		s.AddTool(t.def, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return d.serve(ctx, t, req)
		})
	}
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
				list.Tools = slices.DeleteFunc(list.Tools, func(t *mcp.Tool) bool { return hidden[t.Name] })
			}
			return res, err
		}
	})
	return s
}

// defaults fills in the optional settings of a desk.
func (d *Desk) defaults() {
	if d.Clock == nil {
		d.Clock = clock.System{}
	}
	if d.Unwritable == nil {
		d.Unwritable = func() string { return "" }
	}
	if d.Undo == nil {
		d.Undo, d.Unwritable = nowhere{}, func() string { return noUndo }
	}
	if d.Refused == nil {
		d.Refused = func(context.Context, string, string) {}
	}
	d.Names, d.Face = cmp.Or(d.Names, &origin.Paths{}), cmp.Or(d.Face, Tools)
}

// noUndo says why a desk without Undo changes nothing.
const noUndo = "this server keeps nothing for undo"

// nowhere refuses every change.
type nowhere struct{}

func (nowhere) Retain(context.Context, model.Store, model.RetainRequest) (model.RetainResult, undo.Entry, error) {
	return model.RetainResult{}, undo.Entry{}, model.Refuse("retain", noUndo)
}

func (nowhere) Forget(context.Context, model.Store, model.ForgetRequest) (model.ForgetResult, undo.Entry, error) {
	return model.ForgetResult{}, undo.Entry{}, model.Refuse("forget", noUndo)
}

func (nowhere) Together(context.Context, model.Store, model.Op, []undo.Change) ([]model.RetainResult, undo.Entry, error) {
	return nil, undo.Entry{}, model.Refuse("retain", noUndo)
}

// Missing is the first scope that a call needs and the caller lacks; empty when there is none. Unknown tools
// need none: they fail later.
func (d *Desk) Missing(name string, args json.RawMessage) string {
	for _, t := range d.tools() {
		if t.def.Name != name {
			continue
		}
		for _, s := range t.scopes(args) {
			if !d.Caller.May(s) {
				return s
			}
		}
	}
	return ""
}

func (d *Desk) called(tool string, err error) {
	if d.Called != nil {
		d.Called(strings.TrimPrefix(tool, "memory_"), bearer.Outcome(err))
	}
}

// serve runs one call under the caller's limits.
func (d *Desk) serve(ctx context.Context, t tool, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	args := req.Params.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if scope := d.Missing(t.def.Name, args); scope != "" {
		d.Refused(ctx, bearer.Verb(scope), scope)
		refused := model.Refuse(t.def.Name, "the scope "+scope+" is needed")
		d.called(t.def.Name, refused)
		return failure(t, refused), nil
	}
	c := &call{Desk: d, writer: d.writer(req)}
	if t.writes {
		if limited := c.writing(); limited != nil {
			d.called(t.def.Name, limited)
			return failure(t, limited), nil
		}
	}
	c.Fleet.ReopenSoon(reopenEvery)
	out, err := t.run(under(ctx, c.writer), c, args)
	d.called(t.def.Name, err)
	if err != nil {
		return failure(t, err), nil
	}
	res, err := success(t, out)
	if err == nil && t.meta != nil {
		res.Meta = t.meta(c)
	}
	return res, err
}

// writing counts a write; an error when the caller exceeds the limit (AD15).
func (c *call) writing() error {
	if c.writes.AllowN(c.Clock.Now(), 1) {
		return nil
	}
	return model.Errorf(model.RateLimited, "retain", "more than %d writes a minute: wait", writesMinute)
}

// writer is the caller: the name of the token, and the client's description of itself.
func (d *Desk) writer(req *mcp.CallToolRequest) origin.Writer {
	w := origin.Writer{Actor: d.Caller.Name, Face: "mcp", Channel: origin.Unknown, Trust: origin.Untrusted, Agent: true}
	if d.Face == Memory {
		w.Face = Memory
	}
	if info := req.ClientInfo(); info != nil {
		w.Client, w.Version = origin.Clip(info.Name), origin.Clip(info.Version)
	}
	if req.Session != nil {
		w.Session = origin.Clip(req.Session.ID())
	}
	w.Session = cmp.Or(w.Session, process)
	return w
}

// claimed is the call's writer with the source that it claims.
func (c *call) claimed(source string) origin.Writer {
	if source == "" {
		return c.writer
	}
	w := c.writer.WithSource(source)
	if slices.Contains(c.Trusted, w.Channel) {
		w.Trust = origin.Trusted
	}
	return w
}

func success(t tool, a answer) (*mcp.CallToolResult, error) {
	out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.text}}}
	if t.plain {
		return out, nil
	}
	facts, err := safetext.MarshalJSON(a.facts)
	if err != nil {
		return nil, err
	}
	out.StructuredContent = json.RawMessage(facts)
	return out, nil
}

// failed is the facts of an error (AD13).
type failed struct {
	Status string    `json:"status"`
	Error  errorFact `json:"error"`
}

type errorFact struct {
	Kind      string         `json:"kind"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Revision  model.Revision `json:"revision,omitempty"`
}

// factOf is an error in the form of an answer.
func factOf(err error) errorFact {
	var s staleError
	_ = errors.As(err, &s) // else it has no revision
	return errorFact{snake(model.KindOf(err)), message(err), model.IsRetryable(err), s.now}
}

func failure(t tool, err error) *mcp.CallToolResult {
	f := factOf(err)
	text := f.Kind + ": " + f.Message
	if t.plain {
		text = plainMessage(err)
	}
	out, _ := success(t, answer{failed{"error", f}, text}) // texts always encode
	out.IsError = true
	return out
}

func snake(k model.Kind) string { return strings.ReplaceAll(string(k), " ", "_") }

// message is an error's cause on one line, escaped.
func message(err error) string {
	return plainLine(model.Reason(err))
}

// leftOut replaces words of a store or a caller that the scanner rejects: they reach an agent outside the
// fences.
const leftOut = "[left out: it reads like instructions]"

// plainLine is a text on one line, escaped, for places outside the fences.
func plainLine(text string) string {
	if poisoned(text) {
		return leftOut
	}
	return safetext.LineMax(text, 1000).String()
}

// staleError is a conflict that carries the current revision.
type staleError struct {
	error
	now model.Revision
}

func (e staleError) Unwrap() error { return e.error }

// stale adds the current revision to a conflict.
func stale(ctx context.Context, s model.Store, id string, err error) error {
	if err == nil || model.KindOf(err) != model.Conflict || s.Browser == nil || id == "" {
		return err
	}
	it, rerr := s.Browser.Read(ctx, id)
	if rerr != nil {
		return err
	}
	return staleError{err, it.Revision}
}

// decode reads a tool's arguments. strict refuses unknown ones.
func decode[T any](args json.RawMessage, strict bool) (T, error) {
	var v T
	if safetext.HalfPair(args) {
		return v, model.Errorf(model.InvalidInput, "call", "a text is cut inside a character: it holds half of a surrogate pair")
	}
	known, unknown := spelled(args, reflect.TypeFor[T]())
	if strict && unknown != "" {
		return v, model.Errorf(model.InvalidInput, "call", "the arguments are not what the tool takes: unknown field %q", origin.Clip(unknown))
	}
	if err := json.Unmarshal(known, &v); err != nil {
		return v, model.Errorf(model.InvalidInput, "call", "the arguments are not what the tool takes: %s", jsonProblem(err))
	}
	return v, nil
}

// spelled is a JSON value without the names that its type does not spell just so, and the first of them by
// alphabet: the decoder takes Query for query, and JSON Schema does not.
func spelled(value json.RawMessage, t reflect.Type) (known json.RawMessage, unknown string) {
	switch t.Kind() {
	case reflect.Struct:
		var fields map[string]json.RawMessage
		if json.Unmarshal(value, &fields) != nil || fields == nil {
			return value, "" // the decoder says what is wrong
		}
		types := map[string]reflect.Type{}
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			types[name] = f.Type
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			inner := ""
			if of, ok := types[name]; ok {
				fields[name], inner = spelled(fields[name], of)
			} else {
				delete(fields, name)
				inner = name
			}
			unknown = cmp.Or(unknown, inner)
		}
		known, _ = json.Marshal(fields)
	case reflect.Slice:
		var all []json.RawMessage
		if t.Elem().Kind() != reflect.Struct || json.Unmarshal(value, &all) != nil || all == nil {
			return value, ""
		}
		for i := range all {
			inner := ""
			all[i], inner = spelled(all[i], t.Elem())
			unknown = cmp.Or(unknown, inner)
		}
		known, _ = json.Marshal(all)
	default:
		return value, ""
	}
	return known, unknown
}

func jsonProblem(err error) string {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) && typ.Field != "" {
		return typ.Field + " wants another type"
	}
	return "no JSON object"
}

// store finds the named store, or the only one.
func (d *Desk) store(name string) (model.Store, error) {
	members := d.Fleet.Members()
	if name == "" && len(members) == 1 {
		return members[0].Store, members[0].Err
	}
	if name == "" {
		return model.Store{}, model.Errorf(model.InvalidInput, "call", "there are several stores: give store, one of %s", strings.Join(d.storeNames(), ", "))
	}
	return d.Fleet.Store(name)
}

func (d *Desk) storeNames() []string {
	var out []string
	for _, m := range d.Fleet.Members() {
		out = append(out, m.Name)
	}
	return out
}

// at finds the store and the ref of a reference.
func (d *Desk) at(text string) (model.Store, model.Ref, error) {
	if len(text) > 2*model.MaxID {
		return model.Store{}, model.Ref{}, model.Errorf(model.InvalidInput, "call", "a reference of %d bytes is no reference", len(text))
	}
	ref, err := model.ParseRef(text)
	if err != nil {
		return model.Store{}, ref, err
	}
	if err := model.CheckID(ref.ID); err != nil {
		return model.Store{}, ref, err
	}
	s, err := d.Fleet.Store(ref.Store)
	return s, ref, err
}

// given notes the items given to the caller. A failed note does not fail the call.
func (c *call) given(verb string, refs ...model.Ref) {
	if c.Trace == nil {
		return
	}
	var rows []origin.Recall
	for _, r := range refs {
		rows = append(rows, origin.Recall{Store: r.Store, ID: r.ID, Verb: verb, Actor: c.writer.Actor, Client: c.writer.Client,
			Session: c.writer.Session, At: c.Clock.Now().UTC()})
	}
	_ = c.Trace.Note(rows)
}

// originFact is an origin in an answer.
type originFact struct {
	Actor   string    `json:"actor"`
	Client  string    `json:"client,omitempty"`
	Channel string    `json:"channel"`
	Detail  string    `json:"detail,omitempty"`
	Trust   string    `json:"trust"`
	At      time.Time `json:"at"`
}

// originOf is the writer of an item's text; nil when unknown.
func (d *Desk) originOf(s model.Store, it model.Item) *originFact {
	w := origin.Known(d.Ledger, s, it)
	if w == nil {
		return nil
	}
	return factOfOrigin(w.Row)
}

func factOfOrigin(r origin.Row) *originFact {
	return &originFact{r.Actor, r.Client, r.Channel, r.Detail, r.Trust, r.At}
}

// under names the writer of a change, to the ledger and to the audit log.
func under(ctx context.Context, w origin.Writer) context.Context {
	return audit.WithOrigin(origin.With(ctx, w), w.Line())
}

// words is an origin for the line before a text.
func (o *originFact) words() string {
	if o == nil {
		return "unknown/" + origin.Untrusted
	}
	return o.Channel + "/" + o.Trust + " by " + cmp.Or(o.Actor, "nobody known") + " at " + o.At.UTC().Format(time.RFC3339)
}
