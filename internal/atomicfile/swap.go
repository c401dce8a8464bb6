package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrMoved says that a file differs from the one that the caller has seen.
var ErrMoved = errors.New("the file changed")

// Swap replaces a file whose other writers take no lock, and returns the replaced content: want, unless
// another write came in between, which the caller must then take up. The file of that write stays as aside, which
// the caller removes once another file holds its content. Mode and owner stay. An empty want is an absent file
// too. ErrMoved where the file was not want before anything was done, ErrUnsynced where the new content is in
// place but may not last. Where the system cannot exchange files in one step, a write between the read and the
// rename is lost.
func Swap(path string, want, data []byte) (came []byte, aside string, err error) {
	temp, err := stage(OS{}, path, data, Options{KeepMode: true, KeepOwner: true})
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if aside == "" {
			_ = os.Remove(temp) // gone already, unless something failed
		}
	}()
	now, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if len(want) > 0 {
			return nil, "", ErrMoved
		}
		if err = Place(temp, path); errors.Is(err, fs.ErrExist) { // the file was made meanwhile
			return nil, "", ErrMoved
		}
	case err == nil && !bytes.Equal(now, want):
		return nil, "", ErrMoved
	case err == nil:
		err = Exchange(temp, path)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			err = os.Rename(temp, path)
		case errors.Is(err, fs.ErrNotExist):
			return nil, "", ErrMoved
		case err == nil:
			if now, err = os.ReadFile(temp); err != nil {
				if back := Exchange(temp, path); back != nil { // it may be another program's write: it goes back, or stays aside
					aside, err = temp, errors.Join(err, back)
				}
			}
		}
	}
	if err != nil {
		return nil, aside, err
	}
	if bytes.Equal(now, want) {
		err = remove(OS{}, temp) // before the sync: the old file must not come back
	} else {
		aside = temp
	}
	if err = errors.Join(err, (OS{}).SyncDir(filepath.Dir(path))); err != nil {
		err = fmt.Errorf("%w: %w", ErrUnsynced, err)
	}
	return now, aside, err
}
