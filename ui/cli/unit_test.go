package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const scrapeToken = "scrape-0123456789-abcdefghij"

// unit is the program as systemd runs it: a process without a terminal that reports by sd_notify.
type unit struct {
	t      *testing.T
	cmd    *exec.Cmd
	states chan string // READY=1 and so on
	lines  chan string // of standard error
	data   chan string // of standard output

	mu  sync.Mutex
	all bytes.Buffer // standard error
}

// start runs the program with these arguments until it is stopped or the test ends.
func (d *desk) start(args ...string) *unit {
	d.t.Helper()
	dir, err := os.MkdirTemp("", "memdesk-unit") // a socket's path must be short
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = socket.Close() })
	u := &unit{t: d.t, states: make(chan string, 16), lines: make(chan string, 1000), data: make(chan string, 1000)}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := socket.Read(buf)
			if err != nil {
				return
			}
			u.states <- string(buf[:n])
		}
	}()
	u.cmd = exec.Command(os.Args[0])
	u.cmd.Dir = d.dir
	u.cmd.Env = []string{playEnv + "=" + strings.Join(args, "\n"), "NOTIFY_SOCKET=" + filepath.Join(dir, "notify"), "PATH=" + os.Getenv("PATH")}
	for k, v := range d.env {
		u.cmd.Env = append(u.cmd.Env, k+"="+v)
	}
	stderr, err := u.cmd.StderrPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	stdout, err := u.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := u.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go u.read(stdout, u.data, io.Discard)
	go u.read(stderr, u.lines, &u.all)
	d.t.Cleanup(func() { _ = u.cmd.Process.Kill(); _ = u.cmd.Wait() })
	return u
}

func (u *unit) read(r io.Reader, to chan<- string, keep io.Writer) {
	defer close(to)
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		u.mu.Lock()
		_, _ = io.WriteString(keep, in.Text()+"\n")
		u.mu.Unlock()
		to <- in.Text()
	}
}

// said waits for a line that matches and returns its first group.
func (u *unit) said(in <-chan string, pattern string) string {
	u.t.Helper()
	re := regexp.MustCompile(pattern)
	limit := time.After(time.Minute)
	for {
		select {
		case line, more := <-in:
			if !more {
				u.t.Fatalf("ended without %q:\n%s", pattern, u.errors())
			}
			if m := re.FindStringSubmatch(line); m != nil {
				return m[len(m)-1]
			}
		case <-limit:
			u.t.Fatalf("no line matches %q:\n%s", pattern, u.errors())
		}
	}
}

func (u *unit) errors() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.all.String()
}

// state waits for a notification to the service manager.
func (u *unit) state(want string) {
	u.t.Helper()
	select {
	case got := <-u.states:
		if got != want {
			u.t.Fatalf("the service manager was told %q, want %q", got, want)
		}
	case <-time.After(time.Minute):
		_ = u.cmd.Process.Signal(syscall.SIGQUIT) // a program that still runs dumps its goroutines
		for range u.lines {
		}
		u.t.Fatalf("the service manager was not told %s, and the program ended with %v:\n%s", want, u.cmd.Wait(), u.errors())
	}
}

// signal sends a signal.
func (u *unit) signal(s os.Signal) {
	u.t.Helper()
	if err := u.cmd.Process.Signal(s); err != nil {
		u.t.Fatal(err)
	}
}

// stop stops the unit as systemd does and expects exit 0.
func (u *unit) stop() {
	u.t.Helper()
	u.signal(syscall.SIGTERM)
	u.state("STOPPING=1")
	for range u.lines { // until the program closes them
	}
	if err := u.cmd.Wait(); err != nil {
		u.t.Errorf("SIGTERM: %v\n%s", err, u.errors())
	}
}

