// Package mcpgraph opens the memory.jsonl of the official Model Context Protocol memory server: entities with
// observations and the relations between them, one line each (mcpgraph.md). The server takes no lock and
// writes the whole file, so every change here compares before it renames and reads the file again afterwards.
package mcpgraph

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/internal/entity"
	"memdesk/backends/internal/fields"
	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/internal/vitals"
	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the kind's name in a configuration.
const Kind = "mcpgraph"

// Config says which file to open and how.
type Config struct {
	Name string
	Path string
	// Locks is the directory of the lock files, inside the state directory; empty: read-only.
	Locks    string
	ReadOnly bool
	Clock    clock.Clock
}

// Open opens a graph. A missing or empty file is an empty graph; a file without an entity or a relation is
// opened read-only, with the reason, unless memdesk itself left it so.
func Open(ctx context.Context, c Config) (model.Store, error) {
	f, err := openFile(c.Path, c.Locks)
	if err != nil {
		return model.Store{}, err
	}
	f.mu.Lock()
	err = f.refresh(ctx)
	reason := foreign(f.lines)
	if reason != "" && c.Locks != "" && records.Remembers(c.Locks, Kind, f.path, f.data) {
		reason = "" // memdesk itself removed the last entity or relation: undo and repair are possible
	}
	f.mu.Unlock()
	if err != nil {
		_ = f.Close() // the first error counts
		return model.Store{}, err
	}
	c.Clock = clock.Or(c.Clock)
	var recent *records.Recent
	if c.Locks != "" {
		recent = records.NewRecent(filepath.Dir(c.Locks), f.path, c.Clock)
	}
	reason = cmp.Or(reason, vitals.Unwritable(filepath.Dir(f.path))) // a write replaces the file
	if c.ReadOnly {
		reason = "opened for reading only"
	}
	return records.New(records.Config{
		Name: c.Name, Kind: Kind, Location: c.Path, DB: f, ReadOnlyReason: reason, Clock: c.Clock,
		Tables: []records.Table{entities(), relations(), problems()},
		Notes:  []string{"the memory server takes no lock: a write of the server that began before memdesk's change undoes that change; Health and the next act then say how to repeat it"},
		Deviations: []model.Deviation{{Rule: "R5", Reason: "a text is a list of observations, each begun by `- `"},
			{Rule: "R6", Reason: "appended observations begin on a line of their own, and one that is there is not added again"}},
		Concerning: concerning, Observe: f.observe, Maintainer: medium{f}, Graph: records.Graph{DB: f, Node: node, Links: links}, Repairer: repairer{f, c.Clock}, Recent: recent,
	}), nil
}

// foreign says why a file is not the server's; empty where it is, or where it is empty.
func foreign(lines []line) string {
	first := slices.IndexFunc(lines, func(l line) bool { return l.tier == problemTier })
	known := func(l line) bool { return l.tier == entityTier || l.tier == relationTier }
	if first < 0 || slices.ContainsFunc(lines, known) {
		return ""
	}
	return fmt.Sprintf("no line of the file is an entity or a relation; the first that says something is line %d", first+1)
}

func entities() records.Table {
	return falling(records.Table{
		Tier: model.TierSpec{Name: entityTier, Title: "entities: the observations are the text", KeyRule: model.KeyRequired, KeyHint: "the entity's name", Document: model.Structured, Owned: true, Text: model.TextList},
		From: "items m", Where: "m.tier = 'entity'", Key: "m.key", Size: "m.size", Columns: []string{"m.body", "m.title", "m.etype", "m.name", "m.more"},
		Search: []string{"m.body", "m.key", "m.title", "m.etype"},
		Escape: func(key string) string { return key }, Unescape: func(id string) (string, bool) { return id, entity.Is(id) },
		Item: func(r records.Row) model.Item {
			return model.Item{Body: r.Text(0), Header: model.Header{Title: r.Text(1)}, Meta: append([]model.Field{{Name: "entityType", Value: r.Text(2)}}, others(r.Text(4))...)}
		},
		Parts: observations, Join: join, Save: saveEntity, Create: createEntity,
	}, withEntity).KeepLine()
}

// others shows the members of a line that are in no other field and that the server's next write drops.
func others(more string) []model.Field { return fields.ReadOnly("other", more) }

// observations are those in a body of this kind.
func observations(body string) []string {
	all, _ := entity.Decode(body)
	return all
}

// join adds observations that are missing.
func join(have, more string) string {
	old, err1 := entity.Decode(have)
	add, err2 := entity.Decode(more)
	if err1 != nil || err2 != nil {
		return have + "\n" + more // decoding reports the error
	}
	return entity.Encode(entity.Join(old, add))
}

