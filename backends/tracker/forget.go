package tracker

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memdesk/model"
)

// Forget removes one entry and the pairs that name it, but for those inside other items' lines (staying). It leaves no tombstone.
func (a *adapter) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	err := cmp.Or(a.begin(ctx, "forget", true), req.CheckSelectors(), a.CheckBound("forget", req.WorkspaceID, req.AgentID, req.CrewID))
	if err != nil {
		return model.ForgetResult{}, err
	}
	if req.DataSubjectID != "" {
		return model.ForgetResult{}, model.NoCascade("")
	}
	if err := checkID("forget", req.ID); err != nil {
		return model.ForgetResult{}, err
	}
	if !a.Capabilities.Delete && tierOfID(req.ID) != TierMemory {
		return model.ForgetResult{}, model.Errorf(model.Unsupported, "forget", "this store cannot delete: close the item, or erase it with the store's own tools")
	}
	removed, err := a.Backend.Remove(ctx, req.ID, func(r Record) error {
		if err := model.FromContext(ctx, "forget"); err != nil {
			return err
		}
		return model.CheckMatch("forget", req.IfMatch, true, r.Revision())
	})
	if err != nil {
		return model.ForgetResult{}, model.Wrap("forget", err)
	}
	if removed {
		return model.ForgetResult{Removed: 1, Warnings: a.staying(ctx, req.ID)}, nil
	}
	return model.ForgetResult{}, nil
}

// staying says which items of a file still name a removed one in their own lines, which only an erasure edits.
func (a *adapter) staying(ctx context.Context, id string) []string {
	if _, file := a.Backend.(Keeper); !file {
		return nil
	}
	v, err := a.view(ctx, "forget")
	if err != nil || v.Find(id) >= 0 { // another line has the id, and its pairs
		return nil
	}
	pairs, _ := v.Of(ctx, id) // a file's are known without an error
	var in []string
	for _, d := range pairs {
		if d.Blocked != id {
			in = append(in, d.Blocked)
		}
	}
	if len(in) == 0 {
		return nil
	}
	slices.Sort(in)
	return []string{"these items still name it in their own dependencies: " + strings.Join(slices.Compact(in), ", ")}
}

// heirs is a View of lines of which several may have one id: each behind a removed one gets the handle before its own.
type heirs interface{ Heirs(i int) []string }

// rewrites names the items that depend on one: its removal takes the pair out of them, at the latest in the scrub of an
// erasure. It names those that get another handle too. A Retain changes no other item.
func (a *adapter) rewrites(ctx context.Context, req model.RetainRequest) ([]string, error) {
	if req.Mode != "" {
		return nil, nil
	}
	v, err := a.view(ctx, "forget")
	if err != nil {
		return nil, err
	}
	pairs, err := v.Of(ctx, req.ID)
	var out []string
	for _, d := range pairs {
		if d.Blocker == req.ID && d.Blocked != req.ID {
			out = append(out, d.Blocked)
		}
	}
	if h, ok := v.(heirs); ok {
		if i := v.Find(req.ID); i >= 0 {
			out = append(out, h.Heirs(i)...)
		}
	}
	return out, model.Wrap("forget", err)
}
