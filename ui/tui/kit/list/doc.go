// Package list moves through a list in a store: pages around the cursor, the way to a row, marks, filters.
package list
