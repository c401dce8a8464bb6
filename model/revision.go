package model

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Revision identifies the writable content of an item. It is a hash over
// writable fields and body only, so reading an item never changes it.
type Revision string

// Absent in IfMatch means that the item must not exist.
const Absent Revision = "absent"

// RevisionOf hashes the writable fields of a document and its body. Fields count
// in their order; read-only ones do not count. Every part is framed by its
// length, so no two documents share an encoding.
func RevisionOf(d Document) Revision {
	h := sha256.New()
	var n [8]byte
	part := func(s string) {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	for _, f := range d.Meta {
		if !f.ReadOnly {
			part(f.Name)
			part(f.Value)
		}
	}
	part("")
	part(d.Body)
	return Revision(hex.EncodeToString(h.Sum(nil)[:16]))
}

// CheckMatch compares a caller's expected revision with the current one. exists says whether the item exists,
// current is then its revision.
func CheckMatch(op string, want Revision, exists bool, current Revision) error {
	switch {
	case want == "":
		return nil
	case want == Absent && exists:
		return Errorf(Conflict, op, "the item exists already, at revision %s", current)
	case want == Absent:
		return nil
	case !exists:
		return Errorf(Conflict, op, "there is no such item; revision %s was expected", want)
	case want != current:
		return Errorf(Conflict, op, "the item has changed: revision %s was expected, %s is there", want, current)
	}
	return nil
}
