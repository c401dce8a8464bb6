package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/mod/sumdb/note"

	"memdesk/internal/atomicfile"
)

// RotateKey signs checkpoints with another key from now on: a new one in the file, or the current key of the
// agent or command. A record names it, and the checkpoint over that record has the signatures of both; where
// the old key is lost counts.old says 0.
func (l *Log) RotateKey(ctx context.Context) (err error) {
	defer func() {
		err = located(err)
		wrap(&err, "rotate the log's key")
	}()
	printed := l.source.run(ctx)
	if _, err := l.checkpoint(ctx, printed); err != nil && errors.Is(err, ErrTampered) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	st, unlock, err := l.hold(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	t, cp, err := l.signedTree()
	if err != nil {
		return err
	}
	var signers []note.Signer
	old := int64(0)
	if s, err := l.oldSigner(t.vkey(), printed); err == nil {
		signers, old = append(signers, s), 1
	}
	known, err := note.NewVerifier(t.vkey())
	if err != nil {
		return err
	}
	kept, err := l.keyIn(oldSignFile) // of a rotation that was killed: the other file may hold a key that no record names
	if b, rerr := readFile(l.fs, l.inTree(signFile), 4096); rerr == nil && (err != nil || kept.KeyHash() != known.KeyHash()) {
		if err := atomicfile.WriteFS(l.fs, l.inTree(oldSignFile), b, atomicfile.Options{}); err != nil {
			return bare(err)
		}
	}
	s, vkey, err := l.newSigner(t.Origin, printed)
	if err != nil {
		return err
	}
	if originOf(vkey) != t.Origin {
		return fmt.Errorf("the new key's name is %q, and the log's is %q", originOf(vkey), t.Origin)
	}
	if vkey == t.vkey() {
		return fmt.Errorf("the %s holds the log's key of now: change it first", l.source.kind())
	}
	st, k, err := l.settle(st, true)
	if err != nil {
		return err
	}
	// The record first: a key in the tree that no record names is an alarm.
	h, err := l.event(st.head, k, Entry{Action: ActionTreeKey, Scope: vkey, Counts: map[string]int64{"old": old}}, true)
	if err != nil {
		return err
	}
	t.Keys = append(t.Keys, vkey)
	if err := l.writeTree(t); err != nil {
		return err
	}
	if _, err = l.extend(ctx, h, t, cp, append(signers, s)...); err != nil {
		return err
	}
	if err := l.fs.Remove(l.inTree(oldSignFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return bare(err)
	}
	return nil
}

// oldSigner is the current key, wherever it still is.
func (l *Log) oldSigner(vkey string, printed *printedKey) (note.Signer, error) {
	if s, err := l.signer(vkey, printed); err == nil {
		if _, err := s.Sign(nil); err == nil {
			return s, nil
		}
	}
	known, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, err
	}
	s, err := l.fileSigner(known)
	if err == nil && s.KeyHash() != known.KeyHash() {
		err = errors.New("the file holds another key")
	}
	return s, err
}

// Ask shows the newest checkpoint to a witness and says what its answer proves. It does not change the log.
func (l *Log) Ask(ctx context.Context, a Anchor) (Proven, error) {
	p := Proven{By: a.Name(), Kind: a.Kind, State: ProvenUnreadable}
	t, h, err := l.signedTree()
	if errors.Is(err, ErrNoCheckpoint) {
		p.State, p.Why = ProvenNone, "the log has no checkpoint to show"
		return p, nil
	}
	if err != nil {
		p.State, p.Why = ProvenBroken, words(err)
		return p, nil
	}
	ctx, cancel := context.WithTimeout(ctx, anchorWait)
	defer cancel()
	_, err = l.toWitness(ctx, a, l.readAnchors()[a.Name()].Size, t, h)
	switch {
	case errors.Is(err, errOvertaken):
		return l.Ask(ctx, a)
	case errors.Is(err, ErrTampered):
		p.State, p.Why = ProvenBroken, words(err)
	case err != nil:
		p.Why = err.Error()
	default:
		p.State, p.Seq, p.At = ProvenHolds, t.seq(h.Size), l.clock.Now().UTC()
	}
	return p, nil
}

// Add adds a result from elsewhere to a report.
func (r *Report) Add(p Proven) {
	r.Proven = append(r.Proven, p)
	if p.State != ProvenBroken {
		return
	}
	r.OK, r.Acknowledged = false, false
	if r.Reason == "" {
		r.Reason = p.By + ": " + p.Why
	}
}
