package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/backends/demodata"
	"memdesk/internal/clock"
)

// TestTheDemosStory: the demo must open on work that the program itself has done and that an operator
// can continue.
func TestTheDemosStory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	now := time.Date(2026, 5, 21, 9, 30, 0, 0, time.UTC)
	if err := demodata.Seed(t.Context(), dir, now); err != nil {
		t.Fatal(err)
	}
	p := Program{Clock: clock.Fixed(now), Kinds: backends.Builtin(), User: "eve", Dir: dir, Terminal: func(any) bool { return false },
		Env: func(key string) string {
			switch key {
			case "XDG_STATE_HOME":
				return filepath.Join(dir, "state")
			case "PATH":
				return os.Getenv(key)
			}
			return ""
		}}
	if err := p.app().story(dir).Tell(t.Context()); err != nil {
		t.Fatal(err)
	}
	md := func(code int, args ...string) (rows []map[string]any) {
		t.Helper()
		var out, talk bytes.Buffer
		p := p
		p.Args, p.Stdin, p.Stdout, p.Stderr = append([]string{"--config", filepath.Join(dir, demodata.ConfigFile), "--json"}, args...), strings.NewReader(""), &out, &talk
		got := p.Run(t.Context())
		for bytes.Contains(out.Bytes(), []byte("health check timeout")) { // a store is late on a busy machine, which is no fault of the demo
			out.Reset()
			got = p.Run(t.Context())
		}
		if got != code {
			t.Fatalf("%v ended with %d, not %d: %s", args, got, code, &talk)
		}
		for line := range bytes.Lines(out.Bytes()) {
			var r map[string]any
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, r)
		}
		return rows
	}
	for _, h := range md(0, "health") {
		if h["ok"] != true {
			t.Errorf("a store of the demo is not well: %v", h)
		}
	}
	if v := md(0, "audit", "verify"); v[0]["ok"] != true {
		t.Errorf("the log does not verify: %v", v)
	}
	who, acts, last := map[any]bool{}, map[any]bool{}, now
	for _, r := range md(0, "audit", "list", "--all") {
		if r["type"] != "event" && r["ts"] == nil {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, r["ts"].(string))
		if err != nil || at.After(last) {
			t.Errorf("the record of %v at %v is not in the order of time", r["action"], r["ts"])
		}
		who[r["actor"]], acts[r["action"]], last = true, true, at
	}
	if age := now.Sub(last); age < 7*24*time.Hour {
		t.Errorf("the log goes back %v only", age)
	}
	for _, name := range []string{"ana", "jon", "agent ada", "agent dara"} {
		if !who[name] {
			t.Errorf("%s did nothing: %v", name, who)
		}
	}
	states, approved, hash := map[any]int{}, "", ""
	for _, r := range md(0, "gdpr", "list") {
		states[r["state"]]++
		if r["state"] == "approved" {
			approved, _ = r["request"].(string)
			hash, _ = r["plan_hash"].(string)
		}
		if r["state"] == "open" && r["deadline"] != "2026-05-22" {
			t.Errorf("the request that nobody has begun is due on %v, not tomorrow", r["deadline"])
		}
	}
	if len(states) != 3 || approved == "" {
		t.Fatalf("requests are %v", states)
	}
	tools := map[any]bool{}
	for _, c := range md(0, "conflicts", "list") {
		tools[c["tool"]] = true
	}
	if len(tools) < 5 {
		t.Errorf("conflicts are of %v", tools)
	}
	if q := md(0, "quarantine", "list"); len(q) < 4 {
		t.Errorf("%d quarantine entries", len(q))
	}
	if hash == "" {
		for _, r := range md(0, "gdpr", "status", approved) {
			if h, ok := r["plan_hash"].(string); ok {
				hash = h
			}
		}
	}
	rows := md(0, "gdpr", "erase", approved, "--plan-hash", hash, "--yes")
	if s := rows[len(rows)-1]; s["status"] != "complete" {
		t.Errorf("the approved request ends as %v", s)
	}
}
