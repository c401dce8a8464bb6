// Package rootdir is a directory that no call can leave: reads that follow no symbolic link at the end of a
// name, atomic and durable writes, locks. It knows names below the directory and bytes; their meaning is
// its callers' business.
package rootdir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cespare/xxhash/v2"

	"memdesk/backends/internal/sharedfd"
	"memdesk/model"
)

// Dir is an open directory. Names are relative to it, parts divided by /, and
// are taken as bytes: they are not normalised and need not be UTF-8. "." is the
// directory itself. Links inside a name are followed only while they stay below
// the directory; a link at the end of a name never is.
//
// Every error is a *model.Error without an absolute path.
type Dir struct {
	root  *os.Root
	fault Fault
}

// Open opens the directory at path. Links in path are followed: it comes from
// the operator. The caller closes the Dir.
func Open(path string, fault Fault) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		if fi, serr := os.Stat(path); serr == nil && !fi.IsDir() {
			return nil, model.Errorf(model.InvalidInput, "open", "the store's directory: %w", ErrNotDirectory)
		}
		return nil, fail("open", "the store's directory", err)
	}
	return &Dir{root: root, fault: fault}, nil
}

// Close releases the directory.
func (d *Dir) Close() error { return d.root.Close() }

// Sub opens a directory below without following a link anywhere in name.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	at, owned := d.root, false
	for part := range strings.SplitSeq(name, "/") {
		next, err := step(at, part)
		if owned {
			_ = at.Close()
		}
		if err != nil {
			return nil, fail("open", name, err)
		}
		at, owned = next, true
	}
	return &Dir{root: at, fault: d.fault}, nil
}

// step opens one directory below at and checks that it is the one it has seen.
func step(at *os.Root, part string) (*os.Root, error) {
	seen, err := at.Lstat(part)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, notPlain(seen)
	}
	next, err := at.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	if got, err := next.Stat("."); err != nil || !os.SameFile(seen, got) {
		_ = next.Close()
		return nil, errors.Join(errMoved, err)
	}
	return next, nil
}

// Kind is the sort of a directory entry.
type Kind uint8

// The kinds of directory entries.
const (
	File Kind = iota
	Directory
	Link
	Special // a device, a pipe, a socket
)

// Meta describes a directory entry without opening it.
type Meta struct {
	Modified time.Time
	Size     int64 // of a file; 0 for the rest
	ino, dev uint64
	changed  int64 // nanoseconds; 0 where the system does not report it
	links    uint32
	Kind     Kind
}

// Stamp changes whenever the file may have: time, size and identity.
func (m Meta) Stamp() string {
	return fmt.Sprintf("%x-%x-%x", m.Modified.UnixNano(), m.Size, m.ino)
}

// Same reports whether two looks saw one unchanged file: by its stamp, and by its change time (ctime),
// which no writer can set back.
func (m Meta) Same(o Meta) bool {
	return m.ino == o.ino && m.Size == o.Size && m.Kind == o.Kind && m.changed == o.changed && m.Modified.Equal(o.Modified)
}

// SameDevice reports whether two files are on one file system.
func (m Meta) SameDevice(o Meta) bool { return m.dev == o.dev }

// Settled reports whether the file's change time is before a time. A file that changed just now may change
// again within one tick of the file system's clock.
func (m Meta) Settled(before time.Time) bool { return m.changed < before.UnixNano() }

// Known returns a hash of a file's device, inode, size and times, and of its place; ok is false where the
// system reports no change time.
func (m Meta) Known(seed uint64, at Place) (hash uint64, ok bool) {
	if m.changed == 0 || m.Kind != File {
		return 0, false
	}
	var b [48]byte
	for i, v := range [...]uint64{seed, m.dev, m.ino, uint64(m.Size), uint64(m.Modified.UnixNano()), uint64(m.changed)} {
		binary.NativeEndian.PutUint64(b[8*i:], v)
	}
	return xxhash.Sum64(b[:]) ^ bits.RotateLeft64(xxhash.Sum64String(at.Name), 1) ^ bits.RotateLeft64(xxhash.Sum64String(at.Dir), 2), true
}

