// Package subject finds the identifiers of a person in text and in raw bytes,
// as whole tokens (part.go) and in the forms that programs give them. It decides
// nothing about what becomes of what it finds, and never prints what it looks for.
//
// # Forms
//
// Other case, width and composition, look-alike letters, names without their marks or
// with some that the identifier has not (marks.go), invisible characters, white space
// and line breaks, also of a quotation, a list or a comment; the markup of emphasis,
// links and tags inside a name (markup.go); escapes of JSON, percent encoding, entities
// of HTML, quoted-printable, three of them inside one another; slugs, with marks and without; UTF-16, Latin-1 and Windows-1252; base64, wrapped or
// not; an index's terms without their first bytes. Discovery, redaction, suppression
// and the scan of a medium know the same. What gzip, bzip2 and zlib have compressed, the
// members of zip and tar (office documents are zip) and the streams of a PDF are looked
// into, some deep; what cannot be opened is told and is never clean (container.go).
//
// # Limits
//
// These are not found, and nothing that is said of a medium covers them: a nickname,
// initials, a name in another order, declined or in another script, which are for an
// alias; an id with markup in it, a name of one word with a hyphen in it; pictures and
// sound; what lies compressed in a row of a database or encrypted in fewer than 1024
// bytes; hashes and hex; other code pages than Windows-1252; base64 of Latin-1, of a case
// that is neither hers nor all small nor all capital, wrapped at fewer than 40 characters
// or with line breaks that are escapes of JSON. In the bytes of a medium, where no item
// is read, also: base64 of an identifier under six characters or wrapped at fewer than
// 64; a soft line break of quoted-printable inside a word; marks that the identifier has
// not, but for those of Latin letters in UTF-8 and in escapes of JSON, of European
// languages alone in a binary medium and not amid bytes at random; markup inside a word, and in a name without marks
// of which no word has five letters.
package subject

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/model"
)

// Method is the form in which an identifier was found.
type Method string

// The methods. Embedded and Prefix are weaker evidence: a piece of a record that
// may belong to a longer word.
const (
	Exact    Method = "exact"
	Folded   Method = "folded"      // other case, width, accents composed otherwise, look-alikes, broken over lines
	Percent  Method = "percent"     // %XX, also twice
	Escaped  Method = "json-escape" // \uXXXX
	Base64   Method = "base64"      // at any of the three alignments
	Entity   Method = "html-entity" // &euml; &#235; &#xEB;
	Quoted   Method = "quoted-printable"
	Latin1   Method = "latin-1" // or Windows-1252
	UTF16    Method = "utf-16"  // either byte order
	Archive  Method = "archive" // inside what is compressed, an archive or a document, or as a name in it
	Unmarked Method = "spelled without its marks"
	Marked   Method = "spelled with marks"
	Markup   Method = "markup"         // with emphasis, links or tags in it
	Slug     Method = "slug"           // its words with another separator, as file names and links write them
	Embedded Method = "embedded"       // inside a binary record, without a boundary on one side
	Prefix   Method = "prefix-windows" // an index term whose first bytes were compressed away
)

// Hit is one occurrence. Start and End are byte offsets in the text searched.
type Hit struct {
	Term       int // index into Terms
	Start, End int
	Method     Method
}

// term is one identifier in the forms it is compared by.
type term struct {
	text   string
	folded string
	word   string   // longest word of folded: what every occurrence holds
	rare   string   // the word of folded that fewest other texts hold
	slugs  []string // its words as slugs join them, then without marks; empty: it has no slug of its own
	shape  shape
	plain  []string // of a name: without its marks, then spelled out (marks.go)
	marks  []uint8  // what was taken from each byte of the first
	fragments
	plainly fragments // of a name that has marks, without them
	// strict: only the exact case counts. A short bare word in another case is
	// somebody else's id as likely as not.
	strict bool
}

// Matcher looks for one person's identifiers. It is immutable and safe for
// concurrent use.
type Matcher struct {
	terms  []term
	quick  *sieve // over the longest words of all terms, to pass over text cheaply
	rare   *sieve // over their rarest words
	bytes  *byteForms
	marked *markedWords

	short []int // terms that base64 hides (base64.go)

	anchors    *sieve // what stands in every form of an identifier that has several
	named      bool   // there is a name that may be written with marks or without
	unanchored bool   // there is one of which nothing does
}

// MaxTerm is the longest identifier, in bytes.
const MaxTerm = 256

