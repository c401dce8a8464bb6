package records

import (
	"cmp"
	"context"

	"memdesk/backends/internal/fields"
	"memdesk/model"
)

// Version is one earlier text of an item, kept by the owner's program.
type Version struct {
	ID, At, By, Text string
	Bytes            int64 // size of the text where a list leaves it out; 0: that of Text
	Meta             []model.Field
	Change           *model.Edit // its New, else its Previous, is then the text
}

// Revisions lists an item's earlier texts as Table.Past yields them.
func (a *store) Revisions(ctx context.Context, id string) (model.Versions, error) {
	out := model.Versions{State: model.Recorded}
	t, err := a.past(ctx, id, "", func(v Version) {
		out.Versions = append(out.Versions, model.Version{ID: v.ID, At: Time(v.At), By: v.By, Bytes: cmp.Or(v.Bytes, int64(len(v.Text))), Readable: v.ID != "", Change: v.Change})
	}, func() { out.Versions = nil })
	if err == nil && t.Past == nil {
		return model.Versions{State: model.Unrecorded, Reason: "the program keeps no history of a " + t.Tier.Name}, nil
	}
	return out, model.Wrap("history", err)
}

// ReadRevision returns an item at one of its versions.
func (a *store) ReadRevision(ctx context.Context, id, version string) (model.Item, error) {
	var it model.Item
	found := false
	t, err := a.past(ctx, id, version, func(v Version) {
		if v.ID != version {
			return
		}
		found = true
		it.Body, it.Meta = v.Text, append(fields.ReadOnly("action", v.By), v.Meta...)
		it.Header = model.Header{ID: id, Bytes: int64(len(v.Text)), Modified: Time(v.At)}
	}, func() { found = false })
	if err == nil && !found {
		err = model.Errorf(model.NotFound, "history", "the history has no such version")
	}
	if err != nil {
		return model.Item{}, model.Wrap("history", err)
	}
	it.Tier = t.Tier.Name
	return it, nil
}

// past yields the versions of an item; begin is called before the first one, and again when the transaction
// is repeated.
func (a *store) past(ctx context.Context, id, version string, yield func(Version), begin func()) (*Table, error) {
	const op = "history"
	if err := a.begin(ctx, op, false); err != nil {
		return nil, err
	}
	t, key, err := a.locate(op, id)
	if err != nil || t.Past == nil {
		return t, err
	}
	return t, a.DB.View(ctx, op, func(tx Tx) error {
		begin()
		return t.Past(tx, key, version, func(v Version) {
			if c := v.Change; c != nil {
				v.By, v.Text = c.Action, *cmp.Or(c.New, c.Previous, new(string))
			}
			yield(v)
		})
	})
}
