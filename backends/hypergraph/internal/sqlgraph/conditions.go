// Package sqlgraph is shared by the hypergraph stores over SQL: which rows an operation means, how
// lists are paged, how the graph is walked, what a node or edge must be. It knows no driver and keeps
// no connection; the differences between two databases are their Dialect.
package sqlgraph

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/backends/hypergraph"
)

// Query runs statements, inside one transaction or each on its own. Its errors are
// *model.Error.
type Query interface {
	// Op names the operation in errors.
	Op() string
	// Exec runs one statement and returns how many rows it changed.
	Exec(text string, args ...any) (int64, error)
	// Each calls fn with every row; fn's first error stops it.
	Each(text string, args []any, fn func(scan func(...any) error) error) error
	// One scans the first row into dest and reports whether there was one.
	One(text string, args []any, dest ...any) (bool, error)
}

// Conditions are the parts of a WHERE clause, joined by AND, with the parameters of the whole
// statement. The zero value numbers parameters as SQLite does.
type Conditions struct {
	// Dollar: parameters are $1, $2 and a list is one parameter, as in PostgreSQL.
	Dollar bool
	Parts  []string
	Args   []any
}

// Param adds a parameter and returns its name, which may be used anywhere in the statement.
func (c *Conditions) Param(v any) string {
	c.Args = append(c.Args, v)
	if c.Dollar {
		return `$` + strconv.Itoa(len(c.Args))
	}
	return `?` + strconv.Itoa(len(c.Args))
}

// SQL adds parameters and replaces the text's question marks by their names.
func (c *Conditions) SQL(text string, args ...any) string {
	var b strings.Builder
	for _, v := range args {
		before, after, _ := strings.Cut(text, "?")
		b.WriteString(before)
		b.WriteString(c.Param(v))
		text = after
	}
	b.WriteString(text)
	return b.String()
}

// Add appends a part with a question mark for each of its parameters.
func (c *Conditions) Add(text string, args ...any) {
	c.Parts = append(c.Parts, c.SQL(text, args...))
}

// In keeps rows whose expression is one of the values; no value is no constraint.
func (c *Conditions) In(expr string, values []string) { c.list(expr, ``, values) }

// NotIn drops rows whose expression is one of the values.
func (c *Conditions) NotIn(expr string, values []string) { c.list(expr, `NOT `, values) }

func (c *Conditions) list(expr, not string, values []string) {
	switch {
	case len(values) == 0:
	case c.Dollar:
		c.Add(not+expr+` = ANY(?)`, slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !Storable(v) }))
	default:
		names := make([]string, len(values))
		for i, v := range values {
			names[i] = c.Param(v)
		}
		c.Parts = append(c.Parts, expr+` `+not+`IN (`+strings.Join(names, `,`)+`)`)
	}
}

// None keeps no row.
func (c *Conditions) None() { c.Parts = append(c.Parts, `1 = 0`) }

// Where is the clause with a leading blank; empty without conditions.
func (c *Conditions) Where() string {
	if len(c.Parts) == 0 {
		return ""
	}
	return ` WHERE ` + strings.Join(c.Parts, ` AND `)
}

// Clone is a copy that shares no memory with c.
func (c *Conditions) Clone() Conditions {
	return Conditions{Dollar: c.Dollar, Parts: slices.Clone(c.Parts), Args: slices.Clone(c.Args)}
}

// Columns are the expressions that filters use.
type Columns struct {
	ID, Type, Tier, Subtype, Confidence, Subject string
	// Time compares a creation time; the times after and before themselves are excluded.
	Time func(c *Conditions, sign string, t time.Time)
}

// Nodes adds a filter over nodes.
func (c *Conditions) Nodes(f hypergraph.NodeFilter, col Columns) {
	c.In(col.ID, f.IDs)
	c.In(col.Type, f.Types)
	c.In(col.Tier, f.Tiers)
	c.In(col.Subtype, f.Subtypes)
	c.NotIn(col.Subtype, f.NotSubtypes)
	if f.MinConfidence > 0 {
		c.Add(col.Confidence+` >= ?`, f.MinConfidence)
	}
	c.times(f, col)
	switch {
	case f.SubjectID == "":
	case col.Subject == "" || !Storable(f.SubjectID): // no node of such a store names a subject
		c.None()
	default:
		c.Add(col.Subject+` = ? AND `+col.Subject+` <> ''`, f.SubjectID)
	}
}

// Edges adds a filter over edges: a filter on a property that only nodes have keeps none.
func (c *Conditions) Edges(f hypergraph.NodeFilter, col Columns) {
	c.In(col.ID, f.IDs)
	c.In(col.Type, f.Types)
	c.times(f, col)
	tier := len(f.Tiers) == 0 || slices.Contains(f.Tiers, hypergraph.EdgeTier)
	if len(f.Subtypes) > 0 || f.SubjectID != "" || f.MinConfidence > 0 || !tier {
		c.None()
	}
}

func (c *Conditions) times(f hypergraph.NodeFilter, col Columns) {
	if !f.CreatedAfter.IsZero() {
		col.Time(c, ` > `, f.CreatedAfter)
	}
	if !f.CreatedBefore.IsZero() {
		col.Time(c, ` < `, f.CreatedBefore)
	}
}
