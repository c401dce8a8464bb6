package beads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"memdesk/backends/internal/jsonedit"
	"memdesk/internal/atomicfile"
	"memdesk/internal/gitlog"
	"memdesk/model"
)

// gitLayer names the history of the repository.
const gitLayer = "git history"

// doltDirs hold bd's database, with every version of every row.
var doltDirs = []string{"embeddeddolt", "dolt"}

const (
	doltReason = "bd's database keeps every version of an item: run bd flatten, bd compact and bd gc, then bd dolt push for the remote"
	dbReason   = "a database of an older bd: erase there with that bd, or remove the file"
	otherWhy   = "no file that memdesk knows: it is read and never written"
)

// layerDepth is how deep files below .beads are listed.
const layerDepth = 8

// Layers lists every file of the directory and the layers outside of it.
func (s *Store) Layers(ctx context.Context) ([]model.Layer, error) {
	out, err := s.walk(ctx, "", 0)
	if err != nil {
		return nil, err
	}
	if git := s.git(ctx); git.ID != "" {
		out = append(out, git)
	}
	return out, nil
}

func (s *Store) walk(ctx context.Context, dir string, depth int) ([]model.Layer, error) {
	if err := model.FromContext(ctx, "layers"); err != nil {
		return nil, err
	}
	entries, err := s.fs.ReadDir(s.path(dir))
	if err != nil {
		if dir == "" {
			return nil, fileError("layers", ".beads", err)
		}
		return []model.Layer{{ID: dir + "/", Kind: model.LayerExternal, Reason: "the directory cannot be read"}}, nil
	}
	var out []model.Layer
	for _, e := range entries {
		id := path.Join(dir, e.Name())
		switch {
		case e.IsDir() && dir == "" && slices.Contains(doltDirs, e.Name()):
			out = append(out, model.Layer{ID: id + "/", Kind: model.LayerExternal, Reason: doltReason})
		case e.IsDir() && depth+1 >= layerDepth:
			out = append(out, model.Layer{ID: id + "/", Kind: model.LayerExternal, Reason: "it lies too deep to be looked at"})
		case e.IsDir():
			inner, err := s.walk(ctx, id, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, inner...)
		case e.Type().IsRegular():
			out = append(out, s.layer(id))
		case e.Type()&fs.ModeSymlink != 0:
			out = append(out, model.Layer{ID: id, Kind: model.LayerExternal, Reason: model.LinkReason, File: s.path(id)})
		default:
			out = append(out, model.Layer{ID: id, Kind: model.LayerExternal, Reason: "it is no regular file: what it leads to is not looked at"})
		}
	}
	return out, nil
}

func (s *Store) layer(id string) model.Layer {
	l := model.Layer{ID: id, Readable: true, File: s.path(id)}
	if info, err := s.fs.Lstat(s.path(id)); err == nil {
		l.Bytes, l.Links = info.Size(), otherNames(info)
	}
	switch sortOf(id) {
	case fileItems:
		l.Kind = model.LayerItem
	case fileLines, fileTemp:
		l.Kind = model.LayerDerived
	case fileDatabase:
		l.Kind, l.Reason = model.LayerExternal, dbReason
	default:
		l.Kind, l.Reason = model.LayerExternal, otherWhy
	}
	return l
}

type fileSort int

const (
	fileOther fileSort = iota
	fileItems
	fileLines // one record per line: pairs, interactions, older and other exports
	fileTemp
	fileDatabase
)

// packed are the endings of archives, which have no lines.
var packed = []string{".gz", ".tgz", ".zst", ".xz", ".bz2", ".lz4", ".zip", ".7z"}

func sortOf(id string) fileSort {
	name := path.Base(id)
	switch {
	case id == issuesName:
		return fileItems
	case isTemp(name):
		return fileTemp
	case strings.Contains(name, ".jsonl") && !slices.Contains(packed, strings.ToLower(path.Ext(name))):
		return fileLines
	case strings.Contains(name, ".db"), strings.Contains(name, ".sqlite"):
		return fileDatabase
	}
	return fileOther
}

