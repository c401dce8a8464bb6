// Package embed turns a query into a vector by asking a server or a program. It stores nothing, and its
// errors never contain a credential or an answer.
package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/endpoint"
	"memdesk/model"
)

// answerLimit is the most bytes of an answer: twice the size of a vector of 16,000 dimensions written
// out in full.
const answerLimit = 1 << 20

// patience bounds one embedding below the caller's own deadline, so that a recall still has time to
// answer by content.
const patience = 4 * time.Second

// New returns the embedder of a store's configuration: a server, a program, or nil for neither. Both at
// once are InvalidInput.
func New(address, command string) (hypergraph.Embedder, error) {
	switch {
	case address != "" && command != "":
		return nil, model.Errorf(model.InvalidInput, "open", "give embed_url or embed_command, not both")
	case address != "":
		return newServer(address)
	case command != "":
		return program{command}, nil
	}
	return nil, nil
}

// server speaks the protocol of OpenAI's embeddings endpoint.
type server struct {
	address string
	model   string
	client  *http.Client
}

// newServer takes the model's name from the address's parameter model and removes that parameter from
// the address.
func newServer(address string) (hypergraph.Embedder, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, model.Errorf(model.InvalidInput, "open", "embed_url is no address of an embeddings endpoint: write https://host/v1/embeddings?model=NAME")
	}
	if u.Scheme == "http" && !endpoint.Local(u.Hostname()) {
		return nil, model.Errorf(model.InvalidInput, "open", "embed_url is plain http to another machine: texts would travel in clear; use https, or a tunnel to this machine")
	}
	if u.User != nil {
		return nil, model.Errorf(model.InvalidInput, "open", "embed_url must hold no user or password: use embed_command for an endpoint that wants a key")
	}
	q := u.Query()
	name := q.Get("model")
	q.Del("model")
	u.RawQuery = q.Encode()
	return &server{address: u.String(), model: name, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Model is the requested model's name, which the store keeps beside the vectors.
func (s *server) Model() string { return s.model }

// Embed implements hypergraph.Embedder.
func (s *server) Embed(ctx context.Context, text string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ask := struct {
		Input string `json:"input"`
		Model string `json:"model,omitempty"`
	}{text, s.model}
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, model.Errorf(model.InvalidInput, "embed", "the query does not encode")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(body))
	if err != nil {
		return nil, model.Errorf(model.InvalidInput, "embed", "embed_url is no address")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return nil, failed(ctx, "the embedding server does not answer")
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, model.Errorf(model.Unavailable, "embed", "the embedding server answers HTTP %d", res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, answerLimit+1))
	switch {
	case err != nil:
		return nil, failed(ctx, "the embedding server broke off its answer")
	case len(data) > answerLimit:
		return nil, model.Errorf(model.Unavailable, "embed", "the embedding server answers more than %d bytes", answerLimit)
	}
	var answer struct {
		Data []struct {
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &answer) != nil || len(answer.Data) == 0 {
		return nil, model.Errorf(model.Unavailable, "embed", "the embedding server does not answer as OpenAI's embeddings endpoint does")
	}
	return checked(answer.Data[0].Embedding, "server")
}

// program reads the text on its standard input and writes a JSON array.
type program struct{ command string }

// Embed implements hypergraph.Embedder. The shell runs the operator's own command; the query is never
// part of it.
func (p program) Embed(ctx context.Context, text string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", p.command)
	cmd.Stdin = strings.NewReader(text)
	out := &capped{left: answerLimit}
	cmd.Stdout = out
	// Processes that the command has started end with it, and none of them is waited for.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if cmd.Process != nil { // Cancel is not called once the shell has ended
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly nothing is left
	}
	switch {
	case out.left < 0:
		return nil, model.Errorf(model.Unavailable, "embed", "embed_command writes more than %d bytes", answerLimit)
	case err != nil:
		var exit *exec.ExitError
		if errors.As(err, &exit) && ctx.Err() == nil {
			return nil, model.Errorf(model.Unavailable, "embed", "embed_command ended with code %d", exit.ExitCode())
		}
		return nil, failed(ctx, "embed_command does not run")
	}
	var vector []float32
	if json.Unmarshal(out.Bytes(), &vector) != nil {
		return nil, model.Errorf(model.Unavailable, "embed", "embed_command does not write a JSON array of numbers")
	}
	return checked(vector, "command")
}

// capped keeps its input up to a limit.
type capped struct {
	bytes.Buffer
	left int
}

var errFull = errors.New("full")

func (c *capped) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		return 0, errFull
	}
	return c.Buffer.Write(p)
}

// failed reports the error, or that time ran out.
func failed(ctx context.Context, words string) error {
	if ctx.Err() != nil {
		return model.Errorf(model.Timeout, "embed", "the query was not embedded within its time")
	}
	return model.Errorf(model.Unavailable, "embed", "%s", words)
}

func checked(v []float32, who string) ([]float32, error) {
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			v = nil
			break
		}
	}
	if len(v) == 0 {
		return nil, model.Errorf(model.Unavailable, "embed", "the embedding %s gives no vector", who)
	}
	return v, nil
}
