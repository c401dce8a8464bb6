package door

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/quarantine"
	"memdesk/quarantine/review"
)

type recallArgs struct {
	Query string `json:"query"`
	Limit *int   `json:"limit"`
	Store string `json:"store"`
	Tier  string `json:"tier"`
}

type recalled struct {
	Status  string      `json:"status"`
	Hits    []hitFact   `json:"hits"`
	Total   *int64      `json:"total,omitempty"`
	Bounded bool        `json:"bounded"`
	Stores  []storeFact `json:"stores"`
}

type hitFact struct {
	Ref     string      `json:"ref"`
	Store   string      `json:"store"`
	Tier    string      `json:"tier"`
	Title   string      `json:"title"`
	Snippet string      `json:"snippet"`
	Line    int         `json:"line"`
	Score   float64     `json:"score"`
	Origin  *originFact `json:"origin"`
}

type storeFact struct {
	Store string `json:"store"`
	Error string `json:"error,omitempty"`
}

const usualHits = 8

func recall(ctx context.Context, c *call, a recallArgs) (answer, error) {
	limit := usualHits
	if a.Limit != nil {
		limit = *a.Limit
	}
	if limit < 1 || limit > model.RecallLimit {
		return answer{}, model.Errorf(model.InvalidInput, "recall", "limit is 1 to %d", model.RecallLimit)
	}
	out, err := c.recall(ctx, a.Query, limit, a.Store, a.Tier)
	if err != nil {
		return answer{}, err
	}
	b := newBlock(maxText)
	for _, s := range out.Stores { // no hit is not the same as no answer
		if s.Error != "" {
			b.note("[not all searched: " + s.Store + ": " + s.Error + "]")
		}
	}
	refs := make([]model.Ref, 0, len(out.Hits))
	for _, h := range out.Hits {
		b.add(h.Ref, h.Tier, h.Origin.words(), h.Snippet, false)
		if ref, err := model.ParseRef(h.Ref); err == nil {
			refs = append(refs, ref)
		}
	}
	c.given("recall", refs...)
	return answer{out, b.String()}, nil
}

// recall asks the stores and leaves out withheld items.
func (c *call) recall(ctx context.Context, query string, limit int, store, tier string) (recalled, error) {
	out := recalled{Status: "ok", Hits: []hitFact{}, Stores: []storeFact{}}
	switch {
	case strings.TrimSpace(query) == "":
		return out, model.Errorf(model.InvalidInput, "recall", "the query is blank")
	case len(query) > maxQuery:
		return out, model.Errorf(model.InvalidInput, "recall", "the query has %d bytes; %d are the most", len(query), maxQuery)
	}
	var only []string
	if store != "" {
		if _, err := c.Fleet.Store(store); err != nil {
			return out, err
		}
		only = []string{store}
	}
	var answers []backends.Answer
	// As many as a store gives: what is withheld must not take the places of others.
	for ans := range c.Fleet.Recall(ctx, model.RecallRequest{Query: query, Limit: model.RecallLimit, Tier: tier}, only...) {
		answers = append(answers, ans)
	}
	slices.SortFunc(answers, func(a, b backends.Answer) int { return strings.Compare(a.Store, b.Store) })
	total, counted, answered, failed := int64(0), true, 0, error(nil)
	for _, ans := range answers {
		f := storeFact{Store: ans.Store}
		switch {
		case ans.Err != nil:
			f.Error, failed = message(ans.Err), cmp.Or(failed, ans.Err)
		case ans.Result.Total == model.TotalUnknown:
			counted = false
		default:
			total += ans.Result.Total
		}
		if ans.Err == nil {
			answered++
		}
		out.Bounded = out.Bounded || ans.Result.Bounded
		out.Stores = append(out.Stores, f)
	}
	if len(answers) > 0 && answered == 0 {
		return out, failed
	}
	if counted && failed == nil {
		out.Total = &total
	}
	for _, h := range backends.Fuse(answers) {
		if len(out.Hits) == limit {
			break
		}
		f, ok, err := c.hit(ctx, h)
		if ok {
			out.Hits = append(out.Hits, f)
		}
		if i := slices.IndexFunc(out.Stores, func(s storeFact) bool { return s.Store == h.Store }); err != nil && i >= 0 {
			out.Stores[i].Error = cmp.Or(out.Stores[i].Error, "a hit could not be read and is left out: "+message(err))
		}
	}
	return out, nil
}

