package transfer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"memdesk/internal/atomicfile"
	"memdesk/internal/filelock"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// An export is a directory of two files: store.json describes the export, items.jsonl holds one whole item
// per line, with the data beside it.
const (
	manifestFile = "store.json"
	itemsFile    = "items.jsonl"
	manifestType = "memdesk-export"
	version      = 1
)

// Manifest describes an export. It is written last, so a directory without one is no export.
type Manifest struct {
	Type       string           `json:"type"`
	V          int              `json:"v"`
	Store      string           `json:"store"` // its name at that time
	Kind       string           `json:"kind"`
	ExportedAt time.Time        `json:"exported_at"`
	Tiers      []model.TierSpec `json:"tiers"`
	Items      int64            `json:"items"`
	SHA256     string           `json:"sha256"` // of items.jsonl
	// Problems name parts of the store that could not be read: the export is then not whole.
	Problems []string `json:"problems"`
}

// archived is one item as a line of an export.
type archived struct {
	ID       exact         `json:"id"`
	Tier     exact         `json:"tier"`
	Scope    exact         `json:"scope"`
	Title    exact         `json:"title"`
	Bytes    int64         `json:"bytes"`
	Modified time.Time     `json:"modified"`
	Flags    []model.Flag  `json:"flags"`
	Meta     []field       `json:"meta"`
	Body     exact         `json:"body"`
	Beside   *model.Beside `json:"beside,omitempty"`
}

type field struct {
	Name     exact `json:"name"`
	Value    exact `json:"value"`
	ReadOnly bool  `json:"read_only,omitempty"`
	Sealed   bool  `json:"sealed,omitempty"`
}

// exact is a text from a store: a string in JSON, or {"base64": …} where it is no UTF-8.
type exact string

type encoded struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (t exact) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(encoded{[]byte(t)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *exact) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		var e encoded
		if err := json.Unmarshal(b, &e); err != nil {
			return err
		}
		*t = exact(e.Base64)
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

// Export writes every item of a store, archived and bookkeeping ones included, into a directory that must not
// exist. After each page progress receives how many items are written, of how many. The directory appears
// only when it is whole; one whose manifest names problems holds what could be read. Unsupported where the
// store cannot be listed.
func Export(ctx context.Context, s model.Store, dir string, at time.Time, progress func(done, total int64)) (m Manifest, err error) {
	if s.Browser == nil {
		return m, model.Errorf(model.Unsupported, "export", "store %s cannot be listed, so it cannot be exported", s.Name)
	}
	dir = filepath.Clean(dir) // without a final slash
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return m, cmp.Or(err, model.Errorf(model.AlreadyExists, "export", "%s exists already", dir))
	}
	if inside(dir, s.Location) {
		return m, model.Errorf(model.InvalidInput, "export", "%s lies inside store %s, which would list the export as its own: choose another place", dir, s.Name)
	}
	part, unlock, err := newPart(dir)
	if err != nil {
		return m, model.E(model.InvalidInput, "export", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part), unlock()) }()
	m = Manifest{Type: manifestType, V: version, Store: s.Name, Kind: s.Kind, ExportedAt: at.UTC(), Tiers: s.Tiers, Problems: []string{}}
	if err := m.items(ctx, s, filepath.Join(part, itemsFile), progress); err != nil {
		return m, err
	}
	text, err := safetext.MarshalJSON(m)
	if err != nil {
		return m, err
	}
	if err := writeNew(filepath.Join(part, manifestFile), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	}); err != nil {
		return m, err
	}
	return m, moveDir(part, dir, atomicfile.OS{}.SyncDir)
}

// newPart makes the directory in which the export to dir is written, and keeps it locked until unlock. It removes what
// killed exports to the same place left: nobody else knows of those copies. A removal that fails does not fail the export.
func newPart(dir string) (part string, unlock func() error, err error) {
	parent, prefix := filepath.Dir(dir), "."+filepath.Base(dir)+".part-"
	found, _ := os.ReadDir(parent) // one that may not be listed may be written to
	for _, e := range found {
		suffix, ok := strings.CutPrefix(e.Name(), prefix)
		if _, err := strconv.ParseUint(suffix, 10, 32); !ok || err != nil { // no name of os.MkdirTemp
			continue
		}
		part := filepath.Join(parent, e.Name())
		if unlock, err := lockPart(part); err == nil {
			removePart(part)
			_ = unlock() // what stays does no harm to this export
		}
	}
	for {
		if part, err = os.MkdirTemp(parent, prefix); err != nil {
			return "", nil, err
		}
		unlock, err := lockPart(part)
		switch {
		case err == nil:
			return part, unlock, nil
		case !errors.Is(err, errPartTaken) && !errors.Is(err, fs.ErrNotExist): // a file system without locks
			return part, func() error { return nil }, nil
		}
	}
}

