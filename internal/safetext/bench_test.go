package safetext_test

import (
	"io"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
)

// benchmarkBodies are ten megabytes each, so that ns/op compares across them.
var benchmarkBodies = []struct{ name, body string }{
	{"ascii", repeat("the quick brown fox jumps over it ", 10<<20/34)},
	{"mixed", repeat("naïve 漢字 Жук हिन्दी text ", 10<<20/38)},
	{"hostile", repeat("\x1b[31m\u202e\x9b", 10<<20/9)},
	{"marks", "e" + repeat("\u0301\u0302", 10<<20/4)},
	{"carets", repeat("^", 10<<20)},
}

func BenchmarkLine10MB(b *testing.B) {
	for _, bm := range benchmarkBodies {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.body)))
			b.ReportAllocs()
			for b.Loop() {
				safetext.Line(bm.body)
			}
		})
		// The peer strips, which is a different task; the ratio shows the cost of escaping against it.
		b.Run(bm.name+"/ansi.Strip", func(b *testing.B) {
			b.SetBytes(int64(len(bm.body)))
			for b.Loop() {
				ansi.Strip(bm.body)
			}
		})
	}
}

func BenchmarkLines200k(b *testing.B) {
	body := repeat("an ordinary line of text\n", 200_000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		escaped(safetext.Escaper{}, body, 8)
	}
}

func BenchmarkSplit200k(b *testing.B) {
	body := repeat("an ordinary line of text\n", 200_000)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		n := 0
		for range safetext.Split(body) {
			n++
		}
	}
}

func BenchmarkWidth(b *testing.B) {
	text := safetext.Line("a title of some ordinary length, 60 columns or thereabouts")
	b.Run("safetext", func(b *testing.B) {
		for b.Loop() {
			text.Width()
		}
	})
	b.Run("ansi.StringWidth", func(b *testing.B) {
		for b.Loop() {
			ansi.StringWidth(text.String())
		}
	})
}

func BenchmarkWrap10MB(b *testing.B) {
	for _, bm := range benchmarkBodies[:2] {
		text := safetext.Line(bm.body)
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.body)))
			for b.Loop() {
				safetext.Wrap(text, 80)
			}
		})
	}
}

func BenchmarkJSONWriter(b *testing.B) {
	row := map[string]any{"type": "hit", "store": "vault", "snippet": benchmarkBodies[1].body[:400]}
	w := safetext.NewJSONWriter(io.Discard)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(row); err != nil {
			b.Fatal(err)
		}
	}
}
