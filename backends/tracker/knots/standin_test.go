package knots_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memdesk/backends/tracker/trackertest"
)

func TestMain(m *testing.M) {
	trackertest.Answer("kno", kno)
	os.Exit(m.Run())
}

// knot and knotEdge are the stand-in's answers.
type knot struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	State       string   `json:"state"`
	Profile     string   `json:"profile_id"`
	Workflow    string   `json:"workflow_id"`
	Etag        string   `json:"profile_etag"`
	Acceptance  *string  `json:"acceptance"`
	Description *string  `json:"description"`
	Body        *string  `json:"body"`
	Type        string   `json:"type"`
	Priority    *int     `json:"priority"`
	Tags        []string `json:"tags"`
	Notes       []string `json:"notes"`
	Steps       []string `json:"steps"`
	Created     string   `json:"created_at"`
	Updated     string   `json:"updated_at"`
}

type knotEdge struct {
	Src  string `json:"src"`
	Kind string `json:"kind"`
	Dst  string `json:"dst"`
}

type knotState struct {
	Knots []*knot
	Cold  []*knot // of the cold tier, and of the warm one, which cold search does not find
	Warm  map[string]bool
	Edges []knotEdge
	Next  int
	Busy  int
}

func (s *knotState) find(id string) (*knot, error) {
	for _, k := range s.Knots {
		if k.ID == id {
			return k, nil
		}
	}
	return nil, errors.New("error: knot " + id + " not found")
}

// kno is a stand-in for kno with the commands, options and JSON that the format document describes
// (beads-foolery-knots.md, Knots). FAKE_KNO makes it misbehave.
func kno(args []string) error {
	base := map[string]string{}
	for len(args) > 1 && (args[0] == "--repo-root" || args[0] == "--db") {
		base[args[0]], args = args[1], args[2:]
	}
	if base["--repo-root"] == "" || base["--db"] == "" || len(args) == 0 {
		return errors.New("usage: kno --repo-root R --db P COMMAND")
	}
	mode := os.Getenv("FAKE_KNO")
	if done, err := misbehave(mode); done || err != nil {
		return err
	}
	var s knotState
	path := filepath.Join(base["--repo-root"], ".knots", "fake.json")
	if mode == "busy" {
		busy := false
		if err := trackertest.Locked(path, &s, func() error { s.Busy++; busy = s.Busy < 3; return nil }); err != nil {
			return err
		}
		if busy {
			return errors.New("database is locked")
		}
	}
	cmd, rest := args[0], args[1:]
	if log := os.Getenv("FAKE_KNO_LOG"); log != "" {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		fmt.Fprintln(f, strings.Join(args, " "))
		if err := f.Close(); err != nil {
			return err
		}
	}
	if (cmd == "edge" || cmd == "cold") && len(rest) > 0 {
		cmd, rest = cmd+" "+rest[0], rest[1:]
	}
	if complaint, fails := strings.CutPrefix(mode, "no cold:"); fails && cmd == "cold search" {
		return errors.New(complaint)
	}
	return trackertest.Locked(path, &s, func() error { return s.run(cmd, trackertest.ParseWords(rest)) })
}

// misbehave fails in the way that a test requests.
func misbehave(mode string) (done bool, err error) {
	complaint, fails := strings.CutPrefix(mode, "fail:")
	switch {
	case fails:
		return true, errors.New(complaint)
	case mode == "prose":
		fmt.Println("Knots: 3 items")
		return true, nil
	case mode == "flood":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				return true, err
			}
		}
	case mode == "hang": // with a child that holds the output open
		child := exec.Command("sleep", "60")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return true, err
		}
		time.Sleep(time.Minute)
		return true, nil
	}
	return false, nil
}

