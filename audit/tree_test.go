package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit/checkpoint"
	"memdesk/audit/witness"
	"memdesk/internal/atomicfile"
	"memdesk/internal/atomicfile/faultfs"
	"memdesk/internal/clock"
	"memdesk/model"
)

// bench is a log with its anchors, for tests that also act as its owner.
type bench struct {
	t       *testing.T
	dir     string
	usb     string
	options Options
}

func newBench(t *testing.T, anchors ...Anchor) *bench {
	b := &bench{t: t, dir: filepath.Join(t.TempDir(), "audit"), usb: filepath.Join(t.TempDir(), "usb")}
	if anchors == nil {
		anchors = []Anchor{{Kind: "file", Path: b.usb}}
	}
	b.options = Options{Dir: b.dir, Tool: "t", SegmentBytes: 6000, Anchors: anchors, Clock: clock.System{}}
	return b
}

func (b *bench) open() *Log {
	b.t.Helper()
	l, err := Open(b.options)
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// acts appends n pairs in a process of its own, which anchors when it ends.
func (b *bench) acts(n int) {
	b.t.Helper()
	l := b.open()
	for i := range n {
		seq, err := l.Intent(b.t.Context(), Entry{Action: "forget", Store: "s", Target: fmt.Sprint("item-", i)})
		if err != nil {
			b.t.Fatal(err)
		}
		if err := l.Outcome(b.t.Context(), seq, Result{Verdict: OK}); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := l.Close(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) verify(given ...Statement) Report {
	b.t.Helper()
	rep, err := b.open().Verify(b.t.Context(), given...)
	if err != nil {
		b.t.Fatal(err)
	}
	return rep
}

func (b *bench) wantOK() Report {
	b.t.Helper()
	rep := b.verify()
	if !rep.OK {
		b.t.Fatalf("a good log: %s", rep.Reason)
	}
	return rep
}

// wantFound checks that a verification finds the manipulation and that no further act can begin.
func (b *bench) wantFound(words string) {
	b.t.Helper()
	rep := b.verify()
	if rep.OK || !strings.Contains(rep.Reason, words) {
		b.t.Errorf("verify: ok %v, %q; want it found, with %q", rep.OK, rep.Reason, words)
	}
	if _, err := b.open().Intent(b.t.Context(), Entry{Action: "forget"}); !errors.Is(err, ErrTampered) {
		b.t.Errorf("an act over it: %v, want ErrTampered", err)
	}
}

// saved is a copy of a directory.
func saved(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		out[p], err = os.ReadFile(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// putBack writes old bytes into the current files, keeping their inodes.
func putBack(t *testing.T, files map[string][]byte) {
	t.Helper()
	for p, b := range files {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// rewrite changes the nth record as the files' owner can, with the key: it recomputes chain, head, tree
// and signature.
func (b *bench) rewrite(nth uint64, change func(*Record)) {
	b.t.Helper()
	l := b.open()
	parts, err := l.listParts()
	if err != nil {
		b.t.Fatal(err)
	}
	h, err := l.readHead()
	if err != nil {
		b.t.Fatal(err)
	}
	prev := ""
	for i, p := range parts {
		var out []byte
		err := l.eachIn(b.t.Context(), p.name, p.size, 0, func(ln *line, _ int64) error {
			r, err := ln.record()
			if err != nil {
				return err
			}
			if prev != "" {
				r.Prev = prev
			}
			if r.Seq == nth {
				change(&r)
			}
			raw, err := r.encode()
			if err != nil {
				return err
			}
			prev = r.Hash
			if i == len(parts)-1 {
				h.Hash, h.Seq, h.Tail, h.Size = r.Hash, r.Seq, int64(len(out)), int64(len(out)+len(raw)+1)
			}
			out = append(append(out, raw...), '\n')
			return nil
		}, func() error { return errors.New("damaged") })
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(l.path(p.name), out, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := l.writeHead(h); err != nil {
		b.t.Fatal(err)
	}
	_ = os.Remove(l.path(knownFile))
	_ = os.RemoveAll(l.inTree("tile"))
	b.unsign(l)
	b.options.Anchors, l.anchors = nil, nil
	if _, err := l.Checkpoint(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	b.options.Anchors = []Anchor{{Kind: "file", Path: b.usb}}
}

// unsign makes the tree one without a checkpoint, as its owner can.
func (b *bench) unsign(l *Log) {
	b.t.Helper()
	t, err := l.readTree()
	t.Signed = false
	if err := errors.Join(err, os.Remove(l.inTree(checkpointFile)), l.writeTree(t)); err != nil {
		b.t.Fatal(err)
	}
}

// The four manipulations that an owner can make: each passes without an anchor, and must be found with one.
func TestWhatAnOwnerDoesIsFound(t *testing.T) {
	cases := map[string]struct {
		do    func(b *bench)
		words string
	}{
		"cut tail": {func(b *bench) {
			l := b.open()
			parts, _ := l.listParts()
			h, _ := l.readHead()
			p := parts[len(parts)-1]
			body, _ := os.ReadFile(l.path(p.name))
			lines := bytes.SplitAfter(body, []byte{'\n'})
			lines = lines[:len(lines)-3] // the last element is empty
			var last line
			if err := parseLine(bytes.TrimSuffix(lines[len(lines)-1], []byte{'\n'}), &last); err != nil {
				b.t.Fatal(err)
			}
			whole := bytes.Join(lines, nil)
			h.Seq, h.Hash, h.Size, h.Tail = last.seq, string(last.value(fHash)), int64(len(whole)), int64(len(whole)-len(lines[len(lines)-1]))
			if err := os.WriteFile(l.path(p.name), whole, 0o600); err != nil {
				b.t.Fatal(err)
			}
			if err := l.writeHead(h); err != nil {
				b.t.Fatal(err)
			}
			_ = os.RemoveAll(l.inTree("tile"))
			b.unsign(l)
		}, "records were taken away"},
		"rewrite with the key in hand": {func(b *bench) { b.rewrite(4, func(r *Record) { r.Store = "x" }) }, "records were changed"},
		"delete and start anew": {func(b *bench) {
			_ = os.RemoveAll(b.dir)
			_ = os.Remove(b.dir + ".begun")
			b.options.Anchors = nil // as with another configuration
			b.acts(3)
			b.options.Anchors = []Anchor{{Kind: "file", Path: b.usb}}
		}, "of another log"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.acts(6)
			b.wantOK()
			c.do(b)
			b.options.Anchors = nil
			b.wantOK() // nothing that the owner holds reveals it
			b.options.Anchors = []Anchor{{Kind: "file", Path: b.usb}}
			b.wantFound(c.words)
		})
	}
	t.Run("delete", func(t *testing.T) {
		b := newBench(t)
		b.acts(2)
		_ = os.RemoveAll(b.dir)
		_ = os.Remove(b.dir + ".begun")
		b.wantFound("holds checkpoints")
	})
	for _, way := range []string{"in place", "as a copy"} {
		t.Run("roll back "+way, func(t *testing.T) {
			b := newBench(t)
			b.options.SegmentBytes = 0
			b.acts(3)
			old := saved(t, b.dir)
			b.acts(3)
			if way == "as a copy" {
				_ = os.RemoveAll(b.dir)
			}
			putBack(t, old)
			b.wantFound("")
			if rep := b.verify(); way == "in place" && !strings.Contains(rep.Reason, "records were taken away") {
				t.Errorf("reason %q", rep.Reason)
			}
		})
	}
}

// Two copies of one log continue, the second without its anchor and to a longer end. The fork must be
// found at the anchor, and the first copy must still verify.
func TestAForkMeetsAFileAnchor(t *testing.T) {
	b := newBench(t)
	b.options.SegmentBytes = 0
	b.acts(3)
	old := saved(t, b.dir)
	b.acts(3)
	first := saved(t, b.dir)
	putBack(t, old)
	b.options.Anchors = nil
	b.acts(9)
	b.wantOK()
	b.options.Anchors = []Anchor{{Kind: "file", Path: b.usb}}
	b.wantFound("records were changed")
	putBack(t, first)
	b.wantOK()
	b.acts(1)
	b.wantOK()
}

// A statement must name the last record up to which the log is unchanged, even when later records were
// changed.
func TestAnAnchorSaysWhatItProves(t *testing.T) {
	b := newBench(t)
	b.acts(3)
	early, err := b.open().Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.acts(5)
	b.rewrite(12, func(r *Record) { r.Store = "x" })
	rep := b.verify(Statement{Name: "early", Text: early})
	states := map[string]Proven{}
	for _, p := range rep.Proven {
		states[p.Kind] = p
	}
	if p := states["given"]; p.State != ProvenHolds || p.Seq != 8 {
		t.Errorf("the early checkpoint: %+v", p)
	}
	if p := states["file"]; p.State != ProvenBroken || p.Seq != 8 {
		t.Errorf("the anchor: %+v", p)
	}
	if p := states["own"]; p.State != ProvenHolds {
		t.Errorf("the log's own, which the owner signed anew: %+v", p)
	}
	for name, text := range map[string]string{"empty": "", "text": "hello\n", "flipped": strings.Replace(string(early), "\n8\n", "\n9\n", 1)} {
		if rep := b.verify(Statement{Name: name, Text: []byte(text)}); rep.OK {
			t.Errorf("a statement that is none, %s, passes", name)
		}
	}
}

func TestAnAcknowledgementEndsTheTree(t *testing.T) {
	for _, size := range []int64{0, 2500} { // in one segment, and back across segment ends
		t.Run(fmt.Sprint(size), func(t *testing.T) { acknowledgedRollBack(t, size, size) })
	}
	// Back to a segment's end: whole segments are surplus, and the signed part must still verify.
	t.Run("between segments", func(t *testing.T) { acknowledgedRollBack(t, 0, 1) })
}

// TestALostTreeStopsChanges: a tree that is gone, or an emptied or missing checkpoint, stops changes, also where the segment that
// names the tree is known to be whole and is not read; an acknowledgement begins another tree.
func TestALostTreeStopsChanges(t *testing.T) {
	cases := map[string]struct {
		do    func(l *Log) error
		size  int64
		words string
	}{
		"tree.json":             {func(l *Log) error { return os.Remove(l.inTree(treeFile)) }, 0, "over the log is gone"},
		"tree.json of segments": {func(l *Log) error { return os.Remove(l.inTree(treeFile)) }, 2500, "over the log is gone"},
		"the directory":         {func(l *Log) error { return os.RemoveAll(l.inTree("")) }, 0, "over the log is gone"},
		"an empty checkpoint":   {func(l *Log) error { return os.Truncate(l.inTree(checkpointFile), 0) }, 0, "its file is empty"},
		"no checkpoint":         {func(l *Log) error { return os.Remove(l.inTree(checkpointFile)) }, 0, "its file is gone"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.options.SegmentBytes, b.options.Anchors = c.size, nil
			b.acts(6)
			l := b.open()
			for c.size > 0 && len(l.readKnown()) == 0 { // a segment is known once its change time has settled
				time.Sleep(50 * time.Millisecond)
				b.acts(1)
			}
			if err := c.do(l); err != nil {
				t.Fatal(err)
			}
			b.wantFound(c.words)
			if err := b.open().Acknowledge(t.Context(), "a test"); err != nil {
				t.Fatal(err)
			}
			b.acts(1)
			if rep := b.verify(); !rep.OK || len(rep.Proven) == 0 || rep.Proven[0].State != ProvenHolds {
				t.Errorf("after the acknowledgement: %+v", rep)
			}
		})
	}
}

// TestATreeBeginsBehindAChangedRecord: after an operator has acknowledged a changed record, checkpoints must be signed
// and anchored again, over the records behind it. The break stays named.
func TestATreeBeginsBehindAChangedRecord(t *testing.T) {
	b := newBench(t)
	b.acts(3)
	log := filepath.Join(b.dir, "log-000001.jsonl")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[3] = strings.Replace(lines[3], `"forget"`, `"forgot"`, 1)
	changed := strings.Join(lines, "")
	if changed == string(text) {
		t.Fatal("nothing was changed")
	}
	if err := os.WriteFile(log, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	b.wantFound("was changed")
	if err := b.open().Acknowledge(t.Context(), "a disk fault"); err != nil {
		t.Fatal(err)
	}
	b.acts(2)
	if _, err := b.open().Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	rep := b.verify()
	if rep.OK || !rep.Acknowledged || !strings.Contains(rep.Reason, "was changed") {
		t.Errorf("the break is not named: %+v", rep)
	}
	for _, p := range rep.Proven {
		if p.Kind == "own" && p.State != ProvenHolds {
			t.Errorf("%+v", p)
		}
	}
}

// TestAStuckTreeIsEnded: an acknowledgement ends a tree over a break, as an older version began one and could never sign it.
func TestAStuckTreeIsEnded(t *testing.T) {
	b := newBench(t)
	b.acts(3)
	log := filepath.Join(b.dir, "log-000001.jsonl")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, []byte(strings.Replace(string(text), `"forget"`, `"forgot"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.wantFound("was changed")
	if err := b.open().Acknowledge(t.Context(), "a disk fault"); err != nil {
		t.Fatal(err)
	}
	old := b.open()
	st, unlock, err := old.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := old.newTree(t.Context(), st.head, nil)
	if tree.First == 1 {
		t.Fatal("the tree begins before the break")
	}
	tree.First = 1
	if err == nil {
		err = old.writeTree(tree)
	}
	if err == nil {
		_, err = old.announce(t.Context(), st, tree)
	}
	unlock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.open().Checkpoint(t.Context()); !errors.Is(err, ErrTampered) {
		t.Fatalf("a break was signed: %v", err)
	}
	if err := b.open().Acknowledge(t.Context(), "the same fault"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := b.open().Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.acts(1)
	}
	rep := b.verify()
	if rep.OK || !rep.Acknowledged || !strings.Contains(rep.Reason, "was changed") {
		t.Errorf("the break is not named: %+v", rep)
	}
	for _, p := range rep.Proven {
		if p.Kind == "own" && p.State != ProvenHolds {
			t.Errorf("%+v", p)
		}
	}
}

// TestATreeOverAFreshBreakIsNotEnded: a check that is less than a minute old does not see the break, which nobody has
// acknowledged.
func TestATreeOverAFreshBreakIsNotEnded(t *testing.T) {
	b := newBench(t)
	b.acts(3)
	l := b.open()
	if _, err := l.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	tree, err := l.readTree()
	if err = errors.Join(err, os.Remove(l.inTree(checkpointFile)), l.sound(t.Context())); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(b.dir, "log-000001.jsonl")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, []byte(strings.Replace(string(text), `"forget"`, `"forgot"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Checkpoint(t.Context()); !errors.Is(err, ErrTampered) {
		t.Errorf("Checkpoint = %v; want the break", err)
	}
	if now, err := l.readTree(); err != nil || now.Origin != tree.Origin {
		t.Errorf("the tree is %+v, %v; want it as it was", now, err)
	}
}

func acknowledgedRollBack(t *testing.T, before, after int64) {
	b := newBench(t)
	b.options.SegmentBytes = before
	b.acts(3)
	old := saved(t, b.dir)
	b.options.SegmentBytes = after
	b.acts(3)
	b.options.SegmentBytes = before
	putBack(t, old)
	b.wantFound("")
	if err := b.open().Acknowledge(t.Context(), "restored from Tuesday"); err != nil {
		t.Fatal(err)
	}
	b.options.SegmentBytes = after
	rep := b.verify()
	b.options.SegmentBytes = before
	if rep.OK || !rep.Acknowledged {
		t.Fatalf("after the acknowledgement: %+v", rep)
	}
	b.acts(3) // anchors a new tree
	rep = b.verify()
	if rep.OK || !rep.Acknowledged {
		t.Fatalf("with a new tree: %+v", rep)
	}
	later := saved(t, b.dir)
	b.acts(2)
	newer, err := filepath.Glob(filepath.Join(b.dir, "log-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range newer {
		if later[p] == nil {
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	putBack(t, later)
	b.wantFound("") // the reason is the first break, which was acknowledged
	rep = b.verify()
	if rep.Acknowledged || !slices.ContainsFunc(rep.Proven, func(p Proven) bool {
		return p.Kind == "file" && p.State == ProvenBroken && strings.Contains(p.Why, "records were taken away")
	}) {
		t.Errorf("rolled back again: %+v", rep)
	}
}

// An old log is adopted: its lines must become the leaves from 0 on.
func TestAnOldLogIsTakenOver(t *testing.T) {
	b := newBench(t)
	l := b.open()
	for range 40 {
		if err := l.Note(t.Context(), Entry{Action: "read"}, Result{Verdict: OK}); err != nil {
			t.Fatal(err)
		}
	}
	before := saved(t, b.dir)
	b.acts(1)
	b.wantOK()
	for p, was := range before {
		if is, _ := os.ReadFile(p); !bytes.HasPrefix(is, was) && strings.Contains(p, "log-") {
			t.Errorf("%s was changed", p)
		}
	}
	p, err := b.open().Prove(t.Context(), 7)
	if err != nil || p.Index != 6 {
		t.Fatalf("proof of record 7: index %d, %v", p.Index, err)
	}
	page, err := b.open().List(t.Context(), Filter{Action: ActionTree}, 0, "")
	if err != nil || len(page.Rows) != 1 || page.Rows[0].Counts["leaves"] != 47 {
		t.Errorf("the record of it: %+v %v", page.Rows, err)
	}
}

func TestProofs(t *testing.T) {
	b := newBench(t)
	for range 9 {
		b.acts(40) // across tiles of 256 and segments
	}
	l := b.open()
	keys, err := l.VerifierKeys()
	if err != nil {
		t.Fatal(err)
	}
	v, err := note.NewVerifier(keys[0])
	if err != nil {
		t.Fatal(err)
	}
	signed, err := l.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := checkpoint.Open(signed, v)
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range []uint64{1, 2, 255, 256, 257, 511, 512, 513, uint64(c.Size)} {
		p, err := l.Prove(t.Context(), seq)
		if err != nil {
			t.Fatalf("record %d: %v", seq, err)
		}
		again := p
		if _, _, err := again.Check(v); err != nil {
			t.Errorf("record %d: %v", seq, err)
		}
		again.Record = append(bytes.Clone(again.Record[:len(again.Record)-1]), ' ')
		if _, _, err := again.Check(v); err == nil {
			t.Errorf("record %d: a changed record passes", seq)
		}
	}
	if _, err := l.Prove(t.Context(), uint64(c.Size)+1); !errors.Is(err, model.NotFound) {
		t.Errorf("a proof of a record that is not there: %v", err)
	}
	// The tree must equal RFC 6962's over the stored lines, computed by the library alone.
	var hashes []tlog.Hash
	read := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range at {
			out = append(out, hashes[i])
		}
		return out, nil
	})
	n := int64(0)
	h, _ := l.readHead()
	err = l.eachFrom(t.Context(), h, 1, func(ln *line) error {
		more, err := tlog.StoredHashes(n, ln.raw, read)
		hashes, n = append(hashes, more...), n+1
		return err
	}, func(uint64) error { return errors.New("gap") })
	if err != nil {
		t.Fatal(err)
	}
	root, err := tlog.TreeHash(n, read)
	if err != nil || n != c.Size || root != c.Root {
		t.Errorf("size %d root %s, want %d %s (%v)", c.Size, c.Root, n, root, err)
	}
	// A changed tile must give no proof.
	tile := l.inTree("tile/0/000")
	body, err := os.ReadFile(tile)
	if err != nil {
		t.Fatal(err)
	}
	body[40] ^= 1
	if err := os.WriteFile(tile, body, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Prove(t.Context(), 1); err == nil {
		t.Error("a changed tile gives a proof")
	}
}

func TestRotatedKeys(t *testing.T) {
	b := newBench(t)
	b.acts(2)
	l := b.open()
	first, _ := l.Prove(t.Context(), 2)
	if err := l.RotateKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if all, newest, err := l.Anchors(t.Context()); err != nil || all[0].Seq != newest {
		t.Errorf("the anchor has the records up to %d of %d, so not the one that names the key: %v", all[0].Seq, newest, err)
	}
	b.acts(2)
	if rep := b.wantOK(); rep.Proven[1].State != ProvenHolds {
		t.Errorf("%+v", rep.Proven)
	}
	keys, _ := l.VerifierKeys()
	if len(keys) != 2 {
		t.Fatalf("keys %v", keys)
	}
	old, _ := note.NewVerifier(keys[0])
	next, _ := note.NewVerifier(keys[1])
	if _, _, err := first.Check(old); err != nil {
		t.Errorf("a proof of before: %v", err)
	}
	later, err := l.Prove(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := later.Check(next); err != nil {
		t.Errorf("a proof of after: %v", err)
	}
	if _, _, err := later.Check(old); err == nil {
		t.Error("the old key still signs")
	}
	// A key that no record names must not count.
	st, _ := l.readTree()
	_, alien, _ := note.GenerateKey(nil, st.Origin)
	st.Keys[0] = alien
	if err := l.writeTree(st); err != nil {
		t.Fatal(err)
	}
	if rep := b.verify(); rep.OK {
		t.Error("a key that no record names passes")
	}
}

// unmovedFS refuses to move a file to one name.
type unmovedFS struct {
	atomicfile.OS
	name string
}

func (u unmovedFS) Rename(from, to string) error {
	if to == u.name {
		return errors.New("killed here")
	}
	return u.OS.Rename(from, to)
}

// TestTwoKillsInARotation: a rotation that follows one that was killed, and is killed itself, must not lose
// the key in force.
func TestTwoKillsInARotation(t *testing.T) {
	b := newBench(t)
	b.acts(2)
	l := b.open()
	sign, old := l.inTree(signFile), l.inTree(oldSignFile)
	st, err := l.readTree()
	if err != nil {
		t.Fatal(err)
	}
	inForce, err := os.ReadFile(sign)
	if err != nil {
		t.Fatal(err)
	}
	unnamed, _, err := note.GenerateKey(nil, st.Origin)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(old, inForce, 0o600), os.WriteFile(sign, []byte(unnamed+"\n"), 0o600)); err != nil { // the first kill
		t.Fatal(err)
	}
	l.fs = unmovedFS{name: sign}
	if err := l.RotateKey(t.Context()); err == nil {
		t.Fatal("the second rotation was not stopped")
	}
	if kept, err := os.ReadFile(old); err != nil || string(kept) != string(inForce) {
		t.Errorf("the key in force is lost: %v", err)
	}
	if err := b.open().RotateKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.acts(1)
	b.wantOK()
}

func TestALostKey(t *testing.T) {
	b := newBench(t)
	b.acts(2)
	if err := os.Remove(b.open().inTree(signFile)); err != nil {
		t.Fatal(err)
	}
	l := b.open()
	act(t, l)
	if err := l.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "--rotate") {
		t.Errorf("closing without the key: %v", err)
	}
	b.wantOK() // an act needs no signature
	if err := b.open().RotateKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.acts(1)
	b.wantOK()
}

func act(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Note(t.Context(), Entry{Action: "read"}, Result{Verdict: OK}); err != nil {
		t.Fatal(err)
	}
}

// served starts a witness with trust on first use.
func served(t *testing.T, dir string) (url, vkey string, alarms *[]string) {
	t.Helper()
	alarms = &[]string{}
	w, err := witness.Open(witness.Options{Dir: dir, Trust: true, Note: func(format string, args ...any) { *alarms = append(*alarms, fmt.Sprintf(format, args...)) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	return s.URL, w.VerifierKey(), alarms
}

func TestAWitnessFindsARollBackAndAFork(t *testing.T) {
	url, vkey, alarms := served(t, filepath.Join(t.TempDir(), "w"))
	a := Anchor{Kind: "witness", URL: url, Key: vkey}
	b := newBench(t, a)
	b.options.SegmentBytes = 0
	b.acts(3)
	old := saved(t, b.dir)
	b.acts(3)
	b.wantOK()
	p, err := b.open().Ask(t.Context(), a)
	if err != nil || p.State != ProvenHolds || p.Seq != 14 {
		t.Fatalf("a good log: %+v %v", p, err)
	}
	putBack(t, old)
	if p, _ := b.open().Ask(t.Context(), a); p.State != ProvenBroken || !strings.Contains(p.Why, "rolled back") {
		t.Errorf("rolled back: %+v", p)
	}
	// Both copies continue: the second must be found at its next anchoring, and then stop.
	l := b.open()
	act(t, l)
	if err := l.Close(t.Context()); !errors.Is(err, ErrTampered) {
		t.Errorf("the next anchor: %v", err)
	}
	b.wantFound("rolled back")
	for range 4 { // beyond the witness's size
		b.open().appendAnyway(t, b)
	}
	if p, _ := b.open().Ask(t.Context(), a); p.State != ProvenBroken {
		t.Errorf("a fork that is longer: %+v", p)
	}
	// What came late looks the same: only the log's own desk can tell.
	if len(*alarms) < 2 || !strings.Contains((*alarms)[1], "or an older checkpoint that came late") {
		t.Errorf("the witness said %q", *alarms)
	}
}

// TestAWitnessSeesTheNewerCheckpointFirst: two processes anchor one log. The one whose checkpoint comes second,
// and is older, must not tell of a log that was rolled back.
func TestAWitnessSeesTheNewerCheckpointFirst(t *testing.T) {
	direct, vkey, _ := served(t, filepath.Join(t.TempDir(), "w"))
	b := newBench(t)
	overtake := func() {}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		overtake()
		overtake = func() {}
		to, err := neturl.Parse(direct)
		if err != nil {
			t.Error(err)
		}
		httputil.NewSingleHostReverseProxy(to).ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	slow := Anchor{Kind: "witness", URL: proxy.URL, Key: vkey}
	b.acts(2)
	other := func() {
		b.options.Anchors = []Anchor{{Kind: "witness", URL: direct, Key: vkey}}
		l := b.open()
		act(t, l)
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	b.options.Anchors = []Anchor{slow}
	l := b.open()
	act(t, l)
	overtake = other
	if err := l.Close(t.Context()); err != nil {
		t.Errorf("the push of the older checkpoint: %v", err)
	}
	b.options.Anchors = []Anchor{slow}
	l = b.open()
	overtake = other
	if p, err := l.Ask(t.Context(), slow); err != nil || p.State != ProvenHolds {
		t.Errorf("asked while another process anchors: %+v %v", p, err)
	}
	b.options.Anchors = []Anchor{slow}
	b.acts(1)
	b.wantOK()
}

// TestACheckpointThatWasCutShort: a power failure has left a part of a checkpoint in the anchor's file. The next
// one must be readable all the same.
func TestACheckpointThatWasCutShort(t *testing.T) {
	b := newBench(t)
	b.acts(2)
	one, err := os.ReadFile(b.usb)
	if err != nil {
		t.Fatal(err)
	}
	blank := bytes.Index(one, []byte("\n\n")) + 2
	for _, cut := range []int{3, blank - 1, blank, len(one) - 9, len(one) - 1} {
		if err := os.WriteFile(b.usb, one[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		b.acts(1)
		all, err := os.ReadFile(b.usb)
		if err != nil {
			t.Fatal(err)
		}
		parts := checkpoint.Split(all)
		if last := parts[len(parts)-1]; len(parts) != 2 || !bytes.HasPrefix(last, one[:bytes.IndexByte(one, '\n')+1]) {
			t.Errorf("cut at %d of %d: %d parts, the last %q", cut, len(one), len(parts), last)
		}
	}
}

// TestAnAlarmEnds: another process has acknowledged the break that this one has found.
func TestAnAlarmEnds(t *testing.T) {
	b := newBench(t)
	b.acts(3)
	l := b.open()
	l.alarm = "something"
	if err := l.Writable(); err == nil {
		t.Fatal("an alarm does not stop acts")
	}
	if rep, err := l.Verify(t.Context()); err != nil || !rep.OK || rep.Seq < 6 {
		t.Fatal(rep, err)
	}
	if err := l.Writable(); err != nil {
		t.Error(err)
	}
}

// appendAnyway appends despite an alarm, as a program without alarms would.
func (l *Log) appendAnyway(t *testing.T, b *bench) {
	t.Helper()
	_ = os.Remove(l.inTree(anchorsFile))
	l.anchors = nil
	for range 3 {
		act(t, l)
	}
	if _, err := l.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAnAnchorThatIsAway(t *testing.T) {
	url, vkey, _ := served(t, filepath.Join(t.TempDir(), "w"))
	clk := clock.NewFake(time.Date(2026, 5, 21, 9, 0, 0, 0, time.UTC))
	b := newBench(t, Anchor{Kind: "witness", URL: url + "/nothing/here", Key: vkey}, Anchor{Kind: "command", Command: "exit 3"})
	b.options.Clock = clk
	l := b.open()
	act(t, l)
	if err := l.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "code 3") {
		t.Errorf("close: %v", err)
	}
	all, newest, err := b.open().Anchors(t.Context())
	if err != nil || newest != 3 || len(all) != 2 || all[0].Seq != 0 || all[0].Error == "" || all[1].Error == "" {
		t.Fatalf("anchors %+v, newest %d, %v", all, newest, err)
	}
	tries := func() int { return b.open().readAnchors()[all[1].Name()].Fails }
	if err := b.open().Push(t.Context(), false); err != nil || tries() != 1 {
		t.Errorf("tried again at once: %v, %d tries", err, tries())
	}
	clk.Advance(24 * time.Hour)
	if err := b.open().Push(t.Context(), false); err == nil || tries() != 2 {
		t.Errorf("not tried a day later: %v, %d tries", err, tries())
	}
	out := filepath.Join(t.TempDir(), "got")
	b.options.Anchors = []Anchor{{Kind: "command", Command: "cat > '" + out + "'"}}
	if err := b.open().Push(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(out)
	if want, _ := b.open().Checkpoint(t.Context()); string(got) != string(want) {
		t.Errorf("the command got %q", got)
	}
}

// TestAnAnchorComesBack: a disk is missing and a witness silent for a day of acts. Both must be tried
// at growing intervals while their checkpoints grow old, and must take the newest one once they return:
// each alone must then find a rollback into that day.
func TestAnAnchorComesBack(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "usb")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	url, vkey, _ := served(t, filepath.Join(t.TempDir(), "w"))
	behind, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	clk := clock.NewFake(time.Date(2026, 5, 21, 9, 0, 0, 0, time.UTC))
	witnessed := Anchor{Kind: "witness", URL: front.URL, Key: vkey}
	b := newBench(t, Anchor{Kind: "file", Path: filepath.Join(disk, "checkpoints")}, witnessed)
	b.options.Clock, b.options.FS, b.options.SegmentBytes = clk, quick{}, 0
	b.acts(1)
	before, last, err := b.open().Anchors(t.Context())
	if err != nil || !anchoredTo(b, last) {
		t.Fatalf("at first: %+v %v", before, err)
	}

	away.Store(true)
	if err := os.Rename(disk, disk+".away"); err != nil {
		t.Fatal(err)
	}
	const acts = 24 * 6
	var between map[string][]byte
	for i := range acts {
		clk.Advance(10 * time.Minute)
		l := b.open()
		act(t, l)
		if _, err := l.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = l.Push(t.Context(), false)
		if i == acts/2 {
			between = saved(t, b.dir)
		}
	}
	all, newest, err := b.open().Anchors(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range all {
		if a.Seq != before[i].Seq || !a.At.Equal(before[i].At) || a.Error == "" || a.Seq == newest {
			t.Errorf("after a day without it: %+v, before %+v", a, before[i])
		}
		if fails := b.open().readAnchors()[a.Name()].Fails; fails < 10 || fails > acts/2 {
			t.Errorf("%s was tried %d times in a day of %d acts", a.Name(), fails, acts)
		}
	}

	away.Store(false)
	if err := os.Rename(disk+".away", disk); err != nil {
		t.Fatal(err)
	}
	clk.Advance(retryMost)
	b.acts(1)
	if head, err := b.open().readHead(); err != nil || !anchoredTo(b, head.Seq) {
		t.Errorf("it came back and has not got the newest checkpoint: %v", err)
	}
	b.wantOK()
	putBack(t, between)
	for _, only := range b.options.Anchors {
		b.options.Anchors = []Anchor{only}
		if only.Kind == "file" {
			b.wantFound("records were taken away")
		} else if p, err := b.open().Ask(t.Context(), only); err != nil || p.State != ProvenBroken {
			t.Errorf("the witness: %+v %v", p, err)
		}
	}
}

// A process is killed at every step between record, tile and checkpoint; the next one must continue,
// and every checkpoint ever signed must still fit. 300 points with MEMDESK_SOAK.
func TestKilledBetweenRecordAndCheckpoint(t *testing.T) {
	points := 60
	if os.Getenv("MEMDESK_SOAK") != "" {
		points = 300
	}
	rng := rand.New(rand.NewPCG(19, 1))
	for n := range points {
		b := newBench(t)
		b.options.FS = quick{}
		b.acts(rng.IntN(3))
		crash := faultfs.Fault{Crash: true, After: rng.IntN(2) == 0}
		if rng.IntN(3) == 0 {
			crash.Part = rng.IntN(200)
		}
		at := rng.IntN(60)
		fs := faultfs.New(func(i int, step string) *faultfs.Fault {
			if i < at {
				return nil
			}
			f := crash
			if strings.HasPrefix(step, "write head.json") {
				f.Part = 0
			}
			return &f
		})
		fs.FS = quick{}
		b.options.FS = fs
		l := b.open()
		for range 2 {
			if seq, err := l.Intent(t.Context(), Entry{Action: "forget"}); err == nil {
				_ = l.Outcome(t.Context(), seq, Result{Verdict: OK})
			}
			_, _ = l.Checkpoint(t.Context())
		}
		_ = l.Close(t.Context())
		b.options.FS = quick{}
		if rep := b.verify(); !rep.OK {
			t.Fatalf("point %d (step %d): %s", n, at, rep.Reason)
		}
		b.acts(1)
		if rep := b.verify(); !rep.OK {
			t.Fatalf("point %d (step %d), gone on: %s", n, at, rep.Reason)
		}
	}
}

// A full or failing disk must still allow acts while the log itself can be written, and the tree must
// continue when the disk works again.
func TestTheTreeOnABadDisk(t *testing.T) {
	for match, acts := range map[string]bool{
		`sync log-`: false, `write \.checkpoint\.`: true, `sync \.checkpoint\.`: true, `rename checkpoint`: true,
		`write \.\d+\.tmp`: true, `sync \.\d+\.tmp`: true, `rename \d+$`: true, `syncdir tree`: true, // a tile, named by its width
	} {
		for _, fault := range []error{syscall.ENOSPC, syscall.EIO} {
			t.Run(fmt.Sprint(match, " ", fault), func(t *testing.T) {
				b := newBench(t)
				b.options.SegmentBytes = 0
				b.acts(1)
				met := 0
				fs := faultfs.New(func(_ int, step string) *faultfs.Fault {
					if !regexp.MustCompile("^" + match).MatchString(step) {
						return nil
					}
					met++
					return &faultfs.Fault{Err: fault}
				})
				fs.FS = quick{}
				b.options.FS = fs
				l := b.open()
				if err := l.Note(t.Context(), Entry{Action: "read"}, Result{Verdict: OK}); (err == nil) != acts || !acts && !errors.Is(err, fault) {
					t.Errorf("an act: %v, want it done: %v", err, acts)
				}
				if _, err := l.Checkpoint(t.Context()); acts && !errors.Is(err, fault) {
					t.Errorf("a checkpoint: %v, want %v", err, fault)
				} else if acts && fault == syscall.ENOSPC && !strings.Contains(err.Error(), "`memdesk info` says where it lies): make room there") {
					t.Errorf("a checkpoint says neither where nor what to do: %v", err)
				}
				if met == 0 {
					t.Fatal("the fault did not come")
				}
				b.options.FS = nil
				b.wantOK()
				b.acts(1)
				b.wantOK()
				if head, err := b.open().readHead(); err != nil || !anchoredTo(b, head.Seq) {
					t.Errorf("the tree does not go on: %v", err)
				}
			})
		}
	}
}

// anchoredTo reports whether every anchor has a checkpoint up to a record.
func anchoredTo(b *bench, seq uint64) bool {
	b.t.Helper()
	all, _, err := b.open().Anchors(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return !slices.ContainsFunc(all, func(a Anchored) bool { return a.Seq != seq || a.Error != "" })
}

// A stolen key signs anything, but the anchors must still know the tree they saw.
func TestAStolenKey(t *testing.T) {
	b := newBench(t)
	b.acts(3)
	l := b.open()
	key, _ := os.ReadFile(l.inTree(signFile))
	s, _ := note.NewSigner(strings.TrimSpace(string(key)))
	st, _ := l.readTree()
	forged := checkpoint.Checkpoint{Origin: st.Origin, Size: 4, Root: tlog.Hash{1}}
	signed, _ := note.Sign(&note.Note{Text: forged.Text()}, s)
	if rep := b.verify(Statement{Name: "forged", Text: signed}); rep.OK {
		t.Error("a forged checkpoint is the log's own")
	}
	b.rewrite(5, func(r *Record) { r.Store = "x" })
	b.wantFound("records were changed")
}

func TestCloseWithoutChanges(t *testing.T) {
	b := newBench(t)
	l := b.open()
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(b.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading left a log: %v", err)
	}
}

func TestCheckpointsInTheBackground(t *testing.T) {
	b := newBench(t)
	b.options.CheckpointEvery = 4
	l := b.open()
	for range 8 {
		act(t, l)
	}
	l.behind.wg.Wait()
	all, _, err := l.Anchors(context.Background())
	if err != nil || all[0].Seq < 5 {
		t.Errorf("anchored up to record %d, %v", all[0].Seq, err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
