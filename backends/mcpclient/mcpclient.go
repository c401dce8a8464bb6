// Package mcpclient opens a memory server, which agents reach by the Model Context Protocol, as a store: one
// with memdesk's own tools, or the official memory server's. It changes memory only through the server's
// tools.
package mcpclient

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"memdesk/backends/internal/declared"
	"memdesk/backends/internal/mcplink"
	"memdesk/backends/internal/snippet"
	"memdesk/backends/internal/vitals"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the name of this kind in a configuration.
const Kind = "mcp"

// Config says which server to open: a command that speaks over its standard input and output, or an address.
type Config struct {
	Name     string
	Command  string
	Args     []string
	BaseURL  string       // with the path, as https://host:port/mcp; plain http to this machine only
	Token    model.Secret // of BaseURL; unset: none is sent
	ReadOnly bool
	Clock    clock.Clock
}

// server is the abilities of one sort of memory server, in the terms of a store. Ids and tiers are checked
// before.
type server interface {
	// items lists everything, at most maxItems; problems say what is missing.
	items(ctx context.Context) (all []model.Header, problems []string, err error)
	read(ctx context.Context, id string) (model.Item, error)
	search(ctx context.Context, query, tier string, limit int) (model.RecallResult, error)
	retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error)
	forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error)
	probe(ctx context.Context) []model.HealthFinding
}

// maxItems bounds the list that is held for a page.
const maxItems = 10_000

// store is the backend behind every facet.
type store struct {
	*mcplink.Link
	server   server
	tiers    []model.TierSpec
	clock    clock.Clock
	health   vitals.Gate
	readOnly declared.ReadOnly
	// writing orders this store's own changes: a server has no compare-and-swap.
	writing sync.Mutex
}

// Open asks a server for its tools. Unsupported for one with neither sort.
func Open(ctx context.Context, c Config) (model.Store, error) {
	c.Clock = clock.Or(c.Clock)
	l, err := mcplink.New(mcplink.Config{Command: c.Command, Args: c.Args, BaseURL: c.BaseURL, Token: c.Token, Now: c.Clock.Now})
	if err != nil {
		return model.Store{}, err
	}
	out, err := open(ctx, c, l)
	if err != nil {
		_ = l.Close() // the first error is the one that counts
	}
	return out, err
}

func open(ctx context.Context, c Config, l *mcplink.Link) (model.Store, error) {
	tools, err := l.Tools(ctx)
	if err != nil {
		return model.Store{}, err
	}
	s := &store{Link: l, clock: c.Clock}
	out := model.Store{Name: c.Name, Kind: Kind, Location: l.Where, Provider: s, Closer: s.close,
		Orders: []model.Order{model.OrderID, model.OrderNewest, model.OrderLargest}}
	var lists, readOnly bool
	switch {
	case tools["memory_retain"] || tools["memory_recall"]:
		lists, readOnly, err = s.openOwn(ctx, tools, &out)
	case tools["create_entities"] && tools["search_nodes"]:
		lists = tools["read_graph"] && tools["open_nodes"]
		s.openGraph(tools, &out)
	default:
		err = model.Errorf(model.Unsupported, "open", "the server has the tools of no memory server that is known here: memory_recall and memory_retain, or create_entities and search_nodes")
	}
	if err != nil {
		return model.Store{}, err
	}
	s.tiers = out.Tiers
	if lists {
		out.Browser, out.Names = s, s
	} else {
		out.Orders = nil
		out.Notes = append(out.Notes, "the server lists nothing: its memory can be searched and changed, not browsed")
	}
	switch {
	case c.ReadOnly:
		s.readOnly = "its configuration says read_only"
	case readOnly:
		s.readOnly = "the server lets this caller write nothing"
	}
	out.ReadOnly, out.ReadOnlyReason = s.readOnly != "", string(s.readOnly)
	return out, nil
}

// deviate declares rules that cannot be kept, with one reason.
func deviate(s *model.Store, reason string, rules ...string) {
	s.Deviations = append(s.Deviations, declared.Deviate(reason, rules...)...)
}

func (s *store) close() error {
	s.health.Close()
	return s.Link.Close()
}

const unscoped declared.Unscoped = "a memory server's tools know no workspaces, crews and agents"

