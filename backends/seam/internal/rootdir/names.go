package rootdir

import (
	"path/filepath"
)

// Names yields the children of a directory in no order, without a stat of any, until yield returns false.
// dir is false for a link. A name is valid until yield returns.
func (d *Dir) Names(name string, yield func(name []byte, dir bool) bool) error {
	if err := checkAny(name); err != nil {
		return err
	}
	f, err := d.root.Open(filepath.FromSlash(name))
	if err != nil {
		return fail("list", name, err)
	}
	defer f.Close()
	if err := eachName(f, yield); err != nil {
		return fail("list", name, err)
	}
	return nil
}

// Head returns at most limit bytes from the beginning of a regular file.
func (d *Dir) Head(name string, limit int) ([]byte, Meta, error) {
	f, m, err := d.reading(name)
	if err != nil {
		return nil, Meta{}, err
	}
	defer f.Close()
	buf := make([]byte, min(int64(limit), m.Size))
	n, err := readFull(f, buf)
	if err != nil {
		return nil, m, fail("read", name, err)
	}
	return buf[:n], m, nil
}
