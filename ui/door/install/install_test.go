package install_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/model"
	"memdesk/ui/door/install"
)

// TestAChangedFileIsLeftAlone: what the client wrote since its configuration was read must not be lost.
func TestAChangedFileIsLeftAlone(t *testing.T) {
	for name, tt := range map[string]struct {
		read, now string
		want      bool // it is written
	}{
		"as it was": {`{"a":1}`, `{"a":1}`, true},
		"changed":   {`{"a":1}`, `{"a":2}`, false},
		"new":       {"", `{"a":2}`, false},
		"absent":    {"", "", true},
		"removed":   {`{"a":1}`, "", false},
	} {
		file := filepath.Join(t.TempDir(), "client.json")
		if tt.now != "" {
			if err := os.WriteFile(file, []byte(tt.now), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		_, err := install.Replace(file, []byte(tt.read), []byte("edited"), time.Now())
		after, _ := os.ReadFile(file)
		if written := string(after) == "edited"; written != tt.want || tt.want != (err == nil) || !tt.want && (!errors.Is(err, model.Conflict) || string(after) != tt.now) {
			t.Errorf("%s: %q, %v", name, after, err)
		}
	}
}
