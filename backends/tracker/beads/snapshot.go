package beads

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/internal/snippet"
	"memdesk/backends/tracker"
	"memdesk/model"
)

// maxLine is the line buffer of bd: a longer line stops its import.
const maxLine = 64 << 20

// entry is one line of issues.jsonl that is neither blank nor a merge marker.
type entry struct {
	start, end, next int // offsets in the file: of the text without its line end, and of the next line
	kind             tracker.Kind
	tier             string
	id               string // handle
	raw              string // the stored id, without the mark of a duplicate
	title, body      jsonedit.Span
	updated, depends jsonedit.Span
	number           int // line number, from 1
	problem          string
}

// mark is a merge marker that git left in an undecided merge.
type mark struct {
	number int
	sort   byte // < | = >
	entry  int  // number of entries before it
	label  string
}

// snapshot is the content of both files at one moment.
type snapshot struct {
	issues, deps []byte
	entries      []entry
	ids          map[string]int
	marks        []mark
	pairs        []pair
	badPairs     []int // line numbers in deps.jsonl without a pair
	depMarks     []mark
	odd          bool // deps.jsonl is no regular file
	tiers        []string

	once sync.Once
	near map[string][]model.Dependency // the pairs with an id

	listing  sync.Once
	blocking map[string][]string // in deps.jsonl, the blockers of an id
}

// pair is a line of deps.jsonl.
type pair struct {
	start, next      int
	blocker, blocked string
	number           int
}

// parse reads both files. It decodes only ids.
func parse(issues, deps []byte) *snapshot {
	s := &snapshot{issues: issues, deps: deps}
	s.entries, s.marks = scanFile(issues)
	s.ids = make(map[string]int, len(s.entries))
	seen := map[string]bool{}
	numbers := map[string]int{} // the last number that an id's duplicates have
	for i := range s.entries {
		e := &s.entries[i]
		id := e.id
		for {
			if _, taken := s.ids[id]; !taken {
				break
			}
			n := max(numbers[e.id], 1) + 1
			numbers[e.id] = n
			id = e.id + "#" + strconv.Itoa(n)
		}
		e.id = id
		s.ids[id] = i
		if !seen[e.tier] {
			seen[e.tier] = true
			s.tiers = append(s.tiers, e.tier)
		}
	}
	s.scanPairs()
	return s
}

// chunkBytes is the least size that is worth a goroutine.
const chunkBytes = 4 << 20

// scanFile splits the file at line ends and scans the pieces in parallel.
func scanFile(data []byte) ([]entry, []mark) {
	n := min(runtime.GOMAXPROCS(0), len(data)/chunkBytes+1)
	cuts := []int{0}
	for i := 1; i < n; i++ {
		at := max(len(data)/n*i, cuts[len(cuts)-1])
		if nl := bytes.IndexByte(data[at:], '\n'); nl >= 0 {
			cuts = append(cuts, at+nl+1)
		}
	}
	cuts = append(cuts, len(data))
	parts := make([]part, len(cuts)-1)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() { parts[i].scan(data, cuts[i], cuts[i+1]) })
	}
	wg.Wait()
	if len(parts) == 1 {
		return parts[0].entries, parts[0].marks
	}
	var entries []entry
	var marks []mark
	lines := 0
	for _, p := range parts {
		for _, m := range p.marks {
			m.number += lines
			m.entry += len(entries)
			marks = append(marks, m)
		}
		from := len(entries)
		entries = append(slices.Grow(entries, len(p.entries)), p.entries...)
		for i := from; lines > 0 && i < len(entries); i++ {
			entries[i].number += lines
		}
		lines += p.lines
	}
	return entries, marks
}

// part is a piece of the file.
type part struct {
	entries []entry
	marks   []mark
	lines   int
}

var bom = []byte("\xef\xbb\xbf")

func (p *part) scan(data []byte, from, to int) {
	for at := from; at < to; {
		end, next := to, to
		if nl := bytes.IndexByte(data[at:to], '\n'); nl >= 0 {
			end, next = at+nl, at+nl+1
		}
		p.lines++
		start := at
		if at == 0 && bytes.HasPrefix(data, bom) {
			start = len(bom)
		}
		at = next
		line := data[start:end]
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			continue
		}
		if m, ok := markOf(line); ok {
			m.number, m.entry = p.lines, len(p.entries)
			p.marks = append(p.marks, m)
			continue
		}
		if end > start && data[end-1] == '\r' {
			end--
		}
		e := entry{start: start, end: end, next: next, number: p.lines}
		e.scan(data[start:end])
		p.entries = append(p.entries, e)
	}
}

