package chart

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

func styles(ascii bool) *paint.Styles { return paint.New(paint.Looks{Ascii: ascii}, true) }

// A bar must have its width for any value, and the smallest part must be visible.
func TestBar(t *testing.T) {
	st := styles(true)
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.IntRange(0, 1000)
		r := Counts{Goes: part.Draw(t, "go"), Redacted: part.Draw(t, "redact"), Held: part.Draw(t, "hold"), OutOfReach: part.Draw(t, "left")}
		cells := rapid.IntRange(4, 9).Draw(t, "cells")
		bar := Bar(st, r, r.Found()+part.Draw(t, "more"), cells)
		if utf8.RuneCountInString(bar) != cells {
			t.Fatalf("%q is not %d wide", bar, cells)
		}
		for _, f := range []Fate{Goes, Redacted, Held, OutOfReach} {
			if n, sign := r[f], Sign(st, f); (n > 0) != strings.Contains(bar, sign) {
				t.Errorf("%d of %+v: %q in %q", n, r, sign, bar)
			}
		}
	})
}

// The table must add up, warn of unexamined parts, and fold empty rows into one line.
func TestTable(t *testing.T) {
	var all []string
	for _, l := range Table(styles(true), []Row{{Store: "harbor", Counts: Counts{Goes: 2, Redacted: 2, OutOfReach: 1}}, {Store: "down", Trouble: true}, {Store: "desk"}, {Store: "graph", Counts: Counts{Goes: 1198, Scrubbed: 1, Held: 1}}}) {
		all = append(all, strings.TrimRight(l.Value.String(), " "))
	}
	for _, l := range Table(styles(true), []Row{{Store: "harbor", Counts: Counts{Goes: 2}}}) {
		if strings.Contains(l.Value.String(), "HOLD") {
			t.Errorf("a column that is empty is there: %q", l.Value)
		}
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{"STORE                GO REDACT LAYERS HOLD OUT", "harbor    #~.         2      2      -    -   1", "! down", "graph     #####=  1,198      -      1    1   -", "all       ###~=.  1,200      2      1    1   1", "nothing in desk"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// The phase of a run must be recognisable without colour.
func TestPhasesAndProgress(t *testing.T) {
	st := styles(true)
	if got := Phases(st, []string{"planned"}, "`A` approve", []string{"erase"}, false).Value.String(); got != "+ planned  > A approve  - erase" {
		t.Error(got)
	}
	if got := Phases(st, nil, "`r` erase", []string{"verify"}, true).Value.String(); got != "x r erase  - verify" {
		t.Error(got)
	}
	if got := Progress(st, 3, 12).Value.String(); got != "######------------------ 25 %, step 3 of 12" {
		t.Error(got)
	}
	if got := Progress(st, 0, 0); got.Kind != text.Blank {
		t.Error(got)
	}
}
