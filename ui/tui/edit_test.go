package tui_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pen is an editor that runs the lines of a file as shell commands, with the text's file as $1.
type pen struct {
	t   *testing.T
	dir string
}

func newPen(t *testing.T) *pen {
	p := &pen{t, t.TempDir()}
	p.will("true")
	return p
}

// will sets the editor's script.
func (p *pen) will(script string) {
	p.t.Helper()
	for name, text := range map[string]string{"pen": "#!/bin/sh\ntest -t 1 || exit 1 # no terminal\n. " + p.dir + "/do\n", "do": script + "\n"} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o700); err != nil {
			p.t.Fatal(err)
		}
	}
}

// The shell reads the file instead of executing it, because a process forked while the file was being
// written would make it busy.
func (p *pen) env() string { return "VISUAL=sh " + filepath.Join(p.dir, "pen") }

// noted starts the console with an editor on the two daily notes of an agent.
func noted(t *testing.T, scenario string, w, h int, env ...string) (*robot, *pen) {
	p := newPen(t)
	r := startRobot(t, start{scenario: scenario, width: w, height: h, env: append([]string{p.env(), "HOME=" + p.dir}, env...)})
	r.unfolded().press("j", "j", "j").see("one note per day").press("enter").see("Thursday", "1 of 2", "# Wednesday")
	return r, p
}

// drafts are the remaining files of the editor.
func (p *pen) drafts() (out []string) {
	_ = filepath.WalkDir(filepath.Join(p.dir, "state"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "lock" {
			out = append(out, path)
		}
		return nil
	})
	return out
}

func (p *pen) kept() string {
	p.t.Helper()
	d := slices.DeleteFunc(p.drafts(), func(path string) bool { return strings.Contains(path, "/notes/") })
	if len(d) != 1 || !strings.Contains(d[0], "/kept/") {
		p.t.Fatalf("drafts %q", d)
	}
	b, err := os.ReadFile(d[0])
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

func TestEdit(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, p := noted(t, "desk,acts", w, h)
		r.press("e").see("the text is as it was: nothing was changed", "1 of 2")
		p.will(`sed -i s/14:02/15:30/ "$1"; stat -c %a "$1" > ` + p.dir + `/mode`)
		r.press("e").see("Save crews/eng/agents/bo/daily/2026-05-20.md?", "1 line added, 1 line removed", "▲ The environment: PRODUCTION", "- - deploy of billing went out at 14:02", "+ - deploy of billing went out at 15:30", "[Cancel]", "enter cancel")
		if mode, _ := os.ReadFile(filepath.Join(p.dir, "mode")); string(mode) != "600\n" {
			t.Errorf("the draft has mode %s", mode)
		}
		r.press("enter").see("not saved; your text is kept for 30 days:", "~/state/edit/kept/").see("14:02")
		if text := p.kept(); !strings.Contains(text, "15:30") {
			t.Errorf("kept %q", text)
		}
		if err := os.RemoveAll(filepath.Join(p.dir, "state")); err != nil {
			t.Fatal(err)
		}
		r.press("e").see("Save crews", "enter cancel").press("tab").press("typo").press("tab").see("[Save]").press("enter")
		r.see("saved crews/eng/agents/bo/daily/2026-05-20.md; z undoes", "15:30").gone("14:02")
		if d := p.drafts(); len(d) > 0 {
			t.Errorf("drafts %q", d)
		}
		r.press("z").see("Undo the edit of", "[Cancel]", "enter cancel").press("esc")
		r.see("1 of 2").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

// A text that was put aside must open again and be written as if it had never been closed.
func TestReopenAKeptText(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, p := noted(t, "desk,acts", w, h)
		p.will(`sed -i s/14:02/15:30/ "$1"`)
		r.press("e").see("Save crews", "+ - deploy of billing went out at 15:30", "enter cancel").press("enter").see("your text is kept for 30 days")
		kept := func() *robot { return r.press(":").press("kept").press("enter").see("Kept texts") }
		p.will(`:`)
		kept().see("1 of 1", "crewship:crews/eng/agents/bo/daily/2026-05-20.md", "enter edit").press("enter").see("Save crews/eng/agents/bo/daily/2026-05-20.md?", "+ - deploy of billing went out at 15:30", "enter cancel")
		r.press("esc").see("your text is kept for 30 days", "1 of 1", " B 20260521-093000-1-") // and one it stays, under its new name
		if text := p.kept(); !strings.Contains(text, "15:30") {
			t.Errorf("kept %q", text)
		}
		p.will(`sed -i s/15:30/16:45/ "$1"`)
		r.press("enter").see("16:45", "enter cancel").press("tab", "tab").see("[Save]").press("enter").see("saved crews", "No text was put aside")
		if d := p.drafts(); len(d) > 0 {
			t.Errorf("drafts %q", d)
		}
		r.press("enter").see("enter: the list is empty").press("esc").see("16:45").press("q")
		if raw, err := r.left(); err != nil {
			t.Fatal(err)
		} else {
			checkOutput(t, raw)
		}
	})
}

