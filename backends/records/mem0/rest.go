package mem0

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"memdesk/backends/internal/endpoint"
	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/internal/unreached"
	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/model"
)

// listLimit is the most memories that the server returns; it has no pages.
const listLimit = 1000

// server is mem0's REST server. It embeds an edited text itself, and has no compare-and-swap.
type server struct {
	api   endpoint.Client
	user  string // empty: every user's memories
	clock clock.Clock
}

func openServer(ctx context.Context, c Config) (model.Store, error) {
	api, err := endpoint.NewClient(c.BaseURL, "X-API-Key", c.APIKey, "set api_key_env, or user_id where the key may not list every user's memories")
	if err != nil {
		return model.Store{}, err
	}
	s := &server{api: api, user: c.UserID, clock: clock.Or(c.Clock)}
	db, err := records.NewMirror(strings.Split("id scope at size expired raw", " "), s.fill, s.api.Close)
	if err != nil {
		return model.Store{}, err
	}
	reason := ""
	if c.ReadOnly {
		reason = "its configuration says read_only"
	}
	if _, _, err := s.all(ctx, "open", s.user); err != nil {
		return model.Store{}, errors.Join(err, db.Close())
	}
	out := records.New(records.Config{
		Name: c.Name, Kind: Kind, Location: api.Where(), DB: db, Tables: []records.Table{s.table()}, ReadOnlyReason: reason, Remote: true, Clock: c.Clock,
		Notes: []string{"served by mem0's REST server: it embeds an edited text anew, and what it deletes stays in its history"},
		Deviations: []model.Deviation{{Rule: "D7", Reason: "the server keeps no revisions: what is expected is compared before the change, not with it"},
			{Rule: "D18", Reason: "whom an item concerns is told by the owner's own keys: a write cannot tag it"}},
		Bound: s.bound, Maintainer: unreachable,
	})
	out.Subjects = s // asks for one user's memories, which may be more than a list of all users shows
	return out, nil
}

func (s *server) fill(ctx context.Context, op string, put func(cells ...any) error) error {
	all, _, err := s.all(ctx, op, s.user)
	for _, r := range all {
		if err != nil {
			return err
		}
		it := s.item(r.Raw)
		err = put(r.ID, it.Scope, cmp.Or(r.Updated, r.Created), len(it.Body), it.Has(model.FlagExpired), string(r.Raw))
	}
	return err
}

// bound says what the list lacks; empty where it is complete.
func (s *server) bound(tx records.Tx) (string, error) {
	var n int64
	_, err := records.One(tx, `SELECT count(*) FROM items`, nil, &n)
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
		Save: s.save, Drop: s.drop, Past: s.past,
		Stays: func(records.Tx, records.Row) ([]string, error) {
			return []string{"its earlier texts stay in the server's history, which no call removes"}, nil
		},
	}
}

// memoryPath is the path of one memory. An id that is not exactly one path segment is refused: one or two
// dots, or a slash, would lead elsewhere.
func memoryPath(id string) (string, error) {
	if id == "" || id == "." || id == ".." || strings.Contains(id, "/") || model.CheckID(id) != nil {
		return "", model.Errorf(model.NotFound, "read", "the server has no memory %.200q", id)
	}
	return "memories/" + url.PathEscape(id), nil
}

// listed is a memory in the server's form.
type listed struct {
	ID      string          `json:"id"`
	User    string          `json:"user_id"`
	Created string          `json:"created_at"`
	Updated string          `json:"updated_at"`
	Raw     json.RawMessage `json:"-"`
}

// all lists the memories of a user, or of all users; cut reports that the server returned its maximum.
func (s *server) all(ctx context.Context, op, user string) (out []listed, cut bool, err error) {
	query := url.Values{"top_k": {"1000"}, "show_expired": {"true"}}
	if user != "" {
		query.Set("user_id", user)
	}
	data, err := s.api.Do(ctx, op, http.MethodGet, "memories", query, nil)
	if err != nil {
		return nil, false, err
	}
	var answer struct{ Results []json.RawMessage }
	if json.Unmarshal(data, &answer.Results) != nil && json.Unmarshal(data, &answer) != nil || answer.Results == nil {
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

// item reads a memory in the server's form: the caller's own keys are in metadata.
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
		it.Meta = append(it.Meta, records.Fields(own, nil)...)
	}
	if day, _ := o.Text("expiration_date"); len(day) >= 10 && day[:10] < s.clock.Now().UTC().Format(time.DateOnly) {
		it.Flags = []model.Flag{model.FlagExpired}
	}
	return it
}

