// Package beads opens a .beads directory: its JSONL, which Foolery keeps and bd exports, or the bd command. A
// write to the JSONL changes only the bytes of the edited fields; every other line, readable or not, stays
// unchanged.
package beads

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/tracker"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/model"
)

// The files of a .beads directory.
const (
	issuesName       = "issues.jsonl"
	depsName         = "deps.jsonl"
	interactionsName = "interactions.jsonl"
)

// Config configures Open.
type Config struct {
	Name     string
	Path     string // a repository, its .beads directory, or the issues.jsonl in it
	Port     string // jsonl (or empty), cli, auto
	Command  string // the bd command; empty: bd
	ReadOnly bool
	// ReadOnlyReason says why; empty means a default.
	ReadOnlyReason string
	Clock          clock.Clock   // nil: the system's
	FS             atomicfile.FS // nil: the machine's files

	Workspace, AgentID, CrewID string
}

// Store is a .beads directory as a backend.
type Store struct {
	dir   string
	fs    atomicfile.FS
	clock clock.Clock

	// export says that the JSONL is bd's export, which only bd writes.
	export bool

	// prefix is the prefix of bd's ids here; empty: new ids are Foolery's.
	prefix string

	// turn holds one token: writers of this process wait for it, not for the directory's lock, which they
	// would have to poll.
	turn chan struct{}

	mu     sync.Mutex
	cached *snapshot
	stamps [2]stamp
}

// stamp detects a change of a file without reading it.
type stamp struct {
	exists  bool
	odd     bool // it is no regular file, and is not read
	size    int64
	mod     time.Time
	changed time.Time
	inode   uint64
}

// NewStore makes the backend over an existing directory.
func NewStore(dir string, c Config) *Store {
	s := &Store{dir: dir, fs: c.FS, clock: clock.Or(c.Clock), turn: make(chan struct{}, 1)}
	if s.fs == nil {
		s.fs = atomicfile.OS{}
	}
	return s
}

// Close releases nothing: every file is closed after reading.
func (s *Store) Close() error { return nil }

// View reads the files again when one of them has changed.
func (s *Store) View(ctx context.Context) (tracker.View, error) { return s.view(ctx) }

func (s *Store) view(ctx context.Context) (*snapshot, error) {
	if err := model.FromContext(ctx, "read"); err != nil {
		return nil, err
	}
	now, err := s.stat()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cached != nil && now == s.stamps {
		return s.cached, nil
	}
	snap, at, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	s.cached, s.stamps = snap, at
	return snap, nil
}

// loadAttempts is how often files that change during a read are read again.
const loadAttempts = 5