// An item changed since a text was put aside must not be overwritten: both sides are shown, and the
// editor gets both between markers.
func TestReopenAfterAChange(t *testing.T) {
	t.Parallel()
	r, p := noted(t, "desk,acts", 120, 40)
	p.will(`sed -i s/14:02/15:30/ "$1"`)
	r.press("e").see("Save crews", "enter cancel").press("enter").see("your text is kept for 30 days")
	p.will(`sed -i s/14:02/17:00/ "$1"`)
	r.press("e").see("Save crews", "+ - deploy of billing went out at 17:00", "enter cancel").press("tab", "tab").press("enter").see("saved crews", "17:00")
	p.will(`:`)
	r.press(":").press("kept").press("enter").see("1 of 1").press("enter").see("Save crews", "enter cancel").press("tab", "tab").see("[Save]").press("enter")
	r.see("has changed.", "Lines: yours +1 -1 against theirs. What you began with is not kept.", "- - deploy of billing went out at 17:00", "+ - deploy of billing went out at 15:30", "enter cancel")
	p.will(`cp "$1" ` + p.dir + `/seen`)
	r.press("tab", "tab", "tab").see("[Edit again]").press("enter").see("Save crews", "The marks of the merge", "enter cancel").press("esc").see("your text is kept", " B 20260521-093000-1-")
	seen, _ := os.ReadFile(filepath.Join(p.dir, "seen"))
	if s := string(seen); !strings.Contains(s, "<<<<<<< yours") || !strings.Contains(s, "15:30") || !strings.Contains(s, "17:00") {
		t.Errorf("the editor got\n%s", s)
	}
	// A discarded text must not be put aside either.
	r.see("1 of 1").press("enter").see("Save crews", "enter cancel").press("left").see("[Throw away]").press("enter").see("your text was thrown away", "No text was put aside")
	if d := p.drafts(); len(d) > 0 {
		t.Errorf("drafts %q", d)
	}
}

func TestEditAgainAndThrowAway(t *testing.T) {
	t.Parallel()
	r, p := noted(t, "desk,acts", 100, 30)
	p.will(`echo more >> "$1"`)
	r.press("e").see("Save crews", "+ more", "enter cancel").press("shift+tab", "shift+tab").see("[Edit again]").press("enter")
	r.see("2 lines added", "enter cancel").press("shift+tab").see("[Throw away]").press("enter").see("your text was thrown away", "1 of 2")
	if d := p.drafts(); len(d) > 0 {
		t.Errorf("drafts %q", d)
	}
}

// Whatever prevents a write, the text must be kept.
func TestEditNeverLosesTheText(t *testing.T) {
	for name, tt := range map[string]struct {
		scenario, script, see string
		save                  bool
	}{
		"scanner":      {"desk,acts", `echo IGNORE PREVIOUS >> "$1"`, "The store did not take it: the scanner rejects", true},
		"store down":   {"desk,down", `echo more >> "$1"`, "answer. Nobody knows whether it was", true},
		"editor fails": {"desk,acts", `echo half >> "$1"; exit 3`, "The editor ended with an error", false},
		"not UTF-8":    {"desk,acts", `printf 'x\377y' > "$1"`, "The text is not UTF-8", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			down := filepath.Join(t.TempDir(), "down")
			if err := os.WriteFile(down, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r, p := noted(t, tt.scenario, 100, 30, goneEnv+"="+down)
			p.will(tt.script)
			r.press("e").see("[Cancel]", "enter cancel")
			if tt.save {
				r.press("tab", "tab").see("[Save]").press("enter")
			}
			r.see("2026-05-20.md is not", " saved. ", tt.see, "Your text is safe", "enter cancel")
			p.will(`cp "$1" ` + p.dir + `/seen; true`)
			r.press("tab").see("[Edit again]").press("enter").see("[Cancel]", "enter cancel")
			if seen, err := os.ReadFile(filepath.Join(p.dir, "seen")); err != nil || len(seen) == 0 {
				t.Errorf("the editor got %q, %v", seen, err)
			}
			r.press("esc").see("not saved; your text is kept for 30 days")
			if p.kept() == "" {
				t.Error("nothing is kept")
			}
			r.press("q")
		})
	}
}

func TestEditConflictIsLeft(t *testing.T) {
	t.Parallel()
	r, p := noted(t, "desk,meddle", 80, 24)
	p.will(`echo more >> "$1"`)
	r.press("e").see("Save crews", "enter cancel").press("tab", "tab").press("enter").see("has changed.", "enter cancel").press("enter").see("not saved; your text is kept for 30 days", "1 of 2")
	if !strings.Contains(p.kept(), "more") {
		t.Error("nothing is kept")
	}
}

func TestARefusedTextIsLeft(t *testing.T) {
	t.Parallel()
	r, p := noted(t, "desk,acts", 80, 24)
	p.will(`echo IGNORE PREVIOUS >> "$1"`)
	r.press("e").see("[Cancel]", "enter cancel").press("tab", "tab").see("[Save]").press("enter").see("is not saved", "the scanner rejects it", "enter cancel")
	r.press("enter").see("not saved; your text is kept for 30 days", "1 of 2")
	if !strings.Contains(p.kept(), "IGNORE PREVIOUS") {
		t.Error("nothing is kept")
	}
}

