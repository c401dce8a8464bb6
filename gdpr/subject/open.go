package subject

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"memdesk/model"
)

// bounds limit the time and memory that a small file can take when it expands. A medium beyond them counts as
// not opened, never as clean.
type bounds struct {
	nested int   // depth of nested containers
	memory int64 // of a nested container that needs random access
	out    int64 // output bytes always allowed
	ratio  int64 // and more for each input byte
	most   int64 // but never more than this
	// until is the end of expansion; zero: no end.
	until time.Time
}

// usual are the bounds of a medium that is opened now.
func usual() bounds {
	return bounds{nested: 4, memory: 64 << 20, out: 1 << 30, ratio: 100, most: 16 << 30, until: time.Now().Add(openTime)}
}

// openTime is how long the containers of one medium may be expanded.
const openTime = 30 * time.Minute

// Leaf reads bytes that are no container: a medium itself, a member of an archive, or expanded data, with the
// path of its names, if it has any.
type Leaf func(member string, r io.Reader) error

// Each hands over every leaf of a medium: compressed data is expanded, archives and documents are opened.
// name receives each name in a container. The result says what could not be opened; its raw bytes are handed
// over instead. An error comes from leaf, from the context, or from reading the medium itself.
func Each(ctx context.Context, medium io.Reader, leaf Leaf, name func(member string)) ([]string, error) {
	return each(ctx, medium, leaf, name, usual())
}

func each(ctx context.Context, medium io.Reader, leaf Leaf, name func(member string), b bounds) ([]string, error) {
	o := &opening{ctx: ctx, leaf: leaf, name: name, bounds: b}
	err := o.medium(medium)
	if errors.Is(err, errTooMuch) {
		err = nil // the rest is skipped, which was noted
	}
	if o.more > 0 {
		o.closed = append(o.closed, fmt.Sprintf("and %d more that could not be opened", o.more))
	}
	return o.closed, err
}

// opening is one walk.
type opening struct {
	ctx    context.Context
	leaf   Leaf
	name   func(string)
	bounds bounds

	at   io.ReaderAt // the medium, where it has random access
	size int64

	in, out int64 // bytes read from the medium, and expanded from containers
	closed  []string
	more    int  // further problems, only counted
	cut     bool // a compressed part continues beyond the end of the medium
}

// medium opens the medium itself.
func (o *opening) medium(r io.Reader) error {
	o.at, o.size = random(r)
	return o.open("", &counted{r: r, n: &o.in}, 0)
}

// maxTold is how many media that could not be opened are named.
const maxTold = 8

// counted counts the bytes read, and distinguishes an error of the medium from one of its content.
type counted struct {
	r io.Reader
	n *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	if err != nil && err != io.EOF {
		err = errUnread
	}
	return n, err
}

var (
	errUnread  = errors.New("the medium cannot be read")
	errTooMuch = errors.New("too much comes out of it")
)

// metered bounds the bytes that come out of containers.
type metered struct {
	r io.Reader
	o *opening
}

func (m metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.o.out += int64(n)
	if !m.o.bounds.until.IsZero() && time.Now().After(m.o.bounds.until) {
		return n, errTooMuch
	}
	if m.o.out > min(m.o.bounds.most, m.o.bounds.out+m.o.bounds.ratio*max(m.o.in, m.o.size)) {
		return n, errTooMuch
	}
	return n, err
}

// random returns a medium with random access and its size; nil for any other.
func random(r io.Reader) (io.ReaderAt, int64) {
	at, ok := r.(io.ReaderAt)
	if !ok {
		return nil, 0
	}
	switch r := r.(type) {
	case interface{ Stat() (fs.FileInfo, error) }:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() {
			return at, info.Size()
		}
	case interface{ Size() int64 }:
		return at, r.Size()
	}
	return nil, 0
}

// notOpened notes why a medium was not opened.
func (o *opening) notOpened(member, why string) {
	if member != "" {
		why = "in " + member + ": " + why
	}
	switch {
	case slices.Contains(o.closed, why):
	case len(o.closed) == maxTold:
		o.more++
	default:
		o.closed = append(o.closed, why)
	}
}

const byHand = "; look inside by hand"

// open hands over one medium or member.
func (o *opening) open(member string, r io.Reader, depth int) error {
	if err := o.ctx.Err(); err != nil {
		return model.FromContext(o.ctx, "scan")
	}
	b := bufio.NewReaderSize(r, headSize)
	head, err := b.Peek(headSize)
	if err != nil && err != io.EOF {
		if len(head) == 0 {
			return o.broken(member, err)
		}
		// The bytes before an error are searched; later reads repeat the error.
		failed := readerFunc(func([]byte) (int, error) { return 0, err })
		b = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(head)), failed), headSize)
	}
	k, what := recognise(head)
	switch {
	case k == plainly:
	case k == closedFile:
		o.notOpened(member, what+": not opened"+byHand)
	case depth >= o.bounds.nested:
		o.notOpened(member, fmt.Sprintf("more than %d compressed files stand inside one another: not opened%s", o.bounds.nested, byHand))
	default:
		return o.inside(k, what, member, b, depth)
	}
	return o.handOver(member, b)
}

