package gdpr

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
)

// What memdesk itself computes or draws, such as hashes, signatures and keys, is no text about a person, and names a short
// identifier in hex or base64 by chance. In its own files a value counts as that by the file, by its member and by its whole
// form, never by its looks: a text that others wrote is searched even where it looks the same.
const (
	hex16      = `[0-9a-f]{16}`
	hex32      = `[0-9a-f]{32}`
	digestForm = `(?:sha256:)?[0-9a-f]{64}`
	keyedForm  = `hmac:(?:[0-9a-f]{8}|[0-9a-f]{16}):` + hex32
	rootForm   = `[A-Za-z0-9+/]{43}=`
	treeForm   = `memdesk/audit/` + hex16
	signerForm = treeForm + `\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}`
	noteForm   = treeForm + `(?:\n|\\n)\d+(?:\n|\\n)` + rootForm + `(?:\n|\\n){2}— ` + treeForm + ` [A-Za-z0-9+/]{91}=(?:\n|\\n)`
)

// madeFiles are the files that hold nothing else, beside tiles.
var madeFiles = []struct{ path, form *regexp.Regexp }{
	{regexp.MustCompile(`^(?:audit/key|gdpr/keys/(?:pseudonym|receipt))$`), regexp.MustCompile(`^memdesk-[a-z]+-key-v1 (?:` + hex16 + ` )?[0-9a-f]{64}\n$`)},
	{regexp.MustCompile(`^audit/tree/key(?:\.old)?$`), regexp.MustCompile(`^PRIVATE\+KEY\+` + signerForm + `\n$`)},
	{regexp.MustCompile(`^audit/tree/checkpoint$`), regexp.MustCompile(`^` + noteForm + `$`)},
}

var (
	// tilePath matches a tile of the audit log's tree, or of one that an acknowledged break ended (c2sp.org/tlog-tiles).
	tilePath = regexp.MustCompile(`^audit/tree(?:\.ended\.[^/]+)?/tile/\d+/(?:x\d{3}/)*\d{3}(?:\.p/(\d{1,3}))?$`)
	// unnamedTile matches the last part of a tile that a killed process has not given its name; the part is that name then.
	unnamedTile = regexp.MustCompile(`\.(\d{1,3})\.tmp\.` + hex16 + `$`)
)

// isTile reports whether a file is such a tile, of exactly the hashes that its name says; of a killed process at most so many.
func isTile(path string, size int64) bool {
	named := unnamedTile.ReplaceAllString(path, "$1")
	name := tilePath.FindStringSubmatch(named)
	if name == nil {
		return false
	}
	hashes, err := strconv.ParseInt(cmp.Or(name[1], "256"), 10, 64)
	whole := hashes * sha256.Size
	return err == nil && hashes <= 256 && (size == whole || named != path && size < whole)
}

var (
	// madeIn matches the files of JSON with such members, undo entries without their texts. No other program and no agent chooses
	// the name of a member there.
	madeIn = regexp.MustCompile(`^(?:audit|gdpr|jobs)/.*\.jsonl?$|^undo/[^/]+\.undo$`)
	// madeRevision matches the revision of an item in a plan and in the ledger of origin: of the form that memdesk's own kinds
	// compute (model.RevisionOf), or of a layer. A remote store's own form is text, but for one of just this length in hex digits:
	// nothing tells it from a computed one.
	madeRevision = regexp.MustCompile(`"revision":\s*"(?:` + hex32 + `|[0-9a-f]{64})"`)
	// madeMembers matches those members. In JSON a quote inside a text is escaped, so no text can hold one.
	madeMembers = regexp.MustCompile(
		`"(?:hash|prev|plan|plan_hash|seal|sum|from|keyid|public_key)":\s*"` + digestForm + `"` +
			`|"(?:check|hash|key|slug|salt|step)":\s*"` + hex32 + `"` +
			`|"(?:key|host|where)":\s*"` + hex16 + `"` +
			`|"(?:key|actor_key|by_key|fingerprint)":\s*"SHA256:[A-Za-z0-9+/]{43}"` +
			`|"(?:subject|target|pseudonym|named)":\s*"` + keyedForm + `"` +
			`|"gone":\s*\[(?:\s*"` + keyedForm + `",?)*\s*\]` +
			`|"roots":\s*\[(?:\s*"` + rootForm + `",?)*\s*\]` +
			`|"keys":\s*\[(?:\s*"` + signerForm + `",?)*\s*\]` +
			`|"origin":\s*"` + treeForm + `"` +
			`|` + madeRevision.String() +
			`|"sig":\s*"[A-Za-z0-9+/]{86}=="` +
			`|"checkpoint":\s*"` + noteForm + `"`)
	// madeScope matches the scope of the log's own records, which a store names in others.
	madeScope = regexp.MustCompile(`^(\{"action":"(?:` + regexp.QuoteMeta(receipt.Action) + `|audit\.tree(?:_key|_end)?)",.*"scope":)"(?:` + digestForm + `|` + treeForm + `|` + signerForm + `)"`)
	// madeProof matches the proof of a record in a receipt (c2sp.org/tlog-proof); the record is the first group.
	madeProof   = regexp.MustCompile(`^c2sp\.org/tlog-proof@v1\nextra ([A-Za-z0-9+/]+=*)\nindex \d+\n(?:` + rootForm + `\n)*\n$`)
	proofMember = regexp.MustCompile(`("inclusion_proof":\s*)("(?:[^"\\]|\\.)*")`)
)

