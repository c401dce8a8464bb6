package litefile

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"memdesk/model"
)

// triggers is the guard against triggers: which are known, and the schema versions of the file and the attached ones that were
// found without others, none before the first look.
type triggers struct {
	guarded bool
	known   *regexp.Regexp
	seen    []int64
}

// GuardTriggers makes the file read-only when it has a trigger that known does not
// match; nil knows none. A trigger runs with every write to its table and can change
// or delete rows that nobody asked for. known sees the statement's tokens with one
// space between them. A trigger that comes later is PermissionDenied in the change
// that meets it. It is called once, before the first change.
func (f *File) GuardTriggers(ctx context.Context, known *regexp.Regexp) error {
	f.triggers = triggers{guarded: true, known: known}
	var reason string
	err := f.View(ctx, "open", func(q *Query) (err error) {
		reason, err = f.foreignTrigger(q)
		return err
	})
	if err != nil || reason == "" || f.writer == nil {
		return err
	}
	err = f.writer.Close()
	f.writer, f.readOnly = nil, reason
	return Worded("open", err)
}

// Trigger says why a trigger of somebody else forbids changes now; empty where none
// does, or nobody asked for the guard.
func (f *File) Trigger(ctx context.Context) (reason string, err error) {
	if !f.triggers.guarded {
		return "", nil
	}
	err = f.View(ctx, "health", func(q *Query) (err error) {
		reason, err = f.foreignTrigger(q)
		return err
	})
	return reason, err
}

// foreignTrigger says why a trigger that is not known forbids changes; empty when
// there is none.
func (f *File) foreignTrigger(q *Query) (reason string, err error) {
	var each []string
	for _, schema := range f.schemas {
		each = append(each, `SELECT name, tbl_name, COALESCE(sql, '') FROM `+quote(schema)+`.sqlite_master WHERE type = 'trigger'`)
	}
	err = q.Each(strings.Join(each, ` UNION ALL `)+` ORDER BY 1`, nil,
		func(scan func(...any) error) error {
			var name, table, ddl string
			if err := scan(&name, &table, &ddl); err != nil || reason != "" {
				return err
			}
			if f.triggers.known == nil || !f.triggers.known.MatchString(strings.Join(Tokens(ddl), " ")) {
				reason = fmt.Sprintf("the file has a trigger that memdesk does not know, %.80q on the table %.80q: it would run with every change "+
					"and could alter or remove other items; look at it, and drop it or work on a copy without it", name, table)
			}
			return nil
		})
	return reason, err
}

// refuseTriggers looks again where the schema has changed. It runs inside the
// transaction that is about to change the file, of which there is one at a time.
func (f *File) refuseTriggers(q *Query) error {
	if !f.triggers.guarded {
		return nil
	}
	now := make([]int64, len(f.schemas))
	for i, schema := range f.schemas {
		if _, err := q.One(`PRAGMA `+quote(schema)+`.schema_version`, nil, &now[i]); err != nil {
			return err
		}
	}
	if slices.Equal(now, f.triggers.seen) {
		return nil
	}
	reason, err := f.foreignTrigger(q)
	if err != nil {
		return err
	}
	if reason != "" {
		return model.Errorf(model.PermissionDenied, q.op, "%s is read-only: %s", f.Name, reason)
	}
	f.triggers.seen = now
	return nil
}
