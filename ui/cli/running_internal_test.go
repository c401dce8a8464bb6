package cli

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// TestStoppingIsTold: a server that ends as soon as its context does must still notify the service
// manager. The context has many others to end first.
func TestStoppingIsTold(t *testing.T) {
	dir, err := os.MkdirTemp("", "memdesk-unit") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	a := &app{errw: io.Discard, serving: new(atomic.Bool)}
	a.Env = func(string) string { return path }
	buf := make([]byte, 64)
	for range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		for range 50 {
			_, end := context.WithCancel(ctx)
			defer end()
		}
		over := a.running(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			<-ctx.Done()
			over()
		}()
		cancel()
		<-ended
		a.notify("OVER=1") // earlier notifications precede it
		var told []string
		for len(told) == 0 || told[len(told)-1] != "OVER=1" {
			n, err := socket.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, string(buf[:n]))
		}
		if len(told) != 3 || told[0] != "READY=1" || told[1] != "STOPPING=1" {
			t.Fatalf("the service manager was told %q", told)
		}
	}
}
