// Package witness keeps the newest checkpoint of other desks' logs and signs the next one only if it
// continues that: it finds a log that was cut, rolled back or rewritten (c2sp.org/tlog-witness). It holds no
// record of any log.
package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit/checkpoint"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/internal/filelock"
	"memdesk/internal/privatefile"
)

const (
	keyFile  = "key"
	lockFile = "lock"
	maxBody  = 64 << 10
	maxFile  = 64 << 10
	// maxLogs bounds the logs that a witness with trust on first use accepts.
	maxLogs = 1000
)

// Options configure a witness.
type Options struct {
	Dir   string          // its state, 0700; made at the first start
	Logs  []note.Verifier // the logs that it serves
	Trust bool            // accept a new log that shows its key
	Clock clock.Clock
	Note  func(format string, args ...any) // receives one line about an alarm, a failure or a new log; may be nil
}

// Witness serves add-checkpoint. It is safe for concurrent use; one Witness owns a directory.
type Witness struct {
	Options
	signer note.Signer
	vkey   string
	lock   *os.File // held until Close
	mu     sync.Mutex
}

// Open reads the witness's state, or makes its key. It refuses a directory that another witness owns: two that know
// nothing of each other sign both sides of a fork. The caller closes.
func Open(o Options) (*Witness, error) {
	if len(o.Logs) == 0 && !o.Trust {
		return nil, errors.New("witness: it knows no log, and is not to trust what it sees first")
	}
	o.Clock = clock.Or(o.Clock)
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	info, err := os.Stat(o.Dir)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		return nil, errors.Join(errors.New("witness: its state directory is open to others: set its mode to 0700"), err)
	}
	lock, err := os.OpenFile(filepath.Join(o.Dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	w := &Witness{Options: o, lock: lock}
	if free, err := filelock.Try(lock, true); !free || err != nil {
		return nil, errors.Join(errors.New("witness: another witness serves from this state directory"), err, w.Close())
	}
	if err := w.readKey(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Close gives the state directory free.
func (w *Witness) Close() error { return filelock.Close(w.lock) }

func (w *Witness) readKey() error {
	path := filepath.Join(w.Dir, keyFile)
	text, err := privatefile.Read(path, privatefile.Unreadable, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		name := "memdesk/witness/" + atomicfile.Suffix()
		text = []byte(checkpoint.NewCosigner(name))
		err = atomicfile.Write(path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("witness: its key: %w", err)
	}
	if w.signer, w.vkey, err = checkpoint.Cosigner(string(text), w.Clock.Now); err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	return nil
}

// Know serves these logs from now on, besides those accepted on first use.
func (w *Witness) Know(logs []note.Verifier) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Logs = logs
}

// VerifierKey is the witness's key as name+hash+key, for those who check its signatures.
func (w *Witness) VerifierKey() string { return w.vkey }

// ServeHTTP implements http.Handler.
func (w *Witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || strings.Trim(r.URL.Path, "/") != "add-checkpoint" {
		http.NotFound(rw, r)
		return
	}
	b, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	if err != nil {
		http.Error(rw, "the body is too long", http.StatusRequestEntityTooLarge)
		return
	}
	a := w.add(b, r.Header.Get(keyHeader))
	if a.kind != "" {
		rw.Header().Set("Content-Type", a.kind)
	}
	rw.WriteHeader(a.status)
	_, _ = io.WriteString(rw, a.body)
}

type answer struct {
	status     int
	kind, body string
}

func refused(status int, why string) answer {
	return answer{status, "text/plain; charset=utf-8", why + "\n"}
}

// failed is the answer to an error of the witness itself. Its operator learns the cause, the caller does not.
func (w *Witness) failed(what string, err error) answer {
	w.note("a checkpoint was not signed: %s: %v", what, err)
	return refused(http.StatusInternalServerError, "the witness failed: "+what)
}

// request is a parsed body.
type request struct {
	old    int64
	proof  tlog.TreeProof
	signed []byte
}

func parse(b []byte) (request, error) {
	var q request
	head, signed, ok := bytes.Cut(b, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	old, ok2 := strings.CutPrefix(lines[0], "old ")
	n, err := strconv.ParseInt(old, 10, 64)
	if !ok || !ok2 || err != nil || n < 0 || strconv.FormatInt(n, 10) != old || len(lines) > 64 {
		return q, errors.New("want \"old SIZE\", the proof's hashes, an empty line and a signed checkpoint")
	}
	q.old, q.signed = n, signed
	for _, line := range lines[1:] {
		h, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(h) != tlog.HashSize {
			return q, errors.New("a hash of the proof is damaged")
		}
		q.proof = append(q.proof, tlog.Hash(h))
	}
	return q, nil
}

// add is the rule of a witness: sign only a checkpoint that continues the last signed one.
func (w *Witness) add(b []byte, shown string) answer {
	q, err := parse(b)
	if err != nil {
		return refused(http.StatusBadRequest, err.Error())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	origin := checkpoint.Origin(q.signed)
	known, fresh, err := w.verifiers(origin, shown)
	if err != nil {
		return w.failed("its state cannot be read", err)
	}
	if len(known) == 0 {
		return refused(http.StatusNotFound, "this log is not known here")
	}
	c, n, err := checkpoint.Open(q.signed, known...)
	if err != nil {
		return refused(http.StatusForbidden, "no key of this log has signed the checkpoint")
	}
	last, err := w.last(origin)
	if err != nil {
		return w.failed("its state cannot be read", err)
	}
	if a, ok := w.judge(q, c, last); !ok {
		return a
	}
	if err := w.keep(c, n, fresh); err != nil {
		return w.failed("its state cannot be written", err)
	}
	line, err := w.cosign(n)
	if err != nil {
		return w.failed("it cannot sign", err)
	}
	return answer{http.StatusOK, "", line}
}

// judge compares a checkpoint with the last one of its log.
func (w *Witness) judge(q request, c, last checkpoint.Checkpoint) (answer, bool) {
	conflict := answer{http.StatusConflict, "text/x.tlog.size", fmt.Sprintf("%d\n", last.Size)}
	switch {
	case q.old > c.Size:
		return refused(http.StatusBadRequest, "the old size is larger than the checkpoint's"), false
	case c.Size < last.Size:
		w.note("ROLLED BACK, or an older checkpoint that came late: %s shows %d records, %d were seen", c.Origin, c.Size, last.Size)
		return conflict, false
	case q.old != last.Size:
		return conflict, false
	case c.Size == last.Size && last.Size > 0 && c.Root != last.Root:
		w.note("FORKED: %s shows other records up to %d than were seen", c.Origin, c.Size)
		return conflict, false
	case c.Size == last.Size || last.Size == 0:
		if len(q.proof) > 0 {
			return refused(http.StatusUnprocessableEntity, "there is nothing to prove here"), false
		}
		return answer{}, true
	}
	if err := tlog.CheckTree(q.proof, c.Size, c.Root, last.Size, last.Root); err != nil {
		w.note("REWRITTEN: %s does not continue the %d records that were seen", c.Origin, last.Size)
		return refused(http.StatusUnprocessableEntity, "the checkpoint does not continue the last one"), false
	}
	return answer{}, true
}

func (w *Witness) note(format string, args ...any) {
	if w.Note != nil {
		w.Note(format, args...)
	}
}

// cosign returns the witness's signature line.
func (w *Witness) cosign(n *note.Note) (string, error) {
	b, err := note.Sign(&note.Note{Text: n.Text}, w.signer)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(string(b), n.Text+"\n"), nil
}

// place is a log's file: its newest checkpoint, or its key where that was accepted on first use.
func (w *Witness) place(origin, what string) string {
	sum := sha256.Sum256([]byte(origin))
	return filepath.Join(w.Dir, hex.EncodeToString(sum[:])+what)
}

// verifiers are the keys of a log; fresh is a key seen for the first time.
func (w *Witness) verifiers(origin, shown string) (known []note.Verifier, fresh string, err error) {
	for _, v := range w.Logs {
		if v.Name() == origin {
			known = append(known, v)
		}
	}
	if len(known) > 0 || !w.Trust {
		return known, "", nil
	}
	b, err := privatefile.Read(w.place(origin, ".key"), privatefile.Unreadable, maxFile)
	if err == nil {
		v, err := note.NewVerifier(strings.TrimSpace(string(b)))
		return []note.Verifier{v}, "", err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if entries, err := os.ReadDir(w.Dir); err != nil || len(entries) > 2*maxLogs {
		return nil, "", err
	}
	if v, err := note.NewVerifier(shown); err == nil && v.Name() == origin {
		return []note.Verifier{v}, shown, nil
	}
	return nil, "", nil
}

// last is the newest signed checkpoint of a log, zero before the first.
func (w *Witness) last(origin string) (checkpoint.Checkpoint, error) {
	b, err := privatefile.Read(w.place(origin, ".checkpoint"), privatefile.Unreadable, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint.Checkpoint{}, nil
	}
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	c, err := checkpoint.Parse(string(b))
	if err == nil && c.Origin != origin {
		err = errors.New("another log's checkpoint stands there")
	}
	return c, err
}

// keep saves the checkpoint durably before it is signed.
func (w *Witness) keep(c checkpoint.Checkpoint, n *note.Note, fresh string) error {
	if fresh != "" {
		if err := atomicfile.Write(w.place(c.Origin, ".key"), []byte(fresh+"\n"), 0o600); err != nil {
			return err
		}
		w.note("new log: %s", fresh)
	}
	return atomicfile.Write(w.place(c.Origin, ".checkpoint"), []byte(n.Text), 0o600)
}
