package programs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
)

// TestMemoryTool: Anthropic's memory tool and memdesk must work on one directory.
func TestMemoryTool(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	p := start(t, "memorytool", []string{"@anthropic-ai/sdk@1.12.0"}, base)
	tool := func(args map[string]any) string { t.Helper(); return do[string](t, p, "run", args) }
	tool(map[string]any{"command": "create", "path": "/memories/ada.md", "file_text": "Ada likes rye.\n"})
	s := open(t, backends.StoreConfig{Kind: "claude", Path: base}, nil)
	if got := text(t, s, "memories/ada.md"); got != "Ada likes rye.\n" {
		t.Errorf("the tool's file reads as %q", got)
	}
	must(t, write(t, s, "memories/ada.md", "Ada likes bread.\n"))
	if got := tool(map[string]any{"command": "view", "path": "/memories/ada.md"}); !strings.Contains(got, "Ada likes bread.") {
		t.Errorf("the tool sees %q after an edit", got)
	}
	tool(map[string]any{"command": "str_replace", "path": "/memories/ada.md", "old_str": "bread", "new_str": "soup"})
	if got := text(t, s, "memories/ada.md"); got != "Ada likes soup.\n" {
		t.Errorf("after the tool's edit it reads %q", got)
	}
	must(t, os.WriteFile(filepath.Join(base, "memories", "desk.md"), []byte("0\n"), 0o600))
	atOnce(t, 20, func(i int) error {
		return p.call("run", map[string]any{"command": "create", "path": fmt.Sprintf("/memories/n%d.md", i), "file_text": "x\n"}, nil)
	}, func(i int) error { return write(t, s, "memories/desk.md", fmt.Sprintf("%d\n", i)) })
	if got := text(t, s, "memories/desk.md"); got != "19\n" {
		t.Errorf("memdesk's own file reads %q", got)
	}
	for i := range 20 {
		forget(t, s, fmt.Sprintf("memories/n%d.md", i))
	}
	forget(t, s, "memories/ada.md")
	if got := tool(map[string]any{"command": "view", "path": "/memories"}); strings.Contains(got, "ada.md") || !strings.Contains(got, "desk.md") {
		t.Errorf("the tool lists %q", got)
	}
	tool(map[string]any{"command": "delete", "path": "/memories/desk.md"})
}
