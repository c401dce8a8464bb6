package mem0

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"memdesk/backends/internal/endpoint"
	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/internal/snippet"
	"memdesk/backends/internal/title"
	"memdesk/backends/internal/verdicts"
	"memdesk/backends/internal/vitals"
	"memdesk/backends/internal/window"
	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// listLimit is how many memories the server gives at most; it has no pages.
const listLimit = 1000

// maxAnswer bounds one answer, in bytes.
const maxAnswer = 64 << 20

// server is mem0's REST server behind every facet. It embeds an edited text itself.
type server struct {
	base     *url.URL
	key      model.Secret
	user     string // empty: every user's memories
	http     *http.Client
	clock    clock.Clock
	scanner  *verdicts.Cache
	health   vitals.Gate
	tiers    []model.TierSpec
	readOnly string
	writing  sync.Mutex // the server has no compare-and-swap
}

func openServer(ctx context.Context, c Config) (model.Store, error) {
	base, err := endpoint.Check(c.BaseURL)
	if err != nil {
		return model.Store{}, err
	}
	s := &server{base: base, key: c.APIKey, user: c.UserID, clock: c.Clock, scanner: verdicts.New(), http: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 2 * time.Minute},
		CheckRedirect: endpoint.NoRedirect,
	}}
	if s.clock == nil {
		s.clock = clock.System{}
	}
	if c.ReadOnly {
		s.readOnly = "its configuration says read_only"
	}
	if _, _, err := s.all(ctx, "open", s.user); err != nil {
		s.http.CloseIdleConnections()
		return model.Store{}, err
	}
	s.tiers = []model.TierSpec{{Name: "memory", Title: "what was remembered of somebody", KeyRule: model.KeyRequired, Document: model.Structured,
		Owned: true, Writable: s.readOnly == "", OwnerMakes: true}}
	deviate := func(rule, reason string) model.Deviation { return model.Deviation{Rule: rule, Reason: reason} }
	return model.Store{
		Name: c.Name, Kind: Kind, Location: base.Host + base.Path, ReadOnly: s.readOnly != "", ReadOnlyReason: s.readOnly,
		Tiers: s.tiers, Orders: []model.Order{model.OrderID, model.OrderNewest, model.OrderOldest, model.OrderLargest},
		Provider: s, Browser: s, History: s, Subjects: s, Texts: s, Names: s, Maintainer: s, Closer: s.close,
		Notes: []string{"served by mem0's REST server: it embeds an edited text anew, and what it deletes stays in its history"},
		Deviations: []model.Deviation{
			deviate("R33", "whom an item concerns is told by the owner's own keys: a write cannot tag it, so a person's items are forgotten one by one"),
			deviate("D18", "whom an item concerns is told by the owner's own keys: a write cannot tag it"),
			deviate("D07", "the server keeps no revisions: what is expected is compared before the change, not with it"),
		},
	}, nil
}

func (s *server) close() error {
	s.health.Close()
	s.http.CloseIdleConnections()
	return nil
}

// call sends one request, once, and gives the answer's body.
func (s *server) call(ctx context.Context, op, method, path string, query url.Values, body any) ([]byte, error) {
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
	at := s.base.JoinPath(path)
	at.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, at.String(), in)
	if err != nil {
		return nil, model.Errorf(model.Internal, op, "the request cannot be made")
	}
	if s.key.IsSet() {
		req.Header.Set("X-API-Key", s.key.Reveal())
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := s.http.Do(req)
	if err != nil {
		return nil, unanswered(ctx, op, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, unanswered(ctx, op, err)
	case len(data) > maxAnswer:
		return nil, model.Errorf(model.Unavailable, op, "the answer is larger than %d bytes", maxAnswer)
	case res.StatusCode != http.StatusOK:
		return nil, refused(op, res.StatusCode, data)
	}
	return data, nil
}

// unanswered words a failure of the network. Its text may hold the URL and is dropped.
func unanswered(ctx context.Context, op string, err error) error {
	if e := model.FromContext(ctx, op); e != nil {
		return e
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return model.Errorf(model.Timeout, op, "the server did not answer in time")
	}
	return model.Errorf(model.Unavailable, op, "the server cannot be reached")
}

// refused words an answer that is no success. The server's reason is repeated only where it is about
// the request.
func refused(op string, status int, data []byte) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.Errorf(model.PermissionDenied, op, "the server answered with HTTP status %d: set api_key_env, or user_id where the key may not list every user's memories", status)
	case http.StatusNotFound:
		return model.Errorf(model.NotFound, op, "the server has no such memory")
	case http.StatusTooManyRequests:
		return model.Errorf(model.RateLimited, op, "the server takes no more requests now (HTTP status 429)")
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		var why struct {
			Detail any `json:"detail"`
		}
		words, _ := "", json.Unmarshal(data, &why) // another shape says nothing
		if text, ok := why.Detail.(string); ok {
			words = ": " + snippet.First(text, 300)
		}
		return model.Errorf(model.InvalidInput, op, "the server does not take the request (HTTP status %d)%s", status, words)
	}
	return model.Errorf(model.Unavailable, op, "the server answered with HTTP status %d", status)
}

