package notes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/erasure"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
)

// Scrub removes what Forget leaves beside the notes: temporary files, backups and old versions that name
// the subject or belong to a removed note, the entries of removed slugs in AgentM's books, lines of its
// logs. Another program's files are named as out of scope.
func (s *store) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	w := scrubbing{store: s, ctx: ctx, Run: erasure.Run{Req: req}}
	if !req.Dry {
		if err := s.reason.Check("scrub"); err != nil {
			return nil, err
		}
	}
	root, err := s.open("scrub")
	if err != nil || root == nil {
		return nil, err
	}
	defer root.Close()
	w.root = root
	if req.SideRows != nil {
		if err := w.entries(); err != nil {
			return nil, err
		}
		return nil, w.media()
	}
	defer s.changed()
	if err := s.eachFound(ctx, w.note); err != nil {
		return nil, err
	}
	for _, f := range w.todo {
		if err := model.FromContext(ctx, "scrub"); err != nil {
			return w.Out, err
		}
		w.file(f)
	}
	if err := s.eachOutside(ctx, w.outside); err != nil {
		return w.Out, err
	}
	if err := w.media(); err != nil {
		return w.Out, err
	}
	if req.Dry {
		return nil, nil
	}
	w.oldIndex()
	return w.Out, nil
}

// scrubbing is one erasure in the store, from file to file.
type scrubbing struct {
	erasure.Run
	store *store
	ctx   context.Context
	root  *rootdir.Dir
	todo  []found
	kept  map[string]bool // slugs of remaining notes
	names []string        // of the removed notes, as lines hold them
}

// media passes the request to the databases and the repository beside the notes.
func (w *scrubbing) media() error {
	for _, p := range w.store.parts() {
		res, err := p.Scrub(w.ctx, w.Req)
		if w.Out = append(w.Out, res...); err != nil {
			return err
		}
	}
	return nil
}

func slugOf(id string) string { return strings.TrimSuffix(path.Base(id), ".md") }

func (w *scrubbing) note(f found) {
	if f.sort != sortItem || w.linkNamesSubject(f) {
		w.todo = append(w.todo, f)
		return
	}
	if w.Req.Dry && slices.Contains(w.Req.Removed, f.Path) {
		return // as it will be
	}
	if w.kept == nil {
		w.kept = map[string]bool{}
	}
	w.kept[slugOf(f.Path)] = true
}

func (w *scrubbing) file(f found) {
	switch {
	case w.linkNamesSubject(f):
		w.Link(w.root, f.Path, f.Path)
	case f.sort == sortGit: // kept whole
	case w.Req.Dry && (f.Problem != "" || f.Meta.Kind != rootdir.File || f.sort == sortEmpty || f.sort == sortForeign): // nothing of it is removed
	case f.Problem != "":
		w.Out = append(w.Out, model.LayerResult{Layer: f.Path, Method: "not looked at", Verdict: model.VerdictUnaudited, Reason: f.Problem})
	case f.sort == sortEmpty:
		w.empty(f)
	case f.Meta.Kind != rootdir.File:
		w.Out = append(w.Out, model.LayerResult{Layer: f.Path, Method: "not followed", Verdict: model.VerdictUnaudited, Reason: "a link or a special file"})
	case f.sort == sortBooks:
		n, err := w.books(f.Path)
		w.Add(f.Path, "entries of removed notes dropped", n, err)
	case f.sort == sortCopy:
		w.copy(f)
	case f.sort == sortForeign:
		w.foreign(cmp.Or(f.side.Name, f.Path), f.Path, w.root, f.layer("").Reason)
	case f.sort == sortLines:
		w.inUse(f)
	}
}

// linkNamesSubject reports whether a file is a symbolic link whose own name names the subject: it holds no
// text, but its name is data too.
func (w *scrubbing) linkNamesSubject(f found) bool {
	return f.Problem == "" && f.Meta.Kind == rootdir.Link && (f.sort == sortItem || f.sort == sortCopy) && w.concerns([]byte(path.Base(f.Path)))
}

