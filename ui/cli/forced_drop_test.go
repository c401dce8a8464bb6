package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"memdesk/model"
)

// A connection drops in the middle of long work: the current item must be finished and no other begun.
// Every act must have its outcome in the log and its undo, and the remaining items must be unchanged. No
// temporary file may remain, and the journal and the next session must say how far it came.
func TestForcedCommandDropsInALongJob(t *testing.T) {
	d := newDesk(t)
	ana := signer(t)
	const notes = 1500
	dir := filepath.Join(d.mem, "daily")
	was := map[string]string{}
	for i := range notes {
		name := time.Date(2019, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02") + ".md"
		was[name] = fmt.Sprintf("# day %d\n", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(was[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := len(all)
	s := d.forced([]ssh.PublicKey{ana.PublicKey()}, nil, "--open", "crewship="+d.mem)
	g := newGuestAs(t, s.user, s.addr, ana, 120, 30)
	total := fmt.Sprintf("1,%03d", n-1000)
	g.see("[2 Tiers]", "daily", "30.0 KB").press("G").see(total + " items").press("\r").see("1 of " + total).press("*").see(total + " rows marked")
	g.press("d").see("Forget "+total+" items?", "enter cancel").press(fmt.Sprintf("\t\t%d\t", n)).see("[Forget]").press("\r")
	under := regexp.MustCompile(`\b[1-9][0-9]* of ` + total + ` items`)
	g.until("the work under way", under.MatchString)
	_ = g.client.Close()

	// A returning operator must be told, at the latest when the dropped session has ended.
	var job map[string]any
	for deadline := time.Now().Add(patience); ; {
		rows := d.bare("--json", "jobs").rows
		if len(rows) == 1 && rows[0]["state"] != "running" && rows[0]["state"] != "queued" {
			job = rows[0]
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the work goes on, or is in no journal: %v", rows)
		}
	}
	left := 0
	for name, text := range was {
		switch b, err := os.ReadFile(filepath.Join(dir, name)); {
		case err == nil && string(b) != text:
			t.Errorf("%s holds %q", name, b)
		case err == nil:
			left++
		case !os.IsNotExist(err):
			t.Error(err)
		}
	}
	gone := n - len(filesUnder(t, dir))
	if gone == 0 || left == 0 {
		t.Fatalf("the connection did not drop in the middle: %d of %d are gone", gone, n)
	}
	intents, outcomes := map[any]bool{}, map[any]bool{}
	for _, r := range d.bare("--json", "audit", "list", "--limit", "100000").rows {
		if r["action"] != "forget" {
			continue
		}
		switch {
		case r["phase"] == "intent":
			intents[r["name"]] = true
		case r["result"] != "ok" && r["result"] != "done":
			t.Errorf("the log has %v", r)
		default:
			outcomes[r["name"]] = true
		}
	}
	if len(intents) != gone || len(outcomes) != gone {
		t.Errorf("%d are gone; the log has %d intents and %d outcomes", gone, len(intents), len(outcomes))
	}
	for name := range intents {
		if !outcomes[name] {
			t.Errorf("%v was begun and has no outcome", name)
		}
	}
	if undos := d.bare("--json", "undo", "list").rows; len(undos) != gone {
		t.Errorf("%d are gone, %d can be put back", gone, len(undos))
	}
	// The last item may be done without being counted.
	done, _ := job["done"].(float64)
	if job["state"] != "interrupted" || done > float64(gone) || done < float64(gone-1) || job["total"] != float64(n) {
		t.Errorf("%d of %d are gone; the journal says %v", gone, n, job)
	}
	for _, root := range []string{d.mem, d.env["XDG_STATE_HOME"]} {
		for _, name := range filesUnder(t, root) {
			if base := filepath.Base(name); strings.Contains(base, ".tmp") || strings.HasPrefix(base, ".memdesk") {
				t.Errorf("%s is left behind", name)
			}
		}
	}
	back := newGuestAs(t, s.user, s.addr, ana, 160, 40)
	back.see("console-forget", fmt.Sprintf("%.0f of %d", done, n))
	back.press("\x1b").press("q")
}

// A connection drops while a file is written: no part of it may remain, and the next session must write the
// complete file.
func TestForcedCommandDropsInAnExport(t *testing.T) {
	d := newDesk(t)
	ana := signer(t)
	const notes = 2 * model.MaxPage
	dir := filepath.Join(d.mem, "daily")
	for i := range notes {
		name := time.Date(2015, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02") + ".md"
		if err := os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "# day %d\n", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const secret = "0123456789abcdefghij-of-a-test"
	tokens := filepath.Join(d.dir, "tokens")
	if err := os.WriteFile(tokens, []byte("ana "+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Requests from the console to the store wait while the gate is locked.
	var gate sync.Mutex
	pass := func() {
		gate.Lock()
		defer gate.Unlock()
	}
	between := proxyTo(t, d.provider("--tokens", tokens), pass)
	s := d.forced([]ssh.PublicKey{ana.PublicKey()}, []string{"TOKEN=" + secret}, "--open", "remote=TOKEN@"+between)
	folder := t.TempDir()
	file := filepath.Join(folder, "rows.csv")
	export := func() *guest {
		g := newGuestAs(t, s.user, s.addr, ana, 120, 30)
		g.see("[2 Tiers]", "daily").press("G").see("items").press("\r").see("1 of ").press("x").see("Export the table?", "enter cancel")
		return g.press("\t\x15" + file + "\t").see("[Write]")
	}
	g := export()
	gate.Lock()
	g.press("\r").see("so far; esc stops it")
	await := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("never: %s; there are %v", what, filesUnder(t, folder))
			}
		}
	}
	await("the file is begun", func() bool { return len(filesUnder(t, folder)) == 1 })
	_ = g.client.Close()
	await("what was written is removed", func() bool { return len(filesUnder(t, folder)) == 0 })
	gate.Unlock()
	g = export()
	g.press("\r").see("wrote ").press("q")
	b, err := os.ReadFile(file)
	if n := strings.Count(string(b), "\n"); err != nil || n <= notes {
		t.Errorf("the file has %d lines: %v", n, err)
	}
}

// proxyTo starts a server that calls pass and then forwards the request. It reads the request
// completely first: a reverse proxy that answers before the request's end closes the connection in the
// middle of the answer.
func proxyTo(t *testing.T, target string, pass func()) (base string) {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	through := httputil.NewSingleHostReverseProxy(to)
	through.ErrorLog = log.New(io.Discard, "", 0)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pass()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller has disconnected
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// filesUnder are the files under a directory.
func filesUnder(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
