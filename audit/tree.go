package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit/checkpoint"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

const (
	treeDir        = "tree"
	treeFile       = "tree.json"
	checkpointFile = "checkpoint"
	maxNote        = 64 << 10
	// growBy bounds the leaves held in memory while a log is adopted into a tree.
	growBy = 1 << 16
)

// ErrNoCheckpoint reports that the log has no signed head yet.
var ErrNoCheckpoint = model.E(model.NotFound, "", errors.New("the audit log has no checkpoint yet"))

// treeState names the tree over the log's lines. Leaf i is the stored line, without its newline,
// of the record with the sequence First+i.
type treeState struct {
	V      int      `json:"v"`
	Origin string   `json:"origin"`
	First  uint64   `json:"first"`
	Keys   []string `json:"keys"`             // verifier keys, the newest last; a record names each
	Signed bool     `json:"signed,omitempty"` // a checkpoint was written: one that is missing was taken away
}

func (t treeState) vkey() string { return t.Keys[len(t.Keys)-1] }

// seq is the sequence of the newest record under a checkpoint of this size.
func (t treeState) seq(size int64) uint64 { return t.First + uint64(size) - 1 }

// verifiers are all keys that signed for this tree.
func (t treeState) verifiers() []note.Verifier {
	var out []note.Verifier
	for _, k := range t.Keys {
		if v, err := note.NewVerifier(k); err == nil {
			out = append(out, v)
		}
	}
	return out
}

func (l *Log) inTree(name string) string { return filepath.Join(l.dir, treeDir, name) }
func (l *Log) tiles() tiles              { return tiles{l.fs, filepath.Join(l.dir, treeDir)} }

// readTree returns fs.ErrNotExist when there is no tree.
func (l *Log) readTree() (treeState, error) {
	b, err := readFile(l.fs, l.inTree(treeFile), maxNote)
	if err != nil {
		return treeState{}, err
	}
	var t treeState
	if err := json.Unmarshal(b, &t); err != nil || t.V != 1 || t.Origin == "" || t.First == 0 || len(t.Keys) == 0 || len(t.verifiers()) != len(t.Keys) {
		return treeState{}, tampered("tree/tree.json is damaged")
	}
	return t, nil
}

func (l *Log) writeTree(t treeState) error {
	if err := l.writeJSON(l.inTree(treeFile), t); err != nil {
		return fmt.Errorf("write the tree: %w", err)
	}
	return nil
}

// signedHead is the newest checkpoint of the log itself.
type signedHead struct {
	signed []byte
	checkpoint.Checkpoint
}

func (h signedHead) tree() tlog.Tree { return tlog.Tree{N: h.Size, Hash: h.Root} }

// readCheckpoint returns ErrNoCheckpoint before the first one.
func (l *Log) readCheckpoint(t treeState) (signedHead, error) {
	b, err := readFile(l.fs, l.inTree(checkpointFile), maxNote)
	if errors.Is(err, fs.ErrNotExist) {
		if t.Signed {
			return signedHead{}, tampered("the log's own checkpoint is gone")
		}
		return signedHead{}, ErrNoCheckpoint
	}
	if err != nil {
		return signedHead{}, err
	}
	c, _, err := checkpoint.Open(b, t.verifiers()...)
	if err != nil || c.Origin != t.Origin {
		return signedHead{}, tampered("the log's own checkpoint was changed, or signed with a key that is not the log's")
	}
	return signedHead{b, c}, nil
}

// signedTree is the tree with its newest checkpoint; ErrNoCheckpoint before the first one.
func (l *Log) signedTree() (treeState, signedHead, error) {
	t, err := l.readTree()
	if errors.Is(err, fs.ErrNotExist) {
		return t, signedHead{}, ErrNoCheckpoint
	}
	if err != nil {
		return t, signedHead{}, err
	}
	h, err := l.readCheckpoint(t)
	return t, h, err
}

// Checkpoint signs the log's current head, unless the newest checkpoint covers it, and returns the
// checkpoint's text (c2sp.org/tlog-checkpoint). The first one makes the log's key and adopts all existing
// records. Nothing is signed over a break that nobody acknowledged.
func (l *Log) Checkpoint(ctx context.Context) ([]byte, error) {
	signed, err := l.checkpoint(ctx, nil)
	if errors.Is(err, errKeyNeeded) {
		signed, err = l.checkpoint(ctx, l.source.run(ctx))
	}
	if err != nil && !errors.Is(err, ErrNoCheckpoint) {
		return nil, fmt.Errorf("make a checkpoint: %w", located(err))
	}
	return signed, err
}

