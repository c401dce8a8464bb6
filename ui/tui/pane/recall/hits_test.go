package recall

import (
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/pane"
)

// TestExamples has one for each term of a query, and each is one.
func TestExamples(t *testing.T) {
	var names []string
	for _, e := range examples {
		name, _, _ := strings.Cut(e.term, ":")
		names = append(names, name+":")
		if q, err := operator.ParseQuery(e.term, time.Date(2026, 5, 21, 12, 0, 0, 0, time.UTC)); err != nil || q.Words != "" || !q.Narrows() && q.Archived == "" {
			t.Errorf("%s: %+v, %v", e.term, q, err)
		}
	}
	if got := strings.Join(names, " "); got != operator.QueryTerms {
		t.Errorf("examples of %q, want %q", got, operator.QueryTerms)
	}
}

// TestSnippets begin with the line of the first match, without its time, show the match in any room, and end inside none.
func TestSnippets(t *testing.T) {
	d := desktest.New()
	for _, c := range []struct{ snippet, words, want string }{
		{"- 2026-10-10T07:51:00Z — prefers the early boat and rye bread\n- 2026-10-10T08:29:00Z — more rye", "rye bread", "prefers the early boat and rye bread"},
		{"# Bread\nEvery order names the pier, the boat and what the customer cannot eat", "boat", "Every order names the pier, the boat and what the customer cannot eat"},
		{"bread bread bread bread bread bread bread bread bread bread bread bread bread", "bread", ""},
		{"über den Hafen fährt das frühe Boot mit dem Brot nach Osten über die Bucht", "boot brot", ""},
		{"港の船は六時に出る、港の船は六時に出る、港の船は六時に出る", "六時", ""},
		{"nothing of it\n2026-10-10T08:29:00Z here either", "boat", "nothing of it⏎2026-10-10T08:29:00Z here either"},
	} {
		words := strings.Fields(c.words)
		h := newAnswered(d, 1, backends.Answer{Result: model.RecallResult{Hits: []model.RecallSnippet{{Snippet: c.snippet}}}}, words).hits[0].Raw
		whole := h.Snippet.String()
		if c.want != "" && whole != c.want {
			t.Errorf("the snippet of %q is %q, want %q", c.snippet, whole, c.want)
		}
		for columns := 16; columns <= h.Snippet.Width() && len(h.matches) > 0; columns++ {
			part, found := h.shown(d.St, columns)
			body := strings.Trim(part.String(), "…")
			at := strings.Index(whole, body)
			if part.Width() > columns || len(found) == 0 || at < 0 {
				t.Errorf("in %d columns %q is %q", columns, whole, part.String())
			}
			for _, m := range h.matches {
				if end := at + len(body); m.Start < at && at < m.End || m.Start < end && end < m.End {
					t.Errorf("in %d columns %q is %q, which breaks a match", columns, whole, part.String())
				}
			}
		}
	}
}

// TestAShortSnippetHasTheMatches: with both words of a query in it, hits that say the same can be told from others.
func TestAShortSnippetHasTheMatches(t *testing.T) {
	d := desktest.New()
	h := newAnswered(d, 1, backends.Answer{Result: model.RecallResult{Hits: []model.RecallSnippet{{Snippet: "Maren Holt prefers the early boat and rye bread, and pays"}}}}, []string{"rye", "bread"}).hits[0].Raw
	for columns, want := range map[int]string{20: "rye bread", 24: "boat and rye bread", 12: "rye bread", 9: "rye"} {
		if part, found := h.shown(d.St, columns); !strings.Contains(part.String(), want) || columns > 9 && len(found) != 2 {
			t.Errorf("in %d columns %q, want %q", columns, part.String(), want)
		}
	}
	part, _ := h.shown(d.St, 20)
	h.Snippet = safetext.Const("fitted anew")
	if again, _ := h.shown(d.St, 20); again != part {
		t.Errorf("%q was fitted twice for one size: %q", part.String(), again.String())
	}
}

// TestAHitIsCalledByItsName: its title must not break in the middle of a path.
func TestAHitIsCalledByItsName(t *testing.T) {
	p := &Pane{d: pane.NewBench(desktest.New())}
	p.who = pane.NewWriters(p.d.Desk, 0)
	for source, want := range map[string][2]string{
		"crews/dara/daily/a.md": {"a.md", "crews/dara/daily/, line 3, rank 1 in harbor, score 0.02"}, "node-7": {"node-7", "line 3, rank 1 in harbor, score 0.02"},
	} {
		h := hit{Name: safetext.Const("harbor"), score: safetext.Const("0.02"), Hit: model.RecallSnippet{Source: source, Line: 3}}
		h.Rank = 1
		if got := p.describe(h); got[0].Value.String() != want[0] || got[1].Value.String() != want[1] {
			t.Errorf("%q, %q; want %q", got[0].Value, got[1].Value, want)
		}
	}
}
