package walk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// queue is an inotify instance, read on demand and never waited for: when a system call returns, its change
// is in the queue.
type queue struct {
	named, root string // with and without links
	was         os.FileInfo
	file        *os.File
	fd          int
	dirs        map[int32]string // by watch
}

// told are the kinds of changes to report.
const told = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// localSystems are file systems that only this machine changes.
var localSystems = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true,
	unix.OVERLAYFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true, 0x2fc12fc1: true, // ZFS
}

func newQueue(named string) (queue, error) {
	root := named
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil {
		return queue{}, err
	}
	if !localSystems[int64(st.Type)] {
		return queue{}, errors.New("other machines may write on its file system unheard")
	}
	was, err := os.Stat(root)
	if err != nil {
		return queue{}, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return queue{}, err
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return queue{}, err
	}
	return queue{root: root, named: named, was: was, file: os.NewFile(uintptr(fd), "inotify"), fd: fd, dirs: map[int32]string{}}, nil
}

func (q *queue) close() error { return q.file.Close() }

func (q *queue) watch(dir string) (unheard bool, err error) {
	if len(q.dirs) >= mostFollowed {
		return false, errors.New("too many directories")
	}
	wd, err := unix.InotifyAddWatch(q.fd, filepath.Join(q.root, filepath.FromSlash(dir)), told)
	switch {
	case err == nil:
		q.dirs[int32(wd)] = dir
		return false, nil
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES), errors.Is(err, unix.ELOOP):
		return true, nil
	}
	return false, err // ENOSPC: the user has no watches left
}

// each yields every change in the queue; made: name is new in the directory.
func (q *queue) each(yield func(dir, name string, isDir, made bool)) error {
	if now, err := os.Stat(q.named); err != nil || !os.SameFile(now, q.was) { // changes of the directories above are not reported
		return errLost
	}
	var buf [16 << 10]byte
	for {
		n, err := unix.Read(q.fd, buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN), err == nil && n <= 0:
			return nil
		case err != nil:
			return err
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(rest))
			mask := binary.NativeEndian.Uint32(rest[4:])
			size := int(binary.NativeEndian.Uint32(rest[12:]))
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size], []byte{0})
			rest = rest[unix.SizeofInotifyEvent+size:]
			dir, ok := q.dirs[wd]
			switch {
			case mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0, ok && dir == "" && mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF) != 0:
				return errLost
			case !ok:
			case mask&unix.IN_IGNORED != 0:
				delete(q.dirs, wd)
			default:
				yield(dir, string(name), mask&unix.IN_ISDIR != 0, mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0)
			}
		}
	}
}
