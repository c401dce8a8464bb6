package tui_test

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/ui/tui"
)

// The benchmarks print ratios of two measurements in the same run; the figures beside them are for
// orientation only.

// graphDesk is a console over one store of n computed items.
func graphDesk(n int) tui.Options {
	s := graphFake(n).store("graph", "sqlite")
	return tui.Options{Fleet: backends.NewFleet([]backends.Member{member(s)}, nil), Operator: "ann", Clock: clock.Fixed(now)}
}

// sink takes a program's output and wakes the goroutines that wait for a text in it.
type sink struct {
	mu    sync.Mutex
	grown *sync.Cond
	buf   bytes.Buffer
}

func newSink() *sink {
	s := &sink{}
	s.grown = sync.NewCond(&s.mu)
	return s
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Write(p)
	s.grown.Broadcast()
	return len(p), nil
}

// more waits until the output has grown beyond n bytes.
func (s *sink) more(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.buf.Len() <= n {
		s.grown.Wait()
	}
	return s.buf.Len()
}

func (s *sink) until(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !bytes.Contains(s.buf.Bytes(), []byte(text)) {
		s.grown.Wait()
	}
}

// since waits until a text appears after the first n bytes; false when it did not appear within a
// test's patience.
func (s *sink) since(n int, text string) (said string, ok bool) {
	deadline := time.Now().Add(patience)
	timer := time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.grown.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		said = s.buf.String()[n:]
		if strings.Contains(said, text) {
			return said, true
		}
		if !time.Now().Before(deadline) {
			return said, false
		}
		s.grown.Wait()
	}
}

// program runs a model on a 200×50 screen.
func program(b *testing.B, m tea.Model) (*tea.Program, *sink, func()) {
	b.Helper()
	out := newSink()
	in, stop := io.Pipe()
	p := tea.NewProgram(m, tea.WithOutput(out), tea.WithInput(in), tea.WithWindowSize(200, 50),
		tea.WithEnvironment([]string{"TERM=xterm-256color", "LANG=C.UTF-8"}), tea.WithoutSignalHandler())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = p.Run()
	}()
	return p, out, func() {
		p.Quit()
		<-done
		_ = stop.Close()
	}
}

// bare is the minimal Bubble Tea program: a screen of text.
type bare struct{ text string }

func (m bare) Init() tea.Cmd                       { return nil }
func (m bare) Update(tea.Msg) (tea.Model, tea.Cmd) { return m, nil }
func (m bare) View() tea.View {
	v := tea.NewView(m.text)
	v.AltScreen = true
	return v
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

func firstFrame(b *testing.B, m func() tea.Model, marker string) time.Duration {
	var all []time.Duration
	for range 15 {
		model := m()
		begin := time.Now()
		_, out, stop := program(b, model)
		out.until(marker)
		all = append(all, time.Since(begin))
		stop()
	}
	return median(all)
}

// BenchmarkFirstFrame is the time to a first frame over a million items, against a bare Bubble Tea
// program that shows as much text. Aim: 1.5 or less.
func BenchmarkFirstFrame(b *testing.B) {
	text := strings.TrimSuffix(strings.Repeat(strings.Repeat("memdesk ", 25)+"\n", 50), "\n")
	for b.Loop() {
		plain := firstFrame(b, func() tea.Model { return bare{text} }, "memdesk memdesk")
		ours := firstFrame(b, func() tea.Model { return tui.New(graphDesk(1_000_000)) }, "1,000,000")
		b.ReportMetric(float64(ours)/float64(plain), "x-bare")
		b.ReportMetric(float64(ours.Microseconds())/1e3, "ms-first-frame")
		b.ReportMetric(float64(plain.Microseconds())/1e3, "ms-bare")
	}
}

// driver plays Bubble Tea without a terminal: commands run in goroutines, and their answers are
// delivered before the next key.
type driver struct {
	m       tea.Model
	replies chan tea.Msg
	asking  atomic.Int64 // running commands that are not timers
}

func newDriver(o tui.Options, width, height int) *driver {
	d := unsized(o)
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	return d
}

// unsized is a console that does not know its screen's size yet.
func unsized(o tui.Options) *driver {
	d := &driver{m: tui.New(o), replies: make(chan tea.Msg, 10_000)}
	d.run(d.m.Init())
	return d
}

// isTimer reports whether a command is a tea.Tick, which waits for a time and not for an answer.
func isTimer(cmd tea.Cmd) bool {
	return strings.Contains(runtime.FuncForPC(reflect.ValueOf(cmd).Pointer()).Name(), "bubbletea/v2.Tick.")
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	timer := isTimer(cmd)
	if !timer {
		d.asking.Add(1)
	}
	go func() {
		msg := cmd()
		switch msg := msg.(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				d.run(c)
			}
		default:
			d.replies <- msg
		}
		if !timer {
			d.asking.Add(-1)
		}
	}()
}

