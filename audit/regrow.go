package audit

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit/checkpoint"
)

// errTiles reports damaged files of the tree. They are made from the records, so nothing of the log is lost.
var errTiles = errors.New("the files of the tree over the log are damaged, its records are not: `memdesk audit checkpoint` makes them again, and until then some records have no proof")

// errTilesLost reports damaged files over retired records.
var errTilesLost = errors.New("the tree's files over retired records are damaged, and nothing is left to make them from: `memdesk audit acknowledge` ends this tree")

// signedHashes reads the hashes of a tree from its tiles and compares them with its root.
type signedHashes struct{ tlog.HashReader }

func (l *Log) hashes(t tlog.Tree) tlog.HashReader {
	return signedHashes{tlog.TileHashReader(t, l.tiles())}
}

// ReadHashes implements tlog.HashReader; it returns errTiles where the tiles do not lead to the root. A file that this process
// may not open is not damaged.
func (s signedHashes) ReadHashes(at []int64) ([]tlog.Hash, error) {
	out, err := s.HashReader.ReadHashes(at)
	if err != nil && !errors.Is(err, errTiles) && !shut(err) {
		return nil, errTiles
	}
	return out, err
}

// shut reports whether a file could not be opened for a reason that says nothing about it.
func shut(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// checkTiles compares every tile with the root of h.
func (l *Log) checkTiles(ctx context.Context, h signedHead) error {
	const lot = 1 << tileHeight // tiles read at once: those below one parent
	read := l.hashes(h.tree())
	for n := int64(0); n < h.Size; {
		var at []int64
		for ; n < h.Size && len(at) < lot; n += 1 << tileHeight {
			at = append(at, tlog.StoredHashIndex(0, n))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := read.ReadHashes(at); err != nil {
			return err
		}
	}
	return nil
}

// lookAtTiles says what is wrong with the tiles, empty for nothing, and whether nothing can make them again. It holds the
// lock only to make sure of damage: a checkpoint made meanwhile removes tiles, too.
func (l *Log) lookAtTiles(ctx context.Context) (wrong string, lost bool, err error) {
	look := func() error {
		t, h, err := l.signedTree()
		if err == nil {
			err = l.checkTiles(ctx, h)
		}
		if errors.Is(err, errTiles) {
			if _, e := l.retiredTiles(ctx, t); e != nil {
				return e
			}
		}
		return err
	}
	err = look()
	if errors.Is(err, errTiles) || errors.Is(err, errTilesLost) {
		unlock, lerr := l.lock(ctx, false)
		if lerr != nil {
			return "", false, lerr
		}
		err = look()
		unlock()
	}
	switch {
	case errors.Is(err, errTiles):
		return err.Error(), false, nil
	case errors.Is(err, errTilesLost):
		return errTilesLost.Error(), true, nil
	case errors.Is(err, ErrNoCheckpoint), errors.Is(err, ErrTampered): // the walk reports it
		return "", false, nil
	}
	return "", false, err
}

// Regrow makes the tree's files again from the records where one is damaged, and reports whether it did. It signs
// nothing.
func (l *Log) Regrow(ctx context.Context) (done bool, err error) {
	defer wrap(&err, "make the tree's files again")
	l.mu.Lock()
	defer l.mu.Unlock()
	if none, err := l.absent(); err != nil || none {
		return false, err
	}
	if err := l.sound(ctx); err != nil {
		return false, err
	}
	st, unlock, err := l.hold(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	t, h, err := l.signedTree()
	if errors.Is(err, ErrNoCheckpoint) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return l.mendTiles(ctx, st.head, t, h)
}

// mendTiles makes the tiles again where one does not lead to the signed root, and reports whether it did.
func (l *Log) mendTiles(ctx context.Context, h head, t treeState, signed signedHead) (bool, error) {
	err := l.checkTiles(ctx, signed)
	if !errors.Is(err, errTiles) {
		return false, err
	}
	_, err = l.regrow(ctx, h, t, signed)
	return err == nil, err
}

// regrow grows the tree anew up to h from its first record, or from the first behind those that were retired. No file
// changes before the records are found to be those that were signed.
func (l *Log) regrow(ctx context.Context, h head, t treeState, signed signedHead) (*grower, error) {
	base, err := l.retiredTiles(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := l.sameAsSigned(ctx, h, t, signed, base); err != nil {
		return nil, err
	}
	g := &grower{log: l, tree: tlog.Tree{N: base.Size, Hash: base.Root()}, signed: signed.Size}
	return g, l.growTo(ctx, h, t, g)
}

// retiredTiles is the part of the tree over records that were retired, ErrTampered with errTilesLost where its tiles are
// damaged.
func (l *Log) retiredTiles(ctx context.Context, t treeState) (checkpoint.Frontier, error) {
	base, err := l.retiredOf(t)
	if err != nil || base.Size == 0 {
		return base, err
	}
	err = l.checkTiles(ctx, signedHead{Checkpoint: checkpoint.Checkpoint{Size: base.Size, Root: base.Root()}})
	if errors.Is(err, errTiles) {
		err = tampered("%w", errTilesLost)
	}
	return base, err
}

// retiredOf is the part of the tree over records that were retired.
func (l *Log) retiredOf(t treeState) (checkpoint.Frontier, error) {
	r, err := l.readRetired()
	if err != nil || r.Origin != t.Origin {
		return checkpoint.Frontier{}, err
	}
	return checkpoint.Frontier{Size: r.Size, Roots: r.Roots}, nil
}

// sameAsSigned returns ErrTampered where the records behind base do not lead to the signed root. It reads no tile.
func (l *Log) sameAsSigned(ctx context.Context, h head, t treeState, signed signedHead, base checkpoint.Frontier) error {
	other := tampered("the records up to %d are not those that were signed", t.seq(signed.Size))
	base.Roots = slices.Clone(base.Roots)
	same := base.Size == signed.Size && base.Root() == signed.Root
	err := l.eachFrom(ctx, h, t.seq(base.Size+1), func(ln *line) error {
		if !ln.intact() {
			return other
		}
		base.Add(tlog.RecordHash(ln.raw))
		same = same || base.Size == signed.Size && base.Root() == signed.Root
		return nil
	}, func(uint64) error { return other })
	if err != nil || same {
		return err
	}
	return other
}
