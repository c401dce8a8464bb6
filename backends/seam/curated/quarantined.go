package curated

import (
	"context"
	"strings"

	"memdesk/model"
	"memdesk/quarantine"
)

// blockedNote begins the placeholder that an agent is shown in the place of a
// rejected entry; one that was written back is listed with them.
const blockedNote = "[BLOCKED"

// scan is the strict scan of the files' own agent: upstream's verdict where there
// is one, else memdesk's stricter rules, whose categories say so.
func scan(text string) (quarantine.Verdict, bool) {
	if v, hit := quarantine.Scan(text); hit {
		return v, true
	}
	if found := quarantine.Strict(text); len(found) > 0 {
		return quarantine.Verdict{Category: found[0].Category, Pattern: found[0].Pattern}, true
	}
	return quarantine.Verdict{}, false
}

// Quarantined lists the entries that the agent replaces by a placeholder. They
// stay in their files, so an entry's handle is the item's own: forgetting it
// removes the entry, editing it until it scans clean releases it.
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
	v, hit := scan(e.text)
	if !hit && strings.HasPrefix(e.text, blockedNote) {
		v, hit = quarantine.Verdict{Category: "placeholder", Pattern: "blocked_note"}, true
	}
	id := f.name + "/" + e.hash
	return model.Quarantined{
		ID: id, Source: f.name, SourceID: id, Category: v.Category, Pattern: v.Pattern,
		SHA256: quarantine.Sum(e.text), Bytes: int64(len(e.text)), Body: e.text,
	}, hit
}

// ReadQuarantined returns one such entry with its text.
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
