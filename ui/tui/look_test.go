package tui

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

func TestMarkdownLine(t *testing.T) {
	for raw, want := range map[string]string{
		"# Title": "Title", "###### Sixth *deep*": "Sixth deep", "#hashtag": "#hashtag", "- item": "• item", "  * deep **strong** x": "  • deep strong x", "- [x] done": "[x] done",
		"a `code` b": "a code b", "[text](https://x.y/z) end": "text (https://x.y/z) end", "snake_case_name": "snake_case_name",
		"2 * 3 * 4": "2 * 3 * 4", "**open": "**open", "> quoted *em*": "> quoted em", "---": strings.Repeat("-", 40), "*": "*", "": "",
		"[x]": "[x]", "[]()": "[]()", `\*no\*`: `\*no\*`,
	} {
		if got, _, _ := text.MarkdownLine(raw, false, false); got != want {
			t.Errorf("%q is drawn %q, want %q", raw, got, want)
		}
	}
	if got, l, _ := text.MarkdownLine("# Title", false, true); got != "# Title" || l != paint.LookHeading {
		t.Errorf("in ASCII, where no look may be, a heading is drawn %q", got)
	}
	if got, l, _ := text.MarkdownLine("# not a title", true, false); got != "    # not a title" || l != paint.LookCode {
		t.Errorf("code is drawn %q", got)
	}
}

// For any line, the looks must be inside the drawn text and in order, and the rows must fit.
func TestMarkdownAnyText(t *testing.T) {
	st := paint.New(paint.Looks{}, true)
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.StringOfN(rapid.SampledFrom([]rune("ab |#*_`[]()-\\\n>!é東\x1b\u202e")), 0, 200, -1).Draw(t, "body")
		drawn, _, runs := text.MarkdownLine(strings.ReplaceAll(body, "\n", ""), false, false)
		last := 0
		for _, r := range runs {
			if r.Start < last || r.End <= r.Start || r.End > len(drawn) {
				t.Fatalf("%v in %q", runs, drawn)
			}
			last = r.End
		}
		l := text.Layout{St: st, Width: rapid.IntRange(8, 60).Draw(t, "width"), Markdown: true}
		txt := text.NewPage(nil, body)
		rows, _ := l.Around(txt, text.Start, 50, 50)
		for _, r := range rows {
			for _, s := range r.Runs {
				if s.Start < 0 || s.End > r.Text.Len() || !utf8.RuneStart((r.Text.String() + "x")[s.Start]) || !utf8.RuneStart((r.Text.String() + "x")[s.End]) {
					t.Fatalf("%v in %q", s, r.Text.String())
				}
			}
		}
	})
}

func TestFences(t *testing.T) {
	body := strings.Repeat("text\n", 20_000) + "```go\n" + strings.Repeat("code\n", 20_000) + "  ```\nafter\n"
	txt := text.NewPage(nil, body)
	for _, at := range []string{"text", "code", "after"} {
		for _, off := range []int{strings.Index(body, at), strings.LastIndex(body, at)} {
			if got := txt.Fenced(off); got != (at == "code") {
				t.Errorf("%s at %d: fenced %v", at, off, got)
			}
		}
	}
}

// rendered is a text as markdown, one string per row.
func rendered(body string, width int, ascii bool) (rows []string, all []paint.Look) {
	st := paint.New(paint.Looks{Ascii: ascii}, true)
	l := text.Layout{St: st, Width: width, Markdown: true}
	drawn, _ := l.Around(text.NewPage(nil, body), text.Start, 500, 500)
	for _, r := range drawn {
		rows, all = append(rows, r.Text.String()), append(all, r.Look)
	}
	return rows, all
}

// The columns of a table must align, whatever its cells contain; a table without enough room is shown
// as stored.
func TestMarkdownTable(t *testing.T) {
	const body = "before\n| name | what it is |\n|:--|--:|\n| 東京 | a `b|c` d |\n| x\x1b | **strong** \\| end |\n|short|\nafter | bar |\n| alone |\n"
	rows, _ := rendered(body, 60, false)
	want := []string{
		"before", "name │ what it is", "─────┼──────────────", "東京 │ a b|c d", "x^[  │ strong \\| end", "short │", "after | bar |", "| alone |",
	}
	want[1], want[2], want[3], want[4] = "name  │ what it is", "──────┼──────────────", "東京  │ a b|c d", "x^[   │ strong \\| end"
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	ascii, _ := rendered("| a | b |\n|---|---|\n| 1 | 22 |\n", 60, true)
	if diff := cmp.Diff([]string{"a | b", "--+---", "1 | 22"}, ascii); diff != "" {
		t.Error(diff)
	}
	narrow, _ := rendered("| aaaaaaaaaa | bbbbbbbbbb |\n|---|---|\n", 16, false)
	if !strings.HasPrefix(narrow[0], "| aaaa") {
		t.Errorf("without room it is drawn %q", narrow)
	}
	code, _ := rendered("```\n| a | b |\n|---|---|\n```\n", 60, false)
	if code[1] != "    | a | b |" {
		t.Errorf("code is drawn as a table: %q", code)
	}
}

// A table of megabytes must look the same at every window position, and a window of it must cost no
// more than a block of the text.
func TestMarkdownLongTable(t *testing.T) {
	body := "| n | what |\n|---|---|\n" + strings.Repeat("| 1 | some words here |\n", 200_000)
	txt := text.NewPage(nil, body)
	l := text.Layout{St: paint.New(paint.Looks{}, true), Width: 60, Markdown: true}
	at := txt.LineStart(len(body) / 2)
	from := func(at text.RowRef) string {
		rows, i := l.Around(txt, at, 40, 40)
		return rows[i].Text.String()
	}
	if a, b := from(text.RowRef{Off: at}), "1 │ some words here"; a != b {
		t.Errorf("in the middle it is drawn %q, want %q", a, b)
	}
	_, next := txt.PieceEnd(at)
	rows, _ := l.Around(txt, text.RowRef{Off: next}, 40, 40)
	for _, r := range rows {
		if r.At.Off == at && r.Text.String() != "1 │ some words here" {
			t.Errorf("from another place it is drawn %q", r.Text)
		}
	}
}

// A document's front matter must be dim, and its delimiters must not become rules.
func TestMarkdownFront(t *testing.T) {
	for body, quiet := range map[string]int{
		"---\nslug: a\n# b: c\n---\n# T\n": 4, "---\r\nslug: a\r\n---\r\nx\r\n": 3, "---\nno end\n": 0, "x\n---\n": 0, "": 0, "---\n": 0, "---\n---": 2, "---": 0,
	} {
		rows, looks := rendered(body, 60, false)
		for i := range rows {
			if is := looks[i] == paint.LookDim && rows[i] == strings.Split(strings.ReplaceAll(body, "\r", ""), "\n")[i]; is != (i < quiet) {
				t.Errorf("%q: row %d is %q, quiet %v", body, i, rows[i], is)
			}
		}
	}
}
