package receipt

import "memdesk/model"

// The statuses of a receipt.
const (
	StatusComplete = "complete"          // no reachable layer holds the subject
	StatusInScope  = "complete_in_scope" // a layer out of scope, or an item on hold, still does
)

// Receipt is the payload that is signed: Erasure Receipt v1 (docs/receipt-v1.md).
// Times are RFC 3339 in UTC, days YYYY-MM-DD. A list is never null.
type Receipt struct {
	Context  map[string]string `json:"@context"`
	V        int               `json:"v"`
	Request  string            `json:"subject_request_id"`
	Subject  string            `json:"subject"` // keyed pseudonym
	Status   string            `json:"status"`
	Received string            `json:"received_time"` // a day
	Begun    string            `json:"begun_time"`
	Finished string            `json:"finished_time"`
	Deadline string            `json:"deadline"` // a day
	Ground   string            `json:"ground"`   // the articles that it cites, never its words
	Identity *IdentityCheck    `json:"identity_check"`
	Plan     string            `json:"plan_hash"`
	Operator Party             `json:"operator"`
	Approver *Party            `json:"approver"` // null: no approval was demanded
	Policy   Policy            `json:"policy"`

	Forgotten int64 `json:"forgotten"` // items verified to be gone
	Redacted  int64 `json:"redacted"`  // items that stay, verified to be without the subject

	Stores   []Store    `json:"searched"` // every store, those without hits too
	Layers   []Layer    `json:"layers"`
	Held     []Held     `json:"held"`
	Attested []Attested `json:"attested"`
	// Open is the remaining work of a receipt that is only complete in scope: where the subject still is, and
	// the command or person that finishes it.
	Open        []Left      `json:"open"`
	Backups     []Backup    `json:"backups"`
	Recipients  []Recipient `json:"recipients"`
	Exports     []Export    `json:"exports"`
	Suppression Suppression `json:"suppression"`
	// Notes say what the receipt does not prove.
	Notes []string `json:"notes"`

	// LogHead is the newest record of the audit log when the receipt was made: a log that ends before it, or
	// has another record at its number, was changed.
	LogHead LogHead `json:"log_head"`
	// Checkpoint is the audit log's signed head; InclusionProof proves that the log contains the record of
	// this erasure; both are null where the log has no checkpoint.
	Checkpoint     *string  `json:"checkpoint"`
	InclusionProof *string  `json:"inclusion_proof"`
	Cosignatures   []string `json:"cosignatures"`
}

// LogHead names one record of the audit log.
type LogHead struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// Context names the vocabularies of the receipt's fields.
func Context() map[string]string {
	return map[string]string{
		"opendsr": "https://opendsr.org/", "dpv": "https://w3id.org/dpv#", "eu-gdpr": "https://w3id.org/dpv/legal/eu/gdpr#",
		"subject_request_id": "opendsr:subject_request_id", "received_time": "opendsr:received_time",
		"ground": "dpv:hasLegalBasis", "recipients": "dpv:hasRecipient", "layers": "dpv:hasStorage",
	}
}

// Party is an operator or an approver.
type Party struct {
	Name          string `json:"name"`
	Key           string `json:"key,omitempty"`    // fingerprint of the SSH key
	Authenticated bool   `json:"authenticated"`    // by Key
	Method        string `json:"method,omitempty"` // of an approver: BySignature or BySession; empty: BySignature
}

// The methods of approval: a signature over the plan, or the chained record of a session that the key has
// authenticated.
const (
	BySignature = "signature"
	BySession   = "session"
)

// IdentityCheck says how and when the requester's identity was checked.
type IdentityCheck struct {
	By          string `json:"by,omitempty"`
	Method      string `json:"method,omitempty"`
	On          string `json:"on,omitempty"`
	StoppedDays int    `json:"clock_stopped_days"`
}

// Policy is the policy in force when the erasure was carried out.
type Policy struct {
	Approval      bool     `json:"require_approval"`
	Approvers     []string `json:"approvers"` // fingerprints; empty: any key but the requester's
	ApprovalValid string   `json:"approval_valid"`
	Method        string   `json:"approval,omitempty"` // BySession where a session is enough; empty: a signature
	MaxShare      float64  `json:"max_share"`
	Hash          string   `json:"hash"`
	Record        uint64   `json:"record"` // number of the log's record that says who set it
	By            string   `json:"by"`
}

// Store counts the work in one store. Forgotten and Redacted count items that verification looked for and did
// not find any more.
type Store struct {
	Store     string `json:"store"`
	Kind      string `json:"kind"`
	Items     int64  `json:"items"` // searched for the plan
	Forgotten int64  `json:"forgotten"`
	Redacted  int64  `json:"redacted"`
	Held      int64  `json:"held"`
	Rows      int64  `json:"rows"` // rows of side tables and copies, by the scrub
}

// Layer is the verdict over one layer.
type Layer struct {
	Store        string        `json:"store"`
	Layer        string        `json:"layer"`
	Verdict      model.Verdict `json:"verdict"`
	Method       string        `json:"method"`
	BytesScanned int64         `json:"bytes_scanned"`
	Hits         int64         `json:"hits"`
	Reason       string        `json:"reason,omitempty"`
	// Count is how many layers the row speaks for; 0 is one.
	Count int64 `json:"count,omitempty"`
	// Held says that the hits are the text of items on hold, which have a row of their own.
	Held bool `json:"held,omitempty"`
	// Sum binds an attestation to the layer, where one is needed or was given.
	Sum string `json:"sum,omitempty"`
}

// HoldsPerson reports whether a layer that passes is known to hold the subject.
func (l Layer) HoldsPerson() bool {
	return l.Verdict == model.VerdictOutOfScope && l.Hits > 0 && !l.Held
}

// Held is the items of a store that are kept on a ground.
type Held struct {
	Store  string `json:"store"`
	Items  int64  `json:"items"`
	Ground string `json:"ground"` // the articles
}

// Attested is a layer that a person looked at where the program cannot.
type Attested struct {
	Store  string `json:"store"`
	Layer  string `json:"layer"`
	By     Party  `json:"by"`
	At     string `json:"at"`
	Ground string `json:"ground"`        // the articles
	Sum    string `json:"sum,omitempty"` // of the bytes that were looked at, or of what a run reported about the layer
}

// Backup is copies out of memdesk's reach.
type Backup struct {
	Store  string `json:"store"`
	Where  string `json:"where,omitempty"`
	Until  string `json:"until,omitempty"` // a day; empty: not known
	Guard  string `json:"restore_guard,omitempty"`
	Reason string `json:"note"`
}

// Recipient is somebody who received the data and must be told of the erasure (Art. 19).
type Recipient struct {
	Name     string   `json:"name"`
	Stores   []string `json:"stores"`
	Told     string   `json:"told,omitempty"`     // a day
	Answered string   `json:"answered,omitempty"` // a day
}

// Export is a copy of the subject's data that was made for the subject.
type Export struct {
	N     int    `json:"n"`
	Made  string `json:"made"`
	Items int64  `json:"items"`
	State string `json:"state"`        // made, handed_over or deleted
	At    string `json:"at,omitempty"` // the day of the state; empty for made
}

// The states of an export.
const (
	ExportMade       = "made"
	ExportHandedOver = "handed_over"
	ExportDeleted    = "deleted"
)

// Suppression keeps the subject from coming back.
type Suppression struct {
	Active bool   `json:"active"`
	Method string `json:"method"`
}
