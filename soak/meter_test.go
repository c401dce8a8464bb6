//go:build linux

package soak

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const meterToken = "soak-0123456789-abcdefghij"

// meter is a metrics server that runs all year.
type meter struct {
	m   *machine
	cmd *exec.Cmd
	url string
}

func (m *machine) openMeter() *meter {
	m.t.Helper()
	tokens := filepath.Join(m.dir, "tokens")
	m.must(os.WriteFile(tokens, []byte("prometheus "+meterToken+" memory:health\n"), 0o600))
	p := &meter{m: m, cmd: m.child("serve", "metrics", "--listen", "127.0.0.1:0", "--every", "2s", "--tokens", tokens)}
	errs, err := p.cmd.StderrPipe()
	m.must(err)
	m.must(p.cmd.Start())
	m.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	lines, address := bufio.NewReader(errs), regexp.MustCompile(`on (http://\S+) to`)
	for p.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			m.t.Fatalf("no metrics: %s%v", line, err)
		}
		if found := address.FindStringSubmatch(line); found != nil {
			p.url = found[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // ends with the server
	return p
}

// shows waits until the server shows each of these lines, after its next check.
func (p *meter) shows(want ...string) {
	p.m.t.Helper()
	ctx, cancel := context.WithTimeout(p.m.t.Context(), 2*time.Minute)
	defer cancel()
	for {
		text := p.scrape(ctx)
		missing := ""
		for _, w := range want {
			if !strings.Contains(text, "\n"+w+"\n") {
				missing += "\n" + w
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-ctx.Done():
			p.m.t.Errorf("the metrics do not show%s\nbut%s", missing, regexp.MustCompile(`(?m)^(#|go_|process_|memdesk_tier|memdesk_door).*\n`).ReplaceAllString(text, ""))
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (p *meter) scrape(ctx context.Context) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url, nil)
	p.m.must(err)
	req.Header.Set("Authorization", "Bearer "+meterToken)
	req.Close = true // a kept connection would look like a leaked descriptor
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Sprint(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// stop ends the server as a unit's stop does.
func (p *meter) stop() {
	p.m.t.Helper()
	p.m.must(p.cmd.Process.Signal(os.Interrupt))
	if err := p.cmd.Wait(); err != nil {
		p.m.t.Errorf("the server of metrics left with %v", err)
	}
}
