package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

const (
	version   = 1
	hashLabel = "memdesk-audit-record-v1\x00"
	// maxLine bounds a line; a record with the longest fields is well below it.
	maxLine   = 16 << 10
	maxCounts = 32
	tsLayout  = "2006-01-02T15:04:05.000000000Z"
)

// genesis is the prev of the first record.
const genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// field indexes the members of a record in canonical order.
type field int

const (
	fAction field = iota
	fActor
	fActorKey
	fBoot
	fClass
	fCounts
	fHash
	fHost
	fKey
	fLink
	fMono
	fPhase
	fPID
	fPlan
	fPrev
	fResult
	fRole
	fScope
	fSeal
	fSegment
	fSeq
	fSession
	fStore
	fSubject
	fTarget
	fTier
	fTool
	fTS
	fV
	fieldCount
)

type form byte

const (
	text form = iota
	integer
	integers
)

// schema lists the record's members, sorted by code point. lead is the text before the value in a line; of is
// the member of a Record that is a string there, too.
var schema = [fieldCount]struct {
	lead string
	form form
	of   func(*Record) *string
}{
	{`{"action":`, text, func(r *Record) *string { return &r.Action }},
	{`,"actor":`, text, func(r *Record) *string { return &r.Actor }},
	{`,"actor_key":`, text, func(r *Record) *string { return &r.ActorKey }},
	{`,"boot":`, text, func(r *Record) *string { return &r.Boot }},
	{`,"class":`, text, func(r *Record) *string { return &r.Class }},
	{`,"counts":`, integers, nil},
	{`,"hash":`, text, func(r *Record) *string { return &r.Hash }},
	{`,"host":`, text, func(r *Record) *string { return &r.Host }},
	{`,"key":`, text, func(r *Record) *string { return &r.Key }},
	{`,"link":`, integer, nil},
	{`,"mono":`, integer, nil},
	{`,"phase":`, text, func(r *Record) *string { return (*string)(&r.Phase) }},
	{`,"pid":`, integer, nil},
	{`,"plan":`, text, func(r *Record) *string { return &r.Plan }},
	{`,"prev":`, text, func(r *Record) *string { return &r.Prev }},
	{`,"result":`, text, func(r *Record) *string { return (*string)(&r.Result) }},
	{`,"role":`, text, func(r *Record) *string { return &r.Role }},
	{`,"scope":`, text, func(r *Record) *string { return &r.Scope }},
	{`,"seal":`, text, func(r *Record) *string { return &r.Seal }},
	{`,"segment":`, text, func(r *Record) *string { return &r.Segment }},
	{`,"seq":`, integer, nil},
	{`,"session":`, text, func(r *Record) *string { return &r.Session }},
	{`,"store":`, text, func(r *Record) *string { return &r.Store }},
	{`,"subject":`, text, func(r *Record) *string { return &r.Subject }},
	{`,"target":`, text, func(r *Record) *string { return &r.Target }},
	{`,"tier":`, text, func(r *Record) *string { return &r.Tier }},
	{`,"tool":`, text, func(r *Record) *string { return &r.Tool }},
	{`,"ts":`, text, nil},
	{`,"v":`, integer, nil},
}

// line is a parsed record over its stored bytes.
type line struct {
	raw  []byte             // without the newline
	ends [fieldCount]uint16 // where each member ends
	seq  uint64
	link uint64
}

// value is a member's stored form, without quotes.
func (l *line) value(f field) []byte {
	start, end := len(schema[f].lead), int(l.ends[f])
	if f > 0 {
		start += int(l.ends[f-1])
	}
	if schema[f].form == text {
		start, end = start+1, end-1
	}
	return l.raw[start:end]
}

