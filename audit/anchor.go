package audit

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

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit/checkpoint"
	"memdesk/audit/witness"
	"memdesk/internal/atomicfile"
)

// Anchor is a place outside the log that keeps its checkpoints.
type Anchor struct {
	Kind    string // file, command or witness
	Path    string // of a file: checkpoints are appended, each followed by an empty line
	Command string // run by the shell with the checkpoint on its standard input
	URL     string // of a witness (c2sp.org/tlog-witness)
	Key     string // the witness's verifier key
}

// Name describes the anchor in words; its state is kept under this name.
func (a Anchor) Name() string {
	switch a.Kind {
	case "file":
		return "file " + a.Path
	case "command":
		return "command " + a.Command
	}
	return "witness " + a.URL
}

const (
	anchorsFile   = "anchors.json"
	maxAnchorFile = 64 << 20
	// newestClaims is how much of an anchor's file is read before each act, from its end.
	newestClaims = 16 << 10
	// anchorWait bounds one attempt.
	anchorWait = 10 * time.Second
	// A failed attempt is repeated after retryFirst, then twice as long each time, at most retryMost.
	retryFirst = 30 * time.Second
	retryMost  = 30 * time.Minute
)

// anchorState caches an anchor's last answer; it proves nothing.
type anchorState struct {
	Origin string    `json:"origin"`
	Size   int64     `json:"size"` // of the newest checkpoint that the anchor has
	At     time.Time `json:"at"`
	Tried  time.Time `json:"tried"`
	Fails  int       `json:"fails"`
	Error  string    `json:"error,omitempty"`
	// Alarm is a witness's reply that only a changed log explains.
	Alarm string `json:"alarm,omitempty"`
	// Cosignature is the witness's signature line over the checkpoint of Size.
	Cosignature string `json:"cosignature,omitempty"`
}

// due reports whether a failed anchor may be tried again.
func (s anchorState) due(now time.Time) bool {
	if s.Fails == 0 || now.Before(s.Tried) {
		return true
	}
	return now.Sub(s.Tried) >= retryAfter(s.Fails)
}

// retryAfter is how long nothing is tried after so many failures in a row.
func retryAfter(fails int) time.Duration { return min(retryFirst<<min(fails-1, 16), retryMost) }

// Anchored is the state of one anchor.
type Anchored struct {
	Anchor
	Seq   uint64    // newest record under the anchor's checkpoint; 0: none
	At    time.Time // when the anchor took it
	Error string    // of the newest attempt
	Alarm string
}

// Anchors returns the state of every anchor, and the number of the newest record.
func (l *Log) Anchors(ctx context.Context) (all []Anchored, newest uint64, err error) {
	if newest, _, err = l.Head(ctx); err != nil {
		return nil, 0, err
	}
	t, err := l.readTree()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, newest, err
	}
	known := l.readAnchors()
	for _, a := range l.anchors {
		s := known[a.Name()]
		one := Anchored{Anchor: a, At: s.At, Error: s.Error, Alarm: s.Alarm}
		if s.Size > 0 && s.Origin == t.Origin {
			one.Seq = t.seq(s.Size)
		}
		all = append(all, one)
	}
	return all, newest, nil
}

func (l *Log) readAnchors() map[string]anchorState {
	out := map[string]anchorState{}
	b, err := readFile(l.fs, l.inTree(anchorsFile), 1<<20)
	if err == nil {
		_ = json.Unmarshal(b, &out) // damaged: every anchor is tried again
	}
	return out
}

// saveAnchor saves the state of one anchor; another process may save another's meanwhile.
func (l *Log) saveAnchor(ctx context.Context, name string, s anchorState) error {
	unlock, err := l.lock(ctx, true)
	if err != nil {
		return err
	}
	defer unlock()
	all := l.readAnchors()
	all[name] = s
	return l.writeJSON(l.inTree(anchorsFile), all)
}

