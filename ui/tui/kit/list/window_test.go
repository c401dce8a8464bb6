package list

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
)

// shelf is a list of numbers behind cursors; a page's cursor is the id of the row before it, so that it
// stays valid while rows come and go.
type shelf struct {
	ids      []int
	counted  bool // totals are exact
	fail     bool
	backward bool // it has cursors of earlier pages, and an end
}

func (s *shelf) fetch(_ context.Context, at From, limit int) (Span[int], error) {
	if s.fail {
		return Span[int]{}, errors.New("gone")
	}
	start := 0
	switch {
	case at.End:
		start = max(len(s.ids)-limit, 0)
	case at.Cursor != "" && at.Cursor[0] == '>':
		after, _ := strconv.Atoi(at.Cursor[1:])
		start, _ = slices.BinarySearch(s.ids, after+1)
	case at.Cursor != "":
		before, _ := strconv.Atoi(at.Cursor[1:])
		end, _ := slices.BinarySearch(s.ids, before)
		start = max(end-limit, 0)
		limit = end - start
	}
	end := min(start+limit, len(s.ids))
	p := Span[int]{Rows: slices.Clone(s.ids[start:end]), Total: model.Count{N: int64(len(s.ids)), Unknown: !s.counted}}
	if end < len(s.ids) && end > 0 {
		p.Next = fmt.Sprintf(">%d", s.ids[end-1])
	}
	if start > 0 && s.backward {
		p.Prev = fmt.Sprintf("<%d", s.ids[start])
	}
	return p, nil
}

// questions holds started commands without an answer.
type questions struct{ open []func(context.Context) any }

func (q *questions) ask(f func(context.Context) any) tea.Cmd {
	q.open = append(q.open, f)
	return nil
}

func (q *questions) answer(w *Window[int], i int) {
	f := q.open[i]
	q.open = slices.Delete(q.open, i, i+1)
	w.Arrive(f(context.Background()).(Fetched[int]))
}

func (q *questions) answerAll(w *Window[int]) {
	for len(q.open) > 0 {
		q.answer(w, 0)
	}
}

func testWindow(s *shelf) (*Window[int], *questions) {
	q := &questions{}
	w := NewWindow(q.ask, strconv.Itoa)
	w.Forward = !s.backward
	w.Resize(7, false)
	w.PerPage = 20
	w.Reset(s.fetch)
	return w, q
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i * 2
	}
	return out
}

// The window must always be a part of the list without gaps or repeats, for any keys and any order of
// answers; when all have come, the selection must be where a plain slice would have it.
func TestWindowAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &shelf{
			ids: numbers(rapid.IntRange(0, 400).Draw(t, "rows")), counted: rapid.Bool().Draw(t, "counted"),
			backward: rapid.Bool().Draw(t, "backward"),
		}
		w, q := testWindow(s)
		q.answerAll(w)
		want := 0 // the selection's index in the slice
		clamp := func(n int) int { return max(min(n, len(s.ids)-1), 0) }
		t.Repeat(map[string]func(*rapid.T){
			"move": func(t *rapid.T) {
				by := rapid.IntRange(-9, 9).Draw(t, "by")
				w.Move(by)
				q.answerAll(w)
				want = clamp(want + by)
			},
			"page": func(t *rapid.T) {
				by := rapid.SampledFrom([]float64{-1, -0.5, 0.5, 1}).Draw(t, "by")
				w.Page(by)
				q.answerAll(w)
				want = clamp(want + act.Steps(by, w.Height))
			},
			"home": func(*rapid.T) {
				w.Home()
				q.answerAll(w)
				want = 0
			},
			"end": func(t *rapid.T) {
				if !s.backward {
					t.Skip("a forward list has no end to jump to")
				}
				w.End()
				q.answerAll(w)
				want = clamp(len(s.ids))
			},
			"refresh": func(*rapid.T) {
				w.Refresh()
				q.answerAll(w)
			},
			"resize": func(t *rapid.T) {
				per := w.PerPage
				w.Resize(rapid.IntRange(1, 12).Draw(t, "height"), rapid.Bool().Draw(t, "beside"))
				w.PerPage = per
			},
			"": func(t *rapid.T) { checkWindow(t, w, s, want) },
		})
	})
}