// hit makes a hit's facts; false for a withheld one, and for one that could not be read: its store may block it.
func (c *call) hit(ctx context.Context, h backends.FusedHit) (hitFact, bool, error) {
	f := hitFact{Ref: model.Ref{Store: h.Store, ID: h.ID}.String(), Store: h.Store, Title: h.Source, Snippet: h.Snippet, Line: h.Line, Score: h.Score}
	if poisoned(h.Snippet) || poisoned(h.Source) {
		return f, false, nil
	}
	s, err := c.Fleet.Store(h.Store)
	if err != nil || s.Browser == nil || h.ID == "" { // all that can be judged is the snippet
		return f, !c.withheld(ctx, h.Store, model.Item{Header: model.Header{Title: h.Source}, Body: h.Snippet}), nil
	}
	it, err := s.Browser.Read(ctx, h.ID)
	switch {
	case model.KindOf(err) == model.NotFound, err == nil && c.withheld(ctx, h.Store, it):
		return f, false, nil
	case err != nil:
		return f, false, err
	}
	f.Tier, f.Title, f.Origin = it.Tier, it.Title, c.originOf(s, it)
	return f, true, nil
}

func poisoned(text string) bool {
	_, hit := quarantine.Scan(text)
	return hit
}

// withheld reports whether an item must not reach an agent: its store or the scanner rejects it, it waits for
// a decision, or the policy keeps back suspect texts.
func (c *call) withheld(ctx context.Context, store string, it model.Item) bool {
	return it.Has(model.FlagBlocked) || it.Has(model.FlagPending) || poisoned(it.ID) || poisoned(it.Title) || poisoned(it.Body) || poisoned(it.Tier) ||
		c.Suspect != nil && (c.Suspect(ctx, store, it.Tier, it.Body) || review.HasOwnTitle(it) && c.Suspect(ctx, store, it.Tier, it.Title))
}

type getArgs struct {
	Ref string `json:"ref"`
}

type got struct {
	Status    string         `json:"status"`
	Ref       string         `json:"ref"`
	Store     string         `json:"store"`
	Tier      string         `json:"tier"`
	Title     string         `json:"title"`
	Content   string         `json:"content"`
	Bytes     int64          `json:"bytes"`
	Revision  model.Revision `json:"revision"`
	Truncated bool           `json:"truncated"`
	Origin    *originFact    `json:"origin"`
}

func get(ctx context.Context, c *call, a getArgs) (answer, error) {
	s, ref, err := c.at(a.Ref)
	if err != nil {
		return answer{}, err
	}
	it, err := c.read(ctx, s, ref.ID)
	if err != nil {
		return answer{}, err
	}
	out := got{Status: "ok", Ref: ref.String(), Store: s.Name, Tier: it.Tier, Title: it.Title, Content: it.Body, Bytes: int64(len(it.Body)),
		Revision: it.Revision, Origin: c.originOf(s, it)}
	if len(out.Content) > maxGet {
		out.Content, out.Truncated = strings.ToValidUTF8(out.Content[:maxGet], ""), true
	}
	b := newBlock(maxText)
	b.add(out.Ref, out.Tier, out.Origin.words(), out.Content, false)
	c.given("get", ref)
	return answer{out, b.String()}, nil
}

// read reads an item for an agent: a withheld item does not exist.
func (c *call) read(ctx context.Context, s model.Store, id string) (model.Item, error) {
	if s.Browser == nil {
		return model.Item{}, model.Errorf(model.Unsupported, "get", "store %s cannot show its items", s.Name)
	}
	it, err := s.Browser.Read(ctx, id)
	if err == nil && (c.withheld(ctx, s.Name, it) || it.Has(model.FlagBinary)) {
		err = model.Errorf(model.NotFound, "get", "there is no item of this id")
	}
	return it, err
}

type listArgs struct {
	Store  string `json:"store"`
	Tier   string `json:"tier"`
	Cursor string `json:"cursor"`
}

type listed struct {
	Status string      `json:"status"`
	Items  []itemFact  `json:"items"`
	Next   string      `json:"next,omitempty"`
	Total  *int64      `json:"total,omitempty"`
	Stores []storeFact `json:"stores,omitempty"` // stores or tiers that could not be read
}

type itemFact struct {
	Ref      string      `json:"ref"`
	Store    string      `json:"store"`
	Tier     string      `json:"tier"`
	Title    string      `json:"title"`
	Bytes    int64       `json:"bytes"`
	Modified *time.Time  `json:"modified,omitempty"`
	Origin   *originFact `json:"origin"`
}

