// Package record is a pane over a source of records: a windowed list, a filter, an order, marks
// and a detail. What a list shows is a value, Kind.
package record
