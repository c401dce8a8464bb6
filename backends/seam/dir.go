package seam

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/model"
)

// DirOptions configure a Dir.
type DirOptions struct {
	// CreateRoot lets the first write make a missing root; until then the tree is
	// empty. Without it a missing root is Unavailable.
	CreateRoot bool
	// RootMode and FileMode are the modes of new directories and files; 0 means 0755 and 0644. Directories
	// below the root get RootMode too.
	RootMode, FileMode fs.FileMode
	Capabilities       Capabilities
	Strategy           string // empty: StrategyNone
	// Guard takes the lock that foreign writers of the store honour; nil without such a lock.
	Guard Guard
	Clock clock.Clock // names conflict copies; nil means the system's
	// Fault lets a test fail a step of a write; nil otherwise.
	Fault Fault
}

// Guard takes a lock shared with other programs and is called once per change. It is Locked when another
// program holds it until the context or the lock's own patience ends.
type Guard func(ctx context.Context) (Held, error)

// Held is a taken lock. Release is called exactly once.
type Held interface {
	// Check is an error when another program has taken over the lock; it is called right before a change.
	Check() error
	Release()
}

// Fault injects a failure before a step of a write; see rootdir.
type Fault = rootdir.Fault

// Step is a point of a write or a removal where a Fault may strike.
type Step = rootdir.Step

// ErrCrash from a Fault stands for the death of the process at that step.
var ErrCrash = rootdir.ErrCrash

// The steps in their order; StepRemove stands alone.
const (
	StepCreate  = rootdir.StepCreate
	StepWrite   = rootdir.StepWrite
	StepSync    = rootdir.StepSync
	StepRename  = rootdir.StepRename
	StepSyncDir = rootdir.StepSyncDir
	StepRemove  = rootdir.StepRemove
	// StepExchange comes after the exchange of two files.
	StepExchange = rootdir.StepExchange
)

// Dir is a Tree over a directory. It opens the directory anew for each call, so that a vanished or
// exchanged root is an error and never an empty tree. It follows no symbolic link at the end of a key, and
// none out of the root.
type Dir struct {
	path string
	opt  DirOptions
}

var _ Tree = (*Dir)(nil)

// OpenDir returns the tree over the directory at path. It only stats the root, and makes nothing:
// InvalidInput for an empty path or a file, Unavailable for a missing root that may not be created.
func OpenDir(path string, opt DirOptions) (*Dir, error) {
	if path == "" {
		return nil, model.Errorf(model.InvalidInput, "open", "a text tree needs the path of its directory")
	}
	if opt.RootMode == 0 {
		opt.RootMode = 0o755
	}
	if opt.FileMode == 0 {
		opt.FileMode = 0o644
	}
	opt.Strategy = cmp.Or(opt.Strategy, StrategyNone)
	opt.Clock = clock.Or(opt.Clock)
	d := &Dir{path: path, opt: opt}
	root, err := d.open("open")
	if err != nil {
		return nil, err
	}
	if root != nil {
		return d, root.Close()
	}
	return d, nil
}

// Capabilities are those of the options.
func (d *Dir) Capabilities() Capabilities { return d.opt.Capabilities }

// ConflictStrategy is that of the options.
func (d *Dir) ConflictStrategy() string { return d.opt.Strategy }

// Resolve names a place.
func (d *Dir) Resolve(parts ...string) (Locator, error) { return Resolve(parts...) }

// open returns nil without an error for a root that the first write will make.
func (d *Dir) open(op string) (*rootdir.Dir, error) {
	root, err := rootdir.Open(d.path, d.opt.Fault)
	switch {
	case err == nil:
		return root, nil
	case errors.Is(err, model.NotFound) && d.opt.CreateRoot && d.absent():
		return nil, nil
	case errors.Is(err, rootdir.ErrNotDirectory):
		return nil, model.Errorf(model.InvalidInput, op, "the store's location is a file; name the directory that holds the texts")
	case errors.Is(err, model.NotFound):
		return nil, model.Errorf(model.Unavailable, op, "the store's directory is not there; check its path, or mount it")
	}
	return nil, err
}

// absent is false for a dangling link: a write must not go through it.
func (d *Dir) absent() bool {
	_, err := os.Lstat(d.path)
	return errors.Is(err, fs.ErrNotExist)
}

// reading runs fn on the root; fn gets nil when the root does not exist yet.
func (d *Dir) reading(ctx context.Context, op string, fn func(*rootdir.Dir) error) error {
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	root, err := d.open(op)
	if err != nil {
		return err
	}
	if root != nil {
		defer root.Close()
	}
	return fn(root)
}

