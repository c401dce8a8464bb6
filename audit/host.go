package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// bootID tells boots apart; empty where the system has none.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}

// hostID identifies a machine without naming it: the machine id must not be shown outside (machine-id(5)), so
// it is hashed; the host name is the fallback.
func hostID() string {
	id, err := os.ReadFile("/etc/machine-id")
	if id = bytes.TrimSpace(id); err != nil || len(id) == 0 {
		name, err := os.Hostname()
		if err != nil {
			return ""
		}
		id = []byte(name)
	}
	sum := sha256.Sum256(append([]byte("memdesk-audit-host\x00"), id...))
	return hex.EncodeToString(sum[:8])
}

// processSpace is the machine and, after a space, the namespace of this process's pid, where the system tells it: containers on
// one machine may share its id and its boot, but not their pids.
func processSpace() string {
	pids, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return hostID()
	}
	return hostID() + " " + pids
}

// mayWrite checks permissions and a read-only mount, without writing.
func mayWrite(path string) error {
	return barred(unix.Access(path, unix.W_OK))
}

// barred words why a path cannot be written.
func barred(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EROFS):
		return err // refuse says of which directory
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return errors.New("no permission to write to the state directory")
	}
	return fmt.Errorf("look at the state directory: %w", err)
}
