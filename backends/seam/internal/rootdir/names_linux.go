package rootdir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// nameBuffer is the size of one directory read, in bytes.
const nameBuffer = 64 << 10

// buffers are pooled: a tree of small directories would allocate more of them than of names.
var buffers = sync.Pool{New: func() any { return new([nameBuffer]byte) }}

// Offsets in a directory entry (getdents64(2)).
const (
	entrySize = 16
	entryType = 18
	entryName = 19
)

// eachName reads entries in kernel order: the standard library makes a value of each, which costs more than
// the walk. A name is valid until yield returns.
func eachName(f *os.File, yield func(name []byte, dir bool) bool) error {
	kept := buffers.Get().(*[nameBuffer]byte)
	defer buffers.Put(kept)
	buf := kept[:]
	for {
		n, err := unix.Getdents(int(f.Fd()), buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		for rest := buf[:n]; len(rest) > entryName; {
			size := int(binary.NativeEndian.Uint16(rest[entrySize:]))
			if size <= entryName || size > len(rest) {
				return errors.New("the system gave a directory entry that cannot be read")
			}
			name, _, _ := bytes.Cut(rest[entryName:size], []byte{0})
			typ := rest[entryType]
			rest = rest[size:]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			dir := typ == unix.DT_DIR
			if typ == unix.DT_UNKNOWN {
				dir = isDirectory(f, string(name))
			}
			if !yield(name, dir) {
				return nil
			}
		}
	}
}

// isDirectory stats an entry on file systems that do not report its kind.
func isDirectory(f *os.File, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(int(f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}
