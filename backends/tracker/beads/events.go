package beads

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"syscall"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/tracker"
	"memdesk/model"
)

// tailBytes is the size of the end of interactions.jsonl that is read for the newest events.
const tailBytes = 4 << 20

// told are the members of an interaction that are shown. Prompts, responses and errors are not: they contain
// conversations (beads-foolery-knots.md).
var told = []string{"actor", "issue_id", "model", "tool_name", "exit_code", "parent_id", "label", "reason"}

// StoreEvents lists the interactions that agents wrote beside the items, the newest first.
func (s *Store) StoreEvents(ctx context.Context, limit int) ([]model.StoreEvent, error) {
	if err := model.FromContext(ctx, "store-events"); err != nil {
		return nil, err
	}
	out := []model.StoreEvent{}
	odd := model.Errorf(model.Unavailable, "store-events", "%s is not a regular file", interactionsName)
	f, info, err := s.open("store-events", interactionsName, syscall.O_NOFOLLOW|syscall.O_NONBLOCK) // a pipe is not waited for
	if errors.Is(err, syscall.ELOOP) {
		return nil, odd
	}
	if err != nil || f == nil {
		return out, err
	}
	defer f.Close() // opened for reading: closing loses nothing
	if !info.Mode().IsRegular() {
		return nil, odd
	}
	from := max(0, info.Size()-tailBytes)
	data, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return nil, fileError("store-events", interactionsName, err)
	}
	if from > 0 { // the first line may be cut
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	for _, line := range slices.Backward(bytes.Split(data, []byte("\n"))) {
		if limit > 0 && len(out) == limit {
			break
		}
		o, err := jsonedit.Parse(bytes.TrimSpace(line))
		if err != nil { // blank, or half-written
			continue
		}
		name, _ := o.Text("kind")
		at, _ := o.Text("created_at")
		e := model.StoreEvent{At: tracker.Time(at), Name: name}
		for _, member := range told {
			if v, _ := o.Text(member); v != "" {
				e.Payload = append(e.Payload, model.Field{Name: member, Value: v})
			}
		}
		out = append(out, e)
	}
	return out, nil
}
