package gdpr

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/internal/atomicfile"
	"memdesk/internal/drafts"
	"memdesk/internal/exactjson"
	"memdesk/internal/linefile"
	"memdesk/model"
	"memdesk/undo"
)

// ownStore names memdesk's own files in a verification.
const ownStore = "memdesk"

// originLayer is the row about who wrote what, what was recalled and how agents call items (agents-door.md AD18), and the
// name of their directory; stateLayer is the row about memdesk's other files.
const (
	stateLayer  = "state"
	originLayer = "origin"
)

// entryNames reports whether any part of an undo entry names the subject.
func entryNames(e undo.Entry, body string, names func(string) bool) bool {
	return slices.ContainsFunc(entryTexts(e, body), names)
}

// entryTexts are the texts of an undo entry, its ids and fields with their names among them: what a verification finds in
// the entry's file, an erasure must remove.
func entryTexts(e undo.Entry, body string) []string {
	out := slices.Concat([]string{body, e.Item, e.Was, string(e.Before), string(e.After), string(e.Will)}, e.Renewed, e.Falls)
	fields := func(meta []model.Field, beside *model.Beside) {
		for _, f := range meta {
			out = append(out, f.Name, f.Value)
		}
		if beside == nil {
			return
		}
		out = append(out, beside.VectorModel, beside.Left)
		for _, seat := range beside.Seats {
			out = append(out, seat.Relation, seat.Role)
		}
		for _, l := range beside.Lines {
			out = append(out, l.Text)
		}
		for _, r := range beside.Rows {
			out = append(out, r.Table)
			for _, c := range r.Cells {
				out = append(out, c.Column, c.Value)
			}
		}
	}
	fields(e.Meta, e.Beside)
	for _, p := range e.Parts {
		out = append(out, p.Body, p.Item)
		fields(p.Meta, p.Beside)
	}
	return out
}

// ownTraces erases memdesk's own traces of the subject: bodies kept for undo, texts that an editor left, the
// clear names beside the log.
func (x *run) ownTraces(ctx context.Context) error {
	names := x.m.Names
	planned, err := x.planned()
	if err != nil {
		return err
	}
	if x.d.Undo != nil {
		_, err := x.d.Undo.Erase(func(e undo.Entry, body string) bool {
			return entryNames(e, body, names) || x.m.NamesBytes([]byte(body)) || planned(e.Store, e.Where, e.Item) || e.Was != "" && planned(e.Store, e.Where, e.Was)
		})
		if err != nil {
			x.problem(ownStore, "%s; look at it, remove its file undo/ID.undo from the state directory, and run this again", x.words(err))
		}
	}
	for _, t := range x.d.Traces {
		if _, err := t.Erase(traced(x.m, planned)); err != nil {
			x.problem(ownStore, "origins: %s", x.words(err))
		}
	}
	if err := x.clearOtherRequests(ctx); err != nil {
		return err
	}
	put := drafts.New(filepath.Join(x.d.State, "edit"), x.d.Clock, nil)
	if _, err := put.Erase(func(name string, text []byte) bool { return names(name) || x.m.NamesBytes(text) }); err != nil {
		x.problem(ownStore, "drafts: %s", x.words(err))
	}
	if _, err := linefile.EraseIn(filepath.Join(x.d.State, "events"), x.m.NamesBytes); err != nil {
		x.problem(ownStore, "events of stores: %s", x.words(atomicfile.Pathless(err)))
	}
	tied := x.tied()
	if _, err := x.d.Log.EraseNames(ctx, x.r.Terms(), func(s string) bool { return names(s) || tied[s] }); err != nil {
		x.problem(ownStore, "names beside the log: %s", x.words(err))
	}
	return nil
}

// words are an error, or several, on one line and without the subject.
func (x *run) words(err error) string {
	return x.m.Redact(strings.ReplaceAll(err.Error(), "\n", "; "), Erased)
}

// traced reports whether an entry of memdesk's notes names the subject, or an item of the subject. Entries
// are JSON: they are read as written and with escapes resolved.
func traced(m *subject.Matcher, theirs func(store, where, id string) bool) func([]byte) bool {
	return func(entry []byte) bool {
		if m.NamesBytes(inJSON(entry, withoutRevision)) {
			return true
		}
		var of struct{ Store, ID, Name, Detail, Client, Session string }
		if exactjson.Unmarshal(entry, &of) != nil {
			return m.Names(string(entry))
		}
		for _, s := range []string{of.ID, of.Name, of.Detail, of.Client, of.Session} {
			if m.Names(s) {
				return true
			}
		}
		return theirs(of.Store, "", of.ID)
	}
}

// planned reports which items were to be forgotten, under this plan or an earlier one: an undo entry of one is
// the subject's too. where is the identity of the item's store, which may have had another name; a note without it,
// and an earlier memdesk's list of what is gone, have the name alone.
func (x *run) planned() (func(store, where, id string) bool, error) {
	key, err := x.d.pseudonymKey()
	if err != nil {
		return nil, err
	}
	now, gone, known := map[model.Ref]bool{}, map[string]bool{}, map[string][]string{}
	for _, p := range x.parts {
		for _, place := range append(x.places(p), p.Store) {
			known[place] = append(known[place], p.place())
		}
		for _, st := range p.Steps {
			if st.Action == Forget {
				now[model.Ref{Store: p.place(), ID: st.ID}] = true
			}
		}
	}
	for _, item := range x.r.Gone {
		gone[item] = true
	}
	return func(store, where, id string) bool {
		places := append([]string{cmp.Or(where, store)}, known[cmp.Or(where, store)]...)
		return slices.ContainsFunc(places, func(p string) bool { return now[model.Ref{Store: p, ID: id}] }) ||
			len(gone) > 0 && slices.ContainsFunc(append(places, store), func(p string) bool { return gone[key.Item(p, id)] })
	}, nil
}

