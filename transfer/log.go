package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/model"
)

const (
	// logSubtype marks items that hold another store's log: bookkeeping, which lists and searches leave out
	// by default (hypergraph.Recurse).
	logSubtype = "evolution_log"
	// logPart is the number of events per item.
	logPart = 1000
	// maxEvents bounds the carried events to the newest; the copy reports more.
	maxEvents = 200_000
)

// carriesLog reports whether the source's own log is copied: between graphs, and with all tiers.
func (p Plan) carriesLog() bool {
	_, archive := p.To.Tier("archive")
	return p.beside() && p.From.Graph != nil && p.From.Events != nil && p.only == "" && archive
}

// log copies the source's own log, the oldest event first, as items with one line of JSON per event: only its
// own program writes a log, and as items the events are found, read and erased like everything else.
func (r *run) log(ctx context.Context) error {
	if !r.carriesLog() {
		return nil
	}
	events, err := r.From.Events.StoreEvents(ctx, maxEvents)
	if err != nil {
		r.settle(failed(logSubtype, "", err))
		return model.FromContext(ctx, "copy")
	}
	if len(events) == maxEvents {
		r.settle(failed(logSubtype, "", model.Errorf(model.Unsupported, "", "only the newest %d events are carried", maxEvents)))
	}
	slices.Reverse(events)
	at := 0
	for part := range slices.Chunk(events, logPart) {
		id := fmt.Sprintf("%s-%s-%04d", logSubtype, r.From.Name, at/logPart+1)
		at += len(part)
		key := fmt.Sprintf("%s\x00%d", id, len(part)) // the last part grows
		if err := r.step(ctx, id, key, func(ctx context.Context) bool { return r.absent(ctx, id) }, func(ctx context.Context) Outcome { return r.copyLog(ctx, id, part) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) copyLog(ctx context.Context, id string, events []model.StoreEvent) Outcome {
	var b strings.Builder
	for _, e := range events {
		line := struct {
			At     time.Time         `json:"at"`
			Event  string            `json:"event"`
			Fields map[string]string `json:"fields,omitempty"`
		}{e.At, e.Name, model.Values(e.Payload)}
		text, err := json.Marshal(line)
		if err != nil {
			return failed(id, "", err)
		}
		b.Write(append(text, '\n'))
	}
	first, last := events[0].At.UTC().Format(time.RFC3339Nano), events[len(events)-1].At.UTC().Format(time.RFC3339Nano)
	c := carried{at: []address{{id: id}}, req: model.RetainRequest{Mode: model.Replace, IfMatch: model.Absent, Content: b.String(), Beside: &model.Beside{},
		Meta: []model.Field{{Name: "type", Value: "experience"}, {Name: "subtype", Value: logSubtype}, {Name: "tier", Value: "archive"}, {Name: "confidence", Value: "1"},
			{Name: "created_at", Value: first, ReadOnly: true}, {Name: "updated_at", Value: last, ReadOnly: true}}}}
	res, req, lost, err := r.put(ctx, c)
	if err != nil {
		return r.existing(ctx, id, req, lost, err, true)
	}
	return Outcome{ID: id, To: res.ID, Result: Copied, Reason: fmt.Sprintf("%d events of the source's own log", len(events))}
}

func (r *run) absent(ctx context.Context, id string) bool {
	_, err := r.To.Browser.Read(ctx, id)
	return errors.Is(err, model.NotFound)
}
