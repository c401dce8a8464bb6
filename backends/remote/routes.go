package remote

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"memdesk/internal/bearer"
	"memdesk/model"
)

// route is one call of the contract: its path, its input and output, and the facet of a store that answers
// it.
type route struct {
	Method, Path string
	What         string // in words, for openapi.json
	Facet        string // empty: every store answers it
	request      any    // zero values, for openapi.json
	response     any
	call         func(ctx context.Context, s model.Store, body []byte) (any, error)
	// stream, in place of call, answers with one line per value.
	stream func(ctx context.Context, s model.Store, body []byte, yield func(line) bool) (problems []string, err error)
}

// verb is the call as metrics name it.
func (r route) verb() string { return strings.TrimPrefix(r.Path, "/v1/") }

// scope is the permission that the call needs; every read needs recall.
func (r route) scope() string {
	switch r.Path {
	case "/v1/retain":
		return bearer.ScopeRetain
	case "/v1/forget":
		return bearer.ScopeForget
	case "/v1/health":
		return bearer.ScopeHealth
	}
	return bearer.ScopeRecall
}

// limit is the most bytes of a request: a document, a list of ids, or a few fields.
func (r route) limit() int64 {
	switch r.Path {
	case "/v1/retain":
		return MaxBody
	case "/v1/falls", "/v1/concerning":
		return 16 << 20
	}
	return 256 << 10
}

func routeOf(path string) (route, bool) {
	i := slices.IndexFunc(routes, func(r route) bool { return r.Path == path })
	if i < 0 {
		return route{}, false
	}
	return routes[i], true
}

// post makes a call that takes T.
func post[T any](path, facet, what string, response any, fn func(context.Context, model.Store, T) (any, error)) route {
	var zero T
	return route{Method: http.MethodPost, Path: path, Facet: facet, What: what, request: zero, response: response,
		call: func(ctx context.Context, s model.Store, body []byte) (any, error) {
			req, err := decode[T](body)
			if err != nil {
				return nil, err
			}
			return fn(ctx, s, req)
		}}
}

// get makes a call without a body.
func get(path, facet, what string, response any, fn func(context.Context, model.Store) (any, error)) route {
	return route{Method: http.MethodGet, Path: path, Facet: facet, What: what, response: response,
		call: func(ctx context.Context, s model.Store, _ []byte) (any, error) { return fn(ctx, s) }}
}

// facets are the optional reads and the stores that have them.
var facets = []struct {
	name string
	has  func(model.Store) bool
}{
	{"browse", func(s model.Store) bool { return s.Browser != nil }},
	{"history", func(s model.Store) bool { return s.History != nil }},
	{"quarantine", func(s model.Store) bool { return s.Quarantine != nil }},
	{"conflicts", func(s model.Store) bool { return s.Conflicts != nil }},
	{"subjects", func(s model.Store) bool { return s.Subjects != nil }},
	{"names", func(s model.Store) bool { return s.Names != nil }},
	{"falls", func(s model.Store) bool { return s.Falls != nil }},
}

// has reports whether a store can answer the call.
func (r route) has(s model.Store) bool {
	if r.Facet == "" {
		return true
	}
	for _, f := range facets {
		if f.name == r.Facet {
			return f.has(s)
		}
	}
	return false
}

