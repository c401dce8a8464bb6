package mcpclient

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"memdesk/backends/internal/entity"
	"memdesk/backends/internal/mcplink"
	"memdesk/backends/internal/snippet"
	"memdesk/backends/internal/vitals"
	"memdesk/model"
	"memdesk/quarantine"
)

// graph is a server with the tools of the official memory server. Its ids are those of kind mcpgraph, which
// opens the same memory by its file.
type graph struct {
	*store
	can map[string]bool
}

type graphEntity struct {
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
}

type graphRelation struct {
	From string `json:"from"`
	To   string `json:"to"`
	Type string `json:"relationType"`
}

type graphPart struct {
	Entities  []graphEntity   `json:"entities"`
	Relations []graphRelation `json:"relations"`
}

func (s *store) openGraph(tools map[string]bool, out *model.Store) {
	g := &graph{s, tools}
	s.server = g
	out.Tiers = []model.TierSpec{
		{Name: entity.Tier, Title: "entities: the observations are the text", KeyRule: model.KeyRequired, KeyHint: "the entity's name", Document: model.Structured, Writable: true},
		{Name: entity.RelationTier, Title: "relations between entities", KeyRule: model.KeyRequired, KeyHint: "FROM/TYPE/TO, by id", Document: model.Structured, Writable: tools["create_relations"]},
	}
	out.Address = g.address
	out.Notes = append(out.Notes, "the memory server takes no lock: a change that another caller makes at the same time can undo one of memdesk's, which is then reported")
	deviate(out, "a text is a list of observations, each begun by `- `", "R5")
	deviate(out, "appended observations begin on a line of their own, and one that is there is not added again", "R6")
	deviate(out, "the server keeps no revisions: what is expected is compared before the change, not with it", "D7")
	deviate(out, "the tools keep no data-subject keys", "R33")
	if tools["read_graph"] {
		out.Falls = g.falls
	}
	if !tools["delete_observations"] {
		deviate(out, "append only: the server has no tool that removes an observation", "D3", "D13", "R44")
	}
	if !tools["delete_entities"] {
		deviate(out, "append only: the server has no tool that removes an entity", "R30", "R31", "R34", "D5")
	}
}

func (e graphEntity) item() model.Item {
	it := model.Item{Body: entity.Encode(e.Observations), Meta: []model.Field{{Name: "entityType", Value: e.EntityType}}}
	it.ID, it.Tier, it.Title, it.Bytes = entity.ID(e.Name), entity.Tier, e.Name, int64(len(it.Body))
	return stamped(it)
}

func (r graphRelation) item() model.Item {
	it := model.Item{Body: r.From + " " + r.Type + " " + r.To, Meta: []model.Field{{Name: "from", Value: r.From, ReadOnly: true},
		{Name: "relationType", Value: r.Type, ReadOnly: true}, {Name: "to", Value: r.To, ReadOnly: true}}}
	it.ID, it.Tier, it.Title, it.Bytes = entity.RelationID(r.From, r.Type, r.To), entity.RelationTier, it.Body, int64(len(it.Body))
	it.Flags = []model.Flag{model.FlagEdge}
	return stamped(it)
}

// stamped sets the stamp of an item, which the server does not keep.
func stamped(it model.Item) model.Item {
	it.Revision = model.RevisionOf(it.Document())
	it.Stamp = string(it.Revision)
	if _, hit := quarantine.Scan(it.Title + "\n" + it.Body); hit {
		it.Flags = append(it.Flags, model.FlagBlocked)
	}
	return it
}

func (p graphPart) items() []model.Item {
	var out []model.Item
	for _, e := range p.Entities {
		out = append(out, e.item())
	}
	for _, r := range p.Relations {
		out = append(out, r.item())
	}
	return out
}

