package operator

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"memdesk/audit"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/quarantine"
	"memdesk/quarantine/review"
	"memdesk/quarantine/signal"
)

// Planted are the signals of a text that looks planted, none for any other.
func (s *Session) Planted(text string) []string {
	if s.Judge == nil {
		return []string{}
	}
	score := s.Judge.Words(text)
	if score.Sum < signal.Default || s.Judge.IsCleared(text) {
		return []string{}
	}
	return score.Names()
}

// Withheld keeps suspect texts from agents, nil where the configuration only labels them. A text that an
// operator has cleared passes.
func (s *Session) Withheld() func(ctx context.Context, store, tier, text string) bool {
	if s.Judge == nil || s.Config.Scanner.Recall != "withhold" {
		return nil
	}
	return func(ctx context.Context, store, tier, text string) bool {
		return s.Judge.Suspect(ctx, review.Write{Store: model.Store{Name: store}, Tier: tier, Text: text}).Waits
	}
}

// Steps are the thresholds that Calibration tries.
var Steps = [...]float64{3, 3.5, 4, signal.Default, 5, 6, 8}

// apart is the distance of the thresholds of instruction tiers and of trusted writers from the others.
const apart = 1.5

// TierScores are the scores of the items of one tier.
type TierScores struct {
	Store, Tier string
	Items       int64
	Flagged     [len(Steps)]int64 // by the thresholds of Steps
	writers     [len(Steps)]map[string]int64
}

// Most is the writer of most of the items that a step flags, empty when unknown.
func (c *TierScores) Most(step int) (writer string, n int64) {
	for _, w := range slices.Sorted(maps.Keys(c.writers[step])) {
		if c.writers[step][w] > n {
			writer, n = w, c.writers[step][w]
		}
	}
	return writer, n
}

