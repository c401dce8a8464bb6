package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnUndoneWriteIsOfferedAgain: the memory server read its file before memdesk's write and renames its old
// content over it afterwards. Health and the next act must say so, and one command must write the text again.
func TestAnUndoneWriteIsOfferedAgain(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.dir, "memory.jsonl")
	const read = `{"type":"entity","name":"👩‍💻 team","entityType":"team","observations":["likes rye"]}`
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) result { return d.bare(append([]string{"--open", "mcpgraph=" + file}, args...)...) }
	put(read)
	d.in = "- likes tea\n"
	run("retain", "mcpgraph:👩‍💻 team", "--mode", "replace", "--yes", "-").want(t, 0)
	d.in = ""
	run("retain", "mcpgraph:👩‍💻 team", "--mode", "replace", "--kept", "--yes").want(t, 4, "no text was put aside")
	put(read + "\n" + `{"type":"entity","name":"theirs","entityType":"t","observations":[]}`)

	run("forget", "mcpgraph:theirs", "--yes").want(t, 0, " was undone: `memdesk retain 'mcpgraph:👩%E2%80%8D💻 team' --mode replace --kept`")
	health := run("health", "--json").want(t, 0, " was undone: `memdesk retain 'mcpgraph:👩%E2%80%8D💻 team' --mode replace --kept`", `"kind":"lost"`)
	run("health").want(t, 0, "👩%E2%80%8D💻 team: the write of ")
	if strings.Contains(health.out+health.err, d.dir+"/state") {
		t.Errorf("the state directory is told: %s", health.out)
	}
	run("retain", "mcpgraph:👩%E2%80%8D💻 team", "--mode", "append", "--kept", "--yes").want(t, 2)
	put(strings.Replace(read, "rye", "rye and oats", 1)) // changed after the loss: the kept text must not overwrite it
	run("retain", "mcpgraph:👩%E2%80%8D💻 team", "--mode", "replace", "--kept", "--yes").want(t, 5)
	put(read)
	run("retain", "mcpgraph:👩%E2%80%8D💻 team", "--mode", "replace", "--kept", "--yes").want(t, 0)
	if b, _ := os.ReadFile(file); string(b) != strings.Replace(read, "rye", "tea", 1) {
		t.Errorf("the file is %s", b)
	}
	if r := run("health"); strings.Contains(r.out, "undone") {
		t.Errorf("it is told although it is there: %s", r.out)
	}
	run("retain", "mcpgraph:👩‍💻 team", "--mode", "replace", "--kept", "--yes").want(t, 4)
}
