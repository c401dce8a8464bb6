package notes

import (
	"context"
	"errors"

	"memdesk/backends/seam"
	"memdesk/model"
)

// Forget unlinks one file. An absent item or directory is Removed 0 (R31); a
// symbolic link is refused (R34). AgentM's own memory_forget keeps file and text
// and only changes the status: that is an edit.
func (s *store) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	if err := req.CheckSelectors(); err != nil {
		return model.ForgetResult{}, err
	}
	if req.DataSubjectID != "" {
		return model.ForgetResult{}, model.NoCascade("")
	}
	at, err := s.locate("forget", req.ID)
	if err != nil {
		return model.ForgetResult{}, err
	}
	if err := s.reason.Check("forget"); err != nil {
		return model.ForgetResult{}, err
	}
	if err := s.check("forget", at.Key()); err != nil {
		return model.ForgetResult{}, err
	}
	if err := s.removable(req.ID); err != nil {
		if errors.Is(err, model.NotFound) {
			return model.ForgetResult{}, nil
		}
		return model.ForgetResult{}, err
	}
	defer s.changed()
	there := false
	done, err := s.cfg.Tree.Change(ctx, "forget", at, func(old []byte, exists bool) (seam.Edit, error) {
		if there = exists; !exists {
			return seam.Edit{Keep: true}, nil
		}
		return seam.Edit{Remove: true}, model.CheckMatch("forget", req.IfMatch, true, seam.RevisionOf(string(old)))
	})
	warnings := s.noteDisplaced(req.ID, done, s.clock.Now().UTC())
	if err != nil || !there {
		return model.ForgetResult{}, err
	}
	if s.cfg.Layout != nil {
		var more []string
		more, err = s.cfg.Layout.Removed(ctx, at.Key(), req.Beside)
		warnings = append(warnings, more...)
	}
	return model.ForgetResult{Removed: 1, Warnings: warnings}, err
}

// removable refuses anything but a regular file: a link is neither followed nor removed.
func (s *store) removable(id string) error {
	root, err := s.open("forget")
	if err != nil {
		return err
	}
	if root == nil {
		return absent("forget", id)
	}
	defer root.Close()
	return root.Removable(id)
}

// keep implements model.Store.Keep.
func (s *store) keep(_ context.Context, id string) ([]model.BesideRow, error) {
	at, err := s.locate("keep", id)
	if err != nil {
		return nil, err
	}
	root, err := s.open("keep")
	if err != nil || root == nil {
		return nil, err
	}
	defer root.Close()
	return root.Kept(at.Key())
}
