package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/tour"
)

// The tour's steps must show on the present demo what their captions say.
func TestTheTourSeesWhatItSays(t *testing.T) {
	home := t.TempDir()
	for k, v := range map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": home, "NO_COLOR": "", "COLORTERM": ""} {
		t.Setenv(k, v)
	}
	near, far, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(far, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	screen := vt.NewEmulator(80, 24)
	var mu sync.Mutex
	drawn := sync.NewCond(&mu)
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := near.Read(buf)
			mu.Lock()
			_, _ = screen.Write(buf[:n])
			drawn.Broadcast()
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { _, _ = io.Copy(near, screen) }()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- Program{
			Args: []string{"demo", "--dir", filepath.Join(home, "demo")}, Stdin: far, Stdout: far, Stderr: io.Discard,
			Env: os.Getenv, Dir: home, Clock: clock.System{}, Version: "test", Kinds: backends.Builtin(), User: "ana", TTY: "pts/1",
			Terminal: func(any) bool { return true },
		}.Run(ctx)
	}()
	see := func(text string) {
		t.Helper()
		timer := time.AfterFunc(2*time.Minute, drawn.Broadcast)
		defer timer.Stop()
		until := time.Now().Add(2 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		for {
			s := screen.String()
			if strings.Contains(s, text) && !strings.Contains(s, "loading") && !strings.Contains(s, "asking") && !strings.Contains(s, "a moment, then keys count") {
				return
			}
			if !time.Now().Before(until) {
				t.Fatalf("the screen never showed %q; it shows\n%s", text, s)
			}
			drawn.Wait()
		}
	}
	see("harbor")
	for _, s := range tour.Steps {
		for _, k := range s.Keys {
			if _, err := io.WriteString(near, k); err != nil {
				t.Fatal(err)
			}
		}
		see(s.See)
	}
	stop()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the console does not end")
	}
	_ = near.Close()
}

// A shell repeats the hang-up of its terminal. The second one must not end the program while it still clears up, as the
// demo does after its tour.
func TestASecondHangupEndsNothing(t *testing.T) {
	a := &app{Program: Program{hangup: make(chan os.Signal, 1), Terminal: func(any) bool { return true }}, serving: new(atomic.Bool)}
	signal.Notify(a.hangup, syscall.SIGHUP)
	defer signal.Stop(a.hangup)
	hangUp := func() {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	ended := false
	a.heedHangup(t.Context(), func() { ended = true })
	if !ended {
		t.Error("the first one does not end the program")
	}
	hangUp()
	select {
	case <-a.hangup:
	case <-time.After(time.Minute):
		t.Error("the second one is not caught")
	}
}
