package knots

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"memdesk/backends/tracker"
	"memdesk/model"
)

// putAttempts bounds how often a change is repeated because another writer was faster.
const putAttempts = 8

// Put runs new where there is no knot, adds and removes edges, which kno keeps apart, and then runs one
// update. The edges are rolled back when the update is refused.
func (b *Backend) Put(ctx context.Context, id string, change func(tracker.Record, bool) (tracker.Record, error)) (tracker.Record, error) {
	unlock, err := b.kno.Alone(ctx, "retain")
	if err != nil {
		return tracker.Record{}, err
	}
	defer unlock()
	var got tracker.Record
	for range putAttempts {
		if got, err = b.put(ctx, id, change); !stale(err) {
			break
		}
	}
	return got, err
}

// stale reports whether kno refused because the knot changed since it was read.
func stale(err error) bool {
	return errors.Is(err, model.Conflict) && strings.Contains(err.Error(), "stale profile_etag")
}

func (b *Backend) put(ctx context.Context, id string, change func(tracker.Record, bool) (tracker.Record, error)) (tracker.Record, error) {
	v, err := b.view(ctx)
	if err != nil {
		return tracker.Record{}, err
	}
	i := v.Find(id)
	var have tracker.Record
	if i >= 0 {
		if have, err = v.Whole(ctx, i); err != nil {
			return tracker.Record{}, err
		}
	}
	want, err := change(have, i >= 0)
	switch {
	case err != nil:
		return tracker.Record{}, err
	case i >= 0 && want.Revision() == have.Revision():
		return have, nil
	case i < 0 && id != "":
		return tracker.Record{}, model.Errorf(model.Unsupported, "retain", "kno makes every id itself: there is no knot %q, and none can be made with that id", id)
	case i >= 0:
		err = b.bring(ctx, v, have, want)
	default:
		if have, err = b.create(ctx, v, want); err != nil {
			return tracker.Record{}, err
		}
		if err = b.bring(ctx, v, have, want); err != nil {
			err = b.abandon(ctx, have.ID, err)
		}
	}
	if err != nil {
		return tracker.Record{}, err
	}
	after, err := b.view(ctx)
	if err != nil {
		return tracker.Record{}, err
	}
	if i = after.Find(have.ID); i < 0 {
		return tracker.Record{}, model.Errorf(model.Internal, "retain", "kno took the write, but does not list %q", have.ID)
	}
	return after.Whole(ctx, i)
}

// bring changes a knot from one record to another, edges first.
func (b *Backend) bring(ctx context.Context, v *view, have, want tracker.Record) error {
	id := have.ID
	add, drop, err := tracker.Difference(have.Field(tracker.FieldDepends), want.Field(tracker.FieldDepends))
	if err != nil {
		return err
	}
	var done [][]string
	edge := func(verb, back, blocker string) error {
		if err := b.kno.Change(ctx, "retain", nil, "edge", verb, "--", id, "blocked_by", blocker); err != nil {
			return err
		}
		done = append(done, []string{"edge", back, "--", id, "blocked_by", blocker})
		return nil
	}
	err = func() error {
		for _, blocker := range add {
			switch {
			case blocker == id:
				return model.Errorf(model.InvalidInput, "retain", "an item cannot block itself")
			case v.Find(blocker) < 0:
				return model.Errorf(model.NotFound, "retain", "depends names %q, which is no knot of this store", blocker)
			}
			if err := edge("add", "remove", blocker); err != nil {
				return err
			}
		}
		for _, blocker := range drop {
			if err := edge("remove", "add", blocker); err != nil {
				return err
			}
		}
		return b.update(ctx, have, want)
	}()
	if err == nil {
		return nil
	}
	for _, back := range slices.Backward(done) {
		if e := b.kno.Change(context.WithoutCancel(ctx), "retain", nil, back...); e != nil {
			return model.Errorf(model.Internal, "retain", "%v; an edge that was changed before could not be put back: %w", err, e)
		}
	}
	return err
}