// checkpoint is errKeyNeeded where the key's command must be run for it first.
func (l *Log) checkpoint(ctx context.Context, key *printedKey) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if none, err := l.absent(); err != nil || none {
		return nil, errors.Join(err, ErrNoCheckpoint)
	}
	if err := l.sound(ctx); err != nil {
		return nil, err
	}
	st, unlock, err := l.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	l.sweep()
	if st, err = l.saveHead(st); err != nil {
		return nil, err
	}
	t, old, s, err := l.toSign(ctx, st.head, key)
	if err != nil {
		return nil, err
	}
	if s == nil {
		l.signedSeq.Store(st.head.Seq)
		return old.signed, nil
	}
	if old.Size == 0 {
		if st, err = l.announce(ctx, st, t); err != nil {
			return nil, err
		}
	}
	return l.extend(ctx, st.head, t, old, s)
}

// toSign is the tree, new where there is none, with its newest checkpoint and the signer of the next one; no signer where
// that checkpoint covers h.
func (l *Log) toSign(ctx context.Context, h head, key *printedKey) (treeState, signedHead, note.Signer, error) {
	t, err := l.readTree()
	if errors.Is(err, fs.ErrNotExist) {
		t, err = l.newTree(ctx, h, key)
	}
	if err != nil {
		return t, signedHead{}, nil, err
	}
	old, err := l.readCheckpoint(t)
	if err != nil && !errors.Is(err, ErrNoCheckpoint) || old.Size > 0 && t.seq(old.Size) == h.Seq {
		return t, old, nil, err
	}
	s, err := l.signer(t.vkey(), key)
	return t, old, s, err
}

// newTree starts a tree over the longest run of records that ends with the head and that a verification walks: behind a
// break it goes on with the acknowledgement, which begins a segment.
func (l *Log) newTree(ctx context.Context, h head, key *printedKey) (treeState, error) {
	t := treeState{V: 1, First: 1}
	ended := map[string]bool{}
	begun := ""
	broken := false
	err := l.eachFrom(ctx, h, 1, func(ln *line) error {
		if !ln.intact() {
			broken = true
			return nil
		}
		switch scope := string(ln.value(fScope)); string(ln.value(fAction)) {
		case ActionTree:
			begun = originOf(scope)
		case ActionTreeEnd:
			ended[scope] = true
		case ActionAcknowledge:
			if broken {
				t.First, broken = ln.seq, false
			}
		}
		return nil
	}, func(gap uint64) error {
		t.First, broken = gap, true
		return nil
	})
	if err != nil {
		return t, err
	}
	if begun != "" && !ended[begun] {
		return t, tampered("the tree over the log is gone: tree/tree.json is missing")
	}
	if err := atomicfile.MakeDirs(l.fs, filepath.Join(l.dir, treeDir)); err != nil {
		return t, fmt.Errorf("make the tree: %w", bare(err))
	}
	_, vkey, err := l.newSigner("memdesk/audit/"+atomicfile.Suffix(), key)
	if err != nil {
		return t, err
	}
	if len(vkey) > maxToken || token(vkey) != vkey {
		return t, errors.New("the name of the log's key is longer than a record's field")
	}
	t.Origin, t.Keys = originOf(vkey), []string{vkey}
	return t, l.writeTree(t)
}

func originOf(vkey string) string {
	name, _, _ := strings.Cut(vkey, "+")
	return name
}

// extend adds the records after old to the tree and signs the new head.
func (l *Log) extend(ctx context.Context, h head, t treeState, old signedHead, signers ...note.Signer) ([]byte, error) {
	g, err := l.grow(ctx, h, t, old)
	if err != nil {
		return nil, err
	}
	c := checkpoint.Checkpoint{Origin: t.Origin, Size: g.tree.N, Root: g.tree.Hash}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, signers...)
	if err != nil {
		return nil, fmt.Errorf("sign the checkpoint: %w", err)
	}
	if err := atomicfile.WriteFS(l.fs, l.inTree(checkpointFile), signed, atomicfile.Options{}); err != nil {
		return nil, fmt.Errorf("write the checkpoint: %w", bare(err))
	}
	if !t.Signed {
		t.Signed = true
		if err := l.writeTree(t); err != nil {
			return nil, err
		}
	}
	for _, tile := range g.changed {
		l.tiles().tidy(tile)
	}
	l.signedSeq.Store(h.Seq)
	return signed, nil
}

