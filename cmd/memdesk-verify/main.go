// Command memdesk-verify checks, offline, a proof that a record stands in a memdesk audit log, or
// the receipt of an erasure. It needs nothing of memdesk: the standard library and
// golang.org/x/mod/sumdb/{note,tlog}. Read it before you trust it.
//
//	memdesk-verify FILE --key KEYFILE
//
// KEYFILE holds the log's verifier key, as `memdesk audit key` prints it, and may hold those of
// witnesses whose signatures are then checked too. Exit codes: 0 everything fits, 2 usage, 7 something does not.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const maxFile = 64 << 20

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

const usage = `usage: memdesk-verify FILE --key KEYFILE

Checks a proof of memdesk's audit log, or an erasure receipt, offline. KEYFILE holds the
log's verifier key and may hold those of witnesses.
Exit codes: 0 everything fits, 2 usage, 7 something does not.
`

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") { // alone: a FILE called --help must not pass
		fmt.Fprint(stdout, usage)
		return 0
	}
	file, keyFile, ok := arguments(args)
	if !ok {
		fmt.Fprint(stderr, usage)
		return 2
	}
	keys, err := readKeys(keyFile)
	if err != nil {
		fmt.Fprintf(stderr, "memdesk-verify: %q: %v\n", keyFile, err)
		return 2
	}
	b, err := read(file)
	if err != nil {
		fmt.Fprintf(stderr, "memdesk-verify: %q: %v\n", file, err)
		return 2
	}
	check := verifyProof
	if bytes.HasPrefix(b, []byte("{")) {
		check = verifyReceipt
	}
	lines, err := check(b, keys)
	if err != nil {
		fmt.Fprintf(stderr, "NOT VERIFIED: %v\n", err)
		return 7
	}
	for _, l := range lines {
		fmt.Fprintln(stdout, l)
	}
	return 0
}

// arguments takes FILE and --key KEYFILE in any order.
func arguments(args []string) (file, key string, ok bool) {
	for i := 0; i < len(args); i++ {
		value, inline := strings.CutPrefix(args[i], "--key=")
		switch {
		case inline && key == "":
			key = value
		case args[i] == "--key" && key == "" && i+1 < len(args):
			i++
			key = args[i]
		case file == "" && !strings.HasPrefix(args[i], "-"):
			file = args[i]
		default:
			return "", "", false
		}
	}
	return file, key, file != "" && key != ""
}

func read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, errors.New("cannot be opened")
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = errors.New("is larger than any proof or receipt")
	}
	return b, err
}

// readKeys reads verifier keys, one in a line, of the log and of witnesses.
func readKeys(name string) ([]note.Verifier, error) {
	b, err := read(name)
	if err != nil {
		return nil, err
	}
	var out []note.Verifier
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		v, err := newVerifier(line)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, errors.New("holds no verifier key (name+hash+key)")
	}
	return out, nil
}

// Algorithms of a verifier key (c2sp.org/signed-note).
const (
	algEd25519     = 1
	algCosignature = 4
)

func newVerifier(vkey string) (note.Verifier, error) {
	bad := errors.New("holds a line that is no verifier key (name+hash+key)")
	name, rest, _ := strings.Cut(vkey, "+")
	hash, encoded, _ := strings.Cut(rest, "+")
	b, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(b) != 1+ed25519.PublicKeySize {
		return nil, bad
	}
	if b[0] == algEd25519 {
		return note.NewVerifier(vkey)
	}
	w := cosigner{name, ed25519.PublicKey(b[1:])}
	if b[0] != algCosignature || name == "" || hash != fmt.Sprintf("%08x", w.KeyHash()) {
		return nil, bad
	}
	return w, nil
}

// cosigner checks cosignature/v1 (c2sp.org/tlog-cosignature): a time and the checkpoint.
type cosigner struct {
	name string
	key  ed25519.PublicKey
}

func (w cosigner) Name() string { return w.name }

func (w cosigner) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(w.name+"\n\x04"), w.key...))
	return binary.BigEndian.Uint32(sum[:4])
}

func (w cosigner) Verify(text, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	head := fmt.Sprintf("cosignature/v1\ntime %d\n", binary.BigEndian.Uint64(sig))
	return ed25519.Verify(w.key, append([]byte(head), text...), sig[8:])
}

// checkpoint is the signed head of a log (c2sp.org/tlog-checkpoint).
type checkpoint struct {
	origin string
	size   int64
	root   tlog.Hash
	seen   []string // by which witness, and when
	extra  int      // signatures that no given key checks
}

