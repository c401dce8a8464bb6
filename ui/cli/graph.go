package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/operator"
)

func noGraph(op string, s model.Store) error {
	return model.Errorf(model.Unsupported, op, "store %s knows no relations of items", s.Name)
}

func (a *app) neighboursCommand() *cobra.Command {
	var req model.GraphRequest
	c := &cobra.Command{
		Use: "neighbours REF", Short: "The items around one, nearest first",
		RunE: a.onItem(func(ctx context.Context, _ *operator.Session, s model.Store, ref model.Ref) error {
			if s.Graph == nil {
				return noGraph("neighbours", s)
			}
			items, err := s.Graph.Neighbours(ctx, ref.ID, req)
			if err != nil {
				return err
			}
			a.printItems(s.Name, items)
			if most := model.PageLimit(req.Limit); len(items) == most {
				a.sayf("these are the nearest %d, and there may be more: give --limit (%d at most) or --kind", most, model.MaxPage)
			}
			return nil
		}),
	}
	f := c.Flags()
	f.BoolVar(&req.Outgoing, "outgoing", false, "only where the item is the subject")
	f.BoolVar(&req.Incoming, "incoming", false, "only where the item is the object")
	f.IntVar(&req.Depth, "depth", 1, "up to `N` steps away")
	f.IntVar(&req.Limit, "limit", 0, "at most `N` items, up to 1000 (default 100)")
	f.StringArrayVar(&req.Kinds, "kind", nil, "only along this `KIND` of relation (repeatable)")
	return c
}

func (a *app) printItems(store string, items []model.Header) {
	putAll(a.table("REF", "TIER", "BYTES", "MODIFIED", "FLAGS", "TITLE"), "item", items, func(h model.Header) itemRow { return newItemRow(store, h) })
}

type linkRow struct {
	Store    string   `json:"store"`
	ID       string   `json:"id"`
	Relation string   `json:"-" col:"RELATION"`
	Kind     string   `json:"kind"`
	Label    string   `json:"label"`
	Items    []string `json:"items"`
	Members  string   `json:"-" col:"ITEMS"`
}

func (a *app) subgraphCommand() *cobra.Command {
	depth := 1
	c := &cobra.Command{
		Use: "subgraph REF...", Short: "The items within some steps of the given ones, and the relations among them",
		Long: "Prints all items within --depth steps of the given ones and the relations among these. More than 10,000 items are refused.",
		RunE: func(cmd *cobra.Command, args []string) error {
			around, s, err := a.oneStore(cmd, args)
			if err != nil {
				return err
			}
			if s.Graph == nil {
				return noGraph("subgraph", s)
			}
			items, links, err := s.Graph.Subgraph(cmd.Context(), around, depth)
			if err != nil {
				return err
			}
			a.printItems(s.Name, items)
			putAll(a.table("RELATION", "KIND", "ITEMS", "LABEL"), "link", links, func(l model.Link) linkRow {
				return linkRow{s.Name, model.EncodeID(l.ID), refOf(s.Name, l.ID), l.Kind, l.Label, ids(l.Other), strings.Join(l.Other, " ")}
			})
			return nil
		},
	}
	c.Flags().IntVar(&depth, "depth", 1, "up to `N` steps away")
	return c
}

// oneStore parses references, which must be of one store, and opens it.
func (a *app) oneStore(cmd *cobra.Command, args []string) (ids []string, store model.Store, err error) {
	refs, err := parseRefs(args)
	if err != nil {
		return nil, store, err
	}
	for i, ref := range refs {
		if ref.Store != refs[0].Store {
			return nil, store, usage("every REF must be of one store: %s is not of %s", args[i], refs[0].Store)
		}
		ids = append(ids, ref.ID)
	}
	_, store, _, err = a.at(cmd.Context(), args[0])
	return ids, store, err
}

func (a *app) similarCommand() *cobra.Command {
	limit := model.RecallLimit
	c := &cobra.Command{
		Use: "similar REF", Short: "The items whose vectors are nearest to one's",
		RunE: a.onItem(func(ctx context.Context, _ *operator.Session, s model.Store, ref model.Ref) error {
			if s.Graph == nil {
				return noGraph("similar", s)
			}
			res, err := s.Graph.Similar(ctx, ref.ID, limit)
			if err == nil {
				a.printSimilar(s.Name, res)
			}
			return err
		}),
	}
	c.Flags().IntVar(&limit, "limit", model.RecallLimit, "at most `N` items")
	return c
}

// snippetRow is an item with the passage that a search found.
type snippetRow struct {
	itemAt
	Source  string  `json:"source"`
	Snippet string  `json:"snippet" col:"TEXT"`
	Line    int     `json:"line"` // 0: unknown
	Score   float64 `json:"score"`
}

func newSnippetRow(store string, h model.RecallSnippet) snippetRow {
	return snippetRow{newItemAt(store, h.ID), h.Source, h.Snippet, h.Line, h.Score}
}

// nearRow ends the list of a store.
type nearRow struct {
	Store   string `json:"store"`
	Total   *int64 `json:"total"` // null: unknown
	Bounded bool   `json:"bounded"`
	Note    string `json:"note"`
}

func (a *app) printSimilar(store string, res model.RecallResult) {
	putAll(a.table("REF", "SCORE", "TEXT"), "hit", res.Hits, func(h model.RecallSnippet) snippetRow { return newSnippetRow(store, h) })
	for _, q := range res.Quarantined {
		a.emit("quarantined", blockedRow{store, q})
		a.hintf("%s: %s is near too, but the scanner rejects it: not shown", store, q)
	}
	a.emit("store", nearRow{store, onlyIf(res.Total != model.TotalUnknown, res.Total), res.Bounded, res.BoundNote})
	if res.Bounded {
		a.hintf("%s: %s", store, res.BoundNote)
	}
}
