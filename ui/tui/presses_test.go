package tui_test

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/ui/act"
	"memdesk/ui/tui"
)

// pressesEnv names the file to which the console writes the keys that it obeyed for a robot.
const pressesEnv = "MEMDESK_TUI_PRESSES"

// pressOf identifies a binding: many places bind the same key.
func pressOf(b act.Act) string { return b.Keys[0] + "\t" + b.Doc }

// notePresses writes each binding once, when it is obeyed.
func notePresses(file string) {
	if file == "" {
		return
	}
	known := map[string]bool{}
	note := func(id string) {
		if known[id] {
			return
		}
		known[id] = true
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return // the check will report it as missing
		}
		_, _ = f.WriteString(id + "\n") // one write: lines of several programs do not mix
		_ = f.Close()
	}
	tui.OnObeyed(func(b act.Act) { note(pressOf(b)) })
	tui.OnQuestion(func(sort string, cancelled bool) {
		if cancelled {
			note(cancelledSign + sort)
		} else {
			note(askedSign + sort)
		}
	})
}

// Prefixes of a question in the file: no key has such a name.
const (
	askedSign     = "asked\t\t"
	cancelledSign = "cancelled\t\t"
)

// neverCancelled lists the questions that no robot cancelled, and those of the program that no robot
// was asked.
func neverCancelled(file string) (missing []string) {
	asked, cancelled := map[string]bool{}, map[string]bool{}
	for id := range notesIn(file) {
		if sort, ok := strings.CutPrefix(id, askedSign); ok {
			asked[sort] = true
		}
		if sort, ok := strings.CutPrefix(id, cancelledSign); ok {
			cancelled[sort] = true
		}
	}
	for sort := range asked {
		if !cancelled[sort] {
			missing = append(missing, "cancelled the question "+sort)
		}
	}
	for _, title := range tui.Questions() {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(asked)), func(sort string) bool {
			return strings.HasPrefix(sort, title+"/") || sort == title || strings.HasPrefix(sort, title+" ")
		}) {
			missing = append(missing, "been asked the question "+title)
		}
	}
	slices.Sort(missing)
	return missing
}

func notesIn(file string) map[string]bool {
	out := map[string]bool{}
	if f, err := os.Open(file); err == nil {
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			out[s.Text()] = true
		}
	}
	return out
}

// watchPresses runs the tests and, when all of them ran, fails unless robots have pressed every key of the
// key table, given every command and cancelled every sort of question. A refused key does not count.
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
	for i, m := range missing {
		missing[i] = "pressed " + m
	}
	missing = append(missing, neverCancelled(file)...)
	for _, m := range missing {
		fmt.Fprintf(os.Stderr, "no robot has %s\n", m)
	}
	if len(missing) > 0 {
		return 1
	}
	return 0
}

// lists is the section of keys for which each list has its own word for a row.
const lists = "In lists and texts"

func moved(pressed map[string]bool, b act.Act) bool {
	before, after, _ := strings.Cut(pressOf(b), "line")
	for id := range pressed {
		if strings.HasPrefix(id, before) && strings.HasSuffix(id, after) && !strings.Contains(id, "hit") {
			return true
		}
	}
	return false
}

// neverPressed lists the keys that no robot pressed, as the key table names them.
func neverPressed(file string) (missing []string) {
	pressed := notesIn(file)
	for _, s := range tui.KeyTable() {
		for _, b := range s.Acts {
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