func saveEntity(tx records.Tx, c *records.Change) error {
	g := tx.(graphTx)
	obs, err := entity.Decode(c.New.Body)
	if err != nil {
		return err
	}
	kind, err := entity.Type(c.New.Meta, c.Row.Text(2))
	if err != nil {
		return err
	}
	raw := g.raw()
	at := slices.IndexFunc(g.lines, func(l line) bool { return l.tier == entityTier && l.id == c.Row.Key })
	o, err := jsonedit.Parse(raw[at])
	if err != nil {
		return model.Errorf(model.Internal, "retain", "the entity's line cannot be read")
	}
	if c.New.Body != c.Old.Body {
		o.Set(jsonedit.QuoteList(obs), "observations")
	}
	if kind != c.Row.Text(2) {
		o.Set(jsonedit.Quote(kind), "entityType")
	}
	raw[at] = o.Line
	return g.edit(raw)
}

func createEntity(tx records.Tx, key string, doc model.Document, _ string) ([]string, error) {
	obs, err := entity.Decode(doc.Body)
	if err != nil {
		return nil, err
	}
	kind, err := entity.Type(doc.Meta, "note")
	if err != nil {
		return nil, err
	}
	text := slices.Concat([]byte(`{"type":"entity","name":`), jsonedit.Quote(entity.Name(key)), []byte(`,"entityType":`), jsonedit.Quote(kind), []byte(`,"observations":`), jsonedit.QuoteList(obs), []byte(`}`))
	g := tx.(graphTx)
	at := len(g.lines)
	for last, l := range g.lines {
		if l.tier == entityTier {
			at = last + 1
		}
	}
	return nil, g.InsertLine(at, text)
}

// Line implements records.Lines.
func (t graphTx) Line(id string) (at int, raw []byte) {
	if at = slices.IndexFunc(t.lines, func(l line) bool { return l.tier != "" && l.id == id }); at >= 0 {
		raw = t.lines[at].raw
	}
	return at, raw
}

// InsertLine implements records.Lines; a final newline stays final, and a file of CRLF lines gets one
// more.
func (t graphTx) InsertLine(at int, text []byte) error {
	raw := t.raw()
	switch {
	case len(t.data) == 0:
		raw, at = nil, 0
	case at >= len(raw):
		at = len(raw)
		if len(raw[at-1]) == 0 {
			at--
		}
	}
	if at < len(raw) && bytes.HasSuffix(raw[0], []byte("\r")) {
		text = append(bytes.TrimSuffix(text, []byte("\r")), '\r')
	}
	return t.edit(slices.Insert(raw, at, text))
}

// withEntity lists the lines that go with an entity, in the order of the file: its relations, and every line that the
// server's own deletion of the name removes: repeated ones, and malformed ones (MG5, MG6).
func withEntity(tx records.Tx, r records.Row) (out []string, err error) {
	g, name := tx.(graphTx), r.Text(3)
	err = tx.Each(`SELECT tier, key, CAST(body AS BLOB) FROM items WHERE origin = ? OR target = ?
		UNION ALL SELECT tier, key, CAST(body AS BLOB) FROM items WHERE tier = 'problem' AND why IN (?, ?, ?)`, []any{name, name, whyDuplicate, whyShape, whyBytes}, func(scan func(...any) error) error {
		var tier, key string
		var raw []byte
		err := scan(&tier, &key, &raw)
		if tier == relationTier || about(raw, name) {
			out = append(out, prefixes[tier]+key)
		}
		return err
	})
	g.places.Sort(out, len(g.lines), func(i int) string { return g.lines[i].id })
	return out, err
}

// about reports whether a problem is an entity of the name, or a relation with it at an end.
func about(raw []byte, name string) bool {
	o, err := jsonedit.Parse(raw)
	if err != nil {
		return false
	}
	has := func(key string) bool { s, ok := text(o, key); return ok && s == name }
	if kind, _ := text(o, "type"); kind == "entity" {
		return has("name")
	}
	return has("from") || has("to")
}

// withRelation lists repeated lines of the same relation: a remaining one would still be the relation.
func withRelation(tx records.Tx, r records.Row) ([]string, error) {
	return tx.(graphTx).repeated("edge/" + r.Key), nil
}

// withProblem lists the later lines of the same bytes: the first of them would have the forgotten line's id.
func withProblem(tx records.Tx, r records.Row) ([]string, error) {
	same := tx.(graphTx).repeated("problem/" + r.Text(0))
	return same[slices.Index(same, "problem/"+r.Key)+1:], nil
}

// repeated are the lines of a relation beside it, by its id, or all problems with a text, by problem/TEXT.
func (f *file) repeated(what string) []string {
	if f.again == nil {
		f.again = map[string][]string{}
		for i := range f.lines {
			l := &f.lines[i]
			if l.why == whyDuplicate {
				id := readLine(l.raw).id
				f.again[id] = append(f.again[id], l.id)
			}
			if l.tier == problemTier {
				f.again["problem/"+l.body] = append(f.again["problem/"+l.body], l.id)
			}
		}
	}
	return f.again[what]
}

