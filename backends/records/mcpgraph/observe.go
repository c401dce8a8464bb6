package mcpgraph

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/model"
)

// observe reports each line that the server cannot use, and data that its next write would drop (MG7).
func (f *file) observe(tx records.Tx) ([]model.HealthFinding, error) {
	var out []model.HealthFinding
	more := 0
	lines := tx.(graphTx).lines
	for _, l := range lines {
		if l.more != "" {
			more++
		}
		if l.tier != problemTier {
			continue
		}
		what := map[string]string{
			whyNotJSON: "is not JSON: the memory server fails on every call", whyNotObject: "is not an object: the memory server fails on null, and its next write drops another value",
			whyType: "is of an unknown type: the server's next write drops it", whyShape: "has not the shape of its type, or no name: search and adding may fail on it",
			whyBytes: "has bytes that are not UTF-8: the memory server reads U+FFFD in their place, and its next write keeps that; retain its text anew, then `memdesk forget` removes the line for good", whyDuplicate: "repeats a name or a relation: the first line counts",
		}[l.why]
		if l.why == whyNotJSON && l.number == len(lines) {
			what = "is the last one and is cut off, without a newline: the memory server fails on every call"
		}
		out = append(out, records.Finding("line", l.id, fmt.Sprintf("line %d %s", l.number, what)))
	}
	if more > 0 {
		out = append(out, records.Finding("line", "", fmt.Sprintf("%d lines have keys that the server's next write drops", more)))
	}
	var dangling int64
	_, err := records.One(tx, `SELECT count(*) FROM items r WHERE r.tier = 'relation' AND (r.origin NOT IN (SELECT name FROM items WHERE tier = 'entity') OR r.target NOT IN (SELECT name FROM items WHERE tier = 'entity'))`, nil, &dangling)
	if err != nil {
		return nil, err
	}
	if dangling > 0 {
		out = append(out, records.Finding("orphan", "", fmt.Sprintf("%d relations lead to an entity that is not there", dangling)))
	}
	all, _ := f.kept() // Look reports a directory that cannot be listed
	if left := slices.DeleteFunc(all, func(k records.File) bool { return k.Why != "" }); len(left) > 0 {
		out = append(out, records.Finding("left", left[0].ID, fmt.Sprintf("%d files of interrupted writes or repairs lie beside the store", len(left))))
	}
	if info, err := os.Stat(f.path); err == nil && time.Since(info.ModTime()) < time.Minute {
		out = append(out, records.Finding("live", "", "the file changed within the last minute: a server may be writing, and its writes can undo others"))
	}
	return out, nil
}

// repairer sets aside lines that are not JSON or of an unknown type (MG8).
type repairer struct {
	f     *file
	clock clock.Clock
}

func (r repairer) Broken(ctx context.Context) ([]string, error) {
	var out []string
	err := r.f.View(ctx, "broken", func(tx records.Tx) error {
		for _, l := range tx.(graphTx).lines {
			if l.why == whyNotJSON || l.why == whyNotObject || l.why == whyType {
				out = append(out, l.id)
			}
		}
		return nil
	})
	return out, err
}

func (r repairer) SetAside(ctx context.Context, ids []string) (string, error) {
	const op = "set-aside"
	aside := r.f.path + ".aside-" + r.clock.Now().UTC().Format("20060102T150405.000000Z") + ".jsonl"
	err := r.f.View(ctx, op, func(tx records.Tx) error {
		wanted := map[string]bool{}
		for _, id := range ids {
			wanted[id] = true
		}
		var out []byte
		for _, l := range tx.(graphTx).lines {
			if l.tier != "" && wanted[l.id] {
				delete(wanted, l.id)
				out = append(append(out, l.raw...), '\n')
			}
		}
		if len(wanted) > 0 {
			return model.Errorf(model.NotFound, op, "%d of the lines are gone", len(wanted))
		}
		info, err := os.Stat(r.f.path)
		if err != nil {
			return litefile.Worded(op, err)
		}
		err = atomicfile.Create(aside, func(w io.Writer) error { _, err := w.Write(out); return err })
		if err == nil {
			err = os.Chmod(aside, info.Mode().Perm())
		}
		return litefile.Worded(op, err)
	})
	return filepath.Base(aside), err
}
