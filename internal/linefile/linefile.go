// Package linefile keeps lines in a file that several processes add to, of which an erasure removes some. It does not
// interpret them.
package linefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"memdesk/internal/atomicfile"
	"memdesk/internal/filelock"
)

// File is a file of lines, oldest first. An addition is one write at its end, and an erasure replaces it under a lock.
type File struct {
	Path string
	// Most is the size in bytes beyond which the file becomes the older one, in place of the one before, and a new one
	// begins; 0: no bound.
	Most int64
	// Ready makes the directory above; nil: MakeDirs is enough.
	Ready func() error
	// Durable makes Add flush the lines: a power cut must not lose them.
	Durable bool
}

const (
	older    = ".1"
	lockFile = ".lock"
)

// Begin makes the directory of the file.
func (f File) Begin() error {
	if f.Ready != nil {
		if err := f.Ready(); err != nil {
			return err
		}
	}
	return atomicfile.MakeDirs(atomicfile.OS{}, filepath.Dir(f.Path))
}

// Add adds whole lines.
func (f File) Add(lines []byte) error {
	if err := f.Begin(); err != nil {
		return err
	}
	unlock, err := filelock.Hold(context.Background(), f.Path+lockFile, false)
	if err != nil {
		return err
	}
	defer func() { unlock() }()
	if f.full() {
		unlock()
		if unlock, err = filelock.Hold(context.Background(), f.Path+lockFile, true); err != nil {
			unlock = func() {}
			return err
		}
		if f.full() { // no other process began a new one meanwhile
			if err := os.Rename(f.Path, f.Path+older); err != nil {
				return err
			}
		}
	}
	out, err := atomicfile.Open(f.Path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if torn(out) {
		lines = append([]byte{'\n'}, lines...)
	}
	_, err = out.Write(lines)
	if err == nil && f.Durable {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

func (f File) full() bool {
	info, err := os.Stat(f.Path)
	return f.Most > 0 && err == nil && info.Size() > f.Most
}

// torn reports whether a file ends inside a line cut by a crash.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// Each calls yield for every whole line, oldest first, those of the older file included; yield may keep it. An absent
// file has none.
func (f File) Each(yield func(line []byte)) error {
	old, in, err := f.open()
	if err != nil {
		return err
	}
	defer closeAll(old, in)
	if err := new(Follower).read(old, yield); err != nil {
		return err
	}
	return new(Follower).read(in, yield)
}

// open opens the older file and the file, as they were at one moment; nil: absent. It begins again where the file has
// turned meanwhile. A reader takes no lock, because it may not be allowed to make the lock file.
func (f File) open() (old, in *os.File, err error) {
	for {
		if in, err = openIfThere(f.Path); err != nil {
			return nil, nil, err
		}
		if old, err = openIfThere(f.Path + older); err != nil {
			closeAll(in)
			return nil, nil, err
		}
		now, err := os.Stat(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			closeAll(old, in)
			return nil, nil, err
		}
		if in == nil && err != nil || in != nil && err == nil && isFile(in, now) {
			return old, in, nil
		}
		closeAll(old, in)
	}
}

func openIfThere(path string) (*os.File, error) {
	f, err := atomicfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// closeAll closes files opened for reading: closing loses nothing.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// Erase removes the lines that match and those that are no JSON, which may say anything, and reports how many. It locks
// out additions only for what was added since it began: a match may take a minute.
func (f File) Erase(match func(line []byte) bool) (gone int, err error) {
	if _, err := os.Stat(filepath.Dir(f.Path)); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	paths := []string{f.Path + older, f.Path}
	looked := make([]matched, len(paths))
	for i, p := range paths {
		defer looked[i].close()
		if err := looked[i].look(match, p, false); err != nil {
			return 0, err
		}
	}
	unlock, err := filelock.Hold(context.Background(), f.Path+lockFile, true)
	if err != nil {
		return 0, err
	}
	defer unlock()
	for i, p := range paths {
		if err := atomicfile.Sweep(atomicfile.OS{}, filepath.Dir(p), filepath.Base(p)); err != nil { // of a killed erasure
			return gone, err
		}
		m := &looked[i]
		if err := m.look(match, p, true); err != nil {
			return gone, err
		}
		if m.gone > 0 {
			if err := atomicfile.Write(p, m.kept, 0o600); err != nil {
				return gone, err
			}
		}
		gone += m.gone
	}
	return gone, nil
}

// EraseIn is Erase for every file of a directory; an absent one has none.
func EraseIn(dir string, match func(line []byte) bool) (gone int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), lockFile), older)
		if seen[name] || strings.HasPrefix(name, ".") { // a temporary file
			continue
		}
		seen[name] = true
		n, ferr := File{Path: filepath.Join(dir, name)}.Erase(match)
		gone, err = gone+n, errors.Join(err, ferr)
	}
	return gone, err
}

// matched is a file whose first size bytes were looked at. It stays open, so that no other file gets its inode.
type matched struct {
	file *os.File
	size int64
	kept []byte
	gone int
}

func (m *matched) close() {
	closeAll(m.file)
	*m = matched{}
}

// look matches the lines behind those that were looked at, or all of them where the path has another file by now. last
// says that nobody is writing a last line without its end.
func (m *matched) look(match func([]byte) bool, path string, last bool) error {
	now, err := os.Stat(path)
	if err != nil || m.file == nil || !isFile(m.file, now) {
		m.close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if m.file, err = atomicfile.Open(path, os.O_RDONLY, 0); err != nil {
			return err
		}
	}
	data, err := io.ReadAll(io.NewSectionReader(m.file, m.size, math.MaxInt64-m.size))
	if err != nil {
		return err
	}
	if !last {
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	for line := range bytes.Lines(data) {
		m.size += int64(len(line))
		if match(line) || !json.Valid(line) { // a torn line may name anybody
			m.gone++
			continue
		}
		m.kept = append(m.kept, line...)
	}
	return nil
}

func isFile(f *os.File, info os.FileInfo) bool {
	mine, err := f.Stat()
	return err == nil && os.SameFile(mine, info)
}
