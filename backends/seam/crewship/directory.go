package crewship

import (
	"cmp"
	"context"
	"database/sql"
	"path"
	"strconv"
	"strings"
)

// directory lists workspaces, crews and agents from the database: names for people and the workspace of
// each crew. Its text is as hostile as any in a store.
type directory struct {
	workspaces map[string]label
	crews      map[string]crew
	agents     []agent
	byPlace    map[string]agent // "crew id/slug", or "/workspace id/slug" without a crew
	// decided are the approved or rejected proposals, by run.
	decided map[string]bool
	problem string // why it is empty or incomplete, in words
}

type label struct{ name, slug string }

type crew struct {
	label
	workspace string
}

type agent struct {
	label
	id, workspace, crew string
}

// namesCache keeps the directory while the database does not change.
type namesCache struct {
	stamp string
	value *directory
}

// loadNames never fails: without a database there are no names, and problem says
// why.
func (s *store) loadNames(ctx context.Context) *directory {
	db := database{s.at.db}
	stamp := db.stamp()
	s.mu.Lock()
	cached := s.names
	s.mu.Unlock()
	if cached.value != nil && cached.stamp == stamp && cached.value.problem == "" {
		return cached.value
	}
	d := &directory{workspaces: map[string]label{}, crews: map[string]crew{}, byPlace: map[string]agent{}, decided: map[string]bool{}}
	if err := db.read(ctx, func(q *sql.DB) error { return d.load(ctx, q) }); err != nil {
		d.problem = "it could not be read: " + err.Error()
		if s.at.db == "" {
			d.problem = "there is none"
		}
	}
	s.mu.Lock()
	s.names = namesCache{stamp, d}
	s.mu.Unlock()
	return d
}

func (d *directory) load(ctx context.Context, q *sql.DB) error {
	err := each(ctx, q, "SELECT id, name, slug FROM workspaces", func(v []string) {
		d.workspaces[v[0]] = label{v[1], v[2]}
	})
	if err == nil {
		err = each(ctx, q, "SELECT id, name, slug, workspace_id FROM crews", func(v []string) {
			d.crews[v[0]] = crew{label{v[1], v[2]}, v[3]}
		})
	}
	if err == nil {
		err = each(ctx, q, "SELECT id, name, slug, workspace_id, coalesce(crew_id, '') FROM agents ORDER BY id", func(v []string) {
			a := agent{label{v[1], v[2]}, v[0], v[3], v[4]}
			d.agents = append(d.agents, a)
			d.byPlace[cmp.Or(a.crew, "/"+a.workspace)+"/"+a.slug] = a
		})
	}
	if err != nil {
		return err
	}
	// An older Crewship has no such table; all its proposals are open then.
	_ = each(ctx, q, "SELECT id FROM memory_proposals WHERE status <> 'pending'", func(v []string) {
		d.decided[strings.TrimPrefix(v[0], "mp_")] = true
	})
	return nil
}

// isDecided reports whether a proposal's file, `proposal-<run>.md`, no longer waits.
func (d *directory) isDecided(label string) bool {
	run, ok := strings.CutPrefix(path.Base(label), "proposal-")
	return ok && d.decided[strings.TrimSuffix(run, ".md")]
}

// each reads rows of text columns.
func each(ctx context.Context, q *sql.DB, query string, row func([]string), args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		values, text := make([]sql.NullString, len(columns)), make([]string, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, v := range values {
			text[i] = v.String
		}
		row(text)
	}
	return rows.Err()
}

func (d *directory) workspaceOfCrew(id string) string { return d.crews[id].workspace }

// isWorkspace reports whether the id is meant by an id or a slug.
func (d *directory) isWorkspace(id, said string) bool {
	return id != "" && (id == said || d.workspaces[id].slug == said)
}

func (d *directory) isCrew(id, said string) bool {
	return id == said || d.crews[id].slug == said
}

func (d *directory) agentOf(p *memoryDir) (agent, bool) {
	a, ok := d.byPlace[cmp.Or(p.crew, "/"+p.workspace)+"/"+p.agent]
	return a, ok
}

func (d *directory) isAgent(p *memoryDir, said string) bool {
	if p.agent == said {
		return true
	}
	a, ok := d.agentOf(p)
	return ok && a.id == said
}

// scopeTitle names a memory directory for people, from the workspace down.
func (d *directory) scopeTitle(p *memoryDir) string {
	out := cmp.Or(d.workspaces[p.workspace].name, p.workspace)
	join := func(part string) {
		if part == "" {
			return
		}
		if out != "" {
			out += " / "
		}
		out += part
	}
	join(cmp.Or(d.crews[p.crew].name, p.crew))
	if a, ok := d.agentOf(p); ok {
		join(cmp.Or(a.name, a.slug))
	} else {
		join(p.agent)
	}
	switch p.kind {
	case kindSolo:
		out += " (no crew)"
	case kindCrew:
		out += " (shared)"
	case kindWorkspace:
		out += " (workspace)"
	case kindUsers:
		join("users without a crew")
	}
	return out
}

// quote makes a value of a request visible in an error.
func quote(s string) string { return strconv.Quote(s) }
