// Package sharedfd reads files that SQLite may have locked in this process, and keeps its locks: the system drops every lock
// that a process has on a file when the process closes any descriptor of it. It knows no format.
package sharedfd

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// database is a file that SQLite has open in this process.
type database struct {
	path string // links resolved: SQLite keeps the -shm, which it locks too, beside it
	info fs.FileInfo
	uses int
	kept []*os.File // of the file and of its -shm: one each, or as many as read it at once
}

var (
	mu   sync.Mutex
	open []*database
)

// Hold notes that SQLite is about to open a file. The caller calls release after SQLite has closed it.
func Hold(path string, info fs.FileInfo) (release func()) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mu.Lock()
	defer mu.Unlock()
	i := slices.IndexFunc(open, func(d *database) bool { return os.SameFile(d.info, info) })
	if i < 0 {
		i, open = len(open), append(open, &database{path: path, info: info})
	}
	d := open[i]
	d.uses++
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		if d.uses--; d.uses > 0 {
			return
		}
		open = slices.DeleteFunc(open, func(o *database) bool { return o == d })
		for _, f := range d.kept {
			_ = f.Close() // it was only read
		}
	})
}

// of finds the database that a file belongs to; nil for a file that SQLite does not lock here.
func of(file fs.FileInfo) *database {
	for _, d := range open {
		if os.SameFile(d.info, file) {
			return d
		}
		if strings.HasSuffix(file.Name(), "-shm") {
			if shm, err := os.Stat(d.path + "-shm"); err == nil && os.SameFile(shm, file) {
				return d
			}
		}
	}
	return nil
}

// Held reports whether a descriptor of a file must not be closed now. look describes the file; it is not asked where nothing
// is held.
func Held(look func() (fs.FileInfo, error)) bool {
	mu.Lock()
	none := len(open) == 0
	mu.Unlock()
	if none {
		return false
	}
	file, err := look()
	if err != nil {
		return false
	}
	mu.Lock()
	defer mu.Unlock()
	return of(file) != nil
}

// File is a file open for reading.
type File struct {
	*io.SectionReader
	file   *os.File
	shared bool
}

// Open opens a regular file with the function given, or takes the descriptor that is kept of it.
func Open(seen fs.FileInfo, opening func() (*os.File, error)) (*File, error) {
	if f := kept(seen); f != nil {
		return reading(f, true), nil
	}
	f, err := opening()
	if err != nil {
		return nil, err
	}
	return reading(f, false), nil
}

func kept(seen fs.FileInfo) *os.File {
	mu.Lock()
	defer mu.Unlock()
	if d := of(seen); d != nil {
		for _, f := range d.kept {
			if info, err := f.Stat(); err == nil && os.SameFile(info, seen) {
				return f
			}
		}
	}
	return nil
}

func reading(f *os.File, shared bool) *File {
	const all = 1 << 62
	return &File{io.NewSectionReader(f, 0, all), f, shared}
}

// Stat describes the file.
func (f *File) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Fd is the file's descriptor.
func (f *File) Fd() uintptr { return f.file.Fd() }

// Close ends reading. The descriptor of a file that SQLite has open is kept, for later readers, until SQLite closes the file.
func (f *File) Close() error {
	if f.shared {
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	if len(open) == 0 {
		return f.file.Close()
	}
	if info, err := f.file.Stat(); err == nil {
		if d := of(info); d != nil {
			d.kept = append(d.kept, f.file)
			return nil
		}
	}
	return f.file.Close()
}
