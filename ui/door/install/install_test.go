package install_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// TestOnlyItsOwnEntryIsReplaced: every client's entry of ours gives way to the one for other stores; an entry of another
// program, or one that somebody has edited, stays.
func TestOnlyItsOwnEntryIsReplaced(t *testing.T) {
	for _, m := range install.Clients {
		entry := func(command, store string) map[string]any {
			return m.Stdio(command, []string{"--open", store, "serve", "mcp"})
		}
		before := m.Snippet("other", entry("/opt/x", "sqlite=y"))
		edit := func(old []byte, e map[string]any) []byte {
			out, err := m.Edit(old, "memdesk", e)
			if err != nil {
				t.Errorf("%s: %v in\n%s", m.Name, err, old)
			}
			return out
		}
		first := edit([]byte(before), entry("/usr/bin/memdesk", "sqlite=a"))
		want := edit([]byte(before), entry("/opt/bin/memdesk", "vault=\"b"))
		if got := edit(first, entry("/opt/bin/memdesk", "vault=\"b")); string(got) != string(want) {
			t.Errorf("%s: replaced, it is\n%s\nwant\n%s", m.Name, got, want)
		}
		theirs := edit([]byte(before), entry("/usr/bin/other", "sqlite=a"))
		if got, err := m.Edit(theirs, "memdesk", entry("/usr/bin/memdesk", "sqlite=a")); err == nil {
			t.Errorf("%s: another program's entry became\n%s", m.Name, got)
		}
		if m.Name == "codex" {
			edited := append(first, "startup_timeout_sec = 20\n"...)
			if got, err := m.Edit(edited, "memdesk", entry("/opt/bin/memdesk", "vault=b")); err == nil {
				t.Errorf("an edited entry became\n%s", got)
			}
		}
	}
}

// TestWhatSomebodyAddedStays: an entry of ours gives way to another without the members and variables that it got since.
func TestWhatSomebodyAddedStays(t *testing.T) {
	for _, m := range install.Clients {
		if m.Name == "codex" { // an edited table is left alone
			continue
		}
		args := []string{"--open", "postgres=DSN", "serve", "mcp"}
		entry := m.Stdio("/usr/bin/memdesk", args)
		entry["env"] = map[string]any{"XDG_STATE_HOME": "/s"}
		added := m.Stdio("/usr/bin/memdesk", []string{"serve", "mcp"})
		added["disabled"], added["env"] = true, map[string]any{"DSN": "postgres://x", "XDG_STATE_HOME": "/old"}
		want := m.Stdio("/usr/bin/memdesk", args)
		want["disabled"], want["env"] = true, map[string]any{"DSN": "postgres://x", "XDG_STATE_HOME": "/s"}
		for range 2 {
			got, err := m.Edit([]byte(m.Snippet("memdesk", added)), "memdesk", entry)
			if err != nil || string(got) != m.Snippet("memdesk", want) {
				t.Errorf("%s: %v, it is\n%s", m.Name, err, got)
			}
			added = want // then nothing changes
		}
		delete(entry, "env") // a directory of an earlier run is no addition
		delete(want["env"].(map[string]any), "XDG_STATE_HOME")
		if got, err := m.Edit([]byte(m.Snippet("memdesk", added)), "memdesk", entry); err != nil || string(got) != m.Snippet("memdesk", want) {
			t.Errorf("%s: %v, it is\n%s", m.Name, err, got)
		}
		served, err := m.Edit([]byte(m.Snippet("memdesk", added)), "memdesk", m.HTTP("http://h/mcp", "TOKEN"))
		if err != nil || strings.Contains(string(served), "DSN") || !strings.Contains(string(served), "disabled") {
			t.Errorf("%s: %v, as a server it is\n%s", m.Name, err, served)
		}
	}
}

// TestEachInstallKeepsTheOldFile: also the second one within a second.
func TestEachInstallKeepsTheOldFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "client.json")
	if err := os.WriteFile(file, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1, 0)
	for _, texts := range [][2]string{{"1", "2"}, {"2", "3"}, {"3", "4"}} {
		backup, err := install.Replace(file, []byte(texts[0]), []byte(texts[1]), now)
		if kept, _ := os.ReadFile(backup); err != nil || string(kept) != texts[0] {
			t.Errorf("%s keeps %q, %v", backup, kept, err)
		}
	}
	if all, _ := filepath.Glob(file + ".memdesk-*.bak"); len(all) != 3 {
		t.Errorf("%q are kept", all)
	}
}
