// Package record is a pane over a source of records: a windowed list, a filter, an order, marks and
// a detail. A Kind says what a list shows.
package record