func (s *knotState) run(cmd string, w trackertest.Words) error {
	now := fmt.Sprintf("2026-05-01T10:00:%02dZ", s.Next%60)
	need := map[string]int{"cold search": 1, "rehydrate": 1, "new": 1, "update": 1, "edge list": 1, "edge add": 3, "edge remove": 3}[cmd]
	if len(w.Plain) != need {
		return errors.New("error: a value is required")
	}
	switch cmd {
	case "ls":
		return show(w, append([]*knot{}, s.Knots...))
	case "cold search":
		type catalog struct {
			ID      string `json:"id"`
			Title   string `json:"title"`
			State   string `json:"state"`
			Updated string `json:"updated_at"`
		}
		out := []catalog{}
		for _, k := range s.Cold {
			if !s.Warm[k.ID] && strings.Contains(k.ID+" "+k.Title, w.Plain[0]) {
				out = append(out, catalog{k.ID, k.Title, k.State, k.Updated})
			}
		}
		return show(w, out)
	case "rehydrate":
		if i := slices.IndexFunc(s.Cold, func(k *knot) bool { return k.ID == w.Plain[0] }); i >= 0 {
			s.Knots, s.Cold = append(s.Knots, s.Cold[i]), slices.Delete(s.Cold, i, i+1)
		}
		k, err := s.find(w.Plain[0])
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(k)
	case "new":
		s.Next++
		k := &knot{ID: fmt.Sprintf("knot-%04x", s.Next), Title: w.Plain[0], State: "ready_for_planning", Profile: "autopilot", Workflow: "work_sdlc",
			Type: "task", Tags: []string{}, Notes: []string{}, Steps: []string{}, Created: now, Updated: now}
		k.Etag = "e-0"
		if v, ok := w.Option("state"); ok {
			k.State = v
		}
		if v, ok := w.Option("type"); ok {
			k.Type = v
		}
		if v, ok := w.Option("acceptance"); ok {
			k.Acceptance = &v
		}
		if v, ok := w.Option("desc"); ok && v != "" {
			k.Description = &v
		}
		s.Knots = append(s.Knots, k)
		fmt.Println("created " + k.ID)
	case "update":
		k, err := s.find(w.Plain[0])
		if err != nil {
			return err
		}
		if etag, ok := w.Option("if-match"); ok && etag != k.Etag {
			return fmt.Errorf("error: stale profile_etag: expected '%s', current '%s'", etag, k.Etag)
		}
		if to, ok := w.Option("status"); ok {
			if err := s.transition(k, to, w); err != nil {
				return err
			}
		}
		s.Next++
		k.Updated, k.Etag = now, fmt.Sprintf("e-%d", s.Next)
		return k.update(w)
	case "edge list":
		edges := []knotEdge{}
		for _, e := range s.Edges {
			if e.Src == w.Plain[0] || e.Dst == w.Plain[0] {
				edges = append(edges, e)
			}
		}
		return show(w, edges)
	case "edge add":
		s.Edges = append(s.Edges, knotEdge{w.Plain[0], w.Plain[1], w.Plain[2]})
	case "edge remove":
		i := slices.Index(s.Edges, knotEdge{w.Plain[0], w.Plain[1], w.Plain[2]})
		if i < 0 {
			return errors.New("error: no such edge")
		}
		s.Edges = slices.Delete(s.Edges, i, i+1)
	default:
		return errors.New("error: unrecognized subcommand " + cmd)
	}
	return nil
}

// transition refuses the transitions that kno's workflow refuses.
func (s *knotState) transition(k *knot, to string, w trackertest.Words) error {
	_, force := w.Option("force")
	end := k.State == "shipped" || k.State == "abandoned"
	late := slices.Contains([]string{"shipment_review", "evaluating", "exploration"}, k.State)
	if !force && (to == "shipped" && !late || end) && to != "abandoned" {
		return fmt.Errorf("error: invalid state transition: %s -> %s", k.State, to)
	}
	if to == "shipped" || to == "abandoned" {
		for _, e := range s.Edges {
			if e.Kind == "parent_of" && e.Src == k.ID {
				return fmt.Errorf("error: terminal_cascade_approval_required: moving '%s' to '%s' requires approval", k.ID, to)
			}
		}
	}
	return nil
}

// show answers in JSON with the option for it, and in words for people without.
func show[T any](w trackertest.Words, list []T) error {
	if _, ok := w.Option("json"); !ok {
		fmt.Printf("Knots: %d items\n", len(list))
		return nil
	}
	return json.NewEncoder(os.Stdout).Encode(list)
}

func (k *knot) update(w trackertest.Words) error {
	for _, o := range w.Options {
		switch v := o[1]; o[0] {
		case "title":
			k.Title = v
		case "description":
			k.Description = &v
		case "type":
			k.Type = v
		case "status":
			k.State = v
		case "acceptance":
			k.Acceptance = &v
		case "force", "if-match":
		case "priority":
			n, err := strconv.Atoi(v)
			if err != nil {
				return errors.New("error: invalid priority")
			}
			k.Priority = &n
		case "add-tag":
			k.Tags = append(k.Tags, v)
		case "remove-tag":
			k.Tags = slices.DeleteFunc(k.Tags, func(t string) bool { return t == v })
		default:
			return errors.New("error: unexpected argument --" + o[0])
		}
	}
	return nil
}
