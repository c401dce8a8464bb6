package review

import (
	"context"
	"errors"

	"memdesk/model"
	"memdesk/quarantine"
	"memdesk/undo"
)

// Release reports the result of a release.
type Release struct {
	Source   string // the item that agents can read again
	Revision model.Revision
	Undo     undo.Entry // restores the blocked text; zero when nothing was written
	Removed  int64      // quarantine entries that became obsolete, copies in other agents' directories included
}

// ErrStillBlocked is wrapped by the error of a release whose text the scanner rejects; upstream would block
// it again at the next read.
var ErrStillBlocked = errors.New("the text is still blocked")

// Do releases one blocked item: it writes the edited body over the live source, which must be at the revision
// that the reviewer saw (seen; empty: its current one), and removes the store's entry. A nil body releases a
// source that is clean already. The body must pass the scanner: a release is an edit, never an exception. A
// missing source is NotFound: there is nothing to release.
func Do(ctx context.Context, keeper *undo.Keeper, s model.Store, id string, body *string, seen model.Revision) (Release, error) {
	e, err := Read(ctx, s, id)
	if err != nil {
		return Release{}, err
	}
	switch {
	case e.SourceID == "":
		return Release{}, model.Errorf(model.Unsupported, "release", "nobody can tell which item %q came from; edit that item, then delete this entry", e.Source)
	case s.Browser == nil:
		return Release{}, model.Errorf(model.Unsupported, "release", "store %s cannot show its items", s.Name)
	}
	live, err := s.Browser.Read(ctx, e.SourceID)
	if errors.Is(err, model.NotFound) {
		return Release{}, model.Errorf(model.NotFound, "release", "the source %q is gone: there is nothing to release; delete the entry", e.SourceID)
	}
	if err != nil {
		return Release{}, err
	}
	text := live.Body
	if body != nil {
		text = *body
	}
	if v, hit := quarantine.RulesOf(s.Scanner).Scan(text); hit {
		return Release{}, model.Errorf(model.InvalidInput, "release", "%w: %s / %s", ErrStillBlocked, v.Category, v.Pattern)
	}
	out := Release{Source: e.SourceID, Revision: live.Revision}
	var written error // a part of the write was not made
	if text != live.Body {
		if seen == "" {
			seen = live.Revision
		}
		res, entry, err := keeper.Retain(ctx, s, model.RetainRequest{ID: e.SourceID, Content: text, Mode: model.Replace, IfMatch: seen})
		if err != nil && !model.IsPartial(err) {
			return Release{}, err
		}
		out.Revision, out.Undo, written = res.Revision, entry, err
	}
	if !e.Filed {
		return out, written
	}
	out.Removed, err = removeCopies(ctx, keeper, s, e)
	return out, errors.Join(written, err)
}

// removeCopies removes every entry of the same text from the same source: each agent that read a poisoned
// crew file filed one (crewship-disk.md, Traps).
func removeCopies(ctx context.Context, keeper *undo.Keeper, s model.Store, e Entry) (int64, error) {
	all, err := s.Quarantine.Quarantined(ctx)
	if err != nil {
		return 0, err
	}
	var gone int64
	for _, q := range all {
		if q.ID != e.ID && (q.SourceID != e.SourceID || q.SHA256 != e.SHA256) {
			continue
		}
		res, _, err := keeper.Forget(ctx, s, model.ForgetRequest{ID: q.ID})
		if err != nil {
			return gone, err
		}
		gone += res.Removed
	}
	return gone, nil
}
