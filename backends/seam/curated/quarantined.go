package curated

import (
	"context"

	"memdesk/model"
	"memdesk/quarantine"
)

// rules are those of the files' own agent: only they decide what is blocked.
var rules = quarantine.RulesOf(quarantine.HermesRules)

// Quarantined lists the entries that the agent replaces by a placeholder. They stay in their files, so an
// entry's id is the item's own: forgetting it removes the entry, editing it until it scans clean releases
// it.
func (s *store) Quarantined(ctx context.Context) ([]model.Quarantined, error) {
	files, err := s.both(ctx, "quarantine")
	if err != nil {
		return nil, err
	}
	out := []model.Quarantined{}
	for _, f := range files {
		if f.bad != nil {
			out = append(out, model.Quarantined{ID: f.name, Source: f.name, Problem: f.bad.Error()})
		}
		for _, e := range f.entries {
			if q, hit := quarantinedEntry(f, e); hit {
				q.Body = ""
				out = append(out, q)
			}
		}
	}
	return out, nil
}

func quarantinedEntry(f file, e entry) (model.Quarantined, bool) {
	v, hit := rules.Load(e.text)
	id := f.name + "/" + e.hash
	return model.Quarantined{
		ID: id, Source: f.name, SourceID: id, Category: v.Category, Pattern: v.Pattern,
		SHA256: quarantine.Sum(e.text), Bytes: int64(len(e.text)), Body: e.text,
	}, hit
}

// ReadQuarantined returns one of them with its text.
func (s *store) ReadQuarantined(ctx context.Context, id string) (model.Quarantined, error) {
	at, ok := parseID(id)
	if !ok || at.hash == "" {
		return model.Quarantined{}, model.Errorf(model.InvalidInput, "quarantine", "%q is no entry of a quarantine", id)
	}
	files, err := s.both(ctx, "quarantine")
	if err != nil {
		return model.Quarantined{}, err
	}
	for _, f := range files {
		if i := find(f.entries, at.hash); f.name == at.file && i >= 0 {
			if q, hit := quarantinedEntry(f, f.entries[i]); hit {
				return q, nil
			}
		}
	}
	return model.Quarantined{}, model.Errorf(model.NotFound, "quarantine", "there is no quarantined entry %q", id)
}