// ask runs a tool. The server's errors have words and no kind; those for an unknown name are recognised.
func (g *graph) ask(ctx context.Context, op, tool string, args map[string]any) (graphPart, error) {
	if !g.can[tool] {
		return graphPart{}, model.Errorf(model.Unsupported, op, "the memory server has no tool %s", tool)
	}
	res, err := g.Call(ctx, op, tool, args)
	switch {
	case err != nil:
		return graphPart{}, err
	case res.IsError && strings.HasSuffix(mcplink.Text(res), "not found"):
		return graphPart{}, model.Errorf(model.NotFound, op, "the server: %s", mcplink.Said(mcplink.Text(res)))
	case res.IsError:
		return graphPart{}, model.Errorf(model.Internal, op, "the server: %s", mcplink.Said(mcplink.Text(res)))
	case tool == "read_graph" || tool == "open_nodes" || tool == "search_nodes":
		return mcplink.Facts[graphPart](op, res, "entities", "relations")
	}
	return graphPart{}, nil
}

func (g *graph) probe(ctx context.Context) []model.HealthFinding {
	if _, err := g.ask(ctx, "health", "search_nodes", map[string]any{"query": "\x00"}); err != nil {
		return vitals.Down(model.FindingUnreachable, vitals.Words(err, ""))
	}
	return nil
}

func (g *graph) items(ctx context.Context) ([]model.Header, []string, error) {
	p, err := g.ask(ctx, "list", "read_graph", map[string]any{})
	if err != nil {
		return nil, nil, err
	}
	var out []model.Header
	var problems []string
	seen := map[string]bool{}
	for _, it := range p.items() {
		if seen[it.ID] { // the first one counts, as in the server
			problems = []string{"some names stand in the server's memory more than once"}
			continue
		}
		seen[it.ID] = true
		out = append(out, it.Header)
	}
	return out, problems, nil
}

func (g *graph) read(ctx context.Context, id string) (model.Item, error) {
	const op = "read"
	tool, args := "open_nodes", map[string]any{"names": []string{entity.Name(id)}}
	if _, _, _, relation := entity.Ends(id); relation {
		tool, args = "read_graph", map[string]any{} // an end may be a missing entity
	}
	p, err := g.ask(ctx, op, tool, args)
	if err != nil {
		return model.Item{}, err
	}
	all := p.items()
	at := slices.IndexFunc(all, func(it model.Item) bool { return it.ID == id })
	if at < 0 {
		return model.Item{}, model.Errorf(model.NotFound, op, "the memory server has no such item")
	}
	it := all[at]
	for _, l := range p.Relations {
		if it.Tier == entity.Tier && (l.From == it.Title || l.To == it.Title) {
			it.LinksTotal++
			if len(it.Links) < model.LinkLimit {
				rel := l.item()
				it.Links = append(it.Links, model.Link{ID: rel.ID, Kind: l.Type, Label: rel.Body, Other: []string{entity.ID(l.From), entity.ID(l.To)}})
			}
		}
	}
	return it, nil
}

func (g *graph) search(ctx context.Context, query, tier string, limit int) (model.RecallResult, error) {
	p, err := g.ask(ctx, "recall", "search_nodes", map[string]any{"query": query})
	if err != nil {
		return model.RecallResult{}, err
	}
	out := model.RecallResult{}
	want := snippet.Fold(query)
	for _, it := range p.items() {
		if tier != "" && it.Tier != tier || it.Tier == entity.RelationTier && !strings.Contains(snippet.Fold(it.Body), want) {
			continue // the server adds the relations of its hits
		}
		out.Total++
		if it.Has(model.FlagBlocked) {
			out.Quarantined = append(out.Quarantined, it.ID)
			continue
		}
		if len(out.Hits) < limit {
			cut, line := snippet.Cut(cmp.Or(it.Body, it.Title), query)
			out.Hits = append(out.Hits, model.RecallSnippet{ID: it.ID, Source: it.ID, Snippet: cut, Line: line, Score: 1})
		}
	}
	return out, nil
}

