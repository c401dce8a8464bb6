package beads_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memdesk/backends/tracker/trackertest"
)

func TestMain(m *testing.M) {
	trackertest.Answer("bd", bd)
	os.Exit(m.Run())
}

// fakeBD is the stand-in for bd, for machines without bd.
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
	return nil, told("resolving %s: no issue found matching %q", id, id)
}

// told is a refusal in the form that bd writes to standard output.
func told(format string, args ...any) error {
	b, err := json.Marshal(map[string]any{"error": fmt.Sprintf(format, args...), "schema_version": 1})
	if err != nil {
		return err
	}
	return trackertest.Told(b)
}

// note records the arguments of a call.
func note(path string, args []string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, strings.Join(args, " "))
	return errors.Join(err, f.Close())
}

// export writes records as bd does: without --all, no messages and memories. A child's parent is only
// in a dependency.
func (s *bdState) export(all bool) error {
	enc := json.NewEncoder(os.Stdout)
	for _, k := range s.Issues {
		if !all && k["issue_type"] == "message" {
			continue
		}
		line := map[string]any{"_type": "issue"}
		for name, v := range k {
			line[name] = v
		}
		if parent, ok := k["parent"]; ok {
			deps, _ := k["dependencies"].([]any)
			line["dependencies"] = append(slices.Clone(deps), map[string]any{"issue_id": k["id"], "depends_on_id": parent, "type": "parent-child"})
			delete(line, "parent")
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Memories)) {
		if !all {
			break
		}
		if err := enc.Encode(map[string]any{"_type": "memory", "key": key, "value": s.Memories[key]}); err != nil {
			return err
		}
	}
	return nil
}

// open lists an item's blockers that are not closed.
func (s *bdState) open(k map[string]any) []string {
	var out []string
	deps, _ := k["dependencies"].([]any)
	for _, d := range deps {
		m, _ := d.(map[string]any)
		id, _ := m["depends_on_id"].(string)
		if b, err := s.find(id); err == nil && b["status"] != "closed" {
			out = append(out, id)
		}
	}
	return out
}

// bd is a stand-in for bd with the commands, options and JSON that the format document describes
// (beads-foolery-knots.md, Beads).
func bd(args []string) error {
	if len(args) == 0 {
		return errors.New("Error: a command is needed")
	}
	if log := os.Getenv("FAKE_BD_LOG"); log != "" {
		if err := note(log, args); err != nil {
			return err
		}
	}
	if records := os.Getenv("FAKE_BD_RECORDS"); records != "" {
		if err := trackertest.Replay(records, args); err != nil {
			return err
		}
	}
	cmd, rest := args[0], args[1:]
	if (cmd == "dep" || cmd == "comments") && len(rest) > 0 {
		cmd, rest = cmd+" "+rest[0], rest[1:]
	}
	w := trackertest.ParseWords(rest)
	if _, ok := w.Option("json"); !ok && cmd != "export" {
		return errors.New("Error: this stand-in speaks JSON only")
	}
	need := map[string]int{"comments add": 2, "update": 1, "close": 1, "delete": 1, "dep add": 2, "dep remove": 2, "remember": 1, "forget": 1}[cmd]
	if len(w.Plain) != need {
		return errors.New("Error: wrong number of arguments")
	}
	var s bdState
	return trackertest.Locked(filepath.Join(".beads", "fake.json"), &s, func() error {
		if cmd == "export" {
			_, all := w.Option("all")
			return s.export(all)
		}
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
	case "create":
		id, given := w.Option("id")
		if !given {
			id = fmt.Sprintf("bd-%04x", s.Next)
		}
		s.Next++
		if have, err := s.find(id); err == nil { // bd overwrites it
			return have, s.put(have, w)
		}
		k := map[string]any{"id": id, "status": "open", "priority": 2, "issue_type": "task", "created_at": now, "updated_at": now, "odd": []float64{1.5}}
		s.Issues = append(s.Issues, k)
		return k, s.put(k, w)
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

// runOn are the commands about an existing item.
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
		return []any{k}, s.put(k, w)
	case "comments add":
		all, _ := k["comments"].([]any)
		k["comments"] = append(all, map[string]any{"id": fmt.Sprintf("c-%d", len(all)), "issue_id": k["id"], "author": "ana", "text": w.Plain[1], "created_at": now})
	case "close":
		if open := s.open(k); len(open) > 0 {
			return nil, fmt.Errorf("cannot close %s: blocked by open issues %v (use --force to override)", k["id"], open)
		}
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
		if w.Plain[0] == w.Plain[1] {
			return nil, told("cannot add self-dependency: %s cannot depend on itself", w.Plain[0])
		}
		b, err := s.find(w.Plain[1])
		if err != nil {
			return nil, err
		}
		if slices.Contains(s.open(b), w.Plain[0]) {
			return nil, told("adding dependency would create a cycle")
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

// put sets the fields named by options; an empty one is removed.
func (s *bdState) put(k map[string]any, w trackertest.Words) error {
	names := map[string]string{"title": "title", "type": "issue_type", "assignee": "assignee", "acceptance": "acceptance_criteria", "design": "design",
		"notes": "notes", "description": "description", "status": "status", "parent": "parent"}
	for _, o := range w.Options {
		name, v := o[0], o[1]
		labels, _ := k["labels"].([]any)
		switch field, known := names[name]; {
		case name == "status" && !slices.Contains([]string{"open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked"}, v):
			return told("invalid status %q (built-in: open, in_progress, blocked, deferred, closed, pinned, hooked)", v)
		case name == "type" && v == "weird":
			return fmt.Errorf("Error updating %s: invalid issue type: weird", k["id"])
		case known && v == "":
			delete(k, field)
		case known:
			k[field] = v
			if name == "status" && v != "closed" {
				delete(k, "closed_at")
				delete(k, "close_reason")
			}
		case name == "priority":
			n, err := strconv.Atoi(v)
			if err != nil {
				return errors.New("Error: invalid priority")
			}
			k["priority"] = n
		case name == "add-label", name == "labels":
			for _, l := range record(v) {
				if !slices.Contains(labels, any(l)) {
					labels = append(labels, l)
				}
			}
			k["labels"] = labels
		case name == "remove-label":
			k["labels"] = slices.DeleteFunc(labels, func(l any) bool { return slices.Contains(record(v), l.(string)) })
		case name != "json" && name != "id":
			return errors.New("Error: unknown flag: --" + name)
		}
	}
	return nil
}

// record reads a label option as bd does: as one CSV record.
func record(v string) []string {
	out, err := csv.NewReader(strings.NewReader(v)).Read()
	if err != nil {
		return nil
	}
	return out
}