func openCheckpoint(signed []byte, keys []note.Verifier) (checkpoint, error) {
	var c checkpoint
	n, err := note.Open(signed, note.VerifierList(keys...))
	if errors.As(err, new(*note.UnverifiedNoteError)) {
		return c, errors.New("the checkpoint is signed with a key that is not given here, perhaps an earlier one of the log: memdesk audit key prints all")
	}
	if err != nil {
		return c, fmt.Errorf("the checkpoint: %w", err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 {
		return c, errors.New("the checkpoint has not the three lines: origin, size, root")
	}
	c.origin, c.extra = lines[0], len(n.UnverifiedSigs)
	if c.size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || strconv.FormatInt(c.size, 10) != lines[1] {
		return c, errors.New("the checkpoint's size is no number")
	}
	if c.root, err = parseHash(lines[2]); err != nil {
		return c, err
	}
	ours := false
	for _, s := range n.Sigs {
		i := slices.IndexFunc(keys, func(v note.Verifier) bool { return v.Name() == s.Name && v.KeyHash() == s.Hash })
		if w, ok := keys[i].(cosigner); ok {
			sig, err := base64.StdEncoding.DecodeString(s.Base64)
			if err != nil || len(sig) < 12 {
				return c, errors.New("a witness's signature is damaged")
			}
			at := time.Unix(int64(binary.BigEndian.Uint64(sig[4:])), 0).UTC()
			c.seen = append(c.seen, fmt.Sprintf("seen by witness %s at %s", w.name, at.Format(time.RFC3339)))
			continue
		}
		ours = ours || s.Name == c.origin
	}
	if !ours {
		return c, errors.New("the checkpoint was not signed by the log that it names")
	}
	return c, nil
}

func parseHash(s string) (h tlog.Hash, err error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != tlog.HashSize || base64.StdEncoding.EncodeToString(b) != s {
		return h, errors.New("a hash is damaged")
	}
	return tlog.Hash(b), nil
}

// proof is a record, its path in the tree and the checkpoint (c2sp.org/tlog-proof; the record is
// the extra data).
type proof struct {
	record []byte
	index  int64
	path   tlog.RecordProof
	signed []byte
}

const proofHead = "c2sp.org/tlog-proof@v1"

func parseProof(b []byte) (proof, error) {
	var p proof
	head, signed, ok := bytes.Cut(b, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !ok || len(lines) < 3 || lines[0] != proofHead {
		return p, errors.New("this is neither a proof nor a receipt")
	}
	record, ok1 := strings.CutPrefix(lines[1], "extra ")
	index, ok2 := strings.CutPrefix(lines[2], "index ")
	var err1, err2 error
	p.record, err1 = base64.StdEncoding.Strict().DecodeString(record)
	p.index, err2 = strconv.ParseInt(index, 10, 64)
	if !ok1 || !ok2 || err1 != nil || err2 != nil || p.index < 0 ||
		strconv.FormatInt(p.index, 10) != index || base64.StdEncoding.EncodeToString(p.record) != record {
		return p, errors.New("the proof is damaged")
	}
	for _, line := range lines[3:] {
		h, err := parseHash(line)
		if err != nil {
			return p, err
		}
		p.path = append(p.path, h)
	}
	p.signed = signed
	return p, nil
}

// record holds the checked members of a stored line; a log writes each member once.
type record struct {
	Seq    uint64 `json:"seq"`
	TS     string `json:"ts"`
	Action string `json:"action"`
	Phase  string `json:"phase"`
	Store  string `json:"store"`
	Result string `json:"result"`
	Plan   string `json:"plan"`
	Scope  string `json:"scope"`
}

// check is whether the record stands under the checkpoint.
func (p proof) check(keys []note.Verifier) (checkpoint, record, error) {
	var r record
	c, err := openCheckpoint(p.signed, keys)
	if err != nil {
		return c, r, err
	}
	if err := tlog.CheckRecord(p.path, c.size, c.root, p.index, tlog.RecordHash(p.record)); err != nil {
		return c, r, errors.New("the record is not under the checkpoint")
	}
	if err := json.Unmarshal(p.record, &r); err != nil {
		return c, r, errors.New("the record is no JSON")
	}
	if _, err := time.Parse(time.RFC3339Nano, r.TS); err != nil { // it is printed: nothing else may stand there
		return c, r, errors.New("the record's time is damaged")
	}
	return c, r, nil
}

func verifyProof(b []byte, keys []note.Verifier) ([]string, error) {
	p, err := parseProof(b)
	if err != nil {
		return nil, err
	}
	c, r, err := p.check(keys)
	if err != nil {
		return nil, err
	}
	return append([]string{
		fmt.Sprintf("VERIFIED: record %d of log %s", r.Seq, c.origin),
		fmt.Sprintf("%s: %q %q in %q, result %q", r.TS, r.Action, r.Phase, r.Store, r.Result),
	}, c.words()...), nil
}

func (c checkpoint) words() []string {
	out := append([]string{fmt.Sprintf("under the checkpoint of %d records", c.size)}, c.seen...)
	if c.extra > 0 {
		out = append(out, fmt.Sprintf("%d more signatures stand there, which no given key checks", c.extra))
	}
	if len(c.seen) == 0 {
		out = append(out, "no witness whose key was given has signed: the time is the log's own")
	}
	return out
}

// envelope is DSSE (secure-systems-lab/dsse) with one signature.
type envelope struct {
	Type       string      `json:"payloadType"`
	Payload    string      `json:"payload"`
	Signatures []signature `json:"signatures"`
}

type signature struct {
	KeyID     string `json:"keyid"`
	PublicKey string `json:"public_key"`
	Sig       string `json:"sig"`
}

// payload holds the checked members of a receipt (docs/receipt-v1.md).
type payload struct {
	Request   string    `json:"subject_request_id"`
	Status    string    `json:"status"`
	Finished  string    `json:"finished_time"`
	Plan      string    `json:"plan_hash"`
	Forgotten int64     `json:"forgotten"`
	Redacted  int64     `json:"redacted"`
	Proof     *string   `json:"inclusion_proof"`
	Signed    *string   `json:"checkpoint"`
	Cosigned  *[]string `json:"cosignatures"`
}

// bodyEnd is where the part of a receipt ends that its record in the log names by its digest; a
// line end and one space cannot stand in a JSON string.
const bodyEnd = ",\n \"checkpoint\": "

const (
	receiptType   = "application/vnd.memdesk.erasure-receipt+json;v=1"
	receiptAction = "gdpr.receipt"
)

func verifyReceipt(b []byte, keys []note.Verifier) ([]string, error) {
	raw, err := openEnvelope(b)
	if err != nil {
		return nil, err
	}
	var r payload
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, errors.New("the receipt's payload is no JSON")
	}
	if r.Proof == nil || r.Signed == nil || r.Cosigned == nil {
		return nil, errors.New("the receipt carries no proof: its log had no checkpoint")
	}
	body, rest, ok := bytes.Cut(raw, []byte(bodyEnd))
	if !ok || !bytes.Equal(rest, tail(r)) {
		return nil, errors.New("the receipt does not end with checkpoint, inclusion_proof and cosignatures")
	}
	p, err := parseProof([]byte(*r.Proof + *r.Signed + strings.Join(*r.Cosigned, "")))
	if err != nil {
		return nil, err
	}
	c, rec, err := p.check(keys)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	if rec.Action != receiptAction || rec.Scope != "sha256:"+hex.EncodeToString(sum[:]) || rec.Plan != r.Plan {
		return nil, errors.New("the proof is that of another record: the log does not name this receipt")
	}
	return append([]string{
		fmt.Sprintf("VERIFIED: receipt of request %q, status %q, finished %q", r.Request, r.Status, r.Finished),
		fmt.Sprintf("%d items forgotten, %d redacted; plan %.16q", r.Forgotten, r.Redacted, r.Plan),
		fmt.Sprintf("record %d of log %s names it, written %s", rec.Seq, c.origin, rec.TS),
	}, c.words()...), nil
}

// tail is the end of a payload as it is written.
func tail(r payload) []byte {
	quote := func(v any) []byte {
		b, err := json.MarshalIndent(v, " ", " ")
		if err != nil {
			return nil
		}
		return b
	}
	out := quote(*r.Signed)
	out = append(append(out, ",\n \"inclusion_proof\": "...), quote(*r.Proof)...)
	out = append(append(out, ",\n \"cosignatures\": "...), quote(*r.Cosigned)...)
	return append(out, "\n}"...)
}

// openEnvelope checks the signature with the key that stands beside it, and that no byte of the
// file could be another. Whose key it is, the log says: its record names the receipt.
func openEnvelope(b []byte) ([]byte, error) {
	var e envelope
	if err := json.Unmarshal(b, &e); err != nil || e.Type != receiptType || len(e.Signatures) != 1 {
		return nil, errors.New("this is no receipt of version 1")
	}
	if again, err := json.MarshalIndent(e, "", "  "); err != nil || !bytes.Equal(append(again, '\n'), b) {
		return nil, errors.New("the receipt is not in its only spelling")
	}
	s := e.Signatures[0]
	raw, err1 := base64.StdEncoding.Strict().DecodeString(e.Payload)
	sig, err2 := base64.StdEncoding.Strict().DecodeString(s.Sig)
	public, err3 := hex.DecodeString(s.PublicKey)
	if errors.Join(err1, err2, err3) != nil || len(public) != ed25519.PublicKeySize || base64.StdEncoding.EncodeToString(raw) != e.Payload ||
		base64.StdEncoding.EncodeToString(sig) != s.Sig || hex.EncodeToString(public) != s.PublicKey {
		return nil, errors.New("the receipt's envelope is damaged")
	}
	id := sha256.Sum256(append([]byte("memdesk-receipt-key-id\x00"), public...))
	if s.KeyID != hex.EncodeToString(id[:]) {
		return nil, errors.New("the receipt names its key by another id")
	}
	signed := append(fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(e.Type), e.Type, len(raw)), raw...)
	if !ed25519.Verify(public, signed, sig) {
		return nil, errors.New("the receipt is not as it was signed")
	}
	return raw, nil
}
