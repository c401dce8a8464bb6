package beads_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"memdesk/backends/tracker/trackertest"
)

func TestMain(m *testing.M) {
	trackertest.Answer("bd", bd)
	os.Exit(m.Run())
}

// fakeBD is the stand-in for bd, which this machine need not have.
func fakeBD(t *testing.T) string {
	t.Helper()
	return trackertest.StandIn(t, "bd")
}

type bdState struct {
	Issues   []map[string]any
	Memories map[string]any
	Next     int
}

func (s *bdState) find(id string) (map[string]any, error) {
	for _, k := range s.Issues {
		if k["id"] == id {
			return k, nil
		}
	}
	return nil, errors.New("Error: issue not found: " + id)
}

// bd is a stand-in for bd: the commands, options and JSON that its format text
// gives (beads-foolery-knots.md, Beads).
func bd(args []string) error {
	if len(args) == 0 {
		return errors.New("Error: a command is needed")
	}
	cmd, rest := args[0], args[1:]
	if cmd == "dep" && len(rest) > 0 {
		cmd, rest = "dep "+rest[0], rest[1:]
	}
	w := trackertest.ParseWords(rest)
	if _, ok := w.Option("json"); !ok {
		return errors.New("Error: this stand-in speaks JSON only")
	}
	need := map[string]int{"update": 1, "close": 1, "delete": 1, "dep add": 2, "dep remove": 2, "remember": 1, "forget": 1}[cmd]
	if len(w.Plain) != need {
		return errors.New("Error: wrong number of arguments")
	}
	var s bdState
	return trackertest.Locked(filepath.Join(".beads", "fake.json"), &s, func() error {
		answer, err := s.run(cmd, w)
		if err != nil {
			return err
		}
		out, err := json.MarshalIndent(answer, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Printf("%s\n", out)
		return err
	})
}

func (s *bdState) run(cmd string, w trackertest.Words) (answer any, err error) {
	now := fmt.Sprintf("2026-05-01T10:00:%02dZ", s.Next%60)
	switch cmd {
	case "list":
		return append([]map[string]any{}, s.Issues...), nil
	case "memories":
		all := map[string]any{"schema_version": 1}
		for k, v := range s.Memories {
			all[k] = v
		}
		return all, nil
	case "create":
		id, given := w.Option("id")
		if !given {
			id = fmt.Sprintf("bd-%04x", s.Next)
		}
		s.Next++
		k := map[string]any{"id": id, "status": "open", "priority": 2, "issue_type": "task", "created_at": now, "updated_at": now, "odd": []float64{1.5}}
		s.Issues = append(s.Issues, k)
		return k, put(k, w)
	case "remember":
		if s.Memories == nil {
			s.Memories = map[string]any{}
		}
		key, _ := w.Option("key")
		s.Memories[key] = w.Plain[0]
		return struct{}{}, nil
	case "forget":
		if _, ok := s.Memories[w.Plain[0]]; !ok {
			return nil, errors.New("Error: no memory with that key")
		}
		delete(s.Memories, w.Plain[0])
		return struct{}{}, nil
	}
	return s.runOn(cmd, w, now)
}

// runOn are the commands about an item that is there.
func (s *bdState) runOn(cmd string, w trackertest.Words, now string) (answer any, err error) {
	if len(w.Plain) == 0 {
		return nil, errors.New("Error: unknown command: " + cmd)
	}
	k, err := s.find(w.Plain[0])
	if err != nil {
		return nil, err
	}
	deps, _ := k["dependencies"].([]any)
	switch cmd {
	case "update":
		k["updated_at"] = now
		return []any{k}, put(k, w)
	case "close":
		k["status"], k["closed_at"], k["close_reason"] = "closed", now, "Closed"
		if reason, ok := w.Option("reason"); ok {
			k["close_reason"] = reason
		}
		return []any{k}, nil
	case "delete":
		if _, ok := w.Option("force"); !ok {
			return nil, errors.New("Error: a preview only; use --force")
		}
		s.Issues = slices.DeleteFunc(s.Issues, func(i map[string]any) bool { return i["id"] == k["id"] })
	case "dep add":
		if _, err := s.find(w.Plain[1]); err != nil {
			return nil, err
		}
		k["dependencies"] = append(deps, map[string]any{"issue_id": w.Plain[0], "depends_on_id": w.Plain[1], "type": "blocks", "created_at": now})
	case "dep remove":
		k["dependencies"] = slices.DeleteFunc(deps, func(d any) bool {
			m, ok := d.(map[string]any)
			return ok && m["depends_on_id"] == w.Plain[1]
		})
	default:
		return nil, errors.New("Error: unknown command: " + cmd)
	}
	return struct{}{}, nil
}

// put sets the fields that the options name; an empty one is taken out.
func put(k map[string]any, w trackertest.Words) error {
	names := map[string]string{"title": "title", "type": "issue_type", "assignee": "assignee", "acceptance": "acceptance_criteria", "design": "design",
		"notes": "notes", "description": "description", "status": "status", "parent": "parent"}
	for _, o := range w.Options {
		name, v := o[0], o[1]
		labels, _ := k["labels"].([]any)
		switch field, known := names[name]; {
		case known && v == "":
			delete(k, field)
		case known:
			k[field] = v
		case name == "priority":
			n, err := strconv.Atoi(v)
			if err != nil {
				return errors.New("Error: invalid priority")
			}
			k["priority"] = n
		case name == "add-label":
			k["labels"] = append(labels, v)
		case name == "remove-label":
			k["labels"] = slices.DeleteFunc(labels, func(l any) bool { return l == v })
		case name != "json" && name != "id":
			return errors.New("Error: unknown flag: --" + name)
		}
	}
	return nil
}
