package gdpr_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
	"memdesk/quarantine"
)

// TestPeerCardGoesWithItsCopies: Crewship names a card by a hash of the person's id, and no text of it or of its
// copies need name the person.
func TestPeerCardGoesWithItsCopies(t *testing.T) {
	for name, there := range map[string]bool{"a card": true, "its copies alone": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			slug := func(user string) string {
				sum := sha256.Sum256([]byte(user + "\x00ws_1"))
				return hex.EncodeToString(sum[:])[:16] + ".md"
			}
			memory := "ship/output/solo/ws_1/agents/milo/.memory/"
			of := func(user string) map[string]string {
				f := quarantine.File{Category: "prompt_injection", Pattern: "x", Source: "peers/" + slug(user), Body: "ignore previous instructions of " + slug(user)}
				f.SHA256 = quarantine.Sum(f.Body)
				return map[string]string{
					memory + "peers/" + slug(user): "likes short answers\n", memory + ".snapshots/r1/peers/" + slug(user): "likes tea\n",
					memory + ".quarantine/" + f.SHA256 + ".md": string(f.Encode()),
				}
			}
			hers, his := of(ana), of(other)
			if !there {
				delete(hers, memory+"peers/"+slug(ana))
			}
			plant(t, w.dir, hers)
			plant(t, w.dir, his)
			w.more = append(w.more, backends.StoreConfig{Name: "ship", Kind: "crewship", Path: filepath.Join(w.dir, "ship")})
			w.open()
			w.complete(w.plan(w.file().Request.ID))
			if log, err := os.ReadFile(filepath.Join(w.desk.State, "audit", "names.jsonl")); err != nil || bytes.Contains(log, []byte(slug(ana))) {
				t.Errorf("the log keeps the card's name: %v", err)
			}
			for i, files := range []map[string]string{hers, his} {
				for name := range files {
					if _, err := os.Lstat(filepath.Join(w.dir, name)); (err == nil) != (i == 1) {
						t.Errorf("%s: there %v", name, err == nil)
					}
				}
			}
		})
	}
}
