// Package command runs a tracker's own program: bounded in time and output, ended with its whole process
// group, its answer accepted only as JSON.
package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"memdesk/backends/tracker"
	"memdesk/model"
)

// The bounds of one call (beads-foolery-knots.md, Knots).
const (
	Patience  = 20 * time.Second
	OutputCap = 10 << 20
	// errorCap bounds how much of the program's error output is kept.
	errorCap = 4 << 10
)

// Program is one program in one repository.
type Program struct {
	Name    string   // a path, or what PATH finds
	Install string   // what to do when it is missing
	Dir     string   // working directory
	Fixed   []string // arguments before those of each call
	Timeout time.Duration
	Limit   int // most bytes of one answer; 0: OutputCap
	// Pause waits between attempts; nil sleeps. Only calls that change nothing are retried.
	Pause func(ctx context.Context, d time.Duration) error

	turn chan struct{} // one write of this process at a time
}

// New makes a program ready to run. It does not look for it.
func New(p Program) *Program {
	p.Timeout, p.Limit = cmp.Or(p.Timeout, Patience), cmp.Or(p.Limit, OutputCap)
	if p.Pause == nil {
		p.Pause = pause
	}
	p.turn = make(chan struct{}, 1)
	return &p
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Find returns the absolute path, which is the same program in every directory. It is Unavailable, with what to install,
// when the program is missing.
func (p *Program) Find() (string, error) {
	path, err := exec.LookPath(p.Name)
	if err != nil {
		return "", model.E(model.Unavailable, "open", &model.Untouched{Err: fmt.Errorf("the command %q is not there: %s", base(p.Name), p.Install)})
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", model.E(model.Unavailable, "open", &model.Untouched{Err: err})
	}
	return path, nil
}

// Ping is Find for a health check: to run the program would take longer than that may.
func (p *Program) Ping(ctx context.Context) error {
	if err := model.FromContext(ctx, "health"); err != nil {
		return err
	}
	_, err := p.Find()
	return err
}

func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// delays are the pauses before the second, third and fourth attempt.
var delays = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}

// Read runs a call that changes nothing and decodes its answer into v; it retries failures that may pass.
func (p *Program) Read(ctx context.Context, op string, v any, args ...string) error {
	out, err := p.Output(ctx, op, args...)
	if err != nil {
		return err
	}
	return p.decode(op, out, v)
}

// Output is Read for an answer that is not one JSON value, such as JSON lines.
func (p *Program) Output(ctx context.Context, op string, args ...string) ([]byte, error) {
	for try := 0; ; try++ {
		out, err := p.once(ctx, op, args)
		var e *model.Error
		if err == nil || try == len(delays) || !errors.As(err, &e) || e.Kind != model.Locked || ctx.Err() != nil {
			return out, err
		}
		if p.Pause(ctx, delays[try]) != nil {
			return nil, err
		}
	}
}

func (p *Program) decode(op string, out []byte, v any) error {
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(out, v); err != nil {
		return model.Errorf(model.Internal, op, "%s answered something that is not the JSON that its --json promises", base(p.Name))
	}
	return nil
}

// Alone waits for the turn to write.
func (p *Program) Alone(ctx context.Context, op string) (func(), error) {
	select {
	case p.turn <- struct{}{}:
		return func() { <-p.turn }, nil
	case <-ctx.Done():
		return nil, model.FromContext(ctx, op)
	}
}

// Change runs a call that changes something, once: a failed call may have succeeded. The caller has the turn; v may be
// nil.
func (p *Program) Change(ctx context.Context, op string, v any, args ...string) error {
	out, err := p.once(ctx, op, args)
	if err != nil {
		return err
	}
	return p.decode(op, out, v)
}

// once runs the program and returns its standard output.
func (p *Program) once(ctx context.Context, op string, args []string) ([]byte, error) {
	if err := model.FromContext(ctx, op); err != nil {
		return nil, err
	}
	path, err := p.Find()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, slices.Concat(p.Fixed, args)...)
	cmd.Dir = p.Dir
	cmd.Env = os.Environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out := &capped{limit: p.Limit, full: cancel}
	complaint := &capped{limit: errorCap, quiet: true}
	cmd.Stdout, cmd.Stderr = out, complaint
	err = cmd.Run()
	switch {
	case out.over:
		return nil, model.Errorf(model.Internal, op, "%s wrote more than %d bytes and was stopped", base(p.Name), p.Limit)
	case ctx.Err() != nil:
		return nil, model.Errorf(model.Timeout, op, "%s did not answer in time and was stopped; whether it changed something is unknown", base(p.Name))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, model.E(model.Unavailable, op, &model.Untouched{Err: fmt.Errorf("the command %q cannot be run: %s", base(p.Name), p.Install)})
	case errors.Is(err, syscall.E2BIG): // Linux: 128 KiB for one argument
		return nil, model.Errorf(model.Unsupported, op, "%s takes texts as arguments, and the system passes none of this length to a program: shorten the text", base(p.Name))
	case err != nil:
		return nil, p.failure(op, err, complaint.buf.String(), out.buf.String())
	}
	return out.buf.Bytes(), nil
}

// failure turns an exit into an error with the program's own sentence.
func (p *Program) failure(op string, err error, complaint, answer string) error {
	said := sentence(answer, complaint)
	kind := tracker.Refusal(said)
	if said != "" {
		return model.Errorf(kind, op, "%s: %s", base(p.Name), said)
	}
	status := "ended with an error"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.String()
	}
	return model.Errorf(kind, op, "%s %s and says nothing", base(p.Name), status)
}

// capped keeps the first bytes of a stream. A full one ends the program; a quiet one only drops the rest.
type capped struct {
	buf   bytes.Buffer
	limit int
	quiet bool
	over  bool
	full  func()
}

func (c *capped) Write(b []byte) (int, error) {
	if room := c.limit - c.buf.Len(); len(b) > room {
		c.buf.Write(b[:max(room, 0)])
		if !c.quiet {
			c.over = true
			c.full()
		}
		return len(b), nil
	}
	return c.buf.Write(b)
}
