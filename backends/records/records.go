// Package records shows rows of other programs' tables as items. A kind declares its tables: where a row's key, scope, time and
// text lie, how a row becomes an item, and how an edit or a removal is written. Lists, recall, texts and the four verbs are here,
// once for all kinds; nothing here knows a table by name.
package records

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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

// DB is the medium of a kind: snapshots for reading, transactions for changes. Errors are
// *model.Error values.
type DB interface {
	View(ctx context.Context, op string, fn func(Tx) error) error
	Change(ctx context.Context, op string, fn func(Tx) error) error
	// Look tells within Health's deadline what is wrong with the medium, Deep what takes longer
	// to find out.
	Look(now time.Time) []model.HealthFinding
	Deep(ctx context.Context) []model.HealthFinding
	Close() error
}

// Row is one row as its table's expressions give it.
type Row struct {
	Key   string
	Scope string
	At    time.Time // zero where the row has none that can be read
	Cells []any     // the values of Table.Columns: string, []byte, int64, float64, bool or nil
}

// Text is a cell as text; nil and what is no text are empty.
func (r Row) Text(i int) string {
	switch v := r.Cells[i].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64, float64, bool:
		return fmt.Sprint(v)
	}
	return ""
}

// Change is one write to a row that stands: what it was and what it becomes.
type Change struct {
	Row      Row
	Old      model.Item
	New      model.Document
	Now      time.Time
	Warnings []string // Save adds what the operator must know
}

// Table is one tier of a store: the rows of a foreign table as items. Expressions are SQL
// of the store's own dialect.
type Table struct {
	Tier   model.TierSpec
	Prefix string // of the ids, "message/"; empty: the id is the key
	From   string // the table and what it is joined with
	Where  string // rows that are items; empty: all
	Key    string // text, unique in the table, never null
	Scope  string // text; empty: every item has the empty scope
	At     string // text that sorts by time; empty: the rows have no time
	Size   string // bytes of the body; empty: every row is read to count them
	Gone   string // condition of rows that the owner's program does not show; empty: none
	Vector string // the row's vector, float32 little-endian or `[1,2]`; empty: it has none
	// Columns are the expressions that Item needs.
	Columns []string
	// Search are expressions of text, and SearchJSON of JSON, that together hold every word of an
	// item's id, title, body and metadata: rows without a word that is looked for are then not read.
	// Both empty: every row is.
	Search, SearchJSON []string
	// Recall is the text that Recall searches; nil: all of the item.
	Recall *Words
	// Item makes the item's title, body, metadata and flags; the rest is set by this package.
	Item func(Row) model.Item
	// ReadOnly says why an item takes no edit; empty: it takes one. nil: all take one. An edit
	// that only removes, or puts the mark of an erasure in the place of what it removes, reaches
	// Save all the same.
	ReadOnly func(Row, model.Item) string
	// Save writes an edit. nil: the tier takes none, and Tier.Title says why.
	Save func(Tx, *Change) error
	// Create makes a row; nil: this store's items are made by its owner alone.
	// now is the time in the form of ISO 8601 with milliseconds.
	Create func(tx Tx, key string, doc model.Document, now string) (warnings []string, err error)
	// Parts are what an edit can change one by one in a text: a change of which all parts are gone was
	// undone. nil: a text is one part.
	Parts func(body string) []string
	// Join puts new text behind what is there; nil joins without anything between.
	Join func(have, more string) string
	// Drop removes a row and everything that falls with it.
	Drop func(Tx, Row) error
	// DropKeeping removes a row and leaves what the store keeps of its earlier texts; nil: the
	// store keeps none.
	DropKeeping func(Tx, Row) error
	// Keep gives the rows that Drop would remove or change, and Revive writes them again where they
	// are missing; nil: a row that was dropped is not put back as it was.
	Keep   func(Tx, Row) ([]model.BesideRow, error)
	Revive func(tx Tx, key string, rows []model.BesideRow) error
	// Past hands out the earlier texts of a row, the newest first, also of one that is gone; where a
	// version is given only that one is wanted. nil: the store keeps none.
	Past func(tx Tx, key, version string, yield func(Version)) error
	// Falls names the items that Drop takes with the row; nil: none.
	Falls func(Tx, Row) ([]string, error)
	// Stays says what of a row Drop leaves elsewhere; nil: nothing.
	Stays func(Tx, Row) ([]string, error)
	// Lookup is a condition for the rows with these keys, where the key's expression has no
	// index; nil compares the expression.
	Lookup func(keys []string) (cond string, args []any)
	// Escape makes an id of a key; nil percent-encodes `%`, `/`, controls and what is no UTF-8.
	Escape func(key string) string
	// Unescape is its inverse; nil decodes percent-encoding.
	Unescape func(id string) (key string, ok bool)
}