// all lists the memories of a user, or everybody's; cut reports that the server gave as many as it
// gives at most.
func (s *server) all(ctx context.Context, op, user string) (items []model.Item, cut bool, err error) {
	query := url.Values{"top_k": {"1000"}, "show_expired": {"true"}}
	if user != "" {
		query.Set("user_id", user)
	}
	data, err := s.call(ctx, op, http.MethodGet, "memories", query, nil)
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
		it, err := s.item(raw)
		if err != nil {
			return nil, false, err
		}
		items = append(items, it)
	}
	return items, len(items) >= listLimit, nil
}

// item reads a memory as the server gives it: the caller's own keys are in metadata.
func (s *server) item(raw []byte) (model.Item, error) {
	o, err := jsonedit.Parse(raw)
	if err != nil {
		return model.Item{}, model.Errorf(model.Unavailable, "read", "the server gave a memory that is no JSON object")
	}
	var it model.Item
	it.ID, _ = o.Text("id")
	if checkID(it.ID) != nil {
		return model.Item{}, model.Errorf(model.Unavailable, "read", "the server gave a memory without a proper id")
	}
	it.Body, _ = o.Text("memory")
	it.Tier, it.Title, it.Bytes = "memory", title.Line(it.Body), int64(len(it.Body))
	var scope []string
	for _, name := range append(slices.Clone(fixed), "expiration_date") {
		if v, _ := o.Text(name); v != "" && v != "null" {
			it.Meta = append(it.Meta, model.Field{Name: name, Value: v, ReadOnly: true})
			if strings.HasSuffix(name, "_id") {
				scope = append(scope, name+"="+v)
			}
			if strings.HasPrefix(name, "updated") || it.Modified.IsZero() && strings.HasPrefix(name, "created") {
				it.Modified = records.Time(v)
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
	it.Revision = model.RevisionOf(it.Document())
	it.Stamp = string(it.Revision)
	return it, nil
}

// checkID refuses what is not one part of a path: a dot, two, or a slash would lead elsewhere.
func checkID(id string) error {
	if id == "" || id == "." || id == ".." || strings.Contains(id, "/") {
		return model.Errorf(model.NotFound, "read", "the server has no memory %q", id)
	}
	return model.CheckID(id)
}

// List implements model.Browser. The server has no pages: one is cut out of its whole list.
func (s *server) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	const op = "list"
	if req.Order == "" {
		req.Order = model.OrderID
	}
	switch {
	case req.Tier != "" && req.Tier != "memory":
		return model.Page{}, model.Errorf(model.InvalidInput, op, "unknown tier %q: there is memory", req.Tier)
	case !slices.Contains([]model.Order{model.OrderID, model.OrderNewest, model.OrderOldest, model.OrderLargest}, req.Order):
		return model.Page{}, model.Errorf(model.InvalidInput, op, "unknown order %q: there are id, newest, oldest and largest", req.Order)
	}
	all, cut, err := s.all(ctx, op, s.user)
	if err != nil {
		return model.Page{}, err
	}
	rows := []window.Row{}
	needle, known := snippet.Fold(strings.TrimSpace(req.Query)), req.Scope == ""
	for _, it := range all {
		known = known || it.Scope == req.Scope
		if it.Has(model.FlagExpired) && !req.Hidden || req.Scope != "" && it.Scope != req.Scope || needle != "" && !records.Matches(it, needle) {
			continue
		}
		value := map[model.Order]int64{model.OrderNewest: -it.Modified.UnixNano(), model.OrderOldest: it.Modified.UnixNano(), model.OrderLargest: -it.Bytes}[req.Order]
		rows = append(rows, window.Row{Header: it.Header, Value: value})
	}
	if !known {
		return model.Page{}, model.Errorf(model.InvalidInput, op, "no item is of scope %.200q", req.Scope)
	}
	return window.Page(rows, req, problems(cut))
}

func problems(cut bool) []string {
	if !cut {
		return nil
	}
	return []string{"the server gives its 1000 newest memories and no more: open its collection (dsn_env) to see all of them"}
}

// Read implements model.Browser.
func (s *server) Read(ctx context.Context, id string) (model.Item, error) {
	const op = "read"
	if err := checkID(id); err != nil {
		return model.Item{}, err
	}
	data, err := s.call(ctx, op, http.MethodGet, "memories/"+url.PathEscape(id), nil, nil)
	if err == nil && bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		err = model.Errorf(model.NotFound, op, "the server has no such memory")
	}
	if err != nil {
		return model.Item{}, err
	}
	it, err := s.item(data)
	if err == nil && it.ID != id {
		err = model.Errorf(model.NotFound, op, "the server has no such memory")
	}
	return it, err
}

func headers(all []model.Item) iter.Seq[model.Header] {
	return func(yield func(model.Header) bool) {
		for _, it := range all {
			if !yield(it.Header) {
				return
			}
		}
	}
}

// Tiers implements model.Browser.
func (s *server) Tiers(ctx context.Context) ([]model.TierCount, error) {
	all, _, err := s.all(ctx, "tiers", s.user)
	return window.Counts(s.tiers, headers(all)), err
}

// Names implements model.Namer.
func (s *server) Names(ctx context.Context, yield func(id string) bool) ([]string, error) {
	all, cut, err := s.all(ctx, "names", s.user)
	window.Names(headers(all), yield)
	return problems(cut), err
}

// EachText implements model.Texts.
func (s *server) EachText(ctx context.Context, yield func(model.Text, error) bool) ([]string, error) {
	all, cut, err := s.all(ctx, "texts", s.user)
	for _, it := range all {
		if !yield(model.Text{ID: it.ID, Body: it.Body, Meta: it.Meta, Whole: func() model.Item { return it }}, nil) {
			break
		}
	}
	return problems(cut), err
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
		for _, it := range all {
			if slices.ContainsFunc(it.Meta, func(f model.Field) bool { return f.Name == "user_id" && f.Value == sub }) && !yield(model.SubjectHit{ID: it.ID, Subject: sub, Reason: "its user_id"}) {
				return nil
			}
		}
	}
	return nil
}

