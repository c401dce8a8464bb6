package beads

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/tracker"
	"memdesk/backends/tracker/command"
	"memdesk/model"
)

// installBD is what to do when the command is missing.
const installBD = "install beads (https://github.com/steveyegge/beads) or set command; port = \"jsonl\" opens the file instead"

// CLI is a .beads directory through the bd command, which keeps its truth in a
// database. Every answer is bd's JSON; the lines of the JSONL are never touched.
//
// bd has no compare-and-swap: an item is looked at right before it is written,
// and another program can slip in between.
type CLI struct {
	bd *command.Program
}

// NewCLI makes the backend; it does not run the command yet.
func NewCLI(p command.Program) *CLI {
	if p.Install == "" {
		p.Install = installBD
	}
	return &CLI{bd: command.New(p)}
}

// Close releases nothing.
func (c *CLI) Close() error { return nil }

// Ping looks whether the command is there. Asking it something would take longer
// than a health check may.
func (c *CLI) Ping(ctx context.Context) error {
	if err := model.FromContext(ctx, "health"); err != nil {
		return err
	}
	_, err := c.bd.Find()
	return err
}

// View asks for everything: items, closed ones included, and memories.
func (c *CLI) View(ctx context.Context) (tracker.View, error) { return c.view(ctx) }

func (c *CLI) view(ctx context.Context) (*snapshot, error) {
	var issues []json.RawMessage
	if err := c.bd.Read(ctx, "read", &issues, "list", "--all", "--json", "--limit=0"); err != nil {
		return nil, err
	}
	var memories map[string]json.RawMessage
	if err := c.bd.Read(ctx, "read", &memories, "memories", "--json"); err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	for _, raw := range issues {
		if err := json.Compact(&lines, raw); err != nil { // it was decoded just now
			return nil, model.Errorf(model.Internal, "read", "bd lists an item that is no JSON")
		}
		lines.WriteByte('\n')
	}
	keys := make([]string, 0, len(memories))
	for k, raw := range memories {
		if len(raw) > 0 && raw[0] == '"' { // a number beside them, such as a schema version, is no memory
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		lines.WriteString(`{"_type":"memory","key":`)
		lines.Write(quote(k))
		lines.WriteString(`,"value":`)
		lines.Write(bytes.TrimSpace(memories[k]))
		lines.WriteString("}\n")
	}
	return parse(lines.Bytes(), nil), nil
}

// Put runs create, update, close or remember, as the change needs.
func (c *CLI) Put(ctx context.Context, id string, change func(tracker.Record, bool) (tracker.Record, error)) (tracker.Record, error) {
	unlock, err := c.bd.Alone(ctx, "retain")
	if err != nil {
		return tracker.Record{}, err
	}
	defer unlock()
	snap, err := c.view(ctx)
	if err != nil {
		return tracker.Record{}, err
	}
	i := snap.Find(id)
	var have tracker.Record
	if i >= 0 {
		have = snap.Record(i)
	}
	want, err := change(have, i >= 0)
	switch {
	case err != nil:
		return tracker.Record{}, err
	case i >= 0 && want.Revision() == have.Revision():
		return have, nil
	case want.Kind == tracker.Memory:
		err = c.bd.Change(ctx, "retain", nil, "remember", "--json", "--key="+strings.TrimPrefix(want.ID, tracker.MemoryPrefix), "--", want.Body)
	case i < 0:
		want.ID, err = c.create(ctx, want)
	default:
		err = c.update(ctx, have, want)
	}
	if err != nil {
		return tracker.Record{}, err
	}
	if snap, err = c.view(ctx); err != nil {
		return tracker.Record{}, err
	}
	if i = snap.Find(want.ID); i < 0 {
		return tracker.Record{}, model.Errorf(model.Internal, "retain", "bd took the write, but does not list %q", want.ID)
	}
	return snap.Record(i), nil
}

// flags are the options of bd that set a field.
var flags = map[string]string{
	tracker.FieldTitle: "title", tracker.FieldType: "type", tracker.FieldPriority: "priority", "assignee": "assignee", "parent": "parent",
	"acceptance_criteria": "acceptance", "design": "design", "notes": "notes", "due_at": "due", "defer_until": "defer", "external_ref": "external-ref",
}

// create lets bd make the item; its status and dependencies follow.
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
	labels, err := tracker.SplitNames(want.Field("labels"))
	if err != nil {
		return "", model.Errorf(model.InvalidInput, "retain", "labels: a list of texts")
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
		case tracker.FieldDepends, "labels":
			have.Fields[n].Value = ""
		}
	}
	want.ID = made.ID
	if want.Field(tracker.FieldStatus) == tracker.DefaultStatus && want.Field(tracker.FieldDepends) == "" && len(labels) == 0 {
		return made.ID, nil
	}
	return made.ID, c.update(ctx, have, want)
}