// writing runs fn on the root, which it may create. Meanwhile it keeps out other writers of this program
// and those that honour the guard's lock.
func (d *Dir) writing(ctx context.Context, op string, fn func(*rootdir.Dir, Held) error) error {
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	root, err := d.open(op)
	if err != nil {
		return err
	}
	if root == nil {
		if err := os.MkdirAll(d.path, d.opt.RootMode); err != nil {
			return model.Errorf(model.PermissionDenied, op, "the store's directory cannot be made: %w", atomicfile.Pathless(err))
		}
		if root, err = rootdir.Open(d.path, d.opt.Fault); err != nil {
			return err
		}
	}
	defer root.Close()
	lock, err := root.LockDir(ctx, ".")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if d.opt.Guard == nil {
		return fn(root, unguarded{})
	}
	held, err := d.opt.Guard(ctx)
	if err != nil {
		return err
	}
	defer held.Release()
	return fn(root, held)
}

// unguarded is the lock of a store that has none.
type unguarded struct{}

func (unguarded) Check() error { return nil }
func (unguarded) Release()     {}

func name(at Locator) string {
	if at.IsRoot() {
		return "."
	}
	return at.Key()
}

func absent(op string, at Locator) error {
	return model.Errorf(model.NotFound, op, "%q does not exist", at.Key())
}

// Read returns a file's bytes.
func (d *Dir) Read(ctx context.Context, at Locator) (string, error) {
	var text string
	err := d.reading(ctx, "read", func(root *rootdir.Dir) error {
		if at.IsRoot() {
			return model.Errorf(model.PermissionDenied, "read", "the root is a directory")
		}
		if root == nil {
			return absent("read", at)
		}
		data, _, err := root.Read(at.Key(), 0)
		text = string(data)
		return err
	})
	return text, err
}

// Write replaces a file.
func (d *Dir) Write(ctx context.Context, at Locator, text string) (Locator, error) {
	return d.WriteIf(ctx, at, text, "")
}

// WriteIf replaces a file that is as expected.
func (d *Dir) WriteIf(ctx context.Context, at Locator, text string, expected model.Revision) (Locator, error) {
	if !utf8.ValidString(text) {
		return at, model.Errorf(model.InvalidInput, "write", "%q: the text is not UTF-8", at.Key())
	}
	_, err := d.Change(ctx, "write", at, func(old []byte, exists bool) (Edit, error) {
		if err := model.CheckMatch("write", expected, exists, RevisionOf(string(old))); err != nil {
			return Edit{}, err
		}
		return Edit{Data: []byte(text)}, nil
	})
	return at, err
}

// List gives the children of a directory.
func (d *Dir) List(ctx context.Context, at Locator) ([]Locator, error) {
	out := []Locator{}
	err := d.reading(ctx, "list", func(root *rootdir.Dir) error {
		if root == nil {
			return nil
		}
		m, err := root.Stat(name(at))
		if errors.Is(err, model.NotFound) || err == nil && m.Kind != rootdir.Directory {
			return nil
		}
		if err != nil {
			return err
		}
		children, err := root.List(name(at))
		for _, c := range children {
			if !strings.Contains(c.Name, `\`) {
				out = append(out, Locator{strings.TrimPrefix(at.key+"/"+c.Name, "/")})
			}
		}
		return err
	})
	return out, err
}

// Exists reports whether there is anything at the place.
func (d *Dir) Exists(ctx context.Context, at Locator) (bool, error) {
	_, err := d.Info(ctx, at)
	if errors.Is(err, model.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// Info describes a place.
func (d *Dir) Info(ctx context.Context, at Locator) (Info, error) {
	var info Info
	err := d.reading(ctx, "info", func(root *rootdir.Dir) error {
		if root == nil {
			return absent("info", at)
		}
		m, err := root.Stat(name(at))
		if err != nil {
			return err
		}
		info = Info{
			Locator: at, Dir: m.Kind == rootdir.Directory, Size: m.Size, Modified: m.Modified,
			Irregular: m.Kind == rootdir.Link || m.Kind == rootdir.Special, Stamp: m.Stamp(),
		}
		return nil
	})
	return info, err
}

// Mkdir makes a directory.
func (d *Dir) Mkdir(ctx context.Context, at Locator) (Locator, error) {
	return at, d.writing(ctx, "mkdir", func(root *rootdir.Dir, _ Held) error {
		return root.MkdirAll(name(at), d.opt.RootMode)
	})
}

// Remove unlinks a file that is as expected.
func (d *Dir) Remove(ctx context.Context, at Locator, expected model.Revision) (bool, error) {
	if at.IsRoot() {
		return false, model.Errorf(model.InvalidInput, "remove", "the root is not removed: name a file below it")
	}
	there := false
	_, err := d.Change(ctx, "remove", at, func(old []byte, exists bool) (Edit, error) {
		if there = exists; !exists {
			return Edit{Keep: true}, nil
		}
		return Edit{Remove: true}, model.CheckMatch("remove", expected, true, RevisionOf(string(old)))
	})
	return there && err == nil, err
}
