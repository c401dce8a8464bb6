// Package checkpoint has the texts that prove a log to others: the checkpoint (c2sp.org/tlog-checkpoint), the
// cosignature of a witness (c2sp.org/tlog-cosignature) and the proof of one record (c2sp.org/tlog-proof). It
// reads and writes no files and keeps no keys.
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

// Checkpoint is the head of a log: how many records it has, and the root over them.
type Checkpoint struct {
	Origin string // name of the log, which is also the name of its key
	Size   int64
	Root   tlog.Hash
}

// Text is the signed text.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root)
}

// Parse reads a checkpoint's text. Lines after the root are extensions and ignored.
func Parse(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 4 || lines[0] == "" || lines[len(lines)-1] != "" {
		return Checkpoint{}, errors.New("checkpoint has not the three lines: origin, size, root")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, errors.New("checkpoint's size is no number")
	}
	root, err := parseHash(lines[2])
	if err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint's root: %w", err)
	}
	return Checkpoint{Origin: lines[0], Size: size, Root: root}, nil
}

// parseHash reads one hash in canonical base64.
func parseHash(s string) (tlog.Hash, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != tlog.HashSize || strings.ContainsAny(s, "\r\n") {
		return tlog.Hash{}, errors.New("not a hash in base64")
	}
	return tlog.Hash(b), nil
}

// Origin is the first line of a signed checkpoint, whose signatures are not checked.
func Origin(signed []byte) string {
	first, _, _ := bytes.Cut(signed, []byte{'\n'})
	return string(first)
}

// Open checks those signatures of a signed checkpoint for which known has a key; at least one must be valid.
// The origin must be the name of the key that signed as the log.
func Open(signed []byte, known ...note.Verifier) (Checkpoint, *note.Note, error) {
	n, err := note.Open(signed, note.VerifierList(known...))
	if err != nil {
		return Checkpoint{}, nil, err
	}
	c, err := Parse(n.Text)
	if err != nil {
		return Checkpoint{}, nil, err
	}
	for _, s := range n.Sigs {
		if s.Name == c.Origin {
			return c, n, nil
		}
	}
	return Checkpoint{}, nil, fmt.Errorf("no key of the log %q has signed this checkpoint", c.Origin)
}

// Split splits a text into its signed checkpoints, each followed by an empty line. A part that is no
// checkpoint is returned as it is, so that the caller reports it; two empty lines end one that was cut short.
func Split(text []byte) [][]byte {
	var out [][]byte
	var one bytes.Buffer
	signed, gap := false, false
	end := func() {
		if one.Len() > 0 {
			out = append(out, bytes.Clone(one.Bytes()))
		}
		one.Reset()
		signed, gap = false, false
	}
	for line := range bytes.Lines(text) {
		empty := len(bytes.TrimSpace(line)) == 0
		if empty && (signed || gap || one.Len() == 0) {
			end()
			continue
		}
		gap = empty
		signed = signed || bytes.HasPrefix(line, []byte("— "))
		one.Write(line)
	}
	end()
	return out
}
