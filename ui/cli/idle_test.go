package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
)

// stillText is the screen of BenchmarkIdle's peer: one text, the minimal Bubble Tea program. As the
// played program's arguments it starts that peer.
const stillText = "nothing happens here"

type stillModel struct{}

func (stillModel) Init() tea.Cmd                         { return nil }
func (m stillModel) Update(tea.Msg) (tea.Model, tea.Cmd) { return m, nil }
func (stillModel) View() tea.View {
	v := tea.NewView(strings.TrimSuffix(strings.Repeat(strings.Repeat(stillText+" ", 9)+"\n", 50), "\n"))
	v.AltScreen = true
	return v
}

func playStill() int {
	if _, err := tea.NewProgram(stillModel{}).Run(); err != nil {
		return 1
	}
	return 0
}

// idler is a program in a terminal of 200×50 whose output is only counted.
type idler struct {
	b   *testing.B
	cmd *exec.Cmd
	tty *os.File

	mu    sync.Mutex
	grown *sync.Cond
	out   bytes.Buffer
	ended bool
}

func startIdler(b *testing.B, args string) *idler {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	home := b.TempDir()
	i := &idler{b: b, cmd: exec.Command(self, "-test.run=^$")}
	i.grown = sync.NewCond(&i.mu)
	i.cmd.Env = []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + home, "XDG_STATE_HOME=" + home, "PATH=" + os.Getenv("PATH"), playEnv + "=" + args}
	if i.tty, err = pty.StartWithSize(i.cmd, &pty.Winsize{Cols: 200, Rows: 50}); err != nil {
		b.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 32<<10)
		for {
			n, err := i.tty.Read(buf)
			i.mu.Lock()
			i.out.Write(buf[:n])
			i.ended = err != nil
			i.grown.Broadcast()
			i.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	b.Cleanup(func() {
		_ = i.cmd.Process.Kill()
		_ = i.cmd.Wait()
		_ = i.tty.Close()
		<-read
	})
	return i
}

func (i *idler) press(keys string) { _, _ = i.tty.WriteString(keys) }

// see waits for a text in the output.
func (i *idler) see(text string) {
	i.b.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	for !bytes.Contains(i.out.Bytes(), []byte(text)) {
		if i.ended {
			i.b.Fatalf("the program ended before it showed %q: %q", text, i.out.String())
		}
		i.grown.Wait()
	}
}

func (i *idler) written() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.out.Len()
}

// spent is the program's processor time so far.
func (i *idler) spent() time.Duration {
	i.b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", i.cmd.Process.Pid))
	if err != nil {
		i.b.Skip("no /proc on this system")
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:])) // proc(5): from state on
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}

// resident is the program's memory in bytes.
func (i *idler) resident() float64 {
	i.b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", i.cmd.Process.Pid))
	if err != nil {
		i.b.Skip("no /proc on this system")
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kb, _ := strconv.Atoi(strings.Fields(rest)[0])
	return float64(kb) * 1024
}

// millionStore makes a store of a million items once per machine.
func millionStore(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(os.TempDir(), "memdesk-bench-idle-v1")
	path := filepath.Join(dir, "store.db")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	half := path + fmt.Sprintf(".%d.new", os.Getpid())
	s, err := sqlite.Open(ctx, sqlite.Config{Path: half, Create: true})
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err = s.CreateNodes(ctx, func(yield func(hypergraph.Node) bool) {
		for i := range 1_000_000 {
			if !yield(hypergraph.Node{ID: fmt.Sprintf("node-%07d", i), Type: "fact", Tier: "longterm", Confidence: 1,
				Content: fmt.Sprintf("service %d was deployed by agent %d in %d seconds", i%97, i%13, i%600), CreatedAt: begin.Add(time.Duration(i) * time.Second)}) {
				return
			}
		}
	})
	if err == nil {
		err = s.Close()
	}
	if err == nil {
		err = os.Rename(half, path)
	}
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkIdle measures the program's cost during a minute without input, with a list of a million
// items on the screen, against a bare Bubble Tea program that shows a text; and its memory, against the
// same program with an empty store.
func BenchmarkIdle(b *testing.B) {
	path := millionStore(b)
	dir := b.TempDir()
	empty, err := sqlite.Open(context.Background(), sqlite.Config{Path: filepath.Join(dir, "empty.db"), Create: true})
	if err != nil {
		b.Fatal(err)
	}
	if err := empty.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		full := startIdler(b, "--open\nsqlite="+path)
		full.see("1,000,000")
		full.press("\r")
		full.see("of 1,000,000")
		none := startIdler(b, "--open\nsqlite="+filepath.Join(dir, "empty.db"))
		none.see("1 store")
		bare := startIdler(b, stillText)
		bare.see(stillText)
		time.Sleep(3 * time.Second) // until the start-up work is done
		ours, theirs, wrote := full.spent(), bare.spent(), full.written()
		time.Sleep(time.Minute)
		ours, theirs, wrote = full.spent()-ours, bare.spent()-theirs, full.written()-wrote
		b.ReportMetric(float64(ours.Milliseconds()), "ms-cpu-minute")
		b.ReportMetric(float64(theirs.Milliseconds()), "ms-cpu-bare")
		b.ReportMetric(float64(wrote), "B-minute")
		b.ReportMetric(full.resident()/(1<<20), "MB-1M")
		b.ReportMetric(none.resident()/(1<<20), "MB-empty")
		b.ReportMetric(bare.resident()/(1<<20), "MB-bare")
		b.ReportMetric(full.resident()/none.resident(), "x-memory")
		b.ReportMetric(float64(ours)/float64(max(theirs, 10*time.Millisecond)), "x-cpu")
		for _, i := range []*idler{full, none, bare} {
			i.press("\x03")
		}
	}
}
