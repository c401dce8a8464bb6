package origin

import (
	"errors"
	"os"

	"memdesk/internal/filelock"
)

// lockFile takes a lock that ends with its process: shared to add, exclusive to replace.
func lockFile(path string, alone bool) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Wait(f, alone); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = filelock.Close(f) }, nil
}