func checkWindow(t *rapid.T, w *Window[int], s *shelf, want int) {
	if len(s.ids) == 0 {
		if len(w.Rows) != 0 {
			t.Fatalf("rows %v of an empty list", w.Rows)
		}
		return
	}
	at, ok := slices.BinarySearch(s.ids, w.Rows[0])
	if !ok || !slices.Equal(w.Rows, s.ids[at:at+len(w.Rows)]) {
		t.Fatalf("the window %v is no piece of the list", w.Rows)
	}
	if got, _ := w.Current(); got != s.ids[want] {
		t.Fatalf("selected %d, want %d", got, s.ids[want])
	}
	if w.first >= 0 && int(w.first) != at {
		t.Fatalf("says the window starts at %d, it starts at %d", w.first, at)
	}
	if w.Sel < w.Top || w.Sel >= w.Top+w.Height {
		t.Fatalf("selection %d is outside the screen %d+%d", w.Sel, w.Top, w.Height)
	}
	if len(w.Pages) > keptPages+2 {
		t.Fatalf("%d pages are held", len(w.Pages))
	}
}

// Answers that come late, twice or in the wrong order must never tear the window.
func TestWindowDropsStaleAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &shelf{ids: numbers(rapid.IntRange(1, 400).Draw(t, "rows")), counted: true, backward: true}
		w, q := testWindow(s)
		t.Repeat(map[string]func(*rapid.T){
			"move":    func(t *rapid.T) { w.Move(rapid.IntRange(-30, 30).Draw(t, "by")) },
			"home":    func(*rapid.T) { w.Home() },
			"end":     func(*rapid.T) { w.End() },
			"refresh": func(*rapid.T) { w.Refresh() },
			"reset":   func(*rapid.T) { w.Reset(s.fetch) },
			"answer": func(t *rapid.T) {
				if len(q.open) == 0 {
					t.Skip("nothing is open")
				}
				q.answer(w, rapid.IntRange(0, len(q.open)-1).Draw(t, "which"))
			},
			"": func(t *rapid.T) {
				if len(w.Rows) == 0 {
					return
				}
				at, ok := slices.BinarySearch(s.ids, w.Rows[0])
				if !ok || !slices.Equal(w.Rows, s.ids[at:at+len(w.Rows)]) {
					t.Fatalf("the window %v is no piece of the list", w.Rows)
				}
			},
		})
	})
}

// A refresh requested while an answer is under way must not be lost: that answer may have been read
// before the change.
func TestWindowRefreshesAfterAnAnswerUnderWay(t *testing.T) {
	for _, how := range []string{"reset", "refresh"} {
		s, q := &shelf{ids: []int{1, 2}, counted: true}, &questions{}
		w := NewWindow(q.ask, strconv.Itoa)
		w.Reset(s.fetch)
		if how == "refresh" {
			q.answerAll(w)
			w.Refresh()
		}
		early := q.open[0](t.Context()).(Fetched[int]) // read, but not yet arrived
		q.open = q.open[1:]
		s.ids = append(s.ids, 3)
		w.Refresh()
		w.Refresh()
		w.Arrive(early)
		if len(q.open) != 1 {
			t.Fatalf("during a %s: %d questions follow, want one", how, len(q.open))
		}
		q.answerAll(w)
		if !slices.Equal(w.Rows, []int{1, 2, 3}) {
			t.Errorf("during a %s: rows %v", how, w.Rows)
		}
	}
}

func TestWindowKeepsSelectionAcrossRefresh(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(ids []int) []int
		want   int
	}{
		{"nothing changes", func(ids []int) []int { return ids }, 60},
		{"rows come before", func(ids []int) []int { return append([]int{-6, -4, -2}, ids...) }, 60},
		{"rows before go", func(ids []int) []int { return ids[10:] }, 60},
		{"the selected row goes", func(ids []int) []int { return slices.DeleteFunc(ids, func(n int) bool { return n == 60 }) }, 62},
		{"everything from it on goes", func(ids []int) []int { return ids[:30] }, 58},
		{"another list", func([]int) []int { return []int{1, 3, 5} }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{ids: numbers(200), counted: true, backward: true}
			w, q := testWindow(s)
			q.answerAll(w)
			for range 6 {
				w.Move(5)
				q.answerAll(w)
			}
			s.ids = tt.change(slices.Clone(s.ids))
			w.Refresh()
			q.answerAll(w)
			if got, _ := w.Current(); got != tt.want {
				t.Errorf("selected %d, want %d", got, tt.want)
			}
		})
	}
}

func TestWindowOfAStoreThatVanishes(t *testing.T) {
	s := &shelf{ids: numbers(200), counted: true, backward: true}
	w, q := testWindow(s)
	q.answerAll(w)
	rows := len(w.Rows)
	s.fail = true
	w.Refresh()
	q.answerAll(w)
	if w.Err == nil || len(w.Rows) != rows {
		t.Fatalf("error %v and %d rows, want an error and the %d rows that were known", w.Err, len(w.Rows), rows)
	}
	w.Move(1)
	if n := len(q.open); n > 1 {
		t.Errorf("%d questions to a store that has gone", n)
	}
	s.fail = false
	q.answerAll(w)
	w.Refresh()
	q.answerAll(w)
	if w.Err != nil {
		t.Errorf("the store is back, yet %v", w.Err)
	}
}

