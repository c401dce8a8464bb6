package audit

import (
	"syscall"

	"memdesk/internal/atomicfile/faultfs"
)

// Exports for tests of the check.
var ChangeTime = changeTime

const Settled = settled

// HostID is the machine in a record, as earlier versions wrote it alone.
var HostID = hostID

// Quick writes without flushes, which leaves the same files after a kill.
type Quick = quick

// Faults are the possible faults at a step of an append; an interrupted write stops after part bytes.
func Faults(part int) map[string]faultfs.Fault {
	return map[string]faultfs.Fault{
		"killed before": {Crash: true}, "killed after": {Crash: true, After: true}, "killed half way": {Crash: true, Part: part},
		"disk full": {Err: syscall.ENOSPC, Part: part}, "i/o error": {Err: syscall.EIO}, "i/o error late": {Err: syscall.EIO, After: true},
	}
}

// AtStep is a disk on which the fault happens at step n.
func AtStep(n int, fault faultfs.Fault) *faultfs.Layer {
	fs := faultfs.New(func(i int, step string) *faultfs.Fault {
		if i != n {
			return nil
		}
		f := fault
		if step == "write head.json" {
			f.Part = 0 // one sector overwritten in place is written completely or not at all
		}
		return &f
	})
	fs.FS = quick{}
	return fs
}

// Process is the process that a record names; Pretend makes a log name another.
type Process struct {
	PID        int
	Boot, Host string // empty: this process's
}

func Pretend(l *Log, p Process) {
	l.base.PID = p.PID
	if p.Boot != "" {
		l.base.Boot = p.Boot
	}
	if p.Host != "" {
		l.base.Host = p.Host
	}
}

// HashSubject is the stored form of a data subject's id.
func (l *Log) HashSubject(id string) (string, error) {
	k, err := l.readKey()
	return k.subject(id), err
}

// Nobody is a matcher that finds no name in any text.
func Nobody(string) bool { return false }
