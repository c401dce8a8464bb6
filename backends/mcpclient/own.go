package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/backends/internal/declared"
	"memdesk/backends/internal/endpoint"
	"memdesk/backends/internal/fields"
	"memdesk/backends/internal/mcplink"
	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// own is a server with memdesk's own tools (agents-door.md, section 2). It may have
// several stores: an id is STORE:ID and a tier STORE/TIER.
type own struct {
	*store
	tools map[string]bool
}

// TiersMeta is the key of memory_health's metadata under which a server declares the tiers of its stores.
const TiersMeta = "memdesk/tiers"

// Declare returns a server's declarations of a store's tiers.
func Declare(s model.Store) []declared.Tier {
	out := []declared.Tier{}
	for _, t := range s.Tiers {
		t.Writable = t.Writable && !t.OwnerMakes && !s.ReadOnly
		out = append(out, declared.Of(t))
	}
	return out
}

type ownHealth struct {
	Stores []struct {
		Store   string   `json:"store"`
		OK      bool     `json:"ok"`
		Message string   `json:"message"`
		Tiers   []string `json:"tiers"`
	} `json:"stores"`
	Writable bool `json:"writable"`
}

func (s *store) openOwn(ctx context.Context, tools map[string]bool, out *model.Store) (lists, readOnly bool, err error) {
	o := &own{s, tools}
	s.server = o
	h, meta, err := o.state(ctx, "open")
	if err != nil {
		return false, false, err
	}
	for _, st := range h.Stores {
		if model.CheckStoreName(st.Store) != nil {
			return false, false, model.Errorf(model.Unavailable, "open", "the server has a store without a proper name")
		}
		tiers := meta[st.Store]
		if tiers == nil { // another version: only names are known
			for _, name := range st.Tiers {
				tiers = append(tiers, declared.Tier{Name: name, KeyRule: model.KeyOptional, Writable: true})
			}
		}
		for _, t := range tiers { // only the fields that calls need: the document is the server's
			out.Tiers = append(out.Tiers, model.TierSpec{Name: st.Store + "/" + t.Name, Title: t.Title, KeyRule: t.KeyRule, KeyHint: t.KeyHint,
				Cap: t.Cap, CapUnit: t.CapUnit, Writable: t.Writable, Hidden: t.Hidden, Aside: t.Aside, Document: model.Opaque})
		}
	}
	out.Origin = model.MetaOrigin(map[string]string{"origin_actor": "actor", "origin_channel": "channel", "origin_client": "detail", "origin_detail": "detail", "origin_at": "at"})
	out.Notes = append(out.Notes, "served over MCP: the server decides what is kept, held for review or left out; metadata of its items is not shown",
		"a removal compares before it asks: a change between the two is removed too")
	deviate(out, "the server leaves out what its scanner rejects and does not name it: it is cleaned where it lies", "R25", "D13")
	deviate(out, "the tools keep no data-subject keys", "R33")
	deviate(out, "the server tells time and size of an item, not every change", "L06")
	deviate(out, "the rules by which a key makes an id are the server's", "D2")
	if !tools["memory_forget"] {
		deviate(out, "append only: the server lets this caller remove nothing", "R30", "R31", "R34", "D5")
	}
	return tools["memory_list"] && tools["memory_get"], !tools["memory_retain"] || !h.Writable, nil
}

// state asks for the stores and their declarations. A caller without that permission knows of no store, and
// so of no tier.
func (o *own) state(ctx context.Context, op string) (ownHealth, map[string][]declared.Tier, error) {
	if !o.tools["memory_health"] {
		return ownHealth{}, nil, model.Errorf(model.PermissionDenied, op, "the server lets this caller not ask for its stores: the token needs the scope memory:health")
	}
	res, err := o.ask(ctx, op, "memory_health", map[string]any{})
	if err != nil {
		return ownHealth{}, nil, err
	}
	h, err := mcplink.Facts[ownHealth](op, res, "stores")
	if err != nil {
		return ownHealth{}, nil, err
	}
	var meta map[string][]declared.Tier
	if data, err := json.Marshal(res.Meta[TiersMeta]); err == nil {
		_ = json.Unmarshal(data, &meta) // another version declares nothing
	}
	return h, meta, nil
}