// markOf detects a merge marker of an undecided merge.
func markOf(line []byte) (mark, bool) {
	if len(line) < 7 {
		return mark{}, false
	}
	switch c := line[0]; c {
	case '<', '=', '>', '|':
		for _, b := range line[1:7] {
			if b != c {
				return mark{}, false
			}
		}
		return mark{sort: c, label: strings.TrimSpace(string(line[7:]))}, true
	}
	return mark{}, false
}

// scan classifies the line.
func (e *entry) scan(line []byte) {
	if len(line) > maxLine {
		e.foreign(line, fmt.Sprintf("it is longer than %d bytes, which no reader of the format takes", maxLine))
		return
	}
	m, err := e.members(line)
	if err != nil {
		e.foreign(line, err.Error())
		return
	}
	switch kind, isText := textOf(line, m.typ); {
	case kind == "memory" && isText:
		e.memory(line, m)
	case kind != "" && kind != "issue":
		e.foreign(line, "")
	default:
		e.issue(line, m)
	}
}

// members are those of a line that only its classification needs.
type members struct{ typ, schema, id, status, key, value jsonedit.Span }

// members finds the members of the line, and keeps those that the entry needs.
func (e *entry) members(line []byte) (m members, err error) {
	err = jsonedit.Members(line, func(k, v jsonedit.Span) {
		name := k.In(line)
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(jsonedit.Unquote(name))
		}
		switch string(name) {
		case "_type":
			m.typ = v
		case "_schema":
			m.schema = v
		case "id":
			m.id = v
		case "title":
			e.title = v
		case "description":
			e.body = v
		case "status":
			m.status = v
		case "updated_at":
			e.updated = v
		case "updated":
			if e.updated.None() {
				e.updated = v
			}
		case "dependencies":
			e.depends = v
		case "key":
			m.key = v
		case "value":
			m.value = v
		}
	})
	return m, err
}

func (e *entry) memory(line []byte, m members) {
	name, ok := textOf(line, m.key)
	if !ok || name == "" {
		e.foreign(line, "it is a memory without a key")
		return
	}
	e.title, e.body, e.updated, e.depends = jsonedit.Span{}, m.value, jsonedit.Span{}, jsonedit.Span{}
	e.kind, e.tier, e.raw = tracker.Memory, tracker.TierMemory, name
	e.id = tracker.MemoryPrefix + name
}

func (e *entry) issue(line []byte, m members) {
	switch name, ok := textOf(line, m.id); {
	case !m.schema.None() && m.id.None():
		e.foreign(line, "")
	case !ok || name == "":
		e.foreign(line, "it has no id")
	case strings.HasPrefix(name, tracker.MemoryPrefix), strings.HasPrefix(name, tracker.LinePrefix):
		e.foreign(line, "its id has the form of a memory's or a line's")
	default:
		e.id, e.raw, e.tier = name, name, tierOf(line, m.status)
	}
}

// foreign makes the line an entry of its own, named by its content.
func (e *entry) foreign(line []byte, problem string) {
	sum := sha256.Sum256(line)
	number, start, end, next := e.number, e.start, e.end, e.next
	*e = entry{start: start, end: end, next: next, number: number, kind: tracker.Line, tier: tracker.TierLine, problem: problem}
	e.raw = hex.EncodeToString(sum[:8])
	e.id = tracker.LinePrefix + e.raw
}

// textOf decodes a string value; ok is false for another type. A null is as good as no value.
func textOf(line []byte, v jsonedit.Span) (string, bool) {
	raw := v.In(line)
	if string(raw) == "null" {
		return "", false
	}
	if len(raw) < 2 || raw[0] != '"' {
		return string(raw), false
	}
	return jsonedit.Unquote(raw[1 : len(raw)-1]), true
}

// tierOf is the tier's name for a status.
func tierOf(line []byte, status jsonedit.Span) string {
	raw := status.In(line)
	switch string(raw) {
	case "", "null", `""`, `"open"`:
		return tracker.DefaultStatus
	case `"closed"`:
		return "closed"
	case `"in_progress"`:
		return "in_progress"
	case `"tombstone"`:
		return tracker.TierTombstone
	}
	s, ok := textOf(line, status)
	if !ok || !tracker.IsStatus(s) {
		return tracker.TierCustom
	}
	return s
}

