// Package statedir is the private directory of memdesk's own files: audit log, undo, jobs and keys. It
// creates the directory on first write and checks its format; the files belong to the packages that write
// them.
package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"memdesk/internal/atomicfile"
)

// ErrNoHome is returned when the place for state is unknown.
var ErrNoHome = errors.New("neither HOME nor XDG_STATE_HOME is set to an absolute path: no place for the audit log")

// Path is $XDG_STATE_HOME/memdesk, or ~/.local/state/memdesk. It touches nothing.
func Path(env func(string) string) (string, error) {
	if d := Base(env, "XDG_STATE_HOME", ".local/state"); d != "" {
		return d, nil
	}
	return "", ErrNoHome
}

// Base is memdesk's directory below the one that an XDG variable names, else below rel in the home directory;
// empty without either. A relative path is ignored, as by the XDG specification: every working directory would have
// its own.
func Base(env func(string) string, variable, rel string) string {
	if d := env(variable); filepath.IsAbs(d) {
		return filepath.Join(d, "memdesk")
	}
	if h := env("HOME"); filepath.IsAbs(h) {
		return filepath.Join(h, rel, "memdesk")
	}
	return ""
}

// Check reports why the directory cannot be used, nil when it can or does not exist yet. It creates nothing.
func Check(dir string) error { return current.check(dir) }

// Ensure creates the directory with mode 0700 and its format mark.
func Ensure(dir string) error { return current.ensure(dir) }

// Migrate brings a directory to the newest format, step by step, each marked when done: the next call
// continues an interrupted migration. It refuses a directory of a newer version and does not create an absent
// one.
func Migrate(dir string) (from, to int, err error) { return current.migrate(dir) }

// Older reports whether Migrate would change the directory. The error says why it cannot: for example, a
// newer version wrote it.
func Older(dir string) (bool, error) {
	format, there, err := current.known(dir)
	return there && format < current.format, err
}

// barredError says why nothing may be written into the directory.
type barredError string

// Error implements error.
func (e barredError) Error() string { return string(e) }

// Barred is an error when nothing may be written into the directory, not even the record of a refusal: this
// version does not know its format, another user owns it, or any user may replace it.
func Barred(dir string) error {
	_, _, err := current.known(dir)
	if barred := barredError(""); errors.As(err, &barred) {
		return barred
	}
	return nil
}

// layout is the newest format that a version of the program knows.
type layout struct {
	format int
	// steps[n] turns format n into n+1. It can be repeated after an interruption.
	steps []func(dir string) error
}

// current is the layout of this version. Format 0 is a directory without a mark, as restored from a backup
// without it: only the mark is missing.
var current = layout{1, []func(string) error{func(string) error { return nil }}}

// mark is the file that holds the format.
const mark = "format"

// known reads the format of a private directory; ok is false when it does not exist.
func (l layout) known(dir string) (format int, ok bool, err error) {
	if err := guarded(dir); err != nil {
		return 0, false, err
	}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("the state directory cannot be read: %w", atomicfile.Pathless(err))
	case !st.IsDir():
		return 0, false, errors.New("a file stands where the state directory should be")
	case st.Mode().Perm()&0o077 != 0:
		return 0, false, fmt.Errorf("the state directory is open to others (mode %04o); run chmod 700 on it", st.Mode().Perm())
	}
	if own, isUnix := st.Sys().(*syscall.Stat_t); isUnix && int(own.Uid) != os.Geteuid() {
		return 0, false, barredError("the state directory belongs to another user")
	}
	if st, err := os.Stat(filepath.Join(dir, mark)); err == nil && !st.Mode().IsRegular() { // another kind may have no end
		return 0, true, barredError("the state directory's format is no regular file")
	}
	data, err := atomicfile.ReadFile(filepath.Join(dir, mark))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, true, nil
	}
	if err != nil {
		return 0, true, fmt.Errorf("the state directory's format cannot be read: %w", atomicfile.Pathless(err))
	}
	format, err = strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || format < 1 || format > l.format {
		return 0, true, barredError(fmt.Sprintf("the state directory has format %.20q, this version knows %d: use the memdesk that wrote it, or a newer one", strings.TrimSpace(string(data)), l.format))
	}
	return format, true, nil
}

// guarded refuses a place where any user may replace the state directory: below a directory, by its name or
// behind links, that everybody may write and that is not sticky.
func guarded(dir string) error {
	places := []string{filepath.Dir(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		places = append(places, filepath.Dir(real))
	} else if real, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		places = append(places, real)
	}
	for _, p := range places {
		for ; ; p = filepath.Dir(p) {
			st, err := os.Stat(p)
			if err == nil && st.IsDir() && st.Mode().Perm()&0o002 != 0 && st.Mode()&fs.ModeSticky == 0 {
				return barredError(fmt.Sprintf("everybody may replace the state directory: a directory above it has mode %04o; take the right to write from others", st.Mode().Perm()))
			}
			if p == filepath.Dir(p) {
				break
			}
		}
	}
	return nil
}

func (l layout) check(dir string) error {
	format, _, err := l.known(dir)
	if err == nil && format > 0 && format < l.format {
		err = fmt.Errorf("the state directory has format %d, this version writes %d: run `memdesk state migrate`", format, l.format)
	}
	return err
}

func (l layout) ensure(dir string) error {
	if err := l.check(dir); err != nil {
		return err
	}
	if err := atomicfile.MakeDirs(atomicfile.OS{}, dir); err != nil {
		return fmt.Errorf("the state directory cannot be made: %w", atomicfile.Pathless(err))
	}
	path := filepath.Join(dir, mark)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	// Whole or not at all: another memdesk that starts now must not read an empty mark.
	if err := atomicfile.Write(path, fmt.Appendln(nil, l.format), 0o600); err != nil {
		return fmt.Errorf("the state directory cannot be written: %w", atomicfile.Pathless(err))
	}
	return nil
}

func (l layout) migrate(dir string) (from, to int, err error) {
	from, there, err := l.known(dir)
	if err != nil || !there {
		return 0, 0, err
	}
	for to = from; to < l.format; to++ {
		if err := l.steps[to](dir); err != nil {
			return from, to, fmt.Errorf("the state directory is of format %d: %w", to, atomicfile.Pathless(err))
		}
		if err := atomicfile.Write(filepath.Join(dir, mark), fmt.Appendln(nil, to+1), 0o600); err != nil {
			return from, to, fmt.Errorf("the state directory cannot be written: %w", atomicfile.Pathless(err))
		}
	}
	return from, to, nil
}

// Cause is why a file of the state directory cannot be written, with the command that says where the directory
// lies: the path itself may name a person.
func Cause(err error) error {
	err = atomicfile.Pathless(err)
	advice := ""
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		advice = ": make room there, then run the same command again"
	}
	return fmt.Errorf("%w in memdesk's state directory (`memdesk info` says where it lies)%s", err, advice)
}
