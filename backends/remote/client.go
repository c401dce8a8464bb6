package remote

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/backends/internal/endpoint"
	"memdesk/backends/internal/snippet"
	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// Kind is the backend's name in a configuration.
const Kind = "remote"

// Config says which server to talk to.
type Config struct {
	Name    string
	BaseURL string // http or https; plain http to this machine only
	Token   model.Secret
	Clock   clock.Clock // nil: the system's
}

// client is the backend behind every facet.
type client struct {
	base  *url.URL
	token model.Secret
	http  *http.Client
	clock clock.Clock
	host  string // for people
	// erases: the server knows Erase, and refuses it where the token may not erase. An older one refuses the word.
	erases bool
	// unseen: the server knows Unseen.
	unseen bool
	// renames: a changed item may have another id (R14).
	renames bool
}

// healthLimit bounds the answer of a remote store (R35).
const healthLimit = time.Second

// Open asks the server for its declarations. A server with only the four calls gets the seven tiers of the
// contract and no facets.
func Open(ctx context.Context, c Config) (model.Store, error) {
	base, err := endpoint.Check("base_url", c.BaseURL)
	if err != nil {
		return model.Store{}, err
	}
	if !c.Token.IsSet() {
		return model.Store{}, model.Errorf(model.InvalidInput, "open", "a remote store needs a token: set token_env or token_file")
	}
	r := &client{base: base, token: c.Token, clock: clock.Or(c.Clock), host: base.Host + base.Path, http: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 2 * time.Minute},
		CheckRedirect: endpoint.NoRedirect,
	}}
	info, err := call[storeInfo](ctx, r, http.MethodGet, "/v1/store", nil)
	if errors.Is(err, model.Unsupported) || errors.Is(err, model.NotFound) {
		return r.minimal(c), nil
	}
	if err != nil {
		r.http.CloseIdleConnections()
		return model.Store{}, err
	}
	return r.declared(c, info), nil
}

// contractTiers are those of the published contract (R7, R9, R13), for a server that declares none.
func contractTiers() []model.TierSpec {
	spec := func(name string, rule model.KeyRule, size int64) model.TierSpec {
		return model.TierSpec{Name: name, KeyRule: rule, Cap: size, CapUnit: model.CapBytes, Writable: true, Document: model.Opaque}
	}
	lessons := spec("lessons", model.KeyIgnored, 0)
	lessons.Writable = false
	return []model.TierSpec{
		spec("AGENT", model.KeyIgnored, 4000), spec("CREW", model.KeyIgnored, 4000), spec("PERSONA", model.KeyIgnored, 1500),
		spec("pins", model.KeyIgnored, 8000), spec("daily", model.KeyRequired, 30000), spec("peers", model.KeyRequired, 1500), lessons,
	}
}

func (r *client) minimal(c Config) model.Store {
	return model.Store{Name: c.Name, Kind: Kind, Location: r.host, Tiers: contractTiers(), Provider: r, Closer: r.close,
		Features: map[string]bool{model.FeatureWorkspaces: true, model.FeatureCrews: true, model.FeatureAgents: true}, // R17, R27
		Notes:    []string{"the server answers the four calls of the contract only: its memory can be searched and changed, not browsed"}}
}

func (r *client) declared(c Config, info storeInfo) model.Store {
	_, r.erases = info.Features[model.FeatureErase]
	r.unseen = info.Unseen
	s := model.Store{
		Name: c.Name, Kind: Kind, Location: r.host, ReadOnly: info.ReadOnly, ReadOnlyReason: r.conceal(info.ReadOnlyReason),
		Tiers: mapped(info.Tiers, tierIn), Orders: info.Orders, Deviations: mapped(info.Deviations, func(d deviation) model.Deviation { return model.Deviation(d) }), Features: info.Features, Limits: info.Limits,
		Notes:    append([]string{"served over HTTP; its own kind is " + info.Kind}, r.concealAll(info.Notes)...),
		Provider: r, Closer: r.close,
	}
	r.renames = s.Deviates("R14")
	has := func(facet string) bool { return slices.Contains(info.Facets, facet) }
	if has("browse") {
		s.Browser = r
	}
	if has("history") {
		s.History = r
	}
	if has("quarantine") {
		s.Quarantine = r
	}
	if has("conflicts") {
		s.Conflicts = r
	}
	if has("subjects") {
		s.Subjects = r
	}
	if has("names") {
		s.Names = r
	}
	if has("falls") {
		s.Falls = r.falls
	}
	return s
}

