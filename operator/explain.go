package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"memdesk/audit"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/quarantine/review"
)

// Verdict says what one rule does to one item of a recall.
type Verdict string

// The verdicts; unknown is not "passes".
const (
	Passes   Verdict = "passes"
	KeepsOut Verdict = "keeps_out"
	NotKnown Verdict = "unknown"
)

// RecallCheck is one rule that decides whether a recall returns an item.
type RecallCheck struct {
	Rule    string // rank, item, held, log, quarantine, state, tier, scope, words, index, limit
	Verdict Verdict
	Why     string // in words; holds text of the store
}

// Explanation says why a recall returned an item, or did not.
type Explanation struct {
	Hit    *model.RecallSnippet // nil: it is no hit
	Rank   int                  // 1-based, among the store's hits
	Gone   bool                 // the store has no such item
	Answer model.RecallResult   // the explained recall
	Checks []RecallCheck
}

func (e *Explanation) add(rule string, v Verdict, format string, args ...any) {
	e.Checks = append(e.Checks, RecallCheck{rule, v, fmt.Sprintf(format, args...)})
}

// kept reports whether a rule keeps the item out.
func (e *Explanation) kept() bool {
	return slices.ContainsFunc(e.Checks, func(c RecallCheck) bool { return c.Verdict == KeepsOut })
}

// Explain runs a recall and says why it returned an item or not. It asks the store again, word by word, to
// see how the index takes the query; the store is not told that no agent asks. An error is the recall's own,
// or that of reading the item.
func (s *Session) Explain(ctx context.Context, store model.Store, id string, req model.RecallRequest) (Explanation, error) {
	var e Explanation
	var err error
	if e.Answer, err = store.Provider.Recall(ctx, req); err != nil {
		return e, err
	}
	p := prober{store: store, id: id, req: req}
	if i := place(e.Answer, id); i >= 0 {
		e.Hit, e.Rank = &e.Answer.Hits[i], i+1
		e.add("rank", Passes, "number %d of %s, score %.2f in this store", e.Rank, plural(int64(len(e.Answer.Hits)), "hit"), e.Hit.Score)
	}
	it, err := readFor(ctx, store, id)
	switch {
	case errors.Is(err, model.Unsupported) && e.Hit != nil:
		return e, nil // a hit whose item cannot be read
	case errors.Is(err, model.Unsupported):
		e.add("item", NotKnown, "store %s shows items by recall alone: what is not a hit cannot be looked at", store.Name)
		return e, nil
	case errors.Is(err, model.NotFound):
		e.Gone = true
		e.add("item", KeepsOut, "store %s has no such item", store.Name)
		return e, s.whereabouts(ctx, store, id, &e)
	case err != nil:
		return e, err
	}
	if e.Hit != nil {
		e.add("words", Passes, "%s", wordsIn(it, req.Query))
		return e, nil
	}
	if own := p.reached(ctx, it, func(*model.RecallRequest) {}); own != "" {
		e.add("item", Passes, "a search can find it: %q finds it", own)
	} else {
		s.explainItem(ctx, store, it, &e)
		p.scope(ctx, it, &e)
	}
	if e.kept() {
		return e, nil
	}
	return e, p.words(ctx, it, &e)
}

func readFor(ctx context.Context, s model.Store, id string) (model.Item, error) {
	if s.Browser == nil {
		return model.Item{}, model.Errorf(model.Unsupported, "read", "store %s cannot show its items", s.Name)
	}
	return s.Browser.Read(ctx, id)
}

// place is the rank of an item among hits; -1 where it is none.
func place(res model.RecallResult, id string) int {
	return slices.IndexFunc(res.Hits, func(h model.RecallSnippet) bool { return h.ID == id })
}

