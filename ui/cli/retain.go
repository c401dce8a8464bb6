package cli

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"memdesk/internal/drafts"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) retainCommand() *cobra.Command {
	var req model.RetainRequest
	kept := false
	c := &cobra.Command{
		Use: "retain (REF | --tier T [--key K]) --mode replace|append [FILE|-]", Short: "Write an item",
		Long: "Writes one item, addressed by its reference or by tier and key, from a file or standard input.\n" +
			"With --mode replace the input is the document as `memdesk show --raw` writes it. --kept takes the text that was put\n" +
			"aside for the item, because no store took it or the store's own program undid the write.\n" +
			"What the write replaces is kept for `memdesk undo`.",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return a.retain(cmd.Context(), req, kept, args) },
	}
	fl := c.Flags()
	fl.StringVar(&req.Tier, "tier", "", "the `TIER` to write to, instead of a REF")
	fl.StringVar(&req.Key, "key", "", "the `KEY` inside the tier")
	fl.StringVar((*string)(&req.Mode), "mode", "", "how to write: `replace|append`")
	fl.StringVar((*string)(&req.IfMatch), "if-match", "", "only if the item is at this `REVISION`; the word absent: only if there is none")
	fl.StringVar(&req.WorkspaceID, "workspace", "", "the `WORKSPACE` that owns the item")
	fl.StringVar(&req.CrewID, "crew", "", "the `CREW` that owns the item")
	fl.StringVar(&req.AgentID, "agent", "", "the `AGENT` that owns the item")
	fl.StringVar(&req.DataSubjectID, "subject", "", "the person (`ID`) whom the item concerns")
	fl.BoolVar(&kept, "kept", false, "write the text that was put aside for REF, instead of a FILE")
	return a.asksWhy(c)
}

func (a *app) retain(ctx context.Context, req model.RetainRequest, fromKept bool, args []string) error {
	if err := req.Mode.Check(); err != nil {
		return usage("--mode %q: give --mode replace or --mode append", req.Mode)
	}
	s, store, file, err := a.retainTarget(ctx, &req, args)
	if err != nil {
		return err
	}
	var content string
	found := func() {} // removes the kept text once it is written
	if fromKept {
		content, found, err = a.keptText(s.State, store.Name, &req, file)
	} else {
		content, err = a.readInput(ctx, file)
	}
	if err != nil {
		return err
	}
	unwritten, err := operator.Decode(ctx, store, &req, content)
	if err != nil {
		return err
	}
	var kept []string // by the store
	for _, f := range unwritten {
		kept = append(kept, a.text.Sprintf("%s is kept by the store (%s) and was not written", f.Name, f.Value).String())
	}
	a.sayEach(kept, "note: %s")
	what := cmp.Or(req.ID, req.Tier+" "+req.Key)
	id := req.ID
	if id == "" && store.Address != nil {
		id, _ = store.Address(req) // the store itself refuses a bad address
	}
	if err := a.agree(ctx, operator.ActOf(req), store.Name, a.text.Sprintf("%s %s in store %s with %d bytes?", string(req.Mode), what, store.Name, len(req.Content)).String(), model.Ref{Store: store.Name, ID: id}); err != nil {
		return err
	}
	done, err := s.Retain(ctx, store.Name, req, a.flags.reason)
	if err != nil && !model.IsPartial(err) { // items that were made are printed, the rest is the error
		return err
	}
	if err == nil {
		found()
	}
	a.sayEach(done.Warnings, "warning: %s")
	done.Warnings = append(done.Warnings, kept...)
	a.emit("retained", newRetainedRow(done))
	if done.Item == "" { // a store that only adds returns no id, and nothing to undo
		a.tellf("added to %s  %d bytes", store.Name, done.Bytes)
		return err
	}
	a.tellf("%s  %d bytes  revision %s", refOf(store.Name, done.Item), done.Bytes, string(done.Revision))
	a.sayUndo(done)
	return err
}

type retainedRow struct {
	itemAt
	Bytes    int64          `json:"bytes"`
	Revision model.Revision `json:"revision"`
	Undo     *string        `json:"undo"`
	Warnings []string       `json:"warnings"`
}

func newRetainedRow(done operator.Done) retainedRow {
	if done.Obstacle != "" { // as sayUndo tells it without --json
		done.Warnings = append(slices.Clip(done.Warnings), "it cannot be undone: "+done.Obstacle)
	}
	return retainedRow{newItemAt(done.Store, done.Item), done.Bytes, done.Revision, nilIfEmpty(done.Undo), list(done.Warnings)}
}

// keptText reads the newest kept text of an item, for the revision at which the item was seen. found removes it once
// it is written.
func (a *app) keptText(state, store string, req *model.RetainRequest, file string) (content string, found func(), err error) {
	if req.ID == "" || file != "" || req.Mode != model.Replace {
		return "", nil, usage("--kept goes with a REF and --mode replace, and without a FILE")
	}
	put := drafts.New(filepath.Join(state, "edit"), a.Clock, nil)
	all, err := put.Kept()
	if err != nil {
		return "", nil, model.E(model.Unavailable, "retain", err)
	}
	for _, k := range all {
		if p, ok := k.Purpose(); ok && p.What == 0 && p.Store == store && p.Req.ID == req.ID {
			content, err := put.ReadKept(k.Name)
			if err != nil {
				return "", nil, model.E(model.Unavailable, "retain", err)
			}
			req.IfMatch = cmp.Or(req.IfMatch, p.Req.IfMatch)
			return content, func() { _ = put.Drop(k.Name) }, nil // a leftover expires
		}
	}
	return "", nil, model.Errorf(model.NotFound, "retain", "no text was put aside for %s", model.Ref{Store: store, ID: req.ID})
}

// retainTarget finds the store and the input's name from the arguments.
func (a *app) retainTarget(ctx context.Context, req *model.RetainRequest, args []string) (s *operator.Session, store model.Store, file string, err error) {
	switch {
	case req.Tier == "" && len(args) == 0:
		return nil, store, "", usage("say what to write: a REF, or --tier and --key")
	case req.Tier == "":
		var ref model.Ref
		s, store, ref, err = a.at(ctx, args[0])
		req.ID, args = ref.ID, args[1:]
	case len(args) > 1:
		return nil, store, "", usage("with --tier the only argument is the FILE")
	default:
		s, store, err = a.onlyStore(ctx, "one")
	}
	if err == nil {
		err = store.CheckScope("retain", req.WorkspaceID, req.AgentID, req.CrewID)
	}
	return s, store, argument(args, 0), err
}

func argument(args []string, n int) string {
	if n < len(args) {
		return args[n]
	}
	return ""
}
