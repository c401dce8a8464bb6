package beads

import (
	"context"
	"errors"
	"slices"
	"strings"

	"memdesk/backends/tracker"
	"memdesk/model"
)

const (
	statusClosed     = "closed"
	fieldLabels      = "labels"
	fieldCloseReason = "close_reason"
)

// flags are the options of bd that set a field.
var flags = map[string]string{
	tracker.FieldTitle: "title", tracker.FieldType: "type", tracker.FieldPriority: "priority", "assignee": "assignee", "parent": "parent",
	"acceptance_criteria": "acceptance", "design": "design", "notes": "notes", "due_at": "due", "defer_until": "defer", "external_ref": "external-ref",
}

// settable reports whether bd can set a field, by an option or by a call of its own.
func settable(name string) bool {
	_, flag := flags[name]
	return flag || slices.Contains([]string{tracker.FieldStatus, fieldLabels, tracker.FieldDepends, fieldCloseReason}, name)
}

// Put runs the calls for a change. bd carries out each by itself, so the earlier ones are rolled back when a
// later one is refused.
func (c *CLI) Put(ctx context.Context, id string, change func(tracker.Record, bool) (tracker.Record, error)) (tracker.Record, error) {
	unlock, err := c.bd.Alone(ctx, "retain")
	if err != nil {
		return tracker.Record{}, err
	}
	defer unlock()
	v, err := c.view(ctx)
	if err != nil {
		return tracker.Record{}, err
	}
	i := v.Find(id)
	var have tracker.Record
	if i >= 0 {
		have = v.Record(i)
	}
	want, err := change(have, i >= 0)
	switch {
	case err != nil:
		return tracker.Record{}, err
	case i >= 0 && want.Revision() == have.Revision():
		return have, nil
	case want.Kind == tracker.Memory && stranger(have, want) != "":
		return tracker.Record{}, noField(stranger(have, want))
	case want.Kind == tracker.Memory:
		err = c.bd.Change(ctx, "retain", nil, "remember", "--json", "--key="+strings.TrimPrefix(want.ID, tracker.MemoryPrefix), "--", want.Body)
	default:
		if want, err = moved(have, want); err == nil {
			err = v.checkWrite(have, want)
		}
		switch {
		case err != nil:
		case i < 0:
			want.ID, err = c.create(ctx, want)
		default:
			err = c.update(ctx, have, want)
		}
	}
	if err != nil {
		return tracker.Record{}, err
	}
	if v, err = c.view(ctx); err != nil {
		return tracker.Record{}, err
	}
	if i = v.Find(want.ID); i < 0 {
		return tracker.Record{}, model.Errorf(model.Internal, "retain", "bd took the write, but does not list %q", want.ID)
	}
	return v.Record(i), nil
}

// checkWrite refuses, before the first call, values that bd would refuse in a later one or misread.
func (v *cliView) checkWrite(have, want tracker.Record) error {
	for _, f := range want.Fields {
		was := have.Field(f.Name)
		switch {
		case f.ReadOnly || f.Value == was:
		case !settable(f.Name):
			return model.Errorf(model.InvalidInput, "retain", "bd sets no field %q", f.Name)
		case f.Name == fieldCloseReason && want.Field(tracker.FieldStatus) != statusClosed:
			return model.Errorf(model.InvalidInput, "retain", "close_reason is of closed items only")
		}
	}
	labels, _, err := tracker.Difference(have.Field(fieldLabels), want.Field(fieldLabels))
	if err != nil {
		return err
	}
	for _, l := range labels {
		if strings.Contains(l, ",") {
			return model.Errorf(model.InvalidInput, "retain", "label %q: bd's tools take the comma for the end of a label; write two labels, or one without it", l)
		}
	}
	blockers, _, err := tracker.Difference(have.Field(tracker.FieldDepends), want.Field(tracker.FieldDepends))
	if err != nil {
		return err
	}
	for _, id := range blockers {
		switch n := v.Find(id); {
		case id == want.ID:
			return model.Errorf(model.InvalidInput, "retain", "an item cannot block itself")
		case n < 0 || v.entries[n].kind != tracker.Issue:
			return model.Errorf(model.NotFound, "retain", "depends names %q, which is no work item of this store", id)
		}
	}
	return nil
}