// Parts are the part of Meta that a list keeps of many files: not the device, which is that of their directory, and not
// the number of names.
type Parts struct {
	Kind    Kind
	Size    int64
	Seconds int64 // since 1970, of the last change of the content
	Nanos   int64
	Inode   uint64
	Changed int64
}

// Parts takes a Meta apart.
func (m Meta) Parts() Parts {
	return Parts{m.Kind, m.Size, m.Modified.Unix(), int64(m.Modified.Nanosecond()), m.ino, m.changed}
}

// In is the Meta of a file in a directory.
func (p Parts) In(dir Meta) Meta {
	return Meta{Kind: p.Kind, Size: p.Size, Modified: time.Unix(p.Seconds, p.Nanos), ino: p.Inode, dev: dir.dev, changed: p.Changed}
}

func metaOf(fi fs.FileInfo) Meta {
	m := Meta{Modified: fi.ModTime()}
	m.identify(fi)
	switch t := fi.Mode().Type(); {
	case t == 0:
		m.Kind, m.Size = File, fi.Size()
	case t.IsDir():
		m.Kind = Directory
	case t&fs.ModeSymlink != 0:
		m.Kind = Link
	default:
		m.Kind = Special
	}
	return m
}

// Stat describes a name and follows no link at its end.
func (d *Dir) Stat(name string) (Meta, error) {
	if err := checkAny(name); err != nil {
		return Meta{}, err
	}
	fi, err := d.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return Meta{}, fail("look", name, err)
	}
	return metaOf(fi), nil
}

// Removable refuses to forget anything but a regular file: a link is neither followed nor removed.
func (d *Dir) Removable(name string) error {
	m, err := d.Stat(name)
	switch {
	case err != nil:
		return err
	case m.Kind == Directory:
		return model.Errorf(model.InvalidInput, "forget", "%q is a directory; forget its items one by one", name)
	case m.Kind != File:
		return model.Errorf(model.PermissionDenied, "forget", "%q is a symbolic link or a special file, which is neither followed nor removed", name)
	}
	return nil
}

// Plain is PermissionDenied, with ErrLink, when a directory in a name is a symbolic link: the name is then
// another one's of a file that has its own.
func (d *Dir) Plain(name string) error {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		if m, err := d.Stat(name[:i]); err == nil && m.Kind == Link {
			return fail("look", name, ErrLink)
		}
	}
	return nil
}

// Entry is one child of a directory.
type Entry struct {
	Name string
	Meta
}

// List returns the children of a directory, dotfiles included, sorted by name. A child that vanishes during
// the read is left out.
func (d *Dir) List(name string) ([]Entry, error) {
	if err := checkAny(name); err != nil {
		return nil, err
	}
	f, err := d.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, fail("list", name, err)
	}
	defer f.Close()
	children, err := f.ReadDir(-1)
	if err != nil {
		return nil, fail("list", name, err)
	}
	out := make([]Entry, 0, len(children))
	slices.SortFunc(children, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, c := range children {
		fi, err := c.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fail("list", name, err)
		default:
			out = append(out, Entry{c.Name(), metaOf(fi)})
		}
	}
	return out, nil
}

// ErrTooLarge is in the error of a Read of a file over its limit.
var ErrTooLarge = errors.New("the file is larger than the limit")

// MaxRead bounds every Read, in bytes: a sparse file costs its maker nothing, and read as a whole it would end
// the process.
const MaxRead = 256 << 20

// Read returns the bytes of a regular file. More than limit bytes are an error
// that holds ErrTooLarge and Unsupported, with the file's Meta; a limit of 0 means MaxRead.
func (d *Dir) Read(name string, limit int64) ([]byte, Meta, error) {
	if limit <= 0 {
		limit = MaxRead
	}
	f, m, err := d.reading(name)
	if err != nil {
		return nil, Meta{}, err
	}
	defer f.Close()
	if m.Size > limit {
		return nil, m, model.Errorf(model.Unsupported, "read", "%q: %w of %d bytes", name, ErrTooLarge, limit)
	}
	var data bytes.Buffer
	data.Grow(int(m.Size) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, m, fail("read", name, err)
	}
	if int64(data.Len()) > limit {
		return nil, m, model.Errorf(model.Unsupported, "read", "%q: %w of %d bytes", name, ErrTooLarge, limit)
	}
	return data.Bytes(), m, nil
}

