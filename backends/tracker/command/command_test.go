package command_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/tracker/command"
	"memdesk/model"
)

// TestTooLongAText: the system starts no program with such an argument, so nothing was changed, and the error
// must say both.
func TestTooLongAText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := command.New(command.Program{Name: path}).Change(t.Context(), "retain", nil, strings.Repeat("x", 4<<20))
	if !errors.Is(err, model.Unsupported) || !model.Unchanged(err) || !strings.Contains(err.Error(), "shorten") {
		t.Error(err)
	}
}

// TestARelativeProgram: one that was found from here must not be another in the directory where it runs.
func TestARelativeProgram(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	for dir, says := range map[string]string{here: "found", there: "planted"} {
		if err := os.WriteFile(filepath.Join(dir, "p"), []byte("#!/bin/sh\necho "+says+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(here)
	out, err := command.New(command.Program{Name: "./p", Dir: there}).Output(t.Context(), "list")
	if err != nil || string(out) != "found\n" {
		t.Errorf("%q, %v", out, err)
	}
}
