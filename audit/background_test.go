package audit

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// slowAnchor is a command that says that it was started and then waits, the first time, until it is let go.
func slowAnchor(dir string) (a Anchor, started, free string) {
	started, free = filepath.Join(dir, "started"), filepath.Join(dir, "free")
	wait := fmt.Sprintf("if [ ! -e %[1]s ]; then touch %[1]s; until [ -e %[2]s ]; do sleep 0.01; done; fi", started, free)
	return Anchor{Kind: "command", Command: wait}, started, free
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within a minute: " + what)
		}
	}
}

func exists(path string) func() bool {
	return func() bool { _, err := os.Stat(path); return err == nil }
}

// TestARecordDuringARunIsAnchored: a record that comes while an anchor takes its time must reach it without
// another append.
func TestARecordDuringARunIsAnchored(t *testing.T) {
	for name, set := range map[string]func(*Options){
		"by number": func(o *Options) { o.CheckpointEvery = 1 },
		"by time":   func(o *Options) { o.AnchorEvery = 10 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			a, started, free := slowAnchor(t.TempDir())
			b := newBench(t, a)
			set(&b.options)
			l := b.open()
			act(t, l)
			eventually(t, "the anchor is asked", exists(started))
			act(t, l)
			head, _, err := l.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(free, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the record is anchored", func() bool {
				all, _, err := l.Anchors(t.Context())
				return err == nil && all[0].Seq >= head
			})
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCloseDuringARun: Close stops the run and must then give the anchor the newest checkpoint itself; the run
// that it stopped says nothing about the anchor.
func TestCloseDuringARun(t *testing.T) {
	a, started, _ := slowAnchor(t.TempDir())
	b := newBench(t, a)
	b.options.CheckpointEvery = 1
	l := b.open()
	act(t, l)
	eventually(t, "the anchor is asked", exists(started))
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, newest, err := l.Anchors(t.Context())
	if err != nil || all[0].Seq != newest || all[0].Error != "" {
		t.Errorf("%+v of %d records, %v", all, newest, err)
	}
}

// TestNothingWaitsForTheKey: the command that prints the key may wait for somebody's password; acts must go on
// meanwhile, and it must not be run again at each of them.
func TestNothingWaitsForTheKey(t *testing.T) {
	defer func(d time.Duration) { keyPatience = d }(keyPatience)
	keyPatience = time.Hour
	b := newBench(t)
	b.acts(1)
	started := filepath.Join(t.TempDir(), "started")
	b.options.CheckpointEvery, b.options.KeyCommand = 1, "echo x >>'"+started+"'; exec sleep 3600"
	l := b.open()
	act(t, l)
	eventually(t, "the command is run", exists(started))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the command has longer
	defer cancel()
	if err := l.Note(ctx, Entry{Action: "a"}, Result{Verdict: OK}); err != nil {
		t.Errorf("during the command: %v", err)
	}
	l.behind.mu.Lock()
	l.behind.stop()
	l.behind.mu.Unlock()
	l.behind.wg.Wait()
	act(t, l)
	l.behind.wg.Wait()
	if runs, err := os.ReadFile(started); err != nil || string(runs) != "x\n" {
		t.Errorf("runs %q, %v", runs, err)
	}
	b.options.KeyCommand = ""
	b.acts(1)
	b.wantOK()
}

// TestARecordInThePauseIsAnchored: after a failed run nothing may ask for the key within the pause, and a record
// that comes meanwhile must reach the anchor without another append.
func TestARecordInThePauseIsAnchored(t *testing.T) {
	for name, set := range map[string]func(*Options){
		"by number": func(o *Options) { o.CheckpointEvery = 1 },
		"by time":   func(o *Options) { o.AnchorEvery = time.Minute },
		"by both":   func(o *Options) { o.CheckpointEvery, o.AnchorEvery = 4, 10*time.Second },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				skey, _, err := note.GenerateKey(rand.Reader, "desk.example/log")
				if err != nil {
					t.Fatal(err)
				}
				tries := filepath.Join(t.TempDir(), "tries")
				b.options.KeyCommand = fmt.Sprintf("echo x >>'%[1]s'; [ $(wc -l <'%[1]s') -gt 1 ] && echo '%[2]s'", tries, skey)
				set(&b.options)
				l := b.open()
				for range 4 {
					act(t, l)
				}
				for end := time.Now().Add(time.Hour); !exists(tries)() && time.Now().Before(end); {
					time.Sleep(time.Second)
				}
				l.behind.wg.Wait()
				act(t, l)
				head, _, err := l.Head(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(retryFirst - 2*time.Second)
				if runs, err := os.ReadFile(tries); err != nil || string(runs) != "x\n" {
					t.Errorf("runs in the pause: %q, %v", runs, err)
				}
				time.Sleep(2 * time.Minute)
				l.behind.wg.Wait()
				all, _, err := l.Anchors(t.Context())
				if err != nil || all[0].Seq < head {
					t.Errorf("anchored up to %d of %d records, %v", all[0].Seq, head, err)
				}
				if err := l.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
