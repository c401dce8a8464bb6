// Package faultfs is a file layer for tests that fails or stops a chosen step and records every changing
// step. It is not for production.
package faultfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"memdesk/internal/atomicfile"
)

// ErrCrashed is the error of every step after the simulated crash.
var ErrCrashed = errors.New("process is dead")

// Fault is the failure to inject at one step.
type Fault struct {
	// Err is returned instead of doing the step; nil with Crash means the death is
	// the fault.
	Err error
	// Part is the number of bytes of a write that reach the file before the fault.
	Part int
	// Silent makes the cut write report no error, only its length.
	Silent bool
	// Crash makes this and every later step do nothing, as after kill -9: earlier steps stay done.
	Crash bool
	// After lets the step happen and then applies the fault.
	After bool
}

// Layer wraps a file layer. Only steps that change something are counted: create,
// write, sync, truncate, chmod, chown, allocate, mkdir, rename, remove, syncdir.
type Layer struct {
	atomicfile.FS
	// At chooses a fault for step n (from 0) described as "verb base-name"; nil means
	// go on. It is called under the layer's lock.
	At func(n int, step string) *Fault

	mu    sync.Mutex
	steps []string
	dead  bool
}

// New wraps the machine's files.
func New(at func(n int, step string) *Fault) *Layer {
	return &Layer{FS: atomicfile.OS{}, At: at}
}

// CrashAt is a plan that kills the process just before step n.
func CrashAt(n int) func(int, string) *Fault {
	return func(i int, _ string) *Fault {
		if i == n {
			return &Fault{Crash: true}
		}
		return nil
	}
}

// Steps are the steps so far, in order.
func (l *Layer) Steps() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.steps...)
}

// Dead reports whether a crash has happened.
func (l *Layer) Dead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// step runs do under the plan. write, when not nil, does the first n bytes.
func (l *Layer) step(verb, name string, do func() error, write func(n int) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return ErrCrashed
	}
	desc := verb + " " + filepath.Base(name)
	n := len(l.steps)
	l.steps = append(l.steps, desc)
	var f *Fault
	if l.At != nil {
		f = l.At(n, desc)
	}
	if f == nil {
		return do()
	}
	if f.After {
		if err := do(); err != nil {
			return err
		}
	} else if write != nil && f.Part > 0 {
		if err := write(f.Part); err != nil {
			return err
		}
	}
	l.dead = l.dead || f.Crash
	if f.Silent {
		return nil
	}
	if f.Err != nil {
		return fmt.Errorf("%s: %w", desc, f.Err)
	}
	return ErrCrashed
}

func (l *Layer) alive() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return ErrCrashed
	}
	return nil
}

// OpenFile counts as a step when it may create or truncate.
func (l *Layer) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	var f atomicfile.File
	do := func() (err error) { f, err = l.FS.OpenFile(name, flag, perm); return err }
	var err error
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		err = l.step("create", name, do, nil)
	} else if err = l.alive(); err == nil {
		err = do()
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, err
	}
	return &file{File: f, layer: l, name: name}, nil
}

// Mkdir is a step.
func (l *Layer) Mkdir(name string, perm fs.FileMode) error {
	return l.step("mkdir", name, func() error { return l.FS.Mkdir(name, perm) }, nil)
}

// Rename is a step, named after the new name.
func (l *Layer) Rename(oldname, newname string) error {
	return l.step("rename", newname, func() error { return l.FS.Rename(oldname, newname) }, nil)
}

// Remove is a step.
func (l *Layer) Remove(name string) error {
	return l.step("remove", name, func() error { return l.FS.Remove(name) }, nil)
}

// SyncDir is a step.
func (l *Layer) SyncDir(name string) error {
	return l.step("syncdir", name, func() error { return l.FS.SyncDir(name) }, nil)
}

type file struct {
	atomicfile.File
	layer *Layer
	name  string
}

func (f *file) Write(p []byte) (n int, err error) {
	err = f.layer.step("write", f.name,
		func() (e error) { n, e = f.File.Write(p); return e },
		func(k int) (e error) { n, e = f.File.Write(p[:min(k, len(p))]); return e })
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.layer.step("write", f.name,
		func() (e error) { n, e = f.File.WriteAt(p, off); return e },
		func(k int) (e error) { n, e = f.File.WriteAt(p[:min(k, len(p))], off); return e })
	return n, err
}

func (f *file) Sync() error { return f.layer.step("sync", f.name, f.File.Sync, nil) }

func (f *file) Truncate(size int64) error {
	return f.layer.step("truncate", f.name, func() error { return f.File.Truncate(size) }, nil)
}

func (f *file) Chmod(m fs.FileMode) error {
	return f.layer.step("chmod", f.name, func() error { return f.File.Chmod(m) }, nil)
}

func (f *file) Chown(uid, gid int) error {
	return f.layer.step("chown", f.name, func() error { return f.File.Chown(uid, gid) }, nil)
}

func (f *file) Allocate(off, n int64) error {
	return f.layer.step("allocate", f.name, func() error { return f.File.Allocate(off, n) }, nil)
}