// OpenLayer reads a file's raw bytes.
func (s *Store) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if err := model.FromContext(ctx, "open-layer"); err != nil {
		return nil, err
	}
	if id == gitLayer || strings.HasSuffix(id, "/") {
		return nil, model.Errorf(model.Unsupported, "open-layer", "%s cannot be read from here", id)
	}
	if !filepath.IsLocal(id) || strings.ContainsAny(id, "\\\x00") {
		return nil, model.Errorf(model.InvalidInput, "open-layer", "%q is no layer of this store", id)
	}
	f, _, err := s.open("open-layer", id, syscall.O_NOFOLLOW)
	if err == nil && f == nil {
		err = model.Errorf(model.NotFound, "open-layer", "%q is not there any more", id)
	}
	return f, err
}

// gitPatience bounds the question to git.
const gitPatience = 5 * time.Second

// git says whether committed versions of the files exist; an empty layer where the directory is in no
// repository.
func (s *Store) git(ctx context.Context) model.Layer {
	l := model.Layer{ID: gitLayer, Kind: model.LayerExternal}
	inRepo := false
	for d := s.dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			inRepo = true
		}
		if d == filepath.Dir(d) || inRepo {
			break
		}
	}
	if !inRepo {
		return model.Layer{}
	}
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	out, err := gitlog.Command(ctx, s.dir, "rev-list", "--count", "--all", "--", ".").Output()
	n := strings.TrimSpace(string(out))
	switch {
	case err != nil:
		l.Reason = "whether commits hold the text is unknown: git did not answer"
	case n == "0":
		l.Reason = "no commit holds these files; unreachable objects and remotes were not looked at"
	default:
		l.Reason = fmt.Sprintf("%s commits hold versions of these files, as may every clone: only a rewrite of the history takes the text out", n)
	}
	return l
}

// Scrub removes the lines that concern a subject or a removed item from every file of lines except the items'
// own. In that file it removes other items' references to a removed item: their dependencies on it and their
// parent.
func (s *Store) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.SideRows != nil {
		return nil, nil // a line is an item whole
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, model.FromContext(ctx, "scrub")
	}
	if !req.Dry {
		unlock, err := s.lock(ctx, "scrub")
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	layers, err := s.Layers(ctx)
	if err != nil {
		return nil, err
	}
	concerns := concerning(req)
	var out []model.LayerResult
	for _, l := range layers {
		if err := model.FromContext(ctx, "scrub"); err != nil {
			return nil, err
		}
		if req.Step != nil {
			req.Step(l.ID, "looking")
		}
		if sortOf(l.ID) == fileItems && l.Readable {
			out = append(out, s.scrubItems(ctx, l.ID, req, concerns))
			continue
		}
		edit, mentioned := dropping(concerns), 0
		if l.Readable && sortOf(l.ID) == fileLines && path.Base(l.ID) != interactionsName {
			snap, _, err := s.load(ctx)
			if err != nil {
				return nil, err
			}
			if edit = snap.scrubExport(req, concerns, &mentioned); l.ID == depsName {
				edit = snap.scrubPairs(req, concerns)
			}
		}
		res := s.scrub(l, req, edit)
		if res.Verdict == model.VerdictClean && mentioned > 0 {
			res.Verdict, res.Reason = model.VerdictResidue, "lines of other items still mention a removed item"
		}
		out = append(out, res)
	}
	if req.Dry {
		return nil, nil
	}
	return out, nil
}

// concerning is the test for every line.
func concerning(req model.ScrubRequest) func([]byte) bool {
	var ids [][]byte
	for _, id := range req.Removed {
		ids = append(ids, jsonedit.Quote(id))
	}
	return func(line []byte) bool {
		if req.Concerns != nil && req.Concerns(line) {
			return true
		}
		return slices.ContainsFunc(ids, func(id []byte) bool { return bytes.Contains(line, id) })
	}
}

