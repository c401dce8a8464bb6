package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sample() Record {
	return Record{
		V: 1, Seq: 42, TS: time.Date(2026, 5, 21, 9, 0, 0, 5, time.UTC), Mono: 7, Boot: "b", Host: "h", PID: 12, Tool: "memdesk 1.0",
		Actor: "SHA256:x", Key: "k", Role: "operator", Session: "pts/0", Action: "forget", Store: "s", Tier: "t", Target: "hmac:k:00",
		Phase: PhaseOutcome, Link: 41, Result: OK, Counts: map[string]int64{"b": -2, "a": 1}, Prev: strings.Repeat("ab", 32),
	}
}

// The schema must be sorted by code point, to agree with a JSON library that sorts keys.
func TestSchemaIsSorted(t *testing.T) {
	var names []string
	for _, f := range schema {
		names = append(names, strings.Trim(f.lead, `{,":`))
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != int(fieldCount) {
		t.Errorf("fields are not sorted: %v", names)
	}
}

func TestEncodeAndParse(t *testing.T) {
	r := sample()
	b, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	var l line
	if err := parseLine(b, &l); err != nil || !l.intact() {
		t.Fatalf("intact %v, %v", l.intact(), err)
	}
	got, err := l.record()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// encoding/json sorts map keys: a second implementation of the canonical form.
	var any map[string]json.RawMessage
	if err := json.Unmarshal(b, &any); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(any)
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("another encoder writes\n%s\nthan\n%s (%v)", again, b, err)
	}
	// The hash as the package's doc comment defines it, from the parsed object.
	delete(any, "hash")
	bare, err := json.Marshal(any)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("memdesk-audit-record-v1\x00" + r.Prev + string(bare)))
	if hex.EncodeToString(sum[:]) != r.Hash {
		t.Error("the documented hash is another")
	}
}

