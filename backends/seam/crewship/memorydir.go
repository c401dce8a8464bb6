package crewship

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// ownerKind is the kind of owner of a .memory directory.
type ownerKind int

const (
	kindSingle    ownerKind = iota // one directory, opened by itself, owner unknown
	kindAgent                      // an agent of a crew
	kindCrew                       // shared by a crew
	kindSolo                       // an agent without a crew
	kindUsers                      // user models of people in no crew
	kindWorkspace                  // M/<workspace>, the coordinator's
	kindVersions                   // M/versions, the texts of old versions: it holds no memories and is in no list
)

// memoryDir is one .memory directory and its owner.
type memoryDir struct {
	prefix string // of ids, with a slash at its end; empty when the store is one memory directory
	kind   ownerKind
	root   string // directory to open, an absolute path
	dir    string // below root
	// workspace and crew are ids, agent is a slug, as on disk; a workspace that is not in the path comes from
	// the database, and is empty without one.
	workspace, crew, agent string
	// missing: the database knows the agent, and the directory does not exist yet.
	missing bool
}

// path is that of its directory.
func (p *memoryDir) path() string { return filepath.Join(p.root, filepath.FromSlash(p.dir)) }

// scope names the memory directory in lists.
func (p *memoryDir) scope() string { return strings.TrimSuffix(p.prefix, "/") }

func (p *memoryDir) isAgent() bool {
	return p.kind == kindAgent || p.kind == kindSolo || p.kind == kindSingle
}

// memoryDirs enumerates crews by id and agents by slug (crewship-disk.md). Unreadable directories are in
// problems.
func (s *store) memoryDirs(known *directory) (out []*memoryDir, problems []string, err error) {
	if s.at.single {
		p := s.at.bound
		p.workspace = cmp.Or(p.workspace, s.cfg.Workspace, known.workspaceOfCrew(p.crew))
		p.crew = cmp.Or(p.crew, s.cfg.Crew)
		p.agent = cmp.Or(p.agent, s.cfg.Agent)
		return []*memoryDir{&p}, nil, nil
	}
	e := enumeration{known: known, base: s.at.base, memory: s.at.memory}
	if e.root, err = openRoot(s.at.base, nil); err != nil {
		return nil, nil, err
	}
	defer e.root.Close()
	e.crews()
	e.solos()
	e.add(memoryDir{prefix: "workspace-shared/", kind: kindUsers, root: e.base, dir: usersDir})
	if err := e.workspaces(); err != nil {
		return nil, nil, err
	}
	e.expected()
	out = s.bound().of(e.out, known)
	unplaced := 0
	for _, p := range e.out {
		if p.workspace == "" && !slices.Contains(out, p) {
			unplaced++
		}
	}
	if known.problem != "" && unplaced > 0 && (s.at.db != "" || s.cfg.Workspace != "") {
		e.problems = append(e.problems, fmt.Sprintf("%d memory directories: whose they are is told by crewship.db, and %s", unplaced, known.problem))
	}
	return out, e.problems, nil
}

// usersDir has the user models of people in no crew, below the base.
const usersDir = "workspace/shared/.memory"

type enumeration struct {
	known        *directory
	base, memory string
	root         *rootdir.Dir
	out          []*memoryDir
	problems     []string
}

// directories lists the plain directories below one; an absent one has none.
func (e *enumeration) directories(root *rootdir.Dir, dir string) []string {
	children, err := root.List(dir)
	if errors.Is(err, model.NotFound) {
		return nil
	}
	if err != nil {
		e.problems = append(e.problems, err.Error())
		return nil
	}
	var out []string
	for _, c := range children {
		switch {
		case c.Kind == rootdir.Directory:
			out = append(out, c.Name)
		case c.Kind == rootdir.Link:
			e.problems = append(e.problems, dir+"/"+c.Name+" "+model.LinkProblem)
		}
	}
	return out
}

// add adds a memory directory if its directory exists.
func (e *enumeration) add(p memoryDir) {
	m, err := e.root.Stat(p.dir)
	switch {
	case errors.Is(err, model.NotFound):
	case errors.Is(err, model.PermissionDenied) && !errors.Is(err, rootdir.ErrLink):
		e.out = append(e.out, &p) // it may exist: a request for it learns that it cannot be read
	case err != nil:
		e.problems = append(e.problems, err.Error())
	case m.Kind == rootdir.Link:
		e.problems = append(e.problems, p.dir+" "+model.LinkProblem)
	case m.Kind == rootdir.Directory:
		e.out = append(e.out, &p)
	}
}

func (e *enumeration) crews() {
	for _, crew := range e.directories(e.root, "crews") {
		ws := e.known.workspaceOfCrew(crew)
		for _, agent := range e.directories(e.root, "crews/"+crew+"/agents") {
			e.add(agentPlace(e.base, ws, crew, agent))
		}
		e.add(crewPlace(e.base, ws, crew))
	}
}

