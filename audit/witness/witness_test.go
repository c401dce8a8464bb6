package witness_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit/checkpoint"
	"memdesk/audit/witness"
)

// log is a log of invented records, as a witness sees it.
type log struct {
	signer note.Signer
	vkey   string
	hashes []tlog.Hash
	salt   string
}

func newLog(t *testing.T, name, salt string) *log {
	t.Helper()
	skey, vkey, err := note.GenerateKey(nil, name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	return &log{signer: s, vkey: vkey, salt: salt}
}

func (l *log) read() tlog.HashReaderFunc {
	return func(at []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(at))
		for i, x := range at {
			out[i] = l.hashes[x]
		}
		return out, nil
	}
}

// at is the submission of a size to a witness that has size old.
func (l *log) at(t *testing.T, old, size int64) witness.Submission {
	t.Helper()
	l.hashes = nil
	for n := range size {
		more, err := tlog.StoredHashes(n, fmt.Append(nil, l.salt, n), l.read())
		if err != nil {
			t.Fatal(err)
		}
		l.hashes = append(l.hashes, more...)
	}
	root, err := tlog.TreeHash(size, l.read())
	if err != nil {
		t.Fatal(err)
	}
	if size == 0 {
		root = sha256.Sum256(nil)
	}
	c := checkpoint.Checkpoint{Origin: l.signer.Name(), Size: size, Root: root}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, l.signer)
	if err != nil {
		t.Fatal(err)
	}
	s := witness.Submission{Old: old, Checkpoint: signed, LogKey: l.vkey}
	if old > 0 && old < size {
		if s.Proof, err = tlog.ProveTree(size, old, l.read()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func serve(t *testing.T, dir string, logs ...*log) (string, note.Verifier) {
	t.Helper()
	url, v, _ := start(t, dir, logs...)
	return url, v
}

func start(t *testing.T, dir string, logs ...*log) (string, note.Verifier, *witness.Witness) {
	t.Helper()
	o := witness.Options{Dir: dir, Trust: len(logs) == 0}
	for _, l := range logs {
		v, err := note.NewVerifier(l.vkey)
		if err != nil {
			t.Fatal(err)
		}
		o.Logs = append(o.Logs, v)
	}
	w, err := witness.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	v, err := checkpoint.Verifier(w.VerifierKey())
	if err != nil {
		t.Fatal(err)
	}
	return s.URL, v, w
}

func TestAWitnessSigns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	l := newLog(t, "desk/one", "a")
	for _, logs := range [][]*log{{l}, {}} {
		url, v := serve(t, filepath.Join(dir, fmt.Sprint(len(logs))), logs...)
		for _, step := range [][2]int64{{0, 3}, {3, 3}, {3, 9}, {9, 300}} {
			s := l.at(t, step[0], step[1])
			a, err := witness.Add(t.Context(), url, s)
			if err != nil || a.Conflict || a.Inconsistent {
				t.Fatalf("%v: %+v %v", step, a, err)
			}
			n, err := note.Open(append(s.Checkpoint, a.Cosignature...), note.VerifierList(v))
			if err != nil || len(n.Sigs) != 1 {
				t.Fatalf("%v: its signature: %v", step, err)
			}
			// The signature is four bytes of the key's hash, then the time in seconds.
			if raw, err := base64.StdEncoding.DecodeString(n.Sigs[0].Base64); err != nil || len(raw) < 12 || binary.BigEndian.Uint64(raw[4:]) == 0 {
				t.Errorf("%v: a signature without its time: %v", step, err)
			}
		}
	}
}

// TestAWitnessThatCannotKeepItsState: its own operator must hear of it.
func TestAWitnessThatCannotKeepItsState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	var said []string
	w, err := witness.Open(witness.Options{Dir: dir, Trust: true, Note: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := httptest.NewServer(w)
	defer s.Close()
	l := newLog(t, "desk/one", "a")
	if _, err := witness.Add(t.Context(), s.URL, l.at(t, 0, 3)); err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "*.checkpoint"))
	if err != nil || len(kept) != 1 || errors.Join(os.Remove(kept[0]), os.Mkdir(kept[0], 0o700)) != nil {
		t.Fatalf("%v, %v", kept, err)
	}
	said = nil
	if _, err := witness.Add(t.Context(), s.URL, l.at(t, 3, 9)); err == nil || len(said) != 1 || !strings.Contains(said[0], "its state cannot be read") {
		t.Errorf("answered %v, said %q", err, said)
	}
}

