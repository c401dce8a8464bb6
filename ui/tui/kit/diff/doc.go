// Package diff compares two texts by lines and words, and joins two changes of one text.
package diff