func agentPlace(base, ws, crew, agent string) memoryDir {
	return memoryDir{prefix: "crews/" + crew + "/agents/" + agent + "/", kind: kindAgent, root: base,
		dir: "crews/" + crew + "/agents/" + agent + "/.memory", workspace: ws, crew: crew, agent: agent}
}

func crewPlace(base, ws, crew string) memoryDir {
	return memoryDir{prefix: "crews/" + crew + "/shared/", kind: kindCrew, root: base,
		dir: "crews/" + crew + "/shared/.memory", workspace: ws, crew: crew}
}

func soloPlace(base, ws, agent string) memoryDir {
	return memoryDir{prefix: "solo/" + ws + "/" + agent + "/", kind: kindSolo, root: base,
		dir: "solo/" + ws + "/agents/" + agent + "/.memory", workspace: ws, agent: agent}
}

func (e *enumeration) solos() {
	for _, ws := range e.directories(e.root, "solo") {
		for _, agent := range e.directories(e.root, "solo/"+ws+"/agents") {
			e.add(soloPlace(e.base, ws, agent))
		}
	}
}

func (e *enumeration) workspaces() error {
	if e.memory == "" {
		return nil
	}
	root, err := openRoot(e.memory, nil)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, ws := range e.directories(root, ".") {
		if ws == "versions" || strings.HasPrefix(ws, ".") {
			continue
		}
		e.out = append(e.out, &memoryDir{prefix: "workspace/" + ws + "/", kind: kindWorkspace,
			root: e.memory, dir: ws, workspace: ws})
	}
	return nil
}

// expected adds the agents and crews of the database without memory yet, so that a first write has a place.
func (e *enumeration) expected() {
	there := map[string]bool{}
	for _, p := range e.out {
		there[p.prefix] = true
	}
	add := func(p memoryDir) {
		if p.missing = true; !there[p.prefix] && rootdir.CheckName(p.dir) == nil {
			there[p.prefix] = true
			e.out = append(e.out, &p)
		}
	}
	for _, a := range e.known.agents {
		switch {
		case !segment(a.slug) || a.crew != "" && !segment(a.crew):
		case a.crew != "":
			add(agentPlace(e.base, a.workspace, a.crew, a.slug))
		case segment(a.workspace):
			add(soloPlace(e.base, a.workspace, a.slug))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.known.crews)) { // a survey is compared with the one before it
		if c := e.known.crews[id]; segment(id) {
			add(crewPlace(e.base, c.workspace, id))
		}
	}
}

// segment is one part of a name; the database's text is as hostile as a file's.
func segment(s string) bool {
	return rootdir.CheckName(s) == nil && !strings.ContainsAny(s, `/\`)
}

// splitID divides an id into the prefix of its place and the label below.
func (s *store) splitID(op, id string) (prefix, label string, err error) {
	if err := rootdir.CheckName(id); err != nil {
		return "", "", badID(op, id)
	}
	if s.at.single {
		return "", id, nil
	}
	parts := strings.SplitN(id, "/", 5)
	cut := 0
	switch parts[0] {
	case "crews":
		if len(parts) >= 4 && parts[2] == "shared" {
			cut = 3
		} else if len(parts) == 5 && parts[2] == "agents" {
			cut = 4
		}
	case "solo":
		cut = 3
	case "workspace":
		cut = 2
	case "workspace-shared":
		cut = 1
	}
	if cut == 0 || len(parts) <= cut {
		return "", "", badID(op, id)
	}
	prefix = strings.Join(parts[:cut], "/") + "/"
	return prefix, id[len(prefix):], nil
}

// pathOf returns the directory of a root and an item's file below it.
func (s *store) pathOf(id string) (dir, file string) {
	prefix, label, err := s.splitID("path", id)
	if err != nil {
		return s.at.base, id
	}
	parts := strings.Split(prefix, "/")
	switch parts[0] {
	case "crews":
		return s.at.base, prefix + memoryName + "/" + label
	case "solo":
		return s.at.base, soloPlace("", parts[1], parts[2]).dir + "/" + label
	case "workspace":
		return s.at.memory, parts[1] + "/" + label
	case "workspace-shared":
		return s.at.base, usersDir + "/" + label
	}
	return s.at.base, label
}

func badID(op, id string) error {
	if len(id) > rootdir.MaxName {
		return rootdir.CheckName(id) // it does not quote the id
	}
	return model.Errorf(model.InvalidInput, op, "%q is no id of this store; take one from its lists", id)
}

// there are the memory directories that exist.
func (snap *snapshot) there() []*memoryDir {
	return slices.DeleteFunc(slices.Clone(snap.memories), func(p *memoryDir) bool { return p.missing })
}

// find is the memory directory of a well-formed id; nil when the store does not have it.
func (snap *snapshot) find(prefix string) *memoryDir {
	if i := slices.IndexFunc(snap.memories, func(p *memoryDir) bool { return p.prefix == prefix }); i >= 0 {
		return snap.memories[i]
	}
	return nil
}
