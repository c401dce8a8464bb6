package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// maxAnswer bounds a witness's answer, in bytes.
const maxAnswer = 16 << 10

// keyHeader carries the log's verifier key to a witness of this project with trust on first use: an Ed25519
// signature does not reveal the key.
const keyHeader = "Memdesk-Log-Key"

// Submission is a checkpoint for a witness.
type Submission struct {
	Old        int64 // size that the witness should have
	Proof      tlog.TreeProof
	Checkpoint []byte // signed
	LogKey     string // for a witness with trust on first use
}

// Answer is the reply of a witness.
type Answer struct {
	Cosignature  string // its signature line, not checked yet
	Conflict     bool   // the witness has another size than Old, or another root of that size
	Size         int64  // the witness's size, with Conflict
	Inconsistent bool   // it refused the proof
}

// bytes is the request's body (c2sp.org/tlog-witness).
func (s Submission) bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "old %d\n", s.Old)
	for _, h := range s.Proof {
		b.WriteString(h.String() + "\n")
	}
	b.WriteByte('\n')
	b.Write(s.Checkpoint)
	return b.Bytes()
}

// Add submits a checkpoint. An error means that the witness gave no valid answer.
func Add(ctx context.Context, url string, s Submission) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(url, "/")+"/add-checkpoint", bytes.NewReader(s.bytes()))
	if err != nil {
		return Answer{}, errors.New("the witness's address is no URL")
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	req.Header.Set(keyHeader, s.LogKey)
	resp, err := client.Do(req)
	if err != nil {
		return Answer{}, errors.New("the witness does not answer")
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil || len(b) > maxAnswer {
		return Answer{}, errors.New("the witness's answer breaks off, or is longer than any")
	}
	switch resp.StatusCode {
	case http.StatusOK:
		lines := string(b)
		if !strings.HasPrefix(lines, "— ") || !strings.HasSuffix(lines, "\n") {
			return Answer{}, errors.New("the witness's answer is no signature")
		}
		return Answer{Cosignature: lines}, nil
	case http.StatusConflict:
		size, err := strconv.ParseInt(strings.TrimSuffix(string(b), "\n"), 10, 64)
		if err != nil || size < 0 {
			return Answer{}, errors.New("the witness says that it has another size, and not which")
		}
		return Answer{Conflict: true, Size: size}, nil
	case http.StatusUnprocessableEntity:
		return Answer{Inconsistent: true}, nil
	case http.StatusNotFound:
		return Answer{}, errors.New("the witness does not know this log: give it the key that `memdesk audit key` prints")
	case http.StatusForbidden:
		return Answer{}, errors.New("the witness knows another key of this log")
	}
	return Answer{}, fmt.Errorf("the witness answers %d", resp.StatusCode)
}

// client follows no redirect: the configured address must be the witness's.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
