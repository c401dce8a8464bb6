// Package paint holds the palette, the signs and the row. It accepts safe text only.
package paint
