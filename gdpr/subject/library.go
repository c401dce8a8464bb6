package subject

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/mholt/archives"
)

// libraries are the magic bytes of formats that a library opens, with their names.
var libraries = []struct {
	magic, what string
	format      archives.Format
}{
	{"\xfd7zXZ\x00", "xz archive", archives.Xz{}},
	{"\x28\xb5\x2f\xfd", "zstd archive", archives.Zstd{DecoderOptions: []zstd.DOption{zstd.WithDecoderMaxMemory(256 << 20), zstd.WithDecoderConcurrency(1)}}},
	{"7z\xbc\xaf\x27\x1c", "7z archive", archives.SevenZip{}},
	{"Rar!\x1a\x07", "rar archive", archives.Rar{}},
	{"LZIP\x01", "lzip archive", archives.Lzip{}},
	{"\x04\x22\x4d\x18", "lz4 archive", archives.Lz4{}},
	{"\xff\x06\x00\x00sNaPpY", "snappy archive", archives.Sz{}},
}

// library opens a format with a library. The bytes may be hostile: a decoder that panics has not opened the
// file.
func (o *opening) library(what, member string, b *bufio.Reader, depth int) (err error) {
	defer func() {
		if recover() != nil {
			err = o.broken(member, errors.New("the decoder gave up"))
		}
	}()
	var format archives.Format
	for _, l := range libraries {
		if l.what == what {
			format = l.format
		}
	}
	if d, ok := format.(archives.Decompressor); ok {
		head, _ := b.Peek(headSize) // a shorter head is the whole medium
		head = bytes.Clone(head)
		r, err := d.OpenReader(b)
		if err != nil {
			return o.handUnopened(what, member, io.MultiReader(bytes.NewReader(head), b))
		}
		defer func() { _ = r.Close() }() // only read
		return o.open(member, metered{r, o}, depth+1)
	}
	at, size, err := o.whole(member, b, depth)
	if at == nil {
		return err
	}
	var failed error // the leaf's error, not the archive's
	err = format.(archives.Extractor).Extract(o.ctx, io.NewSectionReader(at, 0, size), func(ctx context.Context, f archives.FileInfo) error {
		o.named(f.NameInArchive, f.LinkTarget)
		if f.IsDir() || failed != nil {
			return failed
		}
		inside := within(member, f.NameInArchive)
		r, err := f.Open()
		if err != nil {
			o.notOpened(inside, "encrypted, or compressed in a way that is not known: not opened"+byHand)
			return nil
		}
		defer func() { _ = r.Close() }() // only read
		failed = o.open(inside, metered{r, o}, depth+1)
		return failed
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return o.handUnopened(what, member, io.NewSectionReader(at, 0, size))
	}
	return nil
}

// handUnopened notes that a medium was not opened, and hands its raw bytes over.
func (o *opening) handUnopened(what, member string, r io.Reader) error {
	o.notOpened(member, what+" that cannot be read, or is encrypted: not opened"+byHand)
	return o.handOver(member, r)
}

// whole reads bytes that need random access; nil where they are too many, which was noted.
func (o *opening) whole(member string, b *bufio.Reader, depth int) (io.ReaderAt, int64, error) {
	if depth == 0 && o.at != nil {
		return o.at, o.size, nil
	}
	all, err := io.ReadAll(io.LimitReader(b, o.bounds.memory+1))
	switch {
	case err != nil:
		return nil, 0, o.broken(member, err)
	case int64(len(all)) > o.bounds.memory:
		o.notOpened(member, fmt.Sprintf("more than %d MiB that can only be opened as a whole: not opened%s", o.bounds.memory>>20, byHand))
		return nil, 0, o.handOver(member, io.MultiReader(bytes.NewReader(all), b))
	}
	return bytes.NewReader(all), int64(len(all)), nil
}
