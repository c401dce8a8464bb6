package undo

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/exactjson"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// An entry is one file: a line of JSON, then the displaced body unchanged.

const suffix = ".undo"

// idTime is the time at the beginning of an entry's id, in UTC.
const idTime = "20060102T150405"

var idShape = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}-[0-9a-f]{12}$`)

// save writes a new entry and returns it with its id. A failure is a Refusal: a text that cannot be kept must
// not be displaced.
func (k *Keeper) save(s model.Store, e Entry, body string) (Entry, error) {
	now := k.clock.Now().UTC()
	var r [6]byte
	_, _ = rand.Read(r[:]) // never fails
	e.ID = now.Format(idTime) + "-" + hex.EncodeToString(r[:])
	e.Store, e.Where = s.Name, s.Identity()
	e.At, e.Expires, e.Bytes = now, now.Add(k.keep), int64(len(body))
	k.sweep(now)
	if err := k.prepare(); err != nil {
		return Entry{}, model.Refuse("undo", "what the change replaces or removes cannot be kept: "+err.Error())
	}
	return e, k.writePending(e.pending(), body)
}

// pending is a new entry whose change is not confirmed.
func (e Entry) pending() Entry {
	if len(e.Sides) == 0 {
		e.Before = e.After
	}
	e.After = ""
	return e
}

func (k *Keeper) writePending(e Entry, body string) error {
	if err := k.write(e, body); err != nil {
		return model.Refuse("undo", "what the change replaces or removes cannot be kept: "+statedir.Cause(err).Error())
	}
	return nil
}

// confirm records that the change was made, and its result. A failure is a model.Partial: the change must not be
// made again.
func (k *Keeper) confirm(e *Entry, body string, res model.RetainResult) error {
	e.After, e.Plan, e.Will = res.Revision, "", ""
	if res.Displaced != nil { // read in the transaction of the change
		e.Beside = res.Displaced
	}
	if err := k.write(*e, body); err != nil {
		e.After = ""
		return &model.Partial{Retained: res, Err: model.Errorf(model.Internal, "undo", "the change was made, but its undo entry %s could not be confirmed: %w", e.ID, atomicfile.Pathless(err))}
	}
	return nil
}

func (k *Keeper) prepare() error {
	if k.ready != nil {
		if err := k.ready(); err != nil {
			return err
		}
	}
	return atomicfile.Pathless(atomicfile.MakeDirs(atomicfile.OS{}, k.dir))
}

func (k *Keeper) write(e Entry, body string) error {
	if len(e.Sides) > 0 {
		e.Item = e.Sides[0].Item
	}
	head, err := exactjson.Marshal(e)
	if err != nil {
		return err
	}
	data := make([]byte, 0, len(head)+1+len(body))
	data = append(append(append(data, head...), '\n'), body...)
	return atomicfile.Write(k.path(e.ID), data, 0o600)
}

// decoded is the entry of a line, also of earlier versions.
func (e Entry) decoded() Entry {
	if e.Raw != nil {
		e.Item = string(e.Raw)
	}
	for i, side := range e.Sides {
		if side.Raw != nil {
			e.Sides[i].Item = string(side.Raw)
		}
	}
	if e.Op == wasResolve {
		e.Op = OpResolve
	}
	return e
}

func (k *Keeper) path(id string) string { return filepath.Join(k.dir, id+suffix) }

func (k *Keeper) drop(id string) error {
	if err := os.Remove(k.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return model.Errorf(model.Internal, "undo", "entry %s cannot be removed: %w", id, atomicfile.Pathless(err))
	}
	return nil
}

// Read returns one entry with the displaced body, or NotFound once it has
// expired.
func (k *Keeper) Read(id string) (Entry, string, error) {
	if !idShape.MatchString(id) {
		return Entry{}, "", model.Errorf(model.InvalidInput, "undo", "%q is no undo id; `undo list` shows them", id)
	}
	e, body, err := k.read(id)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !e.Expires.After(k.clock.Now()) {
		return Entry{}, "", model.Errorf(model.NotFound, "undo", "there is no entry %s, or it has expired", id)
	}
	if err != nil {
		return Entry{}, "", model.Errorf(model.Internal, "undo", "entry %s cannot be read: %w", id, atomicfile.Pathless(err))
	}
	return e, body, nil
}

func (k *Keeper) read(id string) (Entry, string, error) {
	data, err := atomicfile.ReadFile(k.path(id))
	if err != nil {
		return Entry{}, "", err
	}
	head, body, found := bytes.Cut(data, []byte("\n"))
	var e Entry
	if err := exactjson.Unmarshal(head, &e); err != nil || !found {
		return Entry{}, "", errors.New("its first line is damaged")
	}
	return e.decoded(), string(body), nil
}

// List returns the entries that have not expired, newest first, without their
// bodies. Files that cannot be read are returned as damaged, by id.
func (k *Keeper) List() (entries []Entry, damaged []string, err error) {
	ids, err := k.ids()
	if err != nil {
		return nil, nil, err
	}
	now := k.clock.Now()
	for _, id := range ids {
		e, err := k.head(id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // used since
		case err != nil:
			damaged = append(damaged, id)
		case e.Expires.After(now):
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.ID, a.ID)) })
	return entries, damaged, nil
}

// Kept returns the ids of the items that the entries of one store are about. where is the store's Identity.
func (k *Keeper) Kept(where string) []string {
	entries, _, _ := k.List() // an unreadable entry identifies no store
	var ids []string
	for _, e := range entries {
		if e.Where != where {
			continue
		}
		for _, side := range e.AllSides() {
			ids = append(ids, side.Item)
		}
	}
	return ids
}

// Removed returns the items that the changes of entries removed from a store, and when. Restored items are not
// among them.
func Removed(entries []Entry, s model.Store) map[string]time.Time {
	out := map[string]time.Time{}
	places := s.Identities()
	for _, e := range entries {
		if e.Store != s.Name || !slices.Contains(places, e.Where) || e.After == "" { // interrupted, and reported as that
			continue
		}
		for _, side := range e.AllSides() {
			if side.After == model.Absent && side.Existed && out[side.Item].Before(e.At) {
				out[side.Item] = e.At
			}
		}
	}
	return out
}

// head reads an entry's first line only.
func (k *Keeper) head(id string) (Entry, error) {
	f, err := atomicfile.Open(k.path(id), os.O_RDONLY, 0)
	if err != nil {
		return Entry{}, err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	var e Entry
	if err == nil {
		err = exactjson.Unmarshal(line, &e)
	}
	if err != nil {
		return Entry{}, err
	}
	return e.decoded(), nil
}

func (k *Keeper) ids() ([]string, error) {
	names, err := k.names()
	var ids []string
	for _, n := range names {
		if id, ok := strings.CutSuffix(n.Name(), suffix); ok && idShape.MatchString(id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// names lists the files of the directory.
func (k *Keeper) names() ([]os.DirEntry, error) {
	names, err := os.ReadDir(k.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, model.Errorf(model.Internal, "undo", "the entries cannot be listed: %w", atomicfile.Pathless(err))
	}
	return names, nil
}

// staleTemp is the age from which a temporary file has no writer any more.
const staleTemp = time.Hour

// sweepEvery is how often a keeper that writes looks for expired entries.
const sweepEvery = time.Hour

// sweep sweeps where the last time is long ago. It is housekeeping: no change depends on it, or waits for another's.
func (k *Keeper) sweep(now time.Time) {
	last := k.swept.Load()
	if (last == nil || now.Sub(*last) >= sweepEvery) && k.swept.CompareAndSwap(last, &now) {
		_, _ = k.Sweep()
	}
}

// leap is the time that a clock may go ahead of the newest entry of a day before and still be believed.
const leap = 24 * time.Hour

// believed is now, or less where it is long after the entries of the days before: the clock may have leapt ahead,
// and the entries would all go at once. A day after a further entry it is now again.
func (k *Keeper) believed(now time.Time) (time.Time, error) {
	ids, err := k.ids()
	before, last := now.Add(-leap).UTC().Format(idTime), ""
	for _, id := range ids {
		if at := id[:len(idTime)]; at <= before {
			last = max(last, at)
		}
	}
	if err != nil || last == "" {
		return now, err
	}
	if at, _ := time.Parse(idTime, last); at.Add(leap).Before(now) { // an id without a date believes nothing
		return at.Add(leap), nil
	}
	return now, nil
}

// Sweep removes expired entries and files of interrupted writes, and returns how many files went. It opens only
// entries that are as old as entries become, by their ids: there may be many. An entry from a time when they were
// kept shorter goes at that age too.
func (k *Keeper) Sweep() (int, error) {
	now, err := k.believed(k.clock.Now())
	if err != nil {
		return 0, err
	}
	young := now.Add(-k.keep).UTC().Format(idTime)
	return k.remove(staleTemp, func(id string) (bool, error) {
		if id[:len(idTime)] > young {
			return false, nil
		}
		e, err := k.head(id)
		return err == nil && !e.Expires.After(now), nil // damaged entries stay: a person must look at them
	})
}

// Erase removes the entries that match, for an erasure request, and returns how many files went. match sees
// the displaced body; files of interrupted writes go without a call, because their content is unknown.
func (k *Keeper) Erase(match func(e Entry, body string) bool) (int, error) {
	return k.remove(0, func(id string) (bool, error) {
		e, body, err := k.read(id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, unread(id, err)
		}
		return match(e, body) || e.anySide(body, match), nil
	})
}

// unread is the error of an erasure that could not look at an entry.
func unread(id string, err error) error {
	return model.Errorf(model.Internal, "undo", "entry %s cannot be read, so nobody can say whom it names: %w", id, atomicfile.Pathless(err))
}

// Each passes every entry, and each side of one, to look. It changes nothing; a damaged entry is an error after the
// others.
func (k *Keeper) Each(look func(e Entry, body string)) error {
	ids, err := k.ids()
	if err != nil {
		return err
	}
	for _, id := range ids {
		e, body, rerr := k.read(id)
		if errors.Is(rerr, fs.ErrNotExist) {
			continue
		}
		if rerr != nil {
			err = unread(id, rerr)
			continue
		}
		look(e, body)
		e.anySide(body, func(e Entry, body string) bool {
			look(e, body)
			return false
		})
	}
	return err
}

// dropAbout removes the entries that keep something of an item of a store, or a field that is a person's id, for an
// erasure. An empty person is nobody. An entry that cannot be read is an error after the others.
func (k *Keeper) dropAbout(s model.Store, person string, items ...string) error {
	places, gone := s.Identities(), map[string]bool{}
	for _, item := range items {
		gone[item] = item != "" // an id that the store never told
	}
	about := func(item string, meta []model.Field) bool {
		return gone[item] || person != "" && slices.ContainsFunc(meta, func(f model.Field) bool { return f.Value == person })
	}
	_, err := k.remove(staleTemp, func(id string) (bool, error) {
		e, err := k.head(id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, unread(id, err)
		case !slices.Contains(places, e.Where):
			return false, nil
		}
		return slices.ContainsFunc(e.AllSides(), func(side Side) bool { return about(side.Item, side.Meta) || gone[side.Was] }) ||
			slices.ContainsFunc(e.Parts, func(p Part) bool { return about(p.Item, p.Meta) }), nil
	})
	return err
}

// remove removes the entries that go, and temporary files whose last write is older than age, by the file system's
// time. It returns how many files went.
func (k *Keeper) remove(age time.Duration, goes func(id string) (bool, error)) (gone int, err error) {
	before := time.Now().Add(-age)
	names, err := k.names()
	if err != nil {
		return 0, err
	}
	for _, n := range names {
		if !strings.Contains(n.Name(), suffix+".tmp.") {
			continue
		}
		if info, err := n.Info(); err != nil || info.ModTime().After(before) {
			continue
		}
		if err := os.Remove(filepath.Join(k.dir, n.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return gone, model.Errorf(model.Internal, "undo", "a temporary file cannot be removed: %w", atomicfile.Pathless(err))
		}
		gone++
	}
	ids, err := k.ids()
	if err != nil {
		return gone, err
	}
	for _, id := range ids {
		ok, unread := goes(id)
		if err = errors.Join(err, unread); !ok {
			continue
		}
		if err := k.drop(id); err != nil {
			return gone, err
		}
		gone++
	}
	return gone, err
}
