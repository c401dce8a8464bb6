package cli_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// sshKey writes a private key and returns its file and fingerprint.
func sshKey(t *testing.T, name string) (file, fingerprint string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return file, ssh.FingerprintSHA256(key)
}

// quiet fills the memory with texts about no subject.
func (d *desk) quiet() {
	for i := range 12 {
		d.write(fmt.Sprintf("daily/2026-06-%02d.md", i+1), "- quiet\n")
	}
}

// TestApprovalFromAScript: the requester is identified by a key, and only another key may approve; each
// refusal must be in the log.
func TestApprovalFromAScript(t *testing.T) {
	d := newDesk(t)
	d.quiet()
	d.write("daily/2026-07-01.md", "- usr_ida9931 called\n- quiet\n")
	annKey, ann := sshKey(t, "ann")
	annOther, annToo := sshKey(t, "ann2")
	benKey, ben := sshKey(t, "ben")
	config := filepath.Join(d.dir, "config.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "[operator]\nnames = { %q = \"ann\", %q = \"ann\", %q = \"ben\" }\n[gdpr]\nrequire_approval = true\napprovers = [%q, %q, %q]\n", ann, annToo, ben, ann, annToo, ben), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) result { return d.run(append([]string{"--config", config}, args...)...) }
	request := func(more ...string) (id, hash string) {
		t.Helper()
		r := run(append([]string{"gdpr", "request", "--subject", "usr_ida9931", "--ground", "asked", "--yes", "--json"}, more...)...).want(t, 0)
		id, _ = r.last(t, "request")["request"].(string)
		if (len(more) == 0) != strings.Contains(r.err, "nobody could approve") {
			t.Errorf("filed with %q it says %q", more, r.err)
		}
		hash, _ = run("gdpr", "plan", id, "--json").want(t, 0).last(t, "summary")["plan_hash"].(string)
		return id, hash
	}
	refused := func(r result, why string) {
		t.Helper()
		r.want(t, 6, why)
	}
	id, hash := request()
	refused(run("gdpr", "approve", id, "--plan-hash", hash, "--key", benKey), "no key of the requester")
	run("gdpr", "withdraw", id, "--yes").want(t, 2, "needs its reason")
	run("gdpr", "withdraw", id, "--reason", "filed without a key").want(t, 2, "--yes")
	w := run("gdpr", "withdraw", id, "--reason", "filed without a key", "--yes", "--json").want(t, 0).last(t, "request")
	if w["state"] != "withdrawn" || w["subject"] != nil {
		t.Errorf("withdrawn: %v", w)
	}
	run("gdpr", "withdraw", id, "--reason", "again", "--yes").want(t, 5, "was withdrawn")
	run("gdpr", "plan", id).want(t, 5, "was withdrawn")
	run("gdpr", "withdraw", "er-20260101-00000000", "--reason", "x", "--yes").want(t, 4)
	stray, _ := sshKey(t, "stray")
	run("gdpr", "request", "--subject", "usr_ida9931", "--ground", "asked", "--yes", "--key", stray).want(t, 2, "nobody knows this key")

	id, hash = request("--key", annKey)
	refused(run("gdpr", "erase", id, "--plan-hash", hash, "--yes"), "nobody else has approved")
	refused(run("gdpr", "approve", id, "--plan-hash", hash, "--key", annKey), "the requester's own")
	refused(run("gdpr", "approve", id, "--plan-hash", hash, "--key", annOther), "under one name")
	if n := d.refusals(); n != 4 {
		t.Errorf("%d refusals in the audit log; want 4", n)
	}
	const void = "the approval was of another plan: it no longer counts"
	run("gdpr", "approve", id, "--plan-hash", hash[:16], "--key", benKey).want(t, 0, "approved")
	if same := run("gdpr", "plan", id).want(t, 0); strings.Contains(same.err, void) {
		t.Errorf("the same plan voids its approval: %s", same.err)
	}
	d.write("daily/2026-07-02.md", "- usr_ida9931 wrote\n- quiet\n")
	hash, _ = run("gdpr", "plan", id, "--json").want(t, 0, void).last(t, "summary")["plan_hash"].(string)
	run("gdpr", "approve", id, "--plan-hash", hash, "--key", benKey).want(t, 0, "approved")
	run("gdpr", "erase", id, "--plan-hash", hash, "--yes").want(t, 0, "complete")
	run("gdpr", "withdraw", id, "--reason", "too late", "--yes").want(t, 5, "complete")
}