// lineEdit returns the rest of a line, nil for nothing, and whether it differs from the line.
type lineEdit func(line []byte) (left []byte, changed bool)

func dropping(concerns func([]byte) bool) lineEdit {
	return func(line []byte) ([]byte, bool) {
		if concerns(line) {
			return nil, true
		}
		return line, false
	}
}

func (s *Store) scrub(l model.Layer, req model.ScrubRequest, edit lineEdit) model.LayerResult {
	res := model.LayerResult{Layer: l.ID, Verdict: model.VerdictClean}
	switch kind := sortOf(l.ID); {
	case !l.Readable:
		res.Method, res.Verdict, res.Reason = "named only", model.VerdictOutOfScope, l.Reason
	case req.Dry && kind == fileTemp: // it is memdesk's own
	case kind == fileTemp:
		res.Method = "removed what an interrupted write left"
		if err := s.fs.Remove(s.path(l.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			res.Verdict, res.Reason = model.VerdictFailed, fileError("scrub", l.ID, err).Error()
		}
	case kind == fileLines:
		res.Method = "rewrote the file without the lines that concern the request, and without the person in other items' lines"
		if l.ID == depsName {
			res.Method = "rewrote the file without the pairs of removed items, and without the person in other pairs"
		}
		left := model.LayerResult{}
		n, err := s.editLines(l.ID, edit, func() (ok bool) {
			left, ok = req.Permits(l.ID, nil)
			return ok
		})
		if left.Layer != "" {
			return left
		}
		res.Rows = n
		if err != nil {
			res.Verdict, res.Reason = model.VerdictFailed, err.Error()
		}
	default:
		res.Method, res.Verdict, res.Reason = "named only", model.VerdictOutOfScope, l.Reason
	}
	return res
}

// editLines rewrites a file with some of its lines edited or removed. Lines that another program appends
// meanwhile are appended again.
func (s *Store) editLines(id string, edit lineEdit, may func() bool) (int64, error) {
	for range rewriteAttempts {
		f, info, err := s.open("scrub", id, syscall.O_NOFOLLOW)
		if err != nil || f == nil {
			return 0, err
		}
		n, again, err := s.editFrom(f, info, id, edit, may)
		_ = f.Close() // opened for reading: closing loses nothing
		if err != nil || !again {
			return n, err
		}
	}
	return 0, model.Errorf(model.Conflict, "scrub", "%s is rewritten by another program again and again", id)
}

func (s *Store) editFrom(f atomicfile.File, info fs.FileInfo, id string, edit lineEdit, may func() bool) (n int64, again bool, err error) {
	data, err := io.ReadAll(f)
	if err != nil {
		return 0, false, fileError("scrub", id, err)
	}
	keep := make([]byte, 0, len(data))
	for line := range bytes.Lines(data) {
		left, changed := edit(line)
		if changed {
			n++
		}
		keep = append(keep, left...)
	}
	if n == 0 || !may() {
		return 0, false, nil
	}
	now, err := s.fs.Lstat(s.path(id))
	if err != nil || stampOf(now).inode != stampOf(info).inode {
		return 0, true, nil
	}
	err = atomicfile.WriteFS(s.writer(data), s.path(id), keep, atomicfile.Options{TempName: tempName, Perm: 0o644, KeepMode: true, KeepOwner: true})
	if errors.Is(err, errForeign) {
		return 0, true, nil
	}
	if err != nil {
		return 0, false, fileError("scrub", id, err)
	}
	// A line that was appended to the displaced file.
	late, err := io.ReadAll(f)
	if err != nil || len(late) == 0 {
		return n, false, err
	}
	out, err := s.fs.OpenFile(s.path(id), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return n, false, fileError("scrub", id, err)
	}
	for line := range bytes.Lines(late) {
		left, changed := edit(line)
		if changed {
			n++
		}
		if _, werr := out.Write(left); werr != nil {
			err = werr
		}
	}
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return n, false, fileError("scrub", id, err)
	}
	return n, false, nil
}
