package gdpr

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
)

// TestMadeByChance: what memdesk made names nobody, however its bytes read. A text of others with the same bytes does, in
// another member, another form or another file.
func TestMadeByChance(t *testing.T) {
	m, err := subject.New("u1")
	if err != nil {
		t.Fatal(err)
	}
	var (
		hex16  = "977531207c3281c7"
		hex32  = "7323a102f79d38fc11826e4c575311dd"
		hash   = "7531dbdbaf8ddd74fcc1f8ef16b9fb0f80c3d2cdb54a21a5608a2200f496a2e8"
		keyed  = "hmac:" + hex16 + ":" + hex32
		b43    = "/u1+" + strings.Repeat("Ab", 19) + "A"
		sig    = b43 + b43 + "=="
		tree   = "memdesk/audit/" + hex16
		signer = tree + "+0badcafe+" + b43 + "A"
		note   = tree + "\n7\n" + b43 + "=\n\n— " + tree + " " + b43 + b43 + "Ab/+A=\n"
		record = `{"action":"gdpr.receipt","hash":"` + hash + `","scope":"sha256:` + hash + `","subject":"` + keyed + `"}`
		proof  = "c2sp.org/tlog-proof@v1\nextra " + base64.StdEncoding.EncodeToString([]byte(record)) + "\nindex 5\n" + b43 + "=\n\n"
		tile   = strings.Repeat("\x90 u1 \x81\x02\x03", 28)
		escape = strings.NewReplacer("\n", `\n`)
		signed = func(payload string) string {
			return `{"payloadType":"` + receipt.PayloadType + `","payload":"` + base64.StdEncoding.EncodeToString([]byte(payload)) + `","signatures":[{"keyid":"` + hash + `","public_key":"` + hash + `","sig":"` + sig + `"}]}`
		}
	)
	for name, tt := range map[string]struct {
		path, file string
		named      bool
	}{
		"a record":                      {"audit/log-000001.jsonl", record + "\n", false},
		"its other members":             {"audit/log-000001.jsonl", `{"hash":"` + hash + `","prev":"` + hash + `","plan":"` + hash + `","seal":"` + hash + `","key":"` + hex16 + `","host":"` + hex16 + `","actor_key":"SHA256:` + b43 + `"}`, false},
		"a tree's record":               {"audit/log-000001.jsonl", `{"action":"audit.tree","scope":"` + signer + `"}`, false},
		"a row beside the log":          {"audit/names.jsonl", `{"target":"` + keyed + `","subject":"` + keyed + `","name":"db:n1"}`, false},
		"the head":                      {"audit/head.json", `{"check":"` + hex32 + `","hash":"` + hash + `"}   `, false},
		"the log's key":                 {"audit/key", "memdesk-audit-key-v1 " + hex16 + " " + hash + "\n", false},
		"another key":                   {"gdpr/keys/receipt", "memdesk-receipt-key-v1 " + hash + "\n", false},
		"the tree's key":                {"audit/tree/key", "PRIVATE+KEY+" + signer + "\n", false},
		"a checkpoint":                  {"audit/tree/checkpoint", note, false},
		"the tree":                      {"audit/tree/tree.json", `{"origin": "` + tree + `", "keys": [ "` + signer + `", "` + signer + `" ]}`, false},
		"known segments":                {"audit/known.json", `[{"from":"` + hash + `","roots":["` + b43 + `="]}]`, false},
		"a tile":                        {"audit/tree/tile/0/x001/000.p/7", tile, false},
		"a request":                     {"gdpr/requests/er-1.json", `{"pseudonym": "` + keyed + `", "plan_hash": "` + hash + `", "gone": [ "` + keyed + `", "` + keyed + `" ], "by_key": "SHA256:` + b43 + `"}`, false},
		"the suppression list":          {"gdpr/suppressed.json", `{"terms": [{"hash": "` + hex32 + `", "key": "` + hex32 + `"}]}`, false},
		"a receipt":                     {"gdpr/receipts/er-1.json", signed(`{"hash": "` + hash + `", "checkpoint": "` + escape.Replace(note) + `", "inclusion_proof": "` + escape.Replace(proof) + `"}`), false},
		"a job":                         {"jobs/1.jsonl", `{"salt":"` + hex32 + `"}` + "\n" + `{"step":"` + hex32 + `"}`, false},
		"an undo entry":                 {"undo/1.undo", `{"where":"` + hex16 + `"}` + "\ntea", false},
		"its text":                      {"undo/1.undo", `{"where":"` + hex16 + `"}` + "\n" + `{"where":"` + hex16 + `"}`, true},
		"an agent's note":               {"origin/ledger.jsonl", `{"hash":"` + hash + `"}`, true},
		"a row's revision":              {"origin/ledger.jsonl", `{"store":"db","id":"n1","revision":"` + hex32 + `"}` + "\n", false},
		"a remote store's revision":     {"origin/ledger.jsonl", `{"store":"db","id":"n1","revision":"u1"}` + "\n", true},
		"a row's id":                    {"origin/ledger.jsonl", `{"store":"db","id":"` + hex32 + `","revision":"` + hex32 + `"}` + "\n", true},
		"a plan":                        {"gdpr/plans/er-1.json", `{"steps": [{"revision": "` + hex32 + `"}]}`, false},
		"a plan's reason":               {"gdpr/plans/er-1.json", `{"steps": [{"reason": "` + hex32 + `"}]}`, true},
		"a draft":                       {"edit/1.json", `{"hash":"` + hash + `"}`, true},
		"another member":                {"audit/names.jsonl", `{"name":"` + hash + `"}`, true},
		"a text with a member":          {"audit/names.jsonl", `{"name":"\"hash\":\"` + hash + `\""}`, true},
		"a longer hash":                 {"audit/log-000001.jsonl", `{"hash":"` + hash + "00" + `"}`, true},
		"a name for a hash":             {"audit/log-000001.jsonl", `{"hash":"u1"}`, true},
		"a hash for a pseudonym":        {"gdpr/requests/er-1.json", `{"subject": "` + hash + `"}`, true},
		"a store's scope":               {"audit/log-000001.jsonl", `{"action":"retain","scope":"sha256:` + hash + `"}`, true},
		"a damaged record":              {"audit/log-000001.jsonl", `{"hash":"` + hash + `"`, true},
		"a key with more":               {"audit/key", "memdesk-audit-key-v1 " + hex16 + " " + hash + "\nu1\n", true},
		"a checkpoint with more":        {"audit/tree/checkpoint", note + "u1\n", true},
		"a tile without its name":       {"audit/tree/tile/0/000.p/.9.tmp." + hex16, tile, false},
		"no name that a tile gets":      {"audit/tree/tile/0/000.p/9.tmp." + hex16, tile, true},
		"a hidden file":                 {"audit/tree/tile/0/000.p/.7", tile, true},
		"more than a tile has":          {"audit/tree/tile/0/000.p/.999.tmp." + hex16, tile, true},
		"a tile that is cut":            {"audit/tree/tile/0/000.p/7", tile[1:], true},
		"a file beside the tiles":       {"audit/tree/tile/0/u1.txt", tile, true},
		"a text in a receipt":           {"gdpr/receipts/er-1.json", signed(`{"ground": "u1"}`), true},
		"a text in a record of a proof": {"gdpr/receipts/er-1.json", signed(`{"note": "` + escape.Replace(strings.Replace(proof, "index 5", "index 5\nu1", 1)) + `"}`), true},
	} {
		rep, kept, err := (&run{m: m}).scanOwn(t.Context(), tt.path, strings.NewReader(tt.file))
		if err != nil || (rep.Hits+kept > 0) != tt.named {
			t.Errorf("%s: %d hits, %d kept, %v; want them: %v", name, rep.Hits, kept, err, tt.named)
		}
		if raw, err := m.Scan(t.Context(), strings.NewReader(tt.file), nil); err != nil || raw.Hits == 0 {
			t.Errorf("%s: the bytes do not name the person: %v", name, err)
		}
	}
}