// TestOneWitnessOwnsADirectory: two that know nothing of each other sign both sides of a fork.
func TestOneWitnessOwnsADirectory(t *testing.T) {
	o := witness.Options{Dir: filepath.Join(t.TempDir(), "w"), Trust: true}
	first, err := witness.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := witness.Open(o); err == nil {
		_ = w.Close()
		t.Error("a second witness was opened")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := witness.Open(o)
	if err != nil || again.VerifierKey() != first.VerifierKey() {
		t.Fatalf("after the first: %v", err)
	}
	_ = again.Close()
}

func TestWhatAWitnessRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "w")
	l, fork, alien := newLog(t, "desk/one", "a"), newLog(t, "desk/one", "b"), newLog(t, "desk/two", "c")
	fork.signer = l.signer // the same key, other records
	url, _, w := start(t, dir, l)
	if a, err := witness.Add(t.Context(), url, l.at(t, 0, 8)); err != nil || a.Cosignature == "" {
		t.Fatal(a, err)
	}
	ask := func(s witness.Submission) (int, string) {
		a, err := witness.Add(t.Context(), url, s)
		switch {
		case err != nil:
			return 0, err.Error()
		case a.Conflict:
			return int(a.Size), "conflict"
		case a.Inconsistent:
			return 0, "inconsistent"
		}
		return 0, "signed"
	}
	wrong := l.at(t, 8, 20)
	wrong.Proof[0][0] ^= 1
	noProof := l.at(t, 8, 20)
	noProof.Proof = nil
	stranger := newLog(t, "desk/one", "a").at(t, 8, 20)
	flipped := l.at(t, 8, 20)
	flipped.Checkpoint = []byte(strings.Replace(string(flipped.Checkpoint), "\n20\n", "\n21\n", 1))
	for name, c := range map[string]struct {
		s    witness.Submission
		size int
		want string
	}{
		"rolled back":        {l.at(t, 5, 5), 8, "conflict"},
		"old size too small": {l.at(t, 5, 20), 8, "conflict"},
		"forked":             {fork.at(t, 8, 8), 8, "conflict"},
		"rewritten":          {fork.at(t, 8, 20), 0, "inconsistent"},
		"a wrong proof":      {wrong, 0, "inconsistent"},
		"no proof":           {noProof, 0, "inconsistent"},
		"another log":        {alien.at(t, 0, 3), 0, "does not know this log"},
		"another key":        {stranger, 0, "another key"},
		"a changed size":     {flipped, 0, "another key"},
	} {
		if size, got := ask(c.s); size != c.size || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %q, want %d %q", name, size, got, c.size, c.want)
		}
	}
	for _, body := range []string{"", "old 8\n", "old 08\n\n", "old -1\n\nx", "old 8\n!!\n\nx", strings.Repeat("x", 100_000)} {
		resp, err := http.Post(url+"/add-checkpoint", "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode < 400 {
			t.Errorf("%.20q: %d", body, resp.StatusCode)
		}
	}
	// After a restart the witness must know the same.
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	url, _ = serve(t, dir, l)
	if a, err := witness.Add(t.Context(), url, l.at(t, 5, 5)); err != nil || !a.Conflict || a.Size != 8 {
		t.Errorf("after a restart: %+v %v", a, err)
	}
	if a, err := witness.Add(t.Context(), url, l.at(t, 8, 20)); err != nil || a.Cosignature == "" {
		t.Errorf("what continues: %+v %v", a, err)
	}
}

func TestAWitnessThatLies(t *testing.T) {
	l := newLog(t, "desk/one", "a")
	for name, answer := range map[string]func(http.ResponseWriter){
		"nothing":        func(w http.ResponseWriter) {},
		"text":           func(w http.ResponseWriter) { io.WriteString(w, "fine\n") },
		"endless":        func(w http.ResponseWriter) { io.WriteString(w, "— "+strings.Repeat("x", 1<<20)) },
		"a wrong size":   func(w http.ResponseWriter) { w.WriteHeader(409); io.WriteString(w, "many\n") },
		"an error":       func(w http.ResponseWriter) { w.WriteHeader(500) },
		"somewhere else": func(w http.ResponseWriter) { w.Header().Set("Location", "http://127.0.0.1:1/"); w.WriteHeader(307) },
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		if a, err := witness.Add(t.Context(), s.URL, l.at(t, 0, 3)); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
		s.Close()
	}
}
