package audit

import (
	"context"
	"maps"
	"slices"
)

// openSet keeps the positions of intents until their outcome, so its size is the number of unfinished acts.
type openSet struct {
	at   map[uint64]logOffset
	last uint64 // the newest record that read took
}

type logOffset struct {
	segment string
	off     int64
}

// openIntents reads the whole log, without keeping it: the intents without an outcome, oldest first.
func (l *Log) openIntents(ctx context.Context) (o openSet, rows []Row, err error) {
	parts, err := l.parts(ctx)
	if err != nil {
		return o, nil, err
	}
	if err = o.read(ctx, l, parts); err == nil {
		rows, err = o.rows(l)
	}
	return o, rows, err
}

// read takes the records of a log behind those that it took before.
func (o *openSet) read(ctx context.Context, l *Log, parts []part) error {
	from, first := o.last+1, 0
	if from > 1 {
		first = l.partOf(parts, from)
	}
	for i := first; i < len(parts); i++ {
		take := func(ln *line, at int64) error {
			o.take(ln, parts[i].name, at)
			o.last = ln.seq
			return nil
		}
		if err := l.eachIn(ctx, parts[i].name, l.sealed(parts, i), from, take, func() error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (o *openSet) has(seq uint64) bool {
	_, ok := o.at[seq]
	return ok
}

func (o *openSet) take(l *line, segment string, off int64) {
	switch Phase(l.value(fPhase)) {
	case PhaseIntent:
		if o.at == nil {
			o.at = map[uint64]logOffset{}
		}
		o.at[l.seq] = logOffset{segment, off}
	case PhaseOutcome:
		delete(o.at, l.link)
	}
}

// rows reads the remaining intents, oldest first.
func (o *openSet) rows(l *Log) ([]Row, error) {
	var out []Row
	for _, seq := range slices.Sorted(maps.Keys(o.at)) {
		r, err := l.recordFrom(o.at[seq], seq)
		if err != nil {
			return nil, err
		}
		out = append(out, Row{Record: r})
	}
	return out, nil
}
