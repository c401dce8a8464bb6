package gdpr

import (
	"errors"
	"io/fs"

	"memdesk/model"
)

// status is the last run of a request that did not become complete, for who comes
// later or from elsewhere. It names no person: layers are redacted as they are
// judged, problems are kinds.
type status struct {
	Plan    string  `json:"plan"`
	Outcome Outcome `json:"outcome"`
}

func (d *Desk) statusFile(id string) string { return d.dir("runs", id+".status.json") }

// Report is what the last run of a request reached, and of which plan; NotFound
// when there was none or it became complete: then the receipt speaks.
func (d *Desk) Report(id string) (out Outcome, plan string, err error) {
	var s status
	switch err := readJSON(d.statusFile(id), &s); {
	case errors.Is(err, fs.ErrNotExist):
		return Outcome{}, "", model.Errorf(model.NotFound, "gdpr", "request %s has no report: no run of it has ended short of complete", id)
	case err != nil:
		return Outcome{}, "", model.Errorf(model.Internal, "gdpr", "the report of request %s cannot be read: run it again", id)
	}
	return s.Outcome, s.Plan, nil
}

// report keeps what was reached; a complete run has a receipt instead.
func (x *run) report() error {
	if x.out.Status == StateComplete {
		return removeIfThere(x.d.statusFile(x.r.ID))
	}
	return writeJSON(x.d.statusFile(x.r.ID), status{x.p.Hash, x.out})
}

// Unapproved says why the plan that stands may not be carried out yet; empty when
// it may.
func (d *Desk) Unapproved(r *Request) string {
	if !d.Policy.RequireApproval || d.underApproval(r) {
		return ""
	}
	return d.unapproved(r, r.PlanHash)
}