// Recall finds a text in the memories, without regard to letter case, the newest first; what the
// server's own search finds by meaning is not asked for.
func (s *server) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	const op = "recall"
	res := model.RecallResult{Hits: []model.RecallSnippet{}}
	needle := snippet.Fold(strings.TrimSpace(req.Query))
	switch {
	case needle == "":
		return res, model.Errorf(model.InvalidInput, op, "the query is empty")
	case !utf8.ValidString(req.Query):
		return res, model.Errorf(model.InvalidInput, op, "the query is not valid UTF-8 text")
	case req.Tier != "" && req.Tier != "memory":
		return res, model.Errorf(model.InvalidInput, op, "unknown tier %q: there is memory", req.Tier)
	}
	all, cut, err := s.all(ctx, op, s.user)
	if err != nil {
		return res, err
	}
	slices.SortFunc(all, func(a, b model.Item) int { return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.ID, b.ID)) })
	limit := model.ClampLimit(req.Limit)
	for _, it := range all {
		switch {
		case it.Has(model.FlagExpired) || !records.Matches(it, needle):
		case s.scanner.Rejects(it.Body):
			res.Quarantined = append(res.Quarantined, it.ID)
		default:
			if res.Total++; len(res.Hits) < limit {
				text, line := snippet.Cut(it.Body, req.Query)
				res.Hits = append(res.Hits, model.RecallSnippet{ID: it.ID, Source: it.ID, Snippet: text, Line: line, Score: 0.5})
			}
		}
	}
	if cut {
		res.Bounded, res.BoundNote = true, "searched the 1000 newest memories, which is all that the server gives"
	}
	return res, nil
}

