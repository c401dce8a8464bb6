package embed_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"memdesk/backends/hypergraph/embed"
)

// TestChildrenEndWithTheCommand: a process that the command leaves behind must end with the call, also where
// the shell has ended before.
func TestChildrenEndWithTheCommand(t *testing.T) {
	t.Parallel() // without the guard the child takes its time
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		f, err := os.Open(fifo)
		if err != nil {
			said <- err.Error()
			return
		}
		b, _ := io.ReadAll(f) // until the last process has closed it
		_ = f.Close()
		said <- string(b)
	}()
	e, err := embed.New("", `exec 3>'`+fifo+`'; (sleep 1; echo late >&3) >/dev/null 2>&1 & echo '[1]'`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), "tea"); err != nil {
		t.Fatal(err)
	}
	if got := <-said; got != "" {
		t.Errorf("a child of the command goes on: %q", got)
	}
}