func (r *client) close() error {
	r.http.CloseIdleConnections()
	return nil
}

// maxTries is how often a request is sent when the server answers 429.
const maxTries = 3

// call sends a request and reads one answer. Only a request answered with 429 is sent again: it says that
// nothing was done, and Retry-After says when to retry.
func call[T any](ctx context.Context, r *client, method, path string, body any) (T, error) {
	for try := 1; ; try++ {
		out, err := once[T](ctx, r, method, path, body)
		var e *model.Error
		if try == maxTries || !errors.As(err, &e) || e.Kind != model.RateLimited || e.After < 0 {
			return out, err
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= e.After {
			return out, err
		}
		select {
		case <-time.After(e.After):
		case <-ctx.Done():
			return out, err
		}
	}
}

// once sends one request, once.
func once[T any](ctx context.Context, r *client, method, path string, body any) (T, error) {
	var out T
	op := strings.TrimPrefix(path, "/v1/")
	res, err := r.send(ctx, op, method, path, body)
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, MaxBody+1))
	switch {
	case err != nil:
		return out, endpoint.Unanswered(ctx, op, err)
	case len(data) > MaxBody:
		return out, model.Errorf(model.Unavailable, op, "the answer is larger than %d bytes", MaxBody)
	case res.StatusCode == http.StatusTooManyRequests: // whatever the body says: a proxy may have written it
		var f failed
		_ = json.Unmarshal(data, &f) // a body of another shape is ignored
		return out, endpoint.PutOff(op, res.Header.Get("Retry-After"), snippet.First(r.conceal(f.Error.Message), 500))
	case res.StatusCode != http.StatusOK:
		return out, r.failureIn(op, res.StatusCode, data)
	}
	if err := unmarshal(data, &out); err != nil {
		return out, model.Errorf(model.Unavailable, op, "the server did not answer with what the call gives")
	}
	if name := missing(data, reflect.TypeFor[T]()); name != "" {
		return out, model.Errorf(model.Unavailable, op, "the server did not answer with what the call gives: %q is missing", name)
	}
	return out, nil
}

// unmarshal refuses text that the decoder would replace: what is no UTF-8, and half of a surrogate pair.
func unmarshal(data []byte, out any) error {
	if !utf8.Valid(data) || safetext.HalfPair(data) {
		return errors.New("no UTF-8")
	}
	return json.Unmarshal(data, out)
}

func (r *client) send(ctx context.Context, op, method, path string, body any) (*http.Response, error) {
	req, err := endpoint.Request(ctx, op, method, r.base.JoinPath(path), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token.Reveal())
	res, err := r.http.Do(req)
	if err != nil {
		return nil, endpoint.Unanswered(ctx, op, err)
	}
	return res, nil
}

// failureIn reads a server's error. A body of another shape, which a proxy may have written, is not repeated.
func (r *client) failureIn(op string, status int, data []byte) error {
	var f failed
	if json.Unmarshal(data, &f) != nil || f.Error.Code == "" {
		kind, advice := model.Unavailable, ""
		switch {
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			kind, advice = model.PermissionDenied, ": it refuses the token; check token_env or token_file"
		case status == http.StatusNotFound || status == http.StatusNotImplemented:
			kind = model.Unsupported
		case status >= 300 && status < 400:
			advice = ", a redirect, which is not followed: correct base_url"
		}
		return model.Errorf(kind, op, "the server answered with HTTP status %d%s", status, advice)
	}
	return r.worded(op, f.Error)
}

func (r *client) conceal(s string) string { return endpoint.Conceal(s, r.token) }

func (r *client) concealAll(all []string) []string {
	if len(all) == 0 {
		return all
	}
	return mapped(all, r.conceal)
}

