package checkpoint

import (
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// proofHead is the first line of a proof (c2sp.org/tlog-proof).
const proofHead = "c2sp.org/tlog-proof@v1"

// Proof proves that a log contains a record. Its text form is a C2SP proof with the record as extra data.
type Proof struct {
	Record     []byte // the stored line, without its newline
	Index      int64  // from 0
	Path       tlog.RecordProof
	Checkpoint []byte // signed
}

// Inclusion is the part before the checkpoint, with the empty line between them.
func (p Proof) Inclusion() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nextra %s\nindex %d\n", proofHead, base64.StdEncoding.EncodeToString(p.Record), p.Index)
	for _, h := range p.Path {
		b.WriteString(h.String() + "\n")
	}
	return b.String() + "\n"
}

// Bytes is the whole proof as a file.
func (p Proof) Bytes() []byte { return append([]byte(p.Inclusion()), p.Checkpoint...) }

// Check verifies that the record is under a checkpoint that one of the keys signed as the log.
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
