package cli_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"memdesk/audit/checkpoint"
	"memdesk/audit/witness"
	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/cli"
)

// full is an output without room.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

// TestAFullOutput: data that could not be written must be an error that is said, also where the code would
// say that what succeeded was printed.
func TestAFullOutput(t *testing.T) {
	d := newDesk(t)
	for name, tt := range map[string]struct {
		args []string
		code int
	}{
		"done":    {[]string{"items"}, 1},
		"partial": {[]string{"--open", "sqlite=" + filepath.Join(d.dir, "none.db"), "items"}, 1},
		"usage":   {[]string{"items", "--limit", "-1"}, 2},
		"objects": {[]string{"--json", "tiers"}, 1},
	} {
		var errw bytes.Buffer
		p := cli.Program{Args: append([]string{"--open", "crewship=" + d.mem}, tt.args...), Stdin: strings.NewReader(""), Stdout: full{}, Stderr: &errw,
			Env: d.environ(), Dir: d.dir, Clock: clock.System{}, Version: "test", Kinds: backends.Builtin(),
			Terminal: func(any) bool { return false }, User: "op"}
		code := p.Run(t.Context())
		if said := strings.Contains(errw.String(), "no space left"); code != tt.code || said != (name != "usage") {
			t.Errorf("%s: exit %d, %s", name, code, errw.String())
		}
		if name == "objects" && !strings.HasPrefix(errw.String(), `{"type":"error","v":1,`) {
			t.Errorf("%s: no object: %s", name, errw.String())
		}
	}
}

// TestErrorsOfArgumentsAreObjects: -o json asks for objects as --json does, in every spelling, also before
// and behind what cannot be parsed.
func TestErrorsOfArgumentsAreObjects(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{
		{"-o", "json", "show"}, {"-ojson", "show"}, {"--output=json", "show"}, {"-o", "json", "nonsense"}, {"items", "--nonsense", "-o", "json"},
		{"items", "--nonsense", "-o=json"}, {"items", "--nonsense", "--output", "json"}, {"items", "--limit", "x", "-ojson"}, {"--json=true", "show"},
	} {
		r := d.run(args...).want(t, 2)
		var m map[string]any
		if err := json.Unmarshal([]byte(r.err), &m); err != nil || m["type"] != "error" || m["kind"] != "INVALID_INPUT" {
			t.Errorf("%v: %s", args, r.err)
		}
	}
	for _, args := range [][]string{{"-o", "wide", "show"}, {"items", "--nonsense", "--query", "json"}} {
		if r := d.run(args...).want(t, 2); strings.HasPrefix(r.err, "{") {
			t.Errorf("%v: nobody asked for objects: %s", args, r.err)
		}
	}
}

