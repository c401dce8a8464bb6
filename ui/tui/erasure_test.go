package tui_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/backends/demodata"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/ui/cli"
)

// The erasure pane is tested with the whole program: real stores, a real state directory, and runs in
// separate processes.
const (
	programScenario = "program"
	argsEnv         = "MEMDESK_TUI_ARGS" // the program's arguments, one per line
)

// erasureNow is the program's clock.
var erasureNow = time.Date(2026, 5, 21, 12, 0, 0, 0, time.UTC)

// runProgram runs memdesk; a process that it spawns has its own arguments.
func runProgram() error {
	args := os.Args[1:]
	if len(args) > 0 && strings.HasPrefix(args[0], "-test.") {
		args = strings.Split(os.Getenv(argsEnv), "\n")
	}
	p := cli.Program{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Dir: os.Getenv("HOME"),
		Clock: clock.Fixed(erasureNow), Version: "test", Kinds: backends.Builtin(),
		Terminal: func(any) bool { return true }, User: "ann", TTY: "pts/1",
	}
	if code := p.Run(context.Background()); code != 0 {
		return fmt.Errorf("exit %d", code)
	}
	return nil
}

// office is a workspace with its state.
type office struct {
	t    *testing.T
	dir  string
	auth string // sshd's record of the console's login; empty: none
}

// newOffice seeds a company's memory; config is appended to its configuration.
func newOffice(t *testing.T, config string) *office {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "office")
	if err := demodata.Seed(t.Context(), dir, erasureNow); err != nil {
		t.Fatal(err)
	}
	keepFamilies(t, filepath.Join(dir, demodata.ConfigFile))
	if !strings.Contains(config, "[ui]\n") {
		config += "\n[ui]\n"
	}
	config = strings.Replace(config, "[ui]\n", "[ui]\npoll = \"0s\"\n", 1) // other tests cover polling
	f, err := os.OpenFile(filepath.Join(dir, demodata.ConfigFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "\n"+config); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return &office{t: t, dir: dir}
}

// masked matches the parts that differ between runs: ids, hashes, pseudonyms, the job.
var masked = regexp.MustCompile(`er-\d{8}-[0-9a-f]{8}|hmac:[0-9a-f:…]+|\b[0-9a-f]{12,}\b|\b\d{8}t\d{6}-[0-9a-z]+`)

func (o *office) console(width, height int, args ...string) *robot {
	o.t.Helper()
	args = append([]string{"--config", filepath.Join(o.dir, demodata.ConfigFile)}, args...)
	r := startRobot(o.t, start{scenario: programScenario, width: width, height: height, env: []string{
		argsEnv + "=" + strings.Join(args, "\n"), "XDG_STATE_HOME=" + filepath.Join(o.dir, "state"), "SSH_USER_AUTH=" + o.auth,
	}})
	r.mask = masked
	return r.see("2 Tiers").press("6").see("[6 Erasure")
}

