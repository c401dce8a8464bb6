package operator

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"memdesk/internal/gitlog"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/origin"
)

// WriterOf is the last writer of a listed item; nil when unknown. The ledger is asked first. The item is read only in a store
// with origins of its own, and where a list without revisions has an item that was changed after the ledger's row.
func (s *Session) WriterOf(ctx context.Context, st model.Store, h model.Header) *origin.Written {
	changed := false
	if s.Ledger != nil {
		if r, ok, err := s.Ledger.Latest(st.Name, h.ID); err == nil && ok {
			changed = h.Revision == "" && h.Modified.After(r.At)
			if !changed && (h.Revision == "" || h.Revision == r.Revision) {
				return &origin.Written{Row: r, Kept: origin.InLedger}
			}
		}
	}
	if st.Browser == nil || st.Origin == nil && !changed {
		return nil
	}
	it, err := st.Browser.Read(ctx, h.ID)
	if err != nil {
		return nil
	}
	return s.WriterOfItem(st, it)
}

// WriterOfItem is the writer of the text of an item that was read; nil when unknown.
func (s *Session) WriterOfItem(st model.Store, it model.Item) *origin.Written {
	return origin.Known(s.Ledger, st, it)
}

// OriginsOf are the writes of an item through memdesk, newest first. The writer of the current text comes
// first where it is another: by the store's word, or by the author of the file's last commit; else the writer
// is unknown. The error is origin.Unread, beside the writes, where there may be others.
func (s *Session) OriginsOf(ctx context.Context, st model.Store, id string) (out []origin.Written, err error) {
	if s.Ledger == nil {
		return nil, statedir.ErrNoHome
	}
	rows, unread := s.Ledger.Of(st.Name, id)
	if unread != nil && !errors.As(unread, new(origin.Unread)) {
		return nil, unread
	}
	if st.Browser != nil {
		it, err := st.Browser.Read(ctx, id)
		if err != nil && (model.KindOf(err) != model.NotFound || len(rows) == 0) {
			return nil, err
		}
		if err == nil && (len(rows) == 0 || rows[0].Revision != it.Revision) {
			out = append(out, s.originOf(ctx, st, it))
		}
	}
	for _, r := range rows {
		out = append(out, origin.Written{Row: r, Kept: origin.InLedger})
	}
	return out, unread
}

// originOf is the writer of an item that memdesk did not write.
func (s *Session) originOf(ctx context.Context, st model.Store, it model.Item) origin.Written {
	if w := s.WriterOfItem(st, it); w != nil {
		return *w
	}
	if filepath.IsAbs(st.Location) && filepath.IsLocal(it.ID) {
		if who, ok := gitlog.AuthorOf(ctx, filepath.Join(st.Location, it.ID)); ok {
			return origin.Written{Row: origin.FromStore(st.Name, it, model.Origin{Actor: who.Name, Detail: "commit " + who.Commit, At: who.At}), Kept: origin.InGit}
		}
	}
	return origin.Written{Kept: origin.Unknown, Row: origin.Row{Store: st.Name, ID: it.ID, Revision: it.Revision,
		Writer: origin.Writer{Actor: origin.Unknown, Channel: origin.Unknown, Trust: origin.Untrusted}}}
}

// Told lists when some items were given to agents since a time, oldest first.
func (s *Session) Told(_ context.Context, items []model.Ref, since time.Time) (out []origin.Recall, err error) {
	if s.Trace == nil {
		return nil, nil
	}
	asked := map[model.Ref]bool{}
	for _, ref := range items {
		asked[ref] = true
	}
	err = s.Trace.All(func(r origin.Recall) {
		if asked[model.Ref{Store: r.Store, ID: r.ID}] && !r.At.Before(since) {
			out = append(out, r)
		}
	})
	return out, err
}
