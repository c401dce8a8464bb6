package crewship

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
	"memdesk/quarantine"
)

// versionRow is a row of memory_versions.
type versionRow struct {
	id, sha, by, payload string
	bytes                int64
	at                   time.Time
}

// Revisions lists the versions in Crewship's own version store, newest first. An item whose tier is not
// recorded, and an unreadable record, say so.
func (s *store) Revisions(ctx context.Context, id string) (model.Versions, error) {
	e, err := s.resolve(ctx, "history", id)
	if err != nil {
		return model.Versions{}, err
	}
	if e.memory == nil {
		return model.Versions{}, absent("history", id)
	}
	if why := unrecorded(e); why != "" {
		return model.Versions{State: model.Unrecorded, Reason: why}, nil
	}
	rows, why, err := s.versionRows(ctx, e)
	if err != nil || why != "" {
		return model.Versions{State: model.HistoryUnavailable, Reason: why}, err
	}
	out := model.Versions{State: model.Recorded}
	gone := 0
	for _, r := range rows {
		there := s.blobThere(r)
		if !there {
			gone++
		}
		out.Versions = append(out.Versions, model.Version{
			ID: r.id, At: r.at, By: r.by, Bytes: r.bytes, Hash: r.sha, Readable: there,
		})
	}
	switch {
	case len(rows) == 0 && e.tier == tierPersona:
		return model.Versions{State: model.Unrecorded, Reason: "only changes through Crewship's persona page are recorded, and there is none"}, nil
	case len(rows) == 0:
		out.Reason = "Crewship records this item, and has no version of it now; it keeps them for 30 days unless the workspace says otherwise"
	case e.tier == tierPersona:
		out.Reason = "persona versions are recorded without their text, so older text cannot be shown"
	case s.at.memory == "":
		out.Reason = "the memory root is not known, so the text of versions cannot be shown; set memory_root"
	case gone > 0:
		out.Reason = fmt.Sprintf("the text of %d of %d versions is gone: an erasure or Crewship's own sweep removed it, and Crewship's record of it stays", gone, len(rows))
	}
	return out, nil
}

// unrecorded says why Crewship keeps no versions of an item, empty when it does
// (crewship-disk.md, Database).
func unrecorded(e entry) string {
	switch e.tier {
	case tierAgent, tierCrew, tierPins, tierDaily, tierLearned, tierCrewPins, tierPersona, tierWorkspace:
		return ""
	}
	return "Crewship records no versions of tier " + e.tier
}

// versionPath is an item's name in the database; shared paths are cut to their last part.
func versionPath(e entry) string {
	switch e.memory.kind {
	case kindWorkspace:
		return "workspace/" + e.label
	case kindCrew:
		return "crew:" + e.memory.crew + "/" + path.Base(e.label)
	}
	if e.tier == tierCrew && e.memory.crew != "" {
		return "crew:" + e.memory.crew + "/CREW.md"
	}
	return "agent:" + e.memory.agent + "/" + e.label
}

// versionRows reads the item's rows; why is set when they are unknown.
func (s *store) versionRows(ctx context.Context, e entry) (rows []versionRow, why string, err error) {
	if s.at.db == "" {
		return nil, "there is no crewship.db beside this memory", nil
	}
	if e.memory.kind == kindSingle && e.memory.agent == "" && e.memory.crew == "" {
		return nil, "the directory does not tell whose memory it is", nil
	}
	workspaces := map[string]bool{}
	err = database{s.at.db}.read(ctx, func(q *sql.DB) error {
		rows, workspaces = nil, map[string]bool{}
		return each(ctx, q, `SELECT id, sha256, coalesce(written_by, ''), payload_ref, bytes, written_at, workspace_id
			FROM memory_versions WHERE path = ? AND (? = '' OR workspace_id = ?)
			ORDER BY written_at DESC, id DESC`, func(v []string) {
			r := versionRow{id: v[0], sha: v[1], by: v[2], payload: v[3]}
			r.bytes, _ = strconv.ParseInt(v[4], 10, 64)
			r.at, _ = time.Parse(time.RFC3339Nano, v[5]) // zero for another form than Crewship's
			rows = append(rows, r)
			workspaces[v[6]] = true
		}, versionPath(e), e.memory.workspace, e.memory.workspace)
	})
	switch {
	case ctx.Err() != nil:
		return nil, "", model.FromContext(ctx, "history")
	case err != nil:
		return nil, "crewship.db could not be read: " + err.Error(), nil
	case len(workspaces) > 1:
		return nil, "several workspaces have versions under this name, and the directory does not tell its workspace", nil
	}
	return rows, "", nil
}

// blobPath is the path of a version's text below the memory root. Stored paths are absolute and perhaps
// from another machine, so only their form counts; empty for a row without a blob, such as persona rows.
func (r versionRow) blobPath() string {
	if _, err := hex.DecodeString(r.sha); err != nil || len(r.sha) != 64 {
		return ""
	}
	below := "versions/" + r.sha[:2] + "/" + r.sha
	if !strings.HasSuffix(r.payload, "/"+below) {
		return ""
	}
	return below
}

func (s *store) blobThere(r versionRow) bool {
	blob := r.blobPath()
	if blob == "" || s.at.memory == "" {
		return false
	}
	root, err := openRoot(s.at.memory, nil)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Stat(blob)
	return err == nil
}

// ReadRevision returns an earlier version of the item, after a check of its hash.
func (s *store) ReadRevision(ctx context.Context, id, version string) (model.Item, error) {
	e, err := s.resolve(ctx, "history", id)
	if err != nil {
		return model.Item{}, err
	}
	if e.memory == nil {
		return model.Item{}, absent("history", id)
	}
	rows, why, err := s.versionRows(ctx, e)
	if err != nil {
		return model.Item{}, err
	}
	if why != "" {
		return model.Item{}, model.E(model.Unavailable, "history", errors.New(why))
	}
	for _, r := range rows {
		if r.id == version {
			return s.readBlob(e, r)
		}
	}
	return model.Item{}, model.Errorf(model.NotFound, "history", "%q has no version %q", id, version)
}

func (s *store) readBlob(e entry, r versionRow) (model.Item, error) {
	blob := r.blobPath()
	switch {
	case blob == "":
		return model.Item{}, model.Errorf(model.NotFound, "history", "version %q was recorded without its text", r.id)
	case s.at.memory == "":
		return model.Item{}, model.Errorf(model.NotFound, "history", "the memory root is not known; set memory_root")
	}
	root, err := openRoot(s.at.memory, nil)
	if err != nil {
		return model.Item{}, err
	}
	defer root.Close()
	data, m, err := root.Read(blob, texts.WholeLimit)
	if errors.Is(err, model.NotFound) { // Crewship's own answer is 410 (crewship-http.md, Versions)
		return model.Item{}, model.Errorf(model.NotFound, "history", "the text of version %q is gone: an erasure or Crewship's own sweep removed it", r.id)
	}
	if err != nil {
		return model.Item{}, err
	}
	if quarantine.Sum(string(data)) != r.sha {
		return model.Item{}, model.Errorf(model.Internal, "history", "the text of version %q does not have its recorded hash; it was changed or is damaged", r.id)
	}
	it := model.Item{Header: s.header(&e, examine(e.id, string(data)), m), Body: string(data)}
	it.Modified, it.Revision = r.at, revisionOf(data)
	return it, nil
}
