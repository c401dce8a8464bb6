package linefile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"

	"memdesk/internal/atomicfile"
)

// Follower reads the lines that were added to a file since it last looked.
type Follower struct {
	file os.FileInfo
	size int64  // of the lines that were read
	last []byte // of these
}

// Look calls line for each whole line behind those that it knows. Where the file is another one than before, or gone, it
// forgets what it knows, calls anew first, and reads from the beginning. A line without its end is being written.
func (f *Follower) Look(path string, anew func(), line func([]byte)) error {
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		*f = Follower{}
		anew()
		return nil
	}
	if err == nil && f.file != nil && os.SameFile(f.file, now) && now.Size() == f.size {
		return nil
	}
	in, err := atomicfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close() // opened for reading: closing loses nothing
	if now, err = in.Stat(); err != nil {
		return err
	}
	if !f.knows(in, now) {
		*f = Follower{}
		anew()
	}
	f.file = now
	return f.read(in, line)
}

// read calls line for each whole line behind those that it knows. A nil file has none.
func (f *Follower) read(in *os.File, line func([]byte)) error {
	if in == nil {
		return nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(in, f.size, math.MaxInt64-f.size), 64<<10)
	for {
		next, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f.size, f.last = f.size+int64(len(next)), next
		line(next)
	}
}

// knows reports whether a file begins with the lines that were read. One that replaced it may have its inode.
func (f *Follower) knows(in *os.File, now os.FileInfo) bool {
	if f.file == nil || !os.SameFile(f.file, now) || now.Size() < f.size {
		return false
	}
	last := make([]byte, len(f.last))
	_, err := in.ReadAt(last, f.size-int64(len(last)))
	return err == nil && bytes.Equal(last, f.last)
}
