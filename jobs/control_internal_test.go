package jobs

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"

	"memdesk/internal/atomicfile"
)

// newerFS leaves a newer request as soon as one is opened.
type newerFS struct {
	atomicfile.OS
	path string
}

func (n newerFS) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	f, err := n.OS.OpenFile(name, flag, perm)
	if strings.HasPrefix(name, n.path) && err == nil {
		err = atomicfile.Write(n.path, []byte(askCancel), 0o600)
	}
	return f, err
}

// TestARequestBesideARead: a request that comes while an earlier one is read is not lost.
func TestARequestBesideARead(t *testing.T) {
	const id = "20260101t000000-0123456789abcdef"
	n := &newerFS{}
	r, err := Open(Options{Dir: t.TempDir(), FS: n})
	if err != nil {
		t.Fatal(err)
	}
	n.path = r.controlPath(id)
	if err := os.WriteFile(n.path, []byte(askPause), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{askPause, askCancel} {
		if got, err := r.takeRequest(id); got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}

// TestAJobRecoveredAtItsEnd: a job that is recovered while its goroutine still ends must stay in the runner, which
// cancels it when it closes.
func TestAJobRecoveredAtItsEnd(t *testing.T) {
	r, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	id, err := r.Start(t.Context(), Spec{Kind: "copy", Run: func(context.Context, *Handle) error { <-end; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	recovered := &job{}
	r.mu.Lock()
	r.live[id] = recovered
	r.mu.Unlock()
	close(end)
	r.wg.Wait()
	if r.mine(id) != recovered {
		t.Error("the end of a job removed the one that was recovered")
	}
}
