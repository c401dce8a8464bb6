package door

import (
	"context"
	"crypto/rand"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// process names the session of a caller over standard input, which has no session id.
var process = rand.Text()[:16]

// Stdio serves the desk over a reader and a writer until ctx ends or the reader, which is no error. It writes
// nothing but the protocol.
func (d *Desk) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	err := d.Server().Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: leaveOpen{out}, MaxLineLength: MaxRequest})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// leaveOpen is a writer that its owner closes.
type leaveOpen struct{ io.Writer }

// Close does nothing.
func (leaveOpen) Close() error { return nil }
