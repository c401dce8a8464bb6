//go:build !linux

package rootdir

// Attributes has none to hand out: they are read on Linux only.
func (d *Dir) Attributes(string, func(attribute string, value []byte)) error { return nil }