// TestARowStaysBesideARevision: a revision that names the person by chance erases no row of another item.
func TestARowStaysBesideARevision(t *testing.T) {
	m, err := subject.New("u1")
	if err != nil {
		t.Fatal(err)
	}
	names := traced(m, func(_, _, _ string) bool { return false })
	for row, want := range map[string]bool{
		`{"store":"db","id":"n1","revision":"7323a102f79d38fc11826e4c575311dd"}`: false,
		`{"store":"db","id":"7323a102f79d38fc11826e4c575311dd"}`:                 true,
		`{"store":"db","id":"n1","revision":"u1"}`:                               true,
	} {
		if got := names([]byte(row)); got != want {
			t.Errorf("%s: %v", row, got)
		}
	}
}

// TestPlanOfOthersByChance: a hash in the plan of another request must not make it void.
func TestPlanOfOthersByChance(t *testing.T) {
	m, err := subject.New("u1")
	if err != nil {
		t.Fatal(err)
	}
	x := &run{d: &Desk{State: t.TempDir()}, m: m}
	path := x.d.dir("plans", "er-2.json")
	for file, want := range map[string]bool{
		`{"hash": "7531dbdbaf8ddd74fcc1f8ef16b9fb0f80c3d2cdb54a21a5608a2200f496a2e8"}`: false,
		`{"reason": "of u1"}`: true,
	} {
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(file), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := x.fileNames(t.Context(), path); got != want || err != nil {
			t.Errorf("%s: %v, %v", file, got, err)
		}
	}
}
