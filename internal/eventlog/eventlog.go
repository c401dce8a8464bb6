// Package eventlog keeps lines of text in a file that drops its oldest ones: the events of stores that keep
// none themselves. It does not interpret the lines.
package eventlog

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"memdesk/internal/atomicfile"
	"memdesk/internal/filelock"
)

// turn is the size in bytes at which a file becomes the older one and a new one begins. The newest lines are
// in at most two files of this size.
const turn = 1 << 20

const older = ".1"

// locked runs do while no other process writes in the directory, which it creates.
func locked(dir string, do func() error) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer filelock.Close(d)
	if err := filelock.Wait(d, true); err != nil {
		return err
	}
	return do()
}

// Append adds one line, which must hold no line end.
func Append(path string, line []byte) error {
	return locked(filepath.Dir(path), func() error {
		if info, err := os.Stat(path); err == nil && info.Size()+int64(len(line)) > turn {
			if err := os.Rename(path, path+older); err != nil {
				return err
			}
		}
		f, err := atomicfile.Open(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(append(slices.Clone(line), '\n'))
		return errors.Join(err, f.Close())
	})
}

// Tail returns the newest lines first, at most n; 0 means all.
func Tail(path string, n int) ([][]byte, error) {
	var out [][]byte
	for _, name := range []string{path, path + older} {
		data, err := atomicfile.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		for _, line := range slices.Backward(lines) {
			if n > 0 && len(out) == n {
				return out, nil
			}
			if len(line) > 0 {
				out = append(out, line)
			}
		}
	}
	return out, nil
}

// Erase removes the lines that drop selects from every file of a directory; an absent directory has none.
func Erase(dir string, drop func(line []byte) bool) (n int, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	err = locked(dir, func() error {
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			path := filepath.Join(dir, f.Name())
			data, err := atomicfile.ReadFile(path)
			if err != nil {
				return err
			}
			var keep []byte
			gone := 0
			for line := range bytes.Lines(data) {
				if drop(line) {
					gone++
					continue
				}
				keep = append(keep, line...)
			}
			if gone == 0 {
				continue
			}
			if err := os.WriteFile(path+".new", keep, 0o600); err != nil {
				return err
			}
			if err := os.Rename(path+".new", path); err != nil {
				return err
			}
			n += gone
		}
		return nil
	})
	return n, err
}
