package receipt

import "memdesk/model"

// The statuses of a receipt.
const (
	StatusComplete = "complete"          // no reachable layer holds the person
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

	Forgotten int64 `json:"forgotten"` // items that are verified gone
	Redacted  int64 `json:"redacted"`  // items that stay and are verified without the person

	Stores   []Store    `json:"searched"` // every store, those searched in vain too
	Layers   []Layer    `json:"layers"`
	Held     []Held     `json:"held"`
	Attested []Attested `json:"attested"`
	// Open is the work of a receipt that is complete in scope only: where the person
	// still is, and the command or the person that finishes it.
	Open        []Left      `json:"open"`
	Backups     []Backup    `json:"backups"`
	Recipients  []Recipient `json:"recipients"`
	Exports     []Export    `json:"exports"`
	Suppression Suppression `json:"suppression"`
	// Notes say what the receipt does not prove.
	Notes []string `json:"notes"`

	// LogHead is the newest record of the audit log when the receipt was made: a log that
	// ends before it, or has another record there, is not the one it was.
	LogHead LogHead `json:"log_head"`
	// Checkpoint is the audit log's signed head; InclusionProof proves that the record of
	// this erasure lies under it; both null where the log has none.
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
	Authenticated bool   `json:"authenticated"`    // by that key
	Method        string `json:"method,omitempty"` // of an approver: BySignature or BySession; empty: BySignature
}

// How an approver approves: by a signature over the plan, or by the chained record of a session
// that the key has authenticated.
const (
	BySignature = "signature"
	BySession   = "session"
)

// IdentityCheck says how and when it was made sure who asks.
type IdentityCheck struct {
	By          string `json:"by,omitempty"`
	Method      string `json:"method,omitempty"`
	On          string `json:"on,omitempty"`
	StoppedDays int    `json:"clock_stopped_days"`
}

// Policy is the one in force when the erasure was carried out.
type Policy struct {
	Approval      bool     `json:"require_approval"`
	Approvers     []string `json:"approvers"` // fingerprints; empty: any key but the requester's
	ApprovalValid string   `json:"approval_valid"`
	Method        string   `json:"approval,omitempty"` // BySession where that is enough; empty: a signature
	MaxShare      float64  `json:"max_share"`
	Hash          string   `json:"hash"`
	Record        uint64   `json:"record"` // of the audit log that says who set it
	By            string   `json:"by"`
}

// Store counts what was done in one store. Forgotten and Redacted count the items that were looked
// for afterwards and not found any more.
type Store struct {
	Store     string `json:"store"`
	Kind      string `json:"kind"`
	Items     int64  `json:"items"` // looked at for the plan
	Forgotten int64  `json:"forgotten"`
	Redacted  int64  `json:"redacted"`
	Held      int64  `json:"held"`
	Rows      int64  `json:"rows"` // of side tables and copies, by the scrub
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
	// Held: its hits are the text of items on hold, which have a row of their own.
	Held bool `json:"held,omitempty"`
	// Sum binds an attestation to the layer, where there is or was one.
	Sum string `json:"sum,omitempty"`
}

// HoldsPerson reports whether the person is known to be in a layer that passes.
func (l Layer) HoldsPerson() bool {
	return l.Verdict == model.VerdictOutOfScope && l.Hits > 0 && !l.Held
}

// Held is items of a store that are kept on a ground.
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
	Sum    string `json:"sum,omitempty"` // of the bytes that were looked at, or of what was said of the layer
}

// Backup is copies that nobody reaches from here.
type Backup struct {
	Store  string `json:"store"`
	Where  string `json:"where,omitempty"`
	Until  string `json:"until,omitempty"` // a day; empty: not known
	Guard  string `json:"restore_guard,omitempty"`
	Reason string `json:"note"`
}

// Recipient is somebody who was given the data and has to be told (Art. 19).
type Recipient struct {
	Name     string   `json:"name"`
	Stores   []string `json:"stores"`
	Told     string   `json:"told,omitempty"`     // a day
	Answered string   `json:"answered,omitempty"` // a day
}

// Export is a copy of the person's data that was made for the person.
type Export struct {
	N     int    `json:"n"`
	Made  string `json:"made"`
	Items int64  `json:"items"`
	State string `json:"state"`        // made, handed_over or deleted
	At    string `json:"at,omitempty"` // of the state, where it is not made
}

// The states of an export.
const (
	ExportMade       = "made"
	ExportHandedOver = "handed_over"
	ExportDeleted    = "deleted"
)

// Suppression keeps the person from coming back.
type Suppression struct {
	Active bool   `json:"active"`
	Method string `json:"method"`
}
