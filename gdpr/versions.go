package gdpr

import (
	"context"
	"errors"
	"fmt"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// layerVersion is an old text of an item.
const layerVersion = "version"

// oldTexts searches the versions that a store keeps of its items, where it has no Maintainer: with one they
// are layers, and are scrubbed. here are the items with a version that names the subject. A row without a
// store means that there are none.
func oldTexts(ctx context.Context, m *subject.Matcher, s model.Store, ids []string) (row receipt.Layer, here []string, err error) {
	if s.History == nil || s.Maintainer != nil {
		return row, nil, nil
	}
	row = receipt.Layer{Store: s.Name, Layer: "versions", Method: "every version of every item read", Verdict: model.VerdictClean}
	unknown := 0
	for _, id := range ids {
		all, err := s.History.Revisions(ctx, id)
		switch {
		case ctx.Err() != nil:
			return row, here, model.FromContext(ctx, "gdpr")
		case errors.Is(err, model.NotFound):
			continue
		case err != nil && model.KindOf(err).Retryable():
			return row, here, err
		case err != nil || all.State == model.HistoryUnavailable:
			unknown++
			continue
		}
		found := false
		for _, v := range all.Versions {
			if !v.Readable {
				continue // its bytes are gone
			}
			it, err := s.History.ReadRevision(ctx, id, v.ID)
			if err != nil && !errors.Is(err, model.NotFound) {
				unknown++
				continue
			}
			row.BytesScanned += int64(len(it.Body))
			if n := hitsOf(m, it); err == nil && n > 0 {
				row.Hits, found = row.Hits+1, true
			}
		}
		if found {
			here = append(here, id)
		}
	}
	switch {
	case unknown > 0:
		row.Verdict, row.Reason = model.VerdictUnaudited, fmt.Sprintf("versions of %d items cannot be read", unknown)
	case row.Hits > 0:
		row.Verdict, row.Reason = model.VerdictOutOfScope, versionReason
	}
	return row, here, nil
}

const versionReason = "old versions name the person, and the store has no way to remove them from here: ask whoever runs it"
