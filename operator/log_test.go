package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
)

// TestAnchoringInHealth: Health must report how far the log is anchored, with its true age, and an
// anchor that fails at a session's end must be reported at once.
func TestAnchoringInHealth(t *testing.T) {
	state, usb := t.TempDir(), filepath.Join(t.TempDir(), "usb")
	clk := clock.NewFake(time.Date(2026, 5, 21, 9, 0, 0, 0, time.UTC))
	open := func(anchors ...backends.AnchorConfig) (*Session, *[]string) {
		t.Helper()
		var said []string
		s := newSession(t, func(o *Options) {
			o.Config.Audit.Anchors, o.Clock = anchors, clk
			o.Env = func(k string) string { return map[string]string{"XDG_STATE_HOME": state}[k] }
			o.Note = func(problem string) { said = append(said, problem) }
		})
		return s, &said
	}
	act := func(s *Session) {
		t.Helper()
		if _, err := s.Forget(t.Context(), "inmem", model.ForgetRequest{ID: "k"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	say := func(s *Session) (string, model.HealthState) {
		a := s.Anchoring(t.Context())
		return a.Words(clk.Now()), a.State()
	}
	want := func(s *Session, state model.HealthState, words ...string) {
		t.Helper()
		got, is := say(s)
		for _, w := range words {
			if !strings.Contains(got, w) {
				t.Errorf("%q does not say %q", got, w)
			}
		}
		if is != state {
			t.Errorf("%q is %s, want %s", got, is, state)
		}
	}
	s, _ := open()
	want(s, model.HealthOK) // no log exists
	act(s)
	want(s, model.HealthDegraded, "not anchored: whoever owns it can rewrite it")
	file := backends.AnchorConfig{Kind: "file", Path: usb}
	s, said := open(file)
	want(s, model.HealthDegraded, "not anchored yet")
	act(s)
	if err := s.Close(); err != nil || len(*said) != 0 {
		t.Fatal(err, *said)
	}
	clk.Advance(3 * time.Minute)
	s, _ = open(file)
	want(s, model.HealthOK, "anchored 3 min ago by 1 of 1")
	act(s)
	want(s, model.HealthOK, "2 newer records not anchored yet")
	s, said = open(file, backends.AnchorConfig{Kind: "command", Command: "exit 4"})
	act(s)
	if err := s.Close(); err != nil || len(*said) != 1 || !strings.Contains((*said)[0], "ended with code 4") {
		t.Errorf("an anchor that fails at the end: %v, said %q", err, *said)
	}
	clk.Advance(24 * time.Hour)
	s, _ = open(file, backends.AnchorConfig{Kind: "command", Command: "exit 4"})
	want(s, model.HealthDegraded, "anchored 24 h ago by 1 of 2", "command exit 4: it ended with code 4")
	if got := s.unanchored(t.Context()); len(got) != 1 {
		t.Errorf("at login: %q", got)
	}
	// The other disk is missing: a day later Health must still report the age of its checkpoint.
	if err := os.Rename(usb, usb+".away"); err != nil {
		t.Fatal(err)
	}
	s, _ = open(file)
	want(s, model.HealthOK, "anchored 24 h ago")
	// A log restored from a copy must be an alarm whatever its anchors have, and so must a removed one.
	if err := os.Rename(usb+".away", usb); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(state, "memdesk", "audit")
	if err := os.CopyFS(dir+".copy", os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".was"); err != nil {
		t.Fatal(err)
	}
	s, _ = open(file)
	want(s, model.HealthDown, "ALARM: ", "the audit log is gone", "memdesk audit acknowledge")
	if err := os.Chmod(dir+".copy", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+".copy", dir); err != nil {
		t.Fatal(err)
	}
	s, _ = open(file)
	want(s, model.HealthDown, "ALARM: ", "restored from a copy", "memdesk audit acknowledge")
}