// routes are the calls; the first four make a provider, the rest is optional.
var routes = []route{
	post("/v1/retain", "", "Write one item. Not idempotent in append mode.", retainResult{}, retain),
	post("/v1/recall", "", "Search as an agent would: at most 20 hits.", recallResult{}, recall),
	post("/v1/forget", "", "Remove one item by id, or everything of one person.", forgetResult{}, forget),
	get("/v1/health", "", "Observe, and change nothing.", health{}, healthOf),
	get("/v1/store", "", "What the store declares. Without it the client takes the seven tiers of the contract.", storeInfo{}, describe),
	post("/v1/list", "browse", "One page of headers.", page{}, list),
	post("/v1/read", "browse", "One item with its revision.", item{}, read),
	get("/v1/tiers", "browse", "Items and bytes per scope and tier.", tierCounts{}, tiers),
	post("/v1/revisions", "history", "The versions that the store keeps of an item.", versions{}, revisions),
	post("/v1/read-revision", "history", "An item as it was.", item{}, readRevision),
	get("/v1/quarantined", "quarantine", "What the store holds in quarantine.", quarantineList{}, quarantineEntries),
	post("/v1/read-quarantined", "quarantine", "One entry with its content.", quarantined{}, readQuarantined),
	get("/v1/conflicts", "conflicts", "What the store knows to be in conflict.", conflictList{}, conflicts),
	{Method: http.MethodPost, Path: "/v1/concerning", Facet: "subjects", What: "Items that the store ties to a person, one a line.",
		request: subjectsRequest{}, response: line{}, stream: concerning},
	{Method: http.MethodGet, Path: "/v1/names", Facet: "names", What: "The ids of all items, one a line.",
		response: line{}, stream: names},
	post("/v1/falls", "falls", "What forgetting all these items together would take with them: edges left with fewer than two members.", fallsResult{}, falls),
}

func retain(ctx context.Context, s model.Store, r retainRequest) (any, error) {
	text, err := r.bytes("retain")
	if err != nil {
		return nil, err
	}
	req := model.RetainRequest{WorkspaceID: r.WorkspaceID, AgentID: r.AgentID, CrewID: r.CrewID, Tier: r.Tier, Key: r.Key, Content: text,
		Mode: r.Mode, ID: string(r.ID), IfMatch: r.IfMatch, Unseen: r.Unseen, DataSubjectID: r.DataSubjectID, Binary: r.Binary, Restore: r.Restore, Erase: r.Erase}
	if r.Meta != nil {
		req.Meta = mapped(*r.Meta, fieldIn)
	}
	res, err := s.Provider.Retain(ctx, req)
	return retainResult{id(res.ID), res.Bytes, res.Revision, append(res.Warnings, ignored(s, r.WorkspaceID, r.AgentID, r.CrewID)...)}, err
}

func recall(ctx context.Context, s model.Store, r recallRequest) (any, error) {
	res, err := s.Provider.Recall(ctx, model.RecallRequest{WorkspaceID: r.WorkspaceID, AgentID: r.AgentID, CrewID: r.CrewID,
		Tier: r.Tier, Query: r.Query, Limit: r.Limit})
	return recallOut(res, ignored(s, r.WorkspaceID, r.AgentID, r.CrewID)), err
}

func forget(ctx context.Context, s model.Store, r forgetRequest) (any, error) {
	res, err := s.Provider.Forget(ctx, model.ForgetRequest{WorkspaceID: r.WorkspaceID, AgentID: r.AgentID, CrewID: r.CrewID,
		ID: string(r.ID), DataSubjectID: r.DataSubjectID, IfMatch: r.IfMatch, KeepHistory: r.KeepHistory, Erase: r.Erase})
	return forgetResult{res.Removed, append(res.Warnings, ignored(s, r.WorkspaceID, r.AgentID, r.CrewID)...)}, err
}

// ignored says which parts of a request's scope the store knows nothing of. They are no errors, because clients of
// the published contract send a workspace always (R17).
func ignored(s model.Store, workspace, agent, crew string) (warnings []string) {
	for _, f := range []struct{ name, value, feature string }{
		{"workspace_id", workspace, model.FeatureWorkspaces}, {"agent_id", agent, model.FeatureAgents}, {"crew_id", crew, model.FeatureCrews},
	} {
		if f.value != "" && !s.Features[f.feature] {
			warnings = append(warnings, f.name+" was ignored: the store knows no "+f.feature)
		}
	}
	return warnings
}

func healthOf(ctx context.Context, s model.Store) (any, error) {
	st := s.Provider.Health(ctx).Whole()
	out := health{OK: st.OK, Message: st.Message, CheckedAt: st.CheckedAt.UTC(), State: st.State, Probing: st.Probing,
		Findings: mapped(st.Findings, func(f model.HealthFinding) finding {
			return finding{f.Kind, f.Ref, f.Message, f.CheckedAt.UTC(), f.State}
		})}
	if !st.DeepCheckedAt.IsZero() {
		out.DeepCheckedAt = &st.DeepCheckedAt
	}
	return out, nil
}

