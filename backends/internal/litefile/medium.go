package litefile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/internal/sharedfd"
	"memdesk/model"
)

// Medium is the database's file and what stands beside it, as model.Maintainer. Scrub is
// refused where the file was opened for reading.
type Medium struct {
	File *File
	// Items names the tables that hold items, each with its columns that the items are made of; none: all.
	// Retain and Forget change these, Scrub never does. A column that somebody added is cleaned as a side
	// table is.
	Items map[string][]string
	// Loose are conditions on rows of such tables that are no items, because nothing can name them: Scrub
	// cleans these as it does those of other tables.
	Loose map[string]string
	// Tied names the columns that hold the id of an item, in any other table: a row tied to
	// a removed item goes with it.
	Tied []string
	// Lists names the columns that hold a JSON list of ids of items, in any other table: a list loses the removed
	// items, and a row whose list is empty then goes. A list in another column is a text like others.
	Lists []string
	// Raw gives the value of a column of Tied or Lists for an item's id; false where the column holds no ids of such
	// items. nil: the id itself.
	Raw func(column, id string) (string, bool)
	// TiedRows are further expressions that give, in rows of a table that are tied to an item, the item's id, as it is
	// without the marks in it (model.Inner). One that names a column that the table lacks ties nothing.
	TiedRows map[string][]string
	// Owners names the columns that hold a person's id, in any table that holds no items: a
	// row of an erased person goes.
	Owners []string
	// OwnedRows are further conditions on rows of a table, with one `?` for the person's id, and
	// NamedRows those of rows that go as a whole when they name the person.
	OwnedRows, NamedRows map[string]string
	// Own tells in which table of items, and under which key of which column, an item's row
	// lies; an empty table: nowhere. nil: nobody knows.
	Own func(id string) (table, column, key string)
	// Edited: what such a row says beside the item goes through Redact when the item was edited.
	Edited bool
	// Leads are, by column, conditions that a row's value leads to an item that is there: Scrub leaves the value, because
	// the row would be the item's no more.
	Leads map[string]string
	// Rows removes rows that the owner's program ties together, in the transaction that cleans the
	// tables and before they are looked at one by one; nil: none are.
	Rows func(q *Query, req model.ScrubRequest) ([]model.LayerResult, error)
	// Sibling says why another file of the directory may hold the store's content, or nothing;
	// copies and backups by the database's own name are known without it. nil: none.
	Sibling func(name string) string
}

var _ model.Maintainer = Medium{}

// own are the files that SQLite keeps for one database.
var own = []string{"", "-wal", "-shm", "-journal"}

// Layers lists the database's own files, each table that holds no items, whose cells may
// say more than the bytes of the file show, and every sibling that may hold a copy of what
// is in it.
func (m Medium) Layers(ctx context.Context) ([]model.Layer, error) {
	if err := model.FromContext(ctx, "layers"); err != nil {
		return nil, err
	}
	var out []model.Layer
	for _, suffix := range own {
		info, err := os.Lstat(m.File.Path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		l := layerOf(m.File.Name+suffix, model.LayerDerived, info, err, "")
		l.Rows, l.HeldWith = true, m.File.Path
		out = append(out, l)
	}
	tables, err := m.tables(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, tables...)
	siblings, err := m.siblings()
	if err != nil {
		return append(out, model.Layer{ID: "(directory)", Kind: model.LayerExternal, Reason: "the directory of the database cannot be listed: copies beside it are not seen"}), nil
	}
	return append(out, siblings...), nil
}

func layerOf(id string, kind model.LayerKind, info fs.FileInfo, err error, reason string) model.Layer {
	l := model.Layer{ID: id, Kind: kind, Reason: reason}
	switch {
	case err != nil:
		l.Reason = "it cannot be looked at: " + model.KindOf(Worded("layers", err)).Error()
	case !info.Mode().IsRegular():
		l.Reason = "it is no regular file and is not followed"
	default:
		l.Bytes, l.Readable = info.Size(), true
	}
	return l
}

// siblings are other files of the directory: copies of the database by their
// names, and other databases of the same agent. A file of another program is none
// of the store's layers.
func (m Medium) siblings() ([]model.Layer, error) {
	entries, err := os.ReadDir(filepath.Dir(m.File.Path))
	if err != nil {
		return nil, err
	}
	var out []model.Layer
	for _, e := range entries {
		reason := m.kinship(e.Name())
		if reason == "" {
			continue
		}
		info, err := e.Info()
		out = append(out, layerOf(e.Name(), model.LayerExternal, info, err, reason))
	}
	return out, nil
}

// kinship says why a file beside the database may hold its content; empty: it
// does not.
func (m Medium) kinship(name string) string {
	if slices.ContainsFunc(own, func(suffix string) bool { return name == m.File.Name+suffix }) {
		return ""
	}
	stem := strings.TrimSuffix(m.File.Name, filepath.Ext(m.File.Name))
	switch {
	case strings.HasPrefix(name, m.File.Name), strings.HasPrefix(name, stem+" "), strings.HasPrefix(name, stem+"."), strings.HasPrefix(name, "."+m.File.Name):
		return "a copy or backup beside the database: delete it, or open it as a store and erase there too"
	case m.Sibling != nil:
		return m.Sibling(name)
	}
	return ""
}

// OpenLayer reads a file as it lies. Of the files that SQLite locks one descriptor is kept for all scans; a log or a journal
// is closed, because a removed one stays on the disk as long as it is open.
func (m Medium) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	if err := model.FromContext(ctx, "open-layer"); err != nil {
		return nil, err
	}
	if table, ok, err := m.tableOf(ctx, id); err != nil {
		return nil, err
	} else if ok {
		return m.openTable(ctx, table), nil
	}
	suffix, mine := strings.CutPrefix(id, m.File.Name)
	mine = mine && slices.Contains(own, suffix)
	if id != filepath.Base(id) || !mine && m.kinship(id) == "" {
		return nil, model.Errorf(model.NotFound, "open-layer", "the store has no layer %q", id)
	}
	path := filepath.Join(filepath.Dir(m.File.Path), id)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, Worded("open-layer", err)
	}
	if !info.Mode().IsRegular() {
		return nil, model.Errorf(model.Unsupported, "open-layer", "%q is no regular file", id)
	}
	f, err := sharedfd.Open(info, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return nil, Worded("open-layer", err)
	}
	return f, nil
}

// Media are the files and tables of one store as one model.Maintainer.
type Media []model.Maintainer

var _ model.Maintainer = Media{}

// Layers lists the layers of all, each once.
func (m Media) Layers(ctx context.Context) ([]model.Layer, error) {
	var out []model.Layer
	seen := map[string]bool{}
	for _, one := range m {
		layers, err := one.Layers(ctx)
		if err != nil {
			return nil, err
		}
		for _, l := range layers {
			if !seen[l.ID] {
				seen[l.ID] = true
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// OpenLayer reads a layer of whichever has it.
func (m Media) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	for _, one := range m {
		r, err := one.OpenLayer(ctx, id)
		if !errors.Is(err, model.NotFound) {
			return r, err
		}
	}
	return nil, model.Errorf(model.NotFound, "open-layer", "the store has no layer %q", id)
}

// Scrub cleans one after the other.
func (m Media) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	var out []model.LayerResult
	for _, one := range m {
		res, err := one.Scrub(ctx, req)
		if err != nil {
			return nil, err
		}
		out = append(out, res...)
	}
	return out, nil
}