// whereabouts lists memdesk's traces of an item that is not in its store: a held or refused write of it, a
// quarantine entry made from it, the last record of it.
func (s *Session) whereabouts(ctx context.Context, store model.Store, id string, e *Explanation) error {
	if s.Shelf != nil {
		held, _, err := s.Shelf.List(store.Name)
		if err != nil {
			return err
		}
		for _, h := range held {
			at := h.Request.ID
			if at == "" && store.Address != nil {
				at, _ = store.Address(h.Request) // an invalid address is another item's
			}
			if at == id {
				e.add("held", KeepsOut, "a write of it waits for an operator: %s, %s; see memdesk quarantine show %s", h.Category, h.Pattern, safetext.Word(model.Ref{Store: store.Name, ID: h.ID}.String()))
			}
		}
	}
	if store.Quarantine != nil {
		filed, err := store.Quarantine.Quarantined(ctx)
		if err != nil {
			e.add("quarantine", NotKnown, "the quarantine could not be read: %v", err)
		}
		for _, q := range filed {
			if q.SourceID == id {
				e.add("quarantine", KeepsOut, "the store's scanner set it aside: %s, %s; see memdesk quarantine show %s", q.Category, q.Pattern, safetext.Word(model.Ref{Store: store.Name, ID: q.ID}.String()))
			}
		}
	}
	if s.Log == nil {
		return nil
	}
	if err := s.May(ReadLog); err != nil {
		e.add("log", NotKnown, "the log was not asked for it: %v", err)
		return nil
	}
	page, err := s.Log.List(ctx, audit.Filter{Store: store.Name, Target: model.Ref{Store: store.Name, ID: id}.String(), Phase: audit.PhaseOutcome}, 1, "")
	if err != nil {
		return err
	}
	if len(page.Rows) == 0 && page.Unsearched > 0 {
		e.add("log", NotKnown, "%s", Unsearched(page.Unsearched))
	}
	for _, r := range page.Rows {
		verdict := Passes
		if r.Result == audit.Refused || r.Action == string(Forget) || r.Action == string(Erase) {
			verdict = KeepsOut
		}
		e.add("log", verdict, "the last record of it: %s %s, %s, by %s%s", when(r.TS), r.Action, r.Result, r.Actor, because(r))
	}
	return nil
}

func because(r audit.Row) string {
	if why := cmp.Or(r.Reason, r.Class); why != "" {
		return ": " + why
	}
	return ""
}

// explainItem checks rules that keep the item out of every recall, whatever the words.
func (s *Session) explainItem(ctx context.Context, store model.Store, it model.Item, e *Explanation) {
	entry, err := review.Read(ctx, store, it.ID)
	switch {
	case err == nil:
		e.add("quarantine", KeepsOut, "the scanner rejects it: %s, %s, line %d", entry.Category, entry.Pattern, entry.Line)
	case it.Has(model.FlagBlocked):
		e.add("quarantine", KeepsOut, "the store marks it as blocked")
	case errors.Is(err, model.NotFound):
		e.add("quarantine", Passes, "the scanner finds nothing in it")
	default:
		e.add("quarantine", NotKnown, "not scanned: %v", err)
	}
	if withheld := s.Withheld(); withheld != nil && withheld(ctx, store.Name, it.Tier, it.Body) {
		e.add("signals", NotKnown, "it looks planted: memdesk's own doors withhold it from agents")
	}
	for _, f := range it.Flags {
		if why := outOfRecall[f]; why != "" {
			e.add("state", KeepsOut, "%s", why)
		}
	}
}

// outOfRecall are the states in which stores leave an item out.
var outOfRecall = map[model.Flag]string{
	model.FlagArchived:    "it is archived",
	model.FlagExpired:     "it has expired",
	model.FlagPending:     "it waits for somebody's approval",
	model.FlagBookkeeping: "it is the agent's bookkeeping",
	model.FlagBinary:      "it is no text",
	model.FlagUnreadable:  "the store cannot read it",
}

// prober asks the store again, in other words.
type prober struct {
	store model.Store
	id    string
	req   model.RecallRequest
}

// finds reports whether a recall with the same limits returns the item.
func (p prober) finds(ctx context.Context, change func(*model.RecallRequest)) (found bool, res model.RecallResult, err error) {
	req := p.req
	req.Limit = model.RecallLimit
	change(&req)
	res, err = p.store.Provider.Recall(ctx, req)
	return err == nil && place(res, p.id) >= 0, res, err
}

// reached is a word of the item by which a recall returns it; empty where none does.
func (p prober) reached(ctx context.Context, it model.Item, change func(*model.RecallRequest)) string {
	for _, own := range ownWords(it) {
		found, _, _ := p.finds(ctx, func(r *model.RecallRequest) { r.Query = own; change(r) }) // an error leads to nothing
		if found {
			return own
		}
	}
	return ""
}

