package walk

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"os"
	"time"

	"github.com/cespare/xxhash/v2"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// Known is an earlier process's knowledge of files, so that a walk need not open them: for each file, by a
// hash of its path, inode, size and times, the number of its class. Its user learns the meaning of a number
// from any file of the class, so it holds no name and no text. The zero value knows nothing.
type Known struct {
	seed  uint64
	table []byte // slots, a power of two, more than half of them free: hash, class
}

const (
	slotSize  = 8 + 2
	knownHead = 4 * 8 // magic, program, seed, checksum
	lastClass = 1<<16 - 1
)

var knownMagic = binary.LittleEndian.Uint64([]byte("mdwalk1\n"))

// OpenKnown reads the file at a path if this very program wrote it; else it knows nothing.
func OpenKnown(path string) *Known {
	k := &Known{}
	data, err := os.ReadFile(path)
	if err != nil || len(data) < knownHead || (len(data)-knownHead)%slotSize != 0 || bits.OnesCount(uint(len(data)-knownHead)/slotSize) != 1 {
		return k
	}
	head, table := data[:knownHead], data[knownHead:]
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(head[8*i:]) }
	if program := thisProgram(); program == 0 || at(0) != knownMagic || at(1) != program || at(3) != xxhash.Sum64(table) {
		return k
	}
	k.seed, k.table = at(2), table
	return k
}

// thisProgram changes with the program's file: another version may have other classes. 0 where it is
// unknown.
func thisProgram() uint64 {
	name, err := os.Executable()
	if err != nil {
		return 0
	}
	st, err := os.Stat(name)
	if err != nil {
		return 0
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(st.Size()))
	binary.LittleEndian.PutUint64(b[8:], uint64(st.ModTime().UnixNano()))
	return xxhash.Sum64(b[:])
}

// Empty reports whether nothing is known.
func (k *Known) Empty() bool { return len(k.table) == 0 }

// Class is the class of an unchanged file.
func (k *Known) Class(at rootdir.Place, m rootdir.Meta) (class uint16, ok bool) {
	if k.Empty() {
		return 0, false
	}
	hash, ok := m.Known(k.seed, at)
	if !ok {
		return 0, false
	}
	_, class, ok = k.slot(hash)
	return class, ok && hash != 0
}

// slot finds a hash, or its free slot.
func (k *Known) slot(hash uint64) (slot []byte, class uint16, ok bool) {
	n := len(k.table) / slotSize
	for i := range n {
		i = (int(hash>>1) + i) & (n - 1)
		slot = k.table[i*slotSize : (i+1)*slotSize]
		if v := binary.LittleEndian.Uint64(slot); v == 0 || v == hash {
			return slot, binary.LittleEndian.Uint16(slot[8:]), v != 0
		}
	}
	return nil, 0, false
}

// KeepKnown writes a walk's knowledge: classes are those of n files at most. A file that changed at settled
// or later is left out, and a class whose number is too large.
func KeepKnown(path string, settled time.Time, n int, classes iter.Seq2[File, uint32]) error {
	k := &Known{seed: uint64(time.Now().UnixNano()), table: make([]byte, slotSize<<bits.Len(uint(2*n)))}
	for f, class := range classes {
		m := f.Meta()
		hash, ok := m.Known(k.seed, f.Place())
		if !ok || hash == 0 || class > lastClass || !m.Settled(settled) {
			continue
		}
		if slot, _, taken := k.slot(hash); !taken {
			binary.LittleEndian.PutUint64(slot, hash)
			binary.LittleEndian.PutUint16(slot[8:], uint16(class))
		}
	}
	data := make([]byte, knownHead, knownHead+len(k.table))
	for i, v := range []uint64{knownMagic, thisProgram(), k.seed, xxhash.Sum64(k.table)} {
		binary.LittleEndian.PutUint64(data[8*i:], v)
	}
	if err := atomicfile.Write(path, append(data, k.table...), 0o600); err != nil {
		return model.Errorf(model.Unavailable, "walk", "what was learned of the files cannot be kept: %w", atomicfile.Pathless(err))
	}
	return nil
}