// open opens an existing regular file. A link, a pipe or a file exchanged meanwhile is refused; nothing
// waits for a pipe's other end.
func (d *Dir) open(name string, flag int) (*os.File, Meta, error) {
	if err := CheckName(name); err != nil {
		return nil, Meta{}, err
	}
	// A live writer may rename over the file between the look and the opening; every time would be no
	// accident.
	for try := 1; ; try++ {
		f, m, err := d.openSeen(name, flag)
		if !errors.Is(err, errMoved) || try == openTries {
			return f, m, err
		}
	}
}

// reading is open for reading. The tree may hold a database that this process has open.
func (d *Dir) reading(name string) (*sharedfd.File, Meta, error) {
	if err := CheckName(name); err != nil {
		return nil, Meta{}, err
	}
	seen, err := d.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil, Meta{}, fail("open", name, err)
	}
	f, err := sharedfd.Open(seen, func() (*os.File, error) {
		f, _, err := d.open(name, os.O_RDONLY)
		return f, err
	})
	if err != nil {
		return nil, Meta{}, err
	}
	got, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, Meta{}, fail("open", name, err)
	}
	return f, metaOf(got), nil
}

// openTries bounds the openings of an exchanged file.
const openTries = 100

func (d *Dir) openSeen(name string, flag int) (*os.File, Meta, error) {
	path := filepath.FromSlash(name)
	seen, err := d.root.Lstat(path)
	if err != nil {
		return nil, Meta{}, fail("open", name, err)
	}
	if !seen.Mode().IsRegular() {
		return nil, Meta{}, fail("open", name, notPlain(seen))
	}
	f, err := d.root.OpenFile(path, flag|syscall.O_NONBLOCK, 0) // a pipe that replaced the file is not waited for
	if err != nil {
		return nil, Meta{}, fail("open", name, err)
	}
	got, err := f.Stat()
	if err == nil && !os.SameFile(seen, got) {
		err = errMoved
	}
	if err != nil {
		_ = f.Close()
		return nil, Meta{}, fail("open", name, err)
	}
	return f, metaOf(got), nil
}

// MkdirAll makes a directory and its parents. New ones get the mode and, for root, the owner of their
// parent. An existing directory is no error. InvalidInput, before anything is made, for one below MaxDepth.
func (d *Dir) MkdirAll(name string, mode fs.FileMode) error {
	if name == "." {
		return nil
	}
	if err := CheckName(name); err != nil {
		return err
	}
	if fi, err := d.root.Stat(filepath.FromSlash(name)); err == nil && fi.IsDir() {
		return nil
	}
	if depth := strings.Count(name, "/") + 1; depth > MaxDepth {
		return model.Errorf(model.InvalidInput, "make directory", "%d directories that hold one another are too many: at most %d are made", depth, MaxDepth)
	}
	parent := "."
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		part := name[:i]
		if err := d.mkdir(parent, part, mode); err != nil {
			return fail("make directory", name, err)
		}
		parent = part
	}
	return nil
}

func (d *Dir) mkdir(parent, name string, mode fs.FileMode) error {
	path := filepath.FromSlash(name)
	err := d.root.Mkdir(path, mode.Perm())
	if errors.Is(err, fs.ErrExist) {
		fi, err := d.root.Stat(path)
		if err == nil && !fi.IsDir() {
			err = notPlain(fi)
		}
		return err
	}
	if err != nil {
		return err
	}
	above, err := d.root.Stat(filepath.FromSlash(parent))
	if err != nil {
		return err
	}
	made, err := d.give(path, above)
	if err != nil {
		_ = d.root.Remove(path)
		return err
	}
	// Chmod comes last: the umask has cleared bits, and a change of owner the setgid bit. It is left out where it
	// is needless: by a user outside the group it would clear the setgid bit.
	if made.Mode()&(fs.ModePerm|fs.ModeSetgid) != mode {
		if err := d.root.Chmod(path, mode); err != nil {
			return err
		}
	}
	if err := d.at(StepMakeDir); err != nil {
		return err
	}
	return syncDir(d.root, parent) // or a power loss takes the directory and what is written in it
}