// update runs one update for the fields, then close or the dependencies.
func (c *CLI) update(ctx context.Context, have, want tracker.Record) error {
	var args []string
	closing := want.Field(tracker.FieldStatus) == "closed" && have.Field(tracker.FieldStatus) != "closed"
	for _, f := range want.Fields {
		was := have.Field(f.Name)
		if f.ReadOnly || f.Value == was {
			continue
		}
		switch flag, known := flags[f.Name]; {
		case known:
			args = append(args, "--"+flag+"="+f.Value)
		case f.Name == tracker.FieldStatus && !closing:
			args = append(args, "--status="+f.Value)
		case f.Name == "labels":
			add, drop, err := difference(was, f.Value)
			if err != nil {
				return err
			}
			for _, l := range add {
				args = append(args, "--add-label="+l)
			}
			for _, l := range drop {
				args = append(args, "--remove-label="+l)
			}
		case f.Name == tracker.FieldStatus, f.Name == tracker.FieldDepends, f.Name == "close_reason" && closing:
		default:
			return model.Errorf(model.InvalidInput, "retain", "bd sets no field %q", f.Name)
		}
	}
	for _, f := range have.Fields { // what was left out is emptied
		flag, known := flags[f.Name]
		gone := !slices.ContainsFunc(want.Fields, func(w model.Field) bool { return w.Name == f.Name })
		if known && gone && f.Value != "" {
			args = append(args, "--"+flag+"=")
		}
	}
	if want.Body != have.Body {
		args = append(args, "--description="+want.Body)
	}
	if len(args) > 0 {
		args = append(append([]string{"update", "--json"}, args...), "--", have.ID)
		if err := c.bd.Change(ctx, "retain", nil, args...); err != nil {
			return err
		}
	}
	add, drop, err := difference(have.Field(tracker.FieldDepends), want.Field(tracker.FieldDepends))
	if err != nil {
		return err
	}
	for _, blocker := range add {
		if err := c.bd.Change(ctx, "retain", nil, "dep", "add", "--json", "--", have.ID, blocker); err != nil {
			return err
		}
	}
	for _, blocker := range drop {
		if err := c.bd.Change(ctx, "retain", nil, "dep", "remove", "--json", "--", have.ID, blocker); err != nil {
			return err
		}
	}
	if closing {
		args := []string{"close", "--json"}
		if reason := want.Field("close_reason"); reason != "" {
			args = append(args, "--reason="+reason)
		}
		return c.bd.Change(ctx, "retain", nil, append(args, "--", have.ID)...)
	}
	return nil
}

// difference is what a list gains and what it loses.
func difference(was, is string) (add, drop []string, err error) {
	a, err1 := tracker.SplitNames(was)
	b, err2 := tracker.SplitNames(is)
	if err1 != nil || err2 != nil {
		return nil, nil, model.Errorf(model.InvalidInput, "retain", "a list of names reads a, b or [\"a\", \"b\"]")
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			add = append(add, x)
		}
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			drop = append(drop, x)
		}
	}
	return add, drop, nil
}

// Remove deletes a row; history, remotes and exports keep the text.
func (c *CLI) Remove(ctx context.Context, id string, check func(tracker.Record) error) (bool, error) {
	unlock, err := c.bd.Alone(ctx, "forget")
	if err != nil {
		return false, err
	}
	defer unlock()
	snap, err := c.view(ctx)
	if err != nil {
		return false, err
	}
	i := snap.Find(id)
	if i < 0 {
		return false, nil
	}
	if err := check(snap.Record(i)); err != nil {
		return false, err
	}
	args := []string{"delete", "--force", "--json", "--", id}
	if snap.entries[i].kind == tracker.Memory {
		args = []string{"forget", "--json", "--", snap.entries[i].raw}
	}
	if err := c.bd.Change(ctx, "forget", nil, args...); err != nil {
		return false, err
	}
	return true, nil
}

// Relate adds or removes one pair.
func (c *CLI) Relate(ctx context.Context, d model.Dependency, add bool) error {
	snap, err := c.view(ctx)
	if err != nil {
		return err
	}
	for _, id := range []string{d.Blocked, d.Blocker} {
		if n := snap.Find(id); n < 0 || snap.entries[n].kind != tracker.Issue {
			return model.Errorf(model.NotFound, "depend", "Beat %s not found", id)
		}
	}
	has := slices.Contains(snap.blockers(snap.Find(d.Blocked)), d.Blocker)
	switch {
	case add && has:
		return model.Errorf(model.AlreadyExists, "depend", "Dependency %s -> %s already exists", d.Blocker, d.Blocked)
	case !add && !has:
		return model.Errorf(model.NotFound, "depend", "Dependency %s -> %s not found", d.Blocker, d.Blocked)
	}
	verb := "add"
	if !add {
		verb = "remove"
	}
	return c.bd.Write(ctx, "depend", nil, "dep", verb, "--json", "--", d.Blocked, d.Blocker)
}

// cliNotes say what was opened and what a write to it means.
func cliNotes() []string {
	return []string{
		"this is bd's database through the bd command; issues.jsonl is only an export of it and may be older",
		"bd has no compare-and-swap: between the look and the write another program can slip in",
		"a forgotten item stays in Dolt's history, in remotes and in exports until bd flatten, bd compact and bd gc have run",
	}
}

// keeps reports whether bd keeps a database in the directory: then the JSONL is
// an export.
func keeps(dir string) bool {
	for _, name := range append([]string{"metadata.json"}, doltDirs...) {
		if matches, err := filepath.Glob(filepath.Join(dir, name)); err == nil && len(matches) > 0 {
			return true
		}
	}
	return false
}

// choose decides the port and says why.
func choose(c Config, dir string) (cli bool, why string, err error) {
	name := c.Command
	if name == "" {
		name = "bd"
	}
	switch c.Port {
	case "", "jsonl":
		return false, "", nil
	case "cli":
		return true, "", nil
	case "auto":
		if _, err := exec.LookPath(name); err != nil {
			return false, "the command bd is not installed, so the JSONL was opened", nil
		}
		if !keeps(dir) {
			return false, "bd is installed but keeps no database here, so the JSONL was opened", nil
		}
		return true, "bd is installed and keeps this store, so its command was opened and not the JSONL", nil
	}
	return false, "", model.Errorf(model.InvalidInput, "open", "port %q: it is auto, cli or jsonl", c.Port)
}