// execStart is the command of a unit file, with the variables that systemd would set.
func execStart(t *testing.T, name string, vars map[string]string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "packaging", "systemd", name))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/memdesk (.*)$`).FindStringSubmatch(string(text))
	if m == nil {
		t.Fatalf("%s starts no memdesk", name)
	}
	line := os.Expand(m[1], func(k string) string {
		v, ok := vars[k]
		if !ok {
			t.Errorf("%s: nothing sets %s", name, k)
		}
		return v
	})
	for from, to := range vars {
		if strings.HasPrefix(from, "/") {
			line = strings.ReplaceAll(line, from, to)
		}
	}
	return strings.Fields(line)
}

func (d *desk) file(name, text string) string {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

const someKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIlXUmWIFVQ0mYiqO2UFMV5PDRdrnEPJjuPq/iSIBmAc op\n"

// TestUnits runs each unit's own command: it must say when it is ready, survive a reload and stop on SIGTERM.
func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		unit     string
		reloaded string // its report after SIGHUP; empty: none
		change   func(d *desk)
	}{
		{"memdesk-ssh.service", "", func(*desk) {}},
		{"memdesk-provider.service", `"msg":"read the tokens again: …"`, func(d *desk) { d.file("credentials/tokens", "b "+scrapeToken+"\n") }},
		{"memdesk-metrics.service", `"msg":"read the tokens again: …"`, func(d *desk) { d.file("credentials/tokens", "b "+scrapeToken+"\n") }},
		{"memdesk-witness.service", `"msg":"read the keys again: …"`, func(*desk) {}},
	} {
		t.Run(tt.unit, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.env["MEMDESK_CONFIG"] = d.file("config.toml", "[[store]]\nname = \"ada\"\nkind = \"crewship\"\npath = \""+d.mem+"\"\n")
			d.file("credentials/tokens", "a "+scrapeToken+"\n")
			d.in = "a line\n"
			d.run("turn", "after", "--tier", "daily", "--key", "2031-02-01", "--yes", "-").want(t, 0) // the log has a key from its first record on
			key := d.bare("audit", "key").want(t, 0).out
			if said := d.bare("audit", "key", "--json").want(t, 0).row(t, "key")["key"]; said != strings.TrimSpace(key) {
				t.Errorf("as JSON the key is %v", said)
			}
			vars := map[string]string{"CREDENTIALS_DIRECTORY": filepath.Join(d.dir, "credentials"), "STATE_DIRECTORY": filepath.Join(d.dir, "witness"),
				"/etc/memdesk/authorized_keys": d.file("authorized_keys", someKey), "/etc/memdesk/witness.keys": d.file("witness.keys", key),
				"MEMDESK_SSH_LISTEN": "127.0.0.1:0", "MEMDESK_PROVIDER_LISTEN": "127.0.0.1:0", "MEMDESK_PROVIDER_STORE": "ada",
				"MEMDESK_METRICS_LISTEN": "127.0.0.1:0", "MEMDESK_WITNESS_LISTEN": "127.0.0.1:0"}
			u := d.start(execStart(t, tt.unit, vars)...)
			u.state("READY=1")
			tt.change(d)
			u.signal(syscall.SIGHUP)
			if tt.reloaded != "" {
				u.said(u.lines, regexp.QuoteMeta(tt.reloaded))
			}
			u.stop()
			for line := range strings.Lines(u.errors()) {
				var m map[string]any
				if json.Unmarshal([]byte(line), &m) != nil || m["level"] == nil {
					t.Errorf("no line of a JSON log: %s", line)
				}
				if strings.Contains(line, d.dir) || strings.Contains(line, "127.0.0.1") || strings.Contains(line, scrapeToken) {
					t.Errorf("the log says where or who: %s", line)
				}
			}
		})
	}
}

// TestHangupEndsWhatIsNoServer: a command that is no server must not outlive its terminal.
func TestHangupEndsWhatIsNoServer(t *testing.T) {
	d := newDesk(t)
	u := d.start("--open", "crewship="+d.mem, "watch", "--standing", "--every", "1h", "--open", "inmem=", "--open", "vault="+filepath.Join(d.dir, "gone"))
	u.said(u.data, `"event":"store_down"`)
	u.signal(syscall.SIGHUP)
	for range u.lines {
	}
	if err := u.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestUnitsAreHardened asks systemd itself how exposed the units are.
func TestUnitsAreHardened(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze on this machine; to run this test: apt-get install -y systemd")
	}
	units, err := filepath.Glob(filepath.Join("..", "..", "packaging", "systemd", "*.service"))
	if err != nil || len(units) < 3 {
		t.Fatalf("%v, %v", units, err)
	}
	for _, u := range units {
		if out, err := exec.Command(analyze, "security", "--offline=yes", "--no-pager", "--threshold=30", u).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", u, err, out)
		}
	}
}

// scrape gets the metrics with a token; empty sends none.
func scrape(t *testing.T, url, token string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}
