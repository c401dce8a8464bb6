package walk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// queue is an inotify instance, read on demand and never waited for: when a system call returns, its change
// is in the queue. The followers of a store share one: a user has few.
type queue struct {
	mu    sync.Mutex
	file  *os.File // nil while it follows nothing
	fd    int
	trees int
	dirs  map[int32]watched
}

// watched is a directory of a tree, by its path there.
type watched struct {
	of  *Follower
	dir string
}

// anchor is the root of a followed tree.
type anchor struct {
	named, root string // with and without links
	was         os.FileInfo
}

// told are the kinds of changes to report.
const told = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// localSystems are file systems that only this machine changes.
var localSystems = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true,
	unix.OVERLAYFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true, 0x2fc12fc1: true, // ZFS
}

func anchored(named string) (anchor, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(named, &st); err != nil {
		return anchor{}, err
	}
	if !localSystems[int64(st.Type)] {
		return anchor{}, errors.New("other machines may write on its file system unheard")
	}
	was, err := os.Stat(named)
	if err != nil {
		return anchor{}, err
	}
	root, err := filepath.EvalSymlinks(named)
	return anchor{named: named, root: root, was: was}, err
}

// same reports whether the root is still where it was.
func (a *anchor) same() bool {
	now, err := os.Stat(a.named)
	return err == nil && os.SameFile(now, a.was)
}

// open begins one more tree.
func (q *queue) open() error {
	if q.file == nil {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			return err
		}
		q.file, q.fd, q.dirs = os.NewFile(uintptr(fd), "inotify"), fd, map[int32]watched{}
	}
	q.trees++
	return nil
}

// leave ends a tree, and with the last one the instance.
func (q *queue) leave(f *Follower) error {
	if q.trees--; q.trees == 0 {
		file := q.file
		q.file, q.dirs = nil, nil
		return file.Close()
	}
	for wd, w := range q.dirs {
		if w.of == f {
			_, _ = unix.InotifyRmWatch(q.fd, uint32(wd)) // it may have ended with its directory
			delete(q.dirs, wd)
		}
	}
	return nil
}

func (q *queue) watch(f *Follower, dir string) (unheard bool, err error) {
	if len(q.dirs) >= MostFollowed {
		return false, errors.New("too many directories")
	}
	wd, err := unix.InotifyAddWatch(q.fd, filepath.Join(f.at.root, filepath.FromSlash(dir)), told)
	switch {
	case err == nil:
		q.dirs[int32(wd)] = watched{f, dir}
		return false, nil
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES), errors.Is(err, unix.ELOOP):
		return true, nil
	}
	return false, err // ENOSPC: the user has no watches left
}

// read hands every change in the queue to its tree.
func (q *queue) read() {
	var buf [16 << 10]byte
	for {
		n, err := unix.Read(q.fd, buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN), err == nil && n <= 0:
			return
		case err != nil:
			q.lose()
			return
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(rest))
			mask := binary.NativeEndian.Uint32(rest[4:])
			size := int(binary.NativeEndian.Uint32(rest[12:]))
			name, _, _ := bytes.Cut(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size], []byte{0})
			rest = rest[unix.SizeofInotifyEvent+size:]
			w, ok := q.dirs[wd]
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				q.lose()
			case !ok:
			case mask&unix.IN_UNMOUNT != 0, w.dir == "" && mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF) != 0:
				w.of.lost = errLost
			case mask&unix.IN_IGNORED != 0:
				delete(q.dirs, wd)
			default:
				w.of.hear(w.dir, string(name), mask&unix.IN_ISDIR != 0, mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0)
			}
		}
	}
}

// lose ends the trust in all trees.
func (q *queue) lose() {
	for _, w := range q.dirs {
		w.of.lost = errLost
	}
}
