package gdpr_test

import (
	"io/fs"

	"memdesk/internal/atomicfile"
)

// nosync writes without flushes, for tests of a killed process: a flush does not change what that leaves.
type nosync struct{ atomicfile.OS }

func (n nosync) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	f, err := n.OS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return nosyncFile{f}, nil
}

func (nosync) SyncDir(string) error { return nil }

type nosyncFile struct{ atomicfile.File }

func (nosyncFile) Sync() error { return nil }
