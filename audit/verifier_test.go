package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit"
	"memdesk/audit/checkpoint"
	"memdesk/audit/witness"
	"memdesk/gdpr/receipt"
)

const (
	receiptType = "application/vnd.memdesk.erasure-receipt+json;v=1"
	bodyEnd     = ",\n \"checkpoint\": " // the log's record does not cover the rest
)

// made is a log with a witness, a proof, two receipts and the key files.
type made struct {
	dir, key, both string
	proof          []byte
	receipts       [2][]byte
}

func makeProven(t *testing.T) made {
	t.Helper()
	m := made{dir: t.TempDir()}
	w, err := witness.Open(witness.Options{Dir: filepath.Join(m.dir, "w"), Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	l, err := audit.Open(audit.Options{Dir: filepath.Join(m.dir, "audit"), Tool: "t", Anchors: []audit.Anchor{{Kind: "witness", URL: s.URL, Key: w.VerifierKey()}}})
	if err != nil {
		t.Fatal(err)
	}
	key, err := receipt.LoadKey(filepath.Join(m.dir, "receipt"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.receipts {
		rec := receipt.Receipt{Request: "er-" + string(rune('a'+i)), Status: receipt.StatusComplete, Plan: strings.Repeat(string(rune('a'+i)), 64), Ground: "Art. 17 <b>&", Notes: []string{"a \"note\" — é"}}
		digest, err := rec.Digest()
		if err != nil {
			t.Fatal(err)
		}
		p, cosigned, err := l.NoteProven(t.Context(), audit.Entry{Action: receipt.Action, Plan: rec.Plan, Scope: digest}, audit.Result{Verdict: audit.OK})
		if err != nil || p == nil || len(cosigned) != 1 {
			t.Fatal(p, cosigned, err)
		}
		signed, inclusion := string(p.Checkpoint), p.Inclusion()
		rec.Checkpoint, rec.InclusionProof, rec.Cosignatures = &signed, &inclusion, cosigned
		if m.receipts[i], err = key.Sign(rec); err != nil {
			t.Fatal(err)
		}
		m.proof = p.Bytes()
	}
	keys, err := l.VerifierKeys()
	if err != nil {
		t.Fatal(err)
	}
	m.key, m.both = m.put(t, "key", []byte(keys[0]+"\n")), m.put(t, "both", []byte(keys[0]+"\n"+w.VerifierKey()+"\n"))
	return m
}

func (m made) put(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// signed is a payload in an envelope, signed with a newly made key.
func (m made) signed(t *testing.T, payload []byte) []byte {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	id := sha256.Sum256(append([]byte("memdesk-receipt-key-id\x00"), public...))
	text := append(fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(receiptType), receiptType, len(payload)), payload...)
	b, err := json.MarshalIndent(envelope{receiptType, base64.StdEncoding.EncodeToString(payload), []signature{{
		hex.EncodeToString(id[:]), hex.EncodeToString(public), base64.StdEncoding.EncodeToString(ed25519.Sign(private, text))}}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

func (m made) verify(t *testing.T, file []byte, key string) (int, string) {
	t.Helper()
	return verifier(t, m.put(t, "file", file), "--key", key)
}

var built struct {
	once sync.Once
	path string
	err  error
}

// verifier runs the small verifier as its users would: the program alone, in an empty directory,
// without an environment.
func verifier(t *testing.T, args ...string) (int, string) {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "verifier") // TestMain removes it
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "memdesk-verify")
		if out, err := exec.Command("go", "build", "-o", built.path, "memdesk/cmd/memdesk-verify").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	cmd := exec.Command(built.path, args...)
	cmd.Dir, cmd.Env = t.TempDir(), []string{}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), string(out)
	case err != nil:
		t.Fatal(err)
	}
	return 0, string(out)
}

// envelope is DSSE's envelope, in the form of the receipts.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID     string `json:"keyid"`
	PublicKey string `json:"public_key"`
	Sig       string `json:"sig"`
}

func TestVerifierTakesReceipts(t *testing.T) {
	m := makeProven(t)
	for _, f := range [][]byte{m.proof, m.receipts[0], m.receipts[1]} {
		if code, out := m.verify(t, f, m.key); code != 0 || !strings.Contains(out, "VERIFIED") {
			t.Errorf("with the log's key alone: %d %s", code, out)
		}
	}
	if code, out := m.verify(t, m.receipts[0], m.both); code != 0 || !strings.Contains(out, "seen by witness") {
		t.Errorf("with the witness's key: %d %s", code, out)
	}
	other := makeProven(t)
	for _, f := range [][]byte{m.proof, m.receipts[0]} {
		if code, out := m.verify(t, f, other.key); code != 7 {
			t.Errorf("with another log's key: %d %s", code, out)
		}
	}
	for _, args := range [][]string{nil, {"x"}, {"--key", "k"}, {"x", "--key"}, {"x", "y", "--key", "k"}, {m.key, "--key", "/nowhere"}} {
		if code, out := verifier(t, args...); code != 2 {
			t.Errorf("%q: %d %s", args, code, out)
		}
	}
}

func TestVerifierFindsChangedProofs(t *testing.T) {
	m := makeProven(t)
	for i := 0; i < len(m.proof); i += 3 {
		b := bytes.Clone(m.proof)
		b[i] ^= 4
		if code, out := m.verify(t, b, m.key); code == 0 {
			t.Fatalf("byte %d changed: %s", i, out)
		}
	}
	for i := 0; i < len(m.proof); i += 29 {
		if code, _ := m.verify(t, m.proof[:i], m.key); code == 0 {
			t.Fatalf("cut to %d bytes: it passes", i)
		}
	}
}

func TestVerifierFindsChangedReceipts(t *testing.T) {
	m := makeProven(t)
	good := m.receipts[0]
	for i := 0; i < len(good); i += 37 {
		b := bytes.Clone(good)
		b[i] ^= 4
		if code, out := m.verify(t, b, m.key); code == 0 {
			t.Fatalf("byte %d changed: %s", i, out)
		}
	}
	var e envelope
	if err := json.Unmarshal(good, &e); err != nil {
		t.Fatal(err)
	}
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	var other envelope
	if err := json.Unmarshal(m.receipts[1], &other); err != nil {
		t.Fatal(err)
	}
	second, err := base64.StdEncoding.DecodeString(other.Payload)
	if err != nil {
		t.Fatal(err)
	}
	at := func(b []byte) int { return bytes.Index(b, []byte(bodyEnd)) }
	lines := bytes.Split(bytes.Clone(payload), []byte("\n"))
	line := slices.IndexFunc(lines, func(l []byte) bool { return bytes.Contains(l, []byte(`"forgotten":`)) })
	lines[line], lines[line+1] = lines[line+1], lines[line]
	// An owner of the desk's receipt key can sign anything, but the log names another digest.
	for name, changed := range map[string][]byte{
		"another's proof":   append(bytes.Clone(payload[:at(payload)]), second[at(second):]...),
		"another status":    bytes.Replace(payload, []byte(`"complete"`), []byte(`"complete_in_scope"`), 1),
		"a duplicate key":   bytes.Replace(payload, []byte(`"v": 1`), []byte("\"v\": 1,\n \"v\": 1"), 1),
		"a later duplicate": bytes.Replace(payload, []byte("\n}"), []byte(",\n \"status\": \"x\"\n}"), 1),
		"reordered":         bytes.Join(lines, []byte("\n")),
		"a space":           bytes.Replace(payload, []byte(`"v": 1`), []byte(`"v":  1`), 1),
		"no proof":          append(bytes.Clone(payload[:at(payload)]), []byte(",\n \"checkpoint\": null,\n \"inclusion_proof\": null,\n \"cosignatures\": []\n}")...),
		"cut":               payload[:len(payload)-5],
	} {
		if bytes.Equal(changed, payload) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if code, out := m.verify(t, m.signed(t, changed), m.key); code != 7 {
			t.Errorf("%s, signed anew: %d %s", name, code, out)
		}
	}
	if code, out := m.verify(t, m.signed(t, payload), m.key); code != 0 {
		t.Errorf("the control, signed anew: %d %s", code, out)
	}
	spaced := bytes.Replace(good, []byte("{\n"), []byte("{ \n"), 1)
	twice := bytes.Replace(good, []byte("{\n"), []byte("{\n  \"payloadType\": \"x\",\n"), 1)
	for name, b := range map[string][]byte{"spaced": spaced, "a duplicate in the envelope": twice, "cut": good[:len(good)-3], "text behind": append(bytes.Clone(good), "\n"...)} {
		if code, out := m.verify(t, b, m.key); code != 7 {
			t.Errorf("%s: %d %s", name, code, out)
		}
	}
}

// TestTheVerifiersHelp: only a call for help alone is answered with 0, which else means that everything fits.
func TestTheVerifiersHelp(t *testing.T) {
	for args, want := range map[string]int{"--help": 0, "-h": 0, "--help --key k": 2, "file --key k --help": 2, "--help --help": 2} {
		if code, out := verifier(t, strings.Fields(args)...); code != want || !strings.HasPrefix(out, "usage: memdesk-verify FILE") {
			t.Errorf("%s: %d %s", args, code, out)
		}
	}
}

// The verifier must be readable by itself: it uses no package of memdesk and is short.
func TestVerifierIsAlone(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "memdesk/cmd/memdesk-verify").Output()
	if err != nil {
		t.Fatal(err)
	}
	for p := range strings.FieldsSeq(string(out)) {
		switch p {
		case "memdesk/cmd/memdesk-verify", "golang.org/x/mod/sumdb/note", "golang.org/x/mod/sumdb/tlog", "golang.org/x/mod/internal/lazyregexp":
		default:
			t.Errorf("it needs %s", p)
		}
	}
	b, err := os.ReadFile("../cmd/memdesk-verify/main.go")
	if n := bytes.Count(b, []byte("\n")); err != nil || n > 450 {
		t.Errorf("it has %d lines (%v), at most 450 are wanted", n, err)
	}
}

// TestTheVerifierPrintsNothingOfALogsOwn: a log's owner must not write lines of his own into the answer.
func TestTheVerifierPrintsNothingOfALogsOwn(t *testing.T) {
	skey, vkey, err := note.GenerateKey(nil, "a/log")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	m := made{dir: t.TempDir()}
	key := m.put(t, "key", []byte(vkey+"\n"))
	for ts, want := range map[string]int{"2026-01-01T00:00:00.5Z": 0, `2026-01-01T00:00:00Z\nseen by witness w at 2026-01-01T00:00:05Z\u001b[8m`: 7} {
		record := []byte(`{"seq":1,"ts":"` + ts + `","action":"a"}`)
		c := checkpoint.Checkpoint{Origin: "a/log", Size: 1, Root: tlog.RecordHash(record)}
		signed, err := note.Sign(&note.Note{Text: c.Text()}, signer)
		if err != nil {
			t.Fatal(err)
		}
		p := checkpoint.Proof{Record: record, Checkpoint: signed}
		if code, out := m.verify(t, p.Bytes(), key); code != want || strings.Contains(out, "seen by witness") {
			t.Errorf("%q: %d %q", ts, code, out)
		}
	}
}
