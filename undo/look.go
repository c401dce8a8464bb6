package undo

import (
	"context"
	"errors"
	"unicode/utf8"

	"memdesk/model"
	"memdesk/quarantine"
)

// look reads what a change would displace. Until the change is confirmed the
// entry's After holds the revision that was read, Absent for no item.
func (k *Keeper) look(ctx context.Context, s model.Store, id string, op model.Op) (Entry, string, error) {
	e := Entry{Item: id, Op: op, After: model.Absent}
	it, err := s.Browser.Read(ctx, id)
	switch {
	case err == nil:
		e.Existed, e.After, e.Meta, e.Obstacle = true, it.Revision, it.Meta, obstacle(s, it)
		if op == model.OpForget {
			if e.Parts, err = parts(ctx, s, it); err != nil {
				return Entry{}, "", err
			}
			if e.PartsTotal = int64(len(e.Parts)); e.PartsTotal > 0 { // and those beyond the ones shown
				e.PartsTotal += max(it.LinksTotal-int64(len(it.Links)), 0)
			}
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
	if errors.Is(err, model.NotFound) || errors.Is(err, model.InvalidInput) { // the store says so itself, under the log
		return e, "", nil
	}
	return Entry{}, "", err
}

// parts reads the relations that may fall with an item.
func parts(ctx context.Context, s model.Store, it model.Item) ([]Part, error) {
	var out []Part
	for _, l := range it.Links {
		if l.ID == "" { // a member of an edge: it stays when the edge goes
			continue
		}
		rel, err := s.Browser.Read(ctx, l.ID)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, Part{Item: rel.ID, Meta: rel.Meta, Body: rel.Body})
	}
	return out, nil
}

// obstacle says why an item, once forgotten, could not be retained again.
func obstacle(s model.Store, it model.Item) string {
	t, declared := s.Tier(it.Tier)
	switch {
	case it.Body == "" && !it.Has(model.FlagEdge) && !s.Features[FeatureBinary]:
		return "it is empty, and an empty text cannot be written"
	case !utf8.ValidString(it.Body) && !s.Features[FeatureBinary]:
		return "it is not UTF-8 text, and only text can be written"
	case declared && !t.Writable || it.Has(model.FlagReadOnly):
		return "only its own writer may fill this tier"
	case declared && t.Cap > 0 && size(it.Body, t.CapUnit) > t.Cap:
		return "it is over the cap of its tier"
	}
	if v, hit := quarantine.Scan(it.Body); hit {
		return "the scanner blocks it (" + v.Category + ")"
	}
	return ""
}

func size(body string, unit model.CapUnit) int64 {
	if unit == model.CapChars {
		return int64(utf8.RuneCountInString(body))
	}
	return int64(len(body))
}

// Preview says what forgetting an item would do beside removing it, in words;
// empty when it is an ordinary item that can be put back.
func (k *Keeper) Preview(ctx context.Context, s model.Store, id string) (warnings []string, err error) {
	if s.Browser == nil {
		return []string{"this store cannot show its items: nothing is kept for undo"}, nil
	}
	e, _, err := k.look(ctx, s, id, model.OpForget)
	if err != nil {
		return nil, err
	}
	if e.Obstacle != "" {
		warnings = append(warnings, "undo cannot put it back: "+e.Obstacle)
	}
	if e.PartsTotal > 0 {
		warnings = append(warnings, "its relations lose a member, and those left with fewer than two members go with it")
	}
	return warnings, nil
}
