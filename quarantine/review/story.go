package review

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"memdesk/model"
	"memdesk/quarantine/signal"
)

// Suspect is a live item that looks planted.
type Suspect struct {
	model.Item
	Store string
	Score signal.Score
	// Problem says why the item, or the rest of the store, could not be scored.
	Problem string
}

// Items streams every live item of a store with its score, hidden ones too.
func Items(ctx context.Context, s model.Store, judge *Judge) iter.Seq[Suspect] {
	return func(yield func(Suspect) bool) {
		for it, err := range everyItem(ctx, s) {
			e := Suspect{Item: it, Store: s.Name}
			switch {
			case err != nil && it.ID == "" && !errors.As(err, new(unlisted)):
				e.Problem = model.Reason(err)
			case err != nil:
				e.Problem = err.Error()
			default:
				if e.Score, err = judge.ScoreItem(ctx, it); err != nil {
					e.Problem = err.Error()
				}
			}
			if !yield(e) {
				return
			}
		}
	}
}

// Part is one entry of a story: a blocked entry or a live suspect.
type Part struct {
	Store, ID       string
	Name            string // of a blocked text; empty: use the id
	At              time.Time
	Category, Cause string // of a blocked entry its category and pattern, of a suspect "signals" and the heaviest signal
	Signals         []string
	Found           []signal.Signal // a suspect's signals with their evidence
	Sum             float64
	Body            string
	Old             bool   // of a blocked entry: its source is clean now, or gone
	Source, Session string // its writer, empty when unknown
	Recalled        int    // how often it was recalled
}

// Story is a group of items: those of one session or source, else similar texts.
type Story struct {
	Source, Session string
	Parts           []Part
	Signals         []string
	First, Last     time.Time
	Recalled        int
}

// Stories groups parts, the largest story first.
func Stories(parts []Part) []Story {
	var out []Story
	written := map[[2]string]int{} // stories by source and session
	var texts signal.Family        // the first part of each story of an unknown writer
	var unknown []int              // these stories
	for _, p := range parts {
		var at int
		var found bool
		if writer := [2]string{p.Source, p.Session}; p.Source != "" {
			if at, found = written[writer]; !found {
				at, written[writer] = len(out), len(out)
			}
		} else if at, found = texts.Of(signal.BagOf(p.Body)); found {
			at = unknown[at]
		} else {
			at, unknown = len(out), append(unknown, len(out))
		}
		if !found {
			out = append(out, Story{Source: p.Source, Session: p.Session, First: p.At, Last: p.At})
		}
		s := &out[at]
		s.Parts = append(s.Parts, p)
		s.Recalled += p.Recalled
		for _, name := range p.Signals {
			if !slices.Contains(s.Signals, name) {
				s.Signals = append(s.Signals, name)
			}
		}
		if !p.At.IsZero() && (s.First.IsZero() || p.At.Before(s.First)) {
			s.First = p.At
		}
		if p.At.After(s.Last) {
			s.Last = p.At
		}
	}
	slices.SortStableFunc(out, func(a, b Story) int { return cmp.Compare(len(b.Parts), len(a.Parts)) })
	return out
}
