package vault

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"memdesk/model"
)

// daemonPort is the loopback port of AgentM's daemon (agentm.md, Derived state).
const daemonPort = 7821

// daemonLimit bounds an answer, in bytes; daemonWait a look at opening.
const (
	daemonLimit = 64 << 10
	daemonWait  = 100 * time.Millisecond
)

// daemon asks AgentM's daemon for its health. It sends nothing but GET /health.
type daemon struct {
	url    string // empty: no daemon is asked
	client *http.Client
}

func newDaemon(cfg Config, at roots) daemon {
	url := cfg.DaemonURL
	if url == "" {
		port := at.port
		if port <= 0 || port > 65535 {
			port = daemonPort
		}
		url = fmt.Sprintf("http://127.0.0.1:%d", port)
	}
	if url == "-" {
		return daemon{}
	}
	return daemon{url: url, client: &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ask reports whether a daemon runs, and its problem in words.
func (d daemon) ask(ctx context.Context) (runs bool, wrong string) {
	if d.url == "" {
		return false, ""
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/health", nil)
	if err != nil {
		return false, ""
	}
	res, err := d.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return true, "AgentM's daemon does not answer on loopback; restart it, or the index falls behind"
		}
		return false, "" // no daemon: the files are the truth
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, daemonLimit))
	if res.StatusCode == http.StatusOK {
		return true, unwell(body)
	}
	return true, fmt.Sprintf("AgentM's daemon answers %d to a health check; look into its log", res.StatusCode)
}

// unwell searches an answer for an explicit error; an answer in another shape is no verdict.
func unwell(body []byte) string {
	var said struct {
		OK     *bool  `json:"ok"`
		Status string `json:"status"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	switch {
	case said.OK != nil && !*said.OK, said.Status == "error", said.Status == "fail", said.Status == "red":
		return "AgentM's daemon says that it is not well; ask its /status"
	}
	return ""
}

// findingDaemon is the kind of finding about AgentM's daemon: without it the agent's own index falls
// behind; the files stay the truth.
const findingDaemon = "daemon"

// status is empty unless a running daemon reports a problem.
func (d daemon) status(ctx context.Context) []model.HealthFinding {
	if _, wrong := d.ask(ctx); wrong != "" {
		return []model.HealthFinding{{Kind: findingDaemon, Message: wrong, State: model.HealthDegraded}}
	}
	return nil
}

// note says whether there is a daemon.
func (d daemon) note(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, daemonWait)
	defer cancel()
	runs, wrong := d.ask(ctx)
	switch {
	case wrong != "":
		return []string{wrong}
	case runs:
		return []string{"AgentM's daemon runs: it indexes changes within five minutes and may rewrite a note at any time"}
	}
	return []string{"no AgentM daemon answers on loopback: the agent's index is as old as its last run"}
}
