package subject

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"memdesk/model"
)

// Friends are words that hold an identifier without naming the person, such as
// subj-ana2 beside subj-ana. In a record of a database, where one field follows
// another without a boundary, they tell a longer word from a piece of the person.
type Friends struct {
	words map[string]bool
	kept  []keptPlace // what stays names the person here
}

// Add takes the words of a text in which an identifier stands as a part only.
func (f *Friends) Add(m *Matcher, text string) {
	if !m.quick.any(text) {
		return
	}
	b := []byte(text)
	m.bytes.all.scan(b, 0, func(p *pattern, at int) bool {
		if p.method != Exact && p.method != Prefix && p.method != Slug && p.method != Unmarked {
			return true
		}
		end := at + len(p.bytes)
		sh := m.terms[p.term].shape
		if (p.method == Exact || p.method == Unmarked) && boundary(b, at, end, sh) || p.method == Slug && slugBoundary(b, at, end, sh == name) {
			return true
		}
		if f.words == nil {
			f.words = map[string]bool{}
		}
		lo, hi := wordSpan(b, at, end)
		before, after := string(b[lo:at]), string(b[end:hi])
		if before == "" && p.method != Prefix {
			before = joinedBefore(b, at, sh)
		}
		if after == "" && p.method != Prefix {
			after = joinedAfter(b, end, sh)
		}
		f.words[before+"\x00"+string(b[at:end])+"\x00"+after] = true
		return true
	})
}

