package tui_test

import (
	"io"
	"net"
	"net/http"
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
	srv := httptest.NewUnstartedServer(backends.Serve(backends.Served{Callers: []backends.Caller{{Token: model.NewSecret("s3cret"), Name: "ann"}}, Store: func(backends.Caller) model.Store { return s }}))
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	return srv
}

// A moved directory and a stopped server must be shown with advice; both must return with their items
// without a restart.
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
		r.see("[2 Tiers]", "vault", "remote").press("1").see("2/2 stores up", "last success")
		if err := os.Rename(vault, vault+".away"); err != nil {
			t.Fatal(err)
		}
		r.press("r").see("1/2 stores up", " down", "what to do", "down since", "✖", "vault is down: ")
		if err := os.Rename(vault+".away", vault); err != nil {
			t.Fatal(err)
		}
		r.press("r").see("2/2 stores up", "last error", "vault is up again").gone("what to do").press("enter").see("Rye is baked", "1 of 1").press("1")
		srv.CloseClientConnections()
		srv.Close()
		r.press("j").see("remote").press("r").see("1/2 stores up", "what to do", "✖")
		r.press("enter").see("[2 Tiers]", "the store does not list").press("1").see("1/2 stores up")
		srv = serveAt(t, addr, s)
		defer srv.Close()
		r.press("r").see("2/2 stores up").gone("what to do").press("enter").see("1 of 6", "Thursday")
	})
}

// A restarted gateway must return without a key, in Health and in a search.
func TestGatewayRestarts(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		dir := t.TempDir()
		addr := "127.0.0.1:0"
		serve := func() *httptest.Server {
			l, err := net.Listen("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"results":[{"id":"m1","text":"harbour lights at six","score":0.9}]}`)
			}))
			_ = srv.Listener.Close()
			srv.Listener = l
			srv.Start()
			addr = l.Addr().String()
			return srv
		}
		srv := serve()
		config := filepath.Join(dir, "gw.toml")
		write(t, config, "[[store]]\nname = \"gw\"\nkind = \"gateway\"\nbase_url = \"http://"+addr+"\"\nuser_id = \"u\"\nuser_key_env = \"GW_KEY\"\nscope = [\"resources\"]\n")
		r := startRobot(t, start{scenario: programScenario, width: w, height: h, env: []string{
			argsEnv + "=" + strings.Join([]string{"--config", config}, "\n"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "GW_KEY=uk_1",
		}})
		r.see("[2 Tiers]", "gw").press("1").see("1/1 store up").press("enter").see("3 Recall searches it")
		r.press("3", "/", "harbour").see("1 hit").press("enter").see("harbour lights").press("1")
		srv.CloseClientConnections()
		srv.Close()
		r.press("r").see("0/1 store up", "no connection to the gateway", "what to do")
		r.press("3").press(":", "recall lights", "enter").see("✖ no answer").press("1")
		srv = serve()
		defer srv.Close()
		r.see("1/1 store up").gone("what to do") // without a key press
		r.press("3").press(":", "recall harbour", "enter").see("1 hit", "harbour lights").press("q")
		if _, err := r.left(); err != nil {
			t.Fatal(err)
		}
	})
}