// call is one call of bd and the calls that reverse it.
type call struct {
	do   []string
	undo [][]string
}

// run makes the calls in turn. After a failure the earlier ones are reversed, and the failed one too unless
// bd said that it refused: reversing a change that did not happen changes nothing.
func (c *CLI) run(ctx context.Context, calls []call) error {
	for n, one := range calls {
		err := c.bd.Change(ctx, "retain", nil, one.do...)
		if err == nil {
			continue
		}
		last := n
		if !model.Unchanged(err) {
			last = n + 1
		}
		var left []error
		for i := last - 1; i >= 0; i-- {
			for _, undo := range calls[i].undo {
				if e := c.bd.Change(context.WithoutCancel(ctx), "retain", nil, undo...); e != nil {
					left = append(left, e)
				}
			}
		}
		if len(left) > 0 {
			return model.Errorf(model.Internal, "retain", "%v; what was changed before it could not be put back: %w", err, errors.Join(left...))
		}
		return err
	}
	return nil
}

// create lets bd make the item, then sets its status and dependencies, and removes the item again where they
// are refused.
func (c *CLI) create(ctx context.Context, want tracker.Record) (string, error) {
	args := []string{"create", "--json", "--description=" + want.Body}
	if want.ID != "" {
		args = append(args, "--id="+want.ID)
	}
	for _, f := range want.Fields {
		if flag, ok := flags[f.Name]; ok && f.Value != "" && !f.ReadOnly {
			args = append(args, "--"+flag+"="+f.Value)
		}
	}
	labels, err := tracker.SplitNames(want.Field(fieldLabels))
	if err != nil {
		return "", err
	}
	for _, l := range labels {
		args = append(args, "--labels="+csvField(l))
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := c.bd.Change(ctx, "retain", &made, args...); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", model.Errorf(model.Internal, "retain", "bd made an item and does not say which")
	}
	have := want
	have.ID, have.Fields = made.ID, slices.Clone(want.Fields)
	for n, f := range have.Fields {
		switch f.Name {
		case tracker.FieldStatus:
			have.Fields[n].Value = tracker.DefaultStatus
		case tracker.FieldDepends, fieldCloseReason:
			have.Fields[n].Value = ""
		}
	}
	want.ID = made.ID
	if err := c.update(ctx, have, want); err != nil {
		if e := c.bd.Change(context.WithoutCancel(ctx), "retain", nil, "delete", "--force", "--json", "--", made.ID); e != nil {
			return "", model.Errorf(model.Internal, "retain", "%v; the new item %s could not be removed: %w", err, made.ID, e)
		}
		return "", err
	}
	return made.ID, nil
}

// update changes an item from one record to another.
func (c *CLI) update(ctx context.Context, have, want tracker.Record) error {
	calls, err := updates(have, want)
	if err != nil {
		return err
	}
	return c.run(ctx, calls)
}

