package checkpoint

import (
	"crypto/sha256"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Frontier is the part of a tree that is needed to add leaves: the roots of its complete subtrees, the
// largest first. Its size grows with the logarithm of the tree's.
type Frontier struct {
	Size  int64
	Roots []tlog.Hash
}

// Add appends a leaf.
func (f *Frontier) Add(h tlog.Hash) {
	for range bits.TrailingZeros64(^uint64(f.Size)) {
		last := len(f.Roots) - 1
		h = tlog.NodeHash(f.Roots[last], h)
		f.Roots = f.Roots[:last]
	}
	f.Roots = append(f.Roots, h)
	f.Size++
}

// Root is the root over all leaves.
func (f *Frontier) Root() tlog.Hash {
	if len(f.Roots) == 0 {
		return sha256.Sum256(nil)
	}
	h := f.Roots[len(f.Roots)-1]
	for i := len(f.Roots) - 2; i >= 0; i-- {
		h = tlog.NodeHash(f.Roots[i], h)
	}
	return h
}

// Whole reports whether the number of subtrees fits the size.
func (f *Frontier) Whole() bool {
	return f.Size >= 0 && len(f.Roots) == bits.OnesCount64(uint64(f.Size))
}