// Joined are the words that hold an identifier joined by a hyphen, a dot or an at
// sign, as other ids do that may be the same person's (part.go), in order.
func (f *Friends) Joined() []string {
	var out []string
	for w := range f.words {
		parts := strings.SplitN(w, "\x00", 3)
		if strings.HasSuffix(strings.TrimRight(parts[0], "-.@"), parts[0]) && !strings.HasPrefix(parts[2], ".") && !strings.HasPrefix(parts[2], "@") && !strings.HasPrefix(parts[2], "-") {
			continue
		}
		if word := parts[0] + parts[1] + parts[2]; !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	slices.Sort(out)
	return out
}

// maxWord bounds a word around a hit.
const maxWord = 128

func wordSpan(b []byte, lo, hi int) (int, int) {
	first, last := lo, hi
	for lo > 0 && first-lo < maxWord && wordByte(b[lo-1]) {
		lo--
	}
	for hi < len(b) && hi-last < maxWord && (wordByte(b[hi]) || b[hi] == '-') {
		hi++
	}
	return lo, hi
}

// explains reports whether the bytes around a hit are one of the known words.
func (f *Friends) explains(b []byte, lo, hi int) bool {
	if f == nil {
		return false
	}
	for w := range f.words {
		parts := bytes.SplitN([]byte(w), []byte{0}, 3)
		if bytes.EqualFold(b[lo:hi], parts[1]) && bytes.HasSuffix(b[:lo], parts[0]) && bytes.HasPrefix(b[hi:], parts[2]) {
			return true
		}
	}
	return false
}

// Report is what a scan of bytes found.
type Report struct {
	Bytes int64 // looked at
	Hits  int64
	By    map[Method]int64
	// First is the offset of the first hit; -1 without one.
	First int64
	// Binary says that records were looked at, not text.
	Binary bool
	// Kept are places, not among Hits, that are copies of a text that stays
	// (Friends.Keep), and Alike those in a binary medium that stand alone, as a key or
	// a term of an index does, where one that stays leaves the same.
	Kept, Alike int64
	// Members are the members of an archive in which hits stand, by name, maxTold at
	// most: they may name the person. Closed says in words what could not be opened:
	// the medium is not clean then, whatever was found.
	Members, Closed []string
}

const (
	chunk  = 1 << 20
	margin = maxRun + 8 // bytes on either side of a hit that its check may need
)

// buffers are those of scans that have ended: a tree of small files would clear a
// megabyte for each of them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Scan reads to the end and counts what names the person. It holds about two
// chunks in memory. Text counts whole tokens; in a binary medium, where fields
// touch, an identifier counts also without a boundary, unless friends explain it.
// What is compressed and what lies in an archive is looked into (open.go), and in the
// members of an archive that hold a text the forms that an item is searched for count.
func (m *Matcher) Scan(ctx context.Context, r io.Reader, friends *Friends) (Report, error) {
	return m.scanWithin(ctx, r, friends, usual)
}

func (m *Matcher) scanWithin(ctx context.Context, r io.Reader, friends *Friends, b bounds) (Report, error) {
	rep := Report{First: -1, By: map[Method]int64{}}
	names := int64(0)
	closed, err := each(ctx, r, func(member string, r io.Reader) error {
		between := member == Between || strings.HasSuffix(member, " "+Between)
		one, err := m.scanLeaf(ctx, member, r, friends, between)
		if between && rep.Hits+names > 0 {
			one.Hits, one.By = 0, nil // most of it are the names that were counted
		}
		if one.Hits > 0 && member != "" && len(rep.Members) < maxTold && !slices.Contains(rep.Members, member) {
			rep.Members = append(rep.Members, member)
		}
		rep.join(one)
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
	rep.Closed = closed
	return rep, err
}

// join adds what was found in a member.
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

// maxMember is the size, in bytes, up to which a text in an archive is read whole.
const maxMember = 4 << 20

// scanLeaf scans what is no container. A text in an archive is searched as an item is:
// nothing else of it is ever listed.
func (m *Matcher) scanLeaf(ctx context.Context, member string, r io.Reader, friends *Friends, asText bool) (Report, error) {
	if member == "" {
		return m.scanBare(ctx, r, friends, asText)
	}
	head, err := io.ReadAll(io.LimitReader(r, maxMember+1))
	if err != nil && ctx.Err() == nil {
		err = unread()
	}
	if text, _, ok := Plain(head); ok && len(head) <= maxMember && err == nil && !asText {
		rep := Report{First: -1, By: map[Method]int64{}, Bytes: int64(len(head))}
		for _, h := range m.Text(text) {
			rep.count([]byte(text), h, false, friends, 0)
		}
		return rep, nil
	}
	rep, serr := m.scanBare(ctx, io.MultiReader(bytes.NewReader(head), r), friends, asText)
	return rep, cmp.Or(err, serr)
}

// scanBare is Scan of what is not compressed; asText says that it is scanned as a text
// whatever it is.
func (m *Matcher) scanBare(ctx context.Context, r io.Reader, friends *Friends, asText bool) (Report, error) {
	rep := Report{First: -1, By: map[Method]int64{}}
	keep := max(m.bytes.longest, 16) + margin
	hold := buffers.Get().(*[]byte)
	defer buffers.Put(hold)
	if cap(*hold) < chunk+2*keep {
		*hold = make([]byte, 0, chunk+2*keep)
	}
	buf := (*hold)[:0]
	base := int64(0) // offset of buf[0]
	left := 0        // bytes of buf that were searched before, kept as context
	for eof := false; !eof; {
		if err := ctx.Err(); err != nil {
			return rep, model.FromContext(ctx, "scan")
		}
		n, err := io.ReadFull(r, buf[len(buf):min(cap(buf), len(buf)+chunk)])
		buf = buf[:len(buf)+n]
		rep.Bytes += int64(n)
		eof = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !eof {
			return rep, unread()
		}
		if base == 0 && left == 0 && n > 0 && !asText {
			rep.Binary = bytes.IndexByte(buf[:min(len(buf), 8192)], 0) >= 0
		}
		limit := len(buf) - keep // hits from here on wait for more context
		if eof {
			limit = len(buf)
		}
		if limit > left {
			for _, h := range m.hitsIn(buf, left, limit, rep.Binary, friends) {
				rep.count(buf, h, rep.Binary, friends, base)
			}
			left = limit
		}
		if drop := left - keep; drop > 0 {
			buf = buf[:copy(buf, buf[drop:])]
			base += int64(drop)
			left -= drop
		}
	}
	return rep, nil
}

// count adds a hit in b, which begins at base.
func (r *Report) count(b []byte, h Hit, binary bool, friends *Friends, base int64) {
	switch friends.keeps(b, h, binary) {
	case copied:
		r.Kept++
	case alike:
		r.Alike++
	default:
		r.add(h.Method, base+int64(h.Start))
	}
}

func unread() error {
	return model.E(model.Internal, "scan", errors.New("the bytes could not be read to the end"))
}

func (r *Report) add(method Method, at int64) {
	r.Hits++
	r.By[method]++
	if r.First < 0 || at < r.First {
		r.First = at
	}
}

// scanBytes is the scan of one record.
func (m *Matcher) scanBytes(b []byte) []Hit {
	return m.hitsIn(b, 0, len(b), bytes.IndexByte(b, 0) >= 0, nil)
}

// hitsIn finds what begins in b[from:limit].
func (m *Matcher) hitsIn(b []byte, from, limit int, binary bool, friends *Friends) []Hit {
	var out, more []Hit
	m.bytes.all.scan(b[:min(len(b), limit+max(m.bytes.longest, maxForm))], from, func(p *pattern, at int) bool {
		switch {
		case p.method == anchored:
			more = m.nearby(more, b, p, at, binary, friends)
		case at < limit:
			if method, ok := m.judge(b, p, at, binary, friends); ok {
				out = append(out, Hit{Term: p.term, Start: at, End: at + len(p.bytes), Method: method})
			}
		}
		return true
	})
	more = m.inMarked(more, b, from, limit, binary, friends)
	return apart(out, m.inWrapped(more, b, from, limit), from, limit)
}

// apart adds the hits of more that begin in [from, limit) and are none of those
// that are known.
func apart(known, more []Hit, from, limit int) []Hit {
	n := len(known)
	for _, h := range more {
		over := func(o Hit) bool { return o.Start < h.End && h.Start < o.End }
		if h.Start >= from && h.Start < limit && !slices.ContainsFunc(known, over) {
			known = append(known, h)
		}
	}
	if len(known) > n {
		slices.SortStableFunc(known, func(a, b Hit) int { return a.Start - b.Start })
	}
	return known
}

// shortTerm is the length below which bytes in a binary medium look like an
// identifier by chance.
const shortTerm = 6

// judge decides what an occurrence of a form is worth.
func (m *Matcher) judge(b []byte, p *pattern, at int, binary bool, friends *Friends) (Method, bool) {
	end := at + len(p.bytes)
	switch {
	case p.method == Base64:
		_, _, ok := m.base64Run(b, at, len(p.bytes))
		return Base64, ok
	case p.method == overLines:
		return Folded, m.inWindow(b, p.term, at, end)
	case p.method == Prefix:
		return Prefix, binary && at > 0 && indexNeighbour(b, at, end) && !friends.explains(b, at, end)
	case p.method == Slug && slugBoundary(b, at, end, m.terms[p.term].shape == name):
		return Slug, true
	case p.wide > 0:
		return UTF16, wideBoundary(b, at, end, p.wide, m.terms[p.term].shape)
	case boundary(b, at, end, m.terms[p.term].shape):
		if binary && len(p.bytes) < shortTerm && !inText(b, at, end) {
			return "", false
		}
		if p.method == Exact && string(b[at:end]) != m.terms[p.term].text {
			return Folded, true
		}
		return p.method, true
	case p.wide == 0 && escapedBefore(b[:at]) && m.inWindow(b, p.term, at, end):
		return p.method, true
	case binary && len(p.bytes) >= shortTerm:
		return Embedded, !friends.explains(b, at, end)
	}
	return "", false
}

// escapedBefore reports whether an escape may end where b does: its last byte is no
// word then.
func escapedBefore(b []byte) bool {
	n := len(b)
	return n >= 2 && b[n-2] == '\\' || n >= 3 && (b[n-3] == '%' || b[n-3] == '=') || n >= 6 && b[n-6] == '\\'
}

// lineLength is how far back the mark of a line is looked for.
const lineLength = 1024

// inWindow reports whether the person is named at b[lo:hi] when what stands around
// is decoded.
func (m *Matcher) inWindow(b []byte, term, lo, hi int) bool {
	from := max(0, lo-lineLength)
	for _, h := range m.inForms(nil, string(b[from:min(len(b), hi+maxJoined)]), false) {
		if h.Term == term && h.Start+from <= lo && lo < h.End+from {
			return true
		}
	}
	return false
}

// boundary is the rule of a whole token (part.go) over bytes.
func boundary(b []byte, lo, hi int, sh shape) bool {
	before, after := around(b, lo, hi)
	return !partBefore(before, sh) && !partAfter(after, sh)
}

// around is what stands beside b[lo:hi], as far as the rule looks.
func around(b []byte, lo, hi int) (before, after string) {
	return string(b[max(0, lo-maxJoined):lo]), string(b[hi:min(len(b), hi+maxJoined)])
}

// wideBoundary is boundary over UTF-16.
func wideBoundary(b []byte, lo, hi, order int, sh shape) bool {
	before, after := wideAround(b, lo, hi, order, 2*maxJoined)
	return !partBefore(before, sh) && !partAfter(after, sh)
}

// wideAround reads what stands beside b[lo:hi] as UTF-16. Half a unit at the start or
// the end of b is one without its zero: in the other order, text lies one byte beside.
func wideAround(b []byte, lo, hi, order, reach int) (before, after string) {
	first := 0
	if lo > 1 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff) {
		first = 2 // a byte order mark is no neighbour
	}
	from, to := max(first+(lo-first)%2, lo-reach), min(len(b), hi+reach)
	left, right := b[from:lo], b[hi:to]
	if from == first+1 && order == 2 {
		left = append([]byte{0}, b[first:lo]...)
	}
	if len(right)%2 == 1 && order == 1 {
		right = append(slices.Clone(right), 0)
	}
	return units(left, order), units(right, order)
}

// units reads UTF-16.
func units(b []byte, order int) string {
	var u []uint16
	for i := 0; i+1 < len(b); i += 2 {
		if order == 2 {
			u = append(u, uint16(b[i])<<8|uint16(b[i+1]))
		} else {
			u = append(u, uint16(b[i+1])<<8|uint16(b[i]))
		}
	}
	return string(utf16.Decode(u))
}

// inText reports whether a short hit stands among readable characters.
func inText(b []byte, lo, hi int) bool {
	n := 0
	for i := lo - 1; i >= 0 && n < shortTerm && printable(b[i]); i-- {
		n++
	}
	for i := hi; i < len(b) && n < shortTerm && printable(b[i]); i++ {
		n++
	}
	return n >= shortTerm
}

func printable(c byte) bool { return c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' }

// indexNeighbour tells the rest of a compressed index term: the bytes around it
// are lengths and positions, not letters.
func indexNeighbour(b []byte, lo, hi int) bool {
	return b[lo-1] < 0x20 && hi < len(b) && b[hi] < 0x20
}