// create makes a knot. kno returns its id only in words for people, so the list is compared for the new one.
func (b *Backend) create(ctx context.Context, before *view, want tracker.Record) (tracker.Record, error) {
	args := []string{"new", "--desc=" + want.Body}
	if s := want.Field(tracker.FieldStatus); s != "" && s != States()[0] { // otherwise the profile decides
		args = append(args, "--state="+s)
	}
	for name, flag := range map[string]string{tracker.FieldType: "--type=", fieldAcceptance: "--acceptance="} {
		if v := want.Field(name); v != "" {
			args = append(args, flag+v)
		}
	}
	title := want.Field(tracker.FieldTitle)
	if err := b.kno.Change(ctx, "retain", nil, append(args, "--", title)...); err != nil {
		return tracker.Record{}, err
	}
	after, err := b.view(ctx)
	if err != nil {
		return tracker.Record{}, err
	}
	found := -1
	for i := range after.Len() {
		if before.Find(after.ID(i)) >= 0 || after.Head(i).Title != title {
			continue
		}
		if found >= 0 {
			return tracker.Record{}, model.Errorf(model.Internal, "retain", "a knot was made, but another program made one with the same title: which one it is cannot be told")
		}
		found = i
	}
	if found < 0 {
		return tracker.Record{}, model.Errorf(model.Internal, "retain", "kno took a new knot, but does not list it")
	}
	return after.Record(found), nil
}

// abandon ends a new knot whose other fields were refused: kno has no delete.
func (b *Backend) abandon(ctx context.Context, id string, why error) error {
	err := b.kno.Change(context.WithoutCancel(ctx), "retain", nil, "update", "--status=abandoned", "--force", "--", id)
	if err != nil {
		return model.Errorf(model.Internal, "retain", "%v; the new knot %s stays, and could not be abandoned: %w", why, id, err)
	}
	return model.Errorf(model.Internal, "retain", "%w; the new knot %s was abandoned, for kno has no delete", why, id)
}

// update sends all differences to kno in one call, for the revision that was read. Fields set by a new knot's
// profile stay.
func (b *Backend) update(ctx context.Context, have, want tracker.Record) error {
	created := want.ID == ""
	var args []string
	flag := map[string]string{tracker.FieldTitle: "--title=", tracker.FieldStatus: "--status=", tracker.FieldType: "--type=", tracker.FieldPriority: "--priority=", fieldAcceptance: "--acceptance="}
	for _, f := range want.Fields {
		was := have.Field(f.Name)
		if f.ReadOnly || f.Value == was {
			continue
		}
		option, known := flag[f.Name]
		switch {
		case f.Name == "labels":
			more, err := tagArgs(was, f.Value)
			if err != nil {
				return err
			}
			args = append(args, more...)
		case f.Name == tracker.FieldDepends: // edges
		case !known:
			return model.Errorf(model.InvalidInput, "retain", "kno sets no field %q", f.Name)
		case f.Name == tracker.FieldStatus && created:
		case f.Value == "" && f.Name != fieldAcceptance:
			return model.Errorf(model.InvalidInput, "retain", "kno cannot empty the field %q", f.Name)
		default:
			args = append(args, option+f.Value)
			if f.Name == tracker.FieldStatus && forced(was, f.Value) {
				args = append(args, "--force")
			}
		}
	}
	if want.Body != have.Body {
		args = append(args, "--description="+want.Body)
	}
	if len(args) == 0 {
		return nil
	}
	var etag string
	if json.Unmarshal([]byte(have.Field("profile_etag")), &etag) == nil && etag != "" {
		args = append(args, "--if-match="+etag)
	}
	return b.kno.Change(ctx, "retain", nil, append(append([]string{"update"}, args...), "--", have.ID)...)
}

func tagArgs(was, is string) (args []string, err error) {
	add, drop, err := tracker.Difference(was, is)
	if err != nil {
		return nil, err
	}
	for _, t := range add {
		args = append(args, "--add-tag="+t)
	}
	for _, t := range drop {
		args = append(args, "--remove-tag="+t)
	}
	return args, nil
}

// Remove is Unsupported: there is no delete.
func (b *Backend) Remove(ctx context.Context, _ string, _ func(tracker.Record) error) (bool, error) {
	return false, model.Errorf(model.Unsupported, "forget", "kno has no delete: close the item by its status %s, and empty its text", closed)
}