func (d *driver) send(msg tea.Msg) {
	var cmd tea.Cmd
	d.m, cmd = d.m.Update(msg)
	d.run(cmd)
}

// settle delivers answers until the frame contains the text.
func (d *driver) settle(text string) {
	limit := time.After(patience)
	for !strings.Contains(d.m.View().Content, text) {
		d.send(d.next(text, limit))
	}
}

// next waits for an answer and fails with the text's name when none comes.
func (d *driver) next(what string, limit <-chan time.Time) tea.Msg {
	select {
	case msg := <-d.replies:
		return msg
	case <-limit:
		panic(fmt.Sprintf("the screen never showed %q; it shows\n%s", what, ansi.Strip(d.m.View().Content)))
	}
}

func (d *driver) deliver() {
	for {
		select {
		case msg := <-d.replies:
			d.send(msg)
		default:
			return
		}
	}
}

func press(name string) tea.KeyPressMsg {
	switch name {
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "pgdown":
		return tea.KeyPressMsg{Code: tea.KeyPgDown}
	}
	return tea.KeyPressMsg{Code: rune(name[0]), Text: name}
}

// listOf opens the item list of a console over n items.
func listOf(n int) *driver {
	d := newDriver(graphDesk(n), 200, 50)
	d.settle("longterm")
	d.send(press("down"))
	d.send(press("enter"))
	d.settle("Fact 40 ")
	return d
}

// timePerKey presses one key many times and returns the median time of update and view.
func timePerKey(d *driver, key string, times int) (both time.Duration) {
	var all []time.Duration
	for range times {
		d.deliver()
		begin := time.Now()
		d.send(press(key))
		_ = d.m.View()
		all = append(all, time.Since(begin))
		runtime.Gosched()
	}
	return median(all)
}

// bytesPerKey counts the terminal's bytes for one key, through the real renderer.
func bytesPerKey(b *testing.B, n, times int) float64 {
	p, out, stop := program(b, tui.New(graphDesk(n)))
	defer stop()
	out.until("longterm")
	p.Send(press("down"))
	p.Send(press("enter"))
	out.until("Fact 40 ")
	at := out.more(0)
	begin := at
	for range times {
		p.Send(press("down"))
		at = out.more(at)
	}
	return float64(at-begin) / float64(times)
}

// BenchmarkKeyDown is the cost of a key down in a list of a million items against a list of a thousand.
// Aim: 1, within 10 %.
func BenchmarkKeyDown(b *testing.B) {
	for b.Loop() {
		var small, large []time.Duration
		for range 5 { // alternating, so that both run under the same load
			small = append(small, timePerKey(listOf(1000+1), "down", 800))
			large = append(large, timePerKey(listOf(1_000_000), "down", 800))
		}
		b.ReportMetric(float64(median(large))/float64(median(small)), "x-time")
		b.ReportMetric(float64(median(large).Nanoseconds())/1e3, "µs-key-1M")
		b.ReportMetric(bytesPerKey(b, 1_000_000, 60)/bytesPerKey(b, 1001, 60), "x-bytes")
		b.ReportMetric(bytesPerKey(b, 1_000_000, 60), "B-key-1M")
	}
}

// budgetSizes are the screens of the budgets: a large one and the largest.
var budgetSizes = []struct{ width, height int }{{200, 50}, {500, 200}}

// budgetPlaces are all panes with full content, and the way to each: keys, words and what to wait for.
var budgetPlaces = []struct {
	name, shows string
	keys        []string
}{
	{"stores", "48,210", nil},
	{"items", "Fact 40 ", []string{":store graph", "enter"}},
	{"item", "all of 2 lines", []string{":store graph", "enter", "enter"}},
	{"hostile", "literal", []string{"G", "k", "enter"}},
	{"health", "1 of 4", []string{"1"}},
	{"recall", "of 40+ hits", []string{"3", "/deploy", "enter"}},
	{"quarantine", "still poisoned", []string{"4"}},
	{"conflicts", "garden.md", []string{"5"}},
	{"question", "Keep the copy of", []string{"5", "see garden.md", "c"}},
	{"audit", "record 244", []string{"7"}},
	{"help", "Help: Tiers", []string{"?"}},
	{"palette", "ask every store", []string{":"}},
}