func (s *store) checkTier(op, tier string) error {
	if tier == "" || slices.ContainsFunc(s.tiers, func(t model.TierSpec) bool { return t.Name == tier }) {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "unknown tier %q", tier)
}

// Retain changes one item. A request that a call cannot carry is refused before anything is sent.
func (s *store) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	const op = "retain"
	var err error
	switch {
	case req.Content == "":
		err = model.Errorf(model.InvalidInput, op, "the content is empty")
	case !utf8.ValidString(req.Content) && req.Binary:
		err = model.Errorf(model.Unsupported, op, "a memory server takes text only")
	case !utf8.ValidString(req.Content):
		err = model.Errorf(model.InvalidInput, op, "the content is not UTF-8 text")
	case !utf8.ValidString(req.ID + req.Tier + req.Key):
		err = model.Errorf(model.InvalidInput, op, "id, tier or key is not UTF-8 text")
	case req.ID == "" && req.Tier == "":
		err = model.Errorf(model.InvalidInput, op, "the tier is missing")
	case req.ID != "":
		err = model.CheckID(req.ID)
	}
	err = cmp.Or(req.Mode.Check(), err, unscoped.Check(op, req.WorkspaceID, req.CrewID, req.AgentID), s.checkTier(op, req.Tier), s.readOnly.Check(op))
	if err == nil && req.DataSubjectID != "" {
		err = model.Errorf(model.Unsupported, op, "a memory server's tools keep no data-subject keys")
	}
	if err = cmp.Or(err, model.FromContext(ctx, op)); err != nil {
		return model.RetainResult{}, err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.server.retain(ctx, req)
}

// Recall searches as the server does for its agents, and enforces the limits of the contract on its answer
// (R21–R25).
func (s *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	const op = "recall"
	err := unscoped.Check(op, req.WorkspaceID, req.CrewID, req.AgentID)
	if err == nil && strings.TrimSpace(req.Query) == "" {
		err = model.Errorf(model.InvalidInput, op, "the query is blank")
	}
	if err = cmp.Or(err, s.checkTier(op, req.Tier), model.FromContext(ctx, op)); err != nil {
		return model.RecallResult{}, err
	}
	limit := model.ClampLimit(req.Limit)
	out, err := s.server.search(ctx, strings.ToValidUTF8(req.Query, "\uFFFD"), req.Tier, limit)
	if err != nil {
		return model.RecallResult{}, err
	}
	out.Hits = append([]model.RecallSnippet{}, out.Hits[:min(limit, len(out.Hits))]...)
	for i := range out.Hits {
		h := &out.Hits[i]
		h.Snippet, h.Line, h.Score = snippet.First(h.Snippet, model.SnippetRunes), max(0, h.Line), min(1, max(0, h.Score))
	}
	return out, nil
}

// Forget removes one item.
func (s *store) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	const op = "forget"
	err := cmp.Or(req.CheckSelectors(), unscoped.Check(op, req.WorkspaceID, req.CrewID, req.AgentID), s.readOnly.Check(op))
	if err == nil && req.DataSubjectID != "" {
		err = model.NoCascade(" of whoever runs the server: its tools keep no data-subject keys, and nothing was removed")
	}
	if err = cmp.Or(err, model.CheckID(req.ID), model.FromContext(ctx, op)); err != nil {
		return model.ForgetResult{}, err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.server.forget(ctx, req)
}

// Health asks the server within the contract's second. The deep probe lists everything once, because a server
// may answer and yet fail on its store. A server that hangs is down, not late: then the fleet opens the store again.
func (s *store) Health(ctx context.Context) model.HealthStatus {
	st := s.health.Check(ctx, vitals.Remote, s.clock.Now, s.server.probe, func(ctx context.Context) []model.HealthFinding {
		_, problems, err := s.server.items(ctx)
		if err != nil && model.KindOf(err) != model.Unsupported {
			return vitals.Down(model.FindingPage, "the memory cannot be listed: "+vitals.Words(err, ""))
		}
		return vitals.Degraded(model.FindingUnread, "", strings.Join(problems, "; "))
	})
	if st.State != model.HealthUnknown || !s.Hangs() {
		return st
	}
	down := model.NewHealth(st.CheckedAt, append(vitals.Down(model.FindingUnreachable, "the server hangs: it has answered no call for a minute"), st.Findings...)...)
	down.DeepCheckedAt = st.DeepCheckedAt
	return down
}
