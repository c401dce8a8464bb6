package audit

import (
	"maps"
	"slices"
)

// openSet keeps the positions of intents until their outcome, so its size is the number of unfinished acts.
type openSet struct {
	at map[uint64]logOffset
}

type logOffset struct {
	segment string
	off     int64
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
