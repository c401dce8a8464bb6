// Package dialog asks before an act: a question with fields and buttons, from the first key to the
// result of the act.
package dialog
