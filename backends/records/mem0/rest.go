package mem0

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/backends/internal/endpoint"
	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/model"
)

// listLimit is how many memories the server gives at most; it has no pages.
const listLimit = 1000

// server is mem0's REST server. Each look at it reads its list into a table in memory, which the
// statements of records work on; a change is a call of its own. It embeds an edited text itself.
type server struct {
	api   endpoint.Client
	user  string // empty: every user's memories
	clock clock.Clock
	mu    sync.Mutex // the table holds one look at a time, and the server has no compare-and-swap
	index *records.Memory
}

func openServer(ctx context.Context, c Config) (model.Store, error) {
	api, err := endpoint.NewClient(c.BaseURL, "X-API-Key", c.APIKey, "set api_key_env, or user_id where the key may not list every user's memories")
	if err != nil {
		return model.Store{}, err
	}
	s := &server{api: api, user: c.UserID, clock: c.Clock}
	if s.clock == nil {
		s.clock = clock.System{}
	}
	if s.index, err = records.NewMemory("items", strings.Split("id scope at size expired raw", " "), "id"); err != nil {
		return model.Store{}, err
	}
	reason := ""
	if c.ReadOnly {
		reason = "its configuration says read_only"
	}
	if _, _, err := s.all(ctx, "open", s.user); err != nil {
		return model.Store{}, errors.Join(err, s.Close())
	}
	out := records.New(records.Config{
		Name: c.Name, Kind: Kind, Location: api.Where(), DB: s, Tables: []records.Table{s.table()}, ReadOnlyReason: reason, Remote: true, Clock: c.Clock,
		Notes: []string{"served by mem0's REST server: it embeds an edited text anew, and what it deletes stays in its history"},
		Deviations: []model.Deviation{{Rule: "D07", Reason: "the server keeps no revisions: what is expected is compared before the change, not with it"},
			{Rule: "D18", Reason: "whom an item concerns is told by the owner's own keys: a write cannot tag it"}},
		Bound: s.bound, History: s, Maintainer: s,
	})
	out.Subjects = s // asks for one user's memories, which may be more than a list of everybody's shows
	return out, nil
}

