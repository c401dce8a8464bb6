package text

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
)

// pagerOn shows a text and answers every layout at once.
type pagerOn struct {
	*Pager
	open []func(context.Context) any
}

func newPagerOn(width, height int) *pagerOn {
	p := &pagerOn{}
	p.Pager = New(paint.New(paint.Looks{Bare: true}, true), func(f func(context.Context) any) tea.Cmd {
		p.open = append(p.open, f)
		return nil
	})
	p.Width, p.Height = width, height
	return p
}

func (p *pagerOn) settle() {
	for len(p.open) > 0 {
		f := p.open[0]
		p.open = p.open[1:]
		if m, ok := f(context.Background()).(LaidOut); ok { // a finished search returns nothing
			p.Arrive(m)
		}
	}
}

func (p *pagerOn) screen() []Wrapped { return p.Rows[p.Top:min(p.Top+p.Height, len(p.Rows))] }

func body(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"\n", "a", "word ", "東京", "\r\n", "\xff", "\x1b[2J", strings.Repeat("long ", 30), strings.Repeat("x", pieceBytes-1),
		strings.Repeat("é", pieceBytes), strings.Repeat("\n", 40), "\t",
	})
	return strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
}

// Going down through a text must meet every piece once and in order, going up the same pieces, and the
// index must agree with counting.
func TestTextPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := body(t)
		x := NewPage(nil, s)
		var starts []int
		for at := 0; at < len(s); {
			starts = append(starts, at)
			end, next := x.PieceEnd(at)
			if next <= at || end < at || end > next {
				t.Fatalf("piece at %d ends at %d, next %d", at, end, next)
			}
			if got, want := x.LineAt(at), strings.Count(s[:at], "\n")+1; got != want {
				t.Fatalf("offset %d is on line %d, want %d", at, got, want)
			}
			if utf8.ValidString(s) && !utf8.ValidString(s[at:end]) {
				t.Fatalf("a character is split at %d or %d", at, end)
			}
			at = next
		}
		for i := len(starts) - 1; i > 0; i-- {
			if got := x.pieceBefore(starts[i]); got != starts[i-1] {
				t.Fatalf("before %d stands %d, want %d", starts[i], got, starts[i-1])
			}
		}
		if len(starts) > 0 {
			if got := x.pieceBefore(len(s)); got != starts[len(starts)-1] {
				t.Fatalf("the last piece is at %d, want %d", got, starts[len(starts)-1])
			}
		}
		for n, at := 1, 0; ; n++ {
			if got := x.offsetOf(n); at < len(s) && got != at {
				t.Fatalf("line %d starts at %d, want %d", n, got, at)
			}
			i := strings.IndexByte(s[at:], '\n')
			if i < 0 {
				break
			}
			at += i + 1
		}
	})
}

// For any keys, the screen must equal that of a pager that wraps everything.
func TestPagerAgainstWholeText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := []Line{{Value: safetext.Const("title"), Kind: Title}, {Name: safetext.Const("size"), Value: safetext.Const("12")}}
		x := NewPage(head, body(t))
		if rapid.Bool().Draw(t, "foot") {
			x.Foot = []Line{{Kind: Blank}, {Name: safetext.Const("changed"), Value: safetext.Const(strings.Repeat("long ago ", 12))}}
		}
		p := newPagerOn(rapid.IntRange(40, 90).Draw(t, "width"), rapid.IntRange(1, 12).Draw(t, "height"))
		l := Layout{St: p.St, Width: p.Width}
		all := l.lineRows(x.Head, -1, 0)
		for at := 0; at < len(x.Body); {
			rows := l.pieceRows(x, at, x.LineAt(at))
			all = append(all, rows...)
			at = rows[0].next
		}
		for _, r := range l.lineRows(x.Foot, len(x.Body), 0) {
			r.line = x.Total
			all = append(all, r)
		}
		p.Show(x, 0, nil)
		p.settle()
		want := 0
		clamp := func(n int) int { return max(min(n, len(all)-p.Height), 0) }
		t.Repeat(map[string]func(*rapid.T){
			"move": func(t *rapid.T) {
				by := rapid.IntRange(-5, 5).Draw(t, "by")
				p.Move(by)
				want = clamp(want + by)
				p.settle()
			},
			"page": func(t *rapid.T) {
				by := rapid.SampledFrom([]float64{1, -1, 0.5}).Draw(t, "by")
				p.Page(by)
				want = clamp(want + act.Steps(by, p.Height))
				p.settle()
			},
			"home": func(*rapid.T) {
				p.Home()
				want = 0
				p.settle()
			},
			"end": func(*rapid.T) {
				p.End()
				want = clamp(len(all))
				p.settle()
			},
			"": func(t *rapid.T) {
				for i, r := range p.screen() {
					if r.At != all[want+i].At || r.Text != all[want+i].Text || r.line != all[want+i].line {
						t.Fatalf("row %d is %+v, want %+v", i, r, all[want+i])
					}
				}
			},
		})
	})
}

