package crewship

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
)

// Forget unlinks one file and then its lock file while holding it. A quarantine entry can be forgotten by
// its id too. An absent item or directory is Removed 0 (R31); a symbolic link is refused (R34).
func (s *store) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	if err := req.CheckSelectors(); err != nil {
		return model.ForgetResult{}, err
	}
	if req.DataSubjectID != "" {
		return s.cascade(ctx, req)
	}
	e, err := s.resolve(ctx, "forget", req.ID)
	if err != nil {
		return model.ForgetResult{}, err
	}
	if err := s.checkScope(ctx, e, req); err != nil {
		return model.ForgetResult{}, err
	}
	if err := s.reason.Check("forget"); err != nil {
		return model.ForgetResult{}, err
	}
	if e.memory == nil {
		return model.ForgetResult{}, nil
	}
	if err := s.couldBe(e); err != nil {
		return model.ForgetResult{}, err
	}
	dir, err := s.open(e.memory)
	if errors.Is(err, model.NotFound) && !s.at.single {
		return model.ForgetResult{}, nil
	}
	if err != nil {
		return model.ForgetResult{}, err
	}
	defer dir.Close()
	defer s.changed()
	err = forget(ctx, dir, e, req.IfMatch)
	switch {
	case errors.Is(err, model.NotFound):
		return model.ForgetResult{}, nil
	case err != nil:
		return model.ForgetResult{}, err
	}
	return model.ForgetResult{Removed: 1}, nil
}

// couldBe refuses an id that no item of its directory can have, unless one has it (R34): a word without an
// extension, or a file of a tier that lives elsewhere, such as CREW.md in an agent's own memory.
func (s *store) couldBe(e entry) error {
	elsewhere := slices.ContainsFunc(contractTiers, func(tier string) bool { return e.label == tier+".md" && !lives(tier, e.memory.kind) })
	if !elsewhere && strings.Contains(path.Base(e.label), ".") {
		return nil
	}
	dir, err := s.open(e.memory)
	if err == nil {
		defer dir.Close()
		_, err = dir.Stat(e.label)
	}
	switch {
	case !errors.Is(err, model.NotFound):
		return nil
	case elsewhere:
		return model.Errorf(model.InvalidInput, "forget", "%q: this is the memory of one agent or crew, in which %s does not lie", e.id, e.label)
	}
	return badID("forget", e.id)
}

func (s *store) checkScope(ctx context.Context, e entry, req model.ForgetRequest) error {
	sel := selection{req.WorkspaceID, req.CrewID, req.AgentID}
	if sel.empty() {
		return nil
	}
	snap, err := s.survey(ctx, "forget")
	if err != nil {
		return err
	}
	if e.memory == nil {
		_, err := s.choose("forget", snap, sel)
		return err
	}
	return s.agrees("forget", snap, e.memory, sel)
}

// forget removes the file; NotFound when it is absent.
func forget(ctx context.Context, dir *rootdir.Dir, e entry, want model.Revision) error {
	if err := removable(dir, e.label); err != nil {
		return err
	}
	if e.tier == tierQuarantine { // upstream takes no lock there
		if err := matches(dir, e.label, want); err != nil {
			return err
		}
		return dir.Remove(e.label)
	}
	sentinel := e.label + ".lock"
	if lockable(e.label) {
		lock, err := dir.Lock(ctx, sentinel, privateMode)
		if err != nil {
			return err
		}
		defer lock.Unlock()
	}
	if err := removable(dir, e.label); err != nil {
		return err
	}
	if err := matches(dir, e.label, want); err != nil {
		return err
	}
	if err := model.FromContext(ctx, "forget"); err != nil {
		return err
	}
	if err := dir.Remove(e.label); err != nil {
		return err
	}
	if err := dir.Remove(sentinel); err != nil && !errors.Is(err, model.NotFound) && !errors.Is(err, model.InvalidInput) {
		return model.Errorf(model.KindOf(err), "forget", "the item is removed, but its lock file is not: %w", err)
	}
	return nil
}

// lockable reports whether an item can have a lock file. No writer can hold a lock whose name no file can have.
func lockable(label string) bool { return len(path.Base(label)+".lock") <= 255 }

// removable refuses anything but a regular file: a link is neither followed nor removed.
func removable(dir *rootdir.Dir, label string) error {
	if err := dir.Plain(label); err != nil {
		return err
	}
	return dir.Removable(label)
}

func matches(dir *rootdir.Dir, label string, want model.Revision) error {
	if want == "" {
		return nil
	}
	data, _, err := dir.Read(label, texts.WholeLimit)
	if err != nil {
		return err
	}
	return model.CheckMatch("forget", want, true, revisionOf(data))
}

// keep implements model.Store.Keep.
func (s *store) keep(ctx context.Context, id string) ([]model.BesideRow, error) {
	e, err := s.resolve(ctx, "keep", id)
	if err != nil || e.memory == nil {
		return nil, err
	}
	dir, err := s.open(e.memory)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Kept(e.label)
}
