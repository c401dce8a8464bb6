package cli_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOfferedTakebackIsOneWord: the writer's own word must reach takeback as it is, and a shell must run
// nothing of it; one with hidden characters is not offered to be copied.
func TestOfferedTakebackIsOneWord(t *testing.T) {
	d := newDesk(t)
	sources := []string{"web:it's here; touch ran", "web:x$(touch ran)`touch ran`"}
	for i, source := range append(sources, "web:x\u202ey") {
		d.in = strings.Replace(planted, "collect", "collect"+strconv.Itoa(i), 1)
		d.run("turn", "after", "--tier", "daily", "--key", "2031-02-0"+strconv.Itoa(i+1), "--source", source, "--yes", "-").want(t, 0)
	}
	var taken []string
	for line := range strings.Lines(d.run("quarantine", "stories").want(t, 0).out) {
		if _, command, ok := strings.Cut(line, "take it back: memdesk takeback "); ok {
			sh := exec.Command("sh", "-c", `printf '%s\n' `+command)
			sh.Dir = t.TempDir()
			out, err := sh.Output()
			words := strings.Split(string(out), "\n")
			if ran, _ := os.ReadDir(sh.Dir); err != nil || len(ran) > 0 || len(words) < 2 {
				t.Fatalf("a shell takes %q for %q (%v), and made %v", command, out, err, ran)
			}
			taken = append(taken, words[1])
		}
	}
	slices.Sort(taken)
	if diff := cmp.Diff(sources, taken); diff != "" {
		t.Errorf("the sources that the offered lines name: %s", diff)
	}
}