func TestPagerOpensAtALine(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&b, "row %d\n", i)
	}
	p := newPagerOn(60, 10)
	p.Show(NewPage([]Line{{Value: safetext.Const("head")}}, b.String()), 3210, nil)
	p.settle()
	if got := p.screen()[0].Text.String(); got != "row 3210" {
		t.Errorf("top row %q, want row 3210", got)
	}
	if got := p.Position().String(); got != "line 3,219 of 5,000" {
		t.Errorf("position %q", got)
	}
}

// A preview with little room must begin at the words, with the front matter above them, where there are words.
func TestABriefPreviewBeginsAtTheWords(t *testing.T) {
	for body, want := range map[string]string{
		"---\nkind: fix\nstatus: active\n---\n\nThe gull is late.\nNo more.\n": "The gull is late.",
		"---\nkind: fix\n---\n": "---",
		"\n---\nThe gull.\n":    "",
		"The gull.\n---\n":      "The gull.",
	} {
		p := newPagerOn(60, 10)
		p.Brief = true
		page := NewPage([]Line{{Value: safetext.Const("head")}}, body)
		p.Show(page, page.Begins(), nil)
		p.settle()
		if got := p.screen()[0].Text.String(); got != want {
			t.Errorf("%q begins with %q, want %q", body, got, want)
		}
		if above, _ := p.Beyond(); !above {
			t.Errorf("%q: nothing is said to be above", body)
		}
	}
}

// A resize must keep the position, and an answer for the old width must change nothing.
func TestPagerResizeKeepsThePlace(t *testing.T) {
	p := newPagerOn(60, 10)
	p.Show(NewPage(nil, strings.Repeat(strings.Repeat("word ", 30)+"\n", 400)), 200, nil)
	p.settle()
	p.Resize(100, 20)
	late := p.open
	p.open = nil
	p.Resize(44, 12)
	p.settle()
	for _, f := range late {
		p.Arrive(f(context.Background()).(LaidOut))
	}
	if top := p.screen()[0]; top.line != 200 || p.wide != 44 {
		t.Errorf("top line %d wrapped for %d, want line 200 for 44", top.line, p.wide)
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		text, query string
		want        []string
	}{
		{"Deploy the DEPLOYER", "deploy", []string{"Deploy", "DEPLOY"}},
		{"the deploy window", "window the", []string{"the", "window"}},
		{"nothing here", "deploy", nil},
		{"ÄRGER und ärger", "ärger", []string{"ÄRGER", "ärger"}},
		{"", "x", nil},
		{"a ^[ b", "^[", nil},
	} {
		text := safetext.Line(tt.text)
		var got []string
		for _, s := range Matches(text, SearchWords(tt.query)) {
			got = append(got, text.String()[s.Start:s.End])
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%q in %q: %q, want %q", tt.query, tt.text, got, tt.want)
		}
	}
}
