package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// ErrBadCursor reports a cursor that no page of this log returned.
var ErrBadCursor = errors.New("cursor is not one of this list's")

// defaultLimit is a page's rows when the caller does not say.
const defaultLimit = 100

// Filter chooses records; a zero member chooses all.
type Filter struct {
	Actor        string // the stored form, or the fingerprint of the key
	Action       string
	Store        string
	Result       Verdict
	Phase        Phase
	Since, Until time.Time // Since inclusive, Until exclusive; by the recorded clock
	Target       string    // in clear
	Subject      string    // in clear
	OldestFirst  bool
}

// Row is a record as a list shows it.
type Row struct {
	Record
	Name   string // the target in clear, where its keyed hash is the record's
	Reason string // unless erased; no hash of it is chained
	Origin string // the client that asked for the act, as its door knows it; kept like Reason
	// NameState is the state of the name of a record that has a target.
	NameState NameState
	// Damaged says why a stored line is unreadable; the row then has nothing else, and is never left out.
	Damaged string
}

// NameState says whether the clear name in the side table is that of the record.
type NameState string

// The states of a name; empty where the record has no target.
const (
	NameOK        NameState = "ok"
	NameAbsent    NameState = "absent"    // erased, never kept in clear, or taken away
	NameForged    NameState = "forged"    // its keyed hash is not the record's
	NameUnchecked NameState = "unchecked" // the key of the record's time is gone
)

// Page is a part of a list.
type Page struct {
	Rows []Row
	Next string // cursor of the next page; empty at the end
	// Unsearched counts the records passed over that a filter by target or subject cannot judge: the key of their
	// time is gone.
	Unsearched int
}

// List reads a page, newest first unless the filter says otherwise. It reads on
// until limit rows match (100 when limit is not positive) or the log ends, holds
// one page in memory, and leaves no trace. A log that does not exist is empty.
func (l *Log) List(ctx context.Context, filter Filter, limit int, cursor string) (page Page, err error) {
	defer wrap(&err, "list audit log")
	if limit <= 0 {
		limit = defaultLimit
	}
	unsearched := 0
	match, err := l.matcher(filter, &unsearched)
	if err != nil {
		return page, err
	}
	parts, err := l.parts(ctx)
	if err != nil {
		return page, err
	}
	at, err := parseCursor(cursor, filter.OldestFirst, parts)
	if err != nil {
		return page, err
	}
	if page, err = l.page(ctx, parts, at, filter.OldestFirst, limit, match); err == nil {
		err = l.join(ctx, page.Rows)
	}
	page.Unsearched = unsearched
	return page, err
}

// leap is how far a clock may be ahead of the newest record of a day before.
const leap = 24 * time.Hour

// Believed is now, or less where it is long after the newest record of a day before: the clock may have leapt ahead, and
// what expires would all go at once. A day after a further record it is now again.
func (l *Log) Believed(ctx context.Context, now time.Time) (time.Time, error) {
	page, err := l.List(ctx, Filter{Until: now.Add(-leap)}, 0, "")
	if err != nil {
		return time.Time{}, err
	}
	for _, r := range page.Rows {
		if at := r.TS.Add(leap); r.Damaged == "" && at.Before(now) {
			return at, nil
		} else if r.Damaged == "" {
			break
		}
	}
	return now, nil
}

// position is a position between two lines: in segment parts[part], before off.
type position struct {
	part int
	off  int64
}

func (l *Log) page(ctx context.Context, parts []part, at position, oldest bool, limit int, match func(*line) bool) (Page, error) {
	var page Page
	step := -1
	if oldest {
		step = 1
	}
	for i := at.part; i >= 0 && i < len(parts); i += step {
		f, err := l.open(parts[i].name)
		if err != nil {
			return page, err
		}
		from, size := at.off, l.sealed(parts, i)
		if i != at.part || from < 0 {
			from = 0
			if !oldest {
				from = size
			}
		}
		end, err := collect(ctx, f, from, size, oldest, limit, match, &page)
		f.Close()
		if err != nil {
			return page, err
		}
		if len(page.Rows) == limit {
			last := (oldest && end >= size && i == len(parts)-1) || (!oldest && end == 0 && i == 0)
			if !last {
				page.Next = cursorAt(parts[i].number, end, oldest)
			}
			return page, nil
		}
	}
	return page, nil
}

