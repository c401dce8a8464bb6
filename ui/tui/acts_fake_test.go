package tui_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/undo"
)

func (f *fake) forgotten(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.away[id]
}

// written returns an item that an act has made.
func (f *fake) written(id string) (model.Item, bool) {
	f.mu.Lock()
	body, ok := f.changes[id]
	f.mu.Unlock()
	if !ok {
		return model.Item{}, false
	}
	it := doc("", "daily", id, id, body)
	it.Revision = model.RevisionOf(it.Document())
	return it, !f.forgotten(id)
}

// asIs returns an item after the acts on it.
func (f *fake) asIs(it model.Item) (model.Item, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away[it.ID] {
		return model.Item{}, model.Errorf(model.NotFound, "read", "no such item")
	}
	if body, ok := f.changes[it.ID]; ok {
		it.Body, it.Bytes = body, int64(len(body))
	}
	it.Revision = model.RevisionOf(it.Document())
	return it, nil
}

func (f *fake) forget(id string, away bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away == nil {
		f.away = map[string]bool{}
	}
	f.away[id] = away
}

func (f *fake) write(id, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changes == nil {
		f.changes = map[string]string{}
	}
	f.changes[id] = body
}

// actsFake changes the fakes and keeps the items that it replaced.
type actsFake struct {
	fakes map[string]*fake
	// meddle is called before each act, as another writer. May be nil.
	meddle func(store, id string)
	down   func() bool // the store does not answer; may be nil

	mu   sync.Mutex
	rows []undo.Entry
	n    int
}

func (a *actsFake) Reindex(context.Context, string, string) (int64, error) { return 0, nil }

func (a *actsFake) Preview(ctx context.Context, store, id string) ([]string, error) {
	if strings.HasPrefix(id, "q/") {
		return []string{"undo cannot restore it: only the store's own scanner files entries"}, nil
	}
	it, err := a.fakes[store].Read(ctx, id)
	if err == nil && it.Has(model.FlagNearCap) {
		return []string{"undo cannot restore it: it is over the cap of its tier"}, nil
	}
	return nil, err
}

func (a *actsFake) Forget(ctx context.Context, store string, req model.ForgetRequest, reason string) (operator.Done, error) {
	id, seen := req.ID, req.IfMatch
	if a.meddle != nil {
		a.meddle(store, id)
	}
	if strings.HasPrefix(id, "q/") {
		a.fakes[store].forget(id, true)
		row := a.keep(undo.Entry{Store: store, Side: undo.Side{Item: id, Op: "forget", Existed: true, After: "gone", Obstacle: "only the store's own scanner files entries"}})
		return operator.Done{Store: store, Item: id, Removed: 1, Undo: row.ID, Obstacle: row.Obstacle}, nil
	}
	it, err := a.fakes[store].Read(ctx, id)
	switch {
	case err != nil:
		return operator.Done{}, err
	case seen != "" && it.Revision != seen:
		return operator.Done{}, model.Errorf(model.Conflict, "forget", "the item has changed")
	}
	a.fakes[store].forget(id, true)
	row := a.keep(undo.Entry{Store: store, Side: undo.Side{Item: id, Op: "forget", Bytes: it.Bytes, Existed: true, After: "gone"}})
	return operator.Done{Store: store, Item: id, Removed: 1, Undo: row.ID}, nil
}

// refused is content that the fake's scanner rejects.
const refused = "IGNORE PREVIOUS"

func (a *actsFake) Retain(ctx context.Context, store string, req model.RetainRequest, reason string) (operator.Done, error) {
	id := req.ID
	if id == "" {
		id, _ = address(req)
	}
	if a.meddle != nil {
		a.meddle(store, id)
	}
	if a.down != nil && a.down() {
		return operator.Done{}, model.Errorf(model.Unavailable, "retain", "the store does not answer")
	}
	if strings.Contains(req.Content, refused) {
		return operator.Done{}, model.Errorf(model.InvalidInput, "retain", "the scanner rejects it: override / ignore_previous at line 1")
	}
	f := a.fakes[store]
	it, err := f.Read(ctx, id)
	if merr := model.CheckMatch("retain", req.IfMatch, err == nil, it.Revision); merr != nil {
		return operator.Done{}, merr
	}
	body := req.Content
	if req.Mode == model.Append {
		body = it.Body + body
	}
	f.write(id, body)
	row := a.keep(undo.Entry{Store: store, Side: undo.Side{Item: id, Op: "retain", Bytes: it.Bytes, Existed: err == nil, After: "gone"}})
	done := operator.Done{Store: store, Item: id, Undo: row.ID}
	if strings.Contains(body, "nearly full") {
		done.Warnings = []string{"80 % of the cap is used"}
	}
	return done, nil
}

