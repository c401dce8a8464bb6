package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/operator"
	"memdesk/undo"
)

func (a *app) forgetCommand() *cobra.Command {
	var req model.ForgetRequest
	c := &cobra.Command{
		Use: "forget REF...", Short: "Delete items",
		Long: "Deletes items one by one; an absent item counts 0 and is no error. What goes is kept for\n`memdesk undo`, unless an erasure removes it there too.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if req.IfMatch != "" && len(args) > 1 {
				return usage("--if-match goes with one REF")
			}
			refs, err := a.refs(args)
			if err != nil {
				return err
			}
			question, err := a.forgetQuestion(cmd.Context(), args, refs)
			if err != nil {
				return err
			}
			if err := a.agree(cmd.Context(), operator.Forget, "", question, refs...); err != nil {
				return err
			}
			return a.forgetAll(cmd.Context(), args, req)
		},
	}
	c.Flags().StringVar((*string)(&req.IfMatch), "if-match", "", "only if the item is at this `REVISION`")
	c.Flags().BoolVar(&req.KeepHistory, "keep-history", false, "leave the earlier texts that the store keeps: the item's text stays readable there")
	return a.asksWhy(c)
}

// refs parses references before the first store opens, so that only the named stores open.
func (a *app) refs(texts []string) ([]model.Ref, error) {
	refs, err := parseRefs(texts)
	for _, ref := range refs {
		a.need(ref.Store)
	}
	return refs, err
}

func parseRefs(texts []string) ([]model.Ref, error) {
	refs := make([]model.Ref, len(texts))
	for i, text := range texts {
		var err error
		if refs[i], err = model.ParseRef(text); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// forgetQuestion names what goes and what could not be undone.
func (a *app) forgetQuestion(ctx context.Context, texts []string, refs []model.Ref) (string, error) {
	s, err := a.stores(ctx)
	if err != nil {
		return "", err
	}
	falls, err := a.sayFalls(ctx, s, refs)
	if err != nil && !a.flags.yes { // else each item reports its own failure
		return "", err
	}
	question := "forget " + strings.Join(texts, ", ")
	if len(falls) > 0 {
		question += " and " + plural(int64(len(falls)), undo.FallNoun(falls)) + " with it"
	}
	if a.flags.yes {
		return question, nil
	}
	for i, ref := range refs {
		warnings, err := s.Preview(ctx, ref.Store, ref.ID)
		if err != nil {
			return "", err
		}
		a.sayEach(warnings, "%s: %s", texts[i])
	}
	return question + "?", nil
}

// sayFalls names the relations that go with the items of refs; those of an only item stand in its preview.
func (a *app) sayFalls(ctx context.Context, s *operator.Session, refs []model.Ref) (all []string, err error) {
	for _, ref := range refs {
		if _, err := a.openStore(ref.Store); err != nil {
			return nil, err
		}
	}
	falls, err := operator.FallsOf(ctx, s.Fleet, refs)
	for _, f := range falls {
		if len(refs) > 1 {
			a.sayf("%s: %s", f.Store, undo.FallWords(f.IDs))
		}
		all = append(all, f.IDs...)
	}
	return all, err
}

// duplicate is the number at the end of the id of a duplicate, as in `x#2`; 0 for another id.
func duplicate(text string) int {
	n, _ := strconv.Atoi(text[strings.LastIndexByte(text, '#')+1:]) // without a number sign the text begins with a store's name
	return n
}

// forgetAll removes items one by one, the last duplicate of an id first: those behind one that goes get the number
// before theirs. It returns the failure of a single item as it is; of several it
// prints each failure and goes on.
func (a *app) forgetAll(ctx context.Context, refs []string, req model.ForgetRequest) error {
	t := tally{app: a}
	refs = slices.SortedStableFunc(slices.Values(refs), func(x, y string) int { return cmp.Compare(duplicate(y), duplicate(x)) })
	for _, text := range refs {
		err := a.forgetOne(ctx, text, req)
		if err != nil && len(refs) == 1 {
			return err
		}
		ref, _ := model.ParseRef(text)
		t.note(ref, err)
	}
	return t.result()
}

type forgottenRow struct {
	itemAt
	Removed   int64    `json:"removed"`
	Relations int64    `json:"relations"` // that fell with it
	Undo      *string  `json:"undo"`
	Warnings  []string `json:"warnings"`
}

func (a *app) forgetOne(ctx context.Context, text string, req model.ForgetRequest) error {
	s, store, ref, err := a.at(ctx, text)
	if err != nil {
		return err
	}
	req.ID = ref.ID
	told, _ := s.Preview(ctx, store.Name, ref.ID) // the act reports an unreadable item
	done, err := s.Forget(ctx, store.Name, req, a.flags.reason)
	refused := model.IsRefusal(err) || errors.Is(err, model.Unsupported)
	if a.flags.yes && !refused { // else the question told it, or nothing was done
		a.sayEach(told, "%s: %s", text)
	}
	if err != nil {
		return err
	}
	more := slices.DeleteFunc(done.Warnings, func(w string) bool { return slices.Contains(told, w) })
	if req.KeepHistory {
		more = append(more, "its earlier texts stay in the store's history")
	}
	a.sayEach(more, "%s: %s", text)
	with := ""
	if done.Relations > 0 {
		with = ", and " + plural(done.Relations, done.Fell) + " with it"
	}
	a.result("forgotten", forgottenRow{newItemAt(store.Name, ref.ID), done.Removed, done.Relations, nilIfEmpty(done.Undo), list(slices.Concat(told, more))},
		"%s  removed %d%s", ref.String(), done.Removed, with)
	a.sayUndo(done)
	return nil
}
