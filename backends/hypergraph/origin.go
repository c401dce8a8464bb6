package hypergraph

import (
	"encoding/json"
	"strings"

	"memdesk/model"
)

// originOf reads a node's provenance as recurse writes it: source, file, branch and commit_hash
// (recurse.md). It reports false for any other shape.
func originOf(it model.Item) (model.Origin, bool) {
	for _, f := range it.Meta {
		if f.Name != fieldProvenance {
			continue
		}
		var p struct {
			Source string `json:"source"`
			File   string `json:"file"`
			Branch string `json:"branch"`
			Commit string `json:"commit_hash"`
		}
		if json.Unmarshal([]byte(f.Value), &p) != nil {
			return model.Origin{}, false
		}
		o := model.Origin{Channel: model.ChannelOf(p.Source), Detail: strings.Join(strings.Fields(p.File+" "+p.Branch+" "+p.Commit), " ")}
		return o, o != model.Origin{}
	}
	return model.Origin{}, false
}
