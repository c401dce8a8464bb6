package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memdesk/internal/clock"
	"memdesk/model"
)

// quick is the protocol at a twentieth of its durations.
var quick = pace{stale: 500 * time.Millisecond, patience: 1500 * time.Millisecond, beat: 250 * time.Millisecond, watch: 275 * time.Millisecond}

func quickMutex(t *testing.T, keys ...string) mutex {
	t.Helper()
	return mutex{base: filepath.Join(t.TempDir(), "agentm", "locks"), keys: keys, clock: clock.System{}, pace: quick}
}

// leave makes a lock directory as a writer left it that died so long ago.
func leave(t *testing.T, path string, age time.Duration) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestLockIsAnEmptyDirectoryPerKey(t *testing.T) {
	m := quickMutex(t, "a", "b")
	h, err := m.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range m.keys {
		inside, err := os.ReadDir(m.path(k))
		if err != nil || len(inside) != 0 {
			t.Errorf("lock %s holds %v, %v", k, inside, err)
		}
	}
	if err := h.Check(); err != nil {
		t.Error(err)
	}
	h.Release()
	for _, k := range m.keys {
		if exists(m.path(k)) || !exists(filepath.Dir(m.path(k))) {
			t.Errorf("after the release: lock %v, its parent %v", exists(m.path(k)), exists(filepath.Dir(m.path(k))))
		}
	}
}

func TestStaleLocksAreTakenOver(t *testing.T) { synctest.Test(t, testStaleLocksAreTakenOver) }

func testStaleLocksAreTakenOver(t *testing.T) {
	var keys []string
	for k := range 20 {
		keys = append(keys, fmt.Sprintf("%02d", k))
	}
	m := quickMutex(t, keys...)
	for _, k := range keys {
		leave(t, m.path(k), time.Hour)
	}
	start := time.Now()
	h, err := m.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.Release()
	if took := time.Since(start); took < quick.watch || took > 10*quick.watch {
		t.Errorf("20 dead locks took %v: they are watched side by side, for %v", took, quick.watch)
	}
}

// TestALiveLockIsNotTakenOver: a holder touches its lock, whose age looks stale each time because the
// waiter's clock is an hour ahead.
func TestALiveLockIsNotTakenOver(t *testing.T) { synctest.Test(t, testALiveLockIsNotTakenOver) }

func testALiveLockIsNotTakenOver(t *testing.T) {
	holder := quickMutex(t, "a")
	h, err := holder.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waiter := holder
	ahead := clock.NewFake(time.Now().Add(time.Hour))
	waiter.clock = ahead
	if _, err := waiter.acquire(t.Context()); !errors.Is(err, model.Locked) {
		t.Errorf("a waiter whose clock is ahead: %v", err)
	}
	if err := h.Check(); err != nil {
		t.Errorf("the holder lost its lock: %v", err)
	}
	h.Release()
}

func TestALockFromTheFutureGoesStaleToo(t *testing.T) {
	m := quickMutex(t, "a")
	leave(t, m.path("a"), -time.Hour)
	h, err := m.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.Release()
}

func TestALockWithAFileInsideIsRefusedInWords(t *testing.T) {
	m := quickMutex(t, "a")
	m.pace.patience = 600 * time.Millisecond
	if err := os.MkdirAll(m.path("a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.path("a"), "pid"), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	leave(t, m.path("a"), time.Hour)
	_, err := m.acquire(t.Context())
	if !errors.Is(err, model.Locked) || !strings.Contains(err.Error(), "inside") || strings.Contains(err.Error(), m.base) {
		t.Errorf("err = %v", err)
	}
	if !exists(filepath.Join(m.path("a"), "pid")) {
		t.Error("the file inside is gone")
	}
}

// TestALockThatCannotBeRemoved: a dead writer's lock that stays must end the wait in time, and with what is wrong.
func TestALockThatCannotBeRemoved(t *testing.T) {
	m := quickMutex(t, "a")
	leave(t, m.path("a"), time.Hour)
	w := watcher{clock: m.clock, pace: m.pace, started: time.Now(), seen: map[string]sighting{}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := w.take(ctx, m.path("a")+"/.") // the system refuses to remove this name
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, model.PermissionDenied) || !strings.Contains(err.Error(), "cannot be made or removed") {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Error("the wait did not end")
	}
}

// TestALockDirectoryOfAnotherUser: where no lock can be made, the words must not be those about another writer.
func TestALockDirectoryOfAnotherUser(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	m := quickMutex(t, "a")
	dir := filepath.Dir(m.path("a"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if _, err := m.acquire(t.Context()); !errors.Is(err, model.PermissionDenied) || !strings.Contains(err.Error(), "locks/a: permission denied") {
		t.Error(err)
	}
}

func TestAFileInPlaceOfTheLock(t *testing.T) {
	m := quickMutex(t, "a")
	if err := os.MkdirAll(filepath.Dir(m.path("a")), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.path("a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := m.acquire(t.Context()); !errors.Is(err, model.Locked) {
		t.Errorf("err = %v", err)
	}
}

// TestAHeldUpHolder: a writer was suspended until another took its lock over. It must notice before it
// changes anything, and must not remove the other's lock.
func TestAHeldUpHolder(t *testing.T) {
	m := quickMutex(t, "a")
	h, err := m.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.path("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(m.path("a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.Check(); !errors.Is(err, model.Locked) {
		t.Errorf("the first holder goes on: %v", err)
	}
	h.Release()
	if !exists(m.path("a")) {
		t.Error("the release removed another's lock")
	}
}

// TestARemovalLooksOnceMore: a lock that was stale at the check may be another's by now.
func TestARemovalLooksOnceMore(t *testing.T) {
	m := quickMutex(t, "a")
	leave(t, m.path("a"), time.Hour)
	was, err := os.Lstat(m.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	leave(t, m.path("a"), 0)
	if err := remove(m.path("a"), was); err != nil || !exists(m.path("a")) {
		t.Errorf("a lock that was touched since is removed: %v", err)
	}
}

func TestWaitingEnds(t *testing.T) {
	m := quickMutex(t, "a")
	h, err := m.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := m.acquire(ctx); !errors.Is(err, model.Locked) {
		t.Errorf("past the deadline: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := m.acquire(ctx); !errors.Is(err, model.Timeout) {
		t.Errorf("cancelled: %v", err)
	}
	if exists(filepath.Join(m.base, "b")) {
		t.Error("a lock of nobody is there")
	}
}

func TestTheHeartbeatTouchesTheLock(t *testing.T) {
	m := quickMutex(t, "a")
	m.pace.beat = 10 * time.Millisecond
	h, err := m.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	leave(t, m.path("a"), time.Hour)
	for deadline := time.Now().Add(time.Minute); ; {
		st, err := os.Lstat(m.path("a"))
		if err != nil {
			t.Fatal(err)
		}
		if time.Since(st.ModTime()) < time.Minute {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the lock is never touched")
		}
	}
}

// TestLooksMoreOftenThanAgentM: AgentM's writers wait at least 10 ms between two checks of a held lock.
// With equal pauses, two busy ones would leave memdesk one write in some hundred of theirs.
func TestLooksMoreOftenThanAgentM(t *testing.T) {
	if pauseMost >= 10*time.Millisecond {
		t.Errorf("memdesk waits up to %v", pauseMost)
	}
}
