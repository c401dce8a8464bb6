package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vaultDesk is a desk on a vault with one copy of each sort.
func vaultDesk(t *testing.T) (*desk, string, func(args ...string) result) {
	d := newDesk(t)
	root := filepath.Join(d.dir, "vault")
	for name, text := range map[string]string{
		"plan.md": "one\ntwo\n", "plan.sync-conflict-20260527-083015-K3ZQ7AB.md": "one\n2\n",
		"same.md": "equal\n", "same (Mira's conflicted copy 2026-05-27).md": "equal\n",
		"peer.md": "equal\n", "peer.Conflict.md": "equal\n",
	} {
		if err := os.MkdirAll(root, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return d, root, func(args ...string) result { return d.bare(append([]string{"--open", "vault=" + root}, args...)...) }
}

func content(t *testing.T, root, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestConflictsAreListedShownAndResolved(t *testing.T) {
	_, root, run := vaultDesk(t)
	const copied = "plan.sync-conflict-20260527-083015-K3ZQ7AB.md"
	run("conflicts", "list", "--json").want(t, 0, `"copy":"`+copied+`"`, `"base":"plan.md"`, `"tool":"syncthing"`, `"confidence":"certain"`, `"redundant":true`, `"class":"conflict"`)
	run("conflicts", "list").want(t, 0, "redundant", "differs", "name pattern .sync-conflict-date-time-device")
	run("conflicts", "show", "vault:"+copied).want(t, 0, "-two", "+2", "may bring", "ancestor")
	run("conflicts", "show", "vault:"+copied, "--json").want(t, 0, `"hunks":[{`)
	run("conflicts", "show", "vault:plan.md").want(t, 4, "no conflict copy")
	run("conflicts", "resolve", "vault:"+copied, "--take", "copy").want(t, 2, "--yes")
	run("conflicts", "resolve", "vault:"+copied, "--take", "newest", "--yes").want(t, 2, "base, copy, both or merged")
	run("conflicts", "resolve", "vault:"+copied, "--take", "copy", "--base-rev", "0123", "--yes").want(t, 5, "not as it was shown")
	run("--read-only", "conflicts", "resolve", "vault:"+copied, "--take", "copy", "--yes").want(t, 6)
	out := run("conflicts", "resolve", "vault:"+copied, "--take", "copy", "--yes", "--json").want(t, 0, `"base":"plan.md"`, `"revision":"`, `"undo":"`).out
	if got := content(t, root, "plan.md"); got != "one\n2\n" {
		t.Errorf("the base holds %q", got)
	}
	id := strings.SplitN(strings.SplitN(out, `"undo":"`, 2)[1], `"`, 2)[0]
	run("undo", "list").want(t, 0, id, "resolve")
	run("undo", "show", id).want(t, 0, "one", "two", "removed")
	run("conflicts", "undo", id, "--yes").want(t, 0, "put back")
	if content(t, root, "plan.md") != "one\ntwo\n" || content(t, root, copied) != "one\n2\n" {
		t.Error("the files are not as before")
	}
	run("audit", "list", "--action", "resolve", "--json").want(t, 0, `"name":"vault:plan.md"`, `"result":"ok"`) // as an act of its own, around the changes
	run("audit", "list", "--action", "restore", "--json").want(t, 0, `"name":"vault:plan.md"`, `"result":"ok"`)
}

// TestRedundantCopiesOfAStoreThatIsDown: whether there are any is then not known.
func TestRedundantCopiesOfAStoreThatIsDown(t *testing.T) {
	d := newDesk(t)
	d.run("conflicts", "resolve", "--redundant", "--yes").want(t, 0, "no copy is redundant")
	if r := d.bare("--open", "vault="+filepath.Join(d.dir, "absent"), "conflicts", "resolve", "--redundant", "--yes").want(t, 1); strings.Contains(r.err, "redundant") {
		t.Errorf("%s", r.err)
	}
}

func TestRedundantCopiesGoTogetherAndResilioStays(t *testing.T) {
	_, root, run := vaultDesk(t)
	run("conflicts", "resolve", "--redundant").want(t, 2, "--yes", "byte for byte")
	run("conflicts", "resolve", "--redundant", "--yes").want(t, 0, "as it was; the copy was removed", "Resilio")
	if _, err := os.Stat(filepath.Join(root, "same (Mira's conflicted copy 2026-05-27).md")); err == nil {
		t.Error("the redundant copy is still there")
	}
	if content(t, root, "peer.Conflict.md") != "equal\n" {
		t.Error("the copy of Resilio is not as it was")
	}
	run("conflicts", "resolve", "vault:peer.Conflict.md", "--take", "base", "--yes").want(t, 0, "peer-version-2.md", "renamed, not deleted")
}

func TestMarkersAreLookedForAsAsked(t *testing.T) {
	_, root, run := vaultDesk(t)
	if err := os.WriteFile(filepath.Join(root, "half.md"), []byte("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run("conflicts", "list").want(t, 0, "half.md", " markers ")
	if out := run("conflicts", "list", "--markers", "none").want(t, 0).out; strings.Contains(out, "half.md") {
		t.Error("markers were looked for")
	}
	run("conflicts", "list", "--markers", "some").want(t, 2)
	run("conflicts", "resolve", "vault:half.md", "--take", "base", "--yes").want(t, 2, "merge markers")
	clean := filepath.Join(root, "..", "clean")
	if err := os.WriteFile(clean, []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run("conflicts", "resolve", "vault:half.md", "--take", "merged", clean, "--yes").want(t, 0, "without merge markers")
	if content(t, root, "half.md") != "a\n" {
		t.Error("the text was not written")
	}
}

func TestACopyThatComesBackIsTold(t *testing.T) {
	_, root, run := vaultDesk(t)
	const copied = "plan.sync-conflict-20260527-083015-K3ZQ7AB.md"
	if out := run("conflicts", "list", "--json").want(t, 0, `"returned":null`); strings.Contains(out.err, "come back") {
		t.Errorf("a copy that never went has come back: %s", out.err)
	}
	out := run("conflicts", "resolve", "vault:"+copied, "--take", "base", "--yes", "--json").want(t, 0).out
	id := strings.SplitN(strings.SplitN(out, `"undo":"`, 2)[1], `"`, 2)[0]
	if err := os.WriteFile(filepath.Join(root, copied), []byte("one\n2\n"), 0o644); err != nil { // written by another device
		t.Fatal(err)
	}
	run("conflicts", "list", "--json").want(t, 0, "vault:"+copied+" has come back: it was resolved", `"returned":"20`)
	// A copy restored by hand must not count as returned.
	if err := os.Remove(filepath.Join(root, copied)); err != nil {
		t.Fatal(err)
	}
	run("conflicts", "undo", id, "--yes").want(t, 0)
	if out := run("conflicts", "list", "--json").want(t, 0, copied); strings.Contains(out.err, "come back") {
		t.Errorf("what was put back has come back: %s", out.err)
	}
}

func TestHostsOfTheConfigurationMakeCopiesLegible(t *testing.T) {
	d, root, run := vaultDesk(t)
	if err := os.WriteFile(filepath.Join(root, "plan-studio-mini.md"), []byte("one\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := run("conflicts", "list", "--json").want(t, 0).out; strings.Contains(out, "studio-mini") {
		t.Error("an ordinary hyphen is taken for a host")
	}
	file := filepath.Join(d.dir, "hosts.toml")
	for text, code := range map[string]int{"[conflict]\nhosts = [\"studio-mini\"]\n": 0, "[conflict]\nhosts = [\"x\"]\n": 2} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := run("--config", file, "conflicts", "list", "--json").want(t, code)
		if code == 0 && !strings.Contains(got.out, `"copy":"plan-studio-mini.md"`) {
			t.Errorf("the host is not known: %s", got.out)
		}
	}
}

// TestConflictsBeginWithTheWorst: the list has the order of the console, over all stores.
func TestConflictsBeginWithTheWorst(t *testing.T) {
	_, root, run := vaultDesk(t)
	must(t, os.WriteFile(filepath.Join(root, "zz.md"), []byte("one\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(root, "zz.sync-conflict-20261125-081512-QX7RT2A.md"), []byte("two\n"), 0o644))
	out := run("conflicts", "list").want(t, 0, "zz.sync-conflict", "redundant").out
	if strings.Index(out, "zz.sync-conflict") > strings.Index(out, "redundant") {
		t.Error(out)
	}
}
