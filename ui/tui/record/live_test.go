package record

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// A changed row must get a new detail; an unchanged one must keep its detail.
func TestDetailFollowsItsRow(t *testing.T) {
	state, asked := "planned", 0
	d := desktest.New()
	p := New(d, Kind[string]{
		Noun: "toy", Columns: []Column{{Title: "TOY"}}, Traits: Traits[string]{Poll: true},
		Fetch: func(context.Context, operator.PageQuery) (out list.Span[Row[string]], _ error) {
			out.Rows = []Row[string]{{Key: "kite", Cells: []safetext.Text{d.Esc.Line("kite")}, Raw: state}}
			return out, nil
		},
		Detail: func(_ context.Context, state string) *text.Page {
			asked++
			return text.NewPage([]text.Line{{Value: d.Esc.Line(state)}}, "")
		},
	})
	run := func(cmd tea.Cmd) { runAll(p, cmd) }
	run(p.Resize(120, 20))
	run(p.Enter())
	run(p.ticked())
	if asked != 1 {
		t.Fatalf("the detail was asked for %d times, want once", asked)
	}
	state = "approved"
	d.AutoRefresh.Frozen = true
	run(p.ticked())
	if asked != 1 {
		t.Error("a frozen list was looked at")
	}
	d.AutoRefresh.Frozen = false
	late := p.ticked()
	d.AutoRefresh.Frozen = true // while the source is asked
	run(late)
	if asked != 1 {
		t.Error("a frozen list took an answer that was under way")
	}
	d.AutoRefresh.Frozen = false
	run(p.ticked())
	lines, _ := p.Render(120, 20)
	if asked != 2 || !strings.Contains(strings.Join(lines, "\n"), "approved") {
		t.Errorf("asked %d times; the screen is\n%s", asked, strings.Join(lines, "\n"))
	}
}

// TestADetailThatHangs must not hold up that of the next row, where rows are of no store.
func TestADetailThatHangs(t *testing.T) {
	d := desktest.New()
	p := New(d, Kind[string]{Columns: []Column{{Title: "TOY"}}, Detail: func(context.Context, string) *text.Page { return text.NewPage(nil, "") }})
	p.Window.Rows = []Row[string]{{Key: "kite", Cells: []safetext.Text{d.Esc.Line("kite")}}, {Key: "ball", Cells: []safetext.Text{d.Esc.Line("ball")}}}
	p.Show() // nobody runs it
	p.Window.Sel = 1
	if p.Show() == nil {
		t.Error("the detail of the second row waits for that of the first")
	}
}

// TestAnIncompleteListIsNotEmpty: what could not be looked at is no all-clear, on a screen and read out.
func TestAnIncompleteListIsNotEmpty(t *testing.T) {
	d := desktest.New()
	p := New(d, Kind[string]{Noun: "toy", Columns: []Column{{Title: "TOY"}}, Empty: "No toy is broken.",
		Fetch: func(context.Context, operator.PageQuery) (Page[string], error) {
			return Page[string]{Problems: []string{"the attic"}}, nil
		}})
	runAll(p, p.Resize(120, 20))
	runAll(p, p.Enter())
	lines, _ := p.Render(120, 20)
	if got := strings.Join(lines, "\n"); strings.Contains(got, "No toy is broken") || !strings.Contains(got, "not everything could be looked at") {
		t.Errorf("the screen is\n%s", got)
	}
	if ahead := p.Ahead(20); ahead.Err != nil || len(ahead.Problems) != 1 {
		t.Errorf("read out are the problems %q, %v", ahead.Problems, ahead.Err)
	}
}

// The list must say what its newest page says: an export reads the source too, and shows nothing of it.
func TestNoticeIsOfTheNewestPage(t *testing.T) {
	said := "one is damaged"
	d := desktest.New()
	p := New(d, Kind[string]{Noun: "toy", Columns: []Column{{Title: "TOY"}},
		Fetch: func(context.Context, operator.PageQuery) (Page[string], error) {
			return Page[string]{Said: list.Said{Text: d.Esc.Const(said)}}, nil
		}})
	runAll(p, p.Resize(120, 20))
	runAll(p, p.Enter())
	if _, err := list.EachRow(t.Context(), d.Esc, p.Window.Fetch, func(Row[string]) error { return nil }); err != nil {
		t.Fatal(err)
	}
	said = "all are well"
	runAll(p, p.Window.Refresh())
	if got := p.notice.Text.String(); got != said {
		t.Errorf("the list says %q, want %q", got, said)
	}
}

// runAll runs a command and what follows from its answers.
func runAll[T any](p *List[T], cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			runAll(p, c)
		}
	case loop.Reply:
		runAll(p, p.Update(msg.Msg))
	}
}

// frame is a screen that shows the list, and keeps the news.
type frame struct {
	desk.Frame
	news string
}

func (f *frame) News(_ paint.Tone, news safetext.Text) { f.news = news.String() }
func (f *frame) Shows(int) bool                        { return true }

