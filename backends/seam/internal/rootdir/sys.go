package rootdir

import (
	"errors"
	"io/fs"
	"syscall"

	"memdesk/model"
)

// identify fills fields that the standard library does not expose.
func (m *Meta) identify(fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		m.ino, m.dev, m.links = uint64(st.Ino), uint64(st.Dev), uint32(st.Nlink) //nolint:unconvert // types differ between systems
		m.changed = changed(st)
	}
}

func owner(fi fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}

func kindOfErrno(err error) model.Kind {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return model.NotFound // a file has the directory's name
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EROFS):
		return model.PermissionDenied
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EILSEQ), errors.Is(err, syscall.EINVAL):
		return model.InvalidInput
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EIO),
		errors.Is(err, syscall.ESTALE), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return model.Unavailable
	}
	return model.Internal
}
