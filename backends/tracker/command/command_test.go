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
	err := command.New(command.Program{Name: path}).Write(t.Context(), "retain", nil, strings.Repeat("x", 4<<20))
	if !errors.Is(err, model.Unsupported) || !model.Unchanged(err) || !strings.Contains(err.Error(), "shorten") {
		t.Error(err)
	}
}
