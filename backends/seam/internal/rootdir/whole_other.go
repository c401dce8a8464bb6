//go:build !linux

package rootdir

// wholeReader reads nothing where a directory cannot be opened through a
// descriptor: Dir.Read does.
type wholeReader struct{}

func (*wholeReader) read(*Dir, string, int64) ([]byte, bool) { return nil, false }

func (*wholeReader) close() {}