// copy removes a leftover that names the subject or belongs to a removed note.
func (w *scrubbing) copy(f found) {
	const method = "a copy beside the notes removed"
	data, _, err := w.root.Read(f.Path, 0)
	if errors.Is(err, model.NotFound) {
		return
	}
	if err != nil {
		w.Add(f.Path, method, 0, err)
		return
	}
	if !w.ofRemoved(f.Path) && !w.concerns([]byte(f.Path)) && !w.concerns(data) {
		if !w.Req.Dry {
			w.leftover(f.Path, data)
		}
		return
	}
	if !w.May(f.Path, data) {
		return
	}
	w.Add(f.Path, method, 1, aside(w.root.Take(f.Path, rootdir.Seen{Exists: true, Data: data}, w.store.clock.Now(), nil)))
}

// leftover removes the rest of an interrupted write by memdesk if nothing is lost by it: it is the
// beginning of the note's own content. A writer about to rename it holds the note's lock.
func (w *scrubbing) leftover(id string, data []byte) {
	m := leftover.FindStringSubmatch(path.Base(id))
	if m == nil || !isLeftover(id) {
		return
	}
	at, err := seam.Resolve(path.Join(path.Dir(id), m[1]))
	if err != nil {
		return
	}
	n, locked := int64(0), false
	_, err = w.store.cfg.Tree.Change(w.ctx, "scrub", at, func(now []byte, exists bool) (seam.Edit, error) {
		keep := seam.Edit{Keep: true}
		if !exists || !bytes.HasPrefix(now, data) {
			return keep, nil
		}
		if !locked { // the first decision is made without the lock: another follows under it
			locked = true
			return seam.Edit{Data: now}, nil
		}
		if err := aside(w.root.Take(id, rootdir.Seen{Exists: true, Data: data}, w.store.clock.Now(), nil)); err != nil {
			return keep, err
		}
		n = 1
		return keep, nil
	})
	if !errors.Is(err, model.NotFound) {
		w.Add(id, "what an interrupted write left removed", n, err)
	}
}

// empty removes an empty directory whose name names the subject, and those above it that are then the same.
func (w *scrubbing) empty(f found) {
	for id := f.Path; id != "." && w.concerns([]byte(id)); id = path.Dir(id) {
		if left, err := w.root.List(id); err != nil || len(left) > 0 {
			return
		}
		if err := w.root.RemoveDir(id); err != nil {
			w.Add(id+"/", "empty directory removed", 0, err)
			return
		}
		w.Add(id+"/", "empty directory removed", 1, nil)
	}
}

// concerns tests a whole file or line, and the texts in it that are base64, as in AgentM's revert log.
func (w *scrubbing) concerns(data []byte) bool {
	if w.Names(data) {
		return true
	}
	for _, m := range encoded.FindAll(data, -1) {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if text, err := enc.DecodeString(strings.TrimRight(string(m), "=")); err == nil && w.Names(text) {
				return true
			}
		}
	}
	return false
}

var encoded = regexp.MustCompile(`[A-Za-z0-9+/_-]{12,}={0,2}`)

// ofRemoved reports whether a leftover belongs to a removed note: an unfinished write of it, or an old
// version by the naming of sync tools.
func (w *scrubbing) ofRemoved(id string) bool {
	base, dir := path.Base(id), before(id)
	return slices.ContainsFunc(w.Req.Removed, func(removed string) bool {
		name := path.Base(removed)
		stem := strings.TrimSuffix(name, path.Ext(name))
		switch {
		case path.Dir(id) == path.Dir(removed):
			return strings.HasPrefix(base, name+".") || strings.HasPrefix(base, "."+name+".") ||
				base == name+"~" || base == ".#"+name || base == "#"+name+"#" || base == "."+name+".icloud" ||
				base == ".syncthing."+name+".tmp" || base == "~syncthing~"+name+".tmp"
		case dir == path.Dir(removed):
			version, named := strings.CutPrefix(strings.TrimSuffix(base, path.Ext(name)), stem)
			return base == name || named && strings.HasSuffix(base, path.Ext(name)) && versionMark.MatchString(version)
		}
		return false
	})
}

