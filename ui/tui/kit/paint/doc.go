// Package paint holds the palette, the signs and the row: everything that decides how a
// line of the screen looks. It accepts safe text only.
package paint
