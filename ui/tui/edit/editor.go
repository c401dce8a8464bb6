package edit

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/loop"
)

// builtin reports whether the console edits texts itself: it is remote, and no editor command is configured.
func builtin(d *desk.Desk) bool { return d.Remote && d.Edit == nil && !d.Spoken }

// usual is the first common editor on the PATH. The footer asks in each frame, so the PATH is searched once.
var usual = sync.OnceValue(func() string {
	for _, name := range []string{"vi", "nano"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return ""
})

// Program is the editor for the operator's terminal.
func Program(d *desk.Desk) (command, why string) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := strings.TrimSpace(d.Env[name]); v != "" {
			return v, ""
		}
	}
	if command = usual(); command == "" {
		return "", "no editor is known: set VISUAL or EDITOR"
	}
	return command, ""
}

// notFound is the exit status of a shell for an unknown command.
const notFound = 127

// lacking says that the operator's editor is missing, when it ended for that reason.
func lacking(d *desk.Desk, err error) string {
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != notFound {
		return ""
	}
	name := "EDITOR"
	if strings.TrimSpace(d.Env["VISUAL"]) != "" {
		name = "VISUAL" // VISUAL goes first
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
		return loop.Reply{Pane: loop.Over, Msg: loop.Then(func() tea.Cmd { return ed.Edited(e, err) })}
	}
	switch {
	case ed.D.Spoken:
		return nil // the linear mode takes it from here
	case builtin(ed.D):
		return ed.compose(e)
	}
	return tea.Exec(unhurried{ed.EditorOn(e)}, over)
}

// editorDelay is the time an editor has to end when its terminal is gone.
const editorDelay = 2 * time.Second

// EditorOn is the operator's editor, ready to run.
func (ed *Edits) EditorOn(e *Edit) tea.ExecCommand {
	if ed.D.Edit != nil {
		return ed.D.Edit(e.Draft.Path())
	}
	command, _ := Program(ed.D)
	// The variable may hold arguments: the shell takes it apart, as git does.
	c := exec.CommandContext(ed.D.Ctx, "/bin/sh", "-c", command+` "$@"`, command, e.Draft.Path())
	// When the terminal is gone, the kernel signals only the session leader: without a signal from
	// here the editor would keep memdesk, and its lock on the draft, alive.
	c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(syscall.SIGHUP) }, editorDelay
	c.Env = ed.D.Environ
	return process{c}
}

// process is one of this machine, as bubbletea runs it in the terminal.
type process struct{ *exec.Cmd }

func (p process) SetStdin(r io.Reader)  { p.Stdin = r }
func (p process) SetStderr(w io.Writer) { p.Stderr = w }

// SetStdout gives the process the terminal itself: through any other writer it would have a pipe.
func (p process) SetStdout(w io.Writer) {
	if over, ok := w.(interface{ Under() *os.File }); ok {
		w = over.Under()
	}
	p.Stdout = w
}

// leastAway is the shortest time that the terminal is away.
const leastAway = 250 * time.Millisecond

// unhurried delays the end of a command that may have failed at once. The renderer of bubbletea
// (v2.0.9, startRenderer) stops its ticker after it has reported that it stands still: a terminal
// that comes back before that has its new ticker stopped, and the screen stays empty until the
// program ends.
type unhurried struct{ tea.ExecCommand }

func (c unhurried) Run() error {
	begun := time.Now()
	err := c.ExecCommand.Run()
	time.Sleep(leastAway - time.Since(begun))
	return err
}
