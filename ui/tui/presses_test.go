package tui_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/ui/tui"
)

// pressesEnv names the file where the console that a robot drives writes which
// keys it has obeyed.
const pressesEnv = "MEMDESK_TUI_PRESSES"

// pressOf tells a binding from others: many places bind the same key.
func pressOf(b tui.Binding) string { return b.Keys[0] + "\t" + b.Description }

// notePresses writes each binding once, when it is obeyed.
func notePresses(file string) {
	if file == "" {
		return
	}
	known := map[string]bool{}
	tui.OnObeyed(func(b tui.Binding) {
		id := pressOf(b)
		if known[id] {
			return
		}
		known[id] = true
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return // it will be missed, and said
		}
		_, _ = f.WriteString(id + "\n") // one write: lines of several programs do not mix
		_ = f.Close()
	})
}

// watchPresses runs the tests and, when all of them ran, fails unless robots have
// pressed every key of the key table and given every command. A key that was only
// refused does not count.
func watchPresses(run func() int) int {
	dir, err := os.MkdirTemp("", "presses")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "obeyed")
	if err := os.Setenv(pressesEnv, file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := run()
	some := ""
	for _, name := range []string{"run", "skip", "list", "fuzz"} {
		some += flag.Lookup("test." + name).Value.String()
	}
	if code != 0 || some != "" || testing.Short() || *update {
		return code
	}
	missing := neverPressed(file)
	for _, m := range missing {
		fmt.Fprintf(os.Stderr, "no robot has pressed %s\n", m)
	}
	if len(missing) > 0 {
		return 1
	}
	return 0
}

// lists is the section of keys that each list has with a word of its own for what
// is moved over.
const lists = "In lists and texts"

func moved(pressed map[string]bool, b tui.Binding) bool {
	before, after, _ := strings.Cut(pressOf(b), "line")
	for id := range pressed {
		if strings.HasPrefix(id, before) && strings.HasSuffix(id, after) && !strings.Contains(id, "hit") {
			return true
		}
	}
	return false
}

// neverPressed lists what nobody has pressed, as the key table has it.
func neverPressed(file string) (missing []string) {
	pressed := map[string]bool{}
	if f, err := os.Open(file); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			pressed[s.Text()] = true
		}
	}
	for _, s := range tui.KeyTable() {
		for _, b := range s.Bindings {
			if s.Title == "Commands" {
				b.Keys = []string{strings.Fields(b.Keys[0])[0]}
			}
			id := pressOf(b)
			if s.Title == lists && moved(pressed, b) {
				continue
			}
			if m := s.Title + ": " + strings.ReplaceAll(id, "\t", ", "); !pressed[id] && !slices.Contains(missing, m) {
				missing = append(missing, m)
			}
		}
	}
	return missing
}