// list gives a page of one store after the other; the cursor is STORE:CURSOR.
func list(ctx context.Context, c *call, a listArgs) (answer, error) {
	names := c.storeNames()
	if a.Store != "" {
		names = []string{a.Store}
	}
	at, cursor := "", ""
	if a.Cursor != "" {
		var ok bool
		if at, cursor, ok = strings.Cut(a.Cursor, ":"); !ok || !slices.Contains(names, at) {
			return answer{}, model.Errorf(model.InvalidInput, "list", "this cursor is not of this list")
		}
	} else if len(names) > 0 {
		at = names[0]
	}
	out := listed{Status: "ok", Items: []itemFact{}}
	s, page, err := c.page(ctx, at, a.Tier, cursor)
	switch {
	case err != nil && (len(names) == 1 || cursor != ""):
		return answer{}, err
	case err != nil: // the other stores are still listed
		out.Stores = append(out.Stores, storeFact{at, message(err)})
	}
	for _, problem := range page.Problems {
		out.Stores = append(out.Stores, storeFact{at, plainLine(problem)})
	}
	b, room := strings.Builder{}, maxText-len(fenceBegin)-len(fenceEnd)-len(restLeftOut)-3
	b.WriteString(fenceBegin + "\n")
	for _, h := range page.Items {
		if h.Has(model.FlagBlocked) || h.Has(model.FlagPending) || poisoned(h.Title) || poisoned(h.ID) || poisoned(h.Tier) ||
			c.Suspect != nil && h.Title != "" && c.Suspect(ctx, s.Name, h.Tier, h.Title) {
			continue
		}
		f := itemFact{Ref: model.Ref{Store: s.Name, ID: h.ID}.String(), Store: s.Name, Tier: h.Tier, Title: h.Title, Bytes: h.Bytes}
		if !h.Modified.IsZero() {
			t := h.Modified.UTC()
			f.Modified = &t
		}
		if c.Ledger != nil {
			r, ok, _ := c.Ledger.Latest(s.Name, h.ID)
			switch {
			case ok && h.Revision == "" && h.Modified.After(r.At): // perhaps by another program
				if it, err := s.Browser.Read(ctx, h.ID); err == nil {
					f.Origin = c.originOf(s, it)
				}
			case ok && (h.Revision == "" || h.Revision == r.Revision):
				f.Origin = factOfOrigin(r)
			}
		}
		out.Items = append(out.Items, f)
		line := "> " + safetext.Sprintf("%s · tier %s · %s", f.Ref, f.Tier, f.Title).String() + "\n"
		if room -= len(line); room >= 0 {
			b.WriteString(line)
		}
	}
	if room < 0 {
		b.WriteString(restLeftOut + "\n")
	}
	b.WriteString(fenceEnd)
	for _, f := range out.Stores {
		b.WriteString("\n" + f.Store + ": " + f.Error)
	}
	switch {
	case len(names) > 1:
		if cursor == "" { // a count may read a whole store
			out.Total = c.total(ctx, a.Tier)
		}
	case err == nil && !page.Total.Unknown && !page.Total.AtLeast:
		out.Total = &page.Total.N
	}
	if i := slices.Index(names, at); page.Next != "" {
		out.Next = at + ":" + page.Next
	} else if i >= 0 && i+1 < len(names) {
		out.Next = names[i+1] + ":"
	}
	return answer{out, b.String()}, nil
}

// countWait bounds the wait for the counts of all stores: a slow one does not hold up a page of another.
const countWait = time.Second

// total is the number of items in all stores; nil where one of them does not count.
func (c *call) total(ctx context.Context, tier string) *int64 {
	ctx, cancel := context.WithTimeout(ctx, countWait)
	defer cancel()
	sum := int64(0)
	for _, ans := range c.Fleet.InOrder(ctx, c.Fleet.RecallBy(ctx, func(ctx context.Context, s model.Store) (out model.RecallResult, err error) {
		if _, ok := s.Tier(tier); tier != "" && !ok {
			return out, nil
		}
		if s.Browser == nil {
			return out, model.Unsupported
		}
		page, err := s.Browser.List(ctx, model.PageRequest{Tier: tier, Limit: 1})
		if out.Total = page.Total.N; err == nil && (page.Total.Unknown || page.Total.AtLeast) {
			err = model.Unsupported
		}
		return out, err
	})) {
		if ans.Err != nil {
			return nil
		}
		sum += ans.Result.Total
	}
	return &sum
}

func (c *call) page(ctx context.Context, store, tier, cursor string) (model.Store, model.Page, error) {
	s, err := c.Fleet.Store(store)
	if err != nil {
		return s, model.Page{}, err
	}
	if s.Browser == nil {
		return s, model.Page{}, model.Errorf(model.Unsupported, "list", "store %s cannot show its items", s.Name)
	}
	page, err := s.Browser.List(ctx, model.PageRequest{Tier: tier, Cursor: cursor, Limit: pageItems})
	return s, page, err
}

type healthy struct {
	Status   string       `json:"status"`
	Stores   []storeState `json:"stores"`
	Writable bool         `json:"writable"`
	Reason   string       `json:"reason,omitempty"`
}

