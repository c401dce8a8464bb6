package tui_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/ui/tui/desk"
)

// originsFake knows an agent as the writer of the daily notes, and takes them back through the fakes.
type originsFake struct{ acts *actsFake }

func adaRow(id string) origin.Row {
	return origin.Row{Store: "crewship", ID: id, At: now.Add(-26 * time.Hour), Writer: origin.Writer{Actor: "ada", Client: "claude-code", Version: "2.1",
		Session: "s-42", Channel: origin.Web, Detail: "https://a.test/\x1b[31m", Trust: origin.Untrusted}}
}

func (o originsFake) WriterOf(_ context.Context, s model.Store, h model.Header) *origin.Written {
	switch {
	case strings.Contains(h.ID, "daily"):
		return &origin.Written{Row: adaRow(h.ID), Kept: origin.InLedger}
	case strings.Contains(h.ID, "pins"):
		return &origin.Written{Kept: origin.InStore, Row: origin.Row{Store: s.Name, ID: h.ID, At: now, Writer: origin.Writer{Actor: origin.Unknown, Session: "run-7\x1b]0;x\x07", Channel: origin.Agent, Trust: origin.Untrusted}}}
	}
	return nil
}

func (o originsFake) WriterOfItem(s model.Store, it model.Item) *origin.Written {
	return o.WriterOf(context.Background(), s, it.Header)
}

const (
	bosNote = "crews/eng/agents/bo/daily/2026-05-20.md"
	bosPins = "crews/eng/shared/pins.md"
)

func (o originsFake) PlanTakeback(_ context.Context, source string, since time.Time) ([]origin.Taken, error) {
	if source != "ada" && source != "s-42" || since.After(now) {
		return nil, nil
	}
	plan := []origin.Taken{
		{Store: "crewship", ID: bosNote, Action: origin.ActForget, At: now.Add(-26 * time.Hour)},
		{Store: "crewship", ID: bosPins, Action: origin.ActSkip, Reason: "somebody else changed it since\x1b[31m", At: now.Add(-25 * time.Hour)},
	}
	if source == "s-42" {
		return plan[1:], nil
	}
	return plan, nil
}

func (o originsFake) Takeback(ctx context.Context, plan []origin.Taken, reason string) ([]origin.Taken, []operator.Done, error) {
	if o.acts.meddle != nil {
		return nil, nil, errors.New("the store is full")
	}
	if o.acts.down != nil { // the store makes the change, and its answer is lost
		plan[0].Action, plan[0].Reason = origin.ActUnknown, "whether it was taken back is not known: no answer"
		return plan, []operator.Done{{Undo: "u1"}}, nil
	}
	done, err := o.acts.Forget(ctx, "crewship", model.ForgetRequest{ID: plan[0].ID}, reason)
	return plan, []operator.Done{done}, err
}

func (originsFake) Told(context.Context, []model.Ref, time.Time) ([]origin.Recall, error) {
	return []origin.Recall{{Actor: "brin\x1b[31m"}, {Actor: "cole"}, {Actor: "cole"}}, nil
}

