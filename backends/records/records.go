// Package records shows rows of other programs' tables as items. A kind declares its tables: where a row's
// key, scope, time and text are, how a row becomes an item, and how an edit or a removal is written. Lists,
// recall, texts and the four verbs are here, once for all kinds; nothing here knows a table by name.
package records

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/title"
	"memdesk/backends/internal/verdicts"
	"memdesk/backends/internal/vitals"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Tx runs statements in one transaction. Parameters are written `?` and given in order.
type Tx interface {
	// Each hands every row to fn.
	Each(text string, args []any, fn func(scan func(...any) error) error) error
	// Exec runs one statement and returns how many rows it changed.
	Exec(text string, args ...any) (int64, error)
}

// One scans the first row into dest and reports whether there was one.
func One(tx Tx, text string, args []any, dest ...any) (found bool, err error) {
	err = tx.Each(text, args, func(scan func(...any) error) error {
		if found {
			return nil
		}
		found = true
		return scan(dest...)
	})
	return found, err
}

// IDs reads the only column of every row as a key, and returns the ids with this prefix.
func IDs(tx Tx, prefix, query string, args ...any) ([]string, error) {
	keys, err := litefile.Texts(tx, query, args...)
	for i, key := range keys {
		keys[i] = prefix + Escape(key)
	}
	return keys, err
}

// DB is the medium of a kind: snapshots for reading, transactions for changes. Errors are
// *model.Error values.
type DB interface {
	View(ctx context.Context, op string, fn func(Tx) error) error
	Change(ctx context.Context, op string, fn func(Tx) error) error
	// Look reports problems of the medium within Health's deadline, Deep those that take longer to find.
	Look(now time.Time) []model.HealthFinding
	Deep(ctx context.Context) []model.HealthFinding
	Close() error
}

// Row is one row as its table's expressions give it.
type Row struct {
	Key   string
	Scope string
	At    time.Time // zero where the row has no readable time
	Cells []any     // the values of Table.Columns: string, []byte, int64, float64, bool or nil
}

// Text is a cell as text; empty for nil and any other type.
func (r Row) Text(i int) string {
	switch v := r.Cells[i].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case float64:
		return formatReal(v)
	case int64, bool:
		return fmt.Sprint(v)
	}
	return ""
}

// Change is one write to an existing row: its old and its new state.
type Change struct {
	Row      Row
	Old      model.Item
	New      model.Document
	Now      time.Time
	Warnings []string // warnings for the operator, added by Save

	whole bool // the kept columns were written
}

// Table is one tier of a store: the rows of a foreign table as items. Expressions are SQL
// of the store's own dialect.
type Table struct {
	Tier   model.TierSpec
	Prefix string // of the ids, "message/"; empty: the id is the key
	From   string // the table with its joins
	Where  string // rows that are items; empty: all
	Key    string // text, unique in the table, never null
	Scope  string // text; empty: every item has the empty scope
	// ScopeOf writes the value of Scope as people read it, and ScopeIn reverses it; nil: it is the same.
	ScopeOf, ScopeIn func(string) string
	At               string // text that sorts by time; empty: the rows have no time
	Size             string // bytes of the body; empty: every row is read to count them
	Gone             string // condition of rows that the owner's program hides; empty: none
	Vector           string // the row's vector, float32 little-endian or `[1,2]`; empty: it has none
	// Columns are the expressions that Item needs.
	Columns []string
	// Search are expressions of text, and SearchJSON of JSON, that together contain every word of an item's
	// key, title, body and metadata: rows without a wanted word are then not read. Both empty: every row is
	// read.
	Search, SearchJSON []string
	// Recall is the text that Recall searches; nil: the whole item.
	Recall *Words
	// Item makes the item's title, body, metadata and flags; the rest is set by this package.
	Item func(Row) model.Item
	// ReadOnly says why an item cannot be edited; empty: it can. nil: all can. An erasure that only removes, or
	// replaces removed text by its mark, reaches Save all the same.
	ReadOnly func(Row, model.Item) string
	// Save writes an edit. nil: the tier accepts none, and Tier.Title says why.
	Save func(Tx, *Change) error
	// Own is where Save writes; nil: a document holds all that an edit can displace.
	Own *Own
	// Create makes a row; nil: only the store's owner makes items. now is the time in ISO 8601 with
	// milliseconds.
	Create func(tx Tx, key string, doc model.Document, now string) (warnings []string, err error)
	// Parts are the parts of a text that an edit can change one by one: a change of which all parts are gone
	// was undone. nil: a text is one part.
	Parts func(body string) []string
	// Join appends new text to the existing one; nil joins without a separator.
	Join func(have, more string) string
	// Drop removes a row and everything that falls with it.
	Drop func(Tx, Row) error
	// DropKeeping removes a row and leaves the store's record of its earlier texts; nil: the store keeps
	// none.
	DropKeeping func(Tx, Row) error
	// Keep returns the rows that Drop would remove or change, and Revive writes missing ones again; nil: a
	// dropped row cannot be restored unchanged.
	Keep   func(Tx, Row) ([]model.BesideRow, error)
	Revive func(tx Tx, key string, rows []model.BesideRow) error
	// Recreate makes a row of this store again that Create might refuse: another program wrote it; nil: Create.
	Recreate func(tx Tx, key string, doc model.Document) error
	// Renew writes what an item that is made again has of its old row (model.FileRow), which Keep returns; nil: nothing.
	Renew func(tx Tx, key string, row model.BesideRow) error
	// Past yields the earlier texts of a row, the newest first (changes the oldest first), also of a removed one; if a version is given,
	// only that one. nil: the store keeps none.
	Past func(tx Tx, key, version string, yield func(Version)) error
	// Falls names the items that Drop removes with the row; nil: none.
	Falls func(Tx, Row) ([]string, error)
	// Stays says which data of a row Drop leaves elsewhere; nil: none.
	Stays func(Tx, Row) ([]string, error)
	// Lookup is a condition for the rows with these keys, where the key's expression has no index; nil
	// compares the expression.
	Lookup func(keys []string) (cond string, args []any)
	// Escape makes an id from a key; nil percent-encodes `%`, `/`, controls and bytes that are no UTF-8.
	Escape func(key string) string
	// Unescape is its inverse; nil decodes percent-encoding.
	Unescape func(id string) (key string, ok bool)

	lite bool // in SQLite
}

