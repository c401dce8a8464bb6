// Package record is a pane over a source of records: a windowed list, a filter, an order, marks and
// a detail. A Kind says what a list shows.
//
// The type of the records stays inside the package that lists them: others see a desk.Listing. A field or a
// method that names List[T] has all of List compiled again in every package that uses its type; a function
// has it compiled once.
package record
