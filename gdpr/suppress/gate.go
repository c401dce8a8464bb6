package suppress

import (
	"context"

	"memdesk/model"
)

// Gate refuses to retain what names a suppressed person: in the content, the
// metadata, the id or the subject. Undo, copies, conflict resolution and the
// release of a quarantine all come through Retain. A list that cannot be read
// refuses everything, because nobody can say who is on it.
func Gate(l *List) model.Middleware {
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Retain == nil {
			return next(ctx)
		}
		texts := []string{c.Retain.Content, c.Retain.ID, c.Retain.Key, c.Retain.DataSubjectID}
		for _, f := range c.Retain.Meta {
			texts = append(texts, f.Value, f.Name)
		}
		found, err := l.findIn(false, texts...)
		if err != nil {
			return model.Refuse("retain", err.Error())
		}
		if len(found) > 0 {
			return model.Refuse("retain", "it names a person who was erased under request "+found[0].Person.Request+"; nothing was written")
		}
		return next(ctx)
	}
}
