package undo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/internal/recalled"
	"memdesk/model"
	"memdesk/quarantine"
)

// look reads the text that a change would displace. Until the change is confirmed the entry's After is the
// revision that was read, Absent for no item.
func (k *Keeper) look(ctx context.Context, s model.Store, id string, op model.Op) (Entry, string, error) {
	e := Entry{Side: Side{Item: id, Op: op, After: model.Absent}}
	it, err := s.Browser.Read(ctx, id)
	switch {
	case err == nil:
		e.Existed, e.After, e.Meta, e.Obstacle = true, it.Revision, it.Meta, k.obstacle(s, it, e.Op)
		if op == model.OpForget {
			if t, ok := s.Tier(it.Tier); ok {
				e.Renewed = t.Renewed(it.Meta)
			}
			if err := k.relations(ctx, s, it, &e); err != nil {
				return Entry{}, "", err
			}
		}
		if e.Beside, err = beside(ctx, s, id, op); err != nil {
			return Entry{}, "", err
		}
		if e.Beside != nil {
			e.keepSeats()
		}
		return e, it.Body, nil
	case s.Quarantine != nil && op == model.OpForget:
		q, qerr := s.Quarantine.ReadQuarantined(ctx, id)
		switch {
		case qerr == nil:
			e.Existed, e.Obstacle = true, "only the store's own scanner files entries in its quarantine"
			return e, q.Body, nil
		case !errors.Is(qerr, model.NotFound) && !errors.Is(qerr, model.InvalidInput):
			return Entry{}, "", qerr
		}
	}
	if errors.Is(err, model.NotFound) || errors.Is(err, model.InvalidInput) { // the store reports it itself, under the log
		if b, err := beside(ctx, s, id, model.OpRetain); err == nil && b != nil && len(b.Lines) > 0 { // a line that led nowhere
			e.Beside = b
		}
		return e, "", nil
	}
	return Entry{}, "", err
}

// keepSeats keeps an item's places in the relations that stay, and counts those that the store did not name: it
// names a bounded number. A fallen relation is made again with all its members.
func (e *Entry) keepSeats() {
	named, falls, staying := len(e.Beside.Seats) > 0, map[string]bool{}, map[string]bool{}
	for _, id := range e.Falls {
		falls[id] = true
	}
	e.Beside.Seats = slices.DeleteFunc(e.Beside.Seats, func(seat model.Seat) bool {
		if e.Op != model.OpForget || falls[seat.Relation] {
			return true
		}
		staying[seat.Relation] = true
		return false
	})
	if named && e.Counted {
		e.Unseated = max(e.PartsTotal-int64(len(falls)+len(staying)), 0)
	}
}

// maxFalls is how many falling relations are kept with an item. The preview reports more.
const maxFalls = 10_000

// relations reads what may fall with an item: all that the store reports, else the relations that the item
// shows.
func (k *Keeper) relations(ctx context.Context, s model.Store, it model.Item, e *Entry) error {
	var ids []string
	shown := map[string]bool{}
	for _, l := range it.Links {
		if l.ID != "" && !shown[l.ID] { // empty: a member of an edge, which stays when the edge goes
			shown[l.ID], ids = true, append(ids, l.ID)
		}
	}
	more := max(it.LinksTotal-int64(len(it.Links)), 0) // not shown
	if s.Falls != nil {
		falls, err := s.Falls(ctx, []string{it.ID})
		if err != nil {
			return err
		}
		e.Counted = true
		for i, f := range falls {
			if e.Falls = append(e.Falls, f.ID); i < maxFalls && !shown[f.ID] {
				ids, more = append(ids, f.ID), more-1
			}
		}
	}
	for _, id := range ids {
		p, why, err := k.part(ctx, s, id)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if why != "" && (!e.Counted || slices.Contains(e.Falls, p.Item)) {
			e.lost = append(e.lost, p.Item+": "+why)
		}
		e.Parts = append(e.Parts, p)
	}
	if len(e.Parts) > 0 {
		e.PartsTotal = int64(len(e.Parts)) + max(more, 0)
	}
	return nil
}