// New makes a matcher. Each term is checked with Check; one that stands twice
// counts once.
func New(terms ...string) (*Matcher, error) {
	m := &Matcher{}
	if len(terms) == 0 {
		return nil, model.Errorf(model.InvalidInput, "subject", "no identifier: an empty selector would match everything")
	}
	for _, t := range terms {
		t = strings.TrimSpace(t)
		if err := Check(t); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(m.terms, func(o term) bool { return o.text == t }) {
			continue
		}
		m.terms = append(m.terms, newTerm(t))
	}
	var words, rare []pattern
	for i, t := range m.terms {
		words = append(words, pattern{bytes: []byte(t.word), fold: true, term: i})
		rare = append(rare, pattern{bytes: []byte(t.rare), fold: true, term: i})
		for _, slug := range slices.Concat(t.slugs[min(1, len(t.slugs)):], t.plain) {
			fields := strings.Fields(slug)
			words = append(words, pattern{bytes: []byte(longest(fields)), fold: true, term: i})
			rare = append(rare, pattern{bytes: []byte(rarest(fields)), fold: true, term: i})
		}
	}
	m.quick, m.rare = newSieve(words), newSieve(rare)
	var anchors []pattern
	for i, t := range m.terms {
		m.named = m.named || t.plain != nil
		if !varies(t.text) {
			continue
		}
		if t.anchor < 0 {
			m.unanchored = true
			continue
		}
		anchors = append(anchors, pattern{bytes: []byte(t.runs[t.anchor]), fold: true, term: i})
	}
	m.anchors = newSieve(anchors)
	m.bytes = newByteForms(m.terms)
	m.marked = markedOf(m.terms)
	for i := range m.terms {
		if m.terms[i].hidden() {
			m.short = append(m.short, i)
		}
	}
	return m, nil
}

func newTerm(t string) term {
	out := term{text: t, folded: fold(t).text}
	letters := 0
	for range out.folded {
		letters++
	}
	out.strict = letters < 6 && !strings.ContainsAny(t, "@ ")
	out.shape = shapeOf(out.folded)
	if out.plain = plainForms(&out); out.plain != nil {
		out.marks = unmark(out.folded).marks
	}
	out.fragments, out.plainly.anchor = fragmentsOf(t), -1
	if len(out.plain) > 0 && isASCII(out.plain[0]) && out.plain[0] != out.folded {
		out.plainly = fragmentsOf(out.plain[0])
	}
	words := slugOf(out.folded, out.strict)
	if words != "" {
		out.slugs = []string{words}
		if out.shape == name {
			out.slugs = append(out.slugs, plainSlugs(words)...)
		}
	}
	if local, _, ok := strings.Cut(out.folded, "@"); ok && words != "" {
		words = slugText(local) // a domain's words stand in many texts
	}
	fields := strings.Fields(words)
	if out.word = longest(fields); len(out.word) < 2 {
		fields = strings.Fields(out.folded)
		out.word, out.slugs = longest(fields), nil
	}
	out.rare = rarest(fields)
	return out
}

// rarest is the word that stands in fewest other texts, by its letters: the subj of
// subj-ana-zx9q stands in every text about subjects.
func rarest(words []string) string {
	best, most := "", -1
	for _, w := range words {
		score := len(w)
		for _, r := range w {
			if r >= '0' && r <= '9' || strings.ContainsRune("jkqvwxyz", r) {
				score += 2
			}
		}
		if len(w) >= 2 && score > most {
			best, most = w, score
		}
	}
	if best == "" {
		return longest(words)
	}
	return best
}

func longest(words []string) string {
	out := ""
	for _, w := range words {
		if len(w) > len(out) {
			out = w
		}
	}
	return out
}

// Check refuses what is no identifier of one person: nothing, a single
// character, a wildcard, controls, text without a letter or digit.
func Check(t string) error {
	bad := func(why string) error { return model.Errorf(model.InvalidInput, "subject", "an identifier %s", why) }
	t = strings.TrimSpace(t)
	switch {
	case t == "":
		return bad("must not be empty")
	case !utf8.ValidString(t):
		return bad("must be UTF-8 text")
	case len(t) > MaxTerm:
		return bad("must not be longer than 256 bytes")
	case strings.ContainsAny(t, "*%?"):
		return bad("must not hold a wildcard (* % ?): give the exact text, every other form as an alias")
	case utf8.RuneCountInString(t) < 2:
		return bad("must have two characters or more")
	case strings.ContainsFunc(t, unicode.IsControl):
		return bad("must not hold control characters")
	case !strings.ContainsFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return bad("must hold a letter or a digit")
	}
	switch strings.Trim(fold(t).text, "[]") {
	case "":
		return bad("must have a visible character")
	case "erased":
		return bad("must not be the word that stands where somebody was erased")
	}
	return nil
}

// Terms are the identifiers, the first of which is the id itself.
func (m *Matcher) Terms() []string {
	out := make([]string, len(m.terms))
	for i, t := range m.terms {
		out[i] = t.text
	}
	return out
}

// Names reports whether the text names the person.
func (m *Matcher) Names(text string) bool { return len(m.find(text, true)) > 0 }

// Near reports whether a word that every identifier holds stands in the text as it
// is, alone or inside another one. It is a cheap no for most texts.
func (m *Matcher) Near(text string) bool { return m.quick.any(text) }