// ask runs a tool; the tool's own error is returned as an error.
func (o *own) ask(ctx context.Context, op, tool string, args map[string]any) (*mcp.CallToolResult, error) {
	if !o.tools[tool] {
		return nil, model.Errorf(model.Unsupported, op, "the server lets this caller not use %s", tool)
	}
	res, err := o.Call(ctx, op, tool, args)
	if err != nil || !res.IsError {
		return res, err
	}
	f, err := mcplink.Facts[struct {
		Error struct {
			Kind, Message string
			Retryable     bool
			Revision      model.Revision
		}
	}](op, res)
	if err != nil || f.Error.Kind == "" {
		return nil, model.Errorf(model.Internal, op, "the server: %s", mcplink.Said(mcplink.Text(res)))
	}
	return nil, &model.Error{Op: op, Kind: model.KindOfCode(f.Error.Kind), Retryable: f.Error.Retryable, Err: &told{mcplink.Said(f.Error.Message), f.Error.Revision}}
}

// told is a server's words for an error, with the current revision.
type told struct {
	words    string
	revision model.Revision
}

func (t *told) Error() string { return t.words }

func (o *own) probe(ctx context.Context) []model.HealthFinding {
	h, _, err := o.state(ctx, "health")
	if err != nil {
		return vitals.Down(model.FindingUnreachable, vitals.Words(err, ""))
	}
	var out []model.HealthFinding
	down := 0
	for _, st := range h.Stores {
		if !st.OK {
			down++
			out = append(out, vitals.Degraded(model.FindingUnreachable, st.Store, "store "+st.Store+" is down: "+mcplink.Said(st.Message))...)
		}
	}
	if down == len(h.Stores) { // no store of the server serves
		for i := range out {
			out[i].State = model.HealthDown
		}
	}
	return out
}

// ref is an id in the server's form; NotFound for one that names no store.
func ref(op, id string) (string, string, error) {
	name, rest, ok := strings.Cut(id, ":")
	if !ok || rest == "" || model.CheckStoreName(name) != nil {
		return "", "", model.Errorf(model.NotFound, op, "an id here is STORE:ID")
	}
	return name, model.Ref{Store: name, ID: rest}.String(), nil
}

// idOf reads a reference of the server.
func idOf(op, text string) (string, error) {
	r, err := model.ParseRef(text)
	if err != nil {
		return "", model.Errorf(model.Unavailable, op, "the server names an item by what is no reference")
	}
	return r.Store + ":" + r.ID, nil
}

type ownItem struct {
	Ref, Store, Tier, Title string
	Content                 string
	Bytes                   int64
	Modified                time.Time
	Revision                model.Revision
	Truncated               bool
	Origin                  *ownOrigin
}

type ownOrigin struct {
	Actor, Client, Channel, Detail, Trust string
	At                                    time.Time
}

func (i ownItem) header(op string) (model.Header, error) {
	id, err := idOf(op, i.Ref)
	stamp := strconv.FormatInt(i.Bytes, 10) + " " + i.Modified.UTC().Format(time.RFC3339Nano)
	return model.Header{ID: id, Tier: i.Store + "/" + i.Tier, Title: i.Title, Bytes: i.Bytes, Modified: i.Modified, Stamp: stamp, Revision: i.Revision}, err
}

// silent are the stores behind the server that an answer does not cover, or not to the end.
type silent []struct{ Store, Error string }

// words say which these are; an entry without an error is of a store that answered.
func (s silent) words() []string {
	var out []string
	for _, st := range s {
		if st.Error != "" {
			out = append(out, "store "+mcplink.Said(st.Store)+" was not looked at to the end: "+mcplink.Said(st.Error))
		}
	}
	return out
}

// maxPages bounds the pages of a list, empty ones too: they may lead in a circle. maxProblems bounds their complaints.
const (
	maxPages    = 1000
	maxProblems = 100
)

