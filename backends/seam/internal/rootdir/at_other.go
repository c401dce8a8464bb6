//go:build !linux

package rootdir

// openDir opens nothing where a directory's descriptor is of no use: Dir's own methods
// do.
type openDir struct{}

func (*openDir) stat(*Dir, string) (Meta, bool) { return Meta{}, false }

func (*openDir) read(*Dir, string, int64, int64) ([]byte, Meta, bool) { return nil, Meta{}, false }

func (*openDir) close() {}