// places are the identities of a planned store, the older ones too where it is configured.
func (x *run) places(p *part) []string {
	if s, err := x.fleet.Store(p.Store); err == nil && slices.Contains(s.Identities(), p.Where) {
		return s.Identities()
	}
	return []string{p.place()}
}

// tied are the refs of items that go and that the store ties to the subject: such an id can be made from the
// subject's own.
func (x *run) tied() map[string]bool {
	out := map[string]bool{}
	for _, p := range x.parts {
		for _, st := range p.Steps {
			if st.Tied && (st.Action == Forget || st.NewID != "") {
				out[model.Ref{Store: p.Store, ID: st.ID}.String()] = true
			}
		}
	}
	return out
}

// mustKeepNames reports whether a file still needs the subject's identifiers: that of this request, its plan,
// or an open request of the same subject.
func (x *run) mustKeepNames(path string) bool {
	id, ok := strings.CutSuffix(filepath.Base(path), ".json")
	switch {
	case !ok || !requestForm.MatchString(id):
		return false
	case id == x.r.ID:
		return filepath.Dir(path) == x.d.dir("requests") || filepath.Dir(path) == x.d.dir("plans")
	case filepath.Dir(path) != x.d.dir("requests"):
		return false
	}
	r, err := x.d.load(id)
	return err == nil && !r.Done() && x.aboutSubject(&r)
}

// verifyOwn scans memdesk's own state, except the request and its plan, which are emptied last, and except
// open requests of the same subject: those are listed.
func (x *run) verifyOwn(ctx context.Context) error {
	ending, staying, err := x.otherRequests()
	if err != nil {
		return err
	}
	notes := filepath.Join(x.d.State, originLayer)
	row := receipt.Layer{Store: ownStore, Layer: originLayer, Method: "byte scan of who wrote what, of recalls and of agents' names of items", Verdict: model.VerdictClean}
	if err := x.verifyFiles(ctx, row, notes, func(string) bool { return true }, nil, nil); err != nil {
		return err
	}
	row = receipt.Layer{Store: ownStore, Layer: stateLayer, Method: "byte scan of log, undo, drafts, jobs and receipts", Verdict: model.VerdictClean}
	return x.verifyFiles(ctx, row, x.d.State, func(path string) bool {
		return !strings.HasPrefix(path, notes+string(filepath.Separator)) && !x.mustKeepNames(path)
	}, ending, staying)
}

// verifyFiles scans files of memdesk's own for one row. ending and staying are other requests of the subject.
func (x *run) verifyFiles(ctx context.Context, row receipt.Layer, dir string, concerns func(path string) bool, ending, staying []string) error {
	kept := int64(0)
	var closed []string
	err := eachFile(dir, true, func(path string) error {
		if !concerns(path) {
			return nil
		}
		f, err := atomicfile.Open(path, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		rep, old, err := x.scanOwn(ctx, x.below(path), f)
		row.BytesScanned += rep.Bytes
		row.Hits += rep.Hits
		kept += old
		closed = append(closed, rep.Closed...)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return model.FromContext(ctx, "gdpr-erase")
	case err != nil:
		row.Verdict, row.Reason = model.VerdictUnaudited, "a file of the state directory cannot be read, or a link there leads to a further link"
	case row.Hits > 0:
		row.Verdict, row.Reason = model.VerdictResidue, "memdesk's own files still name the person"
	case len(closed) > 0:
		slices.Sort(closed)
		row.Verdict, row.Reason = model.VerdictUnaudited, withWords("memdesk's own files", slices.Compact(closed))
	case kept > 0 || len(staying) > 0:
		row.Hits, row.Verdict = kept, model.VerdictOutOfScope // those requests are still open
		if kept > 0 {
			staying = append(staying, "a store or an operator is called like the person: what was logged under that name stays as it was written until its segment of the log expires")
		}
		row.Reason = strings.Join(staying, "; ")
	case len(ending) > 0:
		row.Reason = "of the same person too, and closed with this one: " + strings.Join(ending, ", ")
	}
	x.attestRow(ownAsStore(), &row)
	x.row(row)
	return nil
}

// below is the path of a file of memdesk's own below the state directory.
func (x *run) below(path string) string {
	rel, err := filepath.Rel(x.d.State, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// eachFile passes the files of a directory, which may be a link, under their paths there. A link in it is followed,
// as whatever writes there follows it; one behind that is an error, because it may lead in a circle.
func eachFile(dir string, follow bool, pass func(path string) error) error {
	// The separator makes a link its target.
	return filepath.WalkDir(dir+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		link := err == nil && e.Type()&fs.ModeSymlink != 0
		var info fs.FileInfo
		if link {
			info, err = os.Stat(path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case link && info.IsDir() && !follow:
			return errors.New("a link behind a link")
		case link && info.IsDir():
			return eachFile(path, false, pass)
		case link && info.Mode().IsRegular() || e.Type().IsRegular():
			return pass(path)
		}
		return nil
	})
}
