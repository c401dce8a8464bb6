package gateway_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestEveryRequestHasItsOwnConnection: after a kept connection dies, the transport may send its request
// a second time (G13).
func TestEveryRequestHasItsOwnConnection(t *testing.T) {
	var conns, requests atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = w.Write([]byte("{}"))
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	_, err := retain(t, opened(t, config(srv.URL)), "x")
	noErr(t, err)
	if conns.Load() != 2 || requests.Load() != 2 {
		t.Errorf("%d requests on %d connections, want 2 on 2", requests.Load(), conns.Load())
	}
}