// withoutMade returns a file of memdesk's own without what memdesk made. path is below the state directory.
func withoutMade(path string, file []byte) []byte {
	if isTile(path, int64(len(file))) {
		return nil
	}
	for _, f := range madeFiles {
		if f.path.MatchString(path) && f.form.Match(file) {
			return nil
		}
	}
	without := withoutMembers
	switch {
	case path == "origin/ledger.jsonl":
		without = withoutRevision
	case !madeIn.MatchString(path):
		return file
	}
	return inJSON(file, without)
}

// inJSON leaves something out of a file of JSON, of one value or of one to a line. What is no JSON stays as it is.
func inJSON(file []byte, without func(value []byte) []byte) []byte {
	if json.Valid(file) {
		return without(file)
	}
	var out []byte
	for line := range bytes.Lines(file) {
		if json.Valid(line) {
			line = without(line)
		}
		out = append(out, line...)
	}
	return out
}

// nothing stands for a member that is left out.
var nothing = []byte(`"":""`)

// withoutRevision leaves out of valid JSON the revision that memdesk computed.
func withoutRevision(row []byte) []byte {
	return madeRevision.ReplaceAll(row, nothing)
}

// withoutMembers leaves out of valid JSON what memdesk made.
func withoutMembers(text []byte) []byte {
	text = madeScope.ReplaceAll(madeMembers.ReplaceAll(text, nothing), []byte(`$1""`))
	return proofMember.ReplaceAllFunc(text, func(member []byte) []byte {
		parts := proofMember.FindSubmatch(member)
		var of string
		if json.Unmarshal(parts[2], &of) != nil {
			return member
		}
		made := madeProof.FindStringSubmatch(of)
		if made == nil {
			return member
		}
		record, err := base64.StdEncoding.DecodeString(made[1])
		if err != nil || !json.Valid(record) {
			return member
		}
		shown, err := json.Marshal(string(withoutMembers(record)))
		if err != nil {
			return member
		}
		return append(parts[1], shown...)
	})
}

// loggedNames matches what says in memdesk's own records where something was done and who did it; a receipt's proof holds
// such a record.
var loggedNames = regexp.MustCompile(`"(store|actor|inclusion_proof)":\s*"(?:[^"\\]|\\.)*"`)

// scanOwn searches for the subject in a file of memdesk's own, at a path below the state directory. kept counts hits that are
// the name of a store, from before this erasure, or of an operator: a log is not rewritten.
func (x *run) scanOwn(ctx context.Context, path string, f io.ReadSeeker) (rep subject.Report, kept int64, err error) {
	rep, err = x.m.Scan(ctx, f, nil)
	if err != nil {
		return rep, 0, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return rep, 0, err
	}
	if isTile(path, size) { // hashes look like encrypted data
		rep.Hits, rep.Closed = 0, nil
	}
	if rep.Hits == 0 {
		return rep, 0, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return rep, 0, err
	}
	whole, err := io.ReadAll(f)
	if err != nil {
		return rep, 0, err
	}
	text, log := apart(path, whole)
	log = withoutMade(path, log)
	var hits [3]int64
	for i, part := range [][]byte{text, log, x.withoutLogged(log)} {
		found, err := x.m.Scan(ctx, bytes.NewReader(part), nil)
		if err != nil {
			return rep, 0, err
		}
		hits[i] = found.Hits
	}
	rep.Hits, kept = hits[0]+hits[2], hits[1]-hits[2]
	return rep, kept, nil
}

// apart separates the texts of a file, which stay as they are, from what may be records of a log: in a receipt its payload, in
// clear, and in an undo entry its first line.
func apart(path string, file []byte) (text, log []byte) {
	dir, _, _ := strings.Cut(path, "/")
	switch dir {
	case "edit":
		return file, nil
	case "undo":
		log, text, _ = bytes.Cut(file, []byte("\n"))
		return text, log
	}
	var signed struct {
		Type    string `json:"payloadType"`
		Payload []byte
	}
	if json.Unmarshal(file, &signed) != nil || signed.Type != receipt.PayloadType {
		return nil, file
	}
	encoded := `"` + base64.StdEncoding.EncodeToString(signed.Payload) + `"`
	around := bytes.Replace(file, []byte(encoded), []byte(`""`), 1)
	return withoutMade(path, around), signed.Payload
}

// withoutLogged empties each of loggedNames that names the subject.
func (x *run) withoutLogged(text []byte) []byte {
	return loggedNames.ReplaceAllFunc(text, func(b []byte) []byte {
		if x.m.NamesBytes(b) {
			return []byte(`"":""`)
		}
		return b
	})
}
