package gdpr

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"

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

// scanOwn searches for the subject in a file of memdesk's own. kept counts hits that are the name of a
// store, from before this erasure, or of an operator: a log is not rewritten.
func (x *run) scanOwn(ctx context.Context, f io.ReadSeeker) (rep subject.Report, kept int64, err error) {
	rep, err = x.m.Scan(ctx, f, nil)
	if err != nil || rep.Hits == 0 {
		return rep, 0, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return rep, 0, err
	}
	whole, err := io.ReadAll(f)
	if err != nil {
		return rep, 0, err
	}
	var signed struct {
		Type    string `json:"payloadType"`
		Payload []byte
	}
	var masked []byte
	if json.Unmarshal(whole, &signed) == nil && signed.Type == receipt.PayloadType { // only its payload has a log's record
		masked = bytes.Replace(whole, inBase64(signed.Payload), inBase64(x.withoutLogged(signed.Payload)), 1)
	} else {
		masked = x.withoutLogged(whole)
	}
	rest, err := x.m.Scan(ctx, bytes.NewReader(masked), nil)
	kept, rep.Hits = rep.Hits-rest.Hits, rest.Hits
	return rep, kept, err
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

func inBase64(b []byte) []byte { return base64.StdEncoding.AppendEncode(nil, b) }