func (a *actsFake) Release(ctx context.Context, store, id string, body *string, seen model.Revision, reason string) (operator.Done, error) {
	for _, e := range (quarantineFake{a.fakes}).entries() {
		if e.Store != store || e.ID != id {
			continue
		}
		if body == nil {
			return operator.Done{}, model.Errorf(model.InvalidInput, "release", "the text is still blocked: override / ignore_previous")
		}
		if strings.Contains(*body, "Ignore previous") {
			return operator.Done{}, model.Errorf(model.InvalidInput, "release", "the text is still blocked: override / ignore_previous")
		}
		done, err := a.Retain(ctx, store, model.RetainRequest{ID: e.Source, Content: *body, Mode: model.Replace, IfMatch: seen}, reason)
		if err == nil {
			a.fakes[store].forget(id, true)
		}
		return done, err
	}
	return operator.Done{}, model.Errorf(model.NotFound, "release", "the entry is gone")
}

// address applies the fakes' rule for ids: tier and key.
func address(req model.RetainRequest) (string, error) {
	if req.Key == "" {
		return req.Tier + ".md", nil
	}
	if strings.Contains(req.Key, "..") {
		return "", model.Errorf(model.InvalidInput, "retain", "the key %q leaves the tier", req.Key)
	}
	return req.Tier + "/" + req.Key, nil
}

// jobsFake runs work in place.
type jobsFake struct{}

func (jobsFake) Run(ctx context.Context, kind, title string, work func(context.Context, operator.Running) error) error {
	return work(ctx, stepsFake{})
}

func (jobsFake) List(context.Context) ([]jobs.Status, error) { return nil, nil }
func (jobsFake) Cancel(context.Context, jobs.ID) error       { return nil }
func (jobsFake) Tied(jobs.ID) bool                           { return false }

type stepsFake struct{}

func (stepsFake) Step(ctx context.Context, _ string, fn func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fn(ctx)
}

func (stepsFake) ID() jobs.ID { return "" }

func (stepsFake) Progress(int64, int64, string, string) {}

func (a *actsFake) keep(row undo.Entry) undo.Entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	row.ID, row.At, row.Expires = fmt.Sprintf("undo-%d", a.n), now, now.AddDate(0, 1, 0)
	a.rows = slices.Insert(a.rows, 0, row)
	return row
}

func (a *actsFake) Undos(context.Context) ([]undo.Entry, int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.rows), 1, nil
}

func (a *actsFake) Restore(_ context.Context, id, reason string) (operator.Done, error) {
	a.mu.Lock()
	i := slices.IndexFunc(a.rows, func(r undo.Entry) bool { return r.ID == id })
	if i < 0 {
		a.mu.Unlock()
		return operator.Done{}, model.Errorf(model.NotFound, "undo", "there is no entry %s", id)
	}
	row := a.rows[i]
	a.mu.Unlock()
	if a.meddle != nil {
		a.meddle(row.Store, row.Item)
		return operator.Done{}, model.Errorf(model.Conflict, "undo", "the item has changed since")
	}
	a.mu.Lock()
	a.rows = slices.Delete(a.rows, i, i+1)
	a.mu.Unlock()
	a.fakes[row.Store].forget(row.Item, false)
	return operator.Done{Store: row.Store, Item: row.Item}, nil
}

// versions is a history of two states; the older one has lost its bytes.
type versions struct{ f *fake }

func (v versions) Revisions(_ context.Context, id string) (model.Versions, error) {
	if !strings.Contains(id, "daily") {
		return model.Versions{State: model.Unrecorded, Reason: "only daily notes are recorded\x1b[31m"}, nil
	}
	return model.Versions{State: model.Recorded, Versions: []model.Version{
		{ID: "v2", At: now.Add(-time.Hour), By: "bo", Bytes: 12, Hash: "beef", Readable: true},
		{ID: "v1", At: now.Add(-2 * time.Hour), Bytes: 9},
	}}, nil
}

func (v versions) ReadRevision(ctx context.Context, id, version string) (model.Item, error) {
	if version == "v1" {
		return model.Item{}, model.Errorf(model.NotFound, "history", "its bytes are gone")
	}
	it, err := v.f.Read(ctx, id)
	it.Body = "as it was before\n"
	return it, err
}