type storeState struct {
	Store     string    `json:"store"`
	OK        bool      `json:"ok"`
	Message   string    `json:"message,omitempty"`
	LatencyMS float64   `json:"latency_ms"`
	CheckedAt time.Time `json:"checked_at"`
	Tiers     []string  `json:"tiers,omitempty"`
}

func health(ctx context.Context, c *call, _ struct{}) (answer, error) {
	c.Fleet.ReopenSoon(0)
	out := healthy{Status: "ok", Stores: []storeState{}, Reason: c.Unwritable()}
	out.Writable = out.Reason == ""
	var lines []string
	for r := range c.Fleet.Health(ctx) {
		st := storeState{Store: r.Store, OK: r.Status.OK, Message: plainLine(r.Status.Message),
			LatencyMS: float64(r.Latency.Microseconds()) / 1000, CheckedAt: r.Status.CheckedAt.UTC()}
		if s, err := c.Fleet.Store(r.Store); err == nil {
			st.Tiers = writableTiers(s)
		}
		out.Stores = append(out.Stores, st)
		word := "ok"
		if !st.OK {
			word = "down: " + st.Message
		}
		lines = append(lines, r.Store+": "+word)
	}
	slices.SortFunc(out.Stores, func(a, b storeState) int { return strings.Compare(a.Store, b.Store) })
	slices.Sort(lines)
	return answer{out, strings.Join(lines, "\n")}, nil
}

// declared are the tiers of every store, for memdesk's own client.
func (c *call) declared() mcp.Meta {
	out := object{}
	for _, m := range c.Fleet.Members() {
		if m.Err == nil {
			out[m.Name] = backends.MCPTiers(m.Store)
		}
	}
	return mcp.Meta{backends.MCPTiersMeta: out}
}

// Hook is one fenced block of at most limit bytes for a session hook: the hits of a query, or the newest
// items without a query (AD27). Empty when there is nothing; problems name the stores that did not answer.
func (d *Desk) Hook(ctx context.Context, query string, limit int, w origin.Writer) (block string, problems []string, err error) {
	c := &call{Desk: d, writer: w}
	b := newBlock(limit)
	var refs []model.Ref
	if strings.TrimSpace(query) == "" {
		refs, problems = c.newest(ctx, b)
	} else {
		out, rerr := c.recall(ctx, query, model.RecallLimit, "", "")
		if rerr != nil && len(out.Stores) == 0 {
			return "", nil, rerr
		}
		for _, s := range out.Stores {
			if s.Error != "" {
				problems = append(problems, s.Store+": "+s.Error)
			}
		}
		for _, h := range out.Hits {
			ref, perr := model.ParseRef(h.Ref)
			if perr == nil && b.add(h.Ref, h.Tier, h.Origin.words(), h.Snippet, true) {
				refs = append(refs, ref)
			}
		}
	}
	if b.left > 0 {
		problems = append(problems, fmt.Sprintf("left out, because they do not fit: %d", b.left))
	}
	if len(refs) == 0 {
		return "", problems, nil
	}
	c.given("hook", refs...)
	return b.String(), problems, nil
}

// newest puts the newest items of every store into the block.
func (c *call) newest(ctx context.Context, b *block) (refs []model.Ref, problems []string) {
	type head struct {
		model.Header
		ref model.Ref
	}
	var all []head
	for _, m := range c.Fleet.Members() {
		err, newest := m.Err, slices.Contains(m.Store.Orders, model.OrderNewest)
		var page model.Page
		if err == nil && m.Store.Browser != nil {
			req := model.PageRequest{Limit: model.RecallLimit}
			if newest {
				req.Order = model.OrderNewest
			}
			page, err = m.Store.Browser.List(ctx, req)
		}
		if err != nil {
			problems = append(problems, m.Name+": "+message(err))
			continue
		}
		for _, p := range page.Problems {
			problems = append(problems, m.Name+": "+plainLine(p))
		}
		if !newest && page.Next != "" {
			problems = append(problems, m.Name+": it does not list the newest items first: these are the first in its own order")
		}
		for _, h := range page.Items {
			all = append(all, head{h, model.Ref{Store: m.Name, ID: h.ID}})
		}
	}
	slices.SortStableFunc(all, func(a, b head) int { return b.Modified.Compare(a.Modified) })
	for _, h := range all {
		s, err := c.Fleet.Store(h.ref.Store)
		if err != nil {
			continue
		}
		it, err := c.read(ctx, s, h.ID)
		if err != nil && model.KindOf(err) != model.NotFound {
			problems = append(problems, plainLine(h.ref.String())+": "+message(err))
		}
		if err != nil || strings.TrimSpace(it.Body) == "" {
			continue
		}
		if b.add(h.ref.String(), it.Tier, c.originOf(s, it).words(), it.Body, true) {
			refs = append(refs, h.ref)
		}
	}
	return refs, problems
}
