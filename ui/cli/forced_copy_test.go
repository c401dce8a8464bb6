package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// A connection drops in the middle of `memdesk copy`: the same command must resume it, every item must
// exist once and complete, and the log must record each item once.
func TestForcedCommandDropsInACopy(t *testing.T) {
	d := newDesk(t)
	ana := signer(t)
	const notes = 150
	dir := filepath.Join(d.mem, "daily")
	want := map[string]string{}
	for i := range notes {
		name := time.Date(2019, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02") + ".md"
		want["daily/"+name] = fmt.Sprintf("# day %d\n", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(want["daily/"+name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want["daily/2026-05-21.md"] = d.read("daily/2026-05-21.md")
	db := filepath.Join(d.dir, "notes.db")
	if r := d.bare("create", "--yes", "sqlite="+db); r.code != 0 {
		t.Fatal(r.err)
	}
	// The source is slow until the connection has dropped, so that the copy is in the middle.
	const secret = "0123456789abcdefghij-of-a-test"
	tokens := filepath.Join(d.dir, "tokens")
	if err := os.WriteFile(tokens, []byte("ana "+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var near atomic.Bool
	between := proxyTo(t, d.provider("--tokens", tokens), func() {
		if !near.Load() {
			<-time.After(40 * time.Millisecond)
		}
	})
	open := []string{"--open", "sqlite=" + db}
	s := d.forced([]ssh.PublicKey{ana.PublicKey()}, []string{"TOKEN=" + secret}, append(open, "--open", "remote=TOKEN@"+between, "--json", "copy", "--from", "remote", "--to", "sqlite", "--tier", "daily", "--map", "daily=session", "--yes")...)
	there := func() map[string]int {
		t.Helper()
		out := map[string]int{}
		for _, r := range d.bare(append(open, "--json", "items", "--store", "sqlite", "--all")...).rows {
			if r["type"] == "item" {
				out[fmt.Sprint(r["id"])]++
			}
		}
		return out
	}
	job := func() map[string]any {
		t.Helper()
		rows := d.bare("--json", "jobs").rows
		if len(rows) != 1 {
			t.Fatalf("the journal has %v", rows)
		}
		return rows[0]
	}

	g := newGuestAs(t, s.user, s.addr, ana, 120, 30)
	for deadline := time.Now().Add(patience); len(there()) == 0; {
		if time.Now().After(deadline) {
			t.Fatalf("nothing is copied:\n%s", g.frame())
		}
	}
	_ = g.client.Close()
	state := ""
	for deadline := time.Now().Add(patience); ; {
		if state = fmt.Sprint(job()["state"]); state != "running" && state != "queued" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the copy goes on: %v", job())
		}
	}
	if k := len(there()); k == 0 || k == len(want) {
		t.Fatalf("the connection did not drop in the middle: %d of %d are there, %s", k, len(want), state)
	}

	near.Store(true)
	back := newGuestAs(t, s.user, s.addr, ana, 120, 30)
	if err := back.wait(); err != nil {
		t.Fatalf("taken up again it ends with %v:\n%s", err, back.frame())
	}
	for id, n := range there() {
		if _, known := want[id]; n != 1 || !known {
			t.Errorf("%s is there %d times", id, n)
		}
	}
	if n := len(there()); n != len(want) {
		t.Errorf("%d of %d are there", n, len(want))
	}
	if got := job(); got["state"] != "done" {
		t.Errorf("the journal says %v", got)
	}
	if n := len(filesUnder(t, dir)); n != len(want) {
		t.Errorf("%d of %d are in the source still", n, len(want))
	}
	for _, id := range []string{"daily/2019-01-01.md", "daily/2019-04-01.md", "daily/2019-05-30.md", "daily/2026-05-21.md"} {
		r := d.bare(append(open, "--json", "show", "sqlite:"+id)...)
		if len(r.rows) != 1 || r.rows[0]["body"] != want[id] {
			t.Errorf("%s is %v, not %q", id, r.rows, want[id])
		}
	}
	intents, outcomes := map[any]int{}, map[any]int{}
	for _, r := range d.bare("--json", "audit", "list", "--limit", "100000").rows {
		switch {
		case r["action"] != "retain":
		case r["phase"] == "intent":
			intents[r["name"]]++
		case r["result"] == "ok" || r["result"] == "done":
			outcomes[r["name"]]++
		default:
			t.Errorf("the log has %v", r)
		}
	}
	if len(outcomes) != len(want) {
		t.Errorf("the log has outcomes of %d of %d items", len(outcomes), len(want))
	}
	for name, n := range outcomes {
		if n != 1 || intents[name] != 1 {
			t.Errorf("%v was written %d times, begun %d times", name, n, intents[name])
		}
	}
}
