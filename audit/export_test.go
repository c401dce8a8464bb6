package audit

import (
	"syscall"

	"memdesk/internal/atomicfile/faultfs"
)

// What tests of the check need to know.
var ChangeTime = changeTime

const Settled = settled

// Quick is the machine's files without flushes: what a killed process leaves is the same.
type Quick = quick

// Faults are what may happen at a step of an append; what is written half way ends after so many bytes.
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
			f.Part = 0 // one sector, overwritten in place, is written or not
		}
		return &f
	})
	fs.FS = quick{}
	return fs
}

// Process is where a record says that it was written; Pretend makes a log say so.
type Process struct {
	PID        int
	Boot, Host string // empty: this one
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
