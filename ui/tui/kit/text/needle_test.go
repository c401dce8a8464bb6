package text

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"memdesk/internal/safetext"
)

func TestNeedle(t *testing.T) {
	for _, tt := range []struct {
		text, words string
		want        []string
	}{
		{"Deploy the DEPLOYER", "deploy", []string{"Deploy", "DEPLOY"}},
		{"ÄRGER und ärger", "Ärger", []string{"ÄRGER", "ärger"}},
		{"12 \u212Aelvin and kelvin", "KELVIN", []string{"\u212Aelvin", "kelvin"}}, // of another length
		{"東京チームは東京", "東京", []string{"東京", "東京"}},
		{"aaaa", "aa", []string{"aa", "aa"}},
		{"x\x9by \u069b", "Y", []string{"y"}}, // after a byte that is no character
		{"nothing", "deploy", nil},
		{"", "x", nil},
		{"cut at the en", "end", nil},
	} {
		var got []string
		for s, e := range NewNeedle(tt.words).each(tt.text, 0, len(tt.text)) {
			got = append(got, tt.text[s:e])
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%q in %q: %q, want %q", tt.words, tt.text, got, tt.want)
		}
	}
	if NewNeedle("") != nil {
		t.Error("nothing is looked for")
	}
}

// The counts by blocks must agree with a search of the whole text, from every position.
func TestFindingAgainstWholeText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "ab", "A", "\n", "é", "東", " ", strings.Repeat("b", blockBytes-3), strings.Repeat("ab ", 3000), "\xff", "\x1b"})
		s := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		n := NewNeedle(rapid.SampledFrom([]string{"a", "ab", "bb", "É", "東", "ab a", "b\n"}).Draw(t, "words"))
		x := NewPage([]Line{{Name: safetext.Const("ab"), Value: safetext.Const("A and aB")}}, s)
		x.Foot = []Line{{Kind: Blank}, {Name: safetext.Const("b"), Value: safetext.Const("ab bb")}}
		f := n.in(x, func() bool { return false })
		var all []spot
		for part, v := range []safetext.Text{x.Head[0].Name, x.Head[0].Value} {
			for _, sp := range n.spans(v) {
				all = append(all, spot{0, part, sp.Start, sp.End})
			}
		}
		for start, end := range n.each(s, 0, len(s)) {
			all = append(all, spot{1, 0, start, end})
		}
		for part, v := range []safetext.Text{x.Foot[1].Name, x.Foot[1].Value} {
			for _, sp := range n.spans(v) {
				all = append(all, spot{3, part, sp.Start, sp.End})
			}
		}
		if f.Total != len(all) {
			t.Fatalf("%d matches, want %d", f.Total, len(all))
		}
		for range 20 {
			if len(all) == 0 {
				return
			}
			i := rapid.IntRange(0, len(all)-1).Draw(t, "match")
			if got := f.nth(i); got != all[i] {
				t.Fatalf("match %d is %+v, want %+v", i, got, all[i])
			}
			if got := f.ahead(all[i]); got != i {
				t.Fatalf("%d before match %d", got, i)
			}
		}
	})
}

// A match that extends into the next block must be one match.
func TestFindingAcrossBlocks(t *testing.T) {
	x := NewPage(nil, "a"+strings.Repeat("b", 3*blockBytes))
	f := NewNeedle("bb").in(x, func() bool { return false })
	if want := 3 * blockBytes / 2; f.Total != want {
		t.Errorf("%d matches, want %d", f.Total, want)
	}
	if got := f.nth(blockBytes / 2); got.start != 1+blockBytes {
		t.Errorf("the first match of the second block begins at %d", got.start)
	}
}

func FuzzNeedle(f *testing.F) {
	f.Add("Deploy the DEPLOYER", "deploy")
	f.Add("\u212A\xff東", "k")
	f.Fuzz(func(t *testing.T, text, words string) {
		n := NewNeedle(words)
		if n == nil || !utf8.ValidString(words) {
			return
		}
		last := 0
		for s, e := range n.each(text, 0, len(text)) {
			if s < last || e <= s || e > len(text) {
				t.Fatalf("a match at %d-%d after %d", s, e, last)
			}
			last = e
		}
		if i := strings.Index(text, words); i >= 0 && last == 0 {
			t.Fatalf("%q is not found in %q", words, text)
		}
		for _, r := range text { // every case of one character must be found
			if r == unicode.ReplacementChar {
				return
			}
		}
		if o := strings.ToUpper(words); strings.ToLower(o) == words && strings.Contains(text, o) && last == 0 {
			t.Fatalf("%q is not found in %q", words, text)
		}
	})
}

// Matches in ten megabytes must be counted to the end, even where each byte begins a match and where
// there is one line. BenchmarkSearch measures the cost, because a busy machine makes times meaningless here.
func TestSearchOfTenMegabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("long texts")
	}
	for name, s := range map[string]string{
		"lines": strings.Repeat("line of text\n", 800_000) + "the needle", "dense": strings.Repeat("e", 10<<20), "one line": strings.Repeat("0123456789", 1<<20) + "needle",
	} {
		x := NewPage(nil, s)
		for _, words := range []string{"needle", "e", "k"} {
			p := newPagerOn(100, 40)
			p.Show(x, 0, nil)
			p.settle()
			p.startSearch()
			p.Search.In.Set(words)
			p.Searched()
			p.settle()
			if want := strings.Count(strings.ToLower(s), words); p.Search.Found.Total != want {
				t.Errorf("%s, %q: %d matches, want %d", name, words, p.Search.Found.Total, want)
			}
		}
	}
}