// Push gives the newest checkpoint to every anchor that lacks it. An anchor that failed lately is left out
// unless force is set. The errors say which anchors failed; the log is still valid, only less protected.
func (l *Log) Push(ctx context.Context, force bool) error {
	if len(l.anchors) == 0 {
		return nil
	}
	t, h, err := l.signedTree()
	if errors.Is(err, ErrNoCheckpoint) {
		return nil
	}
	if err != nil {
		return err
	}
	known := l.readAnchors()
	var failed []error
	for _, a := range l.anchors {
		s := known[a.Name()]
		if s.Origin != t.Origin {
			s = anchorState{Origin: t.Origin}
		}
		if s.Size == h.Size && s.Alarm == "" || !force && !s.due(l.clock.Now()) {
			continue
		}
		s, err := l.push(ctx, a, s, t, h)
		if errors.Is(err, errOvertaken) {
			continue // the other process notes the answer
		}
		if err != nil && errors.Is(ctx.Err(), context.Canceled) {
			return errors.Join(append(failed, ctx.Err())...) // the caller stopped it, which says nothing about the anchor
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", a.Name(), err))
		}
		if err := l.saveAnchor(ctx, a.Name(), s); err != nil {
			failed = append(failed, fmt.Errorf("remember %s: %w", a.Name(), err))
		}
	}
	return errors.Join(failed...)
}

// push gives one anchor the checkpoint and returns its new state.
func (l *Log) push(ctx context.Context, a Anchor, s anchorState, t treeState, h signedHead) (anchorState, error) {
	ctx, cancel := context.WithTimeout(ctx, anchorWait)
	defer cancel()
	s.Tried = l.clock.Now().UTC()
	var err error
	switch a.Kind {
	case "file":
		err = appendCheckpoint(a.Path, h.signed)
	case "command":
		err = runAnchor(ctx, a.Command, h.signed)
	case "witness":
		var line string
		if line, err = l.toWitness(ctx, a, s.Size, t, h); err == nil {
			s.Cosignature = line
		}
	}
	if err != nil {
		s.Fails, s.Error = s.Fails+1, words(err)
		if errors.Is(err, ErrTampered) {
			s.Alarm = words(err)
		}
		return s, err
	}
	s.Size, s.At, s.Fails, s.Error, s.Alarm = h.Size, s.Tried, 0, "", ""
	return s, nil
}

// appendCheckpoint adds a checkpoint to a file with one write. One that was cut short before it is ended first.
func appendCheckpoint(path string, signed []byte) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return bare(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	var before []byte
	if err == nil && info.Size() > 0 {
		tail := make([]byte, min(info.Size(), 4096)) // a line of a signature is shorter
		if _, err = f.ReadAt(tail, info.Size()-int64(len(tail))); !whole(tail) {
			before = []byte("\n\n\n")
		}
	}
	if err == nil {
		_, err = f.Write(slices.Concat(before, signed, []byte{'\n'}))
	}
	if err == nil {
		err = f.Sync()
	}
	return bare(errors.Join(err, f.Close()))
}

// whole reports whether a file of checkpoints ends with one: the line of a signature and an empty line.
func whole(tail []byte) bool {
	rest, ok := bytes.CutSuffix(tail, []byte("\n\n"))
	return ok && bytes.HasPrefix(rest[bytes.LastIndexByte(rest, '\n')+1:], []byte("— "))
}

// readTail reads the end of a file of checkpoints, beginning with a whole one.
func readTail(fsys atomicfile.FS, path string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", filepath.Base(path))
	}
	from := max(0, info.Size()-limit)
	b := make([]byte, info.Size()-from)
	if n, err := f.ReadAt(b, from); err != nil && n < len(b) {
		return nil, bare(err)
	}
	if from > 0 {
		// An entry ends with the line of a signature and an empty line.
		_, b, _ = bytes.Cut(b, []byte("\n\n"))
		if !bytes.HasPrefix(b, []byte("— ")) {
			return b, nil
		}
		_, b, _ = bytes.Cut(b, []byte("\n\n"))
	}
	return b, nil
}

