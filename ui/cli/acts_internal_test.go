package cli

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/operator"
	"memdesk/ui/door"
	"memdesk/ui/tui/desk"
)

// The console, linear mode and the agents' door must act only through package operator.
var (
	_ desk.Acts             = (*operator.Session)(nil)
	_ desk.ConflictSource   = (*operator.Conflicts)(nil)
	_ desk.Jobs             = (*operator.Jobs)(nil)
	_ desk.AuditSource      = (*operator.AuditTrail)(nil)
	_ desk.QuarantineSource = (*operator.Quarantine)(nil)
	_ door.Writes           = operator.Writes{}
)

// commandActs are the commands that change something, with arguments that reach the refusal.
var commandActs = map[string][]string{
	"retain": {"crewship:AGENT.md", "--mode", "append", "--yes", "FILE"}, "forget": {"crewship:AGENT.md", "--yes"},
	"undo restore": {"ENTRY", "--yes"}, "conflicts undo": {"ENTRY", "--yes"},
	"copy": {"--from", "crewship", "--to", "inmem", "--yes", "--map", "AGENT=session"}, "create": {"sqlite=new.db", "--yes"},
	"repair": {"mcpgraph", "--yes"}, "reindex": {"--yes", "-s", "sqlite"}, "migrate": {"--yes", "--to", "1", "-s", "sqlite"},
	"quarantine release": {"crewship:AGENT.md", "--reason", "x", "--yes", "FILE"}, "quarantine delete": {"vault:x", "--yes"},
	"conflicts resolve": {"vault:plan (conflicted copy 2026-05-01).md", "--take", "base", "--yes"},
	"takeback":          {"--source", "ana", "--since", "1h", "--yes"}, "turn after": {"FILE", "--tier", "session", "--yes", "-s", "inmem"},
	"work create": {"title", "--yes", "-s", "beads"}, "work update": {"beads:x", "--title", "t", "--yes"}, "work close": {"beads:x", "--yes"},
	"work delete": {"beads:x", "--yes"}, "work dep add": {"beads:x", "beads:y", "--yes"}, "work dep remove": {"beads:x", "beads:y", "--yes"},
	"gdpr request": {"--subject", "ana-1", "--ground", "g", "--yes"}, "gdpr plan": {"r"}, "gdpr hold": {"r", "--item", "vault:x", "--ground", "g"},
	"gdpr unhold": {"r", "--item", "vault:x"}, "gdpr choose": {"r", "--item", "vault:x", "--action", "forget"}, "gdpr extend": {"r"},
	"gdpr withdraw": {"r", "--reason", "x", "--yes"}, "gdpr export": {"r", "--out", "x"}, "gdpr attest": {"r", "--store", "vault", "--layer", "l", "--ground", "g", "--yes"},
	"gdpr policy": {"--accept", "--reason", "x"}, "gdpr approve": {"r", "--plan-hash", "h"}, "gdpr erase": {"r", "--plan-hash", "h", "--yes"},
	"gdpr sweep": {"--yes"}, "gdpr recipient": {"r", "--name", "n", "--told", "2026-05-21"}, "gdpr pause": {"r"}, "gdpr identity": {"r", "--method", "known"}, "gdpr resume": {"r"},
	"quarantine calibrate": {"--apply", "0.9", "--yes"}, "quarantine clear": {"crewship:AGENT.md", "--reason", "x", "--yes"}, "quarantine rescan": {"--apply"},
	"state migrate":     {"--yes"},
	"audit acknowledge": {"--reason", "x", "--yes"}, "audit retire": {"--before", "2020-01-01", "--yes"}, "audit checkpoint": {},
	"jobs cancel": {"x"}, "jobs pause": {"x"}, "jobs resume": {"x"},
}

// commandReads change no memory; servers apply the rules of package operator.
var commandReads = strings.Fields(`stores health watch tiers items show history recall graph/neighbours graph/subgraph graph/similar
	work/list work/ready work/search work/query work/get work/deps undo/list undo/show quarantine/list quarantine/show
	quarantine/replay quarantine/stories quarantine/train
	conflicts/list conflicts/show origin gdpr/status gdpr/verify gdpr/receipt gdpr/report gdpr/due gdpr/letter gdpr/register
	audit/list audit/verify audit/prove audit/key export serve/witness serve/ssh serve/provider serve/mcp serve/metrics mcp/install turn/before demo jobs jobs/list config/check config/init config/path
	info version help man completion/bash completion/fish completion/powershell completion/zsh`)

func leaves(c *cobra.Command, path string) map[string]*cobra.Command {
	out := map[string]*cobra.Command{}
	for _, sub := range c.Commands() {
		name := strings.TrimSpace(path + " " + sub.Name())
		maps.Copy(out, leaves(sub, name))
		if !sub.HasSubCommands() || name == "jobs" {
			out[name] = sub
		}
	}
	return out
}

