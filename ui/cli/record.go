package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"memdesk/model"
)

// record is one row of a command's output, for --json and for the table alike: its
// exported fields are the object's, its cells the table's columns.
type record interface {
	kind() string
	cells() []any
}

// fielded is a record around a value of another package, which says its fields itself.
type fielded interface{ fields() row }

// folded is a record of several lines in a table; those after the first.
type folded interface{ below() [][]any }

// put prints one record as the flags ask for it. Call flush after the last one.
func (t *table) put(r record) {
	if t.a.flags.sort == "" {
		t.print(r)
	} else {
		t.held = append(t.held, r)
	}
}

func (t *table) print(r record) {
	if t.a.flags.json {
		if f, ok := r.(fielded); ok {
			t.a.emitOf(nameOf(r), r.kind(), f.fields())
		} else {
			t.a.object(nameOf(r), object{r})
		}
		return
	}
	if !t.a.round.isNew(nameOf(r), fmt.Sprint(r.cells())) {
		return
	}
	t.add(r.cells()...)
	if f, ok := r.(folded); ok {
		for _, cells := range f.below() {
			t.add(cells...)
		}
	}
	if len(t.rows) >= model.MaxPage {
		t.page()
	}
}

// nameOf is what a record is about: its first column.
func nameOf(r record) string { return fmt.Sprint(r.cells()[0]) }

// spoken is a record that people read as lines, not as a row of a table.
type spoken interface {
	kind() string
	fields() row
	// say prints it for people; it may say nothing.
	say(a *app)
}

// tell prints one such record as the flags ask for it.
func (a *app) tell(r spoken) {
	if a.flags.json {
		a.emit(r.kind(), r.fields())
	} else {
		r.say(a)
	}
}

// object is a record with its type and the version of the format in front.
type object struct{ record }

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o.record); err != nil {
		return nil, err
	}
	head := fmt.Sprintf(`{"type":%q,"v":1`, o.kind())
	if fields := bytes.TrimSpace(buf.Bytes())[1:]; len(fields) > 1 {
		return append([]byte(head+","), fields...), nil
	}
	return []byte(head + "}"), nil
}

// instant is a time: RFC 3339 in JSON, null when it is zero.
type instant time.Time

// MarshalJSON implements json.Marshaler.
func (i instant) MarshalJSON() ([]byte, error) { return json.Marshal(stamp(time.Time(i))) }

// encodedID is an id as references have it.
type encodedID string

// MarshalText implements encoding.TextMarshaler.
func (i encodedID) MarshalText() ([]byte, error) { return []byte(model.EncodeID(string(i))), nil }

// in is the id as a reference to a store.
func (i encodedID) in(store string) string { return model.Ref{Store: store, ID: string(i)}.String() }
