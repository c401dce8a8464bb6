package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/undo"
)

func (a *app) forgetCommand() *cobra.Command {
	ifMatch, keepHistory := "", false
	c := &cobra.Command{
		Use: "forget REF...", Short: "Delete items",
		Long: "Deletes items one by one; an absent item counts 0 and is no error. What goes is kept for\n`memdesk undo`, unless an erasure removes it there too.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if ifMatch != "" && len(args) > 1 {
				return usage("--if-match goes with one REF")
			}
			question, err := a.forgetQuestion(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := a.confirm(cmd.Context(), question); err != nil {
				return err
			}
			return a.forgetAll(cmd.Context(), args, model.ForgetRequest{IfMatch: model.Revision(ifMatch), KeepHistory: keepHistory})
		},
	}
	c.Flags().StringVar(&ifMatch, "if-match", "", "only if the item is at this `REVISION`")
	c.Flags().BoolVar(&keepHistory, "keep-history", false, "leave the earlier texts that the store keeps: the item's text stays readable there")
	return a.asksWhy(c)
}

// forgetQuestion names what goes and what could not be put back. Every reference
// is read before the first store is opened, so that only those named are.
func (a *app) forgetQuestion(ctx context.Context, refs []string) (string, error) {
	for _, text := range refs {
		ref, err := model.ParseRef(text)
		if err != nil {
			return "", err
		}
		a.need(ref.Store)
	}
	falls, noun, err := a.sayFalls(ctx, refs)
	if err != nil && !a.flags.yes { // else each item says for itself why it did not go
		return "", err
	}
	question := "forget " + strings.Join(refs, ", ")
	if falls > 0 {
		question += " and " + plural(falls, noun) + " with it"
	}
	if a.flags.yes {
		return question, nil
	}
	for _, text := range refs {
		s, store, ref, err := a.at(ctx, text)
		if err != nil {
			return "", err
		}
		warnings, err := s.Preview(ctx, store.Name, ref.ID)
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
func (a *app) sayFalls(ctx context.Context, refs []string) (n int64, noun string, err error) {
	var all []string
	byStore := map[string][]string{}
	var order []string
	for _, text := range refs {
		_, store, ref, err := a.at(ctx, text)
		if err != nil {
			return 0, "", err
		}
		if byStore[store.Name] == nil {
			order = append(order, store.Name)
		}
		byStore[store.Name] = append(byStore[store.Name], ref.ID)
	}
	for _, store := range order {
		falls, err := a.session.Falls(ctx, store, byStore[store])
		if err != nil {
			return n, "", err
		}
		if len(falls) > 0 {
			a.sayf("%s: %s", store, undo.FallWords(falls))
		}
		all = append(all, falls...)
	}
	return int64(len(all)), undo.FallNoun(all), nil
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
	req.ID = ref.ID
	done, err := s.Forget(ctx, store.Name, req, a.flags.reason)
	if err != nil {
		return err
	}
	for _, w := range done.Warnings {
		a.sayf("%s: %s", text, w)
	}
	with := ""
	if done.Relations > 0 {
		with = ", and " + plural(done.Relations, done.Fell) + " with it"
	}
	a.result("forgotten", row{"store": store.Name, "id": model.EncodeID(ref.ID), "removed": done.Removed, "relations": done.Relations, "undo": nilIfEmpty(done.Undo)},
		"%s  removed %d%s", ref.String(), done.Removed, with)
	if req.KeepHistory && !a.flags.json {
		a.sayf("%s: its earlier texts stay in the store's history", ref.String())
	}
	a.sayUndo(done)
	return nil
}
