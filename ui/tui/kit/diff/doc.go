// Package diff compares two texts by lines and words, and merges two changes of one text.
package diff