// versionMark is what Syncthing puts behind the stem of an old version.
var versionMark = regexp.MustCompile(`^~[0-9]{8}-[0-9]{6}$`)

// before is the directory in which an old version stood: the one above the folder of old versions, and the
// path below that; empty for a file in no such folder.
func before(id string) string {
	parts := strings.Split(path.Dir(id), "/")
	i := slices.IndexFunc(parts, func(p string) bool { return slices.Contains(oldVersions, strings.ToLower(p)) })
	if i < 0 {
		return ""
	}
	return path.Join(append([]string{"."}, slices.Delete(parts, i, i+1)...)...)
}

// cutSlugs removes the members of a book that drop selects by their slugs, and returns their number: the book's members
// are slugs, or those of its member entries. A book that is no object has none.
func cutSlugs(book []byte, drop func(slug string) bool) ([]byte, int, error) {
	o, err := jsonedit.Parse(book)
	if err != nil {
		if json.Valid(book) {
			err = nil
		}
		return book, 0, err
	}
	entries := o.Raw("entries")
	if len(entries) == 0 || entries[0] != '{' {
		return jsonedit.Without(book, drop)
	}
	rest, n, err := jsonedit.Without(entries, drop)
	if n > 0 {
		o.Set(rest, "entries")
	}
	return o.Line, n, err
}

// apart replaces the entries of notes on hold in a book by marks, which nothing edits; back undoes that. each receives
// the entries.
func (w *scrubbing) apart(book []byte, each func(id string, entry []byte)) (rest []byte, back func([]byte) []byte) {
	if len(w.Req.Held) == 0 {
		return book, func(b []byte) []byte { return b }
	}
	held := map[string]string{}
	for _, id := range w.Req.Held {
		held[slugOf(id)] = id
	}
	entries := book
	o, err := jsonedit.Parse(book)
	if err == nil {
		if in := o.Raw("entries"); len(in) > 0 && in[0] == '{' {
			entries = in
		}
	}
	var spans []jsonedit.Span
	if err != nil || jsonedit.Members(entries, func(key, value jsonedit.Span) {
		if id, ok := held[jsonedit.Unquote(key.In(entries))]; ok {
			spans = append(spans, key, value)
			each(id, entries[key.Start-1:value.End])
		}
	}) != nil || len(spans) == 0 {
		return book, func(b []byte) []byte { return b }
	}
	mark := "\x7f" // JSON takes it as it is
	for bytes.Contains(book, []byte(mark)) {
		mark += mark
	}
	var was []string
	masked := jsonedit.Replaced(entries, spans, func(i int, v []byte) []byte {
		now := fmt.Sprint(mark, i, mark)
		if i%2 == 1 { // a value
			now = `"` + now + `"`
		}
		was = append(was, now, string(v))
		return []byte(now)
	})
	if rest = masked; len(entries) != len(book) {
		o.Set(masked, "entries")
		rest = o.Line
	}
	return rest, func(b []byte) []byte { return []byte(strings.NewReplacer(was...).Replace(string(b))) }
}

// entries lists the entries of notes on hold in the books, or with them the rest of the books.
func (w *scrubbing) entries() error {
	if len(w.Req.Held) == 0 && w.Req.Concerns == nil {
		return nil
	}
	return w.store.eachFound(w.ctx, func(f found) {
		if f.sort != sortBooks || f.Meta.Kind != rootdir.File {
			return
		}
		if book, _, err := w.root.Read(f.Path, 0); err == nil { // else its layer says so
			tell := func(text []byte, of ...string) {
				w.Req.SideRows(model.SideRow{Layer: cmp.Or(f.side.Name, f.Path), Of: of, Cells: []model.SideCell{{Text: string(text), Words: string(text)}}})
			}
			told := map[string]bool{}
			w.apart(book, func(id string, entry []byte) {
				told[slugOf(id)] = true
				tell(entry, id)
			})
			if w.Req.Concerns != nil {
				if rest, _, err := cutSlugs(book, func(slug string) bool { return told[slug] }); err == nil {
					book = rest
				}
				tell(book)
			}
		}
	})
}

