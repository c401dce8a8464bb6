package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
)

// flip changes one byte of a file.
func flip(t *testing.T, name string, at int) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedTiles: the tree's files are no part of the log. A verification reports their damage as no break of it, and
// they are made again from the records, byte for byte.
func TestDamagedTiles(t *testing.T) {
	b := newBench(t)
	for range 9 {
		b.acts(40) // across tiles of 256
	}
	good := saved(t, b.dir)
	var files []string
	_ = filepath.WalkDir(b.open().inTree("tile"), func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if len(files) < 4 {
		t.Fatalf("too few tiles: %v", files)
	}
	ways := map[string]func(name string){
		"flipped": func(name string) { flip(t, name, 31) },
		"cut":     func(name string) { _ = os.Truncate(name, 33) },
		"gone":    func(name string) { _ = os.Remove(name) },
	}
	same := func(what string) {
		t.Helper()
		for _, name := range files {
			if got, err := os.ReadFile(name); err != nil || string(got) != string(good[name]) {
				t.Errorf("%s: %s is another one than before (%v)", what, name, err)
			}
		}
	}
	for way, do := range ways {
		for _, name := range files {
			do(name)
			if rep := b.verify(); !rep.OK || rep.Tiles == "" {
				t.Errorf("%s %s: ok %v %q, tiles %q", name, way, rep.OK, rep.Reason, rep.Tiles)
			}
			if done, err := b.open().Regrow(t.Context()); !done || err != nil {
				t.Errorf("%s %s: made again %v, %v", name, way, done, err)
			}
			same(way)
		}
	}
	if rep := b.wantOK(); rep.Tiles != "" {
		t.Error(rep.Tiles)
	}
	if done, err := b.open().Regrow(t.Context()); done || err != nil {
		t.Errorf("whole tiles are made again: %v, %v", done, err)
	}
	// The next checkpoint grows over a damaged edge, too.
	for _, name := range files {
		flip(t, name, 31)
	}
	b.acts(1)
	if rep := b.wantOK(); rep.Tiles != "" {
		t.Error(rep.Tiles)
	}
	if p, err := b.open().Prove(t.Context(), 3); err != nil || p.Index != 2 {
		t.Errorf("a proof after it: %v", err)
	}
}

// TestRegrowChangesNoTileOfAnotherLog: tiles that records do not lead to are evidence, and stay.
func TestRegrowChangesNoTileOfAnotherLog(t *testing.T) {
	b := newBench(t)
	b.acts(4)
	l := b.open()
	h, _ := l.readHead()
	tree, signed, err := l.signedTree()
	if err != nil {
		t.Fatal(err)
	}
	signed.Root[0] ^= 1 // as if other records had been signed
	before := saved(t, b.dir)
	if _, err := l.mendTiles(t.Context(), h, tree, signed); !errors.Is(err, ErrTampered) {
		t.Errorf("%v, want ErrTampered", err)
	}
	for name, body := range saved(t, b.dir) {
		if string(before[name]) != string(body) {
			t.Errorf("%s has changed", name)
		}
	}
}

// TestDamagedTilesOfARetiredPart: those behind the retired records are made again; those over them are lost, and an
// acknowledgement ends their tree.
func TestDamagedTilesOfARetiredPart(t *testing.T) {
	b, clk, _ := aged(t)
	if _, err := b.open().Retire(t.Context(), clk.Now().Add(-30*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	b.options.Clock = clock.System{}
	l := b.open()
	_, h, err := l.signedTree()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(l.inTree(""), tilePath(tlog.TileForIndex(tileHeight, tlog.StoredHashIndex(0, h.Size-1))))
	flip(t, name, int(h.Size-1)*tlog.HashSize)
	if rep := b.wantOK(); rep.Tiles == "" || rep.TilesLost {
		t.Error("damage behind the retired records is not told")
	}
	if done, err := b.open().Regrow(t.Context()); !done || err != nil {
		t.Fatalf("made again %v, %v", done, err)
	}
	flip(t, name, 0)
	anchors := b.options.Anchors
	b.options.Anchors = nil // one of them needs the lost tiles, and says so itself
	if rep := b.wantOK(); !rep.TilesLost {
		t.Errorf("nothing says that tiles are lost: %q", rep.Tiles)
	}
	b.options.Anchors = anchors
	if _, err := b.open().Regrow(t.Context()); !errors.Is(err, ErrTampered) {
		t.Fatalf("tiles of retired records: %v, want ErrTampered", err)
	}
	if err := b.open().Acknowledge(t.Context(), "a disk error"); err != nil {
		t.Fatal(err)
	}
	b.acts(1)
	rep := b.verify()
	if rep.Tiles != "" || !rep.OK && !rep.Acknowledged {
		t.Errorf("after it: %+v", rep)
	}
	if _, err := b.open().Prove(t.Context(), rep.Seq); err != nil {
		t.Error(err)
	}
}

// shutTiles is a disk whose tiles this process may not open.
type shutTiles struct{ atomicfile.OS }

func (d shutTiles) OpenFile(name string, flag int, perm fs.FileMode) (atomicfile.File, error) {
	if strings.Contains(name, "/tile/") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EACCES}
	}
	return d.OS.OpenFile(name, flag, perm)
}

// TestShutTiles: tiles that this process may not open are not damaged.
func TestShutTiles(t *testing.T) {
	b := newBench(t)
	b.acts(40)
	b.options.FS = shutTiles{}
	rep, err := b.open().Verify(t.Context())
	if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), b.dir) {
		t.Errorf("verify = %+v, %v; want it refused, without a path", rep, err)
	}
}

// TestATileThatAKilledProcessLeft: the temporary file of a tile goes with the next full tile in its directory.
func TestATileThatAKilledProcessLeft(t *testing.T) {
	b := newBench(t)
	b.acts(40)
	left := filepath.Join(b.open().inTree("tile"), "0", atomicfile.HiddenTemp("000"))
	if err := os.WriteFile(left, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 7 {
		b.acts(40)
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s stays: %v", filepath.Base(left), err)
	}
}