// TestNoFlagIsDropped: a flag that a command would read and not obey must be refused, above all one that
// narrows what an agent is given.
func TestNoFlagIsDropped(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{
		{"recall", "--hook", "--agent", "lena"}, {"recall", "--hook", "--crew", "c"}, {"recall", "--hook", "--workspace", "w"}, {"recall", "--hook", "--tier", "AGENT"},
		{"recall", "--hook", "--subject", "lena"}, {"recall", "--hook", "--limit", "1"}, {"recall", "--hook", "harbour", "--explain", "crewship:AGENT.md"},
		{"recall", "harbour", "--explain", "crewship:AGENT.md", "--since", "2026-01-01"}, {"recall", "harbour", "--explain", "crewship:AGENT.md", "--origin"},
		{"recall", "harbour", "--limit", "-1"}, {"items", "--query", "nowhere", "--sort", "nonsense"}, {"recall", "harbour", "--bytes", "300"}, {"recall", "harbour", "--format", "claude"},
		{"audit", "list", "--recalls", "--target", "crewship:AGENT.md"}, {"audit", "list", "--recalls", "--limit", "1"}, {"audit", "list", "--recalls", "--store-events"},
		{"audit", "list", "--recalls", "--sort", "seq"},
		{"--read-only", "mcp", "install", "claude", "--url", "http://127.0.0.1:1/mcp", "--token-env", "T", "--dry-run"},
		{"mcp", "install", "claude", "--url", "http://127.0.0.1:1/mcp", "--token-env", "T", "--dry-run"},
	} {
		if r := d.run(args...); r.code != 2 || r.out != "" {
			t.Errorf("%v: exit %d\n%s%s", args, r.code, r.out, r.err)
		}
	}
	d.run("recall", "harbour", "--hook", "--bytes", "300", "--format", "claude").want(t, 0, "harbour")
	d.run("recall", "harbour", "--explain", "crewship:AGENT.md", "--tier", "AGENT", "--limit", "3").want(t, 0)
	d.run("audit", "list", "--recalls", "--actor", "nobody", "--since", "2026-01-01").want(t, 0)
	d.bare("mcp", "install", "claude", "--url", "http://127.0.0.1:1/mcp", "--token-env", "T", "--dry-run").want(t, 0, "127.0.0.1")
	if r := d.run("audit", "list", "--recalls", "--json"); len(r.rows) == 0 {
		t.Errorf("no recall was noted: %s", r.err)
	}
	d.write("AGENT.md", "# Ada\n")
	if r := d.bare("--open", "crewship="+d.mem, "--open", "crewship="+d.mem, "--store", "crewship-2", "audit", "list", "--recalls", "--json"); len(r.rows) != 0 || r.code != 0 {
		t.Errorf("another store's recalls: %s%s", r.out, r.err)
	}
}