// address is the id that a request writes.
func (g *graph) address(req model.RetainRequest) (string, error) {
	const op = "retain"
	key, known := map[string]string{entity.Tier: entity.ID(req.Key), entity.RelationTier: "edge/" + req.Key}[req.Tier]
	switch {
	case req.ID == "" && !known:
		return "", model.Errorf(model.InvalidInput, op, "there is no tier %q", req.Tier)
	case req.ID == "" && req.Key == "":
		return "", model.Errorf(model.InvalidInput, op, "tier %s wants a key", req.Tier)
	case req.ID == "":
		return key, nil
	case req.Tier != "" && strings.HasPrefix(req.ID, "edge/") != (req.Tier == entity.RelationTier), req.Key != "" && key != req.ID:
		return "", model.Errorf(model.InvalidInput, op, "the id does not agree with tier and key")
	case !entity.Is(req.ID):
		return "", model.Errorf(model.InvalidInput, op, "%.200q is no id of this store", model.EncodeID(req.ID))
	}
	return req.ID, nil
}

// retain creates an entity or a relation, or changes an entity's observations. It reads the result
// afterwards: the server reports success even where its file became another.
func (g *graph) retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	const op = "retain"
	id, err := g.address(req)
	if err != nil {
		return model.RetainResult{}, err
	}
	was, err := g.read(ctx, id)
	there := err == nil
	if err != nil && model.KindOf(err) != model.NotFound {
		return model.RetainResult{}, err
	}
	if err := model.CheckMatch(op, req.IfMatch, there, was.Revision); err != nil {
		return model.RetainResult{}, err
	}
	cleans := there && req.Mode == model.Replace && req.IfMatch != "" && len(quarantine.Added(id+"\n"+was.Body, id+"\n"+req.Content)) == 0
	if v, hit := quarantine.Scan(id + "\n" + req.Content); hit && !cleans {
		return model.RetainResult{}, model.Errorf(model.InvalidInput, op, "the scanner rejects the text: %s/%s; nothing was sent", v.Category, v.Pattern)
	}
	if from, relation, to, ok := entity.Ends(id); ok {
		if there {
			return model.RetainResult{}, model.Errorf(model.InvalidInput, op, "a relation has no text of its own: forget it and create another")
		}
		_, err = g.ask(ctx, op, "create_relations", map[string]any{"relations": []graphRelation{{from, to, relation}}})
		if err != nil {
			return model.RetainResult{}, err
		}
		return g.look(ctx, id, was, from+" "+relation+" "+to)
	}
	if strings.HasPrefix(id, "edge/") {
		return model.RetainResult{}, model.Errorf(model.InvalidInput, op, "a relation's id is edge/FROM/TYPE/TO, slashes inside a part written %%2F")
	}
	content, err := entity.Decode(req.Content)
	if err != nil {
		return model.RetainResult{}, err
	}
	want, err := g.observe(ctx, id, was, there, content, req)
	if err != nil {
		return model.RetainResult{}, err
	}
	return g.look(ctx, id, was, entity.Encode(want))
}

// observe gives an entity the wanted observations, and returns them.
func (g *graph) observe(ctx context.Context, id string, was model.Item, there bool, content []string, req model.RetainRequest) ([]string, error) {
	const op = "retain"
	old := "note"
	if there {
		old = was.Meta[0].Value
	}
	kind, err := entity.Type(req.Meta, old)
	if err != nil {
		return nil, err
	}
	name := entity.Name(id)
	if !there {
		want := entity.Join(nil, content)
		_, err := g.ask(ctx, op, "create_entities", map[string]any{"entities": []graphEntity{{name, kind, want}}})
		return want, err
	}
	if kind != old {
		return nil, model.Errorf(model.Unsupported, op, "the memory server has no tool that changes an entity's type")
	}
	have, err := entity.Decode(was.Body)
	if err != nil {
		return nil, err
	}
	want := entity.Join(have, content)
	if req.Mode == model.Replace {
		want = entity.Join(nil, content)
	}
	gone, more := steps(have, want)
	if len(gone) > 0 {
		if _, err := g.ask(ctx, op, "delete_observations", map[string]any{"deletions": []map[string]any{{"entityName": name, "observations": gone}}}); err != nil {
			return nil, err
		}
	}
	if len(more) > 0 {
		_, err := g.ask(ctx, op, "add_observations", map[string]any{"observations": []map[string]any{{"entityName": name, "contents": more}}})
		if err != nil && len(gone) > 0 {
			err = model.Errorf(model.Internal, op, "%s observations were removed, and the new ones were not added: %w", strconv.Itoa(len(gone)), err)
		}
		if err != nil {
			return nil, err
		}
	}
	return want, nil
}

