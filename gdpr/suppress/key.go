// Package suppress keeps an erased person from coming back: it holds only keyed pseudonyms, and refuses to
// retain a text that names one of them. It searches and erases nothing itself.
package suppress

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"sync"

	"memdesk/gdpr/subject"
	"memdesk/internal/keyfile"
)

// Key makes pseudonyms. Without it nobody can tell whose a pseudonym is; with it a typed id can be looked up.
type Key struct {
	id   string
	idle *sync.Pool // of mac
}

const keyName = "pseudonym"

// ReadKey reads the key; fs.ErrNotExist when there is none yet.
func ReadKey(path string) (Key, error) { return keyOf(keyfile.Read(path, keyName)) }

// LoadKey reads the key, or makes it when there is none.
func LoadKey(path string) (Key, error) { return keyOf(keyfile.Load(path, keyName)) }

func keyOf(secret []byte, err error) (Key, error) {
	if err != nil {
		return Key{}, err
	}
	return newKey(secret), nil
}

func newKey(secret []byte) Key {
	sum := sha256.Sum256(append([]byte("memdesk-pseudonym-key-id\x00"), secret...))
	return Key{hex.EncodeToString(sum[:4]), &sync.Pool{New: func() any { return &mac{Hash: hmac.New(sha256.New, secret)} }}}
}

// Pseudonym is "hmac:<key id>:<128 bits>" of an identifier, the same for any case and width.
func (k Key) Pseudonym(id string) string {
	return HashPrefix + k.id + ":" + hexSum(k.sum("subject", subject.Normal(id)))
}

// made reports whether a pseudonym is of this key.
func (k Key) made(pseudonym string) bool { return strings.HasPrefix(pseudonym, HashPrefix+k.id+":") }

// hexSum is a hash in the form of the files.
func hexSum(h subject.Sum) string { return hex.EncodeToString(h[:]) }

// parseHash reads the form of hexSum; false for anything else.
func parseHash(s string) (subject.Sum, bool) {
	var h subject.Sum
	n, err := hex.Decode(h[:], []byte(s[:min(len(s), 2*len(h))]))
	return h, err == nil && n == len(h) && len(s) == 2*len(h)
}

// mac is an idle hash of a key, with room for what it hashes: a sweep hashes every word of a store.
type mac struct {
	hash.Hash
	buf []byte
}

func (k Key) sum(label, text string) subject.Sum {
	m := k.idle.Get().(*mac)
	defer k.idle.Put(m)
	m.Reset()
	m.buf = append(append(append(m.buf[:0], label...), 0), text...)
	m.Write(m.buf)
	m.buf = m.Sum(m.buf[:0])
	return subject.Sum(m.buf[:16])
}

// A text longer than longText, in bytes, is searched with the hashes of up to maxRemembered of its parts remembered:
// one that repeats itself, as a hostile one may, has few. In a short text that costs more than it saves.
const (
	longText      = 32 << 10
	maxRemembered = 1 << 16
)

// remembering is sum for the search of one text.
func (k Key) remembering() subject.Hash {
	type part struct{ label, text string }
	known := map[part]subject.Sum{}
	return func(label, text string) subject.Sum {
		h, ok := known[part{label, text}]
		if !ok {
			h = k.sum(label, text)
			if len(known) < maxRemembered {
				known[part{label, text}] = h
			}
		}
		return h
	}
}

// HashPrefix is the prefix of every keyed hash.
const HashPrefix = "hmac:"

// Item is the keyed hash of an item's address.
func (k Key) Item(store, id string) string {
	return HashPrefix + k.id + ":" + hexSum(k.sum("item", store+"\x00"+id))
}
