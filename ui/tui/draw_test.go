package tui_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/crypto/ssh"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/sshd"
	"memdesk/ui/tui"
)

// drawScenario is the console over three screens of items at 200×50.
const (
	drawScenario = "draw"
	drawRows     = 132
)

func drawDesk() tui.Options {
	s := graphFake(drawRows).store("graph", "sqlite")
	return tui.Options{Fleet: backends.NewFleet([]backends.Member{member(s)}, nil), Operator: "ann", Authenticated: true, Clock: clock.Fixed(now), Environ: os.Environ()}
}

// route is a path from the operator's terminal to a program.
type route struct {
	name string
	open func(b *testing.B, scenario string) *robot
}

func routes(b *testing.B) []route {
	return []route{
		{"local", func(b *testing.B, scenario string) *robot {
			return startRobot(b, start{scenario: scenario, width: 200, height: 50, env: []string{peerEnv + "=" + os.Getenv(peerEnv)}})
		}},
		{"sshd", throughSSHD},
		{"serve", throughServer},
	}
}

// client runs OpenSSH's client in a terminal.
func client(b *testing.B, key ed25519.PrivateKey, login string, addr net.Addr) *robot {
	b.Helper()
	path, err := exec.LookPath("ssh")
	if err != nil {
		b.Skip("no ssh on this machine: apt-get install -y openssh-client")
	}
	_, port, _ := net.SplitHostPort(addr.String())
	cmd := exec.Command(path, "-tt", "-F", "/dev/null", "-p", port, "-l", login, "-i", keyFile(b, key),
		"-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "IdentitiesOnly=yes", "-o", "SendEnv=LANG", "127.0.0.1")
	cmd.Env = []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + b.TempDir(), "PATH=" + os.Getenv("PATH")}
	return robotOf(b, cmd, 200, 50)
}

func keyFile(b testing.TB, key ed25519.PrivateKey) string {
	b.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "key")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

// pair is a new key and its public half for servers.
func pair(b testing.TB) (ed25519.PrivateKey, ssh.PublicKey) {
	b.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	known, err := ssh.NewPublicKey(public)
	if err != nil {
		b.Fatal(err)
	}
	return private, known
}

// throughSSHD runs a scenario as the forced command of the machine's own sshd.
func throughSSHD(b *testing.B, scenario string) *robot {
	b.Helper()
	server, err := exec.LookPath("sshd")
	if err != nil {
		if server, err = exec.LookPath("/usr/sbin/sshd"); err != nil {
			b.Skip("no sshd on this machine: apt-get install -y openssh-server")
		}
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	who, err := user.Current()
	if err != nil {
		b.Fatal(err)
	}
	if os.Getuid() == 0 { // sshd's directory for dropping privileges
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			b.Skip("sshd needs /run/sshd: " + err.Error())
		}
	}
	dir := b.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		return file
	}
	script := write("forced", fmt.Sprintf("export %s=%s %s='%s' LANG=C.UTF-8\nexec '%s' -test.run='^$'\n", playEnv, scenario, peerEnv, os.Getenv(peerEnv), self))
	key, known := pair(b)
	host, _ := pair(b)
	config := write("config", strings.Join([]string{
		"HostKey " + keyFile(b, host), "StrictModes no", "PasswordAuthentication no", "PermitRootLogin yes", "PidFile none",
		"AuthorizedKeysFile " + write("keys", fmt.Sprintf("restrict,pty,command=\"/bin/sh %s\" %s", script, ssh.MarshalAuthorizedKey(known))),
	}, "\n")+"\n")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // one connection, served as inetd would
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		f, err := conn.(*net.TCPConn).File()
		_ = conn.Close()
		if err != nil {
			return
		}
		cmd := exec.Command(server, "-i", "-e", "-f", config)
		cmd.Stdin, cmd.Stdout = f, f
		err = cmd.Start()
		_ = f.Close()
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	b.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return client(b, key, who.Username, l.Addr())
}

