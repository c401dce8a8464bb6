package gdpr

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// handles reports a process that still holds a removed file open whose bytes name the subject: they stay on
// the disk until it closes the file. Only processes that this user may inspect are checked; false when there
// is no such file.
func (x *run) handles(ctx context.Context, s model.Store) (receipt.Layer, bool) {
	row := receipt.Layer{Store: s.Name, Layer: "open handles", Method: "removed files that processes hold open, byte scan", Verdict: model.VerdictPending}
	root, err := filepath.EvalSymlinks(s.Location)
	if err != nil || !filepath.IsAbs(root) {
		return row, false
	}
	if x.unlinked == nil {
		x.unlinked = unlinked()
	}
	for fd, name := range x.unlinked {
		if name != root && !strings.HasPrefix(name, root+"/") {
			continue
		}
		n, hits := x.scanHandle(ctx, fd)
		row.BytesScanned += n
		row.Hits += hits
	}
	row.Reason = "a process still holds a removed file open, its bytes stay until it lets go: end it, or wait, and run it again"
	return row, row.Hits > 0
}

// unlinked are the open files whose name is gone, by their path in /proc, with their former name.
func unlinked() map[string]string {
	out := map[string]string{}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return out
	}
	for _, p := range processes {
		if name := p.Name(); name[0] < '0' || name[0] > '9' {
			continue
		}
		dir := "/proc/" + p.Name() + "/fd"
		open, err := os.ReadDir(dir)
		if err != nil {
			continue // another user's process, or one that has ended
		}
		for _, fd := range open {
			to, err := os.Readlink(dir + "/" + fd.Name())
			if name, gone := strings.CutSuffix(to, " (deleted)"); err == nil && gone {
				out[dir+"/"+fd.Name()] = name
			}
		}
	}
	return out
}

// scanHandle reads an open file whose name is gone.
func (x *run) scanHandle(ctx context.Context, fd string) (read, hits int64) {
	f, err := os.Open(fd)
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, 0
	}
	rep, err := x.m.Scan(ctx, f, nil)
	if err != nil {
		return rep.Bytes, 0
	}
	return rep.Bytes, rep.Hits
}