// scanPairs reads deps.jsonl.
func (s *snapshot) scanPairs() {
	number := 0
	for at := 0; at < len(s.deps); {
		number++
		start := at
		end, next := len(s.deps), len(s.deps)
		if nl := bytes.IndexByte(s.deps[at:], '\n'); nl >= 0 {
			end, next = at+nl, at+nl+1
		}
		at = next
		line := bytes.TrimSpace(s.deps[start:end])
		if len(line) == 0 {
			continue
		}
		if m, ok := markOf(s.deps[start:end]); ok {
			m.number = number
			s.depMarks = append(s.depMarks, m)
			continue
		}
		o, err := jsonedit.Parse(line)
		if err != nil {
			s.badPairs = append(s.badPairs, number)
			continue
		}
		blocker, ok1 := o.Text("blockerId")
		blocked, ok2 := o.Text("blockedId")
		if !ok1 || !ok2 || blocker == "" || blocked == "" {
			s.badPairs = append(s.badPairs, number)
			continue
		}
		s.pairs = append(s.pairs, pair{start, next, blocker, blocked, number})
	}
}

func (s *snapshot) line(i int) []byte { return s.issues[s.entries[i].start:s.entries[i].end] }

// Len counts the entries.
func (s *snapshot) Len() int { return len(s.entries) }

// Find returns the place of a handle.
func (s *snapshot) Find(id string) int {
	if i, ok := s.ids[id]; ok {
		return i
	}
	return -1
}

// ID is the handle.
func (s *snapshot) ID(i int) string { return s.entries[i].id }

// Tier is the status, or the entry's other kind.
func (s *snapshot) Tier(i int) string { return s.entries[i].tier }

// Tiers lists the tiers that occur.
func (s *snapshot) Tiers() []string { return s.tiers }

// Updated is the line's own time; a memory has none.
func (s *snapshot) Updated(i int) time.Time {
	text, ok := textOf(s.line(i), s.entries[i].updated)
	if !ok {
		return time.Time{}
	}
	return tracker.Time(text)
}

// Head returns the entry's list view.
func (s *snapshot) Head(i int) tracker.Head {
	e, line := &s.entries[i], s.line(i)
	h := tracker.Head{ID: e.id, Kind: e.kind, Tier: e.tier, Modified: s.Updated(i), Archived: e.tier == tracker.TierTombstone}
	sum := fnv.New64a()
	_, _ = sum.Write(line) // a hash never fails
	h.Stamp = strconv.FormatUint(sum.Sum64(), 36)
	if e.kind == tracker.Line {
		h.Bytes, h.Problem, h.Title = int64(len(line)), e.problem, s.lineTitle(i)
		return h
	}
	h.Title, _ = s.Texts(i)
	switch raw := e.body.In(line); {
	case len(raw) >= 2 && raw[0] == '"':
		h.Bytes = jsonedit.UnquotedLen(raw[1 : len(raw)-1])
	case string(raw) != "null":
		h.Bytes = int64(len(raw))
	}
	return h
}

func (s *snapshot) lineTitle(i int) string {
	e := &s.entries[i]
	if e.problem == "" {
		return "line " + strconv.Itoa(e.number) + ": kept as it is"
	}
	return "line " + strconv.Itoa(e.number) + ": " + e.problem
}

// Texts are title and body. A memory's title is its key.
func (s *snapshot) Texts(i int) (title, body string) {
	e, line := &s.entries[i], s.line(i)
	if e.kind == tracker.Line {
		return "", string(line)
	}
	title, _ = textOf(line, e.title)
	if e.kind == tracker.Memory {
		title = e.raw
	}
	body, _ = textOf(line, e.body)
	return title, body
}

// MayHold reports whether the entry may contain a folded word; an entry with escapes must be decoded to know.
func (s *snapshot) MayHold(i int, word string) bool {
	line := s.line(i)
	return strings.ContainsAny(word, "\"\\/") || bytes.Contains(line, []byte(`\u`)) || strings.Contains(snippet.Fold(string(line)), word)
}

// Problems name the lines that are no items and, in deps.jsonl, no pairs.
func (s *snapshot) Problems(entries bool) []string {
	var out []string
	for i := range s.entries {
		if e := &s.entries[i]; entries && e.problem != "" {
			out = append(out, fmt.Sprintf("line %d of issues.jsonl: %s", e.number, e.problem))
		}
	}
	for _, n := range s.badPairs {
		out = append(out, fmt.Sprintf("line %d of deps.jsonl: it is no pair", n))
	}
	for _, words := range []string{s.mergeWords(), s.oddWords()} {
		if words != "" {
			out = append(out, words)
		}
	}
	return out
}
