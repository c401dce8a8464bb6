package undo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/tracker/beads"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// TestARepeatedIDIsTold: a line whose id the next line takes over cannot come back, which is said before it goes.
func TestARepeatedIDIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".beads")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const lines = `{"id":"q-0","title":"z"}` + "\n" + `{"id":"q-1","title":"a"}` + "\n" + `{"id":"q-1","title":"b"}` + "\n" + `{"id":"q-1","title":"c"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := beads.Open(t.Context(), beads.Config{Name: "s", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	k := undo.New(filepath.Join(t.TempDir(), "undo"), 0, clock.System{}, nil)
	for id, heir := range map[string]string{"q-0": "", "q-1": `"q-1#2"`, "q-1#2": `"q-1#3"`, "q-1#3": ""} {
		said, err := k.Preview(t.Context(), s, id)
		if err != nil || (heir == "") != (len(said) == 0) || heir != "" && !strings.HasPrefix(said[0], heir) {
			t.Errorf("%s: %q, %v", id, said, err)
		}
	}
	_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: "q-1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Restore(t.Context(), func(string) (model.Store, error) { return s, nil }, e.ID); !errors.Is(err, model.Conflict) && !errors.Is(err, model.AlreadyExists) {
		t.Errorf("undo: %v", err)
	}
}

// TestFieldsOfAnyBytesComeBack: a field that is no text comes back after a forget and after an edit.
func TestFieldsOfAnyBytesComeBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".beads")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const line = `{"id":"q-0","title":"z","status":"open","issue_type":"task","assignee":"J` + "\xfc" + `rg"`
	if err := os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(line+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := beads.Open(t.Context(), beads.Config{Name: "s", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	k := undo.New(filepath.Join(t.TempDir(), "undo"), 0, clock.System{}, nil)
	for what, change := range map[string]func() (undo.Entry, error){
		"forget": func() (undo.Entry, error) {
			_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: "q-0"})
			return e, err
		},
		"edit": func() (undo.Entry, error) {
			_, e, err := k.Retain(t.Context(), s, model.RetainRequest{ID: "q-0", Content: "new", Mode: model.Replace, Meta: []model.Field{{Name: "title", Value: "y"}, {Name: "status", Value: "open"}, {Name: "type", Value: "task"}, {Name: "assignee", Value: "Jo"}}})
			return e, err
		},
	} {
		e, err := change()
		if err != nil {
			t.Fatal(what, err)
		}
		if _, err := k.Restore(t.Context(), func(string) (model.Store, error) { return s, nil }, e.ID); err != nil {
			t.Error(what, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "issues.jsonl")); err != nil || !strings.HasPrefix(string(got), line) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
}