// A verifier in another language, written from the documentation alone, must agree.
func TestForeignVerifier(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	r := sample()
	b, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", `
import sys, json, hashlib
raw = sys.stdin.buffer.read()
rec = json.loads(raw)
dump = lambda o: json.dumps(o, sort_keys=True, separators=(",", ":")).encode()
assert dump(rec) == raw, "canonical form"
h = rec.pop("hash")
assert hashlib.sha256(b"memdesk-audit-record-v1\0" + rec["prev"].encode() + dump(rec)).hexdigest() == h, "hash"
`)
	cmd.Stdin = bytes.NewReader(b)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestParseRefuses(t *testing.T) {
	r := sample()
	b, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	good := string(b)
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %s in %s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	cases := map[string]string{
		"empty":                 "",
		"another object":        `{}`,
		"whitespace":            swap(`"v":1`, `"v": 1`),
		"trailing bytes":        good + " ",
		"another version":       swap(`"v":1`, `"v":2`),
		"leading zero":          swap(`"pid":12`, `"pid":012`),
		"minus zero":            swap(`"mono":7`, `"mono":-0`),
		"a fraction":            swap(`"mono":7`, `"mono":7.0`),
		"an escape":             swap(`"forget"`, `"forge\u0074"`),
		"a control":             swap(`"forget"`, "\"for\x1bget\""),
		"a high byte":           swap(`"forget"`, "\"forg\u00e9t\""),
		"a field twice":         swap(`"phase"`, `"mono":7,"phase"`),
		"a field more":          swap(`"prev"`, `"praise":"x","prev"`),
		"a field less":          swap(`"role":"operator",`, ``),
		"counts not in order":   swap(`{"a":1,"b":-2}`, `{"b":-2,"a":1}`),
		"counts twice":          swap(`{"a":1,"b":-2}`, `{"a":1,"a":-2}`),
		"a text count":          swap(`{"a":1,"b":-2}`, `{"a":"1"}`),
		"an upper-case hash":    swap(r.Hash, strings.ToUpper(r.Hash)),
		"a short hash":          swap(r.Hash, r.Hash[1:]),
		"sequence zero":         swap(`"seq":42`, `"seq":0`),
		"a link forward":        swap(`"link":41`, `"link":42`),
		"an outcome of nothing": swap(`"link":41`, `"link":0`),
		"an intent with a link": swap(`"outcome"`, `"intent"`),
		"an unknown phase":      swap(`"outcome"`, `"maybe"`),
		"too long":              swap(`"forget"`, `"`+strings.Repeat("x", maxLine)+`"`),
	}
	for name, raw := range cases {
		var l line
		if err := parseLine([]byte(raw), &l); err == nil {
			t.Errorf("%s: accepted %s", name, raw)
		}
	}
}

// Unescaped text must never get into a line.
func TestEncodeRefusesRawText(t *testing.T) {
	r := sample()
	r.Store = `a","tier":"b`
	if b, err := r.encode(); err == nil {
		t.Errorf("encoded %s", b)
	}
}

func FuzzParseLine(f *testing.F) {
	r := sample()
	b, err := r.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var l line
		if parseLine(raw, &l) != nil {
			return
		}
		rec, err := l.record()
		if err != nil {
			return
		}
		hash := rec.Hash
		again, err := rec.encode()
		if err != nil {
			t.Fatalf("accepted what it cannot write: %v\n%s", err, raw)
		}
		if rec.Hash == hash && !bytes.Equal(again, raw) {
			t.Errorf("one record, two forms:\n%s\n%s", raw, again)
		}
		if (rec.Hash == hash) != l.intact() {
			t.Errorf("intact %v, hash computed anew %s, stored %s", l.intact(), rec.Hash, hash)
		}
	})
}

func TestTokenIsInjectiveBelowTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(0, 20, 40).Draw(t, "a"), rapid.StringN(0, 20, 40).Draw(t, "b")
		if (token(a) == token(b)) != (a == b) {
			t.Fatalf("%q and %q both as %q", a, b, token(a))
		}
	})
	if got := token(strings.Repeat("\x00", 100)); len(got) > maxToken || !strings.HasSuffix(got, "%~") {
		t.Errorf("%d bytes, %q", len(got), got)
	}
}

func TestClockStep(t *testing.T) {
	now := time.Now() // with a monotonic reading
	wall := now.Round(0)
	cases := map[string]struct {
		stored, mine, now time.Time
		want              time.Duration
	}{
		"nothing known":         {time.Time{}, time.Time{}, now, 0},
		"onwards":               {wall.Add(-time.Second), now.Add(-time.Second), now, 0},
		"back against the log":  {wall.Add(time.Minute), time.Time{}, now, -time.Minute},
		"back by a nanosecond":  {wall.Add(1), time.Time{}, now, -1},
		"long silence, no step": {wall.Add(-time.Hour), now.Add(-time.Hour), now, 0},
	}
	for name, c := range cases {
		if got := clockStep(c.stored, c.mine, c.now); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A record changed together with its hash must break the next record's prev.
func TestRehashedRecordIsFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	if err := generate(dir, 4); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, segment(1))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.SplitAfter(b, []byte{'\n'})
	var l line
	if err := parseLine(bytes.TrimSuffix(all[2], []byte{'\n'}), &l); err != nil {
		t.Fatal(err)
	}
	r, err := l.record()
	if err != nil {
		t.Fatal(err)
	}
	r.Action = "retain"
	forged, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	all[2] = append(forged, '\n')
	if err := os.WriteFile(path, bytes.Join(all, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err := Verify(t.Context(), dir)
	if err != nil || rep.OK || rep.FirstBad != 4 || rep.Reason != "record 4 does not continue record 3" {
		t.Errorf("%+v %v", rep, err)
	}
}

func TestHeadAndKeyForms(t *testing.T) {
	h := head{Boot: "b", Device: 1, Hash: strings.Repeat("0", 64), Inode: 2, Segment: segment(1), Seq: math.MaxUint64, Size: math.MaxInt64, Tail: 4, V: 1}
	b, err := h.encode()
	if err != nil || len(b) != headSize {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if got, err := parseHead(b); err != nil || got != h {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range [][]byte{nil, b[:511], append(bytes.Clone(b), ' '), bytes.Replace(b, []byte(`"v":1`), []byte(`"v":2`), 1)} {
		if _, err := parseHead(bad); err == nil {
			t.Errorf("accepted head %q", bad)
		}
	}
	k := newKey()
	if got, err := parseKey(k.encode()); err != nil || got != k {
		t.Errorf("key: %v", err)
	}
	for _, bad := range []string{"", "x", string(k.encode()[:40]), string(k.encode()) + "\n", strings.ToUpper(string(k.encode()))} {
		if _, err := parseKey([]byte(bad)); err == nil {
			t.Errorf("accepted key %q", bad)
		}
	}
}
