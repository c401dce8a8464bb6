// Package paint holds the palette, the signs and the row: all of a line's looks. It accepts safe
// text only.
package paint