// Words are where Recall looks: expressions of text and of JSON that together hold every word of the
// title, the body and these fields.
type Words struct{ Text, JSON, Fields []string }

// Config describes a kind to New.
type Config struct {
	Name, Kind, Location string
	DB                   DB
	Tables               []Table
	ReadOnlyReason       string // empty: the store can be changed
	Remote               bool   // Health has a second to answer instead of 200 ms (provider-contract.md R35)
	Collate              string // makes text compare by bytes: COLLATE "C"; empty where it does
	Like                 string // the operator that compares without regard to letter case: ILIKE; empty: LIKE
	Clock                clock.Clock
	Notes                []string
	Deviations           []model.Deviation
	// Bound says in words what a look at the store lacks, where it is not whole; nil: it always is.
	Bound func(tx Tx) (string, error)
	// Concerning gives the ids of the items that belong to one of the subjects, and why.
	Concerning func(tx Tx, subjects []string, yield func(id, subject, reason string)) error
	// Observe says what is wrong with the store's content.
	Observe    func(tx Tx) ([]model.HealthFinding, error)
	Maintainer model.Maintainer
	Graph      model.Graph
	Repairer   model.Repairer
	// Recent watches the last writes; nil where the owner's program undoes none.
	Recent *Recent
	// Origin says who wrote an item, by its metadata; nil: the rows tell nothing of it.
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
	if c.Clock == nil {
		c.Clock = clock.System{}
	}
	a := &store{Config: c, scanner: verdicts.New()}
	s := model.Store{
		Name: c.Name, Kind: c.Kind, Location: c.Location,
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
	for _, t := range c.Tables {
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
	if slices.ContainsFunc(c.Tables, func(t Table) bool { return t.Revive != nil }) {
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
	return nil, model.Errorf(model.InvalidInput, op, "unknown tier %q: there are %s", tier, strings.Join(names, ", "))
}

// locate tells which table and key an id stands for.
func (a *store) locate(op, id string) (*Table, string, error) {
	var bare *Table
	for i := range a.Tables {
		t := &a.Tables[i]
		if t.Prefix == "" {
			bare = t
			continue
		}
		if rest, ok := strings.CutPrefix(id, t.Prefix); ok && rest != "" {
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
	return nil, "", model.Errorf(model.NotFound, op, "this store has no item %.200q", id)
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
	it.ID, it.Tier, it.Scope, it.Modified, it.Bytes = t.id(r.Key), t.Tier.Name, r.Scope, r.At, int64(len(it.Body))
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

func (t *Table) readOnly(r Row, it model.Item) string {
	switch {
	case t.Save == nil:
		return t.Tier.Title
	case t.ReadOnly != nil:
		return t.ReadOnly(r, it)
	}
	return ""
}

// begin is what every operation checks first.
func (a *store) begin(ctx context.Context, op string, changes bool) error {
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	if changes && a.ReadOnlyReason != "" {
		return model.Refuse(op, a.ReadOnlyReason)
	}
	return nil
}
