package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestAKilledDoor: a server killed while it writes must leave only complete items and every acknowledged one,
// and the next server must continue and close every open intent. A few kills here, many with MEMDESK_SOAK.
func TestAKilledDoor(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills := 4
	if os.Getenv("MEMDESK_SOAK") != "" {
		kills = 200
	}
	d := newDesk(t)
	root := filepath.Join(d.dir, "vault", "memory", "fix")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	open := "vault=" + filepath.Join(d.dir, "vault")
	answered := map[string]bool{}
	text := func(i int) string { return strings.Repeat(fmt.Sprintf("line of item %04d\n", i), 200) }
	n, sent := 0, 0
	for kill := range kills + 1 {
		cmd := exec.Command(self, "-test.run=^$")
		cmd.Dir = d.dir
		// A killed server leaves AgentM's lock, which the next one may break when it is 10 s old: the
		// time that an act may take by itself.
		cmd.Env = []string{playEnv + "=" + strings.Join([]string{"--open", open, "--timeout", "30s", "serve", "mcp"}, "\n")}
		for k, v := range d.env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		say := func(line string) { _, _ = io.WriteString(in, line+"\n") } // a killed server reads nothing
		say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"p","version":"1"}}}`)
		say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if !lines.Scan() {
			t.Fatalf("no server: %v", lines.Err())
		}
		const batch = 8
		ids := map[string]string{}
		for i := range batch {
			id := fmt.Sprintf("n%04d.md", n)
			ids[fmt.Sprintf(`"id":%d`, i+1)] = id
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_retain","arguments":{"ref":"vault:memory/fix/%s","content":%q}}}`, i+1, id, text(n)))
			n, sent = n+1, sent+1
		}
		last := kill == kills // the last round has no kill
		for got := 0; got < batch && lines.Scan(); {
			for key, id := range ids {
				if strings.Contains(lines.Text(), key+",") || strings.Contains(lines.Text(), key+"}") {
					switch {
					case strings.Contains(lines.Text(), `"status":"retained"`):
						answered[id] = true
					case strings.Contains(lines.Text(), `"kind":"locked"`): // a concurrent write was slow on this machine
					default:
						t.Errorf("%s: %.300s", id, lines.Text())
					}
					delete(ids, key)
					got++
				}
			}
			if !last && got > kill%batch {
				break
			}
		}
		if !last {
			time.Sleep(time.Duration(kill%7) * 500 * time.Microsecond) // in the middle of the next write, at a different point each time
			_ = cmd.Process.Kill()
		}
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		if last && len(ids) > 0 {
			t.Errorf("the last server did not answer for %v", ids)
		}
	}
	files, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range files {
		name := wholeNote.FindStringSubmatch(f.Name())
		if name == nil {
			if !strings.HasPrefix(f.Name(), ".") && !cutNote.MatchString(f.Name()) { // temporary files, which no list shows
				t.Errorf("%s is left", f.Name())
			}
			continue
		}
		i, _ := strconv.Atoi(name[1])
		b, err := os.ReadFile(filepath.Join(root, f.Name()))
		if err != nil || string(b) != text(i) {
			t.Errorf("%s is torn: %d of %d bytes, %v", f.Name(), len(b), len(text(i)), err)
		}
		there[f.Name()] = true
	}
	for id := range answered {
		if !there[id] {
			t.Errorf("%s was answered for and is gone", id)
		}
	}
	r := d.run("audit", "verify", "--json").want(t, 0)
	log := d.run("audit", "list", "--json", "--all").out
	closed := strings.Count(log, `"class":"interrupted"`)
	t.Logf("%d sent, %d answered, %d there, %d intents closed at the next start; verify says %s", sent, len(answered), len(there), closed, r.out)
	if len(answered) < 8 || closed > sent-len(answered) || !strings.Contains(r.out, `"open_intents":0`) {
		t.Errorf("%d answered of %d, %d intents closed at the next start: %s", len(answered), sent, closed, r.out)
	}
}

// A complete note, and one that was being written.
var (
	wholeNote = regexp.MustCompile(`^n(\d{4})\.md$`)
	cutNote   = regexp.MustCompile(`^n\d{4}\.md\.tmp\.[0-9a-f]{16}$`)
)
