package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/audit"
	"memdesk/model"
	"memdesk/undo"
)

func (a *app) forgetCommand() *cobra.Command {
	var reason, ifMatch string
	yes, keepHistory := false, false
	c := &cobra.Command{
		Use: "forget REF...", Short: "Delete items",
		Long: "Deletes items one by one; an absent item counts 0 and is no error. What goes is kept for\n`memdesk undo`, unless an erasure removes it there too.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ifMatch != "" && len(args) > 1 {
				return usage("--if-match goes with one REF")
			}
			question, err := a.forgetQuestion(cmd.Context(), args, yes)
			if err != nil {
				return err
			}
			if err := a.confirm(cmd.Context(), yes, question); err != nil {
				return err
			}
			return a.forgetAll(audit.WithReason(cmd.Context(), reason), args, model.ForgetRequest{IfMatch: model.Revision(ifMatch), KeepHistory: keepHistory})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit log")
	c.Flags().StringVar(&ifMatch, "if-match", "", "only if the item is at this `REVISION`")
	c.Flags().BoolVar(&keepHistory, "keep-history", false, "leave the earlier texts that the store keeps: the item's text stays readable there")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// forgetQuestion names what goes and what could not be put back. Every reference
// is read before the first store is opened, so that only those named are.
func (a *app) forgetQuestion(ctx context.Context, refs []string, yes bool) (string, error) {
	for _, text := range refs {
		ref, err := model.ParseRef(text)
		if err != nil {
			return "", err
		}
		a.need(ref.Store)
	}
	falls, err := a.sayFalls(ctx, refs)
	if err != nil && !yes { // else each item says for itself why it did not go
		return "", err
	}
	question := "forget " + strings.Join(refs, ", ")
	if falls > 0 {
		question += " and " + plural(falls, "relation") + " with it"
	}
	if yes {
		return question, nil
	}
	for _, text := range refs {
		s, store, ref, err := a.at(ctx, text)
		if err != nil {
			return "", err
		}
		warnings, err := s.undo.Preview(ctx, store, ref.ID)
		if err != nil {
			return "", err
		}
		for _, w := range warnings {
			a.sayf("%s: %s", text, w)
		}
	}
	return question + "?", nil
}

// sayFalls names what goes because the items of refs do, all of them together: an edge
// that two of them tie falls with neither of them alone.
func (a *app) sayFalls(ctx context.Context, refs []string) (n int64, err error) {
	byStore := map[string][]string{}
	var order []model.Store
	for _, text := range refs {
		_, store, ref, err := a.at(ctx, text)
		if err != nil {
			return 0, err
		}
		if byStore[store.Name] == nil {
			order = append(order, store)
		}
		byStore[store.Name] = append(byStore[store.Name], ref.ID)
	}
	for _, store := range order {
		if store.Falls == nil {
			continue
		}
		falls, err := store.Falls(ctx, byStore[store.Name])
		if err != nil {
			return n, err
		}
		var ids []string
		for _, f := range falls {
			ids = append(ids, f.ID)
		}
		if len(ids) > 0 {
			a.sayf("%s: %s", store.Name, undo.FallWords(ids))
		}
		n += int64(len(ids))
	}
	return n, nil
}

// forgetAll removes what it can. A single failure is returned as it is; among
// several the others still go, and each failure is told.
func (a *app) forgetAll(ctx context.Context, refs []string, req model.ForgetRequest) error {
	var t tally
	for _, text := range refs {
		err := a.forgetOne(ctx, text, req)
		if err != nil && len(refs) == 1 {
			return err
		}
		t.add(err)
		if err != nil {
			ref, _ := model.ParseRef(text)
			a.failed(ref, err)
		}
	}
	return t.result()
}

func (a *app) forgetOne(ctx context.Context, text string, req model.ForgetRequest) error {
	s, store, ref, err := a.at(ctx, text)
	if err != nil {
		return err
	}
	if req.KeepHistory && !store.Capabilities()["keep_history"] {
		return usage("%s keeps no earlier texts that --keep-history could leave", store.Name)
	}
	req.ID = ref.ID
	res, e, err := s.undo.Forget(ctx, store, req)
	if err != nil {
		return err
	}
	fell, err := e.Fell(ctx, store)
	if err != nil { // the item is gone all the same
		a.sayf("%s: which relations went with it cannot be seen: %v", text, err)
	}
	if a.flags.json {
		return a.emit("forgotten", row{"store": store.Name, "id": model.EncodeID(ref.ID), "removed": res.Removed, "relations": fell, "undo": undoID(e)})
	}
	with := ""
	if fell > 0 {
		with = ", and " + plural(fell, "relation") + " with it"
	}
	a.linef("%s  removed %d%s", ref.String(), res.Removed, with)
	if req.KeepHistory {
		a.sayf("%s: its earlier texts stay in the store's history", ref.String())
	}
	a.sayUndo(e)
	return nil
}