// View implements records.DB.
func (s *server) View(ctx context.Context, op string, fn func(records.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fill(ctx, op); err != nil {
		return err
	}
	return fn(serverTx{s.index.Tx(ctx), ctx})
}

// Change implements records.DB. What is changed is read again afterwards.
func (s *server) Change(ctx context.Context, op string, fn func(records.Tx) error) error {
	return s.View(ctx, op, fn)
}

// serverTx carries the context to the calls that a change makes.
type serverTx struct {
	records.Tx
	ctx context.Context
}

func (s *server) fill(ctx context.Context, op string) error {
	all, _, err := s.all(ctx, op, s.user)
	if err != nil {
		return err
	}
	return s.index.Fill(ctx, func(put func(...any) error) error {
		for _, r := range all {
			it := s.item(r.Raw)
			expired := 0
			if it.Has(model.FlagExpired) {
				expired = 1
			}
			if err := put(r.ID, it.Scope, stampOf(r), len(it.Body), expired, string(r.Raw)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Look implements records.DB: View has asked the server already.
func (s *server) Look(time.Time) []model.HealthFinding { return nil }

// Deep implements records.DB.
func (s *server) Deep(context.Context) []model.HealthFinding { return nil }

// Close implements records.DB.
func (s *server) Close() error {
	s.api.Close()
	return s.index.Close()
}

// bound says what the list lacks; empty where it is whole.
func (s *server) bound(tx records.Tx) (string, error) {
	var n int64
	_, err := tx.One(`SELECT count(*) FROM items`, nil, &n)
	if n < listLimit {
		return "", err
	}
	return "the server gives its 1000 newest memories and no more: open its collection (dsn_env) to see all of them", err
}

func (s *server) table() records.Table {
	return records.Table{
		Tier: model.TierSpec{Name: "memory", Title: "what was remembered of somebody", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		From: "items m", Key: "m.id", Scope: "m.scope", At: "m.at", Size: "m.size", Gone: "m.expired", Columns: []string{"m.raw"},
		Item: func(r records.Row) model.Item { return s.item([]byte(r.Text(0))) },
		Save: s.save, Drop: s.drop,
	}
}

// memoryPath is the path of one memory. An id that is not one part of a path is none: a dot, two, or
// a slash would lead elsewhere.
func memoryPath(id string) (string, error) {
	if id == "" || id == "." || id == ".." || strings.Contains(id, "/") || model.CheckID(id) != nil {
		return "", model.Errorf(model.NotFound, "read", "the server has no memory %.200q", id)
	}
	return "memories/" + url.PathEscape(id), nil
}

// listed is a memory as the server gives it.
type listed struct {
	ID      string          `json:"id"`
	User    string          `json:"user_id"`
	Created *string         `json:"created_at"`
	Updated *string         `json:"updated_at"`
	Raw     json.RawMessage `json:"-"`
}

func stampOf(r listed) string {
	for _, t := range []*string{r.Updated, r.Created} {
		if t != nil && *t != "" {
			return *t
		}
	}
	return ""
}

// all lists the memories of a user, or everybody's; cut reports that the server gave as many as it
// gives at most.
func (s *server) all(ctx context.Context, op, user string) (out []listed, cut bool, err error) {
	query := url.Values{"top_k": {"1000"}, "show_expired": {"true"}}
	if user != "" {
		query.Set("user_id", user)
	}
	data, err := s.api.Do(ctx, op, http.MethodGet, "memories", query, nil)
	if err != nil {
		return nil, false, err
	}
	var answer struct {
		Results []json.RawMessage `json:"results"`
	}
	if json.Unmarshal(data, &answer.Results) != nil && json.Unmarshal(data, &answer) != nil {
		return nil, false, model.Errorf(model.Unavailable, op, "the server did not answer with a list of memories: is it mem0's?")
	}
	for _, raw := range answer.Results {
		r := listed{Raw: raw}
		if json.Unmarshal(raw, &r) != nil {
			return nil, false, model.Errorf(model.Unavailable, op, "the server gave a memory that cannot be read")
		}
		if _, err := memoryPath(r.ID); err != nil {
			return nil, false, model.Errorf(model.Unavailable, op, "the server gave a memory without a proper id")
		}
		out = append(out, r)
	}
	return out, len(out) >= listLimit, nil
}

// item reads a memory as the server gives it: the caller's own keys are in metadata.
func (s *server) item(raw []byte) model.Item {
	var it model.Item
	o, err := jsonedit.Parse(raw)
	if err != nil {
		return it // all has parsed it
	}
	it.Body, _ = o.Text("memory")
	var scope []string
	for _, name := range append(slices.Clone(fixed), "expiration_date") {
		if v, _ := o.Text(name); v != "" && v != "null" {
			it.Meta = append(it.Meta, model.Field{Name: name, Value: v, ReadOnly: true})
			if strings.HasSuffix(name, "_id") {
				scope = append(scope, name+"="+v)
			}
		}
	}
	it.Scope = strings.Join(scope, "/")
	if own, err := jsonedit.Parse(o.Raw("metadata")); err == nil {
		for _, m := range own.Members {
			v, _ := own.Text(m.Name)
			it.Meta = append(it.Meta, model.Field{Name: m.Name, Value: v})
		}
	}
	if day, _ := o.Text("expiration_date"); len(day) >= 10 && day[:10] < s.clock.Now().UTC().Format(time.DateOnly) {
		it.Flags = []model.Flag{model.FlagExpired}
	}
	return it
}

// Concerning implements model.Subjects. Of a user with more memories than the server gives it fails:
// what is not seen is not erased.
func (s *server) Concerning(ctx context.Context, subjects []string, yield func(model.SubjectHit) bool) error {
	const op = "concerning"
	for _, sub := range subjects {
		all, cut, err := s.all(ctx, op, sub)
		if err == nil && cut {
			err = model.Errorf(model.Unsupported, op, "the server gives at most %d memories of a user: open its collection (dsn_env) instead", listLimit)
		}
		if err != nil {
			return err
		}
		for _, r := range all {
			if r.User == sub && !yield(model.SubjectHit{ID: records.Escape(r.ID), Subject: sub, Reason: "its user_id"}) {
				return nil
			}
		}
	}
	return nil
}

// save sends text and metadata; the server replaces the caller's own keys as a whole. A value that
// was no text stays what it was.
func (s *server) save(tx records.Tx, c *records.Change) error {
	const op = "retain"
	ctx := tx.(serverTx).ctx
	was, err := jsonedit.Parse([]byte(c.Row.Text(0)))
	if err != nil {
		return model.Errorf(model.Unavailable, op, "the server gave a memory that cannot be read")
	}
	own := was.Raw("metadata")
	if own == nil || string(own) == "null" {
		own = []byte("{}")
	}
	o, err := jsonedit.Parse(own)
	if err != nil {
		return model.Errorf(model.Unavailable, op, "the server gave metadata that is no JSON object")
	}
	free := func(fields []model.Field) []model.Field {
		return slices.DeleteFunc(slices.Clone(fields), func(f model.Field) bool { return f.ReadOnly })
	}
	if err := setFields(o, free(c.Old.Meta), free(c.New.Meta)); err != nil {
		return err
	}
	path, err := memoryPath(c.Row.Key)
	if err == nil {
		_, err = s.api.Do(ctx, op, http.MethodPut, path, nil, map[string]any{"text": c.New.Body, "metadata": json.RawMessage(o.Line)})
	}
	if err == nil {
		err = s.fill(ctx, op)
	}
	if err != nil {
		return err
	}
	var raw string
	found, err := tx.One(`SELECT raw FROM items WHERE id = ?`, []any{c.Row.Key}, &raw)
	if err == nil && (!found || s.item([]byte(raw)).Body != c.New.Body) {
		err = model.Errorf(model.Conflict, op, "the server keeps another text than was written: somebody changed it at the same time")
	}
	return err
}

// drop deletes a memory and looks whether it is gone. Its history stays in the server's database
// (Layers).
func (s *server) drop(tx records.Tx, r records.Row) error {
	const op = "forget"
	ctx := tx.(serverTx).ctx
	path, err := memoryPath(r.Key)
	if err != nil {
		return err
	}
	if _, err := s.api.Do(ctx, op, http.MethodDelete, path, nil, nil); err != nil {
		return err
	}
	data, err := s.api.Do(ctx, op, http.MethodGet, path, nil, nil)
	switch {
	case errors.Is(err, model.NotFound):
		return nil
	case err == nil && string(bytes.TrimSpace(data)) != "null":
		return model.Errorf(model.Conflict, op, "the memory is still there after it was deleted")
	}
	return err
}

// serverRevision is a row of the server's history.
type serverRevision struct {
	ID      string  `json:"id"`
	Old     *string `json:"old_memory"`
	New     *string `json:"new_memory"`
	Event   string  `json:"event"`
	Created string  `json:"created_at"`
	Updated *string `json:"updated_at"`
}

func (v serverRevision) text() string {
	for _, t := range []*string{v.New, v.Old} {
		if t != nil {
			return *t
		}
	}
	return ""
}

func (v serverRevision) at() time.Time {
	if v.Updated != nil && *v.Updated != "" {
		return records.Time(*v.Updated)
	}
	return records.Time(v.Created)
}

func (s *server) past(ctx context.Context, id string) ([]serverRevision, error) {
	const op = "history"
	path, err := memoryPath(id)
	if err != nil {
		return nil, err
	}
	data, err := s.api.Do(ctx, op, http.MethodGet, path+"/history", nil, nil)
	if err != nil {
		return nil, err
	}
	var all []serverRevision
	if json.Unmarshal(data, &all) != nil {
		return nil, model.Errorf(model.Unavailable, op, "the server did not answer with a history")
	}
	slices.SortStableFunc(all, func(a, b serverRevision) int { return b.at().Compare(a.at()) })
	return all, nil
}

// Revisions implements model.History.
func (s *server) Revisions(ctx context.Context, id string) (model.Versions, error) {
	all, err := s.past(ctx, id)
	out := model.Versions{State: model.Recorded}
	for _, v := range all {
		out.Versions = append(out.Versions, model.Version{ID: v.ID, At: v.at(), By: v.Event, Bytes: int64(len(v.text())), Readable: true})
	}
	return out, err
}

// ReadRevision implements model.History.
func (s *server) ReadRevision(ctx context.Context, id, version string) (model.Item, error) {
	all, err := s.past(ctx, id)
	if err != nil {
		return model.Item{}, err
	}
	for _, v := range all {
		if v.ID == version {
			it := model.Item{Body: v.text(), Meta: []model.Field{{Name: "action", Value: v.Event, ReadOnly: true}}}
			it.ID, it.Tier, it.Bytes, it.Modified = id, "memory", int64(len(it.Body)), v.at()
			return it, nil
		}
	}
	return model.Item{}, model.Errorf(model.NotFound, "history", "the history has no such version")
}

// Layers names what the server keeps and nobody reaches through it.
func (s *server) Layers(context.Context) ([]model.Layer, error) {
	layer := func(id, reason, advice string) model.Layer {
		return model.Layer{ID: id, Kind: model.LayerExternal, Reason: reason, Advice: advice}
	}
	return []model.Layer{
		layer("history", "the server keeps every earlier text of a deleted memory in its history database, and has no call that removes it", "open the collection with dsn_env and the history file with history, and erase there too"),
		layer("vector store, logs, backups", "no call of the server reaches its free pages, its log of requests, its graph store and its backups", ""),
	}, nil
}

// OpenLayer implements model.Maintainer.
func (s *server) OpenLayer(_ context.Context, id string) (io.ReadCloser, error) {
	return nil, model.Errorf(model.Unsupported, "open-layer", "the server shows nothing of %.100q", id)
}

// Scrub implements model.Maintainer: what Forget leaves is out of reach.
func (s *server) Scrub(context.Context, model.ScrubRequest) ([]model.LayerResult, error) {
	return nil, nil
}