// Words are the parts that Recall searches: expressions of text and of JSON that together contain every word
// of the title, the body and these fields.
type Words struct{ Text, JSON, Fields []string }

// Config describes a kind to New.
type Config struct {
	Name, Kind, Location string
	Files                []string // model.Store.Files
	DB                   DB
	Tables               []Table
	ReadOnlyReason       string // empty: the store can be changed
	Remote               bool   // Health has a second to answer instead of 200 ms (provider-contract.md R35)
	Collate              string // makes text compare by bytes: COLLATE "C"; empty where that is the default
	Like                 string // the operator that ignores letter case: ILIKE; empty: LIKE
	Clock                clock.Clock
	Notes                []string
	Deviations           []model.Deviation
	// Bound says what a read of the store lacks, where it is incomplete; nil: it is always complete.
	Bound func(tx Tx) (string, error)
	// Concerning yields the ids of the items that belong to one of the subjects, and why.
	Concerning func(tx Tx, subjects []string, yield func(id, subject, reason string)) error
	// Observe reports problems of the store's content.
	Observe    func(tx Tx) ([]model.HealthFinding, error)
	Maintainer model.Maintainer
	Graph      model.Graph
	Repairer   model.Repairer
	// Recent watches the last writes; nil where the owner's program undoes none.
	Recent *Recent
	// Origin returns an item's writer, from its metadata; nil: the rows do not say.
	Origin func(model.Item) (model.Origin, bool)
}

// store is the Provider and the facets over a kind's tables.
type store struct {
	Config
	scanner *verdicts.Cache
	vitals  vitals.Gate
}

