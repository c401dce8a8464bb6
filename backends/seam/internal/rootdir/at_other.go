//go:build !linux

package rootdir

// openDir opens nothing where a directory's descriptor is useless: Dir's own methods read the files.
type openDir struct{}

func (*openDir) stat(*Dir, string) (Meta, bool) { return Meta{}, false }

func (*openDir) read(*Dir, string, int64, int64) ([]byte, Meta, bool) { return nil, Meta{}, false }

func (*openDir) close() {}