// runAnchor runs a command with the checkpoint on its standard input.
func runAnchor(ctx context.Context, command string, signed []byte) error {
	c := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	c.Stdin, c.WaitDelay = bytes.NewReader(signed), time.Second
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return errors.New("it did not end in time")
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fmt.Errorf("it ended with code %d", exit.ExitCode())
		}
		return errors.New("it does not run")
	}
	return nil
}

// errOvertaken says that another process has shown the witness a newer checkpoint of this log meanwhile.
var errOvertaken = errors.New("another process has shown a newer checkpoint meanwhile")

// toWitness shows the checkpoint to a witness, with a proof that it continues the one that the witness has,
// and returns the witness's signature line.
func (l *Log) toWitness(ctx context.Context, a Anchor, old int64, t treeState, h signedHead) (string, error) {
	v, err := checkpoint.Verifier(a.Key)
	if err != nil {
		return "", err
	}
	for range 3 {
		proof, err := l.consistency(old, h)
		if err != nil {
			return "", err
		}
		answer, err := witness.Add(ctx, a.URL, witness.Submission{Old: old, Proof: proof, Checkpoint: h.signed, LogKey: t.vkey()})
		if err != nil {
			return "", err
		}
		switch {
		case answer.Inconsistent:
			return "", tampered("the witness has another log of this name: what it saw up to record %d is not what this log holds", t.seq(old))
		case answer.Conflict && answer.Size > h.Size:
			if _, now, err := l.signedTree(); err != nil || answer.Size <= now.Size {
				return "", cmp.Or(err, errOvertaken)
			}
			return "", tampered("the log was rolled back: the witness has seen record %d, the newest checkpoint is of record %d", t.seq(answer.Size), t.seq(h.Size))
		case answer.Conflict && answer.Size == h.Size && old == h.Size:
			return "", tampered("the log forked: the witness has seen another record %d", t.seq(h.Size))
		case answer.Conflict:
			old = answer.Size
			continue
		}
		return answer.Cosignature, cosigned(h.signed, answer.Cosignature, v)
	}
	return "", errors.New("the witness's size changes with every answer")
}

// cosigned checks a witness's signature line over a checkpoint.
func cosigned(signed []byte, line string, v note.Verifier) error {
	n, err := note.Open(append(bytes.Clone(signed), line...), note.VerifierList(v))
	if err != nil || len(n.Sigs) == 0 {
		return errors.New("the witness's signature does not verify with the key that is configured for it")
	}
	return nil
}

// consistency proves that the checkpoint h continues the tree with old leaves.
func (l *Log) consistency(old int64, h signedHead) (tlog.TreeProof, error) {
	if old == 0 || old >= h.Size {
		return nil, nil
	}
	p, err := tlog.ProveTree(h.Size, old, l.hashes(h.tree()))
	if err != nil {
		return nil, fmt.Errorf("prove that the tree grew: %w", err)
	}
	return p, nil
}

// Cosigned is a signed checkpoint with the signature lines of the witnesses that have answered to it.
func (l *Log) Cosigned(signed []byte) []byte {
	return append(bytes.Clone(signed), strings.Join(l.cosignatures(signed), "")...)
}

// cosignatures are the signature lines of witnesses over a checkpoint.
func (l *Log) cosignatures(signed []byte) []string {
	known := l.readAnchors()
	var out []string
	for _, a := range l.anchors {
		s := known[a.Name()]
		v, err := checkpoint.Verifier(a.Key)
		if a.Kind == "witness" && err == nil && s.Cosignature != "" && cosigned(signed, s.Cosignature, v) == nil {
			out = append(out, s.Cosignature)
		}
	}
	return out
}

// alarms adds earlier replies of anchors that only a changed log explains.
func (l *Log) alarms(w *treeWalk) {
	known := l.readAnchors()
	for _, a := range l.anchors {
		if s := known[a.Name()]; s.Alarm != "" && s.Origin == w.state.Origin {
			w.add(a.Kind, a.Name()).fail(0, "%s", s.Alarm)
		}
	}
}

// words are an error without the prefix that all alarms share.
func words(err error) string {
	return strings.TrimPrefix(err.Error(), ErrTampered.Error()+": ")
}
