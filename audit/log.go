package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"memdesk/audit/checkpoint"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/internal/statedir"
)

// ErrNotWritable is wrapped by every refusal to append: nothing may be changed.
var ErrNotWritable = errors.New("audit log cannot be written")

// ErrTampered is wrapped by an alarm: the files differ from those that were written. It comes with
// ErrNotWritable until somebody acknowledges it.
var ErrTampered = errors.New("audit log is not as it was left")

// defaultSegmentBytes is the segment size without Options.SegmentBytes.
const defaultSegmentBytes = 32 << 20

// Options say where the log is and which program writes it.
type Options struct {
	Dir     string // <state>/audit; made with the first record
	Clock   clock.Clock
	Tool    string // version and configuration hash of the program
	Actor   Actor
	Role    string
	Session string
	// SegmentBytes is the size at which the next intent or note starts a new
	// segment; 0 means 32 MiB.
	SegmentBytes int64
	// FS is the file layer; nil means the machine's files.
	FS atomicfile.FS
	// Traces describes traces that only changes with a log leave; empty for none. It is called when there is
	// no log; may be nil.
	Traces func() string
	// Permit is called before each intent and note; its error says why nothing may be written. May be nil.
	Permit func() error
	// Marks are the statements outside the log about its length; may be nil.
	Marks func() []Mark
	// Names reports whether texts name an erased person. A record about one is kept without its clear name,
	// reason and origin; also on an error, since the erasure was before the record. Nil: nobody is erased.
	Names func(texts ...string) (bool, error)
	// Anchors keep the log's checkpoints elsewhere.
	Anchors []Anchor
	// CheckpointEvery is the number of records, and AnchorEvery the time, after which a process signs the
	// head and gives it to the anchors, besides in Close; 0 means only in Close.
	CheckpointEvery uint64
	AnchorEvery     time.Duration
	// KeyAgent is the fingerprint of an Ed25519 key in the SSH agent at AgentSocket; KeyCommand is a command
	// that prints the log's key. Without either the key is a file of mode 0600 beside the log.
	KeyAgent, AgentSocket, KeyCommand string
	// Beside is another Log of the same directory: concurrent appends of both are written together, with one
	// flush. May be nil.
	Beside *Log
}

// Log is the audit log in one directory, shared with other processes. It
// holds no file open between calls and is safe for concurrent use.
type Log struct {
	fs     atomicfile.FS
	clock  clock.Clock
	dir    string
	limit  int64
	start  time.Time
	traces func() string
	marks  func() []Mark
	permit func() error
	erased func(texts ...string) (bool, error)
	base   Record // fields with the same value in every record

	anchors []Anchor
	source  keySource
	every   uint64
	wait    time.Duration
	behind  background

	group *group // waiting appends of every Log that shares it

	mu      sync.Mutex
	seen    head      // the newest known head, against a rollback of both files
	last    time.Time // time of the newest record that this Log wrote
	alarm   string    // what Verify found; cleared by Acknowledge
	checked time.Time // time of the last check of the whole chain that found it sound
	broken  verdict   // of the last check, where it did not
	whole   []known   // intact sealed segments of that check, to be saved
	marked  bool      // the mark of the beginning exists
	swept   bool

	signedSeq atomic.Uint64 // newest record under a checkpoint, as far as this Log knows
	wrote     atomic.Bool   // this Log has appended
	intents   openIntents
}

// Open names a log; it reads and creates nothing. Writable and each append report what prevents writing.
func Open(o Options) (*Log, error) {
	if o.Dir == "" {
		return nil, errors.New("open audit log: no directory")
	}
	o.Clock = clock.Or(o.Clock)
	if o.FS == nil {
		o.FS = atomicfile.OS{}
	}
	if o.Permit == nil {
		o.Permit = func() error { return nil }
	}
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = defaultSegmentBytes
	}
	for _, a := range o.Anchors {
		if a.Kind == "witness" {
			if v, err := checkpoint.Verifier(a.Key); err != nil || !checkpoint.IsWitness(v) {
				return nil, fmt.Errorf("open audit log: anchor %s: its key is not that of a witness: give the line that the witness prints when it starts", a.Name())
			}
		}
	}
	g := &group{}
	if o.Beside != nil {
		if o.Beside.dir != filepath.Clean(o.Dir) {
			return nil, errors.New("open audit log: the log beside it is in another directory")
		}
		g = o.Beside.group
	}
	return &Log{
		group: g,
		fs:    o.FS, clock: o.Clock, dir: filepath.Clean(o.Dir), limit: o.SegmentBytes, start: o.Clock.Now(), traces: o.Traces, marks: o.Marks, permit: o.Permit, erased: o.Names,
		anchors: o.Anchors, source: keySource{o.KeyAgent, o.AgentSocket, o.KeyCommand}, every: o.CheckpointEvery, wait: o.AnchorEvery,
		base: Record{
			V: version, Boot: token(bootID()), Host: token(processSpace()), PID: os.Getpid(), Tool: token(o.Tool), Actor: stored(o.Actor.ID),
			ActorKey: stored(o.Actor.Key), Role: token(o.Role), Session: token(o.Session),
		},
	}, nil
}