// items walks the server's pages. Stores that a page could not list are problems.
func (o *own) items(ctx context.Context) (all []model.Header, problems []string, err error) {
	const op = "list"
	args := map[string]any{}
	for pages := 1; ; pages++ {
		res, err := o.ask(ctx, op, "memory_list", args)
		if err != nil {
			return nil, nil, err
		}
		page, err := mcplink.Facts[struct {
			Items  []ownItem
			Next   string
			Stores silent
		}](op, res, "items")
		if err != nil {
			return nil, nil, err
		}
		for _, it := range page.Items {
			h, err := it.header(op)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, h)
		}
		for _, words := range page.Stores.words() {
			if !slices.Contains(problems, words) && len(problems) < maxProblems { // each page may name it
				problems = append(problems, words)
			}
		}
		switch {
		case page.Next == "":
			return all, problems, nil
		case len(all) >= maxItems || pages >= maxPages || page.Next == args["cursor"]:
			return all, append(problems, fmt.Sprintf("only the first %d items were looked at: the server's list leads on", len(all))), nil
		}
		args["cursor"] = page.Next
	}
}

func (o *own) read(ctx context.Context, id string) (model.Item, error) {
	const op = "read"
	_, at, err := ref(op, id)
	if err != nil {
		return model.Item{}, err
	}
	res, err := o.ask(ctx, op, "memory_get", map[string]any{"ref": at})
	if err != nil {
		return model.Item{}, err
	}
	got, err := mcplink.Facts[ownItem](op, res, "ref", "content")
	if err != nil {
		return model.Item{}, err
	}
	if got.Truncated {
		return model.Item{}, model.Errorf(model.Unsupported, op, "the item has %d bytes, and the server gives %d of them", got.Bytes, len(got.Content))
	}
	h, err := got.header(op)
	if err == nil && h.ID != id {
		return model.Item{}, endpoint.AnotherItem(op)
	}
	h.Stamp = "" // a read tells no time
	return model.Item{Header: h, Body: got.Content, Meta: got.Origin.fields()}, err
}

// fields show an item's writer, according to the server. They are the server's.
func (o *ownOrigin) fields() []model.Field {
	if o == nil {
		return nil
	}
	at := ""
	if !o.At.IsZero() {
		at = o.At.UTC().Format(time.RFC3339)
	}
	return fields.ReadOnly("origin_actor", o.Actor, "origin_client", o.Client, "origin_channel", o.Channel,
		"origin_detail", o.Detail, "origin_trust", o.Trust, "origin_at", at)
}

func (o *own) search(ctx context.Context, query, tier string, limit int) (model.RecallResult, error) {
	const op = "recall"
	args := map[string]any{"query": query, "limit": limit}
	if tier != "" {
		args["store"], args["tier"], _ = strings.Cut(tier, "/")
	}
	res, err := o.ask(ctx, op, "memory_recall", args)
	if err != nil {
		return model.RecallResult{}, err
	}
	got, err := mcplink.Facts[struct {
		Hits []struct {
			ownItem
			Snippet string
			Line    int
			Score   float64
		}
		Total   *int64
		Bounded bool
		Stores  silent
	}](op, res, "hits")
	if err != nil {
		return model.RecallResult{}, err
	}
	out := model.RecallResult{Total: model.TotalUnknown, Bounded: got.Bounded}
	if got.Total != nil {
		out.Total = max(*got.Total, int64(len(got.Hits)))
	}
	if left := got.Stores.words(); len(left) > 0 {
		out.Bounded, out.BoundNote = true, strings.Join(left, "; ")
	}
	for _, h := range got.Hits {
		id, err := idOf(op, h.Ref)
		if err != nil {
			return model.RecallResult{}, err
		}
		out.Hits = append(out.Hits, model.RecallSnippet{ID: id, Source: cmp.Or(h.Title, h.Ref), Snippet: h.Snippet, Line: h.Line, Score: h.Score, Meta: h.Origin.fields()})
	}
	return out, nil
}

// overwrites is how often a replace without an expected revision reads the current revision again.
const overwrites = 5

// retain changes an item. The server demands the revision that a replace overwrites (AD9), so a replace
// without one is sent again with the current revision: the server has refused the first and changed nothing.
func (o *own) retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	const op = "retain"
	args := map[string]any{"content": req.Content, "mode": string(req.Mode)}
	if req.IfMatch != "" {
		args["if_match"] = string(req.IfMatch)
	}
	if req.ID != "" {
		name, at, err := ref(op, req.ID)
		if err == nil && req.Tier != "" {
			err = o.agrees(ctx, name, req)
		}
		if err != nil {
			return model.RetainResult{}, invalid(op, err)
		}
		args["ref"] = at
	} else {
		args["store"], args["tier"], _ = strings.Cut(req.Tier, "/")
		if req.Key != "" {
			args["key"] = req.Key
		}
	}
	if err := o.noMeta(ctx, req); err != nil {
		return model.RetainResult{}, err
	}
	for try := 1; ; try++ {
		res, err := o.ask(ctx, op, "memory_retain", args)
		var t *told
		if err != nil && try < overwrites && req.Mode == model.Replace && req.IfMatch == "" && errors.As(err, &t) && t.revision != "" {
			args["if_match"] = string(t.revision)
			continue
		}
		if err != nil {
			return model.RetainResult{}, err
		}
		return kept(op, res)
	}
}

