package crewship

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"memdesk/backends/internal/endpoint"
	"memdesk/model"
)

// api is Crewship's own HTTP interface, the only writer that may erase in its database (crewship-http.md,
// Data subjects).
type api struct {
	base      *url.URL
	token     model.Secret
	workspace string
	http      *http.Client
}

// apiLimit bounds an answer, in bytes.
const apiLimit = 1 << 20

// apiReason is the reason in Crewship's own record of the erasure, where it must not be blank. The
// operator's reason stays in memdesk's log.
const apiReason = "data subject erasure, carried out with memdesk"

// newAPI is nil without a URL. Plain http is for this machine only: the token
// would travel in clear.
func newAPI(cfg Config) (*api, error) {
	if cfg.APIURL == "" {
		return nil, nil
	}
	u, err := endpoint.Check("api_url", cfg.APIURL)
	switch {
	case err != nil:
		return nil, err
	case !cfg.APIToken.IsSet():
		return nil, model.Errorf(model.InvalidInput, "open", "api_url needs a token: set api_token_env or api_token_file")
	case cfg.Workspace == "":
		return nil, model.Errorf(model.InvalidInput, "open", "api_url needs workspace: every call names one")
	}
	return &api{base: u, token: cfg.APIToken, workspace: cfg.Workspace, http: &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: endpoint.NoRedirect,
	}}, nil
}

// erase runs Crewship's own erasure of a subject and returns the rows it deleted. It reaches rows keyed by
// the user's id: peer cards, user models, version and inbox rows. After an error other than
// PermissionDenied or Conflict the result is unknown; the call may be repeated.
func (a *api) erase(ctx context.Context, subject string) (int64, error) {
	if subject == "." || subject == ".." {
		return 0, model.Errorf(model.InvalidInput, "forget", "the id cannot stand in a URL")
	}
	at := a.base.JoinPath("api", "v1", "admin", "users", url.PathEscape(subject), "data")
	at.RawQuery = url.Values{"workspace_id": {a.workspace}}.Encode()
	body, err := json.Marshal(map[string]string{"reason": apiReason})
	if err != nil {
		return 0, model.E(model.Internal, "forget", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, at.String(), bytes.NewReader(body))
	if err != nil {
		return 0, model.Errorf(model.InvalidInput, "forget", "the id cannot stand in a URL")
	}
	req.Header.Set("Authorization", "Bearer "+a.token.Reveal())
	req.Header.Set("Content-Type", "application/json")
	res, err := a.http.Do(req)
	if err != nil {
		if e := model.FromContext(ctx, "forget"); e != nil {
			return 0, e
		}
		return 0, model.Errorf(model.Unavailable, "forget", "Crewship's server did not answer; whether it erased is not known, the call may be repeated")
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, apiLimit+1))
	if err != nil || len(data) > apiLimit {
		return 0, model.Errorf(model.Unavailable, "forget", "Crewship's answer did not arrive whole; whether it erased is not known, the call may be repeated")
	}
	return apiResult(res.StatusCode, data, subject)
}

// apiResult reads an answer. A 207 is a partial erasure, and never counts as done; neither does a success of a proxy,
// which counts no rows, or of another person's erasure.
func apiResult(status int, data []byte, subject string) (int64, error) {
	var answer struct {
		Subject *string         `json:"data_subject"`
		Rows    json.RawMessage `json:"rows_deleted"`
	}
	switch status {
	case http.StatusAccepted, http.StatusOK:
		rows, ok := int64(0), json.Unmarshal(data, &answer) == nil && (answer.Subject == nil || *answer.Subject == subject)
		if ok {
			rows, ok = rowsDeleted(answer.Rows)
		}
		if !ok {
			return 0, model.Errorf(model.Unavailable, "forget", "Crewship answered with status %d and not with what it documents; whether it erased is not known, the call may be repeated", status)
		}
		return rows, nil
	case http.StatusMultiStatus:
		return 0, model.Errorf(model.Unavailable, "forget", "Crewship erased a part only (status 207); run it again")
	case http.StatusConflict:
		return 0, model.Errorf(model.Conflict, "forget", "Crewship could not hand this person's pages to a crew and deleted nothing (status 409)")
	case http.StatusUnauthorized, http.StatusForbidden:
		return 0, model.Errorf(model.PermissionDenied, "forget", "Crewship refuses the token (status %d): it needs the role OWNER or ADMIN", status)
	case http.StatusBadRequest:
		return 0, model.Errorf(model.InvalidInput, "forget", "Crewship refuses the request (status 400)")
	case http.StatusTooManyRequests:
		return 0, model.Errorf(model.RateLimited, "forget", "Crewship takes no more requests now and erased nothing (status 429); run it again later")
	}
	return 0, model.Errorf(model.Unavailable, "forget", "Crewship answered with status %d; whether it erased is not known", status)
}

// rowsDeleted sums a number, or numbers by table; false for what counts nothing.
func rowsDeleted(raw json.RawMessage) (n int64, ok bool) {
	var one *int64
	if json.Unmarshal(raw, &one) == nil && one != nil {
		return *one, *one >= 0
	}
	var by map[string]int64
	if json.Unmarshal(raw, &by) != nil || by == nil {
		return 0, false
	}
	for _, v := range by {
		if v < 0 {
			return 0, false
		}
		n += v
	}
	return n, true
}

// cascade erases through Crewship, where it is configured.
func (s *store) cascade(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	if s.api == nil {
		return model.ForgetResult{}, model.NoCascade("")
	}
	if err := s.reason.Check("forget"); err != nil {
		return model.ForgetResult{}, err
	}
	snap, err := s.survey(ctx, "forget")
	if err != nil {
		return model.ForgetResult{}, err
	}
	sel := selection{req.WorkspaceID, req.CrewID, req.AgentID}
	if sel.crew != "" || sel.agent != "" {
		return model.ForgetResult{}, model.Errorf(model.InvalidInput, "forget", "a cascade is for the whole workspace: no crew and no agent")
	}
	if sel.workspace != "" && sel.workspace != s.api.workspace && !snap.names.isWorkspace(s.api.workspace, sel.workspace) {
		return model.ForgetResult{}, model.Errorf(model.InvalidInput, "forget", "the store erases in workspace %s only", quote(s.api.workspace))
	}
	defer s.changed()
	n, err := s.api.erase(ctx, req.DataSubjectID)
	return model.ForgetResult{Removed: n}, err
}

// eraseRows has Crewship erase a subject's rows as a part of a scrub.
func (w *scrubbing) eraseRows(l model.Layer) {
	r := model.LayerResult{Layer: l.ID, Method: "not touched", Verdict: model.VerdictOutOfScope, Reason: l.Reason}
	if w.store.api == nil || l.ID != dbName || len(w.Req.Subjects) == 0 {
		w.Out = append(w.Out, r)
		return
	}
	if !w.May(l.ID, nil) { // the endpoint has no dry run and no undo
		return
	}
	r.Method = "erased by Crewship's own endpoint"
	var failed error
	for _, subject := range w.Req.Subjects {
		n, err := w.store.api.erase(w.ctx, subject)
		r.Rows += n
		failed = errors.Join(failed, err)
	}
	if failed != nil {
		r.Verdict, r.Reason = model.VerdictFailed, failed.Error()
	} else {
		r.Reason = "Crewship erased the rows it keys by the person's id; accounts, its journal and its own record of erasures stay in its database"
	}
	w.Out = append(w.Out, r)
}
