// Package text shows and takes text: the pager over a text of any size with its search, and the
// input line.
package text
