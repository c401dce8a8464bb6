package jobs

import (
	"context"
	"io/fs"
	"os"
	"strconv"
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
		err = atomicfile.Write(n.path, []byte(Cancel), 0o600)
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
	if err := os.WriteFile(n.path, []byte(Pause), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []Request{Pause, Cancel} {
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
	recovered := &Handle{}
	r.mu.Lock()
	r.live[id] = recovered
	r.mu.Unlock()
	close(end)
	r.wg.Wait()
	if r.mine(id) != recovered {
		t.Error("the end of a job removed the one that was recovered")
	}
}

// measuredFS notes the most bytes that one read of a file asks for.
type measuredFS struct {
	atomicfile.OS
	most *int
}

func (m measuredFS) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	f, err := m.OS.OpenFile(name, flag, perm)
	return measuredFile{f, m.most}, err
}

type measuredFile struct {
	atomicfile.File
	most *int
}

func (f measuredFile) Read(p []byte) (int, error) {
	*f.most = max(*f.most, len(p))
	return f.File.Read(p)
}

// TestAJournalIsReadByTheLine: one of a long copy is hundreds of megabytes.
func TestAJournalIsReadByTheLine(t *testing.T) {
	most := 0
	r, err := Open(Options{Dir: t.TempDir(), FS: measuredFS{most: &most}})
	if err != nil {
		t.Fatal(err)
	}
	const steps = 300
	id, err := r.Start(t.Context(), Spec{Kind: "copy", Run: func(ctx context.Context, h *Handle) error {
		for i := range steps {
			if err := h.Step(ctx, strconv.Itoa(i), func(context.Context) error { return nil }); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.wg.Wait()
	done, err := r.Steps(t.Context(), id)
	if err != nil || !done("0") || !done(strconv.Itoa(steps-1)) || done(strconv.Itoa(steps)) {
		t.Errorf("the steps of the journal are not those of the job: %v", err)
	}
	if most > 16<<10 {
		t.Errorf("one read asked for %d bytes", most)
	}
}
