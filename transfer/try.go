package transfer

import (
	"context"
	"errors"

	"memdesk/model"
)

// Rehearsal is what a dry run asks instead of writing.
type Rehearsal struct {
	// Settled reports whether an earlier run, which the real one would take up, completed the step with this key; nil:
	// there is none.
	Settled  func(key string) bool
	Gate     model.Middleware        // of the real run
	Progress func(done, total int64) // hears how far it is
}

// Try reports what Run would do, item by item, and writes nothing. The destination's own checks of a text (scanner,
// cap, form, members of a relation) belong to the write: an item that they refuse counts as copied here.
func (p Plan) Try(ctx context.Context, r Rehearsal, report func(Outcome)) (Summary, error) {
	t := &trial{Browser: p.To.Browser, r: r, made: map[string]bool{}}
	p.To.Browser = t
	return p.Run(ctx, t, t.write, report)
}

// trial stands in for the journal, for the writer, and for what the destination would hold.
type trial struct {
	model.Browser
	r    Rehearsal
	made map[string]bool // ids that the run would have written so far
}

// Step implements Journal.
func (t *trial) Step(ctx context.Context, key string, fn func(context.Context) error) error {
	switch {
	case ctx.Err() != nil:
		return model.FromContext(ctx, "copy")
	case t.r.Settled != nil && t.r.Settled(key):
		return nil
	}
	return fn(ctx)
}

// Progress implements Journal.
func (t *trial) Progress(done, total int64, _, _ string) {
	t.r.Progress(done, total)
}

// Read answers with an item that differs from every other where the run would have written one.
func (t *trial) Read(ctx context.Context, id string) (model.Item, error) {
	if t.made[id] {
		return model.Item{Header: model.Header{ID: id}, Body: "\x00written by this run\x00"}, nil
	}
	return t.Browser.Read(ctx, id)
}

// write refuses what the gate refuses and what stands there already.
func (t *trial) write(ctx context.Context, to model.Store, req model.RetainRequest) (res model.RetainResult, err error) {
	err = t.r.Gate(ctx, &model.Call{Store: &to, Op: model.OpRetain, ID: req.ID, Retain: &req}, func(ctx context.Context) (err error) {
		if res.ID = req.ID; res.ID == "" && to.Address != nil {
			if res.ID, err = to.Address(req); err != nil {
				return err
			}
		}
		if res.ID == "" { // the destination makes an id
			return nil
		}
		if req.IfMatch == model.Absent {
			switch _, err := t.Read(ctx, res.ID); {
			case err == nil:
				return model.Errorf(model.AlreadyExists, "retain", "it stands there already")
			case !errors.Is(err, model.NotFound) && !errors.Is(err, model.InvalidInput):
				return err
			}
		}
		t.made[res.ID] = true
		return nil
	})
	return res, err
}