// falling sets what goes with a row of a tier, and how both go.
func falling(t records.Table, with func(records.Tx, records.Row) ([]string, error)) records.Table {
	t.Falls = with
	t.Drop = func(tx records.Tx, r records.Row) error {
		ids, err := with(tx, r)
		if err != nil {
			return err
		}
		return drop(tx.(graphTx), slices.Concat(ids, []string{t.Prefix + r.Key}))
	}
	return t
}

// drop removes the lines with these ids.
func drop(g graphTx, ids []string) error {
	gone := make(map[string]bool, len(ids)) // an entity may have as many relations as the file has lines
	for _, id := range ids {
		gone[id] = true
	}
	var raw [][]byte
	for _, l := range g.lines {
		if l.tier == "" || !gone[l.id] {
			raw = append(raw, l.raw)
		}
	}
	return g.edit(raw)
}

func relations() records.Table {
	return falling(records.Table{
		Tier:   model.TierSpec{Name: relationTier, Title: "relations between entities", KeyRule: model.KeyRequired, KeyHint: "FROM/TYPE/TO, by id", Document: model.Structured},
		Prefix: "edge/", From: "items m", Where: "m.tier = 'relation'", Key: "m.key", Size: "m.size", Columns: []string{"m.body", "m.origin", "m.relation", "m.target", "m.more"},
		Search: []string{"m.body", "m.key"},
		Escape: func(key string) string { return key }, Unescape: func(id string) (string, bool) { return id, entity.Is("edge/" + id) },
		Item: func(r records.Row) model.Item {
			return model.Item{Body: r.Text(0), Header: model.Header{Title: r.Text(0), Flags: []model.Flag{model.FlagEdge}}, Meta: append([]model.Field{
				{Name: "from", Value: r.Text(1), ReadOnly: true}, {Name: "relationType", Value: r.Text(2), ReadOnly: true}, {Name: "to", Value: r.Text(3), ReadOnly: true}}, others(r.Text(4))...)}
		},
		Save: func(records.Tx, *records.Change) error {
			return model.Errorf(model.InvalidInput, "retain", "a relation has no text of its own: forget it and create another")
		},
		Create: func(tx records.Tx, key string, _ model.Document, _ string) ([]string, error) {
			from, relation, to, ok := entity.Ends("edge/" + key)
			if !ok {
				return nil, model.Errorf(model.InvalidInput, "retain", "a relation's id is edge/FROM/TYPE/TO, slashes inside a part written %%2F")
			}
			text := slices.Concat([]byte(`{"type":"relation","from":`), jsonedit.Quote(from), []byte(`,"to":`), jsonedit.Quote(to), []byte(`,"relationType":`), jsonedit.Quote(relation), []byte(`}`))
			return nil, tx.(graphTx).InsertLine(len(tx.(graphTx).lines), text)
		},
	}, withRelation).KeepLine()
}

func problems() records.Table {
	return falling(records.Table{
		Tier:   model.TierSpec{Name: problemTier, Title: "lines that the server cannot use: forget one, or set it aside with memdesk repair; none is edited", KeyRule: model.KeyRequired, Document: model.Opaque},
		Prefix: "problem/", From: "items m", Where: "m.tier = 'problem'", Key: "m.key", Size: "m.size", Columns: []string{"CAST(m.body AS BLOB)", "m.line", "m.why"},
		Item: func(r records.Row) model.Item {
			return model.Item{Body: r.Text(0), Header: model.Header{Title: "line " + r.Text(1) + ": " + r.Text(2)}, Meta: []model.Field{
				{Name: "line", Value: r.Text(1), ReadOnly: true}, {Name: "why", Value: r.Text(2), ReadOnly: true}}}
		},
		Create: func(tx records.Tx, key string, doc model.Document, _ string) ([]string, error) {
			raw := []byte(doc.Body)
			if l := readLine(raw); bytes.Contains(raw, []byte("\n")) || !strings.HasPrefix(problem(raw, l.why).id, "problem/"+strings.SplitN(key, "-", 2)[0]) {
				return nil, model.Errorf(model.InvalidInput, "retain", "the text is not the line that the id stands for")
			}
			return nil, tx.(graphTx).InsertLine(len(tx.(graphTx).lines), raw)
		},
	}, withProblem).KeepLine()
}

// concerning finds the entity of a name and the relations with it at an end.
func concerning(tx records.Tx, subjects []string, yield func(id, subject, reason string)) error {
	for _, s := range subjects {
		err := tx.Each(`SELECT tier, key FROM items WHERE tier = 'entity' AND name = ? OR tier = 'relation' AND (origin = ? OR target = ?)`, []any{s, s, s}, func(scan func(...any) error) error {
			var tier, key string
			err := scan(&tier, &key)
			why := "its name"
			if tier == relationTier {
				why = "a relation with the person at an end"
			}
			yield(prefixes[tier]+key, s, why)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
