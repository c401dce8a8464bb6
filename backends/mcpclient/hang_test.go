package mcpclient_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/backends/backendtest"
	"memdesk/backends/mcpclient"
	"memdesk/internal/clock"
	"memdesk/model"
)

// TestAServerThatHangsIsStartedAgain: nothing else helps, and a server that is late for a moment must stay.
func TestAServerThatHangsIsStartedAgain(t *testing.T) {
	dir := memory(t, "AGENT.md", "kept\n")
	pidFile, clk := filepath.Join(t.TempDir(), "pid"), clock.NewFake(time.Now())
	started := 0
	open := func(context.Context, string) backends.Member {
		started++
		return backends.Member{Name: "far", Store: opened(t, mcpclient.Config{Clock: clk, Command: "/usr/bin/env",
			Args: []string{"MEMDESK_TEST_SERVE=" + dir, "sh", "-c", `echo $$ >"$1"; exec "$2"`, "sh", pidFile, os.Args[0]}})}
	}
	fleet := backends.NewFleet([]backends.Member{open(t.Context(), "far")}, open)
	t.Cleanup(func() { _ = fleet.Close() })
	state := func() model.HealthState {
		s, err := fleet.Store("far")
		if err != nil {
			t.Fatal(err)
		}
		return s.Provider.Health(t.Context()).State
	}
	first, err := fleet.Store("far")
	if err != nil {
		t.Fatal(err)
	}
	if got := backendtest.Health(t, first); got.State != model.HealthOK {
		t.Fatalf("before: %+v", got)
	}
	clk.Advance(time.Hour) // an hour without a call is not an hour without an answer
	signal := func(sig syscall.Signal) {
		line, err := os.ReadFile(pidFile)
		pid, bad := strconv.Atoi(strings.TrimSpace(string(line)))
		if err != nil || bad != nil || syscall.Kill(pid, sig) != nil {
			t.Fatalf("the server's process: %q, %v", line, err)
		}
		if sig != syscall.SIGSTOP {
			return
		}
		var ws syscall.WaitStatus // until its last thread stands, it may still answer
		if _, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil); err != nil || !ws.Stopped() {
			t.Fatalf("the server's process does not stop: %v, %v", ws, err)
		}
	}
	signal(syscall.SIGSTOP)
	if got := state(); got != model.HealthUnknown || fleet.Reopen(t.Context(), "far") || started != 1 {
		t.Errorf("late: %s, started %d times", got, started)
	}
	signal(syscall.SIGCONT)
	for end := time.Now().Add(20 * time.Second); state() != model.HealthOK; {
		if time.Now().After(end) {
			t.Fatal("the server goes on and is not well in 20 s")
		}
	}
	clk.Advance(time.Hour)
	signal(syscall.SIGSTOP)
	if got := state(); got != model.HealthUnknown {
		t.Errorf("late again: %s", got)
	}
	for end := time.Now().Add(20 * time.Second); state() != model.HealthDown; clk.Advance(time.Minute) {
		if time.Now().After(end) {
			t.Fatal("no answer for minutes, and the store is only late")
		}
	}
	if !fleet.Reopen(t.Context(), "far") || started != 2 {
		t.Fatalf("started %d times", started)
	}
	s, err := fleet.Store("far")
	if err != nil {
		t.Fatal(err)
	}
	if it, err := s.Browser.Read(t.Context(), "near:AGENT.md"); err != nil || it.Body != "kept\n" {
		t.Errorf("%+v, %v", it, err)
	}
}