// NamesBytes is Names over a record that may be no text: other encodings and the
// byte forms count too, and what is compressed is looked into.
func (m *Matcher) NamesBytes(record []byte) bool {
	if m.Names(string(record)) {
		return true
	}
	return len(m.Bytes(record)) > 0 || len(m.strong(record)) > 0
}

// Text finds every occurrence in a text, in order and without overlap.
func (m *Matcher) Text(text string) []Hit { return m.find(text, false) }

// find looks through the views of a text in which an identifier may stand.
func (m *Matcher) find(text string, first bool) []Hit {
	hits := m.inForms(nil, text, first)
	if first && len(hits) > 0 {
		return hits
	}
	plain := m.inBase64(nil, text)
	hits = append(hits, plain...)
	if d := joinBase64(text); d.at != nil && len(plain) == 0 { // a line that names her by itself goes first
		for _, h := range m.inBase64(nil, d.text) {
			h.Start, h.End = int(d.at[h.Start]), int(d.at[h.End-1])+1
			hits = append(hits, h)
		}
	}
	return merge(hits)
}

// inForms is find without base64, and without merging.
func (m *Matcher) inForms(hits []Hit, text string, first bool) []Hit {
	if !isASCII(text) || m.rare.any(text) {
		hits = m.inView(hits, fold(text), text, "", first)
	}
	if first && len(hits) > 0 {
		return hits
	}
	if strings.IndexByte(text, '\\') >= 0 {
		hits = m.inDecoded(hits, unescapeJSON(text), text, Escaped, first)
	}
	if strings.IndexByte(text, '%') >= 0 || strings.IndexByte(text, '+') >= 0 {
		hits = m.inDecoded(hits, unescapePercent(text), text, Percent, first)
	}
	if first && len(hits) > 0 {
		return hits
	}
	if !m.mayVary(text) {
		return m.inMarkup(hits, decoded{text: text}, first)
	}
	d := decodeAll(text)
	if d.at == nil {
		return m.inMarkup(hits, decoded{text: text}, first)
	}
	more := m.inView(nil, fold2(d), text, Folded, first)
	for i, h := range more {
		if h.Method == Folded {
			more[i].Method = methodOf(text[h.Start:h.End])
		}
	}
	hits = append(hits, more...)
	return m.inMarkup(hits, d, first)
}

// inDecoded is inView over what was decoded.
func (m *Matcher) inDecoded(hits []Hit, d decoded, source string, method Method, first bool) []Hit {
	if isASCII(d.text) && !m.rare.any(d.text) {
		return hits
	}
	return m.inView(hits, fold2(d), source, method, first)
}

// inView searches one folded view and gives the spans in the source.
func (m *Matcher) inView(hits []Hit, v view, source string, method Method, first bool) []Hit {
	for i, t := range m.terms {
		for from := 0; from <= len(v.text)-len(t.folded); {
			n := strings.Index(v.text[from:], t.folded)
			if n < 0 {
				break
			}
			lo, hi := from+n, from+n+len(t.folded)
			from = lo + 1
			if !v.whole(lo, hi, t.shape) {
				continue
			}
			h := Hit{Term: i, Start: v.start(lo), End: v.end(hi), Method: method}
			got := source[h.Start:h.End]
			if t.strict && !v.reads(lo, hi, t.text) {
				continue
			}
			if method == "" {
				h.Method = Folded
			}
			if got == t.text {
				h.Method = Exact
			}
			hits = append(hits, h)
			if first {
				return hits
			}
		}
	}
	if hits = m.inPlain(hits, v, first); first && len(hits) > 0 {
		return hits
	}
	return m.inSlugs(hits, v, first)
}

// merge orders hits and joins those that overlap, so that a redaction replaces
// each place once. The strongest method of the joined stays.
func merge(hits []Hit) []Hit {
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Term, b.Term))
	})
	out := hits[:0]
	for _, h := range hits {
		if n := len(out); n > 0 && h.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, h.End)
			if h.Method == Exact || out[n-1].Method == Slug { // a slug is the weaker word for it
				out[n-1].Method, out[n-1].Term = h.Method, h.Term
			}
			continue
		}
		out = append(out, h)
	}
	return out
}

// Redact replaces every occurrence.
func (m *Matcher) Redact(text, with string) string {
	// What stands beside a replaced place may read as an identifier afterwards:
	// again until nothing is found. Each round takes something away.
	for range 8 {
		hits := m.Text(text)
		if len(hits) == 0 {
			return text
		}
		var b strings.Builder
		at := 0
		for _, h := range hits {
			b.WriteString(text[at:h.Start])
			b.WriteString(with)
			at = h.End
		}
		b.WriteString(text[at:])
		text = b.String()
	}
	return text
}

func isASCII(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
	}
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
