// Package dialog asks before an act, from the first key to the result of the act.
package dialog
