package trackertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// standIn is the variable that makes a test binary act as the named program.
const standIn = "MEMDESK_STAND_IN"

// StandIn returns the path of a program of that name, which is the test binary itself: its TestMain
// calls Answer. The real program is not needed.
func StandIn(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, p); err != nil {
		t.Fatal(err)
	}
	t.Setenv(standIn, name)
	return p
}

// Answer runs the stand-in and ends the process, when the test binary was started under that name.
// TestMain calls it first.
func Answer(name string, run func(args []string) error) {
	if os.Getenv(standIn) != name || filepath.Base(os.Args[0]) != name {
		return
	}
	err := run(os.Args[1:])
	if told := Told(""); errors.As(err, &told) {
		fmt.Fprintln(os.Stdout, string(told))
		os.Exit(1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Told is a refusal that a stand-in writes to standard output.
type Told string

func (t Told) Error() string { return string(t) }

// Record is one recorded call of a real program and its answer, a line of a file of records.
type Record struct {
	Args   []string `json:"args"`
	Exit   int      `json:"exit"`
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
	Note   string   `json:"note,omitempty"`
}

// Records reads a file of records.
func Records(path string) ([]Record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []Record
	for line := range bytes.Lines(data) {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Replay answers the call from a record and ends the process; it returns when no record has the arguments.
func Replay(path string, args []string) error {
	all, err := Records(path)
	if err != nil {
		return err
	}
	for _, r := range all {
		if slices.Equal(r.Args, args) {
			os.Stdout.WriteString(r.Stdout)
			os.Stderr.WriteString(r.Stderr)
			os.Exit(r.Exit)
		}
	}
	return nil
}

// Words are the arguments of a stand-in's command: options are --name or
// --name=value and end at --.
type Words struct {
	Plain   []string
	Options [][2]string
}

// ParseWords reads arguments.
func ParseWords(args []string) Words {
	var w Words
	tail := false
	for _, a := range args {
		switch {
		case a == "--" && !tail:
			tail = true
		case strings.HasPrefix(a, "--") && !tail:
			name, value, _ := strings.Cut(a[2:], "=")
			w.Options = append(w.Options, [2]string{name, value})
		default:
			w.Plain = append(w.Plain, a)
		}
	}
	return w
}

// Option returns an option's last value.
func (w Words) Option(name string) (value string, there bool) {
	for _, o := range w.Options {
		if o[0] == name {
			value, there = o[1], true
		}
	}
	return value, there
}

// Locked runs do over the state in a JSON file, locked against all processes, and saves the state if do
// succeeds.
func Locked[T any](path string, state *T, do func() error) error {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // releases the lock too
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, state)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	now, err := json.Marshal(state)
	if err != nil || string(now) == string(data) {
		return err
	}
	if err := os.WriteFile(path+".new", now, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
