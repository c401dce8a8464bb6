package safetext

import (
	"sync"
	"unicode"
)

// class says how a valid, non-ASCII code point may appear on a terminal.
type class uint8

const (
	unsafe   class = iota // never as itself
	plain                 // a base with a width of its own
	emoji                 // plain, and may carry U+FE0F or a skin tone
	mark                  // joins the character before it
	linker                // a mark that may join the next letter as well
	modifier              // a skin tone: only directly after an emoji
	selector              // U+FE0F: only directly after an emoji
	quoted                // introduces one of this package's forms
)

const (
	open      = '⟦'
	shut      = '⟧'
	newline   = '⏎'
	vs16      = '\uFE0F'
	keycap    = '\u20E3'
	tagFirst  = 0xE0020
	tagLast   = 0xE007E
	tagOffset = 0xE0000
)

// tableSize covers every code point that can be anything but unsafe: planes 0 to 3. Code points above are
// private, unassigned, tags or selectors.
const tableSize = 0x40000

// classes is built on first use from the Unicode tables: one byte per code
// point keeps text in any script on a path without binary searches.
var classes = sync.OnceValue(func() *[tableSize]class {
	t := new([tableSize]class)
	for _, rt := range []*unicode.RangeTable{unicode.L, unicode.N, unicode.P, unicode.S, unicode.Zs} {
		fill(t, rt, plain)
	}
	fill(t, unicode.M, mark)
	fill(t, emojiBases, emoji)
	fill(t, joining, mark)
	fill(t, linkers, linker)
	fill(t, never, unsafe)
	for r := rune(0x1F3FB); r <= 0x1F3FF; r++ {
		t[r] = modifier
	}
	t[vs16] = selector
	t[open], t[newline] = quoted, quoted
	return t
})

func fill(t *[tableSize]class, rt *unicode.RangeTable, c class) {
	for _, r := range rt.R16 {
		for v := uint32(r.Lo); v <= uint32(r.Hi); v += uint32(r.Stride) {
			t[v] = c
		}
	}
	for _, r := range rt.R32 {
		for v := r.Lo; v <= r.Hi && v < tableSize; v += r.Stride {
			t[v] = c
		}
	}
}

func classify(r rune) class {
	if r >= tableSize {
		return unsafe
	}
	return classes()[r]
}

// joining lists letters that Unicode attaches to the character before them:
// without a limit, thousands of them share one cell.
var joining = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0E33, 0x0E33, 1}, {0x0EB3, 0x0EB3, 1}, // Thai and Lao AM
		{0x1161, 0x11FF, 1}, {0xD7B0, 0xD7C6, 1}, {0xD7CB, 0xD7FB, 1}, // Hangul vowels and finals
		{0xFF9E, 0xFF9F, 1}, // halfwidth voiced marks
	},
}

// linkers are the viramas that make one cluster of the letters around them
// (Indic_Conjunct_Break=Linker): a chain of them shares one cell, too.
var linkers = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x094D, 0x094D, 1}, {0x09CD, 0x09CD, 1}, {0x0ACD, 0x0ACD, 1}, {0x0B4D, 0x0B4D, 1},
		{0x0C4D, 0x0C4D, 1}, {0x0D4D, 0x0D4D, 1}, {0x1039, 0x1039, 1}, {0x17D2, 0x17D2, 1},
		{0x1A60, 0x1A60, 1}, {0x1B44, 0x1B44, 1}, {0x1BAB, 0x1BAB, 1}, {0xA9C0, 0xA9C0, 1},
		{0xAAF6, 0xAAF6, 1},
	},
	R32: []unicode.Range32{
		{0x10A3F, 0x10A3F, 1}, {0x11133, 0x11133, 1}, {0x1193E, 0x1193E, 1},
		{0x11A47, 0x11A47, 1}, {0x11A99, 0x11A99, 1}, {0x11F42, 0x11F42, 1},
	},
}

// never lists assigned letters, marks and blanks that must be shown by number. Format characters (Cf),
// unassigned and private code points and controls are unsafe already, because no table above contains them.
var never = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034F, 0x034F, 1}, // combining grapheme joiner
		{0x0D4E, 0x0D4E, 1}, // joins whatever follows, even one of our forms
		{0x115F, 0x1160, 1}, // Hangul fillers
		{0x17B4, 0x17B5, 1}, // invisible Khmer vowels
		{0x180B, 0x180F, 1}, // Mongolian selectors
		{0x2800, 0x2800, 1}, // blank braille
		{0x3164, 0x3164, 1}, // Hangul filler
		{0xFE00, 0xFE0F, 1}, // variation selectors
		{0xFFA0, 0xFFA0, 1}, // halfwidth Hangul filler
		{0xFFFC, 0xFFFC, 1}, // object replacement: no glyph of its own
	},
	R32: []unicode.Range32{
		{0x111C2, 0x111C3, 1}, {0x1193F, 0x1193F, 1}, {0x11941, 0x11941, 1}, // join what follows
		{0x11A3A, 0x11A3A, 1}, {0x11A84, 0x11A89, 1}, {0x11D46, 0x11D46, 1}, {0x11F02, 0x11F02, 1},
		{0x16FE4, 0x16FE4, 1}, // Khitan filler
	},
}