// TestEveryCommandIsAnActOrAReading: a new command must be classified, and a read-only role must be
// refused every act.
func TestEveryCommandIsAnActOrAReading(t *testing.T) {
	program := Program{Kinds: backends.Builtin(), Env: os.Getenv, Clock: clock.System{}}
	reads := map[string]bool{}
	for _, name := range commandReads {
		reads[strings.ReplaceAll(name, "/", " ")] = true
	}
	all := leaves((&app{Program: program}).root(), "")
	for name, c := range all {
		_, acts := commandActs[name]
		if acts == reads[name] {
			t.Errorf("memdesk %s: list it once, as acting or as reading", name)
		}
		if acts && c.PreRun == nil {
			t.Errorf("memdesk %s: SIGPIPE ends it half way", name)
		}
	}
	for name := range reads {
		if all[name] == nil {
			t.Errorf("memdesk %s is no command", name)
		}
	}
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("agent/.memory/AGENT.md", "# Ada\n")
	write("vault/.obsidian/app.json", "{}")
	write("vault/plan.md", "a plan\n")
	write("vault/plan (conflicted copy 2026-05-01).md", "another plan\n")
	write("vault/x.md", "a note\n")
	write("tracker/.beads/issues.jsonl", `{"id":"x","title":"one","status":"open"}`+"\n"+`{"id":"y","title":"two","status":"open"}`+"\n")
	write("memory.jsonl", "{broken\n")
	write("input.txt", "text\n")
	env := map[string]string{"HOME": dir, "XDG_STATE_HOME": filepath.Join(dir, "state"), "LANG": "C.UTF-8"}
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		p := Program{Args: append([]string{"--open", "crewship=" + filepath.Join(dir, "agent/.memory"), "--open", "vault=" + filepath.Join(dir, "vault"),
			"--open", "inmem=", "--open", "beads=" + filepath.Join(dir, "tracker"), "--open", "sqlite=" + filepath.Join(dir, "old.db"),
			"--open", "mcpgraph=" + filepath.Join(dir, "memory.jsonl")}, args...),
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Env: func(k string) string { return env[k] }, Dir: dir, Clock: clock.System{},
			Kinds: backends.Builtin(), Terminal: func(any) bool { return false }, User: "op"}
		return p.Run(t.Context()), out.String()
	}
	for _, args := range [][]string{{"create", "sqlite=" + filepath.Join(dir, "old.db"), "--yes"}, {"forget", "vault:x.md", "--yes"}} {
		if code, out := run(args...); code != 0 {
			t.Fatal(out)
		}
	}
	_, list := run("undo", "list", "-o", "name")
	for name, args := range commandActs {
		if all[name] == nil {
			t.Errorf("memdesk %s is no command", name)
			continue
		}
		line := append([]string{"--read-only"}, strings.Fields(name)...)
		for _, arg := range args {
			switch arg {
			case "ENTRY":
				arg = strings.Fields(list)[0]
			case "FILE":
				arg = "input.txt"
			}
			line = append(line, arg)
		}
		if code, out := run(line...); code != exitRefused || !strings.Contains(out, "--read-only was given") {
			t.Errorf("memdesk %v: exit %d: %s", line, code, out)
		}
	}
}

// TestNothingChangesPastOperator reads the interface's own code: it may change memory only through
// package operator.
func TestNothingChangesPastOperator(t *testing.T) {
	past := regexp.MustCompile(`\.Provider\.(Retain|Forget)\(|\.Undo\.(Restore)\(|[sS]tore\.(Reindexer\.Reindex|Migrator\.Migrate|Repairer\.SetAside|Maintainer\.\w+)\(|\.[lL]og\.(Act|Intent)\(`)
	read := 0
	err := filepath.WalkDir("..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "demostory") {
			return err // the demo writes its workspace's past week
		}
		read++
		text, err := os.ReadFile(path)
		for _, hit := range past.FindAllString(string(text), -1) {
			t.Errorf("%s: %s", path, hit)
		}
		return err
	})
	if err != nil || read < 100 {
		t.Errorf("%d files read: %v", read, err)
	}
}

// TestHelpNamesValues: in a flag's help the placeholder of a value must be one word.
func TestHelpNamesValues(t *testing.T) {
	one := regexp.MustCompile(`^ +(-[a-zA-Z], )?--[a-z-]+( [^ ]+)?(   |$)`)
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		for l := range strings.Lines(c.LocalFlags().FlagUsages()) {
			if l = strings.TrimRight(l, "\n"); l != "" && !one.MatchString(l) {
				t.Errorf("%s: %s", c.CommandPath(), l)
			}
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look((&app{Program: Program{Kinds: backends.Builtin(), Env: os.Getenv, Clock: clock.System{}}}).root())
}