// removePart removes a directory that an export of this user left. One that is not as an export makes it stays whole.
func removePart(part string) {
	info, err := os.Lstat(part)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return
	}
	inside, err := os.ReadDir(part)
	if err != nil || slices.ContainsFunc(inside, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() || e.Name() != itemsFile && e.Name() != manifestFile
	}) {
		return
	}
	for _, e := range inside {
		_ = os.Remove(filepath.Join(part, e.Name()))
	}
	_ = os.Remove(part) // fails where a file stays
}

// errPartTaken says that another process writes into the directory, or took it for dead before it was locked.
var errPartTaken = errors.New("another process has the directory")

func lockPart(part string) (unlock func() error, err error) {
	f, err := os.OpenFile(part, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	free, err := filelock.Try(f, true)
	if free {
		_, err = os.Lstat(part) // the holder before may have removed it
	} else if err == nil {
		err = errPartTaken
	}
	if err != nil {
		return nil, errors.Join(err, filelock.Close(f))
	}
	return func() error { return filelock.Close(f) }, nil
}

// moveDir gives a directory of flushed files its name, durably: a whole export must still be there after power loss.
func moveDir(from, to string, flush func(dir string) error) error {
	if err := flush(from); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return flush(filepath.Dir(to))
}

// items writes the items and counts them.
func (m *Manifest) items(ctx context.Context, s model.Store, path string, progress func(done, total int64)) error {
	sum := sha256.New()
	err := writeNew(path, func(w io.Writer) error {
		out := io.MultiWriter(w, sum)
		said := map[string]bool{} // a store may name the same problem on each page
		for page, err := range model.Pages(ctx, s.Browser, model.PageRequest{Hidden: true, Limit: model.MaxPage}) {
			if err != nil {
				return err
			}
			for _, why := range page.Problems {
				if !said[why] {
					said[why] = true
					m.Problems = append(m.Problems, why)
				}
			}
			for _, h := range page.Items {
				line, err := pack(ctx, s, h.ID)
				switch {
				case errors.Is(err, model.NotFound): // deleted since the listing
				case ctx.Err() != nil:
					return model.FromContext(ctx, "export")
				case err != nil:
					m.Problems = append(m.Problems, model.EncodeID(h.ID)+": "+err.Error())
				default:
					if _, err := out.Write(append(line, '\n')); err != nil {
						return err
					}
					m.Items++
				}
			}
			total := page.Total.N
			if page.Total.Unknown {
				total = 0
			}
			progress(m.Items, total)
		}
		return nil
	})
	m.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return err
}

// writeNew writes a file for its owner only and syncs it.
func writeNew(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(fill(w), w.Flush(), f.Sync(), f.Close())
}

// pack reads one item whole, and writes it as JSON.
func pack(ctx context.Context, s model.Store, id string) ([]byte, error) {
	it, err := s.Browser.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	if y := it.Modified.Year(); y < 0 || y > 9999 { // JSON has no such date
		it.Modified = time.Time{}
	}
	a := archived{ID: exact(it.ID), Tier: exact(it.Tier), Scope: exact(it.Scope), Title: exact(it.Title), Bytes: it.Bytes, Modified: it.Modified,
		Flags: it.Flags, Body: exact(it.Body)}
	for _, f := range it.Meta {
		a.Meta = append(a.Meta, field{exact(f.Name), exact(f.Value), f.ReadOnly, f.Sealed})
	}
	if s.Beside != nil {
		switch b, err := s.Beside(ctx, id); {
		case err == nil:
			a.Beside = &b
		case !errors.Is(err, model.NotFound):
			return nil, err
		}
	}
	return safetext.MarshalJSON(a)
}

func (a archived) item() model.Item {
	it := model.Item{Header: model.Header{ID: string(a.ID), Tier: string(a.Tier), Scope: string(a.Scope), Title: string(a.Title), Bytes: a.Bytes,
		Modified: a.Modified, Flags: a.Flags}, Body: string(a.Body)}
	for _, f := range a.Meta {
		it.Meta = append(it.Meta, model.Field{Name: string(f.Name), Value: string(f.Value), ReadOnly: f.ReadOnly, Sealed: f.Sealed})
	}
	return it
}

// openPlain opens a file of an export, which comes from elsewhere: a pipe is not waited for, and a link not followed.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil && !errors.Is(err, syscall.ELOOP) {
		return nil, err
	}
	if err == nil {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, nil
		}
		_ = f.Close() // nothing was read
	}
	return nil, fmt.Errorf("%s is no regular file", filepath.Base(path))
}

