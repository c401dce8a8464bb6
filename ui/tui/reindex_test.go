package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A key of Health must rebuild the index of a store that has one; a store without one must say so.
func TestIndexIsBuiltOnAKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	vault := filepath.Join(dir, "vault")
	if err := os.MkdirAll(filepath.Join(vault, ".obsidian"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(vault, "rye.md"), "# Rye\n\nRye is baked on Fridays.\n")
	args := []string{"--open", "vault=" + vault, "--open", "inmem="}
	r := startRobot(t, start{scenario: programScenario, width: 120, height: 40, env: []string{
		argsEnv + "=" + strings.Join(args, "\n"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
	}})
	r.see("[2 Tiers]", "vault").press("1").see("2/2 stores up").press("I").see("vault: 1 item in the new index")
	r.press("j").see("inmem").press("I").see("this store keeps no index of its own").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}