// run runs the program without a screen.
func (o *office) run(args ...string) (stdout string, code int) {
	o.t.Helper()
	var out, errs strings.Builder
	env := map[string]string{"HOME": o.dir, "XDG_STATE_HOME": filepath.Join(o.dir, "state"), "LANG": "C.UTF-8"}
	p := cli.Program{
		Args: append([]string{"--config", filepath.Join(o.dir, demodata.ConfigFile)}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Env: func(k string) string { return env[k] }, Dir: o.dir, Clock: clock.Fixed(erasureNow), Version: "test", Kinds: backends.Builtin(),
		Terminal: func(any) bool { return false }, User: "ann", TTY: "pts/1",
	}
	code = p.Run(o.t.Context())
	return out.String() + errs.String(), code
}

// file files a request from the command line and returns its id.
func (o *office) file(args ...string) string {
	o.t.Helper()
	out, code := o.run(append([]string{"gdpr", "request", "--ground", "a letter", "--yes"}, args...)...)
	id := regexp.MustCompile(`er-\d{8}-[0-9a-f]{8}`).FindString(out)
	if code != 0 || id == "" {
		o.t.Fatalf("request: exit %d: %s", code, out)
	}
	return id
}

// answer waits until a dialog takes keys, goes to a button and presses it.
func (r *robot) answer(question string, keys ...string) *robot {
	r.t.Helper()
	r.see(question, "enter cancel")
	return r.press(keys...)
}

// form waits until a form takes keys, and types into its first field.
func (r *robot) form(question string, keys ...string) *robot {
	r.t.Helper()
	r.see(question, "enter next")
	return r.press(keys...)
}

func TestErasureFromIntakeToReceipt(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		w, h int
		args []string
	}{{80, 24, nil}, {200, 50, nil}, {80, 24, []string{"--no-color"}}, {200, 50, []string{"--no-color"}}} {
		t.Run(fmt.Sprintf("%dx%d%s", size.w, size.h, strings.Join(size.args, "")), func(t *testing.T) {
			t.Parallel()
			frame := func(name string) string { return fmt.Sprintf("erasure-%s-%dx%d", name, size.w, size.h) } // the same frame without colours
			o := newOffice(t, "")
			r := o.console(size.w, size.h, size.args...)
			r.see("No erasure requests").golden(frame("empty"))

			// Every Cancel must leave everything unchanged.
			r.press("a").form("File a request to be forgotten").golden(frame("form"))
			r.press("esc").see("cancelled", "No erasure requests")
			r.press("a").form("File a request to be forgotten", "usr_maren", "tab", "tab", "x", "tab", "a letter", "tab", "tab").see("[Go on]").press("enter").form("✖ Write a date like 2026-05-31.").press("esc").see("cancelled")
			r.press("a").form("File a request to be forgotten").press("tab", "tab", "tab", "tab", "tab", "tab").see("[Clear form]").press("enter").form("File a request to be forgotten", "usr_maren", "tab", "Maren Holt; HF-2207", "tab", "tab", "she asked by letter", "tab", "tab").see("[Go on]")
			r.press("enter").answer("Is Maren Holt this person", "tab").see("[Yes, this person]").press("enter")
			r.answer("Is HF-2207 this person").press("y")
			r.answer("File this request?").golden(frame("file"))
			r.press("tab").see("[File it]").press("enter").see("▌in 31 days", "usr_maren")
			r.press("ctrl+r").golden(frame("list"))
			r.press("y").see("copied er-").press("Y").see("copied the row as JSON")

			// The plan, from stores to an item and to the redacted text.
			r.press("p").see("The plan of").golden(frame("plan"))
			r.press("/", "harbor redact", "enter").see("/harbor redact").press("enter").see("+++ as it will be").golden(frame("redaction"))
			r.press("esc").press("esc").see(" of 8").press("home").see("all stores")
			r.press("/", "graph forget", "enter").see("/graph forget").press("enter").see("forget: the item goes").press("esc").press("esc").see(" of 8").press("home").see("all stores")

			// Erase: Cancel comes first, then the id is typed.
			r.press("E").answer("for good?").golden(frame("erase"))
			r.press("enter").see("cancelled")
			r.press("E").answer("for good?", "tab", "tab").see("[Erase]").press("enter").see("type the name first")
			r.press("esc").see("cancelled")
			id := o.only()
			r.press("E").answer("for good?", "tab", id, "tab").see("[Erase]").press("enter")
			r.see("No layer that can be reached holds the person", "has ended: complete", "Erasure › er-", "enter receipt").gone("has begun")
			r.press("enter").see("● verified: every", "S save  V layers  y copy").press("y").see("copied the receipt of " + id)
			r.press("S").answer("Save the receipt of "+id, "esc").see("cancelled", "● verified: every").press("esc").gone("● verified: every").press("esc").see("answered")
			r.press("ctrl+r").golden(frame("complete"))
			r.press("enter").see("● verified: every").press("V").see("(running sessions)", "1 of 3").gone("● verified: every").press("esc").see("answered")
			r.press("enter").see("● verified: every").press("esc").gone("● verified: every")
			// All clean layers share one row after the others, which names each of them; one that memdesk cannot change has its own.
			r.press("V").see("(running sessions)", "● clean", "crewship.db", " lock files", "1 of 3").press("end").see("3 of 3").press("enter")
			r.see("nothing names the person", "● clean: items").press("esc").see("3 of 3").press("/", "recall", "enter").see("● clean", "recall").gone("lock files").press("esc").press("esc").see("answered")

			// The saved receipt must be the shown one and verify offline.
			r.press("S").see("to: ~/").answer("Save the receipt", "enter").see("cancelled")
			r.press("v").answer("Type the person's id", "enter").see("cancelled")
			r.press("S").answer("Save the receipt", "tab", "ctrl+u", filepath.Join(o.dir, "r.json"), "tab").see("[Save]").press("enter").see("saved,")
			r.press("q")
			raw, err := r.left()
			if err != nil {
				t.Fatal(err)
			}
			coloured := slices.ContainsFunc(checkOutput(t, raw), colours)
			if coloured != (size.args == nil) {
				t.Errorf("colours: %v", coloured)
			}
			clips := osc52.FindAllSubmatch(raw, -1)
			if len(clips) != 3 {
				t.Fatalf("%d clips", len(clips))
			}
			for i, c := range clips {
				got, _ := base64.StdEncoding.DecodeString(string(c[1]))
				if i == 2 { // the receipt as it is signed
					var signed struct{ Payload []byte }
					if err := json.Unmarshal(got, &signed); err != nil {
						t.Fatal(err)
					}
					got = signed.Payload
				}
				if !strings.Contains(string(got), id) || strings.Contains(string(got), "maren") {
					t.Errorf("clip %d: %s", i, got)
				}
			}
			if out, code := o.run("gdpr", "verify", filepath.Join(o.dir, "r.json")); code != 0 {
				t.Errorf("verify: exit %d: %s", code, out)
			}
		})
	}
}

