package gdpr

import (
	"slices"

	"memdesk/model"
)

// Edited is an item's text before and after a redaction, for people to compare: the
// metadata stands in front of the body where it is edited too.
func (st Step) Edited(it model.Item) (before, after string) {
	if st.NewMeta == nil {
		return plain(it), st.NewBody
	}
	old := slices.DeleteFunc(slices.Clone(it.Meta), func(f model.Field) bool { return f.ReadOnly })
	return model.Document{Meta: old, Body: plain(it)}.Encode(model.Structured), model.Document{Meta: st.NewMeta, Body: st.NewBody}.Encode(model.Structured)
}