// Writable says why the next append would be refused; nil when nothing prevents it. It changes nothing and is
// cheap enough to call before each act; only the append itself is the proof.
func (l *Log) Writable() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), lookWait) // bounds the check, not this process's own appends
	defer cancel()
	err := l.writable(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return refuse(fmt.Errorf("a look at it took longer than %v: another process writes to it, or its disk is slow; try again", lookWait))
	case err != nil:
		return refuse(err)
	}
	return nil
}

// lookWait bounds Writable's check of other processes' appends.
const lookWait = 5 * time.Second

func (l *Log) writable(ctx context.Context) error {
	if err := l.permit(); err != nil {
		return err
	}
	info, err := l.fs.Lstat(l.dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if why := l.trace(); why != "" {
			return errGone(why)
		}
		return l.creatable()
	}
	if err != nil {
		return fmt.Errorf("look at the audit directory: %w", bare(err))
	}
	if err := private(info); err != nil {
		return err
	}
	if empty, err := l.isEmpty(); err != nil || empty {
		if why := l.trace(); empty && why != "" {
			return errGone(why)
		}
		return errors.Join(err, mayWrite(filepath.Dir(l.dir)))
	}
	if err := l.foreign(); err != nil {
		return err
	}
	if err := l.sound(ctx); err != nil {
		return err
	}
	unlock, err := l.lock(ctx, false)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := l.inspect(); err != nil {
		return err
	}
	if _, err := l.readKey(); err != nil && !errors.Is(err, ErrNoKey) {
		return err
	}
	for _, name := range []string{"", headFile, l.seen.Segment} {
		if err := mayWrite(l.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// creatable checks the nearest existing parent directory.
func (l *Log) creatable() error {
	for dir := filepath.Dir(l.dir); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if dir != filepath.Dir(dir) && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at the state directory: %w", bare(err))
		}
		if !info.IsDir() {
			return errors.New("a file stands where the state directory should be: move it away")
		}
		return mayWrite(dir)
	}
}

// refuse wraps err as a refusal.
func refuse(err error) error {
	if errors.Is(err, ErrNotWritable) {
		return err
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) { // a full disk, or one that takes no writes
		err = statedir.Cause(err)
	}
	return fmt.Errorf("%w: %w", ErrNotWritable, err)
}

// located says where a full disk is.
func located(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return statedir.Cause(err)
	}
	return err
}

// wrap names the operation in an error that it returns.
func wrap(err *error, operation string) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", operation, *err)
	}
}

// tampered is an alarm in words.
func tampered(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrTampered}, args...)...)
}

// private refuses a log directory that others may enter, or that is a link.
func private(info fs.FileInfo) error {
	if !info.IsDir() {
		return errors.New("a file stands where the audit directory should be: move it away")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return errors.New("audit directory is open to others: set its mode to 0700")
	}
	return nil
}

// bare drops the absolute path that the standard library puts into its errors.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s %s: %w", pe.Op, filepath.Base(pe.Path), pe.Err)
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return fmt.Errorf("%s %s: %w", le.Op, filepath.Base(le.New), le.Err)
	}
	return err
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }

// writeJSON replaces a file of the log's own state.
func (l *Log) writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = atomicfile.WriteFS(l.fs, path, append(b, '\n'), atomicfile.Options{})
	}
	return bare(err)
}

// readSecret reads a private file; what names it in a refusal.
func (l *Log) readSecret(path, what string) ([]byte, error) {
	info, err := l.fs.Lstat(path)
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return nil, errors.New(what + " must be a regular file of mode 0600")
	}
	return readFile(l.fs, path, 4096)
}

func (l *Log) isEmpty() (bool, error) {
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return false, fmt.Errorf("look at the audit directory: %w", bare(err))
	}
	return len(entries) == 0, nil
}
