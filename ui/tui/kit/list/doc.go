// Package list moves through a list that lives in a store: a window of pages around the
// cursor, the way to a row that is not loaded, marks, filters. It draws nothing.
package list