// load reads both files, again when one of them changed meanwhile.
func (s *Store) load(ctx context.Context) (*snapshot, [2]stamp, error) {
	var err error
	for range loadAttempts {
		if err = model.FromContext(ctx, "read"); err != nil {
			return nil, [2]stamp{}, err
		}
		var before, after [2]stamp
		var issues, deps []byte
		if before, err = s.stat(); err != nil {
			return nil, before, err
		}
		if issues, err = s.read(issuesName); err != nil {
			return nil, before, err
		}
		if !before[1].odd {
			if deps, err = s.read(depsName); err != nil {
				return nil, before, err
			}
		}
		if after, err = s.stat(); err != nil {
			return nil, before, err
		}
		if before == after {
			snap := parse(issues, deps)
			snap.odd = after[1].odd
			return snap, after, nil
		}
	}
	return nil, [2]stamp{}, model.Errorf(model.Locked, "read", "the files are being rewritten: try again")
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

func (s *Store) stat() ([2]stamp, error) {
	var out [2]stamp
	for i, name := range []string{issuesName, depsName} {
		info, err := s.fs.Lstat(s.path(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if d, derr := s.fs.Lstat(s.dir); derr != nil || !d.IsDir() {
				return out, model.Errorf(model.Unavailable, "read", "the directory .beads is gone, or is none")
			}
			continue
		case err != nil:
			return out, fileError("read", name, err)
		case !info.Mode().IsRegular() && name == issuesName:
			return out, model.Errorf(model.Unavailable, "read", "%s is not a regular file", name)
		}
		out[i] = stampOf(info)
		out[i].odd = !info.Mode().IsRegular()
	}
	return out, nil
}

// read returns a whole file; an absent one is empty.
func (s *Store) read(name string) ([]byte, error) {
	f, info, err := s.open("read", name, 0)
	if err != nil || f == nil {
		return nil, err
	}
	defer f.Close() // opened for reading: closing loses nothing
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := io.Copy(buf, f); err != nil {
		return nil, fileError("read", name, err)
	}
	return buf.Bytes(), nil
}

// open opens a file for reading; nil where it is absent.
func (s *Store) open(op, name string, more int) (atomicfile.File, fs.FileInfo, error) {
	f, err := s.fs.OpenFile(s.path(name), os.O_RDONLY|more, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fileError(op, name, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close() // opened for reading: closing loses nothing
		return nil, nil, fileError(op, name, err)
	}
	return f, info, nil
}

// fileError names the file and never its directory (R15).
func fileError(op, name string, err error) error {
	kind := model.Unavailable // a full disk too: it may have space again
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		kind = model.PermissionDenied
	}
	return model.Errorf(kind, op, "%s: %w", name, atomicfile.Pathless(err))
}

// Ping checks that directory and file can be read. An undecided merge is Conflict: nothing can be
// written to the store.
func (s *Store) Ping(ctx context.Context) error {
	at, err := s.stat()
	if err != nil {
		return err
	}
	s.mu.Lock()
	snap, current := s.cached, s.stamps == at
	s.mu.Unlock()
	if snap == nil || !current {
		if at[0].size > pingBytes {
			f, err := s.fs.OpenFile(s.path(issuesName), os.O_RDONLY, 0)
			if err != nil {
				return fileError("health", issuesName, err)
			}
			return f.Close()
		}
		if snap, err = s.view(ctx); err != nil {
			return err
		}
	}
	if words := snap.mergeWords(); words != "" {
		return model.Errorf(model.Conflict, "health", "%s", words)
	}
	return nil
}

// Unread implements tracker.Skipper.
func (s *Store) Unread() []string {
	at, err := s.stat()
	s.mu.Lock()
	snap, current := s.cached, err == nil && s.stamps == at
	s.mu.Unlock()
	if snap == nil || !current { // of the files as they are now nobody knows
		return nil
	}
	return snap.Problems(true)
}

// pingBytes is the largest file that a health check reads.
const pingBytes = 4 << 20

// mergeWords names the lines with merge markers; empty where there are none.
func (s *snapshot) mergeWords() string {
	return cmp.Or(markWords(issuesName, s.marks), markWords(depsName, s.depMarks))
}

func markWords(file string, marks []mark) string {
	var lines []string
	for _, m := range marks {
		lines = append(lines, strconv.Itoa(m.number))
	}
	switch n := len(lines); {
	case n == 0:
		return ""
	case n > 6:
		lines = append(lines[:6], "…")
	}
	return "git merge markers stand in " + file + " on lines " + strings.Join(lines, ", ") + ": decide the merge and commit it, then write again"
}

// oddWords says that deps.jsonl is there and not read; empty where it is.
func (s *snapshot) oddWords() string {
	if !s.odd {
		return ""
	}
	return depsName + " is not a regular file, so its pairs are not read: move it away, then write again"
}

// Put writes one entry.
func (s *Store) Put(ctx context.Context, id string, change func(tracker.Record, bool) (tracker.Record, error)) (tracker.Record, error) {
	var got tracker.Record
	err := s.rewrite(ctx, "retain", func(snap *snapshot) (issues, deps []byte, err error) {
		i := snap.Find(id)
		var have tracker.Record
		if i >= 0 {
			have = snap.Record(i)
		}
		want, err := change(have, i >= 0)
		place := -1
		if err == nil && i < 0 {
			issues, deps, place, err = snap.putBack(want, s.now())
		}
		if err == nil && place < 0 && want.Kind == tracker.Issue {
			want, err = moved(have, want)
		}
		if err != nil {
			return nil, nil, err
		}
		if i >= 0 && want.Revision() == have.Revision() {
			got = have
			return snap.issues, snap.deps, nil
		}
		if place < 0 {
			if issues, deps, err = s.with(snap, i, have, want); err != nil {
				return nil, nil, err
			}
		}
		after := parse(issues, deps)
		at := after.Find(id)
		if place >= 0 && at != place {
			return nil, nil, model.Errorf(model.Conflict, "retain", "the line would come back under another handle than %q: other lines of its id have gone or come; nothing was written", id)
		}
		if at < 0 {
			return nil, nil, model.Errorf(model.Internal, "retain", "the line that was made for %q does not read back; nothing was written", id)
		}
		got = after.Record(at)
		if place < 0 && want.Back != nil && len(want.Back.Lines) > 0 {
			got.Back = want.Back
		}
		return issues, deps, nil
	})
	return got, err
}

func (s *Store) now() string { return s.clock.Now().UTC().Format(time.RFC3339Nano) }

// with returns both files after one entry was written.
func (s *Store) with(snap *snapshot, i int, have, want tracker.Record) (issues, deps []byte, err error) {
	now := s.now()
	fresh, gone, err := tracker.Difference(have.Field(tracker.FieldDepends), want.Field(tracker.FieldDepends))
	if err != nil {
		return nil, nil, err
	}
	raw := want.ID
	if i >= 0 {
		raw = snap.entries[i].raw
	}
	for _, blocker := range fresh {
		if n := snap.Find(blocker); blocker == raw || n < 0 || snap.entries[n].kind != tracker.Issue {
			return nil, nil, model.Errorf(model.NotFound, "retain", "depends names %q, which is no other work item of this store", blocker)
		}
	}
	var line []byte
	if i >= 0 {
		line, err = edit(snap.line(i), have, want, now)
	} else {
		line, err = compose(want, snap.typed(), now)
	}
	if err != nil {
		return nil, nil, err
	}
	deps = snap.deps
	if len(gone)+len(fresh) > 0 {
		if line, deps, err = snap.relate(line, raw, gone, fresh, now); err != nil {
			return nil, nil, err
		}
	}
	if len(line) > maxLine {
		return nil, nil, model.Errorf(model.InvalidInput, "retain", "the line would have %d bytes; a reader of the format takes %d", len(line), maxLine)
	}
	if i < 0 {
		return snap.append(line), deps, nil
	}
	e := snap.entries[i]
	return slices.Concat(snap.issues[:e.start], line, snap.issues[e.end:]), deps, nil
}

// twins counts the lines of an entry's id.
func (s *snapshot) twins(e entry) (n int) {
	for _, other := range s.entries {
		if other.kind == e.kind && other.raw == e.raw {
			n++
		}
	}
	return n
}

// Heirs are the later lines of an entry's id, or with its text where they are no entries.
func (s *snapshot) Heirs(i int) (out []string) {
	for _, e := range s.entries[i+1:] {
		if e.kind == s.entries[i].kind && e.raw == s.entries[i].raw {
			out = append(out, e.id)
		}
	}
	return out
}

// typed reports whether the newest work item of the file has _type.
func (s *snapshot) typed() bool {
	for i := len(s.entries) - 1; i >= 0; i-- {
		if s.entries[i].kind == tracker.Issue {
			o, err := jsonedit.Parse(s.line(i))
			return err == nil && o.Find("_type") >= 0
		}
	}
	return false
}

// bds reports whether an item has a key that bd writes and Foolery drops: older lines of bd have no _type.
func (s *snapshot) bds() bool {
	for i, e := range s.entries {
		if !e.depends.None() {
			return true
		}
		if bytes.Contains(s.issues[e.start:e.end], []byte(`"created_by"`)) {
			if o, err := jsonedit.Parse(s.line(i)); err == nil && o.Find("created_by") >= 0 {
				return true
			}
		}
	}
	return false
}

// append adds a line with the file's own line end.
func (s *snapshot) append(line []byte) []byte { return appendLine(s.issues, line) }

// lineEnd is the line end that a file has.
func lineEnd(data []byte) string {
	if first := bytes.IndexByte(data, '\n'); first > 0 && data[first-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func appendLine(data, line []byte) []byte {
	end := lineEnd(data)
	if n := len(data); n > 0 && data[n-1] != '\n' && !bytes.Equal(data, bom) {
		return slices.Concat(data, []byte(end), line, []byte(end))
	}
	return slices.Concat(data, line, []byte(end))
}

// relate changes pairs in their own place: in the line when that lists dependencies, and in deps.jsonl, which it
// makes where the items are not bd's: Foolery reads no other, and drops what stands in the line.
func (s *snapshot) relate(line []byte, id string, gone, fresh []string, now string) (newLine, deps []byte, err error) {
	o, err := jsonedit.Parse(line)
	if err != nil {
		return nil, nil, err
	}
	outside := s.deps != nil || !s.typed() && !s.bds()
	inside := fresh
	if outside && o.Find("dependencies") < 0 {
		inside = nil
	}
	relate(o, id, gone, inside, now)
	deps = s.deps
	if len(gone) > 0 {
		deps = s.withoutPairs(func(p pair) bool { return p.blocked == id && slices.Contains(gone, p.blocker) })
	}
	if outside {
		for _, blocker := range fresh {
			deps = appendLine(deps, slices.Concat([]byte(`{"blockerId":`), jsonedit.Quote(blocker), []byte(`,"blockedId":`), jsonedit.Quote(id), []byte("}")))
		}
	}
	return o.Line, deps, nil
}

// withoutPairs removes lines from deps.jsonl.
func (s *snapshot) withoutPairs(drop func(pair) bool) []byte {
	if s.deps == nil {
		return nil
	}
	out := make([]byte, 0, len(s.deps))
	at := 0
	for _, p := range s.pairs {
		if drop(p) {
			out = append(out, s.deps[at:p.start]...)
			at = p.next
		}
	}
	return append(out, s.deps[at:]...)
}

// Remove removes one entry and then the pairs that name it. After a crash between the two, repeating it
// removes the remaining pairs.
func (s *Store) Remove(ctx context.Context, id string, check func(tracker.Record) error) (bool, error) {
	removed := false
	err := s.rewrite(ctx, "forget", func(snap *snapshot) (issues, deps []byte, err error) {
		i := snap.Find(id)
		raw := id
		issues = snap.issues
		removed = i >= 0
		if i >= 0 {
			if err := check(snap.Record(i)); err != nil {
				return nil, nil, err
			}
			e := snap.entries[i]
			raw = e.raw
			issues = slices.Concat(snap.issues[:e.start], snap.issues[e.next:])
			if e.kind != tracker.Issue || snap.twins(e) > 1 { // another line has the id and keeps its pairs
				return issues, snap.deps, nil
			}
		}
		return issues, snap.withoutPairs(func(p pair) bool { return p.blocked == raw || p.blocker == raw }), nil
	})
	return removed && err == nil, err
}
