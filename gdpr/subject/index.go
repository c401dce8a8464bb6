package subject

import (
	"context"
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/unicode/norm"

	"memdesk/model"
)

// Sum is a keyed hash.
type Sum [16]byte

// Known is an identifier that is known only by its hashes.
type Known struct {
	Pattern
	Letters Sum
	Key     Sum // of Pattern.Key, where it has one; zero: Letters suffice
	// Normal is the hash in a list of the first version: of the identifier's normal form, Length bytes long,
	// or of the text itself where it is Strict.
	Normal Sum
}

// Hash makes keyed hashes; label is the hash's purpose.
type Hash func(label, text string) Sum

// Sealed are the patterns of an identifier with their letters hashed.
func Sealed(id string, hash Hash) []Known {
	var out []Known
	for _, p := range PatternsOf(id) {
		k := Known{Pattern: p, Letters: hash("term-letters", p.Letters)}
		if p.Exact != "" {
			k.Key = hash("term-key", p.Exact)
		}
		k.Pattern.Letters, k.Exact, k.term = "", "", 0
		out = append(out, k)
	}
	return out
}

// Index searches for identifiers that are known only by hashes, in the same layers and by the same patterns
// as Matcher. It is immutable and safe for concurrent use.
type Index struct {
	hash    Hash
	letters map[Sum][]int
	known   []Known
	lengths []int
	normal  map[Sum]int // identifiers from a list of the first version
	longest int         // length of the longest of them
}

// NewIndex makes an index; hash must be the one that Sealed used.
func NewIndex(known []Known, hash Hash) *Index {
	x := &Index{hash: hash, letters: map[Sum][]int{}, known: known, normal: map[Sum]int{}}
	for i, k := range known {
		if k.Kind == "" {
			x.normal[k.Normal], x.longest = i, max(x.longest, k.Length)
			continue
		}
		x.letters[k.Letters] = append(x.letters[k.Letters], i)
		if !slices.Contains(x.lengths, k.Length) {
			x.lengths = append(x.lengths, k.Length)
		}
	}
	slices.Sort(x.lengths)
	return x
}

// Empty reports whether the index has no identifiers.
func (x *Index) Empty() bool { return x == nil || len(x.known) == 0 }

// Find calls yield for every occurrence of one of the identifiers: its number among the known, the identifier
// in clear, and its place. yield returns false to stop. The error is that of ctx: what was found before may
// not be all.
func (x *Index) Find(ctx context.Context, text string, yield func(known int, clear string, start, end int) bool) error {
	if len(x.known) == 0 {
		return nil
	}
	least := 2
	if len(x.normal) == 0 {
		least = leastBytes(x.lengths[0], false)
	}
	w := walker{least: least, reach: maxMark + 10*MaxTerm, foreign: true, charsets: allCharsets}
	var found []occurrence
	others := map[span]bool{} // as in Matcher.search
	w.look = func(v *view, l *layer) bool {
		for lo := range v.text {
			if lo%1024 == 0 && ctx.Err() != nil {
				return false
			}
			if v.begins(lo) {
				x.at(v, l, lo, &found, others)
				x.atNormal(v, l, lo, &found)
			}
		}
		return true
	}
	w.text(&layer{text: raw(text), family: unresolved})
	for _, o := range found {
		if !others[o.span] && !yield(o.known, o.clear, o.lo, o.hi) {
			break
		}
	}
	if ctx.Err() != nil {
		return model.FromContext(ctx, "search")
	}
	return nil
}

type occurrence struct {
	known int
	clear string
	span
}

// at searches for an identifier whose letters begin at lo.
func (x *Index) at(v *view, l *layer, lo int, found *[]occurrence, others map[span]bool) {
	for _, n := range x.lengths {
		hi := lo + n
		if hi > len(v.text) {
			break
		}
		if !v.chars(lo, hi) || hi < len(v.text) && v.to[hi-1] == v.from[hi] && !v.ends(hi) {
			continue
		}
		for _, i := range x.letters[x.hash("term-letters", string(v.text[lo:hi]))] {
			k := &x.known[i]
			from, whole, ok := k.fits(v, lo, hi)
			if !ok || !whole || !x.same(k, v, from, hi) {
				continue
			}
			start, end := l.place(int(v.from[from]), int(v.to[hi-1]))
			switch {
			case k.Kind == Address || !x.inOther(v, lo, hi):
				*found = append(*found, occurrence{i, k.clear(v, from, lo, hi), span{start, end}})
			case !l.block:
				others[span{start, end}] = true
			}
		}
	}
}