// throughServer runs a scenario behind memdesk's own SSH server.
func throughServer(b *testing.B, scenario string) *robot {
	b.Helper()
	key, known := pair(b)
	host, _ := pair(b)
	signer, err := ssh.NewSignerFromKey(host)
	if err != nil {
		b.Fatal(err)
	}
	s, err := sshd.New(sshd.Options{
		HostKey: signer,
		Keys: func() ([]sshd.AuthorizedKey, error) {
			return []sshd.AuthorizedKey{{Key: known, Role: sshd.Operator}}, nil
		},
		Console: func(ctx context.Context, one sshd.Session) error {
			if scenario == peerScenario {
				size := <-one.Sizes
				return runPeer(one.Input, one.Output, tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithEnvironment(one.Environ),
					tea.WithColorProfile(colorprofile.Env(one.Environ)), tea.WithWindowSize(size.Width, size.Height))
			}
			o := drawDesk()
			o.Input, o.Output, o.Sizes, o.Environ = one.Input, one.Output, one.Sizes, one.Environ
			return tui.Run(ctx, o)
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	b.Cleanup(func() {
		cancel()
		<-ended
	})
	return client(b, key, "ann", l.Addr())
}

// drawn is the cost of the keys.
type drawn struct {
	down, walk, page, held float64         // bytes for one key
	cursor, whole          []time.Duration // time from a key to the row, and to the complete screen
}

// rested waits until the output pauses, and returns its length.
func (r *robot) rested(pause time.Duration) int {
	for n := -1; ; {
		now := len(r.written())
		if now == n {
			return n
		}
		n = now
		time.Sleep(pause)
	}
}

func (r *robot) frame() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text()
}

// showsRow tells whether the cursor is at row i, counted from 0, and whether the detail beside the list
// belongs to that row.
func showsRow(i int) (cursor, whole func(screen string) bool) {
	cursor = func(s string) bool { return strings.Contains(s, fmt.Sprintf(" %d of %d", i+1, drawRows)) }
	return cursor, func(s string) bool {
		return cursor(s) && strings.Contains(s, fmt.Sprintf("graph:node-%d\n", i))
	}
}

// measure walks down the whole list key by key, pages through it, and walks it again with the key held.
// at is called with each row's screen.
func measure(b *testing.B, r *robot, at func(i int, screen string)) (d drawn) {
	b.Helper()
	_, whole := showsRow(0)
	r.until("the first row", whole)
	before := r.rested(150 * time.Millisecond)
	at(0, r.frame())
	var bytes []float64
	for i := 1; i < drawRows; i++ {
		cursor, whole := showsRow(i)
		begin := time.Now()
		r.press("down").until("the cursor", cursor)
		d.cursor = append(d.cursor, time.Since(begin))
		r.until("the detail", whole)
		d.whole = append(d.whole, time.Since(begin))
		now := r.rested(25 * time.Millisecond)
		bytes = append(bytes, float64(now-before))
		before = now
		at(i, r.frame())
	}
	for _, n := range bytes {
		d.walk += n / float64(len(bytes))
	}
	d.down = middle(bytes)
	_, first := showsRow(0)
	r.press("home").until("the first row", first)
	before = r.rested(150 * time.Millisecond)
	r.press("pgdown").rested(150 * time.Millisecond)
	d.page = float64(r.press("pgdown").rested(150*time.Millisecond)-before) / 2
	r.press("home").until("the first row", first)
	before = r.rested(150 * time.Millisecond)
	for range drawRows - 1 {
		r.press("down")
		time.Sleep(time.Second / 30)
	}
	_, last := showsRow(drawRows - 1)
	r.until("the last row", last)
	d.held = float64(r.rested(150*time.Millisecond)-before) / float64(drawRows-1)
	r.press("ctrl+c")
	if _, err := r.left(); err != nil {
		b.Fatal(err)
	}
	return d
}

func middle(ns []float64) float64 {
	ds := make([]time.Duration, len(ns))
	for i, n := range ns {
		ds[i] = time.Duration(n)
	}
	return float64(median(ds))
}

// cut returns columns of a line; every sign of the console is one column wide.
func cut(line string, from, to int) string {
	rs := []rune(line + strings.Repeat(" ", 200))
	return strings.TrimRight(string(rs[from:to]), " ")
}

// BenchmarkDraw measures a key at 200×50 with a detail beside the list: in bytes for the terminal and
// in time, against a bare Bubble Tea program with bubbles' list and viewport that shows the same texts.
// Aim: half of the bytes.
func BenchmarkDraw(b *testing.B) {
	for _, way := range routes(b) {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				var texts seen
				var screens []string
				r := way.open(b, drawScenario)
				r.until("the stores", func(s string) bool { return strings.Contains(s, "longterm") })
				r.press("down", "enter")
				ours := measure(b, r, func(i int, screen string) {
					screens = append(screens, screen)
					texts.take(b, screen)
				})
				file := filepath.Join(b.TempDir(), "peer")
				raw, err := json.Marshal(texts)
				if err == nil {
					err = os.WriteFile(file, raw, 0o600)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.Setenv(peerEnv, file)
				theirs := measure(b, way.open(b, peerScenario), func(i int, screen string) {
					if a, p := comparable(screens[i], i), comparable(screen, i); a != p {
						b.Fatalf("the peer does not show the same at row %d:\n%s\nthe console shows\n%s", i, p, a)
					}
				})
				b.ReportMetric(ours.down/theirs.down, "x-down")
				b.ReportMetric(ours.walk/theirs.walk, "x-walk")
				b.ReportMetric(ours.page/theirs.page, "x-pgdn")
				b.ReportMetric(ours.held/theirs.held, "x-held")
				b.ReportMetric(ours.down, "B-down")
				b.ReportMetric(ours.walk, "B-walk")
				b.ReportMetric(ours.page, "B-pgdn")
				b.ReportMetric(ours.held, "B-held")
				ms := func(ds []time.Duration) float64 { return float64(median(ds).Microseconds()) / 1e3 }
				b.ReportMetric(ms(ours.cursor), "ms-cursor")
				b.ReportMetric(ms(ours.whole), "ms-detail")
				b.ReportMetric(ms(theirs.whole), "ms-peer")
			}
		})
	}
}

