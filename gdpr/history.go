package gdpr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/internal/gitlog"
	"memdesk/model"
)

// gitLayer is the row about the repository that a store's files lie in.
const gitLayer = "git history"

// gitWait bounds the questions to git about one store.
const gitWait = 2 * time.Minute

// history is the row about the repository that a store's files lie in: which commits hold the subject
// (erasure-physical.md, git). memdesk cannot remove them. A row without a store means that there is no
// repository. unknown says that git gave no answer, which is never the same as no hits.
func history(ctx context.Context, m *subject.Matcher, s model.Store) (row receipt.Layer, unknown bool) {
	if !filepath.IsAbs(s.Location) {
		return row, false
	}
	if _, in := gitlog.Root(s.Location); !in {
		return row, false
	}
	return historyOf(ctx, m, s.Name, gitLayer, s.Location)
}

// nested reports whether a layer is a repository in the store that the store does not look into: not its own, which history
// is about.
func nested(l model.Layer) bool {
	return l.Repository && l.File != "" && l.ID != ".git"
}

// nestedHistory is the row about such a repository.
func nestedHistory(ctx context.Context, m *subject.Matcher, s model.Store, l model.Layer) (row receipt.Layer, unknown bool) {
	place := l.File
	if filepath.Base(place) == ".git" {
		place = filepath.Dir(place)
	}
	return historyOf(ctx, m, s.Name, l.ID, place)
}

func historyOf(ctx context.Context, m *subject.Matcher, store, layer, place string) (row receipt.Layer, unknown bool) {
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	found, err := gitlog.Holding(ctx, place, m.NamesBytes, func(object io.Reader) (bool, error) {
		rep, err := m.Scan(ctx, object, nil)
		return rep.Hits > 0, err
	})
	row = receipt.Layer{Store: store, Layer: layer, Method: "every version that git has of these files, byte scan", Verdict: model.VerdictOutOfScope,
		BytesScanned: found.Bytes, Hits: found.Hits()}
	switch {
	case err != nil:
		row.Verdict, row.Method, row.Reason = model.VerdictUnaudited, "not looked at", "whether commits hold the text is unknown: "+err.Error()
	case row.Hits > 0:
		row.Reason = found.Words() + "; rewrite every ref, expire the reflog, prune, repack, force-push, and tell whoever has a clone"
	case found.Whole:
		row.Reason = "no object, ref or reflog of the repository holds the text; remotes and clones were not looked at"
	default:
		row.Reason = "no commit of any ref, stash or reflog holds the text, nor the index; unreferenced objects, remotes and clones were not looked at"
	}
	return row, err != nil
}

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
