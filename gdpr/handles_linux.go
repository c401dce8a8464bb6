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

// handles reports a process that still holds a removed file open: that of an item which the plan changes, or the temporary
// file of that change, one whose bytes or name name the subject, or one that cannot be read to the end. Its bytes stay on the
// disk until the process closes it. Only processes that this user may inspect are checked; false when there is no such file.
func (x *run) handles(ctx context.Context, s model.Store, p *part) (receipt.Layer, bool) {
	row := receipt.Layer{Store: s.Name, Layer: "open handles", Method: "removed files that processes hold open, byte scan", Verdict: model.VerdictPending}
	root, err := filepath.EvalSymlinks(s.Location)
	if err != nil || !filepath.IsAbs(root) {
		return row, false
	}
	if x.unlinked == nil {
		x.unlinked = unlinked()
	}
	var changed, closed []string
	path := files(&s)
	for _, st := range p.Steps {
		if st.changes() {
			changed = append(changed, path(st.ID))
		}
	}
	for fd, name := range x.unlinked {
		beside, isBeside := strings.CutPrefix(name, root+"-") // of a database
		id, below := strings.CutPrefix(name, root+"/")
		was := slices.ContainsFunc(changed, func(file string) bool { return name == file || strings.HasPrefix(name, file+".tmp.") })
		if name != root && !below && !was && !(isBeside && slices.Contains([]string{"wal", "shm", "journal"}, beside)) {
			continue
		}
		rep, err := x.scanHandle(ctx, fd)
		row.BytesScanned += rep.Bytes
		row.Hits += rep.Hits
		if was || below && x.m.Names(id) { // root may name the subject: it stays
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