// TestPageOfAGoneRow: the page of a row that leaves the list closes, and never shows another row.
func TestPageOfAGoneRow(t *testing.T) {
	d, toys, shown := desktest.New(), []string{"kite", "ball"}, &frame{}
	d.Frame = shown
	p := New(d, Kind[string]{
		Noun: "toy", Columns: []Column{{Title: "TOY"}}, Traits: Traits[string]{Poll: true},
		Fetch: func(context.Context, operator.PageQuery) (out list.Span[Row[string]], _ error) {
			for _, toy := range toys {
				out.Rows = append(out.Rows, Row[string]{Key: toy, Cells: []safetext.Text{d.Esc.Line(toy)}, Raw: toy})
			}
			return out, nil
		},
		Detail: func(_ context.Context, toy string) *text.Page { return text.NewPage(nil, "all about "+toy) },
	})
	runAll(p, p.Resize(120, 20))
	runAll(p, p.Enter())
	open, _ := act.Find(p.Bindings(), "enter")
	runAll(p, open.Do())
	toys = append([]string{"top"}, toys...)
	if runAll(p, p.ticked()); !p.Full || p.Here() != "kite" || shown.news != "" {
		t.Errorf("full %v, at %s: %q", p.Full, p.Here(), shown.news)
	}
	toys = []string{"top", "ball"}
	if runAll(p, p.ticked()); p.Full || shown.news != "the toy that filled the screen has left the list" {
		t.Errorf("full %v, at %s: %q", p.Full, p.Here(), shown.news)
	}
}

// TestBadge: a tab without a number has nothing waiting, and one not counted yet must say so.
func TestBadge(t *testing.T) {
	p := New(desktest.New(), Kind[string]{Columns: []Column{{Title: "TOY"}}, Traits: Traits[string]{Poll: true}})
	p.D.AutoRefresh.Every = time.Second
	badge := func(want string) {
		t.Helper()
		if got, _ := p.Badge(); got.String() != want {
			t.Errorf("badge %q, want %q", got, want)
		}
	}
	badge("?")
	p.Pulse.Read(time.Unix(1, 0))
	badge("")
	p.size = model.Count{N: 2}
	badge("2")
	p.size.AtLeast = true
	badge("2+")
	p.size = model.Count{Unknown: true}
	badge("?")
	p.D.AutoRefresh.Every = 0
	badge("")
}

// TestBadgeOfAnIncompleteList: a count of what could be looked at says that it is not all, and does not look like
// one that is still under way.
func TestBadgeOfAnIncompleteList(t *testing.T) {
	for n, want := range map[int]string{2: "2+", 0: "0+"} {
		d := desktest.New()
		d.AutoRefresh.Every = time.Second
		p := New(d, Kind[string]{Columns: []Column{{Title: "TOY"}}, Traits: Traits[string]{Poll: true},
			Fetch: func(context.Context, operator.PageQuery) (Page[string], error) {
				out := Page[string]{Problems: []string{"the attic"}}
				for i := range n {
					out.Rows = append(out.Rows, Row[string]{Key: strconv.Itoa(i), Cells: []safetext.Text{safetext.Const("toy")}})
				}
				return out, nil
			},
			Detail: func(context.Context, string) *text.Page { return text.NewPage(nil, "") },
		})
		runAll(p, p.Window.Reset(p.fetcher()))
		if got, _ := p.Badge(); got.String() != want {
			t.Errorf("%d rows: badge %q, want %q", n, got, want)
		}
	}
}

// TestAnEditIsNoSlowSource: an answer that waits while an editor has the terminal must not put off the next look.
func TestAnEditIsNoSlowSource(t *testing.T) {
	d := desktest.New()
	d.AutoRefresh.Every = time.Second
	p := New(d, Kind[string]{Columns: []Column{{Title: "TOY"}}, Traits: Traits[string]{Poll: true},
		Fetch:  func(context.Context, operator.PageQuery) (Page[string], error) { return Page[string]{}, nil },
		Detail: func(context.Context, string) *text.Page { return text.NewPage(nil, "") },
	})
	p.Pulse.Ask("", d.Time.Clock.Now())
	answer := p.Window.Reset(p.fetcher())
	d.Time.Clock = clock.Fixed(d.Time.Clock.Now().Add(time.Hour))
	if runAll(p, answer); p.Pulse.Took > time.Minute {
		t.Errorf("the source took %s", p.Pulse.Took)
	}
}

// TestPulse: a list is as fresh as its newest answer about all rows shown, wherever they begin. One that failed is
// asked for again although its source stands still.
func TestPulse(t *testing.T) {
	d, fetched, down := desktest.New(), 0, false
	p := New(d, Kind[string]{Columns: []Column{{Title: "TOY"}},
		Live: func(context.Context) string { return "" },
		Fetch: func(context.Context, operator.PageQuery) (out Page[string], err error) {
			if fetched++; down {
				err = model.Errorf(model.Unavailable, "toys", "the attic is locked")
			}
			return out, err
		},
		Detail: func(context.Context, string) *text.Page { return text.NewPage(nil, "") },
	})
	p.Window.Fetch = p.fetcher()
	p.arrived(list.Fetched[Row[string]]{How: list.ArriveRefresh, Pages: []Page[string]{{At: list.From{Cursor: "50"}}}})
	if !p.Pulse.Known() {
		t.Error("a refresh far down the list does not count")
	}
	for i, c := range []struct {
		stamp string
		down  bool
		want  int
	}{{"a", true, 1}, {"a", false, 2}, {"a", false, 2}, {"b", false, 3}, {"", false, 4}} {
		down = c.down
		if runAll(p, p.Update(liveStamp{c.stamp})); fetched != c.want {
			t.Errorf("%d: fetched %d times, want %d", i, fetched, c.want)
		}
	}
}