// handOver hands over the bytes of a leaf, and notes where they could not be read to the end.
func (o *opening) handOver(member string, r io.Reader) error {
	var failed error
	err := o.leaf(member, readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		if err != nil && err != io.EOF {
			failed = err
		}
		return n, err
	}))
	if failed != nil && o.ctx.Err() == nil {
		return o.broken(member, failed)
	}
	return err
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// broken handles bytes that do not reach their end: for the medium itself that is an error, for a container's
// content a note.
func (o *opening) broken(member string, err error) error {
	switch {
	case o.ctx.Err() != nil:
		return model.FromContext(o.ctx, "scan")
	case errors.Is(err, errUnread):
		return unread()
	case errors.Is(err, errTooMuch):
		o.notOpened(member, "more comes out of it than is looked at"+byHand)
		return errTooMuch
	}
	o.cut = o.cut || errors.Is(err, io.ErrUnexpectedEOF)
	o.notOpened(member, notToItsEnd)
	return nil
}

const notToItsEnd = "what is compressed could not be read to the end" + byHand

func (o *opening) inside(k kind, what, member string, b *bufio.Reader, depth int) error {
	switch k {
	case gzipFile:
		return o.gzip(member, b, depth)
	case bzip2File:
		return o.open(member, metered{bzip2.NewReader(b), o}, depth+1)
	case zlibFile:
		z, err := zlib.NewReader(b)
		if err != nil {
			return o.handOver(member, b)
		}
		return o.open(member, metered{z, o}, depth+1)
	case tarFile:
		return o.tar(member, b, depth)
	case libraryFile:
		return o.library(what, member, b, depth)
	case zipFile, pdfFile:
		at, size, err := o.whole(member, b, depth)
		if at == nil {
			return err
		}
		if k == pdfFile {
			return o.pdf(member, at, size)
		}
		return o.zip(member, at, size, depth)
	}
	return o.handOver(member, b)
}

// gzip expands the consecutive parts of a file.
func (o *opening) gzip(member string, b *bufio.Reader, depth int) error {
	z, err := gzip.NewReader(b)
	if err != nil {
		return o.broken(member, err)
	}
	o.named(z.Name, z.Comment, string(z.Extra))
	return o.open(member, metered{parts{z, b, o}, o}, depth+1)
}

// parts reads the parts of a gzip file as one, and reports the name of each.
type parts struct {
	z *gzip.Reader
	b *bufio.Reader
	o *opening
}

func (p parts) Read(buf []byte) (int, error) {
	p.z.Multistream(false)
	n, err := p.z.Read(buf)
	if err != io.EOF {
		return n, err
	}
	if _, err := p.b.Peek(1); err == io.EOF {
		return n, io.EOF
	}
	if err := p.z.Reset(p.b); err != nil {
		return n, err
	}
	p.o.named(p.z.Name, p.z.Comment, string(p.z.Extra))
	return n, nil
}

// named reports names in a container.
func (o *opening) named(names ...string) {
	for _, n := range names {
		if n != "" {
			o.name(n)
		}
	}
}

// within is the full name of a name inside a member.
func within(member, name string) string {
	if member == "" {
		return name
	}
	return member + " → " + name
}

// tar opens the members, and searches the bytes after the end mark.
func (o *opening) tar(member string, b *bufio.Reader, depth int) error {
	t := tar.NewReader(b)
	for {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return o.broken(member, err)
		}
		o.named(h.Name, h.Linkname, h.Uname, h.Gname)
		for k, v := range h.PAXRecords {
			o.named(k, v)
		}
		if h.Size == 0 {
			continue // a directory or a link; every other type may hold a file, such as the rest of one in a second volume
		}
		if err := o.open(within(member, h.Name), metered{t, o}, depth+1); err != nil {
			return err
		}
	}
	return o.handOver(member, b)
}

// zip opens the members, and searches the bytes between them, where deleted members may remain.
func (o *opening) zip(member string, at io.ReaderAt, size int64, depth int) error {
	z, err := zip.NewReader(at, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		o.notOpened(member, "a zip archive that cannot be read"+byHand)
		return o.handOver(member, io.NewSectionReader(at, 0, size))
	}
	o.named(z.Comment)
	z.RegisterDecompressor(12, func(r io.Reader) io.ReadCloser { return io.NopCloser(bzip2.NewReader(r)) })
	type span struct{ from, to int64 }
	var taken []span
	for _, f := range z.File {
		inside := within(member, f.Name)
		o.named(f.Name, f.Comment, string(f.Extra))
		if from, err := f.DataOffset(); err == nil && f.CompressedSize64 <= uint64(size) {
			taken = append(taken, span{from, from + int64(f.CompressedSize64)})
		}
		if strings.HasSuffix(f.Name, "/") && f.UncompressedSize64 == 0 {
			continue
		}
		if f.Flags&1 != 0 {
			o.notOpened(inside, "encrypted: not opened"+byHand)
			continue
		}
		r, err := f.Open()
		if err != nil {
			o.notOpened(inside, "compressed in a way that is not known: not opened"+byHand)
			continue
		}
		err = o.open(inside, metered{r, o}, depth+1)
		_ = r.Close() // only read
		if err != nil {
			return err
		}
	}
	slices.SortFunc(taken, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var between []io.Reader
	done := int64(0)
	for _, s := range append(taken, span{size, size}) {
		if s.from > done {
			between = append(between, io.NewSectionReader(at, done, s.from-done), strings.NewReader("\x00"))
		}
		done = max(done, min(s.to, size))
	}
	return o.handOver(within(member, Between), metered{io.MultiReader(between...), o})
}

// Between is the name of an archive's bytes that belong to none of its members.
const Between = "(between its members)"