// parseLine accepts exactly the canonical form; raw is kept, not copied.
func parseLine(raw []byte, l *line) error {
	if len(raw) > maxLine {
		return fmt.Errorf("line is longer than %d bytes", maxLine)
	}
	l.raw = raw
	at := 0
	for f := range fieldCount {
		lead := schema[f].lead
		if len(raw)-at < len(lead) || string(raw[at:at+len(lead)]) != lead {
			return fmt.Errorf("byte %d: want %s", at, lead)
		}
		start := at + len(lead)
		var end int
		switch schema[f].form {
		case text:
			end = scanText(raw, start)
		case integer:
			end = scanInteger(raw, start)
		case integers:
			end = scanIntegers(raw, start)
		}
		if end < 0 {
			return fmt.Errorf("byte %d: bad value after %s", start, lead)
		}
		l.ends[f] = uint16(end) // maxLine fits
		at = end
	}
	if string(raw[at:]) != "}" {
		return fmt.Errorf("byte %d: want the end of the record", at)
	}
	return l.check()
}

// check reads the members that the chain is built on.
func (l *line) check() error {
	if string(l.value(fV)) != strconv.Itoa(version) {
		return fmt.Errorf("unknown record version %s", l.value(fV))
	}
	if !isDigest(l.value(fHash)) || !isDigest(l.value(fPrev)) {
		return errors.New("hash or prev is not 64 hexadecimal digits")
	}
	var err error
	if l.seq, err = strconv.ParseUint(string(l.value(fSeq)), 10, 64); err != nil || l.seq == 0 {
		return errors.New("sequence is not a positive number")
	}
	if l.link, err = strconv.ParseUint(string(l.value(fLink)), 10, 64); err != nil {
		return errors.New("link is not a sequence")
	}
	switch Phase(l.value(fPhase)) {
	case PhaseIntent, PhaseNote:
		if l.link != 0 {
			return errors.New("only an outcome links")
		}
	case PhaseOutcome:
		if l.link == 0 || l.link >= l.seq {
			return errors.New("outcome does not link to an earlier record")
		}
	default:
		return errors.New("unknown phase")
	}
	return nil
}

// scanText returns the end of a quoted string in the record's alphabet, -1 if bad.
func scanText(b []byte, at int) int {
	if at >= len(b) || b[at] != '"' {
		return -1
	}
	i := at + 1
	for i < len(b) && isText[b[i]] {
		i++
	}
	if i == len(b) || b[i] != '"' {
		return -1
	}
	return i + 1
}

