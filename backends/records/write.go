package records

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/verdicts"
	"memdesk/model"
)

// Retain writes a row, in one transaction with the check of its revision. A row that only the owner's program
// can make is Unsupported.
func (a *store) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	const op = "retain"
	var res model.RetainResult
	if err := a.begin(ctx, op, true); err != nil {
		return res, err
	}
	t, key, err := a.target(op, req)
	if err != nil {
		return res, err
	}
	losses := a.recentLosses(ctx)
	var before, after state
	err = a.DB.Change(ctx, op, func(tx Tx) error {
		row, exists, err := a.row(tx, op, t, key)
		if err != nil {
			return err
		}
		before = t.state(row, exists)
		c := Change{Row: row, Old: before.item, Now: a.Clock.Now().UTC()}
		if err := model.CheckMatch(op, req.IfMatch, exists, c.Old.Revision); err != nil {
			return err
		}
		if c.New, err = a.wanted(t, row, c.Old, exists, req); err != nil {
			return err
		}
		displaced, err := t.put(tx, key, &c, exists, req)
		if err != nil {
			return err
		}
		if row, exists, err = t.row(tx, key); err != nil {
			return err
		}
		if after = t.state(row, exists); !exists {
			return model.Errorf(model.Internal, op, "the row is not there after it was written")
		}
		it := after.item
		if c.whole && !shows(it, c.New) || t.revives(req) && it.Body != req.Content {
			return model.Errorf(model.InvalidInput, op, "the rows that were kept are of another text than the item's")
		}
		res = model.RetainResult{ID: it.ID, Bytes: it.Bytes, Revision: it.Revision, Warnings: c.Warnings, Displaced: displaced}
		if _, sent := tx.(MirrorTx); sent { // behind a server the write is made: nothing may refuse it any more
			return nil
		}
		return req.Foretell(it.Body, res)
	})
	if err == nil {
		losses = append(losses, a.wrote(t, before, after)...)
	}
	res.Warnings = append(res.Warnings, losses...)
	return res, model.Wrap(op, err)
}

// put makes a row, brings back the rows that Forget removed, or changes the row that exists. It returns what the change
// displaced.
func (t *Table) put(tx Tx, key string, c *Change, exists bool, req model.RetainRequest) (displaced *model.Beside, err error) {
	switch {
	case !exists && t.revives(req):
		err = t.Revive(tx, key, req.Beside.Rows)
	case !exists:
		c.Warnings, err = t.create(tx, key, c.New, c.Now.Format("2006-01-02T15:04:05.000Z"), req.Beside)
	case model.RevisionOf(c.New) != c.Old.Revision:
		displaced, err = t.save(tx, c, req)
	}
	return displaced, err
}

// target applies every rule that needs no read of the store, and returns the addressed row.
func (a *store) target(op string, req model.RetainRequest) (*Table, string, error) {
	if err := req.Mode.Check(); err != nil {
		return nil, "", err
	}
	switch {
	case req.Content == "" && req.Meta == nil:
		return nil, "", model.Errorf(model.InvalidInput, op, "the content is empty: forget the item to remove it")
	case req.DataSubjectID != "":
		return nil, "", model.Errorf(model.Unsupported, op, "whom an item of this store concerns is told by its own keys, not by a request")
	}
	t, key, err := a.addressed(op, req)
	if err == nil && !utf8.ValidString(req.Content) && !t.revives(req) { // kept rows have the bytes
		err = model.Errorf(model.InvalidInput, op, "the content is not valid UTF-8 text")
	}
	return t, key, err
}

func (a *store) addressed(op string, req model.RetainRequest) (*Table, string, error) {
	if req.ID == "" {
		t, err := a.table(op, req.Tier)
		if err != nil {
			return nil, "", err
		}
		if t.Create == nil {
			return nil, "", model.Errorf(model.Unsupported, op, "a new %s is made by the program that owns the store: name an item that is there", t.Tier.Name)
		}
		return t, req.Key, checkKey(op, req.Key)
	}
	t, key, err := a.locate(op, req.ID)
	switch {
	case err != nil:
		return nil, "", model.Errorf(model.InvalidInput, op, "%.200q is no id of this store", req.ID)
	case req.Tier != "" && req.Tier != t.Tier.Name:
		return nil, "", model.Errorf(model.InvalidInput, op, "id %.200q is not of tier %q", req.ID, req.Tier)
	case req.Key != "" && req.Key != key:
		return nil, "", model.Errorf(model.InvalidInput, op, "id %.200q and key %.200q name two items", req.ID, req.Key)
	}
	return t, key, nil
}

// address returns the id that a request would write.
func (a *store) address(req model.RetainRequest) (string, error) {
	t, key, err := a.addressed("retain", req)
	if err != nil {
		return "", err
	}
	return t.id(key), nil
}

// checkKey restricts a key to one path segment (provider-contract.md R9, R11).
func checkKey(op, key string) error {
	switch {
	case key == "":
		return model.Errorf(model.InvalidInput, op, "this tier needs a key")
	case strings.ContainsAny(key, "/\\\x00"+model.Inner) || strings.Contains(key, "..") || !utf8.ValidString(key):
		return model.Errorf(model.InvalidInput, op, "the key %.200q is not one path segment", key)
	}
	return nil
}