// Concerning implements model.Subjects. It fails for a user with more memories than the server returns:
// unseen ones would not be erased.
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

// save sends text and metadata; the server replaces the caller's own keys as a whole. A value that was no
// text keeps its type.
func (s *server) save(tx records.Tx, c *records.Change) error {
	const op = "retain"
	look := tx.(records.MirrorTx)
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
	records.SetFields(o, free(c.Old.Meta), free(c.New.Meta))
	path, err := memoryPath(c.Row.Key)
	if err == nil {
		_, err = s.api.Do(look.Context, op, http.MethodPut, path, nil, map[string]any{"text": c.New.Body, "metadata": json.RawMessage(o.Line)})
	}
	if err == nil {
		err = look.Again(op)
	}
	if err != nil {
		return err
	}
	var raw string
	found, err := records.One(tx, `SELECT raw FROM items WHERE id = ?`, []any{c.Row.Key}, &raw)
	if is := s.item([]byte(raw)); err == nil && (!found || is.Body != c.New.Body) {
		unchanged := model.RevisionOf(is.Document()) == c.Old.Revision // which a Conflict says
		err = model.Errorf(map[bool]model.Kind{true: model.Conflict, false: model.Internal}[unchanged], op, "the server keeps another text than was written: somebody changed it at the same time")
	}
	return err
}

// drop deletes a memory and checks that it is gone. Its history stays in the server's database (Layers).
func (s *server) drop(tx records.Tx, r records.Row) error {
	const op = "forget"
	ctx := tx.(records.MirrorTx).Context
	path, err := memoryPath(r.Key)
	if err != nil {
		return err
	}
	if _, err := s.api.Do(ctx, op, http.MethodDelete, path, nil, nil); err != nil {
		return err
	}
	switch data, err := s.api.Do(ctx, op, http.MethodGet, path, nil, nil); {
	case errors.Is(err, model.NotFound), err == nil && string(bytes.TrimSpace(data)) == "null":
		return nil
	case err == nil:
		return model.Errorf(model.Conflict, op, "the memory is still there after it was deleted")
	default:
		return model.Errorf(model.Internal, op, "the memory was deleted, and could not be looked at: %w", err)
	}
}

// past asks for the changes of a memory, and yields the oldest first.
func (s *server) past(tx records.Tx, id, _ string, yield func(records.Version)) error {
	const op = "history"
	path, err := memoryPath(id)
	if err != nil {
		return err
	}
	data, err := s.api.Do(tx.(records.MirrorTx).Context, op, http.MethodGet, path+"/history", nil, nil)
	if err != nil {
		return err
	}
	var all []struct {
		ID, Event string
		Old       *string `json:"old_memory"`
		New       *string `json:"new_memory"`
		Created   string  `json:"created_at"`
		Updated   string  `json:"updated_at"`
	}
	if json.Unmarshal(data, &all) != nil {
		return model.Errorf(model.Unavailable, op, "the server did not answer with a history")
	}
	var out []records.Version
	for _, v := range all {
		out = append(out, records.Version{ID: v.ID, At: cmp.Or(v.Updated, v.Created), Change: &model.Edit{Action: v.Event, Previous: v.Old, New: v.New}})
	}
	slices.SortStableFunc(out, func(a, b records.Version) int { return records.Time(a.At).Compare(records.Time(b.At)) })
	for _, v := range out {
		yield(v)
	}
	return nil
}

// unreachable are the layers that the server keeps out of its callers' reach.
var unreachable = unreached.Layers{
	{ID: "history", Kind: model.LayerExternal, Reason: "the server keeps every earlier text of a deleted memory in its history database, and has no call that removes it",
		Advice: "open the collection with dsn_env and the history file with history, and erase there too"},
	{ID: "vector store, logs, backups", Kind: model.LayerExternal, Reason: "no call of the server reaches its free pages, its log of requests, its graph store and its backups"},
}
