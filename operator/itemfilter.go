package operator

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/internal/frontmatter"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/quarantine"
)

// ItemFilter selects items by their own fields, beside the tier and the words that a store's list and recall
// take. An item without a requested field (no confidence, an unknown time) does not pass. The zero filter
// passes every item.
type ItemFilter struct {
	Subject string // the subject, by the store's own keys; exact
	Agent   string // owner or writer: an id or a name, case-insensitive
	Type    string // its type or kind, case-insensitive
	// Since and Until bound the time of its last change; Until is exclusive.
	Since, Until time.Time
	Confidence   float64 // at least; 0: any
	Archived     Archived
	Writers      Writers // who wrote what through memdesk, for Agent; nil: the items' own fields alone
}

// Writers names the writer of an item; Session does.
type Writers interface {
	WriterOfItem(model.Store, model.Item) *origin.Written
}

// Archived says whether to list items that a store's own search skips.
type Archived string

// The choices; by default lists leave out archived and bookkeeping items.
const (
	ArchivedAlso Archived = "also" // bookkeeping items too
	ArchivedOnly Archived = "only"
)

// The fields with such facts, by their names in the stores.
var (
	subjectFields    = []string{"subject", "subject_id", "user_id", "userId", "resourceId"}
	agentFields      = []string{"agent", "agent_id", "agentId", "author", "assignee", "owner", "created_by", "actor"}
	typeFields       = []string{"type", "kind", "subtype"}
	confidenceFields = []string{"confidence"}
)

// Check is InvalidInput for a mistaken filter that no item could pass.
func (f ItemFilter) Check() error {
	switch {
	case f.Archived != "" && f.Archived != ArchivedAlso && f.Archived != ArchivedOnly:
		return model.Errorf(model.InvalidInput, "filter", "archived: there are also and only, not %q", string(f.Archived))
	case !(f.Confidence >= 0 && f.Confidence <= 1): // nor NaN
		return model.Errorf(model.InvalidInput, "filter", "confidence is between 0 and 1, not %g", f.Confidence)
	case !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until):
		return model.Errorf(model.InvalidInput, "filter", "since is not before until: nothing can be between them")
	}
	return nil
}

// IsZero reports whether every item passes.
func (f ItemFilter) IsZero() bool {
	f.Writers = nil
	return f == ItemFilter{}
}

// reads reports whether the header is not enough.
func (f ItemFilter) reads() bool {
	return f.Subject != "" || f.Agent != "" || f.Type != "" || f.Confidence > 0
}

// header reports whether a list's header passes.
func (f ItemFilter) header(h model.Header) bool {
	switch {
	case f.Archived == ArchivedOnly && !h.Has(model.FlagArchived):
		return false
	case (!f.Since.IsZero() || !f.Until.IsZero()) && h.Modified.IsZero():
		return false
	case !f.Since.IsZero() && h.Modified.Before(f.Since), !f.Until.IsZero() && !h.Modified.Before(f.Until):
		return false
	}
	return true
}

// Match reports whether an item passes. concerns holds the ids that the store itself ties to the subject, see
// Concerning.
func (f ItemFilter) Match(s model.Store, it model.Item, concerns map[string]bool) bool {
	if !f.header(it.Header) {
		return false
	}
	if !f.reads() {
		return true
	}
	fields := it.Meta
	if len(fields) == 0 {
		fields = frontFields(it.Body)
	}
	any := func(names []string, ok func(string) bool) bool {
		return slices.ContainsFunc(fields, func(x model.Field) bool { return slices.Contains(names, x.Name) && ok(x.Value) })
	}
	same := func(want string) func(string) bool {
		return func(v string) bool { return strings.EqualFold(v, want) }
	}
	switch {
	case f.Subject != "" && !concerns[it.ID] && !any(subjectFields, func(v string) bool { return v == f.Subject }):
		return false
	case f.Agent != "" && !any(agentFields, same(f.Agent)) && !inScope(it.Scope, f.Agent) && !f.wrote(s, it):
		return false
	case f.Type != "" && !any(typeFields, same(f.Type)):
		return false
	case f.Confidence > 0 && !any(confidenceFields, func(v string) bool { n, err := strconv.ParseFloat(v, 64); return err == nil && n >= f.Confidence }):
		return false
	}
	return true
}

// wrote reports whether the filter's agent wrote the item, by its name with or without the log's "agent ".
func (f ItemFilter) wrote(s model.Store, it model.Item) bool {
	if f.Writers == nil {
		return false
	}
	w := f.Writers.WriterOfItem(s, it)
	return w != nil && (strings.EqualFold(w.Actor, f.Agent) || strings.EqualFold(strings.TrimPrefix(w.Actor, "agent "), f.Agent))
}

// inScope reports whether a scope is an agent's: its last part, or the value of its agent_id.
func inScope(scope, agent string) bool {
	if strings.EqualFold(path.Base(scope), agent) {
		return true
	}
	return slices.ContainsFunc(strings.Fields(strings.ReplaceAll(scope, "&", " ")), func(part string) bool {
		name, value, ok := strings.Cut(part, "=")
		return ok && slices.Contains(agentFields, name) && strings.EqualFold(value, agent)
	})
}

