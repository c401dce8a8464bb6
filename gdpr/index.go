package gdpr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/model"
)

// unlisted is an index without the lines of the files that go: once it is redacted they lead nowhere. The lines of items
// on hold are marks in it, which no redaction changes; held puts them back.
func (c *decision) unlisted(ctx context.Context, it model.Item, steps []Step) (_ model.Item, held func(string) string, err error) {
	lines := slices.Collect(strings.Lines(it.Body))
	var gone []string
	for _, st := range steps {
		if st.Action == Forget && st.Layer == layerItem {
			gone = append(gone, st.ID)
		}
	}
	drop, err := c.lines(ctx, it, gone)
	if err != nil {
		return it, nil, err
	}
	keep, err := c.lines(ctx, it, slices.Collect(maps.Keys(c.holding)))
	if err != nil {
		return it, nil, err
	}
	mark := "\x1a"
	for strings.Contains(it.Body, mark) {
		mark += mark
	}
	var back []string
	for at := range lines {
		switch {
		case drop[at]:
			lines[at] = ""
		case keep[at]:
			n := at
			for c.m.Names(fmt.Sprint(mark, n, mark)) { // an identifier may be a number
				n += len(lines)
			}
			was := lines[at]
			lines[at] = fmt.Sprint(mark, n, mark)
			back = append(back, lines[at], was)
		}
	}
	it.Body = strings.Join(lines, "")
	return it, strings.NewReplacer(back...).Replace, nil
}

// lines are the places of an index's lines that list some items.
func (q *search) lines(ctx context.Context, index model.Item, ids []string) (map[int]bool, error) {
	out := map[int]bool{}
	if q.store.Beside == nil {
		return out, nil
	}
	dir, lines := strings.TrimSuffix(index.ID, path.Base(index.ID)), slices.Collect(strings.Lines(index.Body))
	for _, id := range ids {
		if !strings.HasPrefix(id, dir) {
			continue
		}
		beside, err := q.store.Beside(ctx, id)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, l := range beside.Lines {
			if l.At < len(lines) && lines[l.At] == l.Text {
				out[l.At] = true
			}
		}
	}
	return out, nil
}

// relisted is an index whose links lead to the new ids of renamed items. It may move with them.
func relisted(it model.Item, renamed map[string]string) model.Item {
	dir := func(id string) string { return strings.TrimSuffix(id, path.Base(id)) }
	for was, is := range renamed {
		from, in := strings.CutPrefix(was, dir(it.ID))
		to, stays := strings.CutPrefix(is, dir(cmp.Or(renamed[it.ID], it.ID)))
		if in && stays {
			it.Body = replaceName(it.Body, from, to)
			if linked := inLink(from); linked != from {
				it.Body = replaceName(it.Body, linked, inLink(to))
			}
		}
	}
	return it
}

// inLink is the name of a file as a link spells it, percent-encoded.
func inLink(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// replaceName replaces a file's name where it is a whole word: ana.md is not in mariana.md.
func replaceName(text, from, to string) string {
	inName := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' }
	var b strings.Builder
	for at := 0; ; {
		i := strings.Index(text[at:], from)
		if i < 0 {
			return b.String() + text[at:]
		}
		i += at
		end := i + len(from)
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[end:])
		b.WriteString(text[at:i])
		if inName(before) || inName(after) || before == '.' || before == '%' {
			b.WriteString(from)
		} else {
			b.WriteString(to)
		}
		at = end
	}
}

// keepIndexLines keeps the lines of indexes that list items on hold: they stay with the items. An index that names the subject
// nowhere else is not found.
func (q *search) keepIndexLines(ctx context.Context) error {
	if len(q.holding) == 0 {
		return nil
	}
	rest := q.found[:0]
	for _, f := range q.found {
		only := false
		if tierOf(q.store, f.Item).Index && !q.holding[f.Item.ID] {
			held, err := q.lines(ctx, f.Item, slices.Collect(maps.Keys(q.holding)))
			if err != nil {
				return err
			}
			var others strings.Builder
			for at, line := range slices.Collect(strings.Lines(f.Item.Body)) {
				if held[at] {
					q.bystanders.Keep(q.m, line)
				} else {
					others.WriteString(line)
				}
			}
			only = !f.Tagged && slices.Equal(f.Named, []string{"body"}) && !q.m.NamesBytes([]byte(others.String()))
		}
		if only {
			q.lists[f.Item.ID] = true
		} else {
			rest = append(rest, f)
		}
	}
	q.found = rest
	return nil
}