// invalid turns an error for an id that names no item into one for an id that cannot be written.
func invalid(op string, err error) error {
	if errors.Is(err, model.NotFound) {
		return model.Errorf(model.InvalidInput, op, "an id here is STORE:ID")
	}
	return err
}

// agrees refuses a tier that differs from the item's.
func (o *own) agrees(ctx context.Context, store string, req model.RetainRequest) error {
	if !strings.HasPrefix(req.Tier, store+"/") {
		return model.Errorf(model.InvalidInput, "retain", "the id is of store %s, the tier is not", store)
	}
	it, err := o.read(ctx, req.ID)
	if err == nil && it.Tier != req.Tier {
		return model.Errorf(model.InvalidInput, "retain", "the item is of tier %s", it.Tier)
	}
	return nil // absent: the server itself judges the id
}

// noMeta refuses metadata: the tools carry none. Fields that the server itself shows are no change.
func (o *own) noMeta(ctx context.Context, req model.RetainRequest) error {
	if len(req.Meta) == 0 || req.Restore {
		return nil
	}
	it, err := o.read(ctx, req.ID)
	if err == nil && slices.Equal(it.Meta, req.Meta) {
		return nil
	}
	return model.Errorf(model.InvalidInput, "retain", "a memory server's tools carry no metadata")
}

// kept reads the result of a write. A text that the server holds for review is not kept.
func kept(op string, res *mcp.CallToolResult) (model.RetainResult, error) {
	got, err := mcplink.Facts[struct {
		Status, Ref, Category, Pattern, Reason string
		Bytes                                  int64
		Revision                               model.Revision
		Notes                                  []string
	}](op, res)
	switch {
	case err != nil:
		return model.RetainResult{}, err
	case got.Status == "quarantined" && got.Category == "origin":
		return model.RetainResult{}, model.Refuse(op, "the server holds the text until its operator lets it in")
	case got.Status == "quarantined":
		return model.RetainResult{}, model.Errorf(model.InvalidInput, op, "the server holds the text for review: %s / %s", mcplink.Said(got.Category), mcplink.Said(got.Pattern))
	case got.Status == "suppressed":
		return model.RetainResult{}, model.Refuse(op, "the server: "+mcplink.Said(got.Reason))
	case got.Status != "retained":
		return model.RetainResult{}, model.Errorf(model.Unavailable, op, "the server does not say what became of the text")
	}
	out := model.RetainResult{Bytes: got.Bytes, Revision: got.Revision, Warnings: got.Notes}
	if got.Ref != "" {
		out.ID, err = idOf(op, got.Ref)
	}
	return out, err
}

func (o *own) forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	const op = "forget"
	_, at, err := ref(op, req.ID)
	if err != nil {
		return model.ForgetResult{}, nil // no such item (R31)
	}
	if req.IfMatch != "" {
		it, err := o.read(ctx, req.ID)
		switch {
		case errors.Is(err, model.NotFound):
			return model.ForgetResult{}, nil
		case err != nil:
			return model.ForgetResult{}, err
		}
		if err := model.CheckMatch(op, req.IfMatch, true, it.Revision); err != nil {
			return model.ForgetResult{}, err
		}
	}
	res, err := o.ask(ctx, op, "memory_forget", map[string]any{"ref": at, "reason": "an operator's act"})
	if err != nil {
		return model.ForgetResult{}, err
	}
	got, err := mcplink.Facts[struct{ Removed int64 }](op, res, "removed")
	if err != nil {
		return model.ForgetResult{}, err
	}
	n, err := endpoint.Removed(op, got.Removed)
	return model.ForgetResult{Removed: n}, err
}
