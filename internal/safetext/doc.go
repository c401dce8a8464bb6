// Package safetext turns bytes from outside (a store, a file name, an error, an
// HTTP body) into the only type a screen, a log or plain output accepts, by
// escaping them visibly; it never strips, styles, lays out panes or decides
// what is an attack. Rules: terminal-safety.md, DESIGN.md rule 5.
//
// # Forms
//
// Everything that could drive, reorder, hide on or widen a terminal line is
// replaced by one of these forms:
//
//	^[ ^G ^?               C0 controls and DEL (a tab in a line is ^I)
//	⏎                      newline inside a single line (^J in ASCII)
//	\x9b                   a byte that is not part of valid UTF-8
//	<U+009B>               C1 control; in ASCII, every non-ASCII code point
//	⟦U+202E⟧               other hidden, reordering, unassigned or private code points
//	⟦U+0301×40⟧            the same excess combining mark forty times
//	⟦tag:hello⟧            tag characters, decoded
//	⟦… 1200 more bytes⟧    what a limit cut (<... 1200 more bytes> in ASCII)
//	⟦^⟧                    a literal ^ that would have read as a form
//
// The last line makes the forms unambiguous. A literal ^, \ or < is quoted only
// where the text would otherwise read as a form, so x^2, C:\xfoo and a<b stay as
// they are and only a stored "^[" shows as "⟦^⟧[". A literal ⟦ or ⏎ is always
// quoted. So the original bytes can be recovered, and [Marks] finds exactly the
// escapes that this package made.
//
// # What stays
//
// At most eight combining marks per base stay as they are. U+FE0F stays after
// an emoji, one skin tone stays after an emoji, and every joiner is shown, so
// an emoji sequence appears as its parts.
package safetext
