package litefile

import (
	"context"
	"strings"
	"time"

	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// pageErrors is how many faults of the file a check names.
const pageErrors = 3

// Look reports within Health's deadline whether the file can be written: permission, free
// space, and a lock that another process keeps.
func (f *File) Look(now time.Time) []model.HealthFinding {
	if f.readOnly != "" || f.memory != nil { // a database in memory lies on no disk
		return nil
	}
	return append(vitals.Disk(f.Path), f.locks.Look(now, f.Path, f.Path+"-shm")...)
}

// Deep reads every page (PRAGMA quick_check). It takes as long as reading the file.
func (f *File) Deep(ctx context.Context) []model.HealthFinding {
	var faults []string
	err := f.View(ctx, "health", func(q *Query) error {
		faults = nil
		if err := refreshIndexes(q); err != nil {
			return err
		}
		return q.Each(`PRAGMA quick_check(3)`, nil, func(scan func(...any) error) error {
			var line string
			if err := scan(&line); err != nil {
				return err
			}
			if line != "ok" {
				faults = append(faults, line)
			}
			return nil
		})
	})
	switch {
	case err != nil && model.KindOf(err) == model.Internal:
		faults = append(faults, err.Error())
	case err != nil:
		return nil // locked, interrupted or gone: the look says so
	}
	if len(faults) == 0 {
		return nil
	}
	return vitals.Down(model.FindingPage, "the file is damaged ("+strings.Join(faults[:min(len(faults), pageErrors)], "; ")+
		"): some items cannot be read; restore it from a back-up, or save what can be read with `sqlite3 FILE .recover`")
}

// refreshIndexes begins a read of every FTS5 table. The check of FTS5 itself does not: it looks for the
// parts of the index that its connection knew last, and calls those corrupt that another process has
// merged since.
func refreshIndexes(q *Query) error {
	tables, err := Texts(q, `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'create virtual table%using%fts5%'`)
	for _, name := range tables {
		if err == nil {
			_, err = q.One(`SELECT count(*) FROM (SELECT rowid FROM `+quote(name)+` LIMIT 1)`, nil, new(int64))
		}
	}
	return err
}
