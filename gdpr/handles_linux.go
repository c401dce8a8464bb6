package gdpr

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// handles reports a process that still holds a removed file open: one that the plan changes, one whose bytes or name name
// the subject, or one that cannot be read to the end. Its bytes stay on the disk until the process closes it. Only processes
// that this user may inspect are checked; false when there is no such file.
func (x *run) handles(ctx context.Context, s model.Store, sp StorePlan) (receipt.Layer, bool) {
	row := receipt.Layer{Store: s.Name, Layer: "open handles", Method: "removed files that processes hold open, byte scan", Verdict: model.VerdictPending}
	root, err := filepath.EvalSymlinks(s.Location)
	if err != nil || !filepath.IsAbs(root) {
		return row, false
	}
	if x.unlinked == nil {
		x.unlinked = unlinked()
	}
	var closed []string
	for fd, name := range x.unlinked {
		beside, isBeside := strings.CutPrefix(name, root+"-") // of a database
		if name != root && !strings.HasPrefix(name, root+"/") && !(isBeside && slices.Contains([]string{"wal", "shm", "journal"}, beside)) {
			continue
		}
		rep, err := x.scanHandle(ctx, fd)
		row.BytesScanned += rep.Bytes
		row.Hits += rep.Hits
		if id, below := strings.CutPrefix(name, root+"/"); below && (sp.changes(id) || x.m.Names(id)) { // root may name the subject: it stays
			row.Hits++
		}
		closed = append(closed, rep.Closed...)
		if err != nil {
			closed = append(closed, "it could not be read to the end")
		}
	}
	row.Reason = "a process still holds a removed file open, its bytes stay until it lets go: end it, or wait, and run it again"
	if row.Hits == 0 && len(closed) > 0 {
		slices.Sort(closed)
		row.Verdict, row.Reason = model.VerdictUnaudited, withWords(row.Reason, slices.Compact(closed))
	}
	return row, row.Hits > 0 || len(closed) > 0
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

// changes reports whether the plan changes the item of a file's name, which may be the temporary one of that change.
func (sp *StorePlan) changes(name string) bool {
	return slices.ContainsFunc(sp.Steps, func(st Step) bool {
		return st.changes() && (name == st.ID || strings.HasPrefix(name, st.ID+".tmp."))
	})
}

// scanHandle reads an open file whose name is gone; nothing where it is closed meanwhile.
func (x *run) scanHandle(ctx context.Context, fd string) (subject.Report, error) {
	f, err := os.Open(fd)
	if errors.Is(err, fs.ErrNotExist) {
		return subject.Report{}, nil
	}
	if err != nil {
		return subject.Report{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return subject.Report{}, nil
	}
	return x.m.Scan(ctx, f, nil)
}
