package recall

import (
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk/desktest"
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
		h := newAnswered(d, 1, backends.Answer{Result: model.RecallResult{Hits: []model.RecallSnippet{{Snippet: c.snippet}}}}, words).hits[0]
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
