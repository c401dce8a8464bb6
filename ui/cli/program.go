package cli

import (
	"os"
	"os/user"
	"strings"

	"golang.org/x/term"

	"memdesk/backends"
	"memdesk/internal/clock"
)

// NewProgram is the program of this process: its arguments, streams, environment,
// directory and user, over the kinds of a registry. A program with kinds of its own
// registers them beside backends.Builtin and runs this.
func NewProgram(kinds *backends.Registry) Program {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	dir, _ := os.Getwd() // empty when it is gone: only relative locations need it
	return Program{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: os.Getenv, Dir: dir, Clock: clock.System{}, Version: "dev", Kinds: kinds,
		Terminal: func(stream any) bool {
			f, ok := stream.(*os.File)
			return ok && term.IsTerminal(int(f.Fd()))
		},
		Columns: func() int {
			width, _, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0
			}
			return width
		},
		User: name, TTY: ttyName(),
	}
}

// ttyName names the terminal for the audit log of an unauthenticated operator.
func ttyName() string {
	if p, err := os.Readlink("/proc/self/fd/0"); err == nil && term.IsTerminal(0) {
		return strings.TrimPrefix(p, "/dev/")
	}
	return strings.TrimPrefix(os.Getenv("SSH_TTY"), "/dev/")
}