// TestAnIncident is an operator's path from the alert to everything taken back, by the output of each
// command: the story must name its source, its take-back command must show what would go, and other
// writers' texts must stay.
func TestAnIncident(t *testing.T) {
	d := newDesk(t)
	d.in = planted
	d.run("turn", "after", "--tier", "daily", "--key", "2031-02-01", "--source", "web:https://x.example", "--yes", "-").want(t, 0)
	d.in = strings.Replace(planted, "collect", "gather", 1)
	d.run("turn", "after", "--tier", "daily", "--key", "2031-02-02", "--source", "web:https://x.example", "--yes", "-").want(t, 0)
	// The operator's own note has the same actor as the agent on this machine, but must not be part of
	// the story.
	d.in = "the tide table is right\n"
	d.run("retain", "--tier", "daily", "--key", "2031-02-03", "--mode", "append", "--yes", "-").want(t, 0)
	bystander := filepath.Join(d.mem, "daily", "2031-01-31.md")
	if err := os.WriteFile(bystander, []byte("a quiet day\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	alert := d.run("quarantine", "stories").want(t, 0)
	line := regexp.MustCompile(`take it back: memdesk (takeback --source (\S+) --since (\S+) --dry-run)`).FindStringSubmatch(alert.out)
	if line == nil || line[2] != "web:https://x.example" || !strings.Contains(alert.out, "sends_out") || !strings.Contains(alert.out, "daily/2031-02-01.md") {
		t.Fatalf("the alert: %s", alert.out)
	}
	walk := []string{"takeback", "--source", line[2], "--since", line[3]}
	dry := d.run(append(walk, "--dry-run", "--json")...).want(t, 0)
	if !strings.Contains(dry.out, `"forgotten":2`) || !strings.Contains(dry.out, `"dry_run":true`) {
		t.Errorf("dry run: %s", dry.out)
	}
	d.run(append(walk, "--yes")...).want(t, 0, "2 forgotten", "to undo it: memdesk undo restore ", " (until ")
	for _, name := range []string{"2031-02-01.md", "2031-02-02.md"} {
		if _, err := os.Stat(filepath.Join(d.mem, "daily", name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if b, err := os.ReadFile(bystander); err != nil || string(b) != "a quiet day\n" {
		t.Errorf("the bystander: %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(d.mem, "daily", "2031-02-03.md")); err != nil {
		t.Errorf("the operator's own note: %v", err)
	}
	if after := d.run("quarantine", "stories").want(t, 0); strings.Contains(after.out, "sends_out") {
		t.Errorf("afterwards: %s", after.out)
	}
	recorded := 0
	for line := range strings.Lines(d.run("audit", "list", "--json").want(t, 0).out) {
		if strings.Contains(line, `"action":"takeback"`) && strings.Contains(line, `"phase":"outcome"`) {
			recorded++
			if !strings.Contains(line, `"forget":2`) {
				t.Errorf("recorded: %s", line)
			}
		}
	}
	if recorded != 1 {
		t.Errorf("the take-back is recorded %d times as a whole", recorded)
	}
}

// TestTakebackIsOfferedForWhatWasNoted: what the store alone says of a writer cannot be taken back.
func TestTakebackIsOfferedForWhatWasNoted(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "demo")
	d.bare("demo", "--dir", dir, "--seed-only").want(t, 0)
	if r := d.bare("--config", filepath.Join(dir, "config.toml"), "quarantine", "stories").want(t, 0, "by dara"); strings.Contains(r.out, "take it back") {
		t.Errorf("a take-back of nothing is offered:\n%s", r.out)
	}
}

// TestATakebackNamesStoresThatAreNotOpen: nothing was taken back there, and an incident must not end with "0 items".
func TestATakebackNamesStoresThatAreNotOpen(t *testing.T) {
	d := newDesk(t)
	d.in = "the tide is at six\n"
	named := func(name string) []string {
		return []string{"--config", d.file("config.toml", "[[store]]\nname = \""+name+"\"\nkind = \"crewship\"\npath = \""+d.mem+"\"\n")}
	}
	d.bare(append(named("alpha"), "turn", "after", "--tier", "daily", "--key", "2031-02-01", "--source", "web:https://x.example", "--yes", "-")...).want(t, 0)
	back := append(named("beta"), "takeback", "--source", "web:https://x.example", "--since", "1h", "--yes", "--json")
	r := d.bare(back...).want(t, 3, `"matched":1`, `"skipped":1`, `"store":"alpha"`, "no store is open under this name")
	if strings.Contains(r.err, "the error says why") {
		t.Errorf("no error follows:\n%s", r.err)
	}
	d.bare(append(back, "--store", "beta")...).want(t, 0, `"matched":0`)
}

// TestATakebackOfOneStoreNamesDamagedNotes: nobody knows whether they are about that store.
func TestATakebackOfOneStoreNamesDamagedNotes(t *testing.T) {
	d := newDesk(t)
	d.in = "the tide is at six\n"
	d.run("turn", "after", "--tier", "daily", "--key", "2031-02-01", "--source", "web:https://x.example", "--yes", "-").want(t, 0)
	notes := 0
	err := filepath.WalkDir(d.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "ledger.jsonl" {
			return err
		}
		notes++
		return os.WriteFile(path, []byte("{broken\n"), 0o600)
	})
	if err != nil || notes != 1 {
		t.Fatal(notes, err)
	}
	d.run("takeback", "--source", "web:https://x.example", "--since", "1h", "--yes", "--json", "--store", "crewship").want(t, 3, `"matched":1`, `"skipped":1`, "cannot be read")
	d.run("takeback", "--source", "web:https://x.example", "--since", "1h", "--dry-run").want(t, 3, "-  ", "line of the notes on writers cannot be read")
	d.run("origin", "crewship:daily/2031-02-01.md").want(t, 3, "unknown", "1 line of the notes on writers cannot be read")
}

// readerFunc is a reader made of one function.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestATakebackPastARefusal: a store whose item changes after the preview must stay, stop no other store, and be
// missing from the summary.
func TestATakebackPastARefusal(t *testing.T) {
	d := newDesk(t)
	other := filepath.Join(d.dir, "other", ".memory")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	both := func(args ...string) result {
		return d.bare(append([]string{"--open", "crewship=" + d.mem, "--open", "crewship=" + other}, args...)...)
	}
	d.in = "the tide is at six\n"
	for _, store := range []string{"crewship", "crewship-2"} {
		both("turn", "after", "-s", store, "--tier", "daily", "--key", "2031-02-01", "--source", "web:https://x.example", "--yes", "-").want(t, 0)
	}
	mine, theirs := filepath.Join(d.mem, "daily", "2031-02-01.md"), filepath.Join(other, "daily", "2031-02-01.md")
	answer := strings.NewReader("y\n")
	d.tty, d.ask = true, readerFunc(func(p []byte) (int, error) {
		if err := os.WriteFile(mine, []byte("somebody else's\n"), 0o644); err != nil {
			t.Error(err)
		}
		return answer.Read(p)
	})
	both("takeback", "--source", "web:https://x.example", "--since", "1h", "--json").want(t, 3, `"matched":2`, `"forgotten":1`)
	if _, err := os.Stat(theirs); err == nil {
		t.Error("the other store was not taken back")
	}
	if b, err := os.ReadFile(mine); err != nil || string(b) != "somebody else's\n" {
		t.Errorf("the changed note: %q, %v", b, err)
	}
}

// TestATakebackWithoutAnAnswer: an item whose removal was sent and not answered is not "left", and the exit code says
// that the take-back is not whole.
func TestATakebackWithoutAnAnswer(t *testing.T) {
	d := newDesk(t)
	const secret = "0123456789abcdefghij-of-a-test"
	tokens := d.file("tokens", "ana "+secret+"\n")
	must(t, os.Chmod(tokens, 0o600))
	d.env["MEMDESK_T"] = secret
	to, err := url.Parse(d.provider("--tokens", tokens))
	must(t, err)
	through := httputil.NewSingleHostReverseProxy(to)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/forget" {
			through.ServeHTTP(httptest.NewRecorder(), r)
			http.Error(w, "gateway timeout", http.StatusGatewayTimeout)
			return
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	d.in = "the tide is at six\n"
	far := func(args ...string) result {
		return d.bare(append([]string{"--open", "remote=MEMDESK_T@" + between.URL}, args...)...)
	}
	far("turn", "after", "--tier", "daily", "--key", "2031-02-01", "--source", "web:https://x.example", "--yes", "-").want(t, 0)
	back := []string{"takeback", "--source", "web:https://x.example", "--since", "1h", "--yes"}
	r := far(append(back, "--json")...).want(t, 3, `"matched":1,"forgotten":0,"restored":0,"skipped":0`)
	if !strings.Contains(r.err, "whether it was taken back is not known: look at it") {
		t.Errorf("nothing says that the outcome is not known: %s", r.err)
	}
	far(back...).want(t, 3, "it is gone already")
}