// The console's frame at 200×50: a bar, the identity, the crumbs, the list beside the detail, the
// status and the keys.
const (
	drawLeft = 110
	drawTop  = 3
	drawEnd  = 48
)

// take adds the row that a screen of the console shows.
func (t *seen) take(b *testing.B, screen string) {
	b.Helper()
	lines := strings.Split(screen, "\n")
	if len(t.Rows) == 0 {
		t.Above, t.Below, t.Left = lines[:2], lines[drawEnd:], drawLeft
		t.Heading = cut(lines[drawTop], 0, drawLeft)
	}
	var detail []string
	row := ""
	for _, l := range lines[drawTop:drawEnd] {
		if strings.HasPrefix(l, "▌") {
			row = cut(l, 1, drawLeft)
		}
		detail = append(detail, cut(l, drawLeft+2, 200))
	}
	if row == "" {
		b.Fatalf("no row has the cursor:\n%s", screen)
	}
	t.Crumbs, t.Rows, t.Details = append(t.Crumbs, lines[2]), append(t.Rows, row), append(t.Details, strings.Join(detail, "\n"))
}

// comparable is the part of the screen that both programs must show alike. It excludes the cursor's
// column and, from the second screen on, where they scroll differently, the detail.
func comparable(screen string, i int) string {
	lines := strings.Split(screen, "\n")
	for n := drawTop + 1; n < drawEnd; n++ {
		from := 1
		if i >= drawEnd-drawTop-1 {
			from = drawLeft
		}
		lines[n] = cut(lines[n], from, 200)
	}
	return strings.Join(lines, "\n")
}