// budgetDesk is a console at one of these places.
func budgetDesk(place, width, height int) *driver {
	o, fakes := lightDesk()
	acts := &actsFake{fakes: fakes}
	o.Acts, o.Conflicts = acts, newConflictsFake(acts, false)
	d := newDriver(o, width, height)
	d.settle("48,210")
	for _, k := range budgetPlaces[place].keys {
		if text, ok := strings.CutPrefix(k, "see "); ok {
			d.settle(text)
			continue
		}
		if k[0] != ':' && k[0] != '/' || len(k) == 1 {
			d.send(keyNamed(k))
			continue
		}
		for _, c := range k {
			d.send(press(string(c)))
		}
	}
	d.settle(budgetPlaces[place].shows)
	d.quiet()
	return d
}

// BenchmarkView is one frame of each pane. Budget: 2 ms.
func BenchmarkView(b *testing.B) {
	for _, size := range budgetSizes {
		for i, place := range budgetPlaces {
			b.Run(fmt.Sprintf("%dx%d/%s", size.width, size.height, place.name), func(b *testing.B) {
				d := budgetDesk(i, size.width, size.height)
				b.ReportAllocs()
				for b.Loop() {
					_ = d.m.View()
				}
			})
		}
	}
}

// BenchmarkUpdate is one key in each pane: down and up again. Budget: 1 ms.
func BenchmarkUpdate(b *testing.B) {
	for _, size := range budgetSizes {
		for i, place := range budgetPlaces {
			b.Run(fmt.Sprintf("%dx%d/%s", size.width, size.height, place.name), func(b *testing.B) {
				d := budgetDesk(i, size.width, size.height)
				keys := []tea.Msg{press("pgdown"), press("down"), keyNamed("pgup"), keyNamed("up")}
				n := 0
				for b.Loop() {
					d.m, _ = d.m.Update(keys[n%len(keys)])
					n++
				}
			})
		}
	}
}

// BenchmarkOpenHuge is the time from enter to the first screen of a text of ten megabytes on one line,
// and of one of 200,000 lines, against a text of one screen.
func BenchmarkOpenHuge(b *testing.B) {
	for b.Loop() {
		small := openText(strings.Repeat("line of text\n", 40))
		b.ReportMetric(float64(openText("line of "+strings.Repeat("0123456789", 1<<20)))/float64(small), "x-10MB-line")
		b.ReportMetric(float64(openText(strings.Repeat("line of text\n", 200_000)))/float64(small), "x-200k-lines")
		b.ReportMetric(float64(small.Microseconds())/1e3, "ms-small")
	}
}

// BenchmarkScroll is the cost of a key down in a text of 200,000 lines against one of 2,000. Aim: 1,
// within 10 %.
func BenchmarkScroll(b *testing.B) {
	reading := func(lines int) *driver {
		d := onlyItem(strings.Repeat("line of text\n", lines))
		d.send(press("enter"))
		d.settle("line of")
		d.send(press("enter"))
		return d
	}
	for b.Loop() {
		var small, large []time.Duration
		for range 5 {
			small = append(small, timePerKey(reading(2_000), "down", 800))
			large = append(large, timePerKey(reading(200_000), "down", 800))
		}
		b.ReportMetric(float64(median(large))/float64(median(small)), "x-time")
		b.ReportMetric(float64(median(large).Nanoseconds())/1e3, "µs-key-200k")
	}
}

// onlyItem is a console over one store with one item.
func onlyItem(body string) *driver {
	f := listed(doc("", "notes", "n", "note", body))
	f.tiers = []model.TierSpec{{Name: "notes", Document: model.Opaque}}
	d := newDriver(tui.Options{Fleet: backends.NewFleet([]backends.Member{member(f.store("s", "vault"))}, nil), Clock: clock.Fixed(now)}, 200, 50)
	d.settle("notes")
	return d
}

// openText measures the time from the enter that opens a store's only item to the item's first screen.
func openText(body string) time.Duration {
	var all []time.Duration
	for range 7 {
		d := onlyItem(body)
		begin := time.Now()
		d.send(press("enter"))
		d.settle("line of")
		all = append(all, time.Since(begin))
	}
	return median(all)
}
