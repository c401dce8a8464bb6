package tui_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/operator"
)

// logEnv names the state directory of the log that all consoles of a test run read.
const logEnv = "MEMDESK_TUI_LOG"

// Behind its first record the log has one row per act: the newest is record 244, below it the open intent 242, then 241,
// 239 and so on.
const loggedActs = 121

// logState is a state directory with an audit log, written once per test run.
var logState = sync.OnceValue(func() string {
	dir := os.Getenv(logEnv)
	if dir != "" {
		return dir
	}
	dir, err := os.MkdirTemp("", "memdesk-tui-log-")
	if err == nil {
		err = fillLog(filepath.Join(dir, "memdesk", "audit"))
	}
	if err != nil {
		panic(err)
	}
	return dir
})

// removeLog removes the log at the end of the run.
func removeLog() { _ = os.RemoveAll(logState()) }

// fillLog writes one act a minute until now, and before the last one an intent that stays open.
func fillLog(dir string) error {
	at := &held{now.Add(-(loggedActs + 1) * time.Minute)}
	log, err := audit.Open(audit.Options{Dir: dir, Clock: at, Tool: "memdesk test", Actor: audit.Actor{ID: "ann", Authenticated: true, Key: "SHA256:abc"}, Session: "pts/1"})
	if err != nil {
		return err
	}
	ctx := context.Background()
	entry := audit.Entry{Action: "forget", Store: "crewship", Target: "crewship:crews/eng/shared/pins.md", Reason: "asked by Mara\x1b[31m"}
	for i := range loggedActs {
		at.at = at.at.Add(time.Minute)
		if i == loggedActs-1 {
			if _, err := log.Intent(ctx, entry); err != nil {
				return err
			}
			at.at = at.at.Add(time.Minute)
		}
		if err := log.Act(ctx, entry, func(context.Context) (map[string]int64, error) { return map[string]int64{"removed": 1}, nil }); err != nil {
			return err
		}
	}
	return nil
}

// auditTrail is the log as a session of the tests reads it.
var auditTrail = sync.OnceValue(func() *operator.AuditTrail {
	s, err := operator.New(operator.Options{Clock: clock.Fixed(now), Version: "test", Who: audit.Actor{ID: "ann"}, TTY: "pts/1", Env: func(name string) string {
		return map[string]string{"XDG_STATE_HOME": logState()}[name]
	}})
	if err != nil {
		panic(err)
	}
	s.Fleet = backends.NewFleet(nil, nil)
	return s.AuditTrail()
})