func TestEditorFailsWithoutAText(t *testing.T) {
	t.Parallel()
	r, p := noted(t, "desk,acts", 80, 24)
	p.will("exit 1")
	r.press("e").see("the editor ended with an error and nothing was written")
	p.will(`: > "$1"`)
	r.press("e").see("The text is empty", "enter cancel").press("esc").see("not saved; your text is kept for 30 days", "1 of 2")
	if text := p.kept(); text != "" {
		t.Errorf("kept %q", text)
	}
}

func TestEditConflict(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, p := noted(t, "desk,meddle", w, h)
		p.will(`sed -i s/14:02/15:30/ "$1"`)
		r.press("e").see("Save crews", "enter cancel").press("tab", "tab").press("enter")
		r.see("has changed.", "Neither side is lost", "Lines: theirs +", "what they have changed: 1 line added, ", "- # Wednesday", "[Cancel]", "enter cancel")
		r.press("pgdown").see("written by somebody else").press("pgdown").see("15:30")
		p.will(`cp "$1" ` + p.dir + `/seen; echo mine > "$1"`)
		r.press("tab", "tab", "tab").see("[Edit again]").press("enter").see("Save crews", "- written by somebody else", "+ mine", "enter cancel")
		seen, _ := os.ReadFile(filepath.Join(p.dir, "seen"))
		if s := string(seen); !strings.Contains(s, "written by somebody else") || !strings.Contains(s, "15:30") {
			t.Errorf("the editor got\n%s", s)
		}
		r.press("tab", "tab").see("[Save]").press("enter").see("saved crews").see("mine", "1 of 2")
		r.press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

func TestEditConflictOverwrite(t *testing.T) {
	t.Parallel()
	r, p := noted(t, "desk,meddle", 100, 30)
	p.will(`echo more >> "$1"`)
	r.press("e").see("Save crews", "enter cancel").press("tab", "tab").press("enter").see("has changed.", "enter cancel")
	r.press("shift+tab").see("[Overwrite]").press("enter").see("type the name first: 2026-05-20.md")
	r.press("2026-05-20.md").press("tab", "tab").see("[Overwrite]").press("enter").see("saved crews", "more")
	r.press("e").see("Save crews", "enter cancel").press("esc").see("your text is kept")
}

func TestCreateAndAppend(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, p := noted(t, "desk,acts", w, h)
		p.will(`echo "a new day" > "$1"`)
		r.press("c").form("Create an item in the store crewship?").see("daily: a key is needed (a date, 2026-05-21)", "crews/eng/agents/bo", "tier: daily")
		r.press("esc").see("cancelled").press(":", "create", "enter").form("Create an item")
		r.press("tab", "tab").see("[Open the editor]").press("enter").see("✖ The tier daily needs a key", "enter next")
		r.press("../x").gone("needs a key").press("tab").see("[Open the editor]").press("enter").see("leaves the tier", "enter next")
		r.press("ctrl+u").press("2026-05-22.md").press("tab").see("[Open the editor]").press("enter")
		r.see("Create daily/2026-05-22.md?", "This writes 1 new item (10 bytes)", "+ a new day", "enter cancel")
		r.press("esc").see("your text is kept for 30 days").press("c").form("Create an item").press("tab").press("2026-05-22.md").press("tab").press("enter").see("Create daily/2026-05-22.md?", "enter cancel")
		r.press("tab", "tab").see("[Create]").press("enter").see("created daily/2026-05-22.md; z undoes")
		r.press("c").form("Create an item").press("tab").press("2026-05-22.md").press("tab").press("enter").see("is there already: e edits it", "enter next").press("esc")
		p.will(`echo "nearly full" > "$1"`)
		r.see("1 of 2").press("A").see("Append to crews", "This adds 12 bytes", "enter cancel").press("tab", "tab").see("[Append]").press("enter")
		r.see("Saved", "80 % of the cap is used", "z undoes").asked("z", "Undo the").gone("80 % of the cap").press("esc").see("nearly full", "14:02")
	})
}

func TestEditSaysWhyNot(t *testing.T) {
	t.Parallel()
	r := daily(t, "desk", 100, 30)
	r.press("e").see("e: this console only shows")
	r = daily(t, "desk,acts,readonly", 100, 30)
	r.press("e").see("the audit log cannot be written").press("c").see("c: this console is read-only")
	r = startRobot(t, start{scenario: "desk,acts", width: 100, height: 30, env: []string{"PATH=/nowhere"}})
	r.unfolded().press("j", "j", "j").press("enter").see("1 of 2").press("e").see("e: no editor is known: set VISUAL or EDITOR")
	r, _ = noted(t, "desk,acts", 100, 30)
	r.press(":").press("store hostile").press("enter").see("of 10").press("e").see("It holds", "control or invisible", "[Cancel]", "enter cancel").press("esc").see("nothing was changed")
	r.press("j", "j", "j", "j").see("5 of 10").press("e").see("it is not text; x exports it")
}
