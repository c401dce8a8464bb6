package edit

import (
	"errors"
	"io"
	"os/exec"
	"path"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/loop"
)

// builtin reports whether texts are edited in the console itself: the terminal is not this
// process's own, and nobody has said how an editor is run in it.
func builtin(d *desk.Desk) bool { return d.Remote && d.Edit == nil && !d.Spoken }

// Program is the editor that can be run in the operator's terminal.
func Program(d *desk.Desk) (command, why string) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := strings.TrimSpace(d.Env[name]); v != "" {
			return v, ""
		}
	}
	for _, name := range []string{"vi", "nano"} {
		if _, err := exec.LookPath(name); err == nil {
			return name, ""
		}
	}
	return "", "no editor is known: set VISUAL or EDITOR"
}

// notFound is how a shell ends that does not know a command.
const notFound = 127

// lacking says that the operator's editor is not there, when that is why it has ended.
func lacking(d *desk.Desk, err error) string {
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != notFound {
		return ""
	}
	name := "EDITOR"
	if strings.TrimSpace(d.Env["VISUAL"]) != "" {
		name = "VISUAL" // which goes first
	}
	command, _, _ := strings.Cut(strings.TrimSpace(d.Env[name]), " ")
	if _, err := exec.LookPath(command); command == "" || err == nil {
		return ""
	}
	return d.Esc.Sprintf("the editor %s was not found, nothing was changed: set $%s", d.Esc.LineMax(path.Base(command), 24), name).String()
}

// StartEditor hands the terminal to the editor.
func (ed *Edits) StartEditor(e *Edit) tea.Cmd {
	ed.Editing = e
	over := func(err error) tea.Msg {
		return loop.Reply{Pane: loop.Over, Msg: loop.Then(func() tea.Cmd { return ed.Edited(Edited{e, err}) })}
	}
	switch {
	case ed.D.Spoken:
		return nil // the conversation takes it from here
	case builtin(ed.D):
		return ed.compose(e)
	case ed.D.Edit != nil:
		return tea.Exec(unhurried{ed.D.Edit(e.Draft.Path())}, over)
	}
	return tea.Exec(unhurried{process{ed.EditorOn(e)}}, over)
}

// editorDelay is how long an editor has to end when its terminal is gone.
const editorDelay = 2 * time.Second

// EditorOn is the process of the operator's editor.
func (ed *Edits) EditorOn(e *Edit) *exec.Cmd {
	command, _ := Program(ed.D)
	// The variable may hold arguments: the shell takes it apart, as git does.
	c := exec.CommandContext(ed.D.Ctx, "/bin/sh", "-c", command+` "$@"`, command, e.Draft.Path())
	// When the terminal is gone only the leader of its session is told: an editor that
	// does not notice would keep memdesk, and its lock on the draft, alive.
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(syscall.SIGHUP) }, editorDelay
	c.Env = ed.D.Environ
	return c
}

// process is one of this machine, as bubbletea runs it in the terminal.
type process struct{ *exec.Cmd }

func (p process) SetStdin(r io.Reader)  { p.Stdin = r }
func (p process) SetStdout(w io.Writer) { p.Stdout = w }
func (p process) SetStderr(w io.Writer) { p.Stderr = w }

// leastAway is how long the terminal is away at the least.
const leastAway = 250 * time.Millisecond

// unhurried is a command that does not end at once, though it may have failed at once.
// The renderer of bubbletea (v2.0.9, startRenderer) stops its ticker after it has said
// that it stands still: where the terminal comes back before that, the ticker which was
// just set again is stopped, and the screen stays empty until the program ends.
type unhurried struct{ tea.ExecCommand }

func (c unhurried) Run() error {
	begun := time.Now()
	err := c.ExecCommand.Run()
	time.Sleep(leastAway - time.Since(begun))
	return err
}