// frontFields are the `name: value` lines of a text's front matter: those at its top, and those right below metadata, where
// Claude's memories have theirs. What stands deeper, or below another name, is a part of a value.
func frontFields(text string) (out []model.Field) {
	lines, _ := frontmatter.Split(text)
	below, depth := false, 0 // whether under metadata, and the indent of its fields
	for line := range strings.Lines(lines) {
		name, value, ok := frontmatter.Pair(line)
		bare := strings.Trim(strings.TrimSpace(name), `"'`)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if indent == 0 {
			below, depth = ok && bare == "metadata", 0
		} else {
			if depth == 0 && ok {
				depth = indent
			}
			ok = ok && below && indent == depth
		}
		if ok {
			out = append(out, model.Field{Name: bare, Value: value})
		}
	}
	return out
}

// Concerning are the ids that a store ties to the filter's subject; nil without a subject, or where the store
// has no such keys.
func (f ItemFilter) Concerning(ctx context.Context, s model.Store) (map[string]bool, error) {
	if f.Subject == "" || s.Subjects == nil {
		return nil, nil
	}
	out := map[string]bool{}
	err := s.Subjects.Concerning(ctx, []string{f.Subject}, func(h model.SubjectHit) bool {
		if h.Called == "" {
			out[h.ID] = true
		}
		return true
	})
	return out, err
}

// List is the page of a store's list that passes: at most req.Limit items, in the list's order. It reads as
// much of the list as needed, until ctx ends; Next continues after the last item read. Without a filter the
// total is the store's own; with one it is unknown unless the whole list was read. Read errors are problems
// of the page. Unsupported where the store cannot be browsed.
func (f ItemFilter) List(ctx context.Context, s model.Store, req model.PageRequest) (model.Page, error) {
	if s.Browser == nil {
		return model.Page{}, model.Errorf(model.Unsupported, "items", "this store cannot be browsed")
	}
	if err := f.Check(); err != nil {
		return model.Page{}, err
	}
	if f.IsZero() {
		return s.Browser.List(ctx, req)
	}
	concerns, err := f.Concerning(ctx, s)
	if err != nil {
		return model.Page{}, err
	}
	limit, whole := model.PageLimit(req.Limit), req.Cursor == ""
	req.Hidden = req.Hidden || f.Archived != ""
	out := model.Page{Total: model.Count{Unknown: true}}
	for {
		req.Limit = model.MaxPage
		page, err := s.Browser.List(ctx, req)
		if err != nil {
			return out, err
		}
		for _, problem := range page.Problems { // a store may name the same one on each page
			if !slices.Contains(out.Problems, problem) {
				out.Problems = append(out.Problems, problem)
			}
		}
		for i, h := range page.Items {
			ok, err := f.listed(ctx, s, h, concerns)
			if err != nil {
				out.Problems = append(out.Problems, h.ID+": "+err.Error())
			}
			if !ok {
				continue
			}
			out.Items = append(out.Items, h)
			if len(out.Items) == limit && (i < len(page.Items)-1 || page.Next != "") {
				out.Next, err = nextAfter(ctx, s, req, page, i)
				return out, err
			}
		}
		if page.Next == "" {
			if whole {
				out.Total = model.Count{N: int64(len(out.Items))}
			}
			return out, nil
		}
		req.Cursor = page.Next
	}
}

// listed reports whether an item of a list passes; a vanished one does not.
func (f ItemFilter) listed(ctx context.Context, s model.Store, h model.Header, concerns map[string]bool) (bool, error) {
	if !f.header(h) {
		return false, nil
	}
	if !f.reads() {
		return true, nil
	}
	return f.Has(ctx, s, h.ID, concerns)
}

// Has reads an item and reports whether it passes; a vanished one does not.
func (f ItemFilter) Has(ctx context.Context, s model.Store, id string, concerns map[string]bool) (bool, error) {
	if s.Browser == nil {
		return false, model.Errorf(model.Unsupported, "filter", "store %s cannot show its items, so nothing is known of them", s.Name)
	}
	it, err := s.Browser.Read(ctx, id)
	if errors.Is(err, model.NotFound) {
		return false, nil
	}
	return err == nil && f.Match(s, it, concerns), err
}

// nextAfter is the cursor after item i of a page: that of the page's first i+1 items.
func nextAfter(ctx context.Context, s model.Store, req model.PageRequest, page model.Page, i int) (string, error) {
	if i == len(page.Items)-1 {
		return page.Next, nil
	}
	req.Limit = i + 1
	short, err := s.Browser.List(ctx, req)
	return short.Next, err
}

