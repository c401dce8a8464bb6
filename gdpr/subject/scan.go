package subject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"memdesk/model"
)

// Bystanders are the longer words of other items that contain an identifier and do not name the subject, such
// as subj-ana2 beside subj-ana. In a database record, where fields touch, they distinguish such a word from
// an identifier with a neighbour.
type Bystanders struct {
	words         map[[3]string]bool // text before, identifier in one case, text after
	before, after map[int]bool       // lengths of the texts before and after: there are few
	joined        map[string]bool
	kept          []keptPlace // places in texts that stay
}

// Add takes the words of a text that contain an identifier only as a part.
func (f *Bystanders) Add(m *Matcher, text string) {
	if !m.anchors.any(raw(text)) {
		return
	}
	w := walker{pieces: m.pieces, least: m.least, reach: m.reach, near: m.prober()}
	w.look = func(v *view, l *layer) bool {
		m.match(v, func(_ *Pattern, lo, hi int, whole bool) bool {
			if whole || l.block || l.method == Folded { // a folded line may be two
				return true
			}
			from, to := int(v.from[lo]), int(v.to[hi-1])
			f.add(string(v.src[wordStart(v.src, from):from]), string(v.src[from:to]), strings.TrimRight(string(v.src[to:wordEnd(v.src, to)]), "."))
			return true
		})
		return true
	}
	w.text(&layer{text: raw(text), family: unresolved})
}

// add takes one word. A scan looks words up by the text around a hit: a store may have a million of them.
func (f *Bystanders) add(before, id, after string) {
	if f.words == nil {
		f.words, f.before, f.after, f.joined = map[[3]string]bool{}, map[int]bool{}, map[int]bool{}, map[string]bool{}
	}
	if before == "" && after == "" { // beside words that make it somebody else's: elsewhere it is still the subject's
		f.joined[id] = true
		return
	}
	f.words[[3]string{before, oneCase(id), after}], f.before[len(before)], f.after[len(after)] = true, true, true
	if !strings.HasSuffix(strings.TrimRight(before, "-.@"), before) || strings.HasPrefix(after, ".") || strings.HasPrefix(after, "@") || strings.HasPrefix(after, "-") {
		f.joined[strings.TrimRight(before+id+after, ".")] = true
	}
}