// same compares an identifier in its own form; one without such a form is told by its letters alone.
func (x *Index) same(k *Known, v *view, lo, hi int) bool {
	return k.Key == (Sum{}) || x.hash("term-key", k.Pattern.Key(v, lo, hi)) == k.Key
}

// inOther does what Matcher.inOther does, by hashes.
func (x *Index) inOther(v *view, lo, hi int) bool {
	for _, n := range x.lengths {
		for at := max(0, hi-n); at <= lo && at+n <= len(v.text); at++ {
			for _, i := range x.letters[x.hash("term-letters", string(v.text[at:at+n]))] {
				if k := &x.known[i]; k.goesOn(v, at, at+n) && x.same(k, v, at, at+n) {
					return true
				}
			}
		}
	}
	return false
}

// atNormal searches for an identifier from a list of the first version.
func (x *Index) atNormal(v *view, l *layer, lo int, found *[]occurrence) {
	for hi := lo + 2; hi <= len(v.text) && hi-lo <= x.longest; hi++ {
		if !v.chars(lo, hi) || hi < len(v.text) && v.to[hi-1] == v.from[hi] && !v.ends(hi) {
			continue
		}
		text := v.src[v.from[lo]:v.to[hi-1]]
		normal := canonical(text)
		words := strings.Map(func(r rune) rune {
			if strings.ContainsRune("-_.+", r) {
				return ' '
			}
			return r
		}, normal)
		for _, h := range []Sum{x.hash("term", normal), x.hash("term", words), x.hash("term-exact", string(text))} {
			i, ok := x.normal[h]
			before, after := v.src[max(0, int(v.from[lo])-maxJoined):v.from[lo]], v.src[v.to[hi-1]:min(len(v.src), int(v.to[hi-1])+maxJoined)]
			if ok && !partBefore(before, shapeOf(normal)) && !partAfter(after, shapeOf(normal)) {
				start, end := l.place(int(v.from[lo]), int(v.to[hi-1]))
				*found = append(*found, occurrence{i, shown(text), span{start, end}})
				return
			}
		}
	}
}

// begins reports whether an identifier may begin at a letter: one that does not continue the word before.
// Digits may be a telephone number behind its prefix.
func (v *view) begins(i int) bool {
	if i == 0 || v.to[i-1] != v.from[i] || v.text[i] >= '0' && v.text[i] <= '9' {
		return true
	}
	return !wordRune(v.runeAt(i-1)) || !wordRune(v.runeAt(i)) || isProclitic(string(v.src[max(0, int(v.from[i])-16):v.from[i]]))
}

// ends reports whether an identifier may end just before the letter at i.
func (v *view) ends(i int) bool {
	return !wordRune(v.runeAt(i-1)) || !wordRune(v.runeAt(i)) || v.text[i] == 's'
}

func (v *view) runeAt(i int) rune {
	r, _ := decodeRune(v.src[v.from[i]:])
	return r
}

// clear is an identifier as the text writes it, with its words in the order in which they are typed.
func (p *Pattern) clear(v *view, from, lo, hi int) string {
	switch p.Kind {
	case Telephone:
		if p.Region == phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY {
			return "+" + string(v.text[lo:hi])
		}
		n, err := phonenumbers.Parse(string(v.text[lo:hi]), p.Region)
		if err != nil || p.Region == "" {
			return shown(v.src[v.from[from]:v.to[hi-1]])
		}
		return phonenumbers.Format(n, phonenumbers.INTERNATIONAL)
	case Name:
	default:
		return shown(unmarked(v.src[int(v.from[lo])-p.Lead : int(v.to[hi-1])+p.Tail]))
	}
	words := func(lo, hi int) string {
		var b strings.Builder
		for i := lo; i < hi; i++ {
			if i > lo && v.from[i] == v.from[i-1] {
				continue
			}
			if i > lo && slices.Contains(p.Breaks, i-from) {
				if g := gapOf(v.gap(i)).text; g == "-" || g == "'" {
					b.WriteString(g)
				} else {
					b.WriteByte(' ')
				}
			}
			r, _ := decodeRune(v.src[v.from[i]:])
			b.WriteString(norm.NFKC.String(string(r)))
		}
		return b.String()
	}
	if p.Comma > 0 {
		return words(lo+p.Comma, hi) + " " + words(lo, lo+p.Comma)
	}
	return words(lo, hi)
}
