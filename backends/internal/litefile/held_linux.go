package litefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Held says which other process has the database, or a file that SQLite keeps beside it, open
// or locked; empty: none. Descriptors are looked at for the processes of this user and of the
// file's owner, locks for all. An error means that it cannot be told.
func Held(path string) (by string, err error) {
	var files []fs.FileInfo
	users := map[uint32]bool{uint32(os.Geteuid()): true}
	for _, suffix := range own {
		info, err := os.Stat(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", Worded("look", err)
		}
		files = append(files, info)
		users[info.Sys().(*syscall.Stat_t).Uid] = true
	}
	if by, err = lockedBy(files); by != "" || err != nil {
		return by, err
	}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return "", errors.New("the system does not tell which processes hold files open")
	}
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		switch open, err := opens(pid, files); {
		case open:
			return fmt.Sprintf("process %d has it open", pid), nil
		case errors.Is(err, fs.ErrPermission):
			if info, serr := os.Stat("/proc/" + p.Name()); serr == nil && users[info.Sys().(*syscall.Stat_t).Uid] {
				return "", fmt.Errorf("process %d may not be looked at: whether it has the file open is unknown", pid)
			}
		}
	}
	return "", nil
}

// opens reports whether a process has one of the files open. A process that has ended has not.
func opens(pid int, files []fs.FileInfo) (bool, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	open, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, fd := range open {
		info, err := os.Stat(dir + "/" + fd.Name())
		if err != nil {
			continue // a socket, or closed meanwhile
		}
		for _, f := range files {
			if os.SameFile(f, info) {
				return true, nil
			}
		}
	}
	return false, nil
}

// lockedBy reads the system's table of locks. It names files by their inode; the device in it
// is another one than stat's on layered file systems, so that the inode alone counts.
func lockedBy(files []fs.FileInfo) (string, error) {
	table, err := os.ReadFile("/proc/locks")
	if err != nil {
		return "", errors.New("the system does not tell which files are locked")
	}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(strings.Replace(line, "->", "", 1))
		if len(f) < 6 {
			continue
		}
		inode := f[5][strings.LastIndexByte(f[5], ':')+1:]
		for _, info := range files {
			if inode == strconv.FormatUint(info.Sys().(*syscall.Stat_t).Ino, 10) && f[4] != strconv.Itoa(os.Getpid()) {
				return "process " + f[4] + " has locked it", nil
			}
		}
	}
	return "", nil
}