// collect takes matching rows of one segment and says where it stopped.
func collect(ctx context.Context, f io.ReaderAt, from, size int64, oldest bool, limit int, match func(*line) bool, page *Page) (int64, error) {
	back, fwd := newBackward(f, from), newForward(f, from, size)
	next := back.next
	if oldest {
		next = fwd.next
	}
	var parsed line
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		raw, at, ok := next()
		if err := errors.Join(back.err, fwd.err); err != nil {
			return 0, fmt.Errorf("read segment: %w", err)
		}
		if !ok {
			return 0, nil
		}
		row := Row{}
		if err := parseLine(raw, &parsed); err != nil {
			row.Damaged = err.Error()
		} else if !parsed.intact() { // whatever the filter: its content is unknown
			row.Damaged = "its bytes are not those that its hash was made of"
		} else if !match(&parsed) {
			continue
		} else if row.Record, err = parsed.record(); err != nil {
			row = Row{Damaged: err.Error()}
		}
		page.Rows = append(page.Rows, row)
		if len(page.Rows) == limit {
			if oldest {
				return fwd.off, nil // also behind a line that is too long to be returned whole
			}
			return at, nil
		}
	}
}

// matcher compares stored forms only, so nothing is decoded to be rejected. It counts the records that it cannot
// judge.
func (l *Log) matcher(q Filter, unsearched *int) (func(*line) bool, error) {
	want := map[field]string{}
	for f, v := range map[field]string{fAction: q.Action, fStore: q.Store, fResult: string(q.Result), fPhase: string(q.Phase)} {
		if v != "" {
			want[f] = token(v)
		}
	}
	names := map[field]string{}
	var k key // without one no record's hash is of it
	if q.Target != "" || q.Subject != "" {
		var err error
		if k, err = l.readKey(); err != nil && !errors.Is(err, ErrNoKey) {
			return nil, err
		}
		if q.Target != "" {
			names[fTarget] = k.target(q.Target)
		}
		if q.Subject != "" {
			names[fSubject] = k.subject(q.Subject)
		}
	}
	actor, since, until := stored(q.Actor), stamp(q.Since), stamp(q.Until)
	return func(l *line) bool {
		for f, v := range want {
			if string(l.value(f)) != v {
				return false
			}
		}
		ts := string(l.value(fTS)) // of fixed width, so text order is time order
		if actor != "" && string(l.value(fActor)) != actor && string(l.value(fActorKey)) != actor ||
			since != "" && ts < since || until != "" && ts >= until {
			return false
		}
		judged := true
		for f, v := range names {
			switch hash := string(l.value(f)); {
			case hash == v:
			case hash != "" && !strings.HasPrefix(hash, k.prefix()):
				judged = false
			default:
				return false
			}
		}
		if !judged {
			*unsearched++
		}
		return judged
	}, nil
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(tsLayout)
}

func cursorAt(segment uint64, off int64, oldest bool) string {
	way := "new"
	if oldest {
		way = "old"
	}
	return fmt.Sprintf("%s.%d.%d", way, segment, off)
}

// parseCursor returns the position of a cursor; the list's beginning without one.
func parseCursor(c string, oldest bool, parts []part) (position, error) {
	if c == "" {
		if oldest {
			return position{part: 0, off: -1}, nil
		}
		return position{part: len(parts) - 1, off: -1}, nil
	}
	way, rest, _ := strings.Cut(c, ".")
	var number uint64
	var off int64
	if _, err := fmt.Sscanf(rest, "%d.%d", &number, &off); err != nil || cursorAt(number, off, oldest) != c || way == "" {
		return position{}, ErrBadCursor
	}
	for i, p := range parts {
		if p.number == number && off <= p.size {
			return position{part: i, off: off}, nil
		}
	}
	return position{}, ErrBadCursor
}

// OpenIntents lists the intents without an outcome, oldest first: acts whose process died, or that another
// process is carrying out. It reads the whole log once, without keeping it.
func (l *Log) OpenIntents(ctx context.Context) (rows []Row, err error) {
	defer wrap(&err, "list open intents")
	if _, rows, err = l.openIntents(ctx); err != nil {
		return nil, err
	}
	return rows, l.join(ctx, rows)
}