// Calibration scores every item of a store, by tier in the store's order. Read errors are returned beside the
// scores of the rest.
func (s *Session) Calibration(ctx context.Context, store model.Store) ([]*TierScores, error) {
	if s.Judge == nil {
		return nil, statedir.ErrNoHome
	}
	tiers := map[string]*TierScores{}
	var problem error
	for e := range review.Items(ctx, store, s.Judge) {
		if e.Problem != "" {
			problem = model.Errorf(model.Internal, "calibrate", "%s", strings.TrimPrefix(e.ID+": "+e.Problem, ": "))
			continue
		}
		c := tiers[e.Tier]
		if c == nil {
			c = &TierScores{Store: store.Name, Tier: e.Tier}
			tiers[e.Tier] = c
		}
		c.Items++
		if s.Judge.IsCleared(e.Body) {
			continue
		}
		last, _, _ := s.Ledger.Latest(store.Name, e.ID) // else its writer is unknown
		for i, at := range Steps {
			if e.Score.Sum < at {
				continue
			}
			c.Flagged[i]++
			if last.Actor != "" {
				if c.writers[i] == nil {
					c.writers[i] = map[string]int64{}
				}
				c.writers[i][last.Actor]++
			}
		}
	}
	var out []*TierScores
	for _, t := range store.Tiers {
		if c := tiers[t.Name]; c != nil {
			out = append(out, c)
			delete(tiers, t.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tiers)) { // of tiers that came into the store after it was opened
		out = append(out, tiers[name])
	}
	return out, problem
}

// SetThreshold sets the score from which untrusted writes to the stores' tiers are held; tiers loaded as
// instructions get a lower one, trusted writers a higher one.
func (s *Session) SetThreshold(ctx context.Context, stores []model.Store, at float64) (tiers int, err error) {
	var bounds []review.Threshold
	for _, st := range stores {
		for _, t := range st.Tiers {
			b := review.Threshold{Store: st.Name, Tier: t.Name, Untrusted: at, Trusted: at + apart}
			if origin.Instructs(t.Name) {
				b.Untrusted, b.Trusted = max(0.5, at-apart), at
			}
			bounds = append(bounds, b)
		}
	}
	return len(bounds), s.decide(ctx, Calibrate, "", func() error { return s.Judge.Set(bounds...) })
}

// decide records a decision about the desk itself before and after it is kept.
func (s *Session) decide(ctx context.Context, act Act, reason string, keep func() error) error {
	if err := s.Allow(ctx, act, "", ""); err != nil {
		return err
	}
	return s.Log.Act(audit.WithReason(ctx, reason), audit.Entry{Action: string(act)},
		func(context.Context) (map[string]int64, error) { return nil, keep() })
}

// Flagged reports whether an item is shown for review: it reaches its tier's threshold, or the default
// without calibration, and was not cleared.
func (s *Session) Flagged(e review.Suspect) bool {
	bound, ok := s.Judge.Threshold(e.Store, e.Tier, false)
	if !ok {
		bound = signal.Default
	}
	return e.Score.Sum >= bound && len(e.Score.Signals) > 0 && !s.Judge.IsCleared(e.Body)
}

// Stories are the blocked and the suspect items of the open stores, grouped. Read errors go to note.
func (s *Session) Stories(ctx context.Context, note func(model.Ref, error)) []review.Story {
	return review.Stories(s.suspects(ctx, note))
}

// suspects are the blocked entries and the flagged items of every open store.
func (s *Session) suspects(ctx context.Context, note func(model.Ref, error)) []review.Part {
	if s.Judge == nil {
		note(model.Ref{}, statedir.ErrNoHome)
		return nil
	}
	if err := s.Judge.Problem(); err != nil {
		note(model.Ref{}, err)
	}
	given := map[model.Ref]int{}
	if err := s.Trace.All(func(r origin.Recall) { given[model.Ref{Store: r.Store, ID: r.ID}]++ }); err != nil {
		note(model.Ref{}, err)
	}
	var out []review.Part
	blocked := s.Quarantine()
	add := func(p review.Part, w *origin.Written) {
		if w != nil {
			p.Source = s.sourceOf(w)
			if p.Session = w.Session; p.At.IsZero() || w.Kept == origin.InLedger {
				p.At = w.At
			}
		}
		p.Recalled = given[model.Ref{Store: p.Store, ID: p.ID}]
		out = append(out, p)
	}
	for _, m := range s.Fleet.Members() {
		if m.Err != nil {
			note(model.Ref{Store: m.Name}, m.Err)
			continue
		}
		seen := map[string]bool{}
		for e, err := range review.List(ctx, m.Store) {
			if err != nil {
				note(model.Ref{Store: m.Name}, err)
				break
			}
			if e.ID == "" {
				continue // of what the store could not list; Items says so too
			}
			p := review.Part{Store: m.Name, ID: e.ID, Name: e.Source, At: e.At, Category: e.Category, Cause: e.Pattern, Signals: []string{e.Pattern}, Old: e.Live == review.Clean || e.Live == review.Gone}
			if full, err := review.Read(ctx, m.Store, e.ID); err == nil {
				p.Body = full.Body
			}
			if e.Category == review.CategorySignals {
				score := s.HeldScore(e.ID, p.Body)
				p.Signals, p.Found, p.Sum = score.Names(), score.Signals, score.Sum
			}
			seen[e.ID], seen[e.SourceID] = true, true
			add(p, blocked.writer(ctx, m.Store, e))
		}
		for e := range review.Items(ctx, m.Store, s.Judge) {
			switch {
			case e.Problem != "":
				note(model.Ref{Store: m.Name, ID: e.ID}, model.Errorf(model.Internal, "quarantine", "%s", e.Problem))
			case !seen[e.ID] && s.Flagged(e):
				add(review.Part{Store: m.Name, ID: e.ID, At: e.Modified, Category: review.CategorySignals, Cause: e.Score.Heaviest(),
					Signals: e.Score.Names(), Found: e.Score.Signals, Sum: e.Score.Sum, Body: e.Body}, s.WriterOfItem(m.Store, e.Item))
			}
		}
	}
	return out
}

// sourceOf is the name under which a writer's writes can be taken back without those of others: the actor,
// and for an agent that runs as this operator its client or claimed source, since the operator's own writes
// have the same actor. Empty when unknown.
func (s *Session) sourceOf(w *origin.Written) string {
	switch {
	case w.Actor == origin.Unknown:
		return ""
	case w.Actor != s.Who.ID || w.Trust == origin.Trusted || w.Kept != origin.InLedger:
		return w.Actor
	case w.Client != "" && w.Client != "memdesk":
		return w.Client
	case w.Detail != "" || w.Channel != origin.Unknown:
		return w.Source()
	}
	return cmp.Or(w.Session, w.Actor)
}

// HeldScore is the score of a held text: the recorded score of the hold, else that of its words alone.
func (s *Session) HeldScore(id, text string) signal.Score {
	if h, err := s.Shelf.Get(id); err == nil && len(h.Signals) > 0 {
		out := signal.Score{}
		for _, g := range h.Signals {
			out.Add(g)
		}
		return out
	}
	return s.Judge.Words(text)
}

// Family lists the texts that Clear would mark: those of the given items and of every suspect that is alike;
// alike counts those suspects.
func (s *Session) Family(ctx context.Context, refs []model.Ref, note func(model.Ref, error)) (texts []string, alike int, err error) {
	if s.Judge == nil {
		return nil, 0, statedir.ErrNoHome
	}
	for _, ref := range refs {
		st, err := s.Fleet.Store(ref.Store)
		if err != nil {
			return nil, 0, err
		}
		if review.HeldID(ref.ID) { // a held text is no item yet
			h, err := s.Shelf.Get(ref.ID)
			switch {
			case err != nil:
				return nil, 0, err
			case h.Category != review.CategorySignals:
				return nil, 0, model.Errorf(model.InvalidInput, "quarantine", "%s is held for %s / %s, which no mark lets in: release or delete it", ref, h.Category, h.Pattern)
			}
			texts = append(texts, h.Request.Content)
			continue
		}
		if st.Browser == nil {
			return nil, 0, model.Errorf(model.Unsupported, "quarantine", "store %s shows no items", st.Name)
		}
		it, err := st.Browser.Read(ctx, ref.ID)
		if err != nil {
			return nil, 0, err
		}
		texts = append(texts, it.Body)
	}
	var given []signal.Bag
	for _, t := range texts {
		given = append(given, signal.BagOf(t))
	}
	for _, p := range s.suspects(ctx, note) {
		if p.Category == review.CategorySignals && !slices.Contains(texts, p.Body) && slices.ContainsFunc(given, signal.BagOf(p.Body).Alike) {
			texts = append(texts, p.Body)
			alike++
		}
	}
	return texts, alike, nil
}

// ClearTexts marks texts as harmless until the rules change. It releases nothing that a store's own scanner
// blocks.
func (s *Session) ClearTexts(ctx context.Context, texts []string, reason string) error {
	return s.decide(ctx, Clear, reason, func() error { return s.Judge.Clear(s.Clock.Now(), texts...) })
}

// Change is an item whose judgement has changed since the last kept scan.
type Change struct {
	review.Suspect
	Now bool // flagged now, and not then
}

// Difference compares today's rules with the last kept scan. flagged are the texts that today's rules flag,
// for KeepScan.
func (s *Session) Difference(ctx context.Context, note func(model.Ref, error)) (changes []Change, flagged []string, last review.Scan, err error) {
	if s.Judge == nil {
		return nil, nil, last, statedir.ErrNoHome
	}
	if last, err = s.Judge.LastScan(); err != nil {
		return nil, nil, last, errors.Join(model.Errorf(model.Internal, "quarantine", "the last scan cannot be read"), err)
	}
	then := map[string]bool{}
	for _, sum := range last.Flagged {
		then[sum] = true
	}
	for _, m := range s.Fleet.Members() {
		if m.Err != nil {
			note(model.Ref{Store: m.Name}, m.Err)
			continue
		}
		for e := range review.Items(ctx, m.Store, s.Judge) {
			if e.Problem != "" {
				note(model.Ref{Store: m.Name, ID: e.ID}, model.Errorf(model.Internal, "quarantine", "%s", e.Problem))
				continue
			}
			now, was := s.Flagged(e), then[quarantine.Sum(e.Body)]
			if now {
				flagged = append(flagged, e.Body)
			}
			if now != was {
				changes = append(changes, Change{e, now})
			}
		}
	}
	return changes, flagged, last, nil
}

// KeepScan keeps the flagged texts as the last scan.
func (s *Session) KeepScan(ctx context.Context, flagged []string) error {
	return s.decide(ctx, Rescan, "", func() error { return s.Judge.KeepScan(s.Clock.Now(), flagged...) })
}