// only returns the id of the only request.
func (o *office) only() string {
	o.t.Helper()
	all, err := filepath.Glob(filepath.Join(o.dir, "state", "memdesk", "gdpr", "requests", "*.json"))
	if err != nil || len(all) != 1 {
		o.t.Fatalf("requests: %v, %v", all, err)
	}
	return strings.TrimSuffix(filepath.Base(all[0]), ".json")
}

// The next key must act on the request just filed, and its plan must be known as soon as its list is closed.
func TestTheRequestThatWasFiledIsAtTheCursor(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	first := o.file("--subject", "usr_none", "--received", "2026-05-01")
	r := o.console(80, 24)
	r.see(first, "1 of 1")
	r.press("a").form("File a request to be forgotten", "usr_maren", "tab", "tab", "tab", "a letter", "tab", "tab").see("[Go on]")
	r.press("enter").answer("File this request?", "tab").see("[File it]").press("enter").see("2 of 2", "usr_maren")
	r.press("p").see("The plan of").press("esc").see("[6 Erasure", "2 of 2", "· planned")
}

// TestABoardActs: the keys that the page of a request names must work there, and lead its footer.
func TestABoardActs(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	o.file("--subject", "usr_none", "--received", "2026-05-01")
	o.file("--subject", "usr_maren", "--received", "2026-05-02")
	r := o.console(120, 40).see("1 of 2", "usr_none").press("enter").see("Erasure › er-", "Nothing was searched yet. p searches every store", " / search  p plan  v verify")
	r.press("n").see("2 of 2").press("N").see("1 of 2").press("n").see("2 of 2", "usr_maren").press("p").see("The plan of")
	r.press("/", "graph forget", "enter").see("/graph forget").press("enter").see("forget: the item goes").press("p").see("Plan ready: 7 of 7 stores searched")
}