// worded is a server's error.
func (r *client) worded(op string, f failure) error {
	message := snippet.First(r.conceal(f.Message), 500)
	if f.Refused {
		return model.Refuse(op, strings.TrimPrefix(message, "refused: "))
	}
	return &model.Error{Op: op, Kind: model.KindOfCode(f.Code), Retryable: f.Retryable, Err: errors.New(message)}
}

// checkText refuses text that JSON cannot carry unchanged.
func checkText(op string, texts ...string) error {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return model.Errorf(model.InvalidInput, op, "%q is not UTF-8 text", t)
		}
	}
	return nil
}

func (r *client) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	if err := req.Mode.Check(); err != nil {
		return model.RetainResult{}, err
	}
	texts := []string{req.WorkspaceID, req.AgentID, req.CrewID, req.Tier, req.Key, req.DataSubjectID}
	for _, f := range req.Meta {
		texts = append(texts, f.Name, f.Value)
	}
	if err := checkText("retain", texts...); err != nil {
		return model.RetainResult{}, err
	}
	w := retainRequest{WorkspaceID: req.WorkspaceID, AgentID: req.AgentID, CrewID: req.CrewID, Tier: req.Tier, Key: req.Key,
		content: contentOf(req.Content), Mode: req.Mode, ID: id(req.ID), IfMatch: req.IfMatch, Unseen: req.Unseen && r.unseen, DataSubjectID: req.DataSubjectID, Binary: req.Binary, Restore: req.Restore, Erase: req.Erase && r.erases}
	if w.Base64 != "" && !req.Binary {
		return model.RetainResult{}, model.Errorf(model.InvalidInput, "retain", "the content is not UTF-8 text")
	}
	if req.Meta != nil {
		meta := mapped(req.Meta, func(f model.Field) field {
			f.Sealed = false // the store knows, and an older server refuses the word
			return fieldOut(f)
		})
		w.Meta = &meta
	}
	res, err := call[retainResult](ctx, r, http.MethodPost, "/v1/retain", w)
	if err == nil && !r.renames && req.ID != "" && res.ID != "" && string(res.ID) != req.ID { // undo would keep this item's old text under the other's id
		return model.RetainResult{}, endpoint.AnotherItem("retain")
	}
	return model.RetainResult{ID: string(res.ID), Bytes: res.Bytes, Revision: res.Revision, Warnings: r.concealAll(res.Warnings)}, err
}

// Recall enforces the limits of the contract on whatever the server sends (R21–R24).
func (r *client) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	if err := checkText("recall", req.WorkspaceID, req.AgentID, req.CrewID, req.Tier, req.Query); err != nil {
		return model.RecallResult{}, err
	}
	limit := model.ClampLimit(req.Limit)
	res, err := call[recallResult](ctx, r, http.MethodPost, "/v1/recall", recallRequest{WorkspaceID: req.WorkspaceID, AgentID: req.AgentID,
		CrewID: req.CrewID, Tier: req.Tier, Query: req.Query, Limit: limit})
	if err != nil {
		return model.RecallResult{}, err
	}
	out := model.RecallResult{Hits: []model.RecallSnippet{}, Quarantined: res.Quarantined, Total: model.TotalUnknown, Bounded: res.Bounded, BoundNote: r.conceal(res.BoundNote)}
	if res.Total != nil && *res.Total >= 0 {
		out.Total = *res.Total
	}
	for _, h := range res.Hits[:min(limit, len(res.Hits))] {
		out.Hits = append(out.Hits, model.RecallSnippet{ID: cmp.Or(string(h.ID), h.Source), Source: h.Source, Line: max(0, h.Line),
			Snippet: snippet.First(h.Snippet, model.SnippetRunes), Score: min(1, max(0, h.Score)), Meta: mapped(h.Meta, fieldIn)})
	}
	return out, nil
}

func (r *client) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	if err := cmp.Or(req.CheckSelectors(), checkText("forget", req.WorkspaceID, req.AgentID, req.CrewID, req.DataSubjectID)); err != nil {
		return model.ForgetResult{}, err
	}
	res, err := call[forgetResult](ctx, r, http.MethodPost, "/v1/forget", forgetRequest{WorkspaceID: req.WorkspaceID, AgentID: req.AgentID,
		CrewID: req.CrewID, ID: id(req.ID), DataSubjectID: req.DataSubjectID, IfMatch: req.IfMatch, KeepHistory: req.KeepHistory, Erase: req.Erase && r.erases})
	if err != nil {
		return model.ForgetResult{}, err
	}
	n, err := endpoint.Removed("forget", res.Removed)
	return model.ForgetResult{Removed: n, Warnings: r.concealAll(res.Warnings)}, err
}