// part reads a relation that may fall, and why it could not be retained again.
func (k *Keeper) part(ctx context.Context, s model.Store, id string) (p Part, why string, err error) {
	rel, err := s.Browser.Read(ctx, id)
	if err != nil {
		return p, "", err
	}
	p = Part{Item: rel.ID, Meta: rel.Meta, Body: rel.Body}
	p.Beside, err = beside(ctx, s, id, model.OpForget)
	return p, k.obstacle(s, rel, model.OpForget), err
}

// beside reads the data beside an item's document, and the rows that a forget removes; nil where the document
// is everything.
func beside(ctx context.Context, s model.Store, id string, op model.Op) (*model.Beside, error) {
	var b model.Beside
	var err error
	keeps := s.Keep != nil && op == model.OpForget
	if s.Beside == nil && !keeps {
		return nil, nil
	}
	if s.Beside != nil {
		b, err = s.Beside(ctx, id)
	}
	if keeps && err == nil {
		b.Rows, err = s.Keep(ctx, id)
	}
	switch {
	case errors.Is(err, model.NotFound): // removed meanwhile: the act itself will report it
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &b, nil
}

// obstacle says why a text that an act displaced could not be retained again.
func (k *Keeper) obstacle(s model.Store, it model.Item, op model.Op) string {
	t, declared := s.Tier(it.Tier)
	switch {
	case it.Body == "" && t.Document != model.Structured && !s.Features[FeatureBinary]:
		return "it is empty, and an empty text cannot be written"
	case declared && t.Restores && op == model.OpForget: // the store takes back what was there, in its bytes
	case !utf8.ValidString(it.Body) && !s.Features[FeatureBinary]:
		return "it is not UTF-8 text, and only text can be written"
	case declared && t.Restores && !t.Sealed:
	case declared && !t.Writable || it.Has(model.FlagReadOnly):
		return "only its own writer may fill this tier"
	case declared && t.OwnerMakes && op == model.OpForget:
		return "only the program that owns the store makes such an item"
	case declared && t.HardCap() > 0 && size(it.Body, t.CapUnit) > t.Cap:
		return "it is over the cap of its tier"
	}
	if v, hit := blocked(s, it); hit {
		return "the scanner blocks it (" + v.Category + ")"
	}
	if k.judge == nil {
		return ""
	}
	return k.judge(model.RetainRequest{ID: it.ID, Content: it.Body, Meta: it.Meta})
}

// blocked is the scanner's verdict on all that a store scans of a new item: its fields too.
func blocked(s model.Store, it model.Item) (quarantine.Verdict, bool) {
	scan := quarantine.RulesOf(s.Scanner).Scan
	if v, hit := scan(it.Body); hit {
		return v, true
	}
	for _, f := range it.Meta {
		if v, hit := scan(f.Value); hit && !f.ReadOnly {
			return v, true
		}
	}
	return quarantine.Verdict{}, false
}

func size(body string, unit model.CapUnit) int64 {
	if unit == model.CapChars {
		return int64(utf8.RuneCountInString(body))
	}
	return int64(len(body))
}

// Preview says what else forgetting an item would do; empty for an ordinary item that can be restored.
func (k *Keeper) Preview(ctx context.Context, s model.Store, id string) (warnings []string, err error) {
	if recalled.Only(s) {
		if _, err := recalled.Read(ctx, s, id); err == nil {
			return []string{"undo cannot put it back: " + recalled.Obstacle}, nil
		}
	}
	if s.Browser == nil {
		return []string{"it cannot be undone: this store does not show the item, so nothing is kept for undo"}, nil
	}
	e, _, err := k.look(ctx, s, id, model.OpForget)
	if err != nil {
		return nil, err
	}
	if e.Obstacle != "" {
		warnings = append(warnings, "undo cannot put it back: "+e.Obstacle)
	}
	if e.Obstacle == "" && len(e.Renewed) > 0 {
		warnings = append(warnings, "undo puts it back without its "+strings.Join(e.Renewed, ", ")+": the store makes these anew")
	}
	if s.Work != nil && s.Beside == nil && e.Existed && e.Obstacle == "" {
		pairs, err := s.Work.Dependencies(ctx, id)
		if err != nil && !errors.Is(err, model.NotFound) { // a memory is no work item
			return nil, err
		}
		waiting := slices.DeleteFunc(pairs, func(d model.Dependency) bool { return d.Blocker != id })
		if n := int64(len(waiting)); n > 0 {
			warnings = append(warnings, fmt.Sprintf("%d %s; undo does not make them wait again", n, verb(n, "work item waits for it and then does not", "work items wait for it and then do not")))
		}
	}
	switch heir, err := heir(ctx, s, id); {
	case err != nil:
		return nil, err
	case heir != "":
		warnings = append(warnings, fmt.Sprintf("%q has the same id and stands in its place then: undo cannot put this one back before that one goes. To keep one of the two, resolve their conflict", heir))
	}
	return append(warnings, e.ofRelations()...), nil
}

// heir is the work item that takes over the id of a forgotten one: the next line with that id in a file; empty where none is.
func heir(ctx context.Context, s model.Store, id string) (string, error) {
	if s.Work == nil || s.Conflicts == nil {
		return "", nil
	}
	found, err := s.Conflicts.StoreConflicts(ctx)
	if err != nil {
		return "", err
	}
	first := id
	for _, c := range found {
		switch {
		case c.CopyID == id:
			first = c.BaseID
		case c.BaseID == first && c.CopyID != first:
			return c.CopyID, nil
		}
	}
	return "", nil
}

// ofRelations says what forgetting an item does to its relations.
func (e Entry) ofRelations() (warnings []string) {
	if e.PartsTotal == 0 {
		return nil
	}
	if !e.Counted {
		return []string{"its relations lose a member, and those left with fewer than two members go with it"}
	}
	n := len(e.Falls)
	left := e.PartsTotal - int64(n)
	lost := left
	if n > 0 && e.Obstacle != "" {
		warnings = append(warnings, FallWords(e.Falls)+"; undo puts none of them back")
	}
	if e.Obstacle == "" {
		if n > 0 {
			warnings = append(warnings, FallWords(e.Falls)+"; undo puts them back with it")
		}
		for _, what := range e.lost {
			warnings = append(warnings, "of those undo cannot put back "+what)
		}
		if n > maxFalls {
			warnings = append(warnings, fmt.Sprintf("of those undo keeps %d", maxFalls))
		}
		if e.Beside != nil {
			lost = min(e.Unseated, left)
		}
	}
	loses := func(n int64, then string) {
		if n > 0 {
			warnings = append(warnings, fmt.Sprintf("%d %s; undo %s it again", n, verb(n, "relation loses it as a member and stays", "relations lose it as a member and stay"), then))
		}
	}
	loses(left-lost, "adds")
	loses(lost, "cannot add")
	return warnings
}

// FallNoun is the word for items that go because others do: relation where all are relations, else item.
func FallNoun(ids []string) string {
	if slices.ContainsFunc(ids, func(id string) bool { return !strings.HasPrefix(id, "edge/") }) {
		return "item"
	}
	return "relation"
}

// FallWords says which items go because others do: how many, and the first of them.
func FallWords(ids []string) string {
	const named = 3
	out := fmt.Sprintf("%d %s with it, left with fewer than two members: ", len(ids), verb(int64(len(ids)), "relation goes", "relations go"))
	if FallNoun(ids) == "item" {
		out = fmt.Sprintf("%d %s with it: ", len(ids), verb(int64(len(ids)), "item goes", "items go"))
	}
	out += strings.Join(ids[:min(len(ids), named)], ", ")
	if more := len(ids) - named; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
