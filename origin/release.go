package origin

import (
	"cmp"
	"context"
	"errors"

	"memdesk/internal/filelock"
	"memdesk/model"
	"memdesk/quarantine"
	"memdesk/quarantine/review"
	"memdesk/undo"
)

// Release makes a held write, with the text that an operator has edited, or with its own. What the item then
// holds more than before must pass the scanner. From then on the write is trusted, since an operator let it in; an
// addition, as far as the text before it is. An entry whose write was made in part (model.Partial) goes too: a second
// release would repeat that part.
func (s *Shelf) Release(ctx context.Context, keeper *undo.Keeper, store model.Store, id string, body *string) (review.Release, error) {
	if _, err := s.Get(id); err != nil { // then there may be no place for a lock
		return review.Release{}, err
	}
	unlock, err := filelock.Hold(ctx, s.dir+".lock", true) // two releases of one entry would write it twice
	if errors.Is(err, filelock.ErrHeld) {
		err = model.Errorf(model.Locked, "release", "another release is under way")
	}
	if err != nil {
		return review.Release{}, err
	}
	defer unlock()
	h, err := s.Get(id)
	if err == nil && h.Store != store.Name {
		err = model.Errorf(model.NotFound, "release", "no held write of this store has this id")
	}
	if err != nil {
		return review.Release{}, err
	}
	if held, err := s.holds(ctx, &store, id); err != nil || !held {
		return review.Release{}, cmp.Or(err, model.Errorf(model.Conflict, "release", "an item of the store has the id of the held write: remove that item first"))
	}
	req := h.Request
	if body != nil {
		req.Content = *body
	}
	v, hit := quarantine.Scan(req.Content)
	if !hit {
		at := req.ID
		if at == "" && store.Address != nil {
			at, _ = store.Address(req) // the store itself refuses a bad address
		}
		was, _, err := before(ctx, &store, at)
		if err != nil {
			return review.Release{}, err
		}
		v, hit, _, _ = scanned(req, at, was)
	}
	if hit {
		return review.Release{}, model.Errorf(model.InvalidInput, "release", "%w: %s / %s", review.ErrStillBlocked, v.Category, v.Pattern)
	}
	w := h.Writer
	w.Trust, w.Agent = Trusted, false
	res, e, err := keeper.Retain(With(ctx, w), store, req)
	if err != nil && !model.IsPartial(err) {
		return review.Release{}, err
	}
	out := review.Release{Source: res.ID, Revision: res.Revision, Undo: e}
	gone, failed := store.Provider.Forget(ctx, model.ForgetRequest{ID: id})
	out.Removed = gone.Removed
	return out, errors.Join(err, failed)
}
