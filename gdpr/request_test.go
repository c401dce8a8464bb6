package gdpr_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/audit"
	"memdesk/gdpr"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// newDesk is a desk over a temporary state directory.
func newDesk(t testing.TB, c clock.Clock) *gdpr.Desk {
	t.Helper()
	dir := filepath.Join(memDir(t), "memdesk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := audit.Open(audit.Options{Dir: filepath.Join(dir, "audit"), Clock: c, Tool: "test", FS: nosync{}, Actor: audit.Actor{ID: "op"}})
	if err != nil {
		t.Fatal(err)
	}
	return &gdpr.Desk{State: dir, Clock: c, Log: log, Undo: undo.New(filepath.Join(dir, "undo"), 0, c, nil), Operator: gdpr.Operator{ID: "op", Key: "SHA256:requester"}}
}

func at(s string) *clock.Fake {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return clock.NewFake(t)
}

func intake(subject string, aliases ...string) gdpr.Intake {
	return gdpr.Intake{Subject: subject, Aliases: aliases, Received: "2026-01-31", Ground: "consent withdrawn"}
}

func TestDeadlines(t *testing.T) {
	tests := []struct{ received, month, extended string }{
		{"2026-01-31", "2026-02-28", "2026-04-30"},
		{"2024-01-31", "2024-02-29", "2024-04-30"},
		{"2026-02-28", "2026-03-28", "2026-05-28"},
		{"2025-11-30", "2025-12-30", "2026-02-28"},
		{"2026-12-31", "2027-01-31", "2027-03-31"},
		{"2026-06-15", "2026-07-15", "2026-09-15"},
	}
	for _, tt := range tests {
		t.Run(tt.received, func(t *testing.T) {
			d := newDesk(t, at(tt.month+"T10:00:00Z"))
			in := intake("subj-ana")
			in.Received = tt.received
			r, err := d.File(t.Context(), in)
			if err != nil || r.Deadline.Format("2006-01-02") != tt.month {
				t.Fatalf("deadline = %v, %v; want %s", r.Deadline, err, tt.month)
			}
			if r, err = d.Extend(t.Context(), r.ID, ""); err != nil || r.Deadline.Format("2006-01-02") != tt.extended {
				t.Fatalf("extended = %v, %v; want %s", r.Deadline, err, tt.extended)
			}
			if _, err := d.Extend(t.Context(), r.ID, ""); !errors.Is(err, model.Conflict) {
				t.Errorf("a second extension: %v; want Conflict", err)
			}
		})
	}
}

func TestPauseStopsTheClock(t *testing.T) {
	c := at("2026-02-05T10:00:00Z")
	d := newDesk(t, c)
	r, err := d.File(t.Context(), intake("subj-ana"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Pause(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Pause(t.Context(), r.ID); !errors.Is(err, model.Conflict) {
		t.Errorf("a second pause: %v; want Conflict", err)
	}
	c.Set(c.Now().AddDate(0, 0, 10))
	if got, _ := d.Get(r.ID); got.Deadline.Format("2006-01-02") != "2026-03-10" || !strings.Contains(got.Words, "paused") {
		t.Errorf("while paused: %v, %q", got.Deadline, got.Words)
	}
	got, err := d.Resume(t.Context(), r.ID)
	if err != nil || got.Deadline.Format("2006-01-02") != "2026-03-10" {
		t.Fatalf("resumed: %v, %v", got.Deadline, err)
	}
	c.Set(c.Now().AddDate(0, 1, 0))
	if got, _ := d.Get(r.ID); got.Words != "5 days overdue" || !got.Overdue {
		t.Errorf("later: %q; want it overdue in words", got.Words)
	}
}

// TestResumeUnderAWrongClock: days of a pause that ended under a clock far ahead do not count when the clock is right
// again; those of an earlier pause do.
func TestResumeUnderAWrongClock(t *testing.T) {
	c := at("2026-02-05T10:00:00Z")
	d := newDesk(t, c)
	r, err := d.File(t.Context(), intake("subj-ana"))
	if err != nil {
		t.Fatal(err)
	}
	right := c.Now().AddDate(0, 0, 10)
	for _, resumed := range []time.Time{c.Now().AddDate(0, 0, 2), c.Now().AddDate(3, 0, 0)} {
		if _, err := d.Pause(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
		c.Set(resumed)
		if _, err := d.Resume(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
	}
	c.Set(right)
	if got, _ := d.Get(r.ID); got.Deadline.Format("2006-01-02") != "2026-03-02" {
		t.Errorf("deadline %v; want only the two days of the first pause", got.Deadline)
	}
}

// TestPauseUnderAWrongClock: of a pause that began under a clock that is behind, no day before the request counts.
func TestPauseUnderAWrongClock(t *testing.T) {
	c := at("2026-02-05T10:00:00Z")
	d := newDesk(t, c)
	r, err := d.File(t.Context(), intake("subj-ana"))
	if err != nil {
		t.Fatal(err)
	}
	right := c.Now()
	c.Set(at("1970-01-01T00:00:00Z").Now())
	if _, err := d.Pause(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	c.Set(right)
	if got, _ := d.Get(r.ID); got.Deadline.Format("2006-01-02") != "2026-03-05" {
		t.Errorf("while paused: deadline %v; want the five days since the request", got.Deadline)
	}
	if got, err := d.Resume(t.Context(), r.ID); err != nil || got.Deadline.Format("2006-01-02") != "2026-03-05" {
		t.Errorf("resumed: deadline %v, %v; want the five days since the request", got.Deadline, err)
	}
}

// TestExtendInTime: the subject must be notified within the month; after the month the day of that
// notice must be given. A refusal is recorded.
func TestExtendInTime(t *testing.T) {
	c := at("2026-03-10T10:00:00Z")
	w := &world{t: t, clock: c, desk: newDesk(t, c)}
	r, err := w.desk.File(t.Context(), intake("subj-ana")) // due on 28 February
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		told   string
		refuse bool
	}{{"", true}, {"2026-03-01", true}, {"2026-01-30", false}, {"2026-04-01", false}, {"soon", false}}
	for _, tt := range tests {
		_, err := w.desk.Extend(t.Context(), r.ID, tt.told)
		if model.IsRefusal(err) != tt.refuse || !tt.refuse && !errors.Is(err, model.InvalidInput) {
			t.Errorf("told %q: %v; want a refusal: %v", tt.told, err, tt.refuse)
		}
	}
	if n := refusals(t, w); n != 2 {
		t.Errorf("%d refusals on record; want 2", n)
	}
	got, err := w.desk.Extend(t.Context(), r.ID, "2026-02-28")
	if err != nil || got.Deadline.Format("2006-01-02") != "2026-04-30" || got.Told != "2026-02-28" {
		t.Errorf("Extend = %v, %q, %v", got.Deadline, got.Told, err)
	}
}

// TestPausedTooLate: a clock stopped after the deadline must show no days left.
func TestPausedTooLate(t *testing.T) {
	c := at("2026-03-03T10:00:00Z")
	d := newDesk(t, c)
	r, err := d.File(t.Context(), intake("subj-ana"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Pause(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	c.Set(c.Now().AddDate(0, 0, 10))
	if got, _ := d.Get(r.ID); strings.Contains(got.Words, "-") && strings.Contains(got.Words, "-3") || !got.Overdue || !strings.Contains(got.Words, "3 days overdue before") {
		t.Errorf("paused too late: %q, overdue %v", got.Words, got.Overdue)
	}
}

func TestListByDeadline(t *testing.T) {
	d := newDesk(t, at("2026-02-20T00:00:00Z"))
	for _, day := range []string{"2026-02-10", "2026-01-05", "2026-01-31"} {
		in := intake("subj-" + day)
		in.Received = day
		if _, err := d.File(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	all, err := d.List()
	if err != nil || len(all) != 3 {
		t.Fatalf("List = %v, %v", all, err)
	}
	var words []string
	for _, r := range all {
		words = append(words, r.Words)
	}
	if got := strings.Join(words, "; "); got != "15 days overdue; due in 8 days; due in 18 days" {
		t.Errorf("in words: %s", got)
	}
	if r, err := d.Get("SUBJ-2026-01-05"); err != nil || r.Received != "2026-01-05" {
		t.Errorf("looked up by the typed id: %v, %v", r.Received, err)
	}
	if _, err := d.Get("somebody-else"); !errors.Is(err, model.NotFound) {
		t.Errorf("somebody else: %v; want NotFound", err)
	}
	err = filepath.WalkDir(d.State, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestIntakeRefuses(t *testing.T) {
	good := intake("subj-ana")
	tests := []struct {
		name string
		edit func(*gdpr.Intake)
	}{
		{"no subject", func(i *gdpr.Intake) { i.Subject = "" }},
		{"a wildcard", func(i *gdpr.Intake) { i.Subject = "u*" }},
		{"an empty alias", func(i *gdpr.Intake) { i.Aliases = []string{" "} }},
		{"no such day", func(i *gdpr.Intake) { i.Received = "2026-02-30" }},
		{"before there was a right to it", func(i *gdpr.Intake) { i.Received = "1800-01-01" }},
		{"the day before there was", func(i *gdpr.Intake) { i.Received = "2018-05-24" }},
		{"the future", func(i *gdpr.Intake) { i.Received = "2028-01-01" }},
		{"no ground", func(i *gdpr.Intake) { i.Ground = "" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := good
			tt.edit(&in)
			d := newDesk(t, at("2026-02-20T00:00:00Z"))
			if _, err := d.File(t.Context(), in); !errors.Is(err, model.InvalidInput) {
				t.Errorf("File = %v; want InvalidInput", err)
			}
		})
	}
}

func TestNoLogNoRequest(t *testing.T) {
	d := newDesk(t, at("2026-02-20T00:00:00Z"))
	if err := os.WriteFile(filepath.Join(d.State, "audit"), nil, 0o600); err != nil { // a file in place of the log's directory
		t.Fatal(err)
	}
	if _, err := d.File(t.Context(), intake("subj-ana")); !model.IsRefusal(err) {
		t.Errorf("File = %v; want a refusal", err)
	}
	if all, _ := d.List(); len(all) != 0 {
		t.Error("a request was kept without a record of it")
	}
}

// TestIdentifiersOfAFile: what an editor adds to a text is no part of an identifier: a store's own keys are compared
// exactly.
func TestIdentifiersOfAFile(t *testing.T) {
	for _, text := range []string{"usr_maren\nMaren Holt\n", "\ufeffusr_maren\r\n\r\n Maren Holt", "\n\tusr_maren \nMaren Holt\r\n"} {
		var in gdpr.Intake
		if in.AddLines(text); in.Subject != "usr_maren" || len(in.Aliases) != 1 || in.Aliases[0] != "Maren Holt" {
			t.Errorf("%q: %q %q", text, in.Subject, in.Aliases)
		}
	}
}