// TestThePlanNamesTheOtherRequest: the plan must say that the subject has another open request, as
// `gdpr plan` does.
func TestThePlanNamesTheOtherRequest(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	o.file("--subject", "usr_maren", "--received", "2026-05-01")
	o.file("--subject", "usr_maren", "--received", "2026-05-02")
	r := o.console(200, 50).see("1 of 2", "usr_maren").press("p").see("The plan of", "the same person has a request that is open: er-").press("esc")
	// The question before a third one must say so too.
	r.press("a").form("File a request to be forgotten", "usr_maren", "tab", "Olav", "tab", "tab", "a letter", "tab", "tab").see("[Go on]").press("enter")
	r.answer("Is Olav this person").see("a short name: found in any spelling that begins with a capital").press("tab").see("[Yes, this person]").press("enter")
	r.answer("File this request?").see("▲ the same person has a request that is open: er-").press("esc").see("nothing was filed")
}

// A query without hits must empty the list of an earlier query with many, over real stores that answer
// one by one.
func TestRecallWithHitsThenWithout(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	for _, h := range []int{24, 50} {
		r := o.console(80, h).press("3").press("/").press("rye").see("25+ hits").press("xq").see("ryexq", " 0 hits").press("enter", "j")
		r.press(":").press("recall rye").press("enter").see("of 25+ hits").press("j", "j").press(":").press("recall rye tier:nosuch").press("enter").see(`no store that is asked has a tier "nosuch"`).gone("25+ hits").press(":").press("recall zzzz").press("enter").see("zzzz", " 0 hits").press("j", "q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	}
}

// Each question on the way to a request is cancelled: nothing may be filed.
func TestIntakeIsLeft(t *testing.T) {
	t.Parallel()
	r := newOffice(t, "").console(80, 24)
	r.press("a").form("File a request to be forgotten", "usr_maren", "tab", "Maren Holt", "tab", "tab", "a letter", "tab", "tab").see("[Go on]").press("enter")
	r.answer("Is Maren Holt this person", "enter").see("cancelled", "No erasure requests")
	// The typed values must still be there: only the alias is removed.
	r.press("a").form("File a request to be forgotten", "tab", "ctrl+u").gone("Maren Holt").see("usr_maren", "a letter").press("tab", "tab", "tab", "tab").see("[Go on]").press("enter")
	r.answer("File this request?", "enter").see("cancelled", "No erasure requests")
}

// keepFamilies removes other programs' stores from the demo's configuration: the frames count the
// searched stores, and those hold nothing about the subject.
func keepFamilies(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "\n[[store]]\n")
	blocks = slices.DeleteFunc(blocks, func(b string) bool {
		for _, kind := range []string{"mcpgraph", "mastra", "mem0", "engram", "claude", "openclaw"} {
			if strings.Contains(b, "kind = \""+kind+"\"") {
				return true
			}
		}
		return false
	})
	if err := os.WriteFile(path, []byte(strings.Join(blocks, "\n[[store]]\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A name that a store ties to the subject and that was not typed must be asked about like a typed one,
// and the request gets it only after a yes.
func TestIntakeProposesNames(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	env := backends.Env{Clock: clock.System{}}
	fleet := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{{Name: "graph", Kind: "sqlite", Path: filepath.Join(o.dir, "graph.db")}}, env,
		backends.Policy{Audit: func(ctx context.Context, _ *model.Call, next func(context.Context) error) error { return next(ctx) }})
	s, err := fleet.Store("graph")
	if err == nil {
		_, err = s.Provider.Retain(t.Context(), model.RetainRequest{Tier: s.Tiers[0].Name, Key: "ida", Mode: model.Replace, Content: "tea", DataSubjectID: "usr_ida9931",
			Meta: []model.Field{{Name: "metadata", Value: `{"full_name": "Ida Frost", "email": "ida@example.test"}`}}})
	}
	if cerr := fleet.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	r := o.console(80, 24).press("6")
	r.press("a").form("File a request to be forgotten", "usr_ida9931", "tab", "tab", "tab", "a letter", "tab", "tab").see("[Go on]").press("enter")
	r.see("You did not give it: graph ties it").answer("Ida Frost this person", "tab", "tab").see("[Leave it out]").press("enter")
	r.see("ties it to the person").answer("ida@example.test this person", "tab").see("[Yes, this person]").press("enter")
	r.see("File this request?", "alias: ida@example.test").gone("alias: Ida Frost")
}