func TestWindowPosition(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rows    int
		counted bool
		press   func(w *Window[int])
		want    string
	}{
		{"start", 5000, true, func(*Window[int]) {}, "1 of 5,000"},
		{"end of a counted list", 5000, true, func(w *Window[int]) { w.End() }, "5,000 of 5,000"},
		{"uncounted", 5000, false, func(*Window[int]) {}, "1 of at least 20"},
		{"end of an uncounted list", 5000, false, func(w *Window[int]) { w.End() }, "0 before the end of at least 20"},
		{"uncounted but seen whole", 12, false, func(*Window[int]) {}, "1 of 12"},
		{"empty", 0, true, func(*Window[int]) {}, "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{ids: numbers(tt.rows), counted: tt.counted, backward: true}
			w, q := testWindow(s)
			for len(q.open) > 0 {
				q.answer(w, 0)
				q.open = nil // no read-ahead: the figures are those of one page
			}
			tt.press(w)
			if len(q.open) > 0 {
				q.answer(w, 0)
			}
			if got := w.Position().String(); got != tt.want {
				t.Errorf("position %q, want %q", got, tt.want)
			}
		})
	}
}

// Beside a detail a list must scroll by half a screen at its edge, without one by one line; either way
// the selection must stay on the screen and no line be empty.
func TestScrolled(t *testing.T) {
	for _, c := range []struct {
		name                   string
		top, sel, rows, height int
		leap                   bool
		want                   int
	}{
		{"inside", 10, 15, 100, 20, true, 10},
		{"one below the edge, alone", 10, 30, 100, 20, false, 11},
		{"one below the edge", 10, 30, 100, 20, true, 20},
		{"one above the edge, alone", 10, 9, 100, 20, false, 9},
		{"one above the edge", 10, 9, 100, 20, true, 0},
		{"one above the edge, further down", 30, 29, 100, 20, true, 19},
		{"near the end", 70, 90, 95, 20, true, 75},
		{"to the end", 0, 99, 100, 20, true, 80},
		{"to the start", 80, 0, 100, 20, true, 0},
		{"one visible row", 4, 5, 100, 1, true, 5},
		{"fewer rows than lines", 0, 3, 5, 20, true, 0},
		{"rows that went", 90, 30, 31, 20, true, 11},
	} {
		if got := scrolled(c.top, c.sel, c.rows, c.height, c.leap); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A walk through the list must scroll once per half screen; an answer to a refresh must not scroll.
func TestListsLeapBesideADetail(t *testing.T) {
	w, q := testWindow(&shelf{ids: numbers(90), counted: true, backward: true})
	w.PerPage = 200
	w.Reset(w.Fetch)
	q.answerAll(w)
	w.Resize(10, true)
	scrolls := 0
	for _, by := range []int{1, -1} {
		for range 89 {
			was := w.Top
			w.Move(by)
			if w.Top != was {
				scrolls++
			}
			if w.Sel < w.Top || w.Sel >= w.Top+10 || w.Top > 80 {
				t.Fatalf("row %d on a screen from %d on", w.Sel, w.Top)
			}
		}
	}
	if scrolls > 2*16 { // five lines at a time
		t.Errorf("%d scrolls for two walks of 89 steps", scrolls)
	}
	w.Page(1)
	w.Page(1)
	if w.Top != 18 || w.Sel != 18 {
		t.Errorf("two pages down show row %d on a screen from %d on", w.Sel, w.Top)
	}
	w.Page(-1)
	if w.Top != 9 || w.Sel != 9 {
		t.Errorf("a page up shows row %d on a screen from %d on", w.Sel, w.Top)
	}
	w.Refresh()
	q.answerAll(w)
	if w.Top != 9 || w.Sel != 9 {
		t.Errorf("a refresh moves the list to row %d on a screen from %d on", w.Sel, w.Top)
	}
}

// An incomplete list must say so, once for each reason.
func TestProblemsOfAListAreShown(t *testing.T) {
	w := NewWindow(nil, func(s string) string { return s })
	w.Pages = []Span[string]{{Problems: []string{"dir a: \x1b[31mdenied"}}, {Problems: []string{"dir a: \x1b[31mdenied", "dir b"}}}
	if got := w.Trouble(safetext.Escaper{}).String(); got != "not looked at: dir a: ^[[31mdenied (and 1 more problem)" {
		t.Errorf("%q", got)
	}
}

func TestPageOfTheListBeforeARefreshIsDropped(t *testing.T) {
	s := &shelf{ids: numbers(200), counted: true, backward: true}
	w, q := testWindow(s)
	q.answer(w, 0)
	w.Move(15) // requests the next page
	if len(q.open) != 1 {
		t.Fatalf("%d questions, want one for the page after", len(q.open))
	}
	s.ids = append(numbers(10), 1001, 1003, 1005)
	held := q.open[0](context.Background()).(Fetched[int])
	q.open = nil
	s.ids = numbers(10)
	w.Refresh()
	q.answerAll(w)
	w.Arrive(held)
	if len(w.Rows) != 10 || w.Rows[9] != 18 {
		t.Errorf("rows %v of a list of ten", w.Rows)
	}
}

// Moving far down and up again must keep only a few pages, but always those on the screen.
func TestWindowLetsGoOfWhatIsFarAway(t *testing.T) {
	for _, backward := range []bool{true, false} {
		s := &shelf{ids: numbers(2000), counted: true, backward: backward}
		w, q := testWindow(s)
		w.Resize(19, true)
		q.answerAll(w)
		w.PerPage = 40 // the screen has grown since the first page
		at := 0
		for _, by := range []int{1, -1} {
			for range 300 {
				w.Move(by * 3)
				q.answerAll(w)
				at = max(at+by*3, 0)
				if got, _ := w.Current(); got != at*2 {
					t.Fatalf("selected %d, want %d", got, at*2)
				}
				if w.Top < 0 || w.Top+w.Height > len(w.Rows) {
					t.Fatalf("the screen %d+%d is outside the %d rows", w.Top, w.Height, len(w.Rows))
				}
				if len(w.Pages) > keptPages+1 {
					t.Fatalf("%d pages are held", len(w.Pages))
				}
			}
		}
	}
}

// TestEmptyPages: a list whose first pages are empty is looked through, and says until then that it is not known.
func TestEmptyPages(t *testing.T) {
	q := &questions{}
	w := NewWindow(q.ask, strconv.Itoa)
	w.Resize(7, false)
	w.PerPage = 20
	w.Reset(func(_ context.Context, at From, _ int) (Span[int], error) {
		switch at.Cursor {
		case "":
			return Span[int]{Next: "a", Total: model.Count{Unknown: true}}, nil
		case "a":
			return Span[int]{Next: "b", Total: model.Count{Unknown: true}}, nil
		}
		return Span[int]{Rows: []int{7}, Total: model.Count{Unknown: true}}, nil
	})
	for n := 1; n <= 2; n++ {
		q.answer(w, 0)
		if w.Loaded || !w.Busy() || !w.Position().IsEmpty() || w.Nothing() == "the list is empty" {
			t.Errorf("after %d empty pages: loaded %v, busy %v, at %q, %q", n, w.Loaded, w.Busy(), w.Position(), w.Nothing())
		}
	}
	if q.answer(w, 0); !w.Loaded || w.Position().String() != "1 of 1" {
		t.Errorf("loaded %v, at %q", w.Loaded, w.Position())
	}
}

// A trail must end at its row, at the row's place in the whole list, with the rows before it in reach.
func TestTrailEndsAtItsRow(t *testing.T) {
	for _, forward := range []bool{true, false} {
		for _, want := range []int{0, 30, 53, 103, 205, 1053, 1103, 2055, 2102, 2499} {
			s := &shelf{ids: numbers(2500), counted: true, backward: !forward}
			w := NewWindow(func(f func(context.Context) any) tea.Cmd { return func() tea.Msg { return f(t.Context()) } }, strconv.Itoa)
			w.Forward, w.Fetch = forward, s.fetch
			w.Resize(10, false)
			var run func(tea.Cmd)
			run = func(cmd tea.Cmd) {
				if cmd == nil {
					return
				}
				switch m := cmd().(type) {
				case tea.BatchMsg:
					for _, c := range m {
						run(c)
					}
				case Trailed[int]:
					next, _, _ := w.Trailed(m)
					run(next)
				case Fetched[int]:
					run(w.Arrive(m))
				}
			}
			run(w.Follow(&Trail[int]{Anew: true, Near: func(id int) (int, bool) { return 0, id == 2*want }}))
			place := strings.ReplaceAll(w.Position().String(), ",", "")
			if at, ok := w.Current(); !ok || at != 2*want || place != fmt.Sprintf("%d of 2500", want+1) && (forward || place != "somewhere in 2500") {
				t.Errorf("forward %v: at %d, want %d; %s", forward, at, 2*want, place)
			}
			run(w.Move(900)) // to the end of what is loaded
			before, _ := w.Current()
			run(w.Refresh())
			if at, _ := w.Current(); at != before {
				t.Errorf("forward %v, to %d: a refresh went from %d to %d", forward, want, before, at)
			}
			for range 200 {
				run(w.Move(-50))
			}
			if at, _ := w.Current(); at != 0 || w.hasBefore() {
				t.Errorf("forward %v: from %d up the list begins at %d", forward, want, at)
			}
		}
	}
}
