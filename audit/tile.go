package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/mod/sumdb/tlog"

	"memdesk/internal/atomicfile"
)

const (
	tileHeight = 8 // hashes per tile: 256, as c2sp.org/tlog-tiles has it
	tileBytes  = tlog.HashSize << tileHeight
)

// tiles are the hashes of the tree on disk, in the layout of c2sp.org/tlog-tiles:
// tile/<level>/<index>, a tile that is not full as tile/<level>/<index>.p/<width>.
type tiles struct {
	fs  atomicfile.FS
	dir string
}

// tilePath is a tile's place below the tree's directory.
func tilePath(t tlog.Tile) string {
	p := strings.TrimPrefix(t.Path(), fmt.Sprintf("tile/%d/", t.H))
	return path.Join("tile", p)
}

// Height implements tlog.TileReader.
func (d tiles) Height() int { return tileHeight }

// ReadTiles implements tlog.TileReader. The hashes prove nothing until tlog.TileHashReader has compared them
// with a root.
func (d tiles) ReadTiles(want []tlog.Tile) ([][]byte, error) {
	out := make([][]byte, len(want))
	for i, t := range want {
		b, err := d.read(t)
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}

// SaveTiles implements tlog.TileReader: everything is on disk already.
func (d tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// read returns a tile, or the front of a wider one: a narrow tile is removed once a checkpoint covers a wider
// one in its place.
func (d tiles) read(t tlog.Tile) ([]byte, error) {
	want := t.W * tlog.HashSize
	full := t
	full.W = 1 << tileHeight
	names := []string{tilePath(t)}
	if t.W < full.W {
		names = append(names, tilePath(full))
		dir := tilePath(full) + ".p"
		if entries, err := d.fs.ReadDir(filepath.Join(d.dir, dir)); err == nil {
			for _, e := range entries {
				if w, err := strconv.Atoi(e.Name()); err == nil && w > t.W {
					names = append(names, path.Join(dir, e.Name()))
				}
			}
		}
	}
	for _, name := range names {
		b, err := readFile(d.fs, filepath.Join(d.dir, name), tileBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if shut(err) {
			return nil, fmt.Errorf("read the files of the tree: %w", bare(err))
		}
		if err != nil {
			return nil, fmt.Errorf("%w (%v)", errTiles, err)
		}
		if len(b) >= want {
			return b[:want], nil
		}
	}
	return nil, fmt.Errorf("%w (%s is gone or cut)", errTiles, tilePath(t))
}

// write puts a tile on disk, durably.
func (d tiles) write(t tlog.Tile, data []byte) error {
	name := filepath.Join(d.dir, tilePath(t))
	if old, err := readFile(d.fs, name, tileBytes); err == nil && bytes.Equal(old, data) {
		return nil // of an interrupted run
	}
	if err := atomicfile.MakeDirs(d.fs, filepath.Dir(name)); err != nil {
		return fmt.Errorf("make the tree: %w", bare(err))
	}
	if err := atomicfile.WriteFS(d.fs, name, data, atomicfile.Options{}); err != nil {
		return fmt.Errorf("write the tree: %w", bare(err))
	}
	return nil
}

// tidy removes tiles that a wider tile replaces, and leftovers of a killed process. Its failure loses
// nothing.
func (d tiles) tidy(t tlog.Tile) {
	full := t
	full.W = 1 << tileHeight
	dir := filepath.Join(d.dir, tilePath(full)+".p")
	entries, err := d.fs.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		if w, err := strconv.Atoi(e.Name()); err == nil && t.W < full.W && w >= t.W {
			continue
		}
		if d.fs.Remove(filepath.Join(dir, e.Name())) != nil {
			return
		}
	}
	if t.W == full.W {
		_ = d.fs.Remove(dir)
		_ = atomicfile.Sweep(d.fs, filepath.Dir(dir), "")
	}
}

// readFile reads a regular file of at most limit bytes.
func readFile(fsys atomicfile.FS, name string, limit int64) ([]byte, error) {
	info, err := fsys.Lstat(name)
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is no file of at most %d bytes", filepath.Base(name), limit)
	}
	f, err := fsys.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	b := make([]byte, info.Size())
	if len(b) == 0 {
		return b, nil
	}
	if _, err := f.ReadAt(b, 0); err != nil {
		return nil, bare(err)
	}
	return b, nil
}

// growing reads hashes of a tree while leaves are added.
type growing struct {
	old   tlog.HashReader
	fresh map[int64]tlog.Hash // by stored index
}

// ReadHashes implements tlog.HashReader.
func (g growing) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	var missing []int64
	var at []int
	for i, x := range indexes {
		h, ok := g.fresh[x]
		if !ok {
			missing, at = append(missing, x), append(at, i)
		}
		out[i] = h
	}
	if len(missing) == 0 {
		return out, nil
	}
	read, err := g.old.ReadHashes(missing)
	if err != nil {
		return nil, err
	}
	for i, h := range read {
		out[at[i]] = h
	}
	return out, nil
}

// grow adds leaves to the tree, whose hashes old reads, and writes its tiles; the new tree is not signed yet.
func (d tiles) grow(tree tlog.Tree, old tlog.HashReader, leaves []tlog.Hash) (tlog.Tree, []tlog.Tile, error) {
	g := growing{old: old, fresh: map[int64]tlog.Hash{}}
	for i, leaf := range leaves {
		n := tree.N + int64(i)
		stored, err := tlog.StoredHashesForRecordHash(n, leaf, g)
		if err != nil {
			return tree, nil, err
		}
		for j, h := range stored {
			g.fresh[tlog.StoredHashIndex(0, n)+int64(j)] = h
		}
	}
	next := tlog.Tree{N: tree.N + int64(len(leaves))}
	var err error
	if next.Hash, err = tlog.TreeHash(next.N, g); err != nil {
		return tree, nil, err
	}
	changed := tlog.NewTiles(tileHeight, tree.N, next.N)
	for _, t := range changed {
		data, err := tlog.ReadTileData(t, g)
		if err != nil {
			return tree, nil, err
		}
		if err := d.write(t, data); err != nil {
			return tree, nil, err
		}
	}
	return next, changed, nil
}
