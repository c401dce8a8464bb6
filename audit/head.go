package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"syscall"

	"memdesk/internal/atomicfile"
)

const (
	headFile = "head.json"
	// headSize is fixed: one sector, overwritten in place with one write, which
	// needs no free space and is not torn by a crash.
	headSize = 512
)

// head is the saved identity of the newest segment and its last record. Members
// are in canonical order.
type head struct {
	Boot    string `json:"boot"`  // device numbers are compared within one boot only
	Check   string `json:"check"` // over all other fields: no byte can be flipped unseen
	Device  uint64 `json:"device"`
	Hash    string `json:"hash"`
	Inode   uint64 `json:"inode"`
	Segment string `json:"segment"`
	Seq     uint64 `json:"seq"`
	Size    int64  `json:"size"`
	Tail    int64  `json:"tail"` // offset of the last record
	V       int    `json:"v"`
}

func (h head) encode() ([]byte, error) {
	h.Check = ""
	bare, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode head: %w", err)
	}
	sum := sha256.Sum256(append([]byte("memdesk-audit-head\x00"), bare...))
	h.Check = hex.EncodeToString(sum[:16])
	b, err := json.Marshal(h)
	if err != nil || len(b) >= headSize {
		return nil, errors.Join(errors.New("encode head"), err)
	}
	b = append(b, bytes.Repeat([]byte{' '}, headSize-1-len(b))...)
	return append(b, '\n'), nil
}

// parseHead accepts exactly what encode writes.
func parseHead(b []byte) (head, error) {
	var h head
	if err := json.Unmarshal(b, &h); err != nil {
		return head{}, errors.New("head.json is damaged")
	}
	again, err := h.encode() // with the check computed again
	if err != nil || !bytes.Equal(again, b) {
		return head{}, errors.New("head.json is damaged")
	}
	h.Check = ""
	n, ok := segmentNumber(h.Segment)
	if !ok || n == 0 || h.V != version || h.Seq == 0 || !isDigest([]byte(h.Hash)) || h.Tail < 0 || h.Tail >= h.Size {
		return head{}, errors.New("head.json is damaged")
	}
	return h, nil
}

// readHead returns fs.ErrNotExist when there is no head.
func (l *Log) readHead() (head, error) {
	info, err := l.fs.Lstat(l.path(headFile))
	if err != nil {
		return head{}, bare(err)
	}
	if !info.Mode().IsRegular() || info.Size() != headSize {
		return head{}, errors.New("head.json is damaged")
	}
	b, err := readFile(l.fs, l.path(headFile), headSize)
	if err != nil {
		return head{}, fmt.Errorf("read head: %w", err)
	}
	return parseHead(b)
}

// writeHead overwrites the head in place and flushes it.
func (l *Log) writeHead(h head) error {
	b, err := h.encode()
	if err != nil {
		return err
	}
	f, err := l.fs.OpenFile(l.path(headFile), os.O_WRONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("save head: %w", bare(err))
	}
	if _, err = f.WriteAt(b, 0); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("save head: %w", bare(err))
	}
	return nil
}

// replaceHead writes a new head when there is none to overwrite.
func (l *Log) replaceHead(h head) error {
	b, err := h.encode()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteFS(l.fs, l.path(headFile), b, atomicfile.Options{}); err != nil {
		return fmt.Errorf("save head: %w", bare(err))
	}
	return nil
}

// identity is the device and inode of a file.
func identity(info fs.FileInfo) (device, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), st.Ino
	}
	return 0, 0
}

var segmentName = regexp.MustCompile(`^log-([0-9]{6,18})\.jsonl$`)

// segmentNumber reads a segment's name; false when it is no segment.
func segmentNumber(name string) (uint64, bool) {
	m := segmentName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseUint(m[1], 10, 64)
	return n, err == nil && segment(n) == name
}

func segment(n uint64) string { return fmt.Sprintf("log-%06d.jsonl", n) }