// steps are the removals and then the additions that turn have into want, in its order. The server appends at
// the end and removes every equal observation.
func steps(have, want []string) (gone, more []string) {
	wanted := entity.Set(want)
	left := slices.DeleteFunc(slices.Clone(have), func(o string) bool { return !wanted[o] })
	n := 0
	for n < len(left) && n < len(want) && left[n] == want[n] {
		n++
	}
	keep := entity.Set(want[:n])
	gone = slices.DeleteFunc(entity.Join(nil, have), func(o string) bool { return keep[o] })
	if slices.ContainsFunc(left[n:], func(o string) bool { return keep[o] }) { // a repeated observation
		return entity.Join(nil, have), want
	}
	return gone, want[n:]
}

// look reads back the written text. Another text means that somebody wrote at the same time.
func (g *graph) look(ctx context.Context, id string, was model.Item, body string) (model.RetainResult, error) {
	it, err := g.read(ctx, id)
	if err != nil && model.KindOf(err) != model.NotFound {
		return model.RetainResult{}, model.Errorf(model.Internal, "retain", "the change could not be looked at: %w", err)
	}
	if err != nil || it.Body != body {
		return model.RetainResult{}, crossed("retain", was, it, "the memory server keeps another text than was written")
	}
	return model.RetainResult{ID: id, Bytes: it.Bytes, Revision: it.Revision}, nil
}

// crossed is the error of a change among another caller's: a Conflict only where the item is as it was before,
// because a Conflict says that nothing was changed.
func crossed(op string, was, is model.Item, what string) error {
	kind := model.Internal
	if is.Revision == was.Revision {
		kind = model.Conflict
	}
	return model.Errorf(kind, op, "%s: somebody else writes at the same time", what)
}

// forget removes an entity with its relations, or one relation. Removed counts the relations too, where the
// server has the tool that names them all.
func (g *graph) forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	const op = "forget"
	it, err := g.read(ctx, req.ID)
	switch {
	case model.KindOf(err) == model.NotFound:
		return model.ForgetResult{}, nil
	case err != nil:
		return model.ForgetResult{}, err
	}
	if err := model.CheckMatch(op, req.IfMatch, true, it.Revision); err != nil {
		return model.ForgetResult{}, err
	}
	tool, args := "delete_entities", map[string]any{"entityNames": []string{it.Title}}
	var with []model.Fall
	if from, relation, to, ok := entity.Ends(req.ID); ok {
		tool, args = "delete_relations", map[string]any{"relations": []graphRelation{{from, to, relation}}}
	} else if g.can["read_graph"] {
		if with, err = g.falls(ctx, []string{req.ID}); err != nil {
			return model.ForgetResult{}, err
		}
	}
	if _, err := g.ask(ctx, op, tool, args); err != nil {
		return model.ForgetResult{}, err
	}
	switch is, err := g.read(ctx, req.ID); {
	case err == nil:
		return model.ForgetResult{}, crossed(op, it, is, "the memory server still has the item")
	case model.KindOf(err) != model.NotFound:
		return model.ForgetResult{}, model.Errorf(model.Internal, op, "the removal could not be looked at: %w", err)
	}
	return model.ForgetResult{Removed: 1 + int64(len(with))}, nil
}

// falls lists the relations that go with entities.
func (g *graph) falls(ctx context.Context, ids []string) ([]model.Fall, error) {
	p, err := g.ask(ctx, "falls", "read_graph", map[string]any{})
	if err != nil {
		return nil, err
	}
	var out []model.Fall
	for _, r := range p.Relations {
		rel := r.item().ID
		ends := slices.Compact([]string{entity.ID(r.From), entity.ID(r.To)})
		with := slices.DeleteFunc(slices.Clone(ends), func(end string) bool { return !slices.Contains(ids, end) })
		if len(with) > 0 && !slices.Contains(ids, rel) {
			out = append(out, model.Fall{ID: rel, With: with, Left: len(ends) - len(with)})
		}
	}
	return out, nil
}
