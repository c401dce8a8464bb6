package tui_test

import (
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/model"
)

// serveAt serves a store at an address until it is closed.
func serveAt(t *testing.T, addr string, s model.Store) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(backends.Serve([]backends.Caller{{Token: model.NewSecret("s3cret"), Name: "ann"}}, func(backends.Caller) model.Store { return s }))
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	return srv
}

// A directory that is moved away and a server that is stopped are seen, with what
// to do; both come back on the screen without a restart, with their items.
func TestRealStoresDieAndComeBack(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		dir := t.TempDir()
		vault := filepath.Join(dir, "vault")
		if err := os.MkdirAll(filepath.Join(vault, ".obsidian"), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(vault, "rye.md"), "# Rye\n\nRye is baked on Fridays.\n")
		s := crewFake().store("far", "crewship")
		srv := serveAt(t, "127.0.0.1:0", s)
		addr := srv.Listener.Addr().String()
		args := []string{"--open", "vault=" + vault, "--open", "remote=TOKEN@http://" + addr}
		r := startRobot(t, start{scenario: programScenario, width: w, height: h, env: []string{
			argsEnv + "=" + strings.Join(args, "\n"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "TOKEN=s3cret",
		}})
		r.see("[2 Tiers]", "vault", "remote").press("1").see("2 of 2 answer", "last success")
		if err := os.Rename(vault, vault+".away"); err != nil {
			t.Fatal(err)
		}
		r.press("r").see("1 of 2 answer", "what to do", "!!")
		if err := os.Rename(vault+".away", vault); err != nil {
			t.Fatal(err)
		}
		r.press("r").see("2 of 2 answer").gone("what to do").press("enter").see("Rye is baked", "1 of 1").press("1")
		srv.CloseClientConnections()
		srv.Close()
		r.press("j").see("remote").press("r").see("1 of 2 answer", "what to do", "!!")
		r.press("enter").see("[2 Tiers]", "the store does not list").press("1").see("1 of 2 answer")
		srv = serveAt(t, addr, s)
		defer srv.Close()
		r.press("r").see("2 of 2 answer").gone("what to do").press("enter").see("1 of 6", "Thursday")
	})
}
