package jobs

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"memdesk/internal/atomicfile"
)

// Spawn starts a program in a session of its own, without a terminal, so that a closed connection does not
// end it; the jobs it starts or recovers live as long as it does. It inherits only the environment, and no
// open file. It returns the process id.
func Spawn(program string, args ...string) (int, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("spawn job: %w", err)
	}
	defer null.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, null
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("spawn job: %w", atomicfile.Pathless(err))
	}
	// Ends with the child; without it a long-lived console collects dead entries in the process table. The
	// job's journal, not the exit code, tells how it ended.
	go func() { _ = cmd.Wait() }()
	return cmd.Process.Pid, nil
}