// scope checks the tier and the agent of the query.
func (p prober) scope(ctx context.Context, it model.Item, e *Explanation) {
	switch {
	case p.req.Tier != "" && p.req.Tier != it.Tier:
		e.add("tier", KeepsOut, "it is in tier %s, only %s was searched", it.Tier, p.req.Tier)
		return
	case p.req.Tier == "" && p.reached(ctx, it, func(r *model.RecallRequest) { r.Tier = it.Tier }) != "":
		e.add("tier", KeepsOut, "recall without a tier leaves it out: name it with --tier %s", it.Tier)
	}
	if p.req.AgentID == "" && p.req.CrewID == "" && p.req.WorkspaceID == "" {
		return
	}
	if p.reached(ctx, it, func(r *model.RecallRequest) { r.AgentID, r.CrewID, r.WorkspaceID = "", "", "" }) != "" {
		e.add("scope", KeepsOut, "it is outside the scope that was asked for: leave out --agent, --crew or --workspace")
	}
}

// words checks how the store takes the query: which words the item has, which of them find it, and whether
// other items rank before it.
func (p prober) words(ctx context.Context, it model.Item, e *Explanation) error {
	words := queryWords(p.req.Query)
	has, leads, cut := 0, 0, false
	for _, w := range words {
		if err := model.FromContext(ctx, "recall"); err != nil {
			return err
		}
		in := holds(it, w)
		found, res, err := p.finds(ctx, func(r *model.RecallRequest) { r.Query = w })
		more := limited(res)
		switch {
		case err != nil:
			e.add("words", NotKnown, "%q: the store does not take it alone: %v", w, err)
		case found:
			leads++
			e.add("words", Passes, "%q finds it", w)
		case !in:
			e.add("words", KeepsOut, "%q is not in it", w)
		case more:
			cut = true
			e.add("words", NotKnown, "%q is in it; of %s it is not among the first %d", w, matches(res), len(res.Hits))
		default:
			e.add("index", KeepsOut, "%q is in it and does not find it: the store cuts texts into words another way, or its index is older than the text", w)
		}
		if in {
			has++
		}
	}
	switch {
	case e.kept():
	case limited(e.Answer) || cut:
		p.limit(ctx, it, e)
	case leads == len(words) && len(words) > 1:
		e.add("words", KeepsOut, "each word finds it, all of them together do not: the store wants them closer together, in one line or as they were typed")
	default:
		e.add("index", NotKnown, "nothing that memdesk can see keeps it out")
	}
	return nil
}

// limit repeats the query with the item's own words: if that returns the item, the item matches and others
// rank before it.
func (p prober) limit(ctx context.Context, it model.Item, e *Explanation) {
	for _, own := range ownWords(it) {
		if found, _, _ := p.finds(ctx, func(r *model.RecallRequest) { r.Query += " " + own }); found {
			e.add("limit", KeepsOut, "it matches and others rank before it: %s, %d were given; with the word %q it is a hit", matches(e.Answer), len(e.Answer.Hits), own)
			return
		}
	}
	why := e.Answer.BoundNote
	if why == "" {
		why = matches(e.Answer)
	}
	e.add("limit", NotKnown, "only %s given: %s", plural(int64(len(e.Answer.Hits)), "hit"), why)
}

// limited reports whether some matches may be no hits.
func limited(res model.RecallResult) bool {
	return res.Bounded || res.Total > int64(len(res.Hits)) || res.Total == model.TotalUnknown && len(res.Hits) > 0
}

// matches says how many items matched a recall.
func matches(res model.RecallResult) string {
	if res.Total == model.TotalUnknown {
		return "an unknown number of matching items"
	}
	return plural(res.Total, "matching item")
}

// wordsIn says which words of a query an item holds.
func wordsIn(it model.Item, query string) string {
	var in, not []string
	for _, w := range queryWords(query) {
		if holds(it, w) {
			in = append(in, w)
		} else {
			not = append(not, w)
		}
	}
	switch {
	case len(in) == 0:
		return "it holds none of the words: the store found it by meaning or by another form of them"
	case len(not) > 0:
		return "it holds " + strings.Join(in, ", ") + "; not " + strings.Join(not, ", ")
	}
	return "it holds " + strings.Join(in, ", ")
}

// holds reports whether an item's text, title, id or fields contain a word, case-insensitive.
func holds(it model.Item, word string) bool {
	all := []string{it.Body, it.Title, it.ID}
	for _, f := range it.Meta {
		all = append(all, f.Value)
	}
	word = strings.ToLower(word)
	return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(strings.ToLower(s), word) })
}

// queryWords are the distinct words of a query, without the marks around them.
func queryWords(query string) (out []string) {
	for _, w := range strings.Fields(query) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
		if w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// ownWords are some long words that set an item apart.
func ownWords(it model.Item) []string {
	const enough = 8
	out := queryWords(strings.ToValidUTF8(it.Title+" "+it.Body[:min(len(it.Body), 2000)], " "))
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out[:min(len(out), enough)]
}