// maxFindings bounds the findings accepted from a server.
const maxFindings = 1000

// Health stamps the status here: the server's clock is not this one's (R37). Findings keep the server's own
// times.
func (r *client) Health(ctx context.Context) model.HealthStatus {
	limited, cancel := context.WithTimeout(ctx, healthLimit)
	defer cancel()
	res, err := call[health](limited, r, http.MethodGet, "/v1/health", nil)
	now := r.clock.Now().UTC()
	switch {
	case errors.Is(err, model.Timeout):
		return model.NewHealth(now, model.HealthFinding{Kind: model.FindingTimeout, Message: "health check timeout", State: model.HealthUnknown})
	case err != nil:
		return model.NewHealth(now, model.HealthFinding{Kind: model.FindingUnreachable, Message: err.Error()})
	}
	st := model.HealthStatus{OK: res.OK, State: res.State, CheckedAt: now, Probing: res.Probing}
	if res.DeepCheckedAt != nil {
		st.DeepCheckedAt = res.DeepCheckedAt.UTC()
	}
	for _, f := range res.Findings[:min(len(res.Findings), maxFindings)] {
		st.Findings = append(st.Findings, model.HealthFinding{Kind: f.Kind, Ref: f.Ref, Message: snippet.First(r.conceal(f.Message), 500), CheckedAt: f.CheckedAt.UTC(), State: f.State})
	}
	if !st.OK {
		st.Message = cmp.Or(snippet.First(r.conceal(res.Message), 500), "the server says that it is not well, and not why")
	}
	return st.Whole()
}

func (r *client) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	at := cursorOf(req.Cursor)
	p, err := call[page](ctx, r, http.MethodPost, "/v1/list", listRequest{Tier: req.Tier, Scope: req.Scope, Query: req.Query, Order: req.Order,
		Cursor: at.at, End: req.End, Limit: req.Limit, Hidden: req.Hidden})
	if err != nil {
		return model.Page{}, err
	}
	out := pageIn(p)
	next, err := at.next(p.Next)
	out.Next, out.Prev = next.String(), cursor{at: p.Prev}.String()
	out.Problems = r.concealAll(out.Problems)
	if named := slices.DeleteFunc(out.Items, func(h model.Header) bool { return h.ID == "" }); len(named) < len(p.Items) {
		out.Items, out.Problems = named, append(out.Problems, safetext.Count(int64(len(p.Items)-len(named)), "item")+" without an id")
	}
	return out, err
}

func (r *client) Read(ctx context.Context, name string) (model.Item, error) {
	return r.item(ctx, "read", idRequest{ID: id(name)})
}

func (r *client) item(ctx context.Context, op string, req idRequest) (model.Item, error) {
	it, err := call[item](ctx, r, http.MethodPost, "/v1/"+op, req)
	if err == nil && it.ID != req.ID {
		err = endpoint.AnotherItem(op)
	}
	if err != nil {
		return model.Item{}, err
	}
	return itemIn(op, it)
}

func (r *client) Tiers(ctx context.Context) ([]model.TierCount, error) {
	res, err := call[tierCounts](ctx, r, http.MethodGet, "/v1/tiers", nil)
	return mapped(res.Tiers, func(c tierCount) model.TierCount {
		return model.TierCount{Scope: c.Scope, ScopeTitle: c.ScopeTitle, Tier: c.Tier, Items: c.Items, Bytes: c.Bytes}
	}), err
}

func (r *client) Revisions(ctx context.Context, name string) (model.Versions, error) {
	v, err := call[versions](ctx, r, http.MethodPost, "/v1/revisions", idRequest{ID: id(name)})
	if err != nil {
		return model.Versions{}, err
	}
	out := model.Versions{State: v.State, Reason: r.conceal(v.Reason)}
	for _, x := range v.Versions {
		out.Versions = append(out.Versions, model.Version{ID: x.ID, At: timeIn(x.At), By: x.By, Bytes: x.Bytes, Hash: x.Hash, Readable: x.Readable, Change: (*model.Edit)(x.Change)})
	}
	return out, nil
}

