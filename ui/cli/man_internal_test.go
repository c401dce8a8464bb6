package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
)

// TestTheManualAndTheDocsSayTheSame of exit codes and variables.
func TestTheManualAndTheDocsSayTheSame(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "scripting.md"))
	if err != nil {
		t.Fatal(err)
	}
	man := manEnd()
	table := "| code | means |\n|---|---|\n"
	for code, means := range exitCodes {
		table += fmt.Sprintf("| %d | %s |\n", code, means)
		if !strings.Contains(man, fmt.Sprintf(".B %d\n%s\n", code, troff(means))) {
			t.Errorf("the manual lacks the exit code %d", code)
		}
	}
	says := "| variable | says |\n|---|---|\n"
	for _, v := range variables {
		says += fmt.Sprintf("| `%s` | %s |\n", strings.ReplaceAll(v[0], ", ", "`, `"), v[1])
		if !strings.Contains(man, ".B "+troff(v[0])+"\n"+troff(v[1])) {
			t.Errorf("the manual lacks %s", v[0])
		}
	}
	for _, m := range backends.Markers() {
		if m.Env != "" && !strings.Contains(says, "`"+m.Env+"`") {
			t.Errorf("%s names the place of %s, and is not said", m.Env, m.Label)
		}
	}
	for _, want := range []string{table, says} {
		if !strings.Contains(string(docs), want+"\n") {
			t.Errorf("docs/scripting.md has not\n%s", want)
		}
	}
}
