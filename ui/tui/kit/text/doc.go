// Package text shows and takes text: the pager with its search, and the input line.
package text