// updates are the calls for a change: one for the fields, one for each pair, one to close.
func updates(have, want tracker.Record) ([]call, error) {
	wasClosed, closes := have.Field(tracker.FieldStatus) == statusClosed, want.Field(tracker.FieldStatus) == statusClosed
	do, undo, err := fieldArgs(have, want, closes)
	if err != nil {
		return nil, err
	}
	var out []call
	update := func(args []string) []string {
		return append(append([]string{"update", "--json"}, args...), "--", have.ID)
	}
	end := func(reason string) []string {
		args := []string{"close", "--json"}
		if reason != "" {
			args = append(args, "--reason="+reason)
		}
		return append(args, "--", have.ID)
	}
	if len(do) > 0 {
		one := call{do: update(do)}
		if len(undo) > 0 {
			one.undo = append(one.undo, update(undo))
		}
		if wasClosed && !closes {
			one.undo = append(one.undo, end(have.Field(fieldCloseReason)))
		}
		out = append(out, one)
	}
	add, drop, err := tracker.Difference(have.Field(tracker.FieldDepends), want.Field(tracker.FieldDepends))
	if err != nil {
		return nil, err
	}
	pair := func(verb, blocker string) []string { return []string{"dep", verb, "--json", "--", have.ID, blocker} }
	for _, b := range add {
		out = append(out, call{do: pair("add", b), undo: [][]string{pair("remove", b)}})
	}
	for _, b := range drop {
		out = append(out, call{do: pair("remove", b), undo: [][]string{pair("add", b)}})
	}
	if closes && (!wasClosed || have.Field(fieldCloseReason) != want.Field(fieldCloseReason)) {
		out = append(out, call{do: end(want.Field(fieldCloseReason)), undo: [][]string{update([]string{"--status=" + have.Field(tracker.FieldStatus)})}})
	}
	return out, nil
}

// fieldArgs are the options of bd update that set the differing fields, and those that restore them.
func fieldArgs(have, want tracker.Record, closes bool) (do, undo []string, err error) {
	set := func(flag, was, is string) {
		do, undo = append(do, "--"+flag+"="+is), append(undo, "--"+flag+"="+was)
	}
	for _, f := range want.Fields {
		was := have.Field(f.Name)
		flag, known := flags[f.Name]
		switch {
		case f.ReadOnly || f.Value == was:
		case known:
			set(flag, was, f.Value)
		case f.Name == tracker.FieldStatus && !closes:
			do = append(do, "--status="+f.Value)
			if was != statusClosed { // close restores the end
				undo = append(undo, "--status="+was)
			}
		}
	}
	for _, f := range have.Fields { // a missing field is emptied
		flag, known := flags[f.Name]
		gone := !slices.ContainsFunc(want.Fields, func(w model.Field) bool { return w.Name == f.Name })
		if known && gone && f.Value != "" {
			set(flag, f.Value, "")
		}
	}
	if want.Body != have.Body {
		set("description", have.Body, want.Body)
	}
	add, drop, err := tracker.Difference(have.Field(fieldLabels), want.Field(fieldLabels))
	for _, l := range add {
		do, undo = append(do, "--add-label="+csvField(l)), append(undo, "--remove-label="+csvField(l))
	}
	for _, l := range drop {
		do, undo = append(do, "--remove-label="+csvField(l)), append(undo, "--add-label="+csvField(l))
	}
	return do, undo, err
}

// csvField writes a label as the single CSV record that bd's options read.
func csvField(s string) string {
	if !strings.ContainsAny(s, "\",\r\n") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// Remove deletes a row; history, remotes and exports keep the text.
func (c *CLI) Remove(ctx context.Context, id string, check func(tracker.Record) error) (bool, error) {
	unlock, err := c.bd.Alone(ctx, "forget")
	if err != nil {
		return false, err
	}
	defer unlock()
	v, err := c.view(ctx)
	if err != nil {
		return false, err
	}
	i := v.Find(id)
	if i < 0 {
		return false, nil
	}
	if err := check(v.Record(i)); err != nil {
		return false, err
	}
	args := []string{"delete", "--force", "--json", "--", id}
	if v.entries[i].kind == tracker.Memory {
		args = []string{"forget", "--json", "--", v.entries[i].raw}
	}
	err = c.bd.Change(ctx, "forget", nil, args...)
	if errors.Is(err, model.NotFound) { // another program removed it first, or bd misses something else, such as its database
		if now, e := c.view(ctx); e == nil && now.Find(id) < 0 {
			return false, nil
		}
	}
	return err == nil, err
}