// Retain edits a memory; the server embeds the new text and writes its history. It has no
// compare-and-swap: what is expected is compared before, and the result read again after.
func (s *server) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	const op = "retain"
	var res model.RetainResult
	err := req.Mode.Check()
	switch {
	case err != nil:
	case s.readOnly != "":
		err = model.Refuse(op, s.readOnly)
	case !utf8.ValidString(req.Content):
		err = model.Errorf(model.InvalidInput, op, "the content is not valid UTF-8 text")
	case req.Content == "":
		err = model.Errorf(model.InvalidInput, op, "the content is empty: forget the item to remove it")
	case req.DataSubjectID != "":
		err = model.Errorf(model.Unsupported, op, "whom an item of this store concerns is told by its own keys, not by a request")
	case req.Tier != "" && req.Tier != "memory":
		err = model.Errorf(model.InvalidInput, op, "unknown tier %q: there is memory", req.Tier)
	case req.ID == "" && req.Tier == "":
		err = model.Errorf(model.InvalidInput, op, "the tier is missing")
	case req.ID == "":
		err = model.Errorf(model.Unsupported, op, "a new memory is made by the program that owns the store: name an item that is there")
	}
	if err != nil {
		return res, err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	have, err := s.Read(ctx, req.ID)
	exists := err == nil
	if err != nil && model.KindOf(err) != model.NotFound {
		return res, err
	}
	if err := model.CheckMatch(op, req.IfMatch, exists, have.Revision); err != nil {
		return res, err
	}
	if !exists {
		return res, model.Errorf(model.Unsupported, op, "there is no such memory, and a new one is made by the program that owns the store")
	}
	body := req.Content
	if req.Mode == model.Append {
		body = have.Body + req.Content
	}
	meta, err := model.MergeMeta(op, have.Meta, req.Meta)
	if err != nil {
		return res, err
	}
	cleans := req.Mode == model.Replace && req.IfMatch != "" && req.IfMatch != model.Absent
	if err := s.scanner.Admit(have.Body, body, cleans); err != nil {
		return res, err
	}
	if model.RevisionOf(model.Document{Body: body, Meta: meta}) != have.Revision {
		if err := s.write(ctx, have, body, meta); err != nil {
			return res, err
		}
		if have, err = s.Read(ctx, req.ID); err != nil {
			return res, err
		}
		if have.Body != body {
			return res, model.Errorf(model.Conflict, op, "the server keeps another text than was written: somebody changed it at the same time")
		}
	}
	return model.RetainResult{ID: have.ID, Bytes: have.Bytes, Revision: have.Revision}, nil
}

// write sends text and metadata; the server replaces the caller's own keys as a whole. A value that
// was no text stays what it was.
func (s *server) write(ctx context.Context, have model.Item, body string, meta []model.Field) error {
	data, err := s.call(ctx, "retain", http.MethodGet, "memories/"+url.PathEscape(have.ID), nil, nil)
	if err != nil {
		return err
	}
	was, err := jsonedit.Parse(data)
	if err != nil {
		return model.Errorf(model.Unavailable, "retain", "the server gave a memory that is no JSON object")
	}
	own := was.Raw("metadata")
	if own == nil || string(own) == "null" {
		own = []byte("{}")
	}
	o, err := jsonedit.Parse(own)
	if err != nil {
		return model.Errorf(model.Unavailable, "retain", "the server gave metadata that is no JSON object")
	}
	free := func(fields []model.Field) []model.Field {
		return slices.DeleteFunc(slices.Clone(fields), func(f model.Field) bool { return f.ReadOnly })
	}
	if err := setFields(o, free(have.Meta), free(meta)); err != nil {
		return err
	}
	_, err = s.call(ctx, "retain", http.MethodPut, "memories/"+url.PathEscape(have.ID), nil, map[string]any{"text": body, "metadata": json.RawMessage(o.Line)})
	return err
}

// Forget deletes a memory and looks whether it is gone. Its history stays in the server's database
// (Layers).
func (s *server) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	const op = "forget"
	var res model.ForgetResult
	err := req.CheckSelectors()
	switch {
	case err != nil:
	case req.DataSubjectID != "":
		err = model.NoCascade("")
	case s.readOnly != "":
		err = model.Refuse(op, s.readOnly)
	case req.KeepHistory:
		err = model.Errorf(model.Unsupported, op, "the server decides what stays in its history")
	}
	if err != nil {
		return res, err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	have, err := s.Read(ctx, req.ID)
	switch {
	case errors.Is(err, model.NotFound), errors.Is(err, model.InvalidInput):
		return res, nil
	case err != nil:
		return res, err
	}
	if err := model.CheckMatch(op, req.IfMatch, true, have.Revision); err != nil {
		return res, err
	}
	if _, err := s.call(ctx, op, http.MethodDelete, "memories/"+url.PathEscape(req.ID), nil, nil); err != nil {
		return res, err
	}
	if _, err := s.Read(ctx, req.ID); !errors.Is(err, model.NotFound) {
		return res, cmp.Or(err, model.Errorf(model.Conflict, op, "the memory is still there after it was deleted"))
	}
	res.Removed = 1
	return res, nil
}

// Health asks the server within the contract's second.
func (s *server) Health(ctx context.Context) model.HealthStatus {
	return s.health.Check(ctx, vitals.Remote, s.clock.Now, func(ctx context.Context) []model.HealthFinding {
		_, cut, err := s.all(ctx, "health", s.user)
		if err != nil {
			return vitals.Down(model.FindingUnreachable, vitals.Words(err, ""))
		}
		return vitals.Degraded(model.FindingUnread, "", strings.Join(problems(cut), ""))
	}, nil)
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
	if err := checkID(id); err != nil {
		return nil, err
	}
	data, err := s.call(ctx, op, http.MethodGet, "memories/"+url.PathEscape(id)+"/history", nil, nil)
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