// give gives a new file the owner of like, as far as the system allows: root sets owner and group, other
// users the group alone. It is an error when like is writable for a group that the new file cannot get: the
// users that share the directory would be locked out of it.
func (d *Dir) give(path string, like fs.FileInfo) (fs.FileInfo, error) {
	made, err := d.root.Lstat(path)
	if err != nil {
		return nil, err
	}
	uid, gid, ok := owner(like)
	if !ok {
		return made, nil
	}
	if os.Geteuid() == 0 {
		err = d.root.Lchown(path, uid, gid)
	} else if _, has, _ := owner(made); has != gid {
		err = d.root.Lchown(path, -1, gid)
		switch {
		case err != nil && like.Mode()&groupWrite == 0:
			err = nil
		case err != nil:
			err = model.Errorf(model.PermissionDenied, "give", "this user is not in group %d, which shares the directory, so the store's other users could not use what it makes; run as root or as a member of that group", gid)
		}
	}
	if err != nil {
		return nil, err
	}
	return d.root.Lstat(path)
}

const groupWrite fs.FileMode = 0o020

// Remove unlinks a regular file and makes that durable. A directory, a link and
// a special file are refused.
func (d *Dir) Remove(name string) error { return d.remove(name, File, Meta.notFile) }

// RemoveDir removes an empty directory; anything else stays and is an error.
func (d *Dir) RemoveDir(name string) error {
	return d.remove(name, Directory, func(Meta) error { return errors.New("it is no directory") })
}

// Unlink removes a symbolic link, never its target. It is NotFound when it is gone.
func (d *Dir) Unlink(name string) error {
	return d.remove(name, Link, func(Meta) error { return errors.New("it is no symbolic link") })
}

func (d *Dir) remove(name string, kind Kind, other func(Meta) error) error {
	m, err := d.Stat(name)
	if err != nil {
		return err
	}
	if m.Kind != kind {
		return fail("remove", name, other(m))
	}
	if err := d.at(StepRemove); err != nil {
		return fail("remove", name, err)
	}
	if err := d.root.Remove(filepath.FromSlash(name)); err != nil {
		return fail("remove", name, err)
	}
	if err := syncDir(d.root, parentOf(name)); err != nil {
		return fail("remove", name, fmt.Errorf("removed, but not known to be durable: %w", bare(err)))
	}
	return nil
}

// Readlink returns the target of a symbolic link.
func (d *Dir) Readlink(name string) (string, error) {
	to, err := d.root.Readlink(filepath.FromSlash(name))
	if err != nil {
		return "", fail("remove", name, err)
	}
	return to, nil
}

// Mode returns a file's permission bits.
func (d *Dir) Mode(name string) (fs.FileMode, error) {
	fi, err := d.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return 0, fail("mode", name, err)
	}
	return fi.Mode().Perm(), nil
}

func parentOf(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return "."
}

func baseOf(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

func syncDir(root *os.Root, name string) error {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Readable reports whether a directory's names can be read; it reads one.
func (d *Dir) Readable(name string) error {
	if err := checkAny(name); err != nil {
		return err
	}
	f, err := d.root.Open(filepath.FromSlash(name))
	if err != nil {
		return fail("look", name, err)
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return fail("look", name, err)
	}
	return nil
}

// Reader opens a regular file for reading from its start, as Read does. The
// caller closes it.
func (d *Dir) Reader(name string) (io.ReadCloser, Meta, error) {
	f, m, err := d.reading(name)
	if err != nil {
		return nil, Meta{}, err
	}
	return f, m, nil
}

// Links is the number of the file's names; 0 when unknown. More than one means that removing this name
// leaves the bytes under another.
func (m Meta) Links() uint64 { return uint64(m.links) }

func (m Meta) notFile() error {
	if m.Kind == Link {
		return ErrLink
	}
	return ErrNotFile
}

// Peek returns at most limit bytes from the beginning of the regular file at a path, which comes from the
// operator: links are followed. It waits for no pipe.
func Peek(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.Join(ErrNotFile, err)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}