func describe(_ context.Context, s model.Store) (any, error) {
	out := storeInfo{Kind: s.Kind, ReadOnly: s.ReadOnly, ReadOnlyReason: s.ReadOnlyReason, Tiers: mapped(s.Tiers, func(t model.TierSpec) tier { return tierOut(t, s.Beside != nil) }),
		Orders: s.Orders, Deviations: mapped(s.Deviations, func(d model.Deviation) deviation { return deviation(d) }), Features: s.Features, Limits: s.Limits, Notes: s.Notes, Unseen: true}
	for _, f := range facets {
		if f.has(s) {
			out.Facets = append(out.Facets, f.name)
		}
	}
	return out, nil
}

func list(ctx context.Context, s model.Store, r listRequest) (any, error) {
	p, err := s.Browser.List(ctx, model.PageRequest{Tier: r.Tier, Scope: r.Scope, Query: r.Query, Order: r.Order,
		Cursor: r.Cursor, End: r.End, Limit: r.Limit, Hidden: r.Hidden})
	return pageOut(p), err
}

func read(ctx context.Context, s model.Store, r idRequest) (any, error) {
	it, err := s.Browser.Read(ctx, string(r.ID))
	return itemOut(it), err
}

func tiers(ctx context.Context, s model.Store) (any, error) {
	counts, err := s.Browser.Tiers(ctx)
	return tierCounts{mapped(counts, func(c model.TierCount) tierCount {
		return tierCount{c.Scope, c.ScopeTitle, c.Tier, c.Items, c.Bytes}
	})}, err
}

func revisions(ctx context.Context, s model.Store, r idRequest) (any, error) {
	v, err := s.History.Revisions(ctx, string(r.ID))
	return versions{v.State, v.Reason, mapped(v.Versions, func(v model.Version) version {
		return version{v.ID, timeOf(v.At), v.By, v.Bytes, v.Hash, v.Readable, (*edit)(v.Change)}
	})}, err
}

func readRevision(ctx context.Context, s model.Store, r idRequest) (any, error) {
	it, err := s.History.ReadRevision(ctx, string(r.ID), r.Version)
	return itemOut(it), err
}

func quarantineEntries(ctx context.Context, s model.Store) (any, error) {
	all, err := s.Quarantine.Quarantined(ctx)
	return quarantineList{mapped(all, quarantinedOut)}, err
}

func readQuarantined(ctx context.Context, s model.Store, r idRequest) (any, error) {
	q, err := s.Quarantine.ReadQuarantined(ctx, string(r.ID))
	return quarantinedOut(q), err
}

func conflicts(ctx context.Context, s model.Store) (any, error) {
	all, err := s.Conflicts.StoreConflicts(ctx)
	return conflictList{mapped(all, func(c model.StoreConflict) storeConflict {
		return storeConflict{id(c.CopyID), id(c.BaseID), c.Tool, c.Reason, timeOf(c.At)}
	})}, err
}

func concerning(ctx context.Context, s model.Store, body []byte, yield func(line) bool) ([]string, error) {
	r, err := decode[subjectsRequest](body)
	if err != nil {
		return nil, err
	}
	return nil, s.Subjects.Concerning(ctx, r.Subjects, func(h model.SubjectHit) bool {
		return yield(line{ID: id(h.ID), Subject: h.Subject, Reason: h.Reason, Called: h.Called})
	})
}

func names(ctx context.Context, s model.Store, _ []byte, yield func(line) bool) ([]string, error) {
	return s.Names.Names(ctx, func(name string) bool { return yield(line{ID: id(name)}) })
}

func falls(ctx context.Context, s model.Store, r fallsRequest) (any, error) {
	all, err := s.Falls(ctx, mapped(r.IDs, func(i id) string { return string(i) }))
	return fallsResult{mapped(all, func(f model.Fall) fall {
		return fall{id(f.ID), mapped(f.With, func(m string) id { return id(m) }), f.Left}
	})}, err
}