// Recall asks a store and keeps the hits that pass. A store that knows agents narrows the search to Agent itself;
// each that knows no workspaces or crews refuses them. The store ranked and counted without the rest of the filter,
// so the answer is bounded and names the number of hits before the filter. Archived items, which no recall gives,
// come from the store's list, after the hits. Items that cannot be read do not pass, and the answer names one.
func (f ItemFilter) Recall(ctx context.Context, s model.Store, req model.RecallRequest) (model.RecallResult, error) {
	none := model.RecallResult{Hits: []model.RecallSnippet{}}
	if err := s.CheckScope("recall", req.WorkspaceID, "", req.CrewID); err != nil {
		return none, err
	}
	if f.Archived != "" && s.Browser == nil {
		return none, model.Errorf(model.Unsupported, "recall", "store %s cannot list its items, so archived ones are not found: leave out archived", s.Name)
	}
	res, hits, err := f.ask(ctx, s, req)
	if err != nil || f.IsZero() {
		return res, err
	}
	archived, unread, err := f.archived(ctx, s, req)
	if err != nil {
		return none, err
	}
	if hits.IsZero() && f.Archived == "" || len(res.Hits)+len(archived)+len(unread) == 0 {
		return res, nil
	}
	concerns, err := f.Concerning(ctx, s)
	if err != nil {
		return none, err
	}
	picked := []model.RecallSnippet{}
	for _, h := range res.Hits {
		ok, err := hits.Has(ctx, s, h.ID, concerns)
		switch {
		case model.KindOf(err) == model.Unsupported:
			return none, err
		case ctx.Err() != nil:
			return none, model.FromContext(ctx, "recall")
		case err != nil:
			unread = append(unread, h.ID+": "+err.Error())
		case ok:
			picked = append(picked, h)
		}
	}
	notes := []string{"picked among the first " + plural(int64(len(res.Hits)), "hit")}
	if res.BoundNote != "" {
		notes = append(notes, res.BoundNote)
	}
	for _, h := range archived {
		if len(picked) < model.ClampLimit(req.Limit) && !slices.ContainsFunc(picked, func(p model.RecallSnippet) bool { return p.ID == h.ID }) {
			picked = append(picked, h)
		}
	}
	if len(archived) > 0 {
		notes = append(notes, "archived items as the list finds them, unranked")
	}
	if len(unread) > 0 {
		notes = append(notes, "not looked at: "+plural(int64(len(unread)), "item")+", such as "+unread[0])
	}
	res.Hits, res.Total, res.Bounded, res.BoundNote = picked, model.TotalUnknown, true, strings.Join(notes, "; ")
	return res, nil
}

// ask asks the store, and returns what of the filter is left for the hits. An agent whom the store does not know
// has no items of its own there, and may have written others.
func (f ItemFilter) ask(ctx context.Context, s model.Store, req model.RecallRequest) (model.RecallResult, ItemFilter, error) {
	if f.Agent != "" && s.Features[model.FeatureAgents] {
		own := req
		own.AgentID = f.Agent
		if res, err := s.Provider.Recall(ctx, own); model.KindOf(err) != model.InvalidInput {
			f.Agent = ""
			return res, f, err
		}
	}
	res, err := s.Provider.Recall(ctx, req)
	return res, f, err
}

// archived are the archived items that the store's list finds by the query, as hits without a score, and those
// that cannot be read; none unless the filter asks for them.
func (f ItemFilter) archived(ctx context.Context, s model.Store, req model.RecallRequest) (out []model.RecallSnippet, unread []string, err error) {
	if f.Archived == "" {
		return nil, nil, nil
	}
	f.Archived = ArchivedOnly
	page, err := f.List(ctx, s, model.PageRequest{Tier: req.Tier, Query: req.Query, Limit: model.ClampLimit(req.Limit)})
	if model.KindOf(err) == model.Unsupported {
		return nil, []string{"archived items: the store's list takes no words"}, nil
	}
	unread = page.Problems
	for _, h := range page.Items {
		it, rerr := s.Browser.Read(ctx, h.ID)
		if rerr != nil && !errors.Is(rerr, model.NotFound) {
			unread = append(unread, h.ID+": "+rerr.Error())
		}
		if _, hit := quarantine.RulesOf(s.Scanner).Load(it.Body); rerr != nil || hit || it.Has(model.FlagBlocked) {
			continue
		}
		text := []rune(it.Body)
		out = append(out, model.RecallSnippet{ID: h.ID, Source: h.ID, Snippet: string(text[:min(len(text), model.SnippetRunes)])})
	}
	return out, unread, err
}

// Owners splits a scope into its owners, by the published names of scopes: crews/<id>/agents/<slug>,
// crews/<id>/shared, solo/<ws>/<slug>, workspace/<ws>. All are empty for any other scope.
func Owners(scope string) (workspace, crew, agent string) {
	switch p := strings.Split(scope, "/"); {
	case len(p) == 4 && p[0] == "crews" && p[2] == "agents":
		return "", p[1], p[3]
	case len(p) == 3 && p[0] == "crews" && p[2] == "shared":
		return "", p[1], ""
	case len(p) == 3 && p[0] == "solo":
		return p[1], "", p[2]
	case len(p) == 2 && p[0] == "workspace":
		return p[1], "", ""
	}
	return "", "", ""
}
