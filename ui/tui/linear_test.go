package tui_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"memdesk/ui/tui"
	"memdesk/ui/tui/linear"
)

// converse plays a whole conversation and returns the output. The input is a file, as a terminal is.
func converse(t *testing.T, o tui.Options, lines ...string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	var out bytes.Buffer
	o.Input, o.Output = r, &out
	if err := linear.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, b := range out.Bytes() { // whole ASCII lines, and no cursor movement
		if b != '\n' && (b < 0x20 || b >= 0x7f) {
			t.Fatalf("byte %#x in\n%q", b, out.String())
		}
	}
	return out.String()
}

func TestLinear(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		says  []string
		never string
	}{
		{"greeting", nil, []string{"linear mode", "Operator: ann, unauthenticated.", "done to PRODUCTION", "Store vault, vault: NOT OPEN: the directory does not exist^[[31m", "Store graph, sqlite: open, read-only", "left memdesk"}, ""},
		{"help", []string{"help"}, []string{"recall WORDS: ask every store", "quit: leave memdesk"}, ""},
		{"help of the list first", []string{"store crewship", "help"}, []string{"In the items of crewship:\nopen NUMBER", "\nEverywhere:\nback", "\nIn other lists:\n"}, ""},
		{"show of a row", []string{"store crewship daily", "show 2"}, []string{"deploy window moved to 16:00"}, "another list"},
		{"unknown", []string{"dance", "op", "o", "q"}, []string{`No command "dance". help lists`, "Say which:", `"q" could be quarantine, quit`}, ""},
		{"store", []string{"store crewship", "go crewship:crews/eng/shared/pins.md", "health graph", "store none"}, []string{"End of the list.", "reference: crewship:crews/eng/shared/pins.md", "health takes nothing after it", `no store is named "none"; there are crewship, graph`}, ""},
		{"what messages name", []string{"2 Tiers", "6 Erasure", "store crewship daily", "enter 2", "ctrl+r", "1 Health", "esc", ":notices", "7 Nothing"},
			[]string{"Tier pins of crews/eng/shared: 1 item, 2.4 KB, cap 2,500 characters per item.", "no erasure desk is attached", "1. Wednesday", "deploy window moved to 16:00", "There are no notices.", `No command "Nothing"`}, ""},
		{"which store", []string{"store", "store none", "create none"}, []string{"say which store; there are crewship, graph, hostile, vault", `no store is named "none"`}, ""},
		{"a store that is not counted yet", []string{"1"}, []string{"location: "}, "items: 0 items"},
		{"jobs", []string{"stop 1", "jobs"}, []string{"stop is for other rows or lists: Jobs (:jobs); An act on many items.", "there are no jobs"}, ""},
		{"words of other lists", []string{"store crewship daily", "i", "compare 1", "left", "help", "help release"},
			[]string{"items is for other rows or lists: 1 Health; 2 Tiers: stores, scopes, tiers.", "compare is for other rows or lists: Versions of an item (H).", `No command "left".`,
				"\nrelease NUMBER: release by edit", "\nFor example release 1\nrelease is for other rows or lists: 4 Quarantine."}, "did you mean"},
		{"words for a row", []string{"tiers", "open crewship:crews/eng/shared/pins.md"}, []string{"reference: crewship:crews"}, "With its number"},
		{"a row with nothing below", []string{"tiers", "4", "unfold 4"}, []string{"With its number you can say: items.", "Not here: nothing lies below this row."}, "unfold."},
		{"tiers", []string{"tiers crewship", "items 4"}, []string{"1. Store crewship, crewship: open. It holds 6 items", "1. Wednesday", "Tier daily of crews/eng/agents/bo: 2 items", "Tier pins"}, ""},
		{"store and open", []string{"store crewship daily", "2", "open 9"}, []string{"2 items.", "1. Wednesday, id crews/eng/agents/bo/daily/2026-05-20.md, tier daily", "End of the list.", "tier: daily", "deploy window moved to 16:00", "There is no item 9"}, ""},
		{"pages", []string{"store graph", "next", "20"}, []string{"48,210 items.", "20. Fact 19 ", "next goes on.", "20. Fact 39 ", "Service 39 was deployed"}, ""},
		{"end", []string{"store crewship daily", "next"}, []string{"That was the end of the list."}, ""},
		{"filter", []string{"store crewship", "filter checklist", "filter nothing like it"}, []string{"1. pins", "0 items.", "The filter is nothing like it; filter without words shows all."}, ""},
		{"no such tier", []string{"store crewship nope"}, []string{`crewship has no tier "nope"; there are`}, ""},
		{"long text", []string{"store hostile", "8", "more"}, []string{"more goes on.", "Line 61 of 2,000", "Line 121 of 2,000"}, ""},
		{"hostile", []string{"store hostile", "1"}, []string{"^[[31mred^[]0;owned^G", "^[]52;c;aGk=^Gafter"}, "\x1b"},
		{"recall", []string{"recall deploy", "1"}, []string{"Store vault: no answer", "Quarantined, agents do not get it: crews/eng/shared/CREW.md", "40 hits.", "20. graph, node-9", "next goes on."}, ""},
		{"quarantine", []string{"quarantine"}, []string{"rule ignore_previous", "still poisoned", "A known false positive.", "PROBLEM: the record is not JSON"}, ""},
		{"audit", []string{"audit"}, []string{"Nobody has counted these records", "forget outcome by ann, ok. crewship:crews/eng/shared/pins.md asked by Mara^[[31m"}, ""},
		{"health", []string{"health"}, []string{"crewship: well, answered in ", " ms. 6 items\n", "vault: NOT WELL: open: the directory"}, ""},
		{"cannot", []string{"forget crewship:x", "undo"}, []string{"Not here: this console only shows"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := lightDesk()
			got := converse(t, o, tt.lines...)
			for _, want := range tt.says {
				if !strings.Contains(got, want) {
					t.Errorf("never said %q:\n%s", want, got)
				}
			}
			if tt.never != "" && strings.Contains(got, tt.never) {
				t.Errorf("said %q:\n%s", tt.never, got)
			}
		})
	}
}