// TestAnInstalledEntryIsAnObject: with --json the entry must be an object, written, only shown or refused.
func TestAnInstalledEntryIsAnObject(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.env["HOME"], ".claude.json")
	for _, tt := range []struct {
		args    []string
		code    int
		written bool
	}{{[]string{"--dry-run"}, 0, false}, {[]string{"--yes"}, 0, true}, {[]string{"--url", "http://127.0.0.1:1/mcp", "--token-env", "T", "--name", "other", "--yes"}, 6, false}} {
		if tt.code != 0 {
			if err := os.WriteFile(file, []byte(`{"mcpServers":{"other":{"url":"x"}}}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := d.bare(append([]string{"--json", "mcp", "install", "claude"}, tt.args...)...).want(t, tt.code)
		if row := r.row(t, "install"); row["file"] != file || row["written"] != tt.written || !strings.Contains(row["entry"].(string), "mcpServers") {
			t.Errorf("%v: %s", tt.args, r.out)
		}
	}
}

// TestForgedNamesAreTampering: a witness that does not answer must not turn altered names into a partial
// result.
func TestForgedNamesAreTampering(t *testing.T) {
	d := newDesk(t)
	w, err := witness.Open(witness.Options{Dir: filepath.Join(d.dir, "witness"), Trust: true, Clock: clock.System{}, Note: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	const gone = "http://127.0.0.1:1"
	config := filepath.Join(d.dir, "own.toml")
	if err := os.WriteFile(config, []byte("[[audit.anchor]]\nkind = \"witness\"\nurl = \""+gone+"\"\nkey = \""+w.VerifierKey()+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run("--config", config, "forget", "crewship:AGENT.md", "--yes").want(t, 0)
	d.run("--config", config, "audit", "verify", "--witness", gone).want(t, 3)
	d.run("--config", config, "audit", "verify", "--witness", "http://127.0.0.1:2").want(t, 2)
	if r := d.run("--config", config, "audit", "verify").want(t, 0, "witness "+gone+": not asked; --witness "+gone+" asks it"); strings.Contains(r.out, "no anchor outside") {
		t.Errorf("nobody asked the witness, and it does not vouch: %s", r.out)
	}
	names := filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "audit", "names.jsonl")
	b, err := os.ReadFile(names)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names, bytes.ReplaceAll(b, []byte("AGENT.md"), []byte("AGENT.nd")), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := d.run("--config", config, "--json", "audit", "verify", "--witness", gone).want(t, 7); r.row(t, "verify")["ok"] != false {
		t.Errorf("%s", r.out)
	}
	if r := d.run("--config", config, "--json", "audit", "verify", "--witness", "http://127.0.0.1:2").want(t, 7, "no [[audit.anchor]]"); r.row(t, "verify")["ok"] != false {
		t.Errorf("an unknown witness hides that the log is broken: %s", r.out)
	}
}

// TestProofsAreCosigned: a proof and a checkpoint must carry the signature of the witness that has answered, and a
// checkpoint with it must still be compared.
func TestProofsAreCosigned(t *testing.T) {
	d := newDesk(t)
	w, err := witness.Open(witness.Options{Dir: filepath.Join(d.dir, "witness"), Trust: true, Clock: clock.System{}, Note: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := checkpoint.Verifier(w.VerifierKey())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	defer server.Close()
	config, proof, kept := filepath.Join(d.dir, "own.toml"), filepath.Join(d.dir, "proof"), filepath.Join(d.dir, "kept")
	if err := os.WriteFile(config, []byte("[[audit.anchor]]\nkind = \"witness\"\nurl = \""+server.URL+"\"\nkey = \""+w.VerifierKey()+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run("--config", config, "forget", "crewship:AGENT.md", "--yes").want(t, 0)
	d.run("--config", config, "audit", "prove", "1", "--out", proof).want(t, 0)
	proven, err := os.ReadFile(proof)
	if err != nil {
		t.Fatal(err)
	}
	_, signed, _ := strings.Cut(string(proven), "\n\n")
	given := d.run("--config", config, "audit", "checkpoint").want(t, 0).out
	for what, text := range map[string]string{"proof": signed, "checkpoint": given} {
		if n, err := note.Open([]byte(text), note.VerifierList(v)); err != nil || len(n.Sigs) != 1 {
			t.Errorf("the %s is not cosigned: %v in\n%s", what, err, text)
		}
	}
	if err := os.WriteFile(kept, []byte(given), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run("--config", config, "audit", "verify", "--since", kept).want(t, 0, "file "+kept+": records 1 to")
}

// TestAStatementOfSomethingElse: a wrong file says nothing about the log, and a checkpoint of another log stops no act.
// The keys of before a rotation must be told, and a log must not lose what was recorded a moment ago.
func TestAStatementOfSomethingElse(t *testing.T) {
	d := newDesk(t)
	d.run("forget", "crewship:AGENT.md", "--yes").want(t, 0)
	file, proof := filepath.Join(d.dir, "notes.txt"), filepath.Join(d.dir, "proof")
	d.run("audit", "prove", "1", "--out", proof).want(t, 0)
	if err := os.WriteFile(file, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, proof} {
		d.run("audit", "verify", "--since", name).want(t, 2, "no file of checkpoints")
	}
	signed := d.run("audit", "checkpoint").want(t, 0).out
	other := strings.Replace(signed, "memdesk/audit/", "memdesk/audit/x", 1)
	if err := os.WriteFile(file, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := d.run("audit", "verify", "--since", file).want(t, 7); strings.Contains(r.out+r.err, "no change is possible") {
		t.Errorf("a checkpoint of another log: %s%s", r.out, r.err)
	}
	before := d.run("audit", "key").want(t, 0).out
	after := d.run("audit", "key", "--rotate", "--yes").want(t, 0).out
	if newest, ok := strings.CutSuffix(after, before); !ok || strings.Count(newest, "\n") != 1 {
		t.Errorf("the keys are %q, before %q", after, before)
	}
	d.run("audit", "retire", "--before", "2999-01-01", "--reason", "x", "--yes").want(t, 2, "still to come")
}

// TestStoreEventsThatCannotBeRead: a list without the events of a store that fails is partial.
func TestStoreEventsThatCannotBeRead(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "repo", ".beads")
	if err := os.MkdirAll(filepath.Join(dir, "interactions.jsonl"), 0o755); err != nil { // a directory
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(`{"id":"a","title":"first","status":"open"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.bare("--open", "beads="+dir, "audit", "list", "--store-events").want(t, 3, "beads: ")
}

// TestACheckpointWithoutItsAnchor: a checkpoint that an anchor did not take is partial, and -q hides it not.
func TestACheckpointWithoutItsAnchor(t *testing.T) {
	d := newDesk(t)
	config := filepath.Join(d.dir, "own.toml")
	if err := os.WriteFile(config, []byte("[[audit.anchor]]\nkind = \"file\"\npath = \""+filepath.Join(d.dir, "absent", "anchor")+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run("--config", config, "forget", "crewship:AGENT.md", "--yes").want(t, 0)
	d.run("--config", config, "-q", "audit", "checkpoint").want(t, 3, "not every anchor has it", "memdesk/")
}

// TestAVerificationWithoutItsAnchor: whoever deletes an anchor's file, or writes rubbish to it, must not pass a
// scheduled verification.
func TestAVerificationWithoutItsAnchor(t *testing.T) {
	d := newDesk(t)
	config, anchor := filepath.Join(d.dir, "own.toml"), filepath.Join(d.dir, "anchor")
	if err := os.WriteFile(config, []byte("[[audit.anchor]]\nkind = \"file\"\npath = \""+anchor+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := func(code int, words ...string) {
		t.Helper()
		d.run("--config", config, "audit", "verify").want(t, code, words...)
	}
	verify(0) // there is no record to vouch for
	d.run("--config", config, "forget", "crewship:AGENT.md", "--yes").want(t, 0)
	d.run("--config", config, "audit", "checkpoint").want(t, 0)
	if row := d.run("--config", config, "audit", "checkpoint", "--json").want(t, 0).row(t, "checkpoint"); !strings.Contains(row["checkpoint"].(string), "memdesk/") {
		t.Errorf("a checkpoint as an object: %v", row)
	}
	if row := d.run("--config", config, "audit", "prove", "1", "--out", filepath.Join(d.dir, "proof"), "--json").want(t, 0).row(t, "proof"); row["seq"] != 1.0 || row["bytes"] == 0.0 {
		t.Errorf("a proof as an object: %v", row)
	}
	verify(0, "are as they were")
	if err := os.WriteFile(anchor, []byte("rubbish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	verify(3, "intact", "proves nothing")
	if err := os.Remove(anchor); err != nil {
		t.Fatal(err)
	}
	verify(3, "intact", "the file is not there")
}

// TestALookupWithoutTheKey: records whose key is gone may name the item, so their absence proves nothing.
func TestALookupWithoutTheKey(t *testing.T) {
	d := newDesk(t)
	d.in = "more\n"
	d.run("retain", "crewship:AGENT.md", "--mode", "append", "--yes", "-").want(t, 0)
	d.run("audit", "list", "--target", "crewship:AGENT.md", "--json").want(t, 0)
	if err := os.Remove(filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "audit", "key")); err != nil {
		t.Fatal(err)
	}
	if r := d.run("audit", "list", "--target", "crewship:AGENT.md", "--json").want(t, 3); len(r.rows) != 0 || !strings.Contains(r.err, "2 records name it is not known") {
		t.Errorf("%s%s", r.out, r.err)
	}
}

// TestALongArgumentIsNotEchoed: an error names what is wrong, not 100 KB of it.
func TestALongArgumentIsNotEchoed(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("é", 50_000)
	for name, args := range map[string][]string{"a command": {long}, "a store": {"tiers", "-s", long}, "a reference": {"show", long}, "an object": {"--json", "show", long}} {
		if r := d.run(args...); r.code == 0 || len(r.err) > 5000 || !strings.Contains(r.err, "… (100") || strings.Contains(r.err, "�") {
			t.Errorf("%s: exit %d, %d bytes: %.300s", name, r.code, len(r.err), r.err)
		}
	}
}
