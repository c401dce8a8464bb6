// Package privatefile reads the small files that decide on rights: configuration, tokens, secrets. It waits
// for nothing and trusts no file that another user can change.
package privatefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Others says what users other than the owner must not do with a file.
type Others int

// Unreadable is for secrets: mode 0600 or stricter. Unwritable is for public content that only its owner may
// change; it also demands that the file belongs to this user or to root. Unlinked is Unwritable for a path that is no
// symbolic link.
const (
	Unreadable Others = iota
	Unwritable
	Unlinked
)

// ErrShared is in the error of a file whose owner or mode lets others in.
var ErrShared = errors.New("others have access to the file")

// Read returns the bytes of a regular file of text, at most limit, without the byte order mark that some editors
// begin one with: it would be a part of the first name or secret. A pipe or a device is an
// error at once. Errors of the file system are *fs.PathError; no other error names
// the path.
func Read(path string, others Others, limit int64) ([]byte, error) {
	flag := os.O_RDONLY | syscall.O_NONBLOCK
	if others == Unlinked {
		flag |= syscall.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading: closing loses nothing
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := check(info, others); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the file is larger than %d bytes", limit)
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

func check(info fs.FileInfo, others Others) error {
	mode := info.Mode().Perm()
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case others == Unreadable && mode&0o077 != 0 && !rootsOnly(info):
		return fmt.Errorf("%w (mode %04o): run chmod 600 on it", ErrShared, mode)
	case others != Unreadable && mode&0o022 != 0:
		return fmt.Errorf("%w and can change it (mode %04o): run chmod go-w on it", ErrShared, mode)
	case others != Unreadable && !trusted(info):
		return fmt.Errorf("%w: it belongs to another user; this user or root must own it", ErrShared)
	}
	return nil
}

// rootsOnly reports whether both the file and its reading group are root's, as for the credentials of
// systemd.exec(5): their access list admits the service, and shows in the bits of the group.
func rootsOnly(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0 && st.Gid == 0 && info.Mode().Perm() == 0o440
}

// trusted reports whether the file belongs to this user or to root.
func trusted(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || int(st.Uid) == os.Geteuid())
}
