package crewship

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
	"memdesk/quarantine"
)

const quarantineDir = ".quarantine"

// quarantineLabel gives the file name of a quarantine entry's label.
func quarantineLabel(label string) (name string, ok bool) {
	name, ok = strings.CutPrefix(label, quarantineDir+"/")
	if !ok {
		return "", false
	}
	_, ok = quarantine.HashOfName(name)
	return name, ok
}

// Quarantined lists the quarantine entries of every agent's directory, by id. An unreadable directory is
// one row that says so: no permission does not mean no quarantine.
func (s *store) Quarantined(ctx context.Context) ([]model.Quarantined, error) {
	snap, err := s.survey(ctx, "quarantine")
	if err != nil {
		return nil, err
	}
	out := []model.Quarantined{}
	for _, p := range snap.there() {
		if err := model.FromContext(ctx, "quarantine"); err != nil {
			return nil, err
		}
		rows, err := s.quarantinedIn(snap, p)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	slices.SortStableFunc(out, func(a, b model.Quarantined) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

func (s *store) quarantinedIn(snap *snapshot, p *memoryDir) ([]model.Quarantined, error) {
	dir, err := s.open(p)
	if err != nil {
		return unlistable(p, err)
	}
	defer dir.Close()
	children, err := dir.List(quarantineDir)
	if err != nil {
		return unlistable(p, err)
	}
	var out []model.Quarantined
	for _, c := range children {
		if quarantine.IsTempName(c.Name) || c.Kind == rootdir.Directory {
			continue
		}
		q := s.quarantinedOne(snap, p, dir, c.Name)
		q.Body = ""
		out = append(out, q)
	}
	return out, nil
}

// unlistable is the row of an unreadable quarantine; nothing for a memory directory without one.
func unlistable(p *memoryDir, err error) ([]model.Quarantined, error) {
	switch {
	case errors.Is(err, model.NotFound):
		return nil, nil
	case errors.Is(err, model.Unavailable):
		return nil, err
	}
	problem := "the quarantine cannot be read: " + err.Error()
	if errors.Is(err, model.PermissionDenied) {
		problem = "no permission to look into this quarantine; run as root or as the store's own user"
	}
	return []model.Quarantined{{ID: p.prefix + quarantineDir, Problem: problem}}, nil
}

// quarantinedOne reads one entry; its error is its Problem.
func (s *store) quarantinedOne(snap *snapshot, p *memoryDir, dir *rootdir.Dir, name string) model.Quarantined {
	q := model.Quarantined{ID: p.prefix + quarantineDir + "/" + name}
	data, m, err := dir.Read(quarantineDir+"/"+name, texts.WholeLimit)
	q.Bytes, q.Unread = m.Size, err != nil
	q.SHA256, _ = quarantine.HashOfName(name) // a header's claim proves nothing
	switch {
	case isTooLarge(err):
		q.Problem = "the entry is too large to be read: delete it, or attest it"
		return q
	case errors.Is(err, model.PermissionDenied) && !errors.Is(err, rootdir.ErrLink):
		q.Problem = "no permission to read this entry; run as root or as the store's own user"
		return q
	case err != nil:
		q.Problem = "the entry cannot be read: " + err.Error()
		return q
	}
	f, err := quarantine.ParseNamed(name, data)
	if err != nil {
		q.Problem = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	q.Source, q.Category, q.Pattern = f.Source, f.Category, f.Pattern
	q.SHA256 = cmp.Or(q.SHA256, f.SHA256)
	q.At, q.Bytes, q.Body = f.QuarantinedAt, int64(len(f.Body)), f.Body
	q.SourceID = sourceID(snap, p, f.Source)
	return q
}

// sourceID is the item of a recorded label: the agent's own, or for CREW.md the one shared by its crew. The
// item need not exist any more. Empty when unknown.
func sourceID(snap *snapshot, p *memoryDir, label string) string {
	if rootdir.CheckName(label) != nil || !isMemory(label) {
		return ""
	}
	if label == "CREW.md" && p.kind == kindAgent {
		if p = snap.find("crews/" + p.crew + "/shared/"); p == nil { // or an agent's directory was opened by itself
			return ""
		}
	}
	return p.prefix + label
}

// ReadQuarantined returns one entry with its content.
func (s *store) ReadQuarantined(ctx context.Context, id string) (model.Quarantined, error) {
	prefix, label, err := s.splitID("quarantine", id)
	if err != nil {
		return model.Quarantined{}, err
	}
	name, ok := strings.CutPrefix(label, quarantineDir+"/")
	if !ok || strings.Contains(name, "/") {
		return model.Quarantined{}, model.Errorf(model.InvalidInput, "quarantine", "%q is no entry of a quarantine", id)
	}
	snap, err := s.survey(ctx, "quarantine")
	if err != nil {
		return model.Quarantined{}, err
	}
	p := snap.find(prefix)
	if p == nil {
		return model.Quarantined{}, absent("quarantine", id)
	}
	dir, err := s.open(p)
	if err != nil {
		return model.Quarantined{}, err
	}
	defer dir.Close()
	if _, err := dir.Stat(label); err != nil {
		return model.Quarantined{}, err
	}
	return s.quarantinedOne(snap, p, dir, name), nil
}
