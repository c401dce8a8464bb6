package beads

import (
	"bytes"
	"context"
	"slices"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/tracker"
	"memdesk/model"
)

// exportLimit is the largest accepted export, in bytes.
const exportLimit = 1 << 30

// cliView is bd's export. Fields that bd cannot set are read-only and go only with the item.
type cliView struct{ *snapshot }

// View asks bd for everything that it has.
func (c *CLI) View(ctx context.Context) (tracker.View, error) { return c.view(ctx) }

func (c *CLI) view(ctx context.Context) (*cliView, error) {
	lines, err := c.bd.Output(ctx, "read", "export", "--all")
	if err != nil {
		return nil, err
	}
	snap := parse(parented(lines), nil)
	for i := range snap.entries {
		if e := &snap.entries[i]; e.kind == tracker.Line && e.problem != "" {
			return nil, model.Errorf(model.Internal, "read", "line %d of bd's export: %s", e.number, e.problem)
		}
	}
	return &cliView{snap}, nil
}

// parented gives every child its member parent, which bd's list has, but its export only as a dependency.
func parented(lines []byte) []byte {
	if !bytes.Contains(lines, []byte(`"parent-child"`)) {
		return lines
	}
	out := make([]byte, 0, len(lines))
	for line := range bytes.Lines(lines) {
		text := bytes.TrimRight(line, "\r\n")
		o, err := jsonedit.Parse(text)
		if err != nil || o.Find("parent") >= 0 {
			out = append(out, line...)
			continue
		}
		id, _ := o.Text("id")
		if parent := parentOf(o.Raw("dependencies"), id); parent != "" {
			o.Set(jsonedit.Quote(parent), "parent")
		}
		out = append(append(out, o.Line...), '\n')
	}
	return out
}

// Record decodes the whole entry.
func (v *cliView) Record(i int) tracker.Record {
	r := v.snapshot.Record(i)
	if r.Kind != tracker.Issue {
		return r
	}
	closed := r.Field(tracker.FieldStatus) == statusClosed
	if r.Field(fieldCloseReason) == "" && !closed { // it can be set only together with closing
		r.Fields = slices.DeleteFunc(r.Fields, func(f model.Field) bool { return f.Name == fieldCloseReason })
	}
	for n, f := range r.Fields {
		if !settable(f.Name) {
			r.Fields[n].ReadOnly, r.Fields[n].Sealed = true, true
		}
	}
	return r
}

// Bead decodes the fields of the port. Items that bd never hands out as work are aside.
func (v *cliView) Bead(i int) (tracker.Bead, bool) {
	b, ok := v.snapshot.Bead(i)
	if !ok {
		return b, false
	}
	o, err := jsonedit.Parse(v.line(i))
	if err != nil { // valid when it was scanned
		return b, false
	}
	b.Aside = slices.Contains([]string{"gate", "message", "molecule"}, b.Type) || string(o.Raw("ephemeral")) == "true" || string(o.Raw("is_template")) == "true"
	return b, true
}
