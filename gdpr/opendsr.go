package gdpr

import (
	"encoding/json"
	"fmt"
	"time"

	"memdesk/model"
)

// openDSR is the part of an OpenDSR data subject request (opendsr.org) that is read.
type openDSR struct {
	ID         string `json:"subject_request_id"`
	Type       string `json:"subject_request_type"`
	Submitted  string `json:"submitted_time"`
	Identities []struct {
		Value  string `json:"identity_value"`
		Format string `json:"identity_format"`
	} `json:"subject_identities"`
}

// maxIdentities bounds one request's identifiers.
const maxIdentities = 100

// FromOpenDSR reads an erasure request in OpenDSR's JSON. The first identity is the subject's id,
// the others are aliases. A hashed identity cannot be searched for and is InvalidInput, as is any
// other type of request.
func FromOpenDSR(b []byte) (Intake, error) {
	bad := func(format string, args ...any) (Intake, error) {
		return Intake{}, model.Errorf(model.InvalidInput, "gdpr", "OpenDSR request: "+format, args...)
	}
	var q openDSR
	if err := json.Unmarshal(b, &q); err != nil {
		return bad("it is no JSON object of that form")
	}
	at, err := time.Parse(time.RFC3339, q.Submitted)
	switch {
	case q.Type != "erasure":
		return bad("subject_request_type is %q; this desk carries out erasure", q.Type)
	case !plainID(q.ID):
		return bad("subject_request_id is missing, longer than 64 characters, or not of letters, digits and hyphens")
	case err != nil:
		return bad("submitted_time is no RFC 3339 time")
	case len(q.Identities) == 0 || len(q.Identities) > maxIdentities:
		return bad("it has %d subject_identities; want 1 to %d", len(q.Identities), maxIdentities)
	}
	in := Intake{OpenDSR: q.ID, Received: at.UTC().Format(dateForm), Ground: fmt.Sprintf("OpenDSR request %s, Art. 17(1)", q.ID)}
	for i, one := range q.Identities {
		if one.Format != "" && one.Format != "raw" {
			return bad("identity %d is given as %q: nobody can search for a hash; ask for it as raw", i+1, one.Format)
		}
		if i == 0 {
			in.Subject = one.Value
			continue
		}
		in.Aliases = append(in.Aliases, one.Value)
	}
	return in, nil
}

func plainID(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// OpenDSRStatus is the request's state in OpenDSR's words.
func (r *Request) OpenDSRStatus() string {
	switch r.State {
	case StateComplete:
		return "completed"
	case StateWithdrawn:
		return "cancelled"
	case StateOpen, StatePlanned, StateApproved:
		return "pending"
	}
	return "in_progress"
}