// oneCase is a text in which letters of either case are the same.
func oneCase(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// Joined are the words in which a hyphen, a dot or an at sign joins an identifier to more (part.go), and names that
// are better read as parts of two, in order: they may be the same person's.
func (f *Bystanders) Joined() []string { return slices.Sorted(maps.Keys(f.joined)) }

// maxWord bounds the word around a hit.
const maxWord = 128

// wordStart and wordEnd are the borders of the token around a place.
func wordStart(b []byte, at int) int {
	for n := 0; n < maxWord && at > 0 && tokenByte(b[at-1]); n++ {
		at--
	}
	return at
}

func wordEnd(b []byte, at int) int {
	for n := 0; n < maxWord && at < len(b) && tokenByte(b[at]); n++ {
		at++
	}
	return at
}

// tokenByte is a byte of a word in any script, or of a character that joins words.
func tokenByte(b byte) bool {
	return wordByte(b) || b >= 0x80 || b == '-' || b == '.' || b == '@'
}

// explains reports whether the word around a hit is a known bystander.
func (f *Bystanders) explains(v *view, lo, hi int) bool {
	if f == nil {
		return false
	}
	from, to := int(v.from[lo]), int(v.to[hi-1])
	id := oneCase(string(v.src[from:to]))
	for before := range f.before {
		for after := range f.after {
			if before <= from && to+after <= len(v.src) && f.words[[3]string{string(v.src[from-before : from]), id, string(v.src[to : to+after])}] {
				return true
			}
		}
	}
	return false
}

// Report is the result of a scan of bytes.
type Report struct {
	Bytes int64 // looked at
	Hits  int64
	By    map[Method]int64
	// First is the offset of the first hit; -1 without one.
	First int64
	// Binary says that the bytes were scanned as records, not as text.
	Binary bool
	// Kept counts places, not among Hits, that are copies of a kept text (Bystanders.Keep). Alike counts
	// isolated places in a binary medium, such as a key or an index term, that a kept text also leaves.
	Kept, Alike int64
	// Members are the archive members with hits, by name, at most maxTold: they may name the subject. Closed
	// says what could not be opened: the medium is then not clean, whatever was found.
	Members, Closed []string
}

const (
	chunk  = 1 << 20
	margin = 8 << 10 // bytes on either side that judging a hit may need
	// maxHeld bounds the bytes of a medium that are held to reach the end of a compressed part.
	maxHeld = 16 << 20
)

// buffers are those of finished scans: otherwise a tree of small files would clear a megabyte for each.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Scan reads to the end and counts occurrences of the subject. It holds about two chunks in memory. In a
// binary medium, where fields touch, an identifier counts without borders too, unless bystanders explain it.
// Compressed data and archives are opened (open.go).
func (m *Matcher) Scan(ctx context.Context, r io.Reader, bystanders *Bystanders) (Report, error) {
	return m.scanWithin(ctx, r, bystanders, usual())
}

func (m *Matcher) scanWithin(ctx context.Context, r io.Reader, bystanders *Bystanders, b bounds) (Report, error) {
	rep := Report{First: -1, By: map[Method]int64{}}
	names := int64(0)
	closed, err := each(ctx, r, func(member string, r io.Reader) error {
		between := member == Between || strings.HasSuffix(member, " "+Between)
		one, err := m.scanLeaf(ctx, r, bystanders, between)
		if between && rep.Hits+names > 0 {
			one.Hits, one.By = 0, nil // most are the member names, which were counted
		}
		if one.Hits > 0 && member != "" && len(rep.Members) < maxTold && !slices.Contains(rep.Members, member) {
			rep.Members = append(rep.Members, member)
		}
		rep.join(one)
		for _, why := range one.Closed {
			if member != "" {
				why = "in " + member + ": " + why
			}
			rep.notSeen(why)
		}
		return err
	}, func(name string) {
		if m.Names(name) {
			names++
		}
	}, b)
	if names > 0 {
		rep.Hits += names
		rep.By[Archive] += names
		rep.First = max(rep.First, 0)
	}
	rep.Closed = append(closed, rep.Closed...)
	return rep, err
}

// notSeen adds a medium that was not opened, once.
func (r *Report) notSeen(why string) {
	if len(r.Closed) < maxTold && !slices.Contains(r.Closed, why) {
		r.Closed = append(r.Closed, why)
	}
}

// join adds the result for a member.
func (r *Report) join(o Report) {
	if r.First < 0 {
		r.First = o.First
	}
	r.Binary = r.Binary || o.Binary
	r.Bytes, r.Hits, r.Kept, r.Alike = r.Bytes+o.Bytes, r.Hits+o.Hits, r.Kept+o.Kept, r.Alike+o.Alike
	for method, n := range o.By {
		r.By[method] += n
	}
}

// scanLeaf scans bytes that are no container; asText forces a scan as text.
func (m *Matcher) scanLeaf(ctx context.Context, r io.Reader, bystanders *Bystanders, asText bool) (Report, error) {
	rep := Report{First: -1, By: map[Method]int64{}}
	hold := buffers.Get().(*[]byte)
	defer func() {
		if cap(*hold) <= chunk+2*margin { // a grown buffer is rare
			buffers.Put(hold)
		}
	}()
	if cap(*hold) < chunk+2*margin {
		*hold = make([]byte, 0, chunk+2*margin)
	}
	buf := (*hold)[:0]
	base := int64(0) // offset of buf[0]
	left := 0        // bytes of buf that were searched before, kept for context
	rtf := false
	fill := chunk // bytes to read next
	grow := func() {
		if fill = len(buf); cap(buf) < 2*len(buf) {
			*hold = append(make([]byte, 0, 2*len(buf)), buf...)
			buf = *hold
		}
	}
	for eof := false; !eof; {
		if err := ctx.Err(); err != nil {
			return rep, model.FromContext(ctx, "scan")
		}
		n, err := io.ReadFull(r, buf[len(buf):min(cap(buf), len(buf)+fill)])
		buf, fill = buf[:len(buf)+n], chunk
		rep.Bytes += int64(n)
		eof = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !eof {
			return rep, unread()
		}
		if base == 0 && left == 0 && !asText {
			rep.Binary = isBinary(buf)
		}
		rtf = rtf || bytes.Contains(buf, rtfMark)
		limit := len(buf) - margin // later hits wait for more context
		if eof {
			limit = len(buf)
		} else if limit > left { // a block of digits is searched as a whole
			switch from := blockStart(buf, limit); {
			case blockEnd(buf, limit)-from <= margin:
			case from > left:
				limit = from
			case len(buf) <= maxHeld:
				limit = left
				grow()
			}
		}
		if limit > left {
			hits, unseen := m.hitsIn(buf, left, limit, rep.Binary, rtf, bystanders)
			cut := slices.IndexFunc(unseen.cut, func(at int) bool { return at >= left && at < limit })
			switch {
			case unseen.tooMuch:
				rep.notSeen("more comes out of what is compressed inside than is looked at" + byHand)
			case eof || cut < 0:
			case len(buf) > maxHeld:
				rep.notSeen(fmt.Sprintf("what is compressed inside is longer than %d MiB: not opened to its end%s", maxHeld>>20, byHand))
			default: // searched again from there, with the next bytes
				limit = unseen.cut[cut]
				hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.End > limit })
				grow()
			}
			for _, c := range unseen.closed {
				if c.at < limit {
					rep.notSeen(c.why)
				}
			}
			for _, h := range hits {
				rep.count(buf, h, rep.Binary, bystanders, base)
			}
			left = limit
		}
		if drop := left - margin; drop > 0 {
			buf = buf[:copy(buf, buf[drop:])]
			base += int64(drop)
			left -= drop
		}
	}
	return rep, nil
}