// grow adds the records after old to the tree, and signs nothing. ErrTampered means that they do not continue
// the signed records. Damaged tiles are made again.
func (l *Log) grow(ctx context.Context, h head, t treeState, old signedHead) (*grower, error) {
	g := &grower{log: l, tree: old.tree(), seam: old.Size > 0}
	err := l.growTo(ctx, h, t, g)
	if errors.Is(err, errTiles) && old.Size > 0 {
		return l.regrow(ctx, h, t, old)
	}
	return g, err
}

// growTo adds the records up to h that the tree has not got yet.
func (l *Log) growTo(ctx context.Context, h head, t treeState, g *grower) error {
	from := t.seq(g.tree.N + 1)
	if g.seam {
		from-- // with the last signed record, to check the seam
	}
	gap := func(seq uint64) error {
		return tampered("record %d does not continue what was signed before", seq)
	}
	if err := l.eachFrom(ctx, h, from, g.take, gap); err != nil {
		return err
	}
	if err := g.flush(); err != nil {
		return err
	}
	if t.seq(g.tree.N) != h.Seq {
		return tampered("the log ends with record %d, its head is record %d", t.seq(g.tree.N), h.Seq)
	}
	return nil
}

// announce appends the record that names the tree's key, unless it exists: the process may have been killed
// between record and checkpoint.
func (l *Log) announce(ctx context.Context, st state, t treeState) (state, error) {
	there := false
	err := l.eachFrom(ctx, st.head, t.First, func(ln *line) error {
		there = there || string(ln.value(fAction)) == ActionTree && string(ln.value(fScope)) == t.Keys[0]
		return nil
	}, func(uint64) error { return nil })
	if err != nil || there {
		return st, err
	}
	st, k, err := l.settle(st, true)
	if err != nil {
		return st, err
	}
	counts := map[string]int64{"first": int64(t.First), "leaves": int64(st.head.Seq - t.First + 1)}
	st.head, err = l.event(st.head, k, Entry{Action: ActionTree, Scope: t.Keys[0], Counts: counts}, true)
	return st, err
}

// grower collects leaves and adds them to the tree in bounded lots.
type grower struct {
	log     *Log
	tree    tlog.Tree
	leaves  []tlog.Hash
	changed []tlog.Tile
	seam    bool  // the next line is the last signed one
	signed  int64 // write the tiles of the tree of this size, too; 0: of no other than the lots'
}

func (g *grower) take(ln *line) error {
	if !ln.intact() {
		return tampered("record %d was changed", ln.seq)
	}
	leaf := tlog.RecordHash(ln.raw)
	if g.seam {
		g.seam = false
		at := tlog.StoredHashIndex(0, g.tree.N-1)
		signed, err := g.log.hashes(g.tree).ReadHashes([]int64{at})
		if err != nil {
			return err
		}
		if signed[0] != leaf {
			return tampered("record %d is another one than was signed", ln.seq)
		}
		return nil
	}
	g.leaves = append(g.leaves, leaf)
	if len(g.leaves) < growBy && g.tree.N+int64(len(g.leaves)) != g.signed {
		return nil
	}
	return g.flush()
}

func (g *grower) flush() error {
	if len(g.leaves) == 0 {
		return nil
	}
	next, changed, err := g.log.tiles().grow(g.tree, g.log.hashes(g.tree), g.leaves)
	if err != nil {
		return fmt.Errorf("extend the tree: %w", err)
	}
	g.tree, g.leaves, g.changed = next, g.leaves[:0], append(g.changed, changed...)
	return nil
}

// eachFrom reads the records from a sequence to the head h. gap is called with the sequence of a
// record that does not continue the one before.
func (l *Log) eachFrom(ctx context.Context, h head, seq uint64, take func(ln *line) error, gap func(seq uint64) error) error {
	parts, err := l.listParts()
	if err != nil {
		return err
	}
	last := slices.IndexFunc(parts, func(p part) bool { return p.name == h.Segment })
	if last < 0 {
		return tampered("segment %s is gone", h.Segment)
	}
	before, prev := uint64(0), ""
	for i := l.partOf(parts[:last+1], seq); i <= last; i++ {
		size := h.Size
		if i < last {
			size = l.sealed(parts, i)
		}
		err := l.eachIn(ctx, parts[i].name, size, seq, func(ln *line, _ int64) error {
			if prev != "" && (ln.seq != before+1 || string(ln.value(fPrev)) != prev) || prev == "" && ln.seq != seq {
				if err := gap(ln.seq); err != nil {
					return err
				}
			}
			before, prev = ln.seq, string(ln.value(fHash))
			return take(ln)
		}, func() error { return gap(before + 1) })
		if err != nil {
			return err
		}
	}
	return nil
}