// isText and isHex are tables because every byte of every record is looked up.
var isText, isHex = func() (text, hex [256]bool) {
	for c := range 256 {
		text[c] = c >= 0x20 && c <= 0x7e && c != '"' && c != '\\'
		hex[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
	}
	return text, hex
}()

// scanInteger returns the end of a canonical integer, -1 if bad.
func scanInteger(b []byte, at int) int {
	i := at
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == first || (b[first] == '0' && (i-first > 1 || first > at)) {
		return -1
	}
	return i
}

// scanIntegers returns the end of an object of integers with ascending keys.
func scanIntegers(b []byte, at int) int {
	if at >= len(b) || b[at] != '{' {
		return -1
	}
	i := at + 1
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	var last []byte
	for {
		end := scanText(b, i)
		if end < 0 || end >= len(b) || b[end] != ':' {
			return -1
		}
		name := b[i+1 : end-1]
		if len(name) == 0 || (last != nil && bytes.Compare(name, last) <= 0) {
			return -1
		}
		last = name
		if i = scanInteger(b, end+1); i < 0 || i >= len(b) {
			return -1
		}
		if b[i] == '}' {
			return i + 1
		}
		if b[i] != ',' {
			return -1
		}
		i++
	}
}

func isDigest(b []byte) bool {
	if len(b) != 2*sha256.Size {
		return false
	}
	for _, c := range b {
		if !isHex[c] {
			return false
		}
	}
	return true
}

// digest computes the record's hash over the stored bytes; scratch is reused.
func (l *line) digest(scratch []byte) (sum [2 * sha256.Size]byte, _ []byte) {
	scratch = append(scratch[:0], hashLabel...)
	scratch = append(scratch, l.value(fPrev)...)
	// Without the member `"hash":"…",`.
	scratch = append(scratch, l.raw[:l.ends[fHash-1]+1]...)
	scratch = append(scratch, l.raw[l.ends[fHash]+1:]...)
	h := sha256.Sum256(scratch)
	hex.Encode(sum[:], h[:])
	return sum, scratch
}

// intact reports whether the stored hash fits the stored bytes.
func (l *line) intact() bool {
	sum, _ := l.digest(nil)
	return string(sum[:]) == string(l.value(fHash))
}

// record decodes the whole line.
func (l *line) record() (Record, error) {
	v := func(f field) string { return string(l.value(f)) }
	r := Record{V: version, Seq: l.seq, Link: l.link}
	for f := range fieldCount {
		if of := schema[f].of; of != nil {
			*of(&r) = v(f)
		}
	}
	var err error
	if r.TS, err = time.Parse(tsLayout, v(fTS)); err != nil {
		return r, errors.New("time is not RFC 3339 UTC with nanoseconds")
	}
	mono, err := strconv.ParseInt(v(fMono), 10, 64)
	if err != nil {
		return r, errors.New("mono is out of range")
	}
	r.Mono = time.Duration(mono)
	if r.PID, err = strconv.Atoi(v(fPID)); err != nil {
		return r, errors.New("pid is out of range")
	}
	r.Counts, err = decodeCounts(l.value(fCounts))
	return r, err
}

func decodeCounts(b []byte) (map[string]int64, error) {
	if len(b) <= 2 {
		return nil, nil
	}
	out := map[string]int64{}
	for part := range bytes.SplitSeq(b[1:len(b)-1], []byte{','}) {
		// A name may hold a colon or a comma only as %XX, so the cuts are exact.
		name, number, _ := bytes.Cut(part, []byte{':'})
		n, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil {
			return nil, errors.New("a count is out of range")
		}
		out[string(bytes.Trim(name, `"`))] = n
	}
	return out, nil
}

// encode renders r with its hash, without a newline, and sets r.Hash.
func (r *Record) encode() ([]byte, error) {
	r.Hash = genesis
	b := make([]byte, 0, 1024)
	for f := range fieldCount {
		b = append(b, schema[f].lead...)
		switch f {
		case fCounts:
			b = appendCounts(b, r.Counts)
		case fLink:
			b = strconv.AppendUint(b, r.Link, 10)
		case fMono:
			b = strconv.AppendInt(b, int64(r.Mono), 10)
		case fPID:
			b = strconv.AppendInt(b, int64(r.PID), 10)
		case fSeq:
			b = strconv.AppendUint(b, r.Seq, 10)
		case fV:
			b = strconv.AppendInt(b, version, 10)
		case fTS:
			b = r.TS.UTC().AppendFormat(b, `"`+tsLayout+`"`)
		default: // only stored forms, so nothing is escaped twice and parseLine refuses unescaped text
			b = append(append(append(b, '"'), *schema[f].of(r)...), '"')
		}
	}
	b = append(b, '}')
	var l line
	if err := parseLine(b, &l); err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	sum, _ := l.digest(nil)
	copy(l.value(fHash), sum[:])
	r.Hash = string(sum[:])
	return b, nil
}

// appendCounts renders the numbers in the order of their names.
func appendCounts(b []byte, counts map[string]int64) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(counts)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		b = strconv.AppendInt(b, counts[name], 10)
	}
	return append(b, '}')
}

// storedCounts escapes the names of at most maxCounts numbers.
func storedCounts(counts map[string]int64) (map[string]int64, error) {
	if len(counts) > maxCounts {
		return nil, fmt.Errorf("%d counts in one record, at most %d are kept", len(counts), maxCounts)
	}
	out := make(map[string]int64, len(counts))
	for name, n := range counts {
		out[countName(name)] = n
	}
	if len(out) != len(counts) {
		return nil, errors.New("two counts have the same stored name")
	}
	return out, nil
}