// New makes a store. It owns the DB and closes it.
func New(c Config) model.Store {
	c.Clock = clock.Or(c.Clock)
	a := &store{Config: c, scanner: verdicts.New()}
	s := model.Store{
		Name: c.Name, Kind: c.Kind, Location: c.Location, Files: c.Files,
		ReadOnly: c.ReadOnlyReason != "", ReadOnlyReason: c.ReadOnlyReason,
		Orders: []model.Order{model.OrderID, model.OrderNewest, model.OrderOldest},
		Notes:  c.Notes, Deviations: c.Deviations,
		Provider: a, Browser: a, Texts: a,
		Maintainer: c.Maintainer, Graph: c.Graph, Repairer: c.Repairer, Origin: c.Origin, Address: a.address, Closer: a.close,
	}
	const why = "whom an item concerns is told by the owner's own keys: a write cannot tag it"
	s.Deviations = append(s.Deviations, model.Deviation{Rule: "R33", Reason: why + ", so a person's items are forgotten one by one"})
	if c.Concerning != nil {
		s.Subjects = a
		s.Deviations = append(s.Deviations, model.Deviation{Rule: "D18", Reason: why})
	}
	for i, t := range c.Tables {
		a.Tables[i].lite = c.Collate == ""
		if t.DropKeeping != nil {
			s.Features = map[string]bool{"keep_history": true}
		}
		spec := t.Tier
		spec.Writable = t.Save != nil && !s.ReadOnly
		spec.Sealed, spec.OwnerMakes, spec.Restores = t.Save == nil, t.Create == nil, t.Revive != nil
		s.Tiers = append(s.Tiers, spec)
	}
	if slices.ContainsFunc(c.Tables, func(t Table) bool { return t.Falls != nil }) {
		s.Falls = a.falls
	}
	if slices.ContainsFunc(c.Tables, func(t Table) bool { return t.Vector != "" }) {
		s.Beside = a.beside
	}
	if slices.ContainsFunc(c.Tables, func(t Table) bool { return t.Keep != nil }) {
		s.Keep = a.keep
	}
	if slices.ContainsFunc(c.Tables, func(t Table) bool { return t.Past != nil }) {
		s.History = a
	}
	return s
}

// table finds a tier's table.
func (a *store) table(op, tier string) (*Table, error) {
	var names []string
	for i := range a.Tables {
		if a.Tables[i].Tier.Name == tier {
			return &a.Tables[i], nil
		}
		names = append(names, a.Tables[i].Tier.Name)
	}
	return nil, model.Errorf(model.InvalidInput, op, "unknown tier %q; there are %s", tier, strings.Join(names, ", "))
}

// locate returns the table and key of an id.
func (a *store) locate(op, id string) (*Table, string, error) {
	var bare *Table
	for i := range a.Tables {
		t := &a.Tables[i]
		if t.Prefix == "" {
			bare = t
			continue
		}
		if rest, ok := strings.CutPrefix(id, t.Prefix); ok {
			if key, ok := t.unescape(rest); ok {
				return t, key, nil
			}
		}
	}
	if bare != nil && id != "" {
		if key, ok := bare.unescape(id); ok && bare.id(key) == id {
			return bare, key, nil
		}
	}
	return nil, "", absent(op, id)
}

func (t *Table) id(key string) string {
	if t.Escape != nil {
		return t.Prefix + t.Escape(key)
	}
	return t.Prefix + Escape(key)
}

func (t *Table) unescape(id string) (string, bool) {
	if t.Unescape != nil {
		return t.Unescape(id)
	}
	return Unescape(id)
}

// item makes the whole item of a row.
func (t *Table) item(r Row) model.Item {
	it := t.Item(r)
	it.ID, it.Tier, it.Scope, it.Modified, it.Bytes = t.id(r.Key), t.Tier.Name, t.scope(r.Scope), r.At, int64(len(it.Body))
	it.Title = cmp.Or(it.Title, title.Line(it.Body))
	if t.readOnly(r, it) != "" && !it.Has(model.FlagReadOnly) {
		it.Flags = append(it.Flags, model.FlagReadOnly)
	}
	it.Revision = model.RevisionOf(it.Document())
	all := slices.Clone(it.Meta)
	for i := range all {
		all[i].ReadOnly = false
	}
	it.Stamp = string(model.RevisionOf(model.Document{Meta: all, Body: it.Body}))
	return it
}

// scope is the scope of an item, from the value of Scope.
func (t *Table) scope(value string) string {
	if t.ScopeOf == nil {
		return value
	}
	return t.ScopeOf(value)
}

// inScope is the condition of the rows of a scope, with its argument. A scope has one spelling, that of ScopeOf.
func (t *Table) inScope(scope string) (cond string, arg any) {
	cond, value := `(`+t.Scope+`) = ?`, scope
	if t.ScopeIn != nil {
		value = t.ScopeIn(scope)
	}
	if t.scope(value) != scope {
		cond += ` AND 1 = 0`
	}
	return cond, value
}

func (t *Table) readOnly(r Row, it model.Item) string {
	switch {
	case t.Save == nil:
		return t.Tier.Title
	case t.ReadOnly != nil:
		return t.ReadOnly(r, it)
	}
	return ""
}

// begin makes the checks that every operation needs.
func (a *store) begin(ctx context.Context, op string, changes bool) error {
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	if changes && a.ReadOnlyReason != "" {
		return model.Refuse(op, a.ReadOnlyReason)
	}
	return nil
}

// absent words the id as people type it.
func absent(op, id string) error {
	return model.Errorf(model.NotFound, op, "this store has no item %.200q", model.EncodeID(id))
}
