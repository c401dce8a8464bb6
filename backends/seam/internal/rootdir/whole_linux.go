package rootdir

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// wholeReader reads plain files of one directory after the other through the
// directory's descriptor, into one buffer: five calls of the system for a file.
type wholeReader struct {
	dir *Dir
	at  *os.File
	buf []byte
}

// read gives a regular file's bytes, which are good until the next call. It is
// false for everything else, and for what Dir.Read refuses.
func (w *wholeReader) read(dir *Dir, name string, limit int64) ([]byte, bool) {
	if CheckName(name) != nil || strings.ContainsRune(name, '/') {
		return nil, false
	}
	if w.dir != dir {
		w.close()
		at, err := dir.root.Open(".")
		if err != nil {
			return nil, false
		}
		w.dir, w.at = dir, at
	}
	fd, err := again(func() (int, error) {
		return unix.Openat(int(w.at.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || limit > 0 && st.Size > limit {
		return nil, false
	}
	w.buf = w.buf[:0]
	if need := int(st.Size) + 1; cap(w.buf) < need {
		w.buf = make([]byte, 0, max(need, 64<<10))
	}
	for {
		if len(w.buf) == cap(w.buf) { // it grows while it is read
			w.buf = append(w.buf, 0)[:len(w.buf)]
		}
		n, err := again(func() (int, error) { return unix.Read(fd, w.buf[len(w.buf):cap(w.buf)]) })
		if err != nil {
			return nil, false
		}
		if n == 0 {
			return w.buf, true
		}
		if w.buf = w.buf[:len(w.buf)+n]; limit > 0 && int64(len(w.buf)) > limit {
			return nil, false
		}
	}
}

func (w *wholeReader) close() {
	if w.at != nil {
		_ = w.at.Close()
	}
	w.dir, w.at = nil, nil
}

// again repeats what a signal interrupted.
func again(fn func() (int, error)) (int, error) {
	for {
		n, err := fn()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
