package gdpr

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"
	"strings"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// refuseStoreName refuses a store whose name names the subject: plan, log and receipt would
// show it, and none of them may name the subject.
func refuseStoreName(m *subject.Matcher, store string) error {
	if !m.Names(store) {
		return nil
	}
	return model.Errorf(model.InvalidInput, "gdpr-plan",
		"a store is called like the person, and its name would stand in every record: give store %q another name in the configuration, then plan again", store)
}

// loggedNames matches what says in memdesk's own records where something was done and who did it; a receipt's proof holds
// such a record.
var loggedNames = regexp.MustCompile(`"(store|actor|inclusion_proof)":\s*"(?:[^"\\]|\\.)*"`)

// scanOwn searches for the subject in a file of memdesk's own, at a path below the state directory. kept counts hits that are
// the name of a store, from before this erasure, or of an operator: a log is not rewritten.
func (x *run) scanOwn(ctx context.Context, path string, f io.ReadSeeker) (rep subject.Report, kept int64, err error) {
	rep, err = x.m.Scan(ctx, f, nil)
	if err != nil || rep.Hits == 0 && !tilePath.MatchString(path) {
		return rep, 0, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return rep, 0, err
	}
	whole, err := io.ReadAll(f)
	if err != nil {
		return rep, 0, err
	}
	if isTile(path, len(whole)) { // hashes look like encrypted data
		rep.Hits, rep.Closed = 0, nil
		return rep, 0, nil
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
