package checkpoint

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// proofHead is the first line of a proof (c2sp.org/tlog-proof).
const proofHead = "c2sp.org/tlog-proof@v1"

// Proof shows that a record stands in a log. As text it is a C2SP proof whose extra data is
// the record.
type Proof struct {
	Record     []byte // the stored line, without its newline
	Index      int64  // from 0
	Path       tlog.RecordProof
	Checkpoint []byte // signed
}

// Inclusion is the part in front of the checkpoint, with the empty line between them.
func (p Proof) Inclusion() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nextra %s\nindex %d\n", proofHead, base64.StdEncoding.EncodeToString(p.Record), p.Index)
	for _, h := range p.Path {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	return b.String() + "\n"
}

// Bytes is the whole proof as a file.
func (p Proof) Bytes() []byte { return append([]byte(p.Inclusion()), p.Checkpoint...) }

// ParseProof reads what Bytes writes, in this spelling only.
func ParseProof(b []byte) (Proof, error) {
	var p Proof
	head, signed, ok := bytes.Cut(b, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	if !ok || len(lines) < 3 || lines[0] != proofHead {
		return p, errors.New("this is no proof of a record")
	}
	extra, ok1 := strings.CutPrefix(lines[1], "extra ")
	index, ok2 := strings.CutPrefix(lines[2], "index ")
	var err1, err2 error
	p.Record, err1 = base64.StdEncoding.Strict().DecodeString(extra)
	p.Index, err2 = strconv.ParseInt(index, 10, 64)
	if !ok1 || !ok2 || err1 != nil || err2 != nil || p.Index < 0 {
		return p, errors.New("the proof's record or index is damaged")
	}
	for _, line := range lines[3:] {
		h, err := parseHash(line)
		if err != nil {
			return p, fmt.Errorf("the proof's path: %w", err)
		}
		p.Path = append(p.Path, h)
	}
	p.Checkpoint = signed
	if !bytes.Equal(p.Bytes(), b) {
		return p, errors.New("the proof is not in its only spelling")
	}
	return p, nil
}

// Check is whether the record stands under a checkpoint that one of the keys signed as the log.
func (p Proof) Check(known ...note.Verifier) (Checkpoint, *note.Note, error) {
	c, n, err := Open(p.Checkpoint, known...)
	if err != nil {
		return c, n, err
	}
	if err := tlog.CheckRecord(p.Path, c.Size, c.Root, p.Index, tlog.RecordHash(p.Record)); err != nil {
		return c, n, fmt.Errorf("the record is not under the checkpoint: %w", err)
	}
	return c, n, nil
}