// The screen must stay if it shows the match already, else move to the match.
func TestSearchMovesOnlyWhenItMust(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		b.WriteString("row ")
		if i%40 == 7 {
			b.WriteString("Needle ")
		}
		b.WriteString(strings.Repeat("word ", i%5) + "\n")
	}
	p := newPagerOn(60, 12)
	p.Show(NewPage([]Line{{Value: safetext.Const("head")}}, b.String()), 0, nil)
	p.settle()
	at := func() int { // of the match on the screen
		for i, r := range p.screen() {
			if r.here {
				return i
			}
		}
		return -1
	}
	p.startSearch()
	p.Search.In.Set("needle")
	p.Searched()
	p.settle()
	if p.Top != 0 || at() != 8 || p.Search.Tally(p.St.Esc).String() != "1/10" {
		t.Fatalf("top %d, match at %d, %s", p.Top, at(), p.Search.Tally(p.St.Esc))
	}
	for i := 2; i <= 10; i++ {
		p.Hop(false)
		p.settle()
		if at() < 0 || p.Search.rank != i {
			t.Fatalf("match %d: row %d, rank %d", i, at(), p.Search.rank)
		}
	}
	p.Hop(false)
	p.settle()
	if got := p.Search.Tally(p.St.Esc).String(); got != "1/10, on from the start" || at() < 0 {
		t.Fatalf("after the last: %s", got)
	}
	p.Hop(true)
	p.settle()
	if got := p.Search.Tally(p.St.Esc).String(); got != "10/10, on from the end" || at() < 0 {
		t.Fatalf("before the first: %s", got)
	}
	// After scrolling away, it must continue from the screen's position.
	p.Home()
	p.settle()
	p.Hop(true)
	p.settle()
	if got := p.Search.Tally(p.St.Esc).String(); got != "10/10, on from the end" {
		t.Errorf("back from the top it goes to %s", got)
	}
	// A text that changes during the search must keep the position and be counted anew.
	p.Home()
	p.settle()
	p.Update(NewPage([]Line{{Value: safetext.Const("head")}}, "needle\n"+b.String()))
	p.settle()
	if p.Search.Found.Total != 11 || p.Top != 0 {
		t.Errorf("%d matches at row %d", p.Search.Found.Total, p.Top)
	}
}

// Of two overlapping searches the later one must count.
func TestLaterSearchCounts(t *testing.T) {
	p := newPagerOn(60, 12)
	p.Show(NewPage(nil, strings.Repeat("ab\n", 100)), 0, nil)
	p.settle()
	p.startSearch()
	for _, s := range []string{"a", "ab", "abx", "ab"} {
		p.Search.In.Set(s)
		p.Searched()
	}
	p.Move(3) // with a scroll meanwhile
	for len(p.open) > 0 {
		f := p.open[len(p.open)-1]
		p.open = p.open[:len(p.open)-1]
		if m, ok := f(t.Context()).(LaidOut); ok {
			p.Arrive(m)
		}
	}
	if p.Search.target != nil || p.Search.Found == nil || p.Search.Found.Total != 100 {
		t.Errorf("%+v", p.Search.Found)
	}
}

// Words typed before the text arrives must be searched for when it comes.
func TestSearchBeforeTheText(t *testing.T) {
	p := newPagerOn(60, 12)
	p.startSearch()
	p.Search.In.Set("b")
	p.Searched()
	p.Hop(false)
	p.settle()
	p.Show(NewPage(nil, "a\nb\nb\n"), 0, nil)
	p.settle()
	if got := p.Search.Tally(p.St.Esc).String(); got != "1/2" || !p.Search.In.Focus {
		t.Errorf("%s, the line is open: %v", got, p.Search.In.Focus)
	}
	p.EndSearch()
	p.Clear()
	p.Searched()
	p.EndSearch()
}

// BenchmarkSearch searches ten megabytes, to the count and to the screen of the match, against
// strings.Count over a lower-case copy, which finds no position.
func BenchmarkSearch(b *testing.B) {
	s := strings.Repeat("line of text\n", 800_000) + "the needle"
	x := NewPage(nil, s)
	for _, words := range []string{"needle", "e"} {
		b.Run(words, func(b *testing.B) {
			for b.Loop() {
				begin := time.Now()
				want := strings.Count(strings.ToLower(s), words)
				peer := time.Since(begin)
				p := newPagerOn(200, 45)
				p.Show(x, 0, nil)
				p.settle()
				begin = time.Now()
				p.startSearch()
				p.Search.In.Set(words)
				p.Searched()
				p.settle()
				took := time.Since(begin)
				if p.Search.Found.Total != want {
					b.Fatalf("%d matches, want %d", p.Search.Found.Total, want)
				}
				b.ReportMetric(float64(took)/float64(peer), "x-peer")
				b.ReportMetric(float64(took.Microseconds())/1e3, "ms")
			}
		})
	}
}