// The writer of an item must be shown in lists, beside the hits of a recall, in the quarantine, and in
// words in the detail.
func TestOriginColumn(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := startRobot(t, start{scenario: "desk,acts,origins", width: w, height: h, env: []string{"HOME=" + t.TempDir()}})
		r.see("[2 Tiers]", "48,210").press("enter").see("ORIGIN", "ada, web", "run-7", "?").golden(fmt.Sprintf("origins-%dx%d", w, h))
		r.press("/").press("Thurs").see("1 of 1").press("enter").press("enter").see("ada with claude-code/2.1 in session s-42")
		r.press("4").see("ORIGIN", "Written by ada with claude-code/2.1")
		r.press("3").press("/").press("deploy").see("ORIGIN", "ada, web").press("enter").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

// T must take back everything by a row's writer: with a preview, as one job, with one undo.
func TestTakeBack(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := startRobot(t, start{scenario: "desk,acts,origins", width: w, height: h, env: []string{"HOME=" + t.TempDir()}})
		r.see("[2 Tiers]", "48,210").press("4").see("1 of 3").asked("T", "Take back what ada wrote since 2026-05-20?")
		r.see("2 items: 1 to forget, 0 to put back as it was before, 1 left", "▲ given to agents 3 times since: brin", "PRODUCTION", "forget", "daily/2026-05-20.md", "leave", "changed it since").golden(fmt.Sprintf("takeback-%dx%d", w, h))
		r.press("esc").see("cancelled")
		r.asked("T", "Take back what ada").press("tab", "tab", "tab", "tab").see("[Change]").press("enter").see("web:https://a.test/").form("known as: ada; s-42; claude-code/2.1")
		r.press("ctrl+u").press("s-42").press("tab", "tab").see("[Preview]").press("enter").see("what s-42 wrote since 2026-05-20", "0 to forget", "enter cancel")
		r.press("tab").see("[Change]").press("enter").form("known as").press("tab", "ctrl+u").press("yesterday").press("tab").press("enter").form(`✖ "yesterday" is no time`).press("ctrl+u").press("36h")
		r.press("shift+tab", "ctrl+u").press("nobody").press("tab", "tab").press("enter").form("Nothing is noted that nobody wrote since 36h.").press("esc").see("cancelled")
		r.asked("T", "Take back what ada").press("tab").press("they lied").press("tab").press("ada").press("tab").see("[Take back]").press("enter").see("2 items: 1 forgotten, 1 left")
		r.press("esc").asked("z", "Undo the forget of").press("esc").see("cancelled")
		r.asked("T", "Take back what ada").see("enter cancel").press("y").see("y: the name has to be typed first", "▌type ada to confirm", "enter next").press("enter").see("[Take back]").press("enter").see("type the name first: ada").press("esc").see("cancelled").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

// Where the writer is unknown, or nothing was noted, T must say so.
func TestTakeBackNeedsAWriter(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk,acts,origins", width: 120, height: 30, env: []string{"HOME=" + t.TempDir()}})
	r.see("[2 Tiers]", "48,210").press("4").see("1 of 3").asked("T", "Take back what ada").press("tab", "tab", "tab", "tab").see("[Change]").press("enter").form("known as")
	r.press("ctrl+u").press("s-42").press("tab", "tab").press("enter").see("what s-42 wrote", "0 to forget", "enter cancel").press("esc").see("cancelled")
	r.press("j").see("2 of 3").press("T").see("nobody knows who wrote this")
	r.press("7").see("[7 Audit]", "record 244").press("T").see("T: nothing was written here")
	r.press("3").press("/").press("deploy").see("ada, web").press("enter").press("j").see("2 of ").press("T").see("nobody knows who wrote this")
	bare := startRobot(t, start{scenario: "desk,acts", width: 120, height: 30, env: []string{"HOME=" + t.TempDir()}})
	bare.see("[2 Tiers]", "48,210").press("4").see("1 of 3").press("T").see("nothing is noted of who wrote what")
}

// A refusing store and a lost answer must be reported, and their outcome must not be claimed.
func TestTakeBackFails(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk,meddle,origins", width: 120, height: 30, env: []string{"HOME=" + t.TempDir()}})
	r.see("[2 Tiers]", "48,210").press("4").see("1 of 3").asked("T", "Take back what ada").press("tab", "tab").press("ada").press("tab").see("[Take back]").press("enter")
	r.see("2 items: 1 not known, 1 left", "the store is full")
	lost := startRobot(t, start{scenario: "desk,down,origins", width: 120, height: 30, env: []string{"HOME=" + t.TempDir()}})
	lost.see("[2 Tiers]", "48,210").press("4").see("1 of 3").asked("T", "Take back what ada").press("tab", "tab").press("ada").press("tab").see("[Take back]").press("enter")
	lost.see("2 items: 1 not known, 1 left", "whether it was taken back is not known: no answer")
}

var _ desk.OriginSource = originsFake{}
