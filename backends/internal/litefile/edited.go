package litefile

import (
	"encoding/json"
	"fmt"
	"slices"

	"memdesk/backends/internal/jsonedit"
	"memdesk/model"
)

// cleanEdited redacts what the rows of edited items say beside the items, as far as each value
// may be edited. A dry run asks and changes nothing.
func (m Medium) cleanEdited(q *Query, req model.ScrubRequest) ([]model.LayerResult, error) {
	if !m.Edited || req.Redact == nil || req.Concerns == nil {
		return nil, nil
	}
	results := map[string]*model.LayerResult{}
	var out []*model.LayerResult
	for _, id := range req.Edited {
		table, column, value := m.Own(id)
		if table == "" {
			continue
		}
		res := results[table]
		if res == nil {
			res = &model.LayerResult{Layer: m.File.Name + ":" + table, Method: "values beside the text rewritten", Verdict: model.VerdictClean}
			results[table], out = res, append(out, res)
		}
		if err := m.cleanRow(q, req, id, table, column, value, res); err != nil {
			return nil, err
		}
	}
	if req.Dry {
		return nil, nil
	}
	list := make([]model.LayerResult, len(out))
	for i, r := range out {
		list[i] = *r
	}
	return list, nil
}

// cleanRow redacts the values of one row.
func (m Medium) cleanRow(q *Query, req model.ScrubRequest, id, table, column, value string, res *model.LayerResult) error {
	columns, err := textColumns(q, table)
	if err != nil {
		return err
	}
	columns = slices.DeleteFunc(columns, func(c string) bool { return c == column })
	var row *cleanRow
	named := selection{table, quoted([]string{column}), m.changeable(columns), ` WHERE ` + quote(column) + ` = ?`, []any{value}}
	err = named.each(q, func(at, cells []any) error {
		row = &cleanRow{at: at, cells: map[int]any{}}
		for i, c := range cells {
			may := func(path string, before, after []byte) bool {
				ok := req.MayEdit == nil || req.MayEdit(model.RecordEdit{Layer: res.Layer, ID: id, Path: path, Before: string(before), After: string(after)})
				if !ok {
					res.Verdict, res.Reason = model.VerdictResidue, "nobody has seen it as it is now: make a new plan"
				}
				return ok
			}
			text := cellText(c)
			n := number(c)
			if n != "" && req.Concerns([]byte(spellings(n))) {
				if may(columns[i], []byte(n), nil) {
					row.cells[i] = noNumber{}
				}
				continue
			}
			if text == "" || !req.Concerns([]byte(text)) {
				continue
			}
			after := redactedCell(req, text, columns[i], may)
			if req.Concerns([]byte(after)) && res.Verdict == model.VerdictClean {
				res.Verdict, res.Reason = model.VerdictResidue, fmt.Sprintf("a value of column %q cannot be redacted: change it with the program whose table it is", columns[i])
			}
			if after != text {
				row.cells[i] = likeCell(c, after)
			}
		}
		return nil
	})
	if err != nil || row == nil || len(row.cells) == 0 || req.Dry {
		return err
	}
	some, err := row.writeOnce(q, table, []string{column}, columns, 0)
	if q.Broken() != nil {
		return err
	}
	if err != nil {
		res.Verdict, res.Reason = model.VerdictFailed, fmt.Sprintf("a row cannot be changed: %s", model.KindOf(err))
	}
	if some {
		res.Rows++
	}
	return nil
}

// redactedCell takes the subject out of a cell as far as it may be edited. It asks for each value of a JSON text by
// itself, because Retain has changed other values of that text since the plan.
func redactedCell(req model.ScrubRequest, text, column string, may func(path string, before, after []byte) bool) string {
	asked := false
	after := text
	if (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text)) {
		one := jsonedit.Redaction{Concerns: req.Concerns, Redact: req.Redact, May: func(path string, before, after []byte) bool {
			asked = true
			return may(path, before, after)
		}}
		after = string(one.Value([]byte(text), column))
	}
	if asked || !req.Concerns([]byte(after)) {
		return after
	}
	if whole := string(req.Redact([]byte(text))); whole != text && may(column, []byte(text), []byte(whole)) { // no value by itself names the subject
		return whole
	}
	return text
}
