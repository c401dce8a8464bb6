package audit_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"memdesk/audit"
)

const (
	childDir   = "MEMDESK_TEST_AUDIT_DIR"
	childCount = "MEMDESK_TEST_AUDIT_COUNT"
)

// TestMain lets the test binary act as the second process.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := appendMany(dir, os.Getenv(childCount)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if built.path != "" {
		_ = os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

func appendMany(dir, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	l, err := audit.Open(audit.Options{Dir: dir, Tool: "child", SegmentBytes: 40_000})
	if err != nil {
		return err
	}
	// One byte each way synchronises two processes, so that they contend each time.
	turn := make([]byte, 1)
	for range n {
		if _, err := os.Stdin.Read(turn); err != nil {
			return err
		}
		seq, err := l.Intent(context.Background(), forget)
		if err != nil {
			return err
		}
		if err := l.Outcome(context.Background(), seq, audit.Result{Verdict: audit.OK}); err != nil {
			return err
		}
		if _, err := os.Stdout.Write(turn); err != nil {
			return err
		}
	}
	return nil
}

type child struct {
	cmd *exec.Cmd
	in  io.Writer
	out io.Reader
}

func spawn(t *testing.T, dir string, count int) child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childCount+"="+strconv.Itoa(count))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return child{cmd, in, out}
}

// Two processes begin the same log at once and append to it: no record may be lost, and each outcome
// must link to its own process's intent.
func TestTwoProcesses(t *testing.T) {
	const each = 150
	s := fresh(t)
	var children []child
	for range 2 {
		children = append(children, spawn(t, s.dir, each))
	}
	turn := []byte{'.'}
	for range each {
		for _, c := range children {
			if _, err := c.in.Write(turn); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range children {
			if _, err := io.ReadFull(c.out, turn); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range children {
		must(t, c.cmd.Wait())
	}
	rep := verify(t, s.dir)
	// One note begins the log and one each further segment.
	if want := uint64(rep.Segments + 2*2*each); !rep.OK || rep.Events != want || rep.Segments < 3 || len(rep.OpenIntents) != 0 {
		t.Fatalf("ok %v, %d events in %d segments, want %d; %s", rep.OK, rep.Events, rep.Segments, want, rep.Reason)
	}
	l := s.open(t)
	intents, turns, last := map[uint64]audit.Row{}, 0, 0
	cursor := ""
	for {
		page, err := l.List(context.Background(), audit.Filter{OldestFirst: true}, 97, cursor)
		must(t, err)
		for _, r := range page.Rows {
			if r.PID != last {
				turns++
			}
			last = r.PID
			switch r.Phase {
			case audit.PhaseIntent:
				intents[r.Seq] = r
			case audit.PhaseOutcome:
				if in, ok := intents[r.Link]; !ok || in.PID != r.PID || in.Target != r.Target {
					t.Errorf("outcome %d of process %d links to %d of %d", r.Seq, r.PID, r.Link, in.PID)
				}
				delete(intents, r.Link)
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if turns < each {
		t.Errorf("the processes took %d turns in %d rounds: not interleaved", turns, each)
	}
	if len(intents) != 0 {
		t.Errorf("%d intents without an outcome", len(intents))
	}
}

func TestConcurrentUseOfOneLog(t *testing.T) {
	const workers, each = 4, 25
	s := fresh(t)
	s.fs = audit.Quick{}
	l := s.open(t)
	errs := make(chan error, workers)
	for range workers {
		go func() {
			for range each {
				seq, err := l.Intent(context.Background(), forget)
				if err == nil {
					err = l.Outcome(context.Background(), seq, audit.Result{Verdict: audit.OK})
				}
				if err == nil {
					_, err = l.List(context.Background(), audit.Filter{}, 3, "")
				}
				if err == nil {
					err = l.Writable()
				}
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range workers {
		must(t, <-errs)
	}
	wantOK(t, s.dir, 1+workers*each*2)
}