// eachIn reads the records of one segment from a sequence on, 1 for all of them; damaged is called for a line
// that is no record.
func (l *Log) eachIn(ctx context.Context, name string, size int64, seq uint64, take func(ln *line, at int64) error, damaged func() error) error {
	f, err := l.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	from := int64(0)
	if seq > 1 {
		if from, err = seek(f, size, seq, recordSeq); err != nil {
			return fmt.Errorf("read segment: %w", err)
		}
	}
	s := newForward(f, from, size)
	var ln line
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		raw, at, ok := s.next()
		switch {
		case s.err != nil:
			return fmt.Errorf("read segment: %w", s.err)
		case !ok:
			return nil
		}
		if err := parseLine(raw, &ln); err != nil {
			if err := damaged(); err != nil {
				return err
			}
			continue
		}
		if err := take(&ln, at); err != nil {
			return err
		}
	}
}

// Prove proves that record seq is under the newest checkpoint, which must cover it.
func (l *Log) Prove(ctx context.Context, seq uint64) (p checkpoint.Proof, err error) {
	defer wrap(&err, fmt.Sprintf("prove record %d", seq))
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.lock(ctx, false)
	if err != nil {
		return p, err
	}
	defer unlock()
	t, h, err := l.signedTree()
	if err != nil {
		return p, err
	}
	if seq < t.First {
		return p, model.Errorf(model.NotFound, "", "the tree begins with record %d; what was before it is covered by the chain of hashes alone", t.First)
	}
	if seq > t.seq(h.Size) {
		return p, model.Errorf(model.NotFound, "", "the newest checkpoint ends with record %d", t.seq(h.Size))
	}
	if p.Record, err = l.rawRecord(seq); err != nil {
		return p, err
	}
	p.Index, p.Checkpoint = int64(seq-t.First), h.signed
	if p.Path, err = tlog.ProveRecord(h.Size, p.Index, l.hashes(h.tree())); err != nil {
		return p, err
	}
	if _, _, err := p.Check(t.verifiers()...); err != nil {
		return p, tampered("record %d is another one than was signed", seq)
	}
	return p, nil
}

// NoteProven is Note with a proof that the log contains the note, and the signature lines of witnesses. The
// proof is nil where the log's head cannot be signed now; the note is written all the same. An anchor that
// does not answer only leaves its signature out.
func (l *Log) NoteProven(ctx context.Context, e Entry, res Result) (*checkpoint.Proof, []string, error) {
	r, err := l.append(ctx, PhaseNote, e, res, 0)
	if err != nil {
		return nil, nil, err
	}
	if _, err := l.Checkpoint(ctx); err != nil {
		if errors.Is(err, ErrTampered) {
			return nil, nil, err
		}
		return nil, nil, nil
	}
	_ = l.Push(ctx, false) // a failure is kept for Anchors: health, login and the end of the program report it
	p, err := l.Prove(ctx, r.Seq)
	if err != nil {
		return nil, nil, err
	}
	return &p, l.cosignatures(p.Checkpoint), nil
}

// rawRecord is the stored line of a record.
func (l *Log) rawRecord(seq uint64) ([]byte, error) {
	parts, err := l.listParts()
	if err != nil {
		return nil, err
	}
	if gone, err := l.readRetired(); err == nil && seq <= gone.Seq {
		return nil, model.Errorf(model.NotFound, "", "record %d was retired; proofs that were made before still hold", seq)
	}
	found, err := l.find(parts, seq)
	if err != nil {
		return nil, err
	}
	return found.raw, nil
}

// VerifierKeys are the log's verifier keys, the newest last (name+hash+key).
func (l *Log) VerifierKeys() ([]string, error) {
	t, err := l.readTree()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoCheckpoint
	}
	return t.Keys, err
}

// endTree sets the tree aside after an acknowledged break that concerns it: its checkpoints cover records
// that this log no longer has. A record ends each origin.
func (l *Log) endTree(h head, k key, origins []string) (head, error) {
	if _, err := l.fs.Lstat(filepath.Join(l.dir, treeDir)); err == nil {
		aside := l.path(treeDir + ".ended." + atomicfile.Suffix())
		if err := l.fs.Rename(filepath.Join(l.dir, treeDir), aside); err != nil {
			return h, fmt.Errorf("set the tree aside: %w", bare(err))
		}
	}
	for _, o := range origins {
		var err error
		if h, err = l.event(h, k, Entry{Action: ActionTreeEnd, Scope: o}, true); err != nil {
			return h, err
		}
	}
	return h, nil
}