// hitsIn finds hits that end in b[from:limit], as Bytes does: whole tokens in a text, any occurrence in a
// record.
func (m *Matcher) hitsIn(b []byte, from, limit int, binary, rtf bool, bystanders *Bystanders) ([]Hit, unseen) {
	text, enc, wide := "", UTF8, false
	if binary && from == 0 && limit == len(b) && Wide(b) {
		text, enc, wide = Plain(b) // UTF-16
	}
	hits, unseen := m.search(b, binary && !wide, rtf, bystanders, false, m.prober())
	if wide { // the runs of base64 and hex are searched for in the decoded text only
		at, place := 0, 0
		to := func(next int) int {
			place, at = place+len(encode(text[at:next], enc)), next
			return place
		}
		inner, more := m.search(raw(text), false, false, nil, false, m.prober())
		unseen.tooMuch, unseen.closed = unseen.tooMuch || more.tooMuch, append(unseen.closed, more.closed...)
		for _, h := range inner {
			hits = append(hits, Hit{Term: h.Term, Start: to(h.Start), End: to(h.End), Method: UTF16})
		}
		hits = merge(hits)
	}
	return slices.DeleteFunc(hits, func(h Hit) bool { return h.End <= from && from > 0 || h.End > limit }), unseen
}

// minWindow is the shortest rest of an index term that is searched for: shorter ones occur in every text.
const minWindow = 6

// windowsOf are the index terms of an identifier without their first three and four bytes, which prefix
// compression leaves out.
func windowsOf(term string) []pattern {
	var out []pattern
	for _, w := range strings.FieldsFunc(canonical([]byte(term)), func(r rune) bool { return r < 0x80 && !wordByte(byte(r)) || r == '_' }) {
		for _, drop := range []int{3, 4} {
			if len(w)-drop >= minWindow {
				out = append(out, pattern{bytes: []byte(w[drop:])})
			}
		}
	}
	return out
}

// inIndex adds the rests of index terms in a piece of a record: the bytes around them are lengths and
// positions, not letters.
func (m *Matcher) inIndex(hits []Hit, l *layer) []Hit {
	b := l.text
	m.windows.scan(b, func(p *pattern, at int) bool {
		end := at + len(p.bytes)
		if at > 0 && b[at-1] < 0x20 && end < len(b) && b[end] < 0x20 {
			hits = append(hits, Hit{Term: p.term, Start: l.base + at, End: l.base + end, Method: Prefix})
		}
		return true
	})
	return hits
}

// count adds a hit in b, whose offset in the medium is base.
func (r *Report) count(b []byte, h Hit, binary bool, bystanders *Bystanders, base int64) {
	switch bystanders.keeps(b, h, binary) {
	case copied:
		r.Kept++
	case alike:
		r.Alike++
	default:
		r.Hits++
		r.By[h.Method]++
		if at := base + int64(h.Start); r.First < 0 || at < r.First {
			r.First = at
		}
	}
}

func unread() error {
	return model.E(model.Internal, "scan", errors.New("the bytes could not be read to the end"))
}

func printable(c byte) bool { return c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' }
