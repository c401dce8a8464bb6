package rootdir

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"memdesk/backends/internal/sharedfd"
)

// openDir reads files of one directory after the other through the directory's descriptor, into one buffer:
// four system calls per file, five while a database is open.
type openDir struct {
	dir *Dir
	at  *os.File
	buf []byte
}

// enter opens the directory unless it is open already.
func (o *openDir) enter(dir *Dir, name string) bool {
	if CheckName(name) != nil || strings.ContainsRune(name, '/') {
		return false
	}
	if o.dir == dir {
		return true
	}
	o.close()
	at, err := dir.root.Open(".")
	if err != nil {
		return false
	}
	o.dir, o.at = dir, at
	return true
}

// stat is false where Dir.Stat reports the error better.
func (o *openDir) stat(dir *Dir, name string) (Meta, bool) {
	if !o.enter(dir, name) {
		return Meta{}, false
	}
	var st unix.Stat_t
	_, err := again(func() (int, error) { return 0, unix.Fstatat(int(o.at.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return metaOfStat(&st), err == nil
}

// read returns a regular file's bytes, at most head of them when head is not 0; they are valid until the
// next call. It is false for everything else, and for files that Dir.Read refuses.
func (o *openDir) read(dir *Dir, name string, limit, head int64) ([]byte, Meta, bool) {
	if !o.enter(dir, name) {
		return nil, Meta{}, false
	}
	if sharedfd.Held(func() (fs.FileInfo, error) { return dir.root.Lstat(name) }) {
		return nil, Meta{}, false
	}
	fd, err := again(func() (int, error) {
		return unix.Openat(int(o.at.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, Meta{}, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || limit > 0 && st.Size > limit {
		return nil, Meta{}, false
	}
	m := metaOfStat(&st)
	want := st.Size + 1 // one more byte shows that the file grows
	if head > 0 {
		want = min(want, head)
	}
	if int64(cap(o.buf)) < want {
		o.buf = make([]byte, 0, max(want, 64<<10))
	}
	o.buf = o.buf[:0]
	for {
		if int64(len(o.buf)) == want {
			if head > 0 {
				return o.buf, m, true
			}
			want *= 2
			o.buf = append(make([]byte, 0, want), o.buf...)
		}
		n, err := again(func() (int, error) { return unix.Read(fd, o.buf[len(o.buf):want]) })
		if err != nil {
			return nil, Meta{}, false
		}
		o.buf = o.buf[:len(o.buf)+n]
		if n == 0 || int64(len(o.buf)) == st.Size { // later bytes are of another moment
			return o.buf, m, true
		}
		if limit > 0 && int64(len(o.buf)) > limit {
			return nil, Meta{}, false
		}
	}
}

func (o *openDir) close() {
	if o.at != nil {
		_ = o.at.Close()
	}
	o.dir, o.at = nil, nil
}

func metaOfStat(st *unix.Stat_t) Meta {
	m := Meta{Modified: time.Unix(st.Mtim.Unix()), ino: st.Ino, dev: uint64(st.Dev), links: uint32(st.Nlink), changed: st.Ctim.Nano()}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		m.Kind, m.Size = File, st.Size
	case unix.S_IFDIR:
		m.Kind = Directory
	case unix.S_IFLNK:
		m.Kind = Link
	default:
		m.Kind = Special
	}
	return m
}

// again repeats an interrupted call.
func again(fn func() (int, error)) (int, error) {
	for {
		n, err := fn()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

func changed(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