func (r *client) ReadRevision(ctx context.Context, name, version string) (model.Item, error) {
	return r.item(ctx, "read-revision", idRequest{ID: id(name), Version: version})
}

func (r *client) Quarantined(ctx context.Context) ([]model.Quarantined, error) {
	res, err := call[quarantineList](ctx, r, http.MethodGet, "/v1/quarantined", nil)
	if err != nil {
		return nil, err
	}
	out := make([]model.Quarantined, len(res.Entries))
	for i, q := range res.Entries {
		if out[i], err = r.quarantined(q); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *client) ReadQuarantined(ctx context.Context, name string) (model.Quarantined, error) {
	q, err := call[quarantined](ctx, r, http.MethodPost, "/v1/read-quarantined", idRequest{ID: id(name)})
	if err == nil && string(q.ID) != name {
		err = endpoint.AnotherItem("read-quarantined")
	}
	if err != nil {
		return model.Quarantined{}, err
	}
	return r.quarantined(q)
}

func (r *client) quarantined(q quarantined) (model.Quarantined, error) {
	out, err := quarantinedIn(q)
	out.Problem = r.conceal(out.Problem)
	return out, err
}

func (r *client) StoreConflicts(ctx context.Context) ([]model.StoreConflict, error) {
	res, err := call[conflictList](ctx, r, http.MethodGet, "/v1/conflicts", nil)
	return mapped(res.Conflicts, func(c storeConflict) model.StoreConflict {
		return model.StoreConflict{CopyID: string(c.CopyID), BaseID: string(c.BaseID), Tool: c.Tool, Reason: r.conceal(c.Reason), At: timeIn(c.At)}
	}), err
}

func (r *client) Concerning(ctx context.Context, subjects []string, yield func(model.SubjectHit) bool) error {
	_, err := r.stream(ctx, "concerning", http.MethodPost, subjectsRequest{subjects}, func(l line) bool {
		return yield(model.SubjectHit{ID: string(l.ID), Subject: l.Subject, Reason: r.conceal(l.Reason), Called: l.Called})
	})
	return err
}

func (r *client) Names(ctx context.Context, yield func(string) bool) ([]string, error) {
	return r.stream(ctx, "names", http.MethodGet, nil, func(l line) bool { return yield(string(l.ID)) })
}

// falls asks in one call: more may fall with all items together than with each alone.
func (r *client) falls(ctx context.Context, ids []string) ([]model.Fall, error) {
	res, err := call[fallsResult](ctx, r, http.MethodPost, "/v1/falls", fallsRequest{mapped(ids, func(i string) id { return id(i) })})
	if err != nil {
		return nil, err
	}
	return mapped(res.Falls, func(f fall) model.Fall {
		return model.Fall{ID: string(f.ID), With: mapped(f.With, func(m id) string { return string(m) }), Left: f.Left}
	}), nil
}

// stream yields the lines of an answer. An answer without its last line was cut, and is an error: an
// incomplete list must not look complete.
func (r *client) stream(ctx context.Context, op, method string, body any, each func(line) bool) ([]string, error) {
	res, err := r.send(ctx, op, method, "/v1/"+op, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(res.Body, MaxLine))
		return nil, r.failureIn(op, res.StatusCode, data)
	}
	in := bufio.NewScanner(res.Body)
	in.Buffer(make([]byte, 64<<10), MaxLine)
	for in.Scan() {
		var l line
		switch err := unmarshal(in.Bytes(), &l); {
		case err != nil:
			return nil, model.Errorf(model.Unavailable, op, "the server sent a line that is no JSON")
		case l.Error != nil:
			return nil, r.worded(op, *l.Error)
		case l.Done:
			return r.concealAll(l.Problems), nil
		case !each(l):
			return nil, nil
		}
	}
	if err := in.Err(); err != nil {
		return nil, endpoint.Unanswered(ctx, op, err)
	}
	return nil, model.Errorf(model.Unavailable, op, "the answer was cut: the list is not whole")
}