// books drops the entries of slugs that no remaining note has: those of removed notes, and those that name the
// subject. What else names the subject in them is redacted.
func (w *scrubbing) books(id string) (int64, error) {
	slugs := map[string]bool{}
	for _, r := range w.Req.Removed {
		if slug := slugOf(r); !w.kept[slug] {
			slugs[slug] = true
		}
	}
	at, err := seam.Resolve(id)
	if err != nil {
		return 0, err
	}
	n := 0
	cut := func(old []byte) (out []byte, err error) {
		old, back := w.apart(old, func(string, []byte) {})
		if len(slugs) == 0 && !w.concerns(old) {
			n = 0
			return nil, nil
		}
		drop := func(slug string) bool { return slugs[slug] || !w.kept[slug] && w.concerns([]byte(slug)) }
		if out, n, err = cutSlugs(old, drop); err != nil {
			return nil, model.Errorf(model.Internal, "scrub", "%q is not JSON that can be edited; drop the slugs by hand", id)
		}
		if w.concerns(out) && w.Req.Redact != nil && !w.keptConcern() {
			if now := w.Req.Redact(out); json.Valid(now) {
				out, n = now, n+1
			}
		}
		if n == 0 {
			return nil, nil
		}
		if !w.May(id, nil) {
			n = 0
		}
		return back(out), nil
	}
	if w.Req.Dry {
		old, _, err := w.root.Read(id, 0)
		if err == nil {
			_, err = cut(old)
		}
		return 0, err
	}
	_, err = w.store.cfg.Tree.Change(w.ctx, "scrub", at, func(old []byte, exists bool) (seam.Edit, error) {
		if !exists {
			return seam.Edit{Keep: true}, nil
		}
		out, err := cut(old)
		return seam.Edit{Data: out, Keep: n == 0}, err
	})
	return int64(n), err
}

// keptConcern reports whether the slug of a remaining note names the subject, though the note is not on hold: it is out
// of scope, and so are its entries.
func (w *scrubbing) keptConcern() bool {
	held := map[string]bool{}
	for _, id := range w.Req.Held {
		held[slugOf(id)] = true
	}
	for slug := range w.kept {
		if !held[slug] && w.concerns([]byte(slug)) {
			return true
		}
	}
	return false
}

// outside scrubs AgentM's directories beyond the store.
func (w *scrubbing) outside(p OutsideDir, dir *rootdir.Dir, f found) {
	layer := p.Prefix + "/" + f.Path
	switch {
	case f.Problem != "":
		w.Out = append(w.Out, model.LayerResult{Layer: layer, Method: "not looked at", Verdict: model.VerdictUnaudited, Reason: f.Problem})
	case f.Meta.Kind != rootdir.File:
		w.Out = append(w.Out, model.LayerResult{Layer: layer, Method: "not followed", Verdict: model.VerdictUnaudited, Reason: "a link or a special file"})
	case w.Req.Dry && !p.Lines:
	case p.Lines:
		n, err := w.lines(layer, dir, f.Path)
		w.Add(layer, "lines that name the person dropped, whole file rewritten", n, err)
	default:
		w.foreign(layer, f.Path, dir, p.Reason)
	}
}

// idle is the time that another program's growing file must rest before its lines are removed.
const idle = time.Minute

// waits says why the lines of a file have to stay for now; empty: they need not.
func waits(m rootdir.Meta) string {
	if age := time.Since(m.Modified); age <= -idle || age >= idle {
		return ""
	}
	return "its program has written to it within the last minute: run the erasure again when the session has ended"
}

// inUse drops lines from a file that its program may still write.
func (w *scrubbing) inUse(f found) {
	const method = "lines that name the person dropped"
	layer := cmp.Or(f.side.Name, f.Path)
	data, m, err := w.root.Read(f.Path, 0)
	if why := waits(m); err == nil && !w.Req.Dry && why != "" {
		if w.concerns(data) {
			w.Out = append(w.Out, model.LayerResult{Layer: layer, Method: "not written", Verdict: model.VerdictPending, Reason: why})
		}
		return
	}
	n := int64(0)
	if err == nil {
		n, err = w.lines(layer, w.root, f.Path)
	}
	if !errors.Is(err, model.NotFound) {
		w.Add(layer, method, n, err)
	}
}

