package mcpgraph

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"memdesk/backends/internal/entity"
	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// attempts bounds how often a change starts over because the file changed meanwhile.
const attempts = 20

// A server that read the file before memdesk's write may write that version after it (MG10). Settle is the
// wait for that while a server is at work, calm the wait when none is seen, and perByte the growth of both: a
// server parses and rewrites a byte in less.
const (
	settle  = 200 * time.Millisecond
	calm    = 20 * time.Millisecond
	perByte = 50 * time.Nanosecond
	// lively is how long after a foreign write a server counts as at work.
	lively = 10 * time.Second
)

// Change implements records.DB (MG9, MG10). Where the system can, the new file is exchanged with the old one,
// and the displaced file is checked: if the server wrote meanwhile, its version becomes the base of the
// change and is never lost.
func (f *file) Change(ctx context.Context, op string, fn func(records.Tx) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	unlock, err := records.LockFile(ctx, op, f.locks, Kind, f.path)
	if err != nil {
		return err
	}
	live := f.foreign()
	before, after, err := f.change(ctx, op, fn)
	if err == nil && foreign(f.lines) != "" { // a removal left only lines that the server cannot use
		err = records.Remember(f.locks, Kind, f.path, after)
	}
	run := records.Follow(f.locks, Kind, f.path, before, after)
	unlock() // only reads follow
	f.read = false
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	return f.readBack(ctx, op, before, after, run, live)
}

// foreign reports whether another program wrote the file a moment ago.
func (f *file) foreign() bool {
	now, err := records.StampOf(f.path)
	return err != nil || !now.Same(f.ours) && now.There() && time.Since(now.Changed) < lively
}

// change repeats the change until the displaced file is the one that it was based on, and returns the file
// without it and with it. The server's writes meanwhile are carried into both.
func (f *file) change(ctx context.Context, op string, fn func(records.Tx) error) (before, after []byte, err error) {
	f.read = false
	if err := f.refresh(ctx); err != nil {
		return nil, nil, err
	}
	before, stands := f.data, f.data
	last := "" // the file of the server's last displaced write
	for i := range 2 * attempts {
		if i == attempts && err == nil {
			err = model.Errorf(model.Locked, op, "the memory server writes all the time: nothing was changed, try again")
		}
		if err == nil {
			err = f.load(ctx, before)
		}
		if err == nil {
			err = fn(f.tx(ctx))
		}
		if after = f.data; err != nil {
			after = before // undo the part of the change that was written
		}
		if bytes.Equal(stands, after) {
			return before, after, err
		}
		came, aside, swapped := f.swap(f.path, stands, after)
		var unsynced error
		if errors.Is(swapped, atomicfile.ErrUnsynced) {
			unsynced, swapped = model.Errorf(model.Internal, op, "the file is written but not known to be durable"), nil
		}
		if swapped == nil && last != "" { // what it held is in the file now
			_ = os.Remove(last) // a scrub removes it otherwise
		}
		if swapped == nil {
			last = aside
		}
		switch {
		case errors.Is(swapped, atomicfile.ErrMoved): // and nothing was done
			now, unread := records.ReadFlat(op, f.path)
			if unread != nil {
				return nil, nil, unread
			}
			before, stands = carry(stands, now, before), now
		case swapped != nil:
			err = litefile.Worded(op, swapped)
		case bytes.Equal(came, stands):
			f.ours, swapped = records.StampOf(f.path)
			return before, after, errors.Join(err, swapped, unsynced)
		default: // the server may read the current file, and write before the next exchange
			before, stands = carry(stands, came, before), after
		}
	}
	// The earlier error does not count any more: it may say that nothing was changed.
	return nil, nil, model.Errorf(model.Internal, op, "the memory server writes all the time, and the change could not be taken back: look at the item")
}

// carry applies the change from one version of the file to another to a third version: it removes the removed
// lines, adds the added ones, and changes the observations of entities in all three.
func carry(from, to, onto []byte) []byte {
	if bytes.Equal(from, onto) {
		return to
	}
	was, is := byIdentity(from), byIdentity(to)
	var out, added [][]byte
	met := map[string]bool{}
	for _, l := range parse(onto) {
		id := l.identity()
		old, now := was[id], is[id]
		met[id] = true
		switch {
		case l.tier == "", old.says() == now.says():
		case now.tier == "":
			continue
		case l.says() == old.says():
			l.raw = now.raw
		default:
			l.raw = merged(l, old, now)
		}
		out = append(out, l.raw)
	}
	for _, l := range parse(to) {
		if id := l.identity(); !met[id] && l.tier != "" && is[id].says() != was[id].says() {
			added = append(added, l.raw)
			met[id] = true
		}
	}
	end := len(out)
	if end > 0 && len(out[end-1]) == 0 { // keep a final newline final
		end--
	}
	return bytes.Join(slices.Insert(out, end, added...), []byte("\n"))
}

func byIdentity(data []byte) map[string]line {
	out := map[string]line{}
	for _, l := range parse(data) {
		if l.tier != "" {
			out[l.identity()] = l
		}
	}
	return out
}

// merged adds to an entity's line the added observations, and removes the removed ones.
func merged(l, old, now line) []byte {
	o, err := jsonedit.Parse(l.raw)
	if err != nil {
		return now.raw
	}
	have, _ := entity.Decode(l.body) // Encode made the bodies of entities
	before, _ := entity.Decode(old.body)
	after, _ := entity.Decode(now.body)
	was, is := entity.Set(before), entity.Set(after)
	kept := slices.DeleteFunc(slices.Clone(have), func(s string) bool { return was[s] && !is[s] })
	came := slices.DeleteFunc(after, func(s string) bool { return was[s] })
	if all := entity.Join(kept, came); !slices.Equal(all, have) {
		o.Set(jsonedit.QuoteList(all), "observations")
	}
	return o.Line
}

// readBack checks whether a write is still in place. A server that read the file before it and renames its
// own version afterwards undoes it silently. The lock is free meanwhile; a change that follows it in its run is memdesk's.
func (f *file) readBack(ctx context.Context, op string, before, wrote []byte, run string, live bool) error {
	whole := settle + time.Duration(len(wrote))*perByte
	for wait := whole - settle + calm; ; live = true {
		if live || f.writing() {
			wait = whole
		}
		f.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		f.mu.Lock()
		f.read = false
		if err := f.refresh(context.WithoutCancel(ctx)); err != nil {
			return model.Errorf(model.Internal, op, "the change was made, and could not be looked at: %w", err)
		}
		if wait == whole || bytes.Equal(f.data, wrote) && !f.writing() {
			break
		}
	}
	if !undone(before, wrote, f.data) || records.Follows(context.WithoutCancel(ctx), f.locks, Kind, f.path, run) {
		return nil
	}
	return model.Errorf(model.Conflict, op, "the memory server wrote over the change with what it had read before: look at the item and do it again")
}

// writing reports whether the server's temporary file exists beside the store.
func (f *file) writing() bool {
	all, err := f.kept()
	return err != nil || slices.ContainsFunc(all, func(k records.File) bool { return k.Why == "" && strings.HasSuffix(k.ID, ".tmp") })
}

// undone reports whether the current file lacks a change: making it again changes something.
func undone(before, wrote, now []byte) bool {
	return !bytes.Equal(wrote, now) && !bytes.Equal(carry(before, wrote, now), now)
}

// says is the meaning of a line in any spelling: the server rewrites every line.
func (l line) says() string { return l.id + "\x00" + l.entityType + "\x00" + l.body }