// Acts must ask first, in production by the store's name, and can be undone.
func TestLinearActs(t *testing.T) {
	o, fakes := lightDesk()
	o.Acts = &actsFake{fakes: fakes}
	got := converse(t, o, "store crewship pins", "forget 1", "yes", "store crewship pins", "forget 1", "pins.md", "it is wrong", "store crewship pins", "undo last", "undo", "it was right", "store crewship pins", "forget graph:node-1", "quit")
	for _, want := range []string{"Forget crews/eng/shared/pins.md?", "Type pins.md to do it", "Nothing was changed.", "Done: forgot crews/eng/shared/pins.md", "0 items.", "Done: put back", "Not here: the store is read-only"} {
		if !strings.Contains(got, want) {
			t.Errorf("never said %q:\n%s", want, got)
		}
	}
	if !regexp.MustCompile(`(?s)Nothing was changed.*1\. pins.*forgot.*0 items.*put back.*1\. pins`).MatchString(got) {
		t.Errorf("in another order:\n%s", got)
	}
}

// overPipe begins a conversation over a pipe, as over SSH, and waits for its prompt. ends waits for its end.
func overPipe(t *testing.T, o tui.Options) (keys io.Writer, out *sink, ends func()) {
	t.Helper()
	in, typed := io.Pipe()
	out = newSink()
	o.Input, o.Output = in, out
	ended := make(chan error, 1)
	go func() { ended <- linear.Run(context.Background(), o) }()
	out.until("memdesk> ")
	return typed, out, func() {
		t.Helper()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Fatal("it did not end")
		}
	}
}

// Input other than a file has no line mode: the program must echo keys and handle backspace.
func TestLinearWithoutATerminal(t *testing.T) {
	o, _ := lightDesk()
	keys, out, ends := overPipe(t, o)
	go func() { _, _ = io.WriteString(keys, "tieo\x7frs\r") }()
	out.until("Store graph, sqlite: open")
	go func() { _, _ = io.WriteString(keys, "quit\r") }()
	ends()
}

// A text typed over SSH must keep its tabs, and a line that the terminal cuts is not taken as if it were whole.
func TestLinearTakesWholeLines(t *testing.T) {
	o := talkDesk(t)
	keys, out, ends := overPipe(t, o)
	go func() {
		_, _ = io.WriteString(keys, "store crewship daily\redit 1\ra\ttab\r"+strings.Repeat("Z", 6000)+"\r.\rthrow away\rquit\r")
	}()
	ends()
	_, added, _ := strings.Cut(out.buf.String(), "Save ")
	for _, want := range []string{"may have lost its end", "79 bytes become 6."} {
		if !strings.Contains(out.buf.String(), want) {
			t.Errorf("never said %q:\n%s", want, out.buf.String())
		}
	}
	if strings.Contains(added, "ZZZ") {
		t.Errorf("a line without its end was taken:\n%s", added)
	}
}

// Lines must break at blanks, to the terminal's width; without a known width a longer word stays whole.
func TestLinearBreaksLines(t *testing.T) {
	for _, width := range []int{0, 40, 200} {
		o, _ := lightDesk()
		sized := make(chan struct{})
		if width > 0 {
			sizes := make(chan tui.Size)
			o.Sizes = sizes
			defer close(sizes)
			// The second size is taken once the first was handled.
			go func() {
				sizes <- tui.Size{Width: width, Height: 24}
				sizes <- tui.Size{Width: width, Height: 24}
				close(sized)
			}()
		} else {
			close(sized)
		}
		keys, out, ends := overPipe(t, o)
		<-sized
		from := out.more(-1)
		go func() { _, _ = io.WriteString(keys, "help audit\rquit\r") }()
		ends()
		out.mu.Lock()
		said := out.buf.String()[from:]
		out.mu.Unlock()
		const whole = "For example audit outcome:refused since:2026-05-01 until:2026-05-20"
		longest := 0
		for _, l := range strings.Split(strings.ReplaceAll(said, "\r", ""), "\n") {
			longest = max(longest, len(l))
		}
		switch {
		case width == 40 && (longest >= width || !strings.Contains(said, "outcome:refused \r\n")):
			t.Errorf("a line takes %d of %d columns:\n%s", longest, width, said)
		case width != 40 && !strings.Contains(said, whole):
			t.Errorf("broken at a width of %d:\n%s", width, said)
		}
	}
}