// lines rewrites a log of JSON lines without those that concern the subject or name a removed note,
// starting from the bytes it read: a line added meanwhile stays.
func (w *scrubbing) lines(layer string, dir *rootdir.Dir, name string) (int64, error) {
	for range 50 {
		old, _, err := dir.Read(name, 0)
		if err != nil {
			return 0, err
		}
		var out []byte
		n := int64(0)
		for line := range bytes.Lines(old) {
			if w.concerns(line) || w.tellsOfRemoved(line) {
				n++
				continue
			}
			out = append(out, line...)
		}
		if n == 0 {
			return 0, nil
		}
		if !w.May(layer, nil) {
			return 0, nil
		}
		err = aside(dir.Swap(name, rootdir.Seen{Exists: true, Data: old}, out, rootdir.New{Mode: 0o600}, w.store.clock.Now(), nil))
		if !errors.Is(err, rootdir.ErrChanged) {
			return n, err
		}
	}
	return 0, model.Errorf(model.Locked, "scrub", "%q grows all the time; try again", name)
}

// aside is the error of a change whose old text is not gone: another program has the file open, and its bytes
// stand in a conflict copy, where that program goes on writing.
func aside(done rootdir.Swapped, err error) error {
	if err != nil || len(done.Copies) == 0 {
		return err
	}
	return model.Errorf(model.Locked, "scrub", "another program has it open, and its text now stands in %q: end that program and run the erasure again", done.Copies)
}

// tellsOfRemoved reports whether a line names a removed note, by its id or its path, and not another whose
// name ends or begins like that.
func (w *scrubbing) tellsOfRemoved(line []byte) bool {
	if w.names == nil {
		for _, id := range w.Req.Removed {
			if w.names = append(w.names, id); escapedJSON(id) != id {
				w.names = append(w.names, escapedJSON(id))
			}
		}
	}
	root := []byte(filepath.ToSlash(w.store.cfg.Path) + "/")
	return slices.ContainsFunc(w.names, func(name string) bool { return holdsName(line, name, root) })
}

// holdsName reports whether a name stands in a line, alone or behind the root, and does not go on.
func holdsName(line []byte, name string, root []byte) bool {
	for at := 0; ; at++ {
		i := bytes.Index(line[at:], []byte(name))
		if i < 0 {
			return false
		}
		at += i
		rest := bytes.TrimPrefix(line[at+len(name):], []byte("."))
		if (at == 0 || !inName(line[at-1]) || bytes.HasSuffix(line[:at], root)) && (len(rest) == 0 || !inName(rest[0])) {
			return true
		}
	}
}

func inName(c byte) bool {
	return c >= 0x80 || c == '/' || c == '-' || c == '_' || c == '.' || c == '~' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// escapedJSON writes a name as Python's JSON does: in ASCII.
func escapedJSON(name string) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(name)) {
		if c < 0x80 {
			b.WriteByte(byte(c))
		} else {
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// namesRemoved reports whether bytes of any form hold the id of a removed note.
func (w *scrubbing) namesRemoved(data []byte) bool {
	return slices.ContainsFunc(w.Req.Removed, func(id string) bool { return bytes.Contains(data, []byte(id)) })
}

// foreign searches another program's files and reports when they name the subject; it writes nothing.
func (w *scrubbing) foreign(layer, name string, dir *rootdir.Dir, reason string) {
	data, m, err := dir.Read(name, texts.WholeLimit)
	switch {
	case errors.Is(err, model.NotFound):
	case err != nil:
		w.Out = append(w.Out, model.LayerResult{Layer: layer, Method: "not read", Verdict: model.VerdictUnaudited, Reason: err.Error()})
	case w.concerns(data) || w.namesRemoved(data):
		w.Out = append(w.Out, model.LayerResult{
			Layer: layer, Method: fmt.Sprintf("%d bytes scanned, not touched", m.Size), Verdict: model.VerdictOutOfScope, Reason: reason,
		})
	}
}

// matches is path.Match with this program's own patterns.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