// wanted is the document after the request.
func (a *store) wanted(t *Table, row Row, have model.Item, exists bool, req model.RetainRequest) (model.Document, error) {
	const op = "retain"
	doc := model.Document{Body: req.Content, Meta: req.Meta}
	if !exists {
		if t.Create == nil && !t.revives(req) {
			return doc, model.Errorf(model.Unsupported, op, "there is no such %s, and a new one is made by the program that owns the store", t.Tier.Name)
		}
		if t.revives(req) { // with its rows, which the fields come from
			return doc, a.scanner.Admit("", doc.Body, false)
		}
		return doc, a.scanner.AdmitDocument(model.Document{}, doc, false)
	}
	if why := t.readOnly(row, have); why != "" && (t.Save == nil || !req.Erase || req.Mode != model.Replace || !onlyRemoves(have.Body, doc.Body)) {
		return doc, model.Errorf(model.Unsupported, op, "%s", why)
	}
	if req.Mode == model.Append {
		doc.Body = have.Body + req.Content
		if t.Join != nil {
			doc.Body = t.Join(have.Body, req.Content)
		}
	}
	var err error
	if doc.Meta, err = model.MergeMeta(op, have.Meta, req.Meta); err != nil {
		return doc, err
	}
	return doc, a.scanner.AdmitDocument(have.Document(), doc, verdicts.Cleans(req))
}

// create makes a row, with what its item had in an old one.
func (t *Table) create(tx Tx, key string, doc model.Document, now string, old *model.Beside) ([]string, error) {
	had := -1
	if old != nil && t.Renew != nil {
		had = slices.IndexFunc(old.Rows, func(r model.BesideRow) bool { return r.Table == model.FileRow })
	}
	var warnings []string
	var err error
	if had >= 0 && t.Recreate != nil {
		err = t.Recreate(tx, key, doc)
	} else {
		warnings, err = t.Create(tx, key, doc, now)
	}
	if err == nil && had >= 0 {
		err = t.Renew(tx, key, old.Rows[had])
	}
	return warnings, err
}

// revives reports whether a request has the rows that Forget removed.
func (t *Table) revives(req model.RetainRequest) bool {
	return t.Revive != nil && req.Restore && req.Beside != nil && len(req.Beside.Rows) > 0
}

// Forget removes one row with everything that falls with it. Removed counts the items that existed and are
// gone, fallen ones included.
func (a *store) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	const op = "forget"
	var res model.ForgetResult
	if err := req.CheckSelectors(); err != nil {
		return res, err
	}
	if req.DataSubjectID != "" {
		return res, model.NoCascade("")
	}
	if err := a.begin(ctx, op, true); err != nil {
		return res, err
	}
	t, key, err := a.locate(op, req.ID)
	if err != nil { // no id of this store: nothing is removed
		return res, nil
	}
	losses := a.recentLosses(ctx)
	var before state
	var with []string // items that fell with it
	err = a.DB.Change(ctx, op, func(tx Tx) error {
		before, with, res = state{}, nil, model.ForgetResult{}
		row, found, err := a.row(tx, op, t, key)
		if err != nil || !found {
			return err
		}
		before = t.state(row, true)
		if err := model.CheckMatch(op, req.IfMatch, true, before.item.Revision); err != nil {
			return err
		}
		with, res.Warnings, err = drop(tx, t, row, req)
		res.Removed = 1 + int64(len(with))
		return err
	})
	if err == nil {
		losses = append(losses, a.wrote(t, before, state{})...)
		losses = append(losses, a.Recent.release(with)...)
	}
	res.Warnings = append(res.Warnings, losses...)
	return res, model.Wrap(op, err)
}

// drop removes one existing item, and returns the items that fall with it and its remaining data.
func drop(tx Tx, t *Table, row Row, req model.ForgetRequest) (with, stays []string, err error) {
	if t.Falls != nil {
		if with, err = t.Falls(tx, row); err != nil {
			return nil, nil, err
		}
	}
	if t.Stays != nil {
		if stays, err = t.Stays(tx, row); err != nil {
			return nil, nil, err
		}
	}
	if req.KeepHistory {
		if t.DropKeeping == nil {
			return nil, nil, model.Errorf(model.Unsupported, "forget", "the store keeps no history of a %s", t.Tier.Name)
		}
		return with, stays, t.DropKeeping(tx, row)
	}
	return with, stays, t.Drop(tx, row)
}

// falls returns the further items that would go with these.
func (a *store) falls(ctx context.Context, ids []string) ([]model.Fall, error) {
	const op = "falls"
	if err := a.begin(ctx, op, false); err != nil {
		return nil, err
	}
	var out []model.Fall
	err := a.DB.View(ctx, op, func(tx Tx) error {
		out = nil
		at, asked, done := map[string]int{}, make(map[string]bool, len(ids)), make(map[string]bool, len(ids))
		for _, id := range ids {
			asked[id] = true
		}
		for _, id := range ids {
			if err := model.FromContext(ctx, op); err != nil {
				return err
			}
			if done[id] {
				continue
			}
			done[id] = true
			t, key, err := a.locate(op, id)
			if err != nil || t.Falls == nil {
				continue
			}
			row, found, err := t.row(tx, key)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			with, err := t.Falls(tx, row)
			if err != nil {
				return err
			}
			for _, f := range with {
				if asked[f] {
					continue
				}
				if i, known := at[f]; known {
					out[i].With = append(out[i].With, id)
					continue
				}
				at[f] = len(out)
				out = append(out, model.Fall{ID: f, With: []string{id}})
			}
		}
		return nil
	})
	return out, model.Wrap(op, err)
}

// onlyRemoves reports whether a text is the old one with stretches removed or replaced by the mark of an
// erasure (model.Erased).
func onlyRemoves(old, text string) bool {
	if old == "" {
		return false
	}
	pieces := strings.Split(text, model.Erased)
	for i, p := range pieces {
		at := strings.Index(old, p)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		old = old[at+len(p):]
	}
	last := pieces[len(pieces)-1]
	return len(pieces) > 1 && (old == "" || last == "" || strings.HasSuffix(old, last)) || text == ""
}
