//go:build !linux

package rootdir

import (
	"errors"
	"io"
	"os"
)

// nameBatch is the number of names per read.
const nameBatch = 4096

func eachName(f *os.File, yield func(name []byte, dir bool) bool) error {
	for {
		children, err := f.ReadDir(nameBatch)
		for _, c := range children {
			if !yield([]byte(c.Name()), c.IsDir()) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
