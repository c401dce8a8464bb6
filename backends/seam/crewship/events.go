package crewship

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"memdesk/model"
)

// journalColumns are the shown columns of an entry. Payload and refs are left out: they hold agents' text.
var journalColumns = []string{"severity", "actor_type", "actor_id", "crew_id", "agent_id", "mission_id", "run_id", "summary"}

// StoreEvents lists the entries of Crewship's journal that belong to the store's
// workspaces and crews, the newest first (crewship-disk.md, Database). The journal is
// read and never written; a store without a database has no events.
func (s *store) StoreEvents(ctx context.Context, limit int) ([]model.StoreEvent, error) {
	snap, err := s.look(ctx)
	if err != nil || s.at.db == "" {
		return []model.StoreEvent{}, err
	}
	workspaces, crews := s.journalScope(snap)
	var out []model.StoreEvent
	err = database{s.at.db}.read(ctx, func(q *sql.DB) error {
		out = []model.StoreEvent{}
		return each(ctx, q, `SELECT CAST(ts AS TEXT), entry_type, severity, actor_type, coalesce(actor_id, ''), coalesce(crew_id, ''), coalesce(agent_id, ''),
				coalesce(mission_id, ''), coalesce(run_id, ''), coalesce(summary, '') FROM journal_entries
			WHERE (? = 'null' OR workspace_id IN (SELECT value FROM json_each(?))) AND (? = 'null' OR crew_id IS NULL OR crew_id IN (SELECT value FROM json_each(?)))
			ORDER BY ts DESC, id DESC LIMIT ?`, func(v []string) {
			e := model.StoreEvent{Name: v[1]}
			e.At, _ = time.Parse(time.RFC3339Nano, v[0]) // zero for another shape: the age is unknown
			for i, name := range journalColumns {
				if v[i+2] != "" {
					e.Payload = append(e.Payload, model.Field{Name: name, Value: v[i+2]})
				}
			}
			out = append(out, e)
		}, workspaces, workspaces, crews, crews, limit)
	})
	if err != nil {
		return nil, model.Errorf(model.Unavailable, "store-events", "crewship.db could not be read: %w", err)
	}
	return out, nil
}

// journalScope are the workspaces and the crews of the memory directories to which the store is bound, as JSON arrays. Null
// is all: every workspace of the database where the store is bound to nothing, also one whose files are gone; every crew
// where it is not bound to less than a workspace.
func (s *store) journalScope(snap *snapshot) (workspaces, crews string) {
	inWorkspace, inCrew := map[string]bool{}, map[string]bool{}
	for _, p := range snap.memories {
		if p.workspace != "" {
			inWorkspace[p.workspace] = true
		}
		if p.crew != "" {
			inCrew[p.crew] = true
		}
	}
	switch {
	case s.cfg.Crew != "" || s.cfg.Agent != "" || s.at.single:
	case s.cfg.Workspace != "":
		return array(inWorkspace), "null"
	default:
		return "null", "null"
	}
	return array(inWorkspace), array(inCrew)
}

func array(set map[string]bool) string {
	b, err := json.Marshal(slices.AppendSeq([]string{}, maps.Keys(set)))
	if err != nil { // texts always encode
		return "[]"
	}
	return string(b)
}
