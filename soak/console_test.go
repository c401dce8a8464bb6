//go:build linux

package soak

import (
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/creack/pty"
)

// console is the desk on a terminal that an operator keeps open all year.
type console struct {
	m    *machine
	cmd  *exec.Cmd
	tty  *os.File
	over chan error
}

func (m *machine) openConsole() *console {
	m.t.Helper()
	c := &console{m: m, cmd: m.process(), over: make(chan error, 1)}
	c.cmd.Env = append(c.cmd.Env, "TERM=xterm-256color")
	var err error
	c.tty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Rows: 40, Cols: 120})
	m.must(err)
	go func() {
		_, _ = io.Copy(io.Discard, c.tty) // ends with the console
		c.over <- c.cmd.Wait()
	}()
	m.t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

// press types keys one by one, as an operator does.
func (c *console) press(keys ...string) {
	c.m.t.Helper()
	for _, k := range keys {
		_, err := io.WriteString(c.tty, k)
		c.m.must(err)
		time.Sleep(30 * time.Millisecond)
	}
}

// leave ends the console with its key.
func (c *console) leave() {
	c.m.t.Helper()
	c.press("\x1b", "q")
	select {
	case err := <-c.over:
		if err != nil {
			c.m.t.Errorf("the console left with %v", err)
		}
	case <-time.After(time.Minute):
		c.m.t.Error("the console does not leave")
	}
	_ = c.tty.Close()
}