// OpenExport opens an export as a store to copy from: it can be listed and read, and has no provider. It
// fails with InvalidInput where the directory is no export or was changed. A list of it names what the export does
// not hold. Close the store.
func OpenExport(dir string) (model.Store, error) {
	fail := func(err error) (model.Store, error) {
		return model.Store{}, model.E(model.InvalidInput, "export", err)
	}
	head, err := openPlain(filepath.Join(dir, manifestFile))
	if err != nil {
		return fail(fmt.Errorf("%s is no export: %w", dir, err))
	}
	var m Manifest
	err = json.NewDecoder(head).Decode(&m) // not read whole: what is no JSON may be endless
	_ = head.Close()                       // it was only read
	if err != nil || m.Type != manifestType {
		return fail(fmt.Errorf("%s is no export: its %s is not memdesk's", dir, manifestFile))
	}
	if m.V != version {
		return fail(fmt.Errorf("%s is an export of format %d, this version reads %d", dir, m.V, version))
	}
	f, err := openPlain(filepath.Join(dir, itemsFile))
	if err != nil {
		return fail(err)
	}
	x := &export{file: f, problems: m.Problems, at: map[string]span{}}
	if err := x.index(m); err != nil {
		_ = f.Close()
		return fail(fmt.Errorf("%s is not as it was written: %w", filepath.Join(dir, itemsFile), err))
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		_ = f.Close()
		return fail(err)
	}
	return model.Store{Name: m.Store + "-export", Kind: m.Kind, Location: abs, ReadOnly: true, ReadOnlyReason: "it is an export", Tiers: m.Tiers,
		Browser: x, Beside: x.beside, Closer: f.Close}, nil
}

// export reads the items of an export. It is safe for concurrent use.
type export struct {
	file     *os.File
	problems []string       // of the manifest
	items    []model.Header // in the order of the file
	at       map[string]span
}

// span is an item's part of the file, in bytes.
type span struct{ from, length int64 }

// index reads the file once: the place of each item, and whether everything agrees with the manifest.
func (x *export) index(m Manifest) error {
	sum := sha256.New()
	in := json.NewDecoder(io.TeeReader(x.file, sum))
	for from := int64(0); ; from = in.InputOffset() {
		var a archived
		err := in.Decode(&a)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		h := a.item().Header
		if _, twice := x.at[h.ID]; twice {
			return fmt.Errorf("%q is in it twice", h.ID)
		}
		x.items = append(x.items, h)
		x.at[h.ID] = span{from, in.InputOffset() - from}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != m.SHA256 || int64(len(x.items)) != m.Items {
		return fmt.Errorf("%d items of %d, sha256 %s", len(x.items), m.Items, got)
	}
	return nil
}

func (x *export) read(id string) (a archived, err error) {
	at, ok := x.at[id]
	if !ok {
		return a, model.Errorf(model.NotFound, "read", "the export has no item %q", id)
	}
	line := make([]byte, at.length)
	if _, err := x.file.ReadAt(line, at.from); err != nil {
		return a, model.E(model.Unavailable, "read", err)
	}
	return a, json.Unmarshal(line, &a)
}

// Read implements model.Browser.
func (x *export) Read(_ context.Context, id string) (model.Item, error) {
	a, err := x.read(id)
	return a.item(), err
}

func (x *export) beside(_ context.Context, id string) (model.Beside, error) {
	a, err := x.read(id)
	if err != nil || a.Beside == nil {
		return model.Beside{}, err
	}
	return *a.Beside, nil
}

// List implements model.Browser in the order of the file. An export hides nothing. Scopes, queries and orders
// are InvalidInput.
func (x *export) List(_ context.Context, req model.PageRequest) (model.Page, error) {
	if req.Scope != "" || req.Query != "" || req.Order != "" || req.End {
		return model.Page{}, model.Errorf(model.InvalidInput, "items", "an export is listed by tier only")
	}
	from := 0
	if req.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(req.Cursor); err != nil || from < 0 || from > len(x.items) {
			return model.Page{}, model.Errorf(model.InvalidInput, "items", "this cursor is of another list")
		}
	}
	page := model.Page{Problems: x.problems}
	for i, h := range x.items {
		if req.Tier != "" && h.Tier != req.Tier {
			continue
		}
		page.Total.N++
		switch {
		case i < from || page.Next != "":
		case len(page.Items) == model.PageLimit(req.Limit):
			page.Next = strconv.Itoa(i)
		default:
			page.Items = append(page.Items, h)
		}
	}
	return page, nil
}

// Tiers implements model.Browser.
func (x *export) Tiers(context.Context) ([]model.TierCount, error) {
	var out []model.TierCount
	for _, h := range x.items {
		i := slices.IndexFunc(out, func(c model.TierCount) bool { return c.Tier == h.Tier && c.Scope == h.Scope })
		if i < 0 {
			out = append(out, model.TierCount{Scope: h.Scope, Tier: h.Tier})
			i = len(out) - 1
		}
		out[i].Items++
		out[i].Bytes += h.Bytes
	}
	return out, nil
}

// IsExport reports whether an argument for a store is a directory: a store's name contains no separator.
func IsExport(name string) bool { return strings.ContainsRune(name, filepath.Separator) }