// TestHoldsFromAScript: an item is held, another request's plan names the holding request, and the hold is
// lifted.
func TestHoldsFromAScript(t *testing.T) {
	d := newDesk(t)
	d.quiet()
	d.write("daily/2026-07-01.md", "- usr_ida9931 called usr_bob7\n- quiet\n")
	request := func(who string) string {
		t.Helper()
		id, _ := d.run("gdpr", "request", "--subject", who, "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
		return id
	}
	ida, bob := request("usr_ida9931"), request("usr_bob7")
	ref := "crewship:daily/2026-07-01.md"
	d.run("gdpr", "hold", ida, "--item", "crewship:daily/2020-01-01.md", "--ground", "a claim").want(t, 4, "nothing was put on hold")
	d.run("gdpr", "hold", ida, "--item", ref, "--item", "crewship:daily/2020-01-01.md", "--ground", "a claim").want(t, 4, "nothing was put on hold")
	d.run("gdpr", "unhold", ida, "--item", ref).want(t, 4, "is not on hold")
	d.run("gdpr", "hold", ida, "--item", ref, "--ground", "a claim of hers", "--yes").want(t, 0) // as a script gives it to every change
	item := d.run("gdpr", "plan", bob, "--json").want(t, 0).last(t, "item")
	if item["action"] != "hold" || !strings.Contains(fmt.Sprint(item["ground"]), ida) || strings.Contains(fmt.Sprint(item["ground"]), "claim") {
		t.Errorf("bob's plan: %v", item)
	}
	d.run("forget", ref, "--yes").want(t, 6, ida)
	d.run("gdpr", "unhold", ida, "--item", ref).want(t, 0)
	if item := d.run("gdpr", "plan", bob, "--json").want(t, 0).last(t, "item"); item["action"] != "redact" {
		t.Errorf("bob's plan after: %v", item)
	}
	d.run("gdpr", "hold", ida, "--item", ref, "--ground", "a claim of hers").want(t, 0)
	if err := os.Remove(filepath.Join(d.mem, "daily", "2026-07-01.md")); err != nil {
		t.Fatal(err)
	}
	d.run("gdpr", "plan", ida).want(t, 4, "gdpr unhold "+ida+" --item "+ref)
	d.run("gdpr", "unhold", ida, "--item", ref).want(t, 0)
	d.run("gdpr", "plan", ida).want(t, 0)
}

// TestASecondRequestNamesTheFirst: it is filed, and both forms of output must say that the subject has
// another open request.
func TestASecondRequestNamesTheFirst(t *testing.T) {
	d := newDesk(t)
	d.quiet()
	file := func(more ...string) result {
		return d.run(append([]string{"gdpr", "request", "--subject", "usr_ida9931", "--ground", "asked", "--yes"}, more...)...).want(t, 0)
	}
	one := file("--json")
	first, _ := one.last(t, "request")["request"].(string)
	if note, ok := one.last(t, "request")["note"]; ok || strings.Contains(one.err, "open") {
		t.Errorf("the first says %v, %q", note, one.err)
	}
	if note, _ := file("--json").last(t, "request")["note"].(string); !strings.Contains(note, first) {
		t.Errorf("note %q does not name %s", note, first)
	}
	if third := file(); !strings.Contains(third.err, first) {
		t.Errorf("stderr %q does not name %s", third.err, first)
	}
}

// TestEraseOpensAStoreWithoutItsSign: a run removed the file that identifies a store and could not do the rest. The
// next run must open the store all the same.
func TestEraseOpensAStoreWithoutItsSign(t *testing.T) {
	d := newDesk(t)
	work, graph := filepath.Join(d.dir, "work"), filepath.Join(d.dir, "graph.jsonl")
	must(t, os.MkdirAll(work, 0o755))
	must(t, os.WriteFile(filepath.Join(work, "MEMORY.md"), []byte("of usr_ida9931\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(work, "AGENTS.md"), []byte("be kind\n"), 0o600))
	must(t, os.WriteFile(graph, []byte(`{"type":"entity","name":"usr_ida9931","entityType":"person","observations":["tea"]}`+"\n"+`{"type":"entity","name":"quay","entityType":"place","observations":["wet"]}`+"\n"), 0o600))
	on := func(args ...string) result {
		return d.bare(append([]string{"--open", "openclaw=" + work, "--open", "mcpgraph=" + graph}, args...)...)
	}
	id, _ := on("gdpr", "request", "--subject", "usr_ida9931", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	last := on("gdpr", "plan", id, "--json").want(t, 0).last(t, "summary")
	hash, _ := last["plan_hash"].(string)
	erase := []string{"gdpr", "erase", id, "--plan-hash", hash, "--confirm-count", fmt.Sprint(last["items"]), "--yes"}
	must(t, os.Rename(graph, graph+".away"))
	on(erase...).want(t, 3, "mcpgraph")
	if _, err := os.Stat(filepath.Join(work, "MEMORY.md")); err == nil {
		t.Fatal("the memory is still there")
	}
	must(t, os.Rename(graph+".away", graph))
	on(erase...).want(t, 0, "complete")
}
