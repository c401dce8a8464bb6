package subject

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"memdesk/model"
)

// Kind is the kind of an identifier. It decides which spellings are equal.
type Kind string

// The kinds.
const (
	ID        Kind = "id"        // an exact token, in any case from six characters on
	Address   Kind = "address"   // of mail, exact in any case: plus tag and dots are part of it
	Telephone Kind = "telephone" // every national and international form of the same number
	Name      Kind = "name"      // any separators, case, marks; last name first
)

// KindOf detects the kind of an identifier from its spelling.
func KindOf(id string) Kind {
	id = strings.TrimSpace(id)
	local, domain, at := strings.Cut(id, "@")
	switch {
	case at && local != "" && domain != "" && !strings.ContainsAny(id, " \t"):
		return Address
	case isPhone(id):
		return Telephone
	case isName(id):
		return Name
	}
	return ID
}

// isPhone: only digits and their separators, with a plus or a separator: digits alone are an id.
func isPhone(s string) bool {
	digits, parts := 0, strings.HasPrefix(s, "+")
	for i, r := range s {
		switch {
		case unicode.Is(unicode.Nd, r):
			digits++
		case r == '+' && i == 0:
		case r == ' ', r == '(', r == ')', r == '/', r == '.', unicode.Is(unicode.Pd, r), unicode.IsSpace(r):
			parts = parts || r == ' ' || r == '/' || r == '('
		default:
			return false
		}
	}
	return parts && digits >= 7 && digits <= 17
}

// isName: words of letters, of which one has a capital, a diacritic or a non-Latin letter, or which are
// separated by a space.
func isName(s string) bool {
	named := strings.ContainsFunc(s, unicode.IsSpace)
	upper, small := false, false
	for _, r := range s {
		switch {
		case unicode.IsLetter(r):
			upper, small = upper || unicode.IsUpper(r), small || unicode.IsLower(r)
			named = named || r >= utf8.RuneSelf
		case r == '.', r == ',', r == ' ', unicode.IsSpace(r), unicode.IsMark(r), dash(r), apostrophe(r), r == '·', r == '・', ignorable(r):
		default:
			return false
		}
	}
	return named || upper && small && !strings.Contains(s, ".")
}

func dash(r rune) bool { return unicode.Is(unicode.Pd, r) || r == 0x2212 }

func apostrophe(r rune) bool {
	switch r {
	case '\'', '`', '´', '\u02bc', '\u02b9', '\u02bb', '\u2018', '\u2019', '\u201b', '\u2032', '\uff07':
		return true
	}
	return false
}

// Pattern is one spelling of an identifier without its letters: all that Index needs besides their hash.
type Pattern struct {
	Kind   Kind   `json:"kind"`
	Length int    `json:"length"`           // of the folded letters and digits, in bytes
	Breaks []int  `json:"breaks,omitempty"` // of a name: where its words begin
	Dots   []int  `json:"dots,omitempty"`   // of a name: the breaks behind an initial or an abbreviation, where a dot and a space may stand
	Comma  int    `json:"comma,omitempty"`  // of a name with the last name first: where the first name begins
	Strict bool   `json:"strict,omitempty"` // of an id: exact case only; of a name: not in lower case
	Region string `json:"region,omitempty"` // of a telephone number; empty: not known, 001: no country's
	Shape  shape  `json:"shape,omitempty"`
	// Lead and Tail count the underscores and hyphens around the letters of an id or an address. They are part
	// of it; any other mark at its ends, as in @ana, is not.
	Lead int `json:"lead,omitempty"`
	Tail int `json:"tail,omitempty"`
	// Letters and Exact are empty where only hashes are known. Exact is the Key of the identifier itself.
	Letters string `json:"-"`
	Exact   string `json:"-"`

	term int
}

// MaxTerm is the longest identifier, in bytes.
const MaxTerm = 256

// Check refuses a text that cannot be one person's identifier: nothing, a single character, a wildcard,
// control characters, text without a letter or digit.
func Check(t string) error {
	bad := func(why string) error { return model.Errorf(model.InvalidInput, "subject", "an identifier %s", why) }
	t = strings.TrimSpace(t)
	decoded, err := url.PathUnescape(t) // fails at a % that encodes no byte
	switch {
	case t == "":
		return bad("must not be empty")
	case !utf8.ValidString(t):
		return bad("must be UTF-8 text")
	case len(t) > MaxTerm:
		return bad("must not be longer than 256 bytes")
	case err != nil || strings.ContainsAny(t, "*?"):
		return bad("must not hold a wildcard (*, ?, or a % that is no part of a code such as %40): give the exact text, every other form as an alias")
	case utf8.RuneCountInString(t) < 2:
		return bad("must have two characters or more")
	case strings.ContainsFunc(t, unicode.IsControl):
		return bad("must not hold control characters")
	}
	switch letters := string(newView([]byte(decoded), false).text); { // %20 holds no digit
	case letters == "":
		return bad("must hold a letter or a digit")
	case letters == "erased":
		return bad("must not be the word that stands where somebody was erased")
	case len(letters) < 2:
		return bad("must have two letters or digits that tell something")
	}
	return nil
}

// Normal is the form in which identifiers are compared: the same for any case, width or composition.
func Normal(id string) string { return canonical([]byte(strings.TrimSpace(id))) }

// canonical folds a text and keeps its separators: white space as one space, any dash as a hyphen, any
// apostrophe as one.
func canonical(b []byte) string {
	var out []byte
	for i := 0; i < len(b); {
		r, n := decodeRune(b[i:])
		i += n
		switch s := foldRune(r); {
		case s != "":
			out = append(out, s...)
		case ignorable(r), unicode.IsMark(r), r == 0x640:
		case unicode.IsSpace(r):
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		case dash(r):
			out = append(out, '-')
		case apostrophe(r):
			out = append(out, '\'')
		default:
			out = append(out, norm.NFKC.String(string(r))...)
		}
	}
	return string(out)
}

// shown is a text as people read it, in its case, without invisible characters.
func shown(b []byte) string {
	return norm.NFKC.String(strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, string(b)))
}

// PatternsOf are the spellings of an identifier.
func PatternsOf(id string) []Pattern {
	out := patternsOf(id)
	for _, other := range otherDomain(id) {
		out = append(out, patternsOf(other)...)
	}
	return out
}

// otherDomain is an address with an international domain as it is read where it is given as mail servers write it (xn--…),
// and the other way round; none of any other identifier.
func otherDomain(id string) []string {
	local, domain, ok := strings.Cut(id, "@")
	if !ok || KindOf(id) != Address {
		return nil
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	read, rerr := idna.Lookup.ToUnicode(ascii)
	switch {
	case err != nil || rerr != nil || ascii == read:
		return nil
	case isASCII(domain):
		return []string{local + "@" + read}
	}
	return []string{local + "@" + ascii}
}

func patternsOf(id string) []Pattern {
	id = strings.TrimSpace(id)
	if rest, ok := strings.CutPrefix(id, "00"); ok && isPhone(id) {
		if _, err := phonenumbers.Parse("+"+rest, ""); err == nil { // else the zeros are its own, as in 0000 0002 1825 0097
			id = "+" + rest
		}
	}
	v := newView([]byte(id), false)
	p, core := Pattern{Kind: KindOf(id), Letters: string(v.text)}, id
	if n := len(v.text); n > 0 {
		from, to := int(v.from[0]), int(v.to[n-1])
		p.Shape = shapeOf(canonical(v.src[from:to]))
		p.Lead = from - len(strings.TrimRight(id[:from], "_-"))
		p.Tail = len(id) - to - len(strings.TrimLeft(id[to:], "_-"))
		core = id[from-p.Lead : to+p.Tail]
	}
	p.Exact = canonical(unmarked([]byte(core)))
	short := utf8.RuneCountInString(p.Exact) < 6
	switch p.Kind {
	case Name:
		names := namePatterns(id)
		if first, _ := utf8.DecodeRuneInString(core); len(names) > 0 && names[0].Strict && unicode.IsLower(first) { // as it was given
			p.Kind, p.Strict, p.Exact, p.Length = ID, true, shown([]byte(core)), len(p.Letters)
			names = append(names, p.quoted()...)
		}
		return names
	case Telephone:
		p.Shape, p.Lead, p.Tail = bare, 0, 0
		if n, err := phonenumbers.Parse(id, ""); err == nil {
			p.Region, p.Letters = phonenumbers.GetRegionCodeForNumber(n), phonenumbers.GetNationalSignificantNumber(n)
			if p.Region == "" {
				p.Region = phonenumbers.GetRegionCodeForCountryCode(int(n.GetCountryCode()))
			}
		}
		if strings.HasPrefix(id, "+") && (p.Region == "" || p.Region == phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY) { // no country's
			p.Region, p.Letters = phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY, string(v.text)
		}
		p.Exact = ""
	case ID:
		if p.Strict = short; short {
			p.Exact = shown([]byte(core))
		}
	}
	p.Length = len(p.Letters)
	if plain := p; p.isUUID([]byte(p.Letters)) && p.Exact != p.Letters { // also without its hyphens
		plain.Exact = p.Letters
		return []Pattern{p, plain}
	}
	return p.quoted()
}

// quoted returns the pattern, and those of its identifier with + for blanks, as in a link, and with its apostrophes doubled, as
// in SQL.
func (p Pattern) quoted() []Pattern {
	out := []Pattern{p}
	for _, exact := range []string{strings.ReplaceAll(p.Exact, " ", "+"), strings.ReplaceAll(p.Exact, "'", "''")} {
		if exact != p.Exact {
			other := p
			other.Exact = exact
			out = append(out, other)
		}
	}
	return out
}

// namePatterns are a name's spellings: with ae for ä where it has one, in the Russian cases, as Arabic and Persian
// keyboards write it, and with each word but the first as the one before a comma.
func namePatterns(id string) []Pattern {
	if last, first, ok := strings.Cut(id, ","); ok && strings.TrimSpace(first) != "" {
		id = strings.TrimSpace(first) + " " + strings.TrimSpace(last)
	}
	var out []Pattern
	for _, spelled := range slices.Concat(spelledOut(id), declined(id), keyboards(id)) {
		words := strings.Fields(spelled)
		for first := range words[:min(len(words), 4)] {
			p := Pattern{Kind: Name, Shape: bare}
			if len(words) > 1 {
				p.Shape = name
			}
			var b []byte
			ordered := slices.Concat(words[first:], words[:first])
			for i, w := range ordered {
				v := newView([]byte(w), false)
				if i > 0 && len(b) > 0 && len(v.text) > 0 {
					p.Breaks = append(p.Breaks, len(b))
					if strings.HasSuffix(ordered[i-1], ".") {
						p.Dots = append(p.Dots, len(b))
					}
				}
				if first > 0 && i == len(words)-first {
					p.Comma = len(b)
				}
				for k := range v.text {
					if k > 0 && len(v.gap(k)) > 0 && len(w) > int(v.from[k]) && v.from[k] != v.from[k-1] && parted(v.gap(k)) {
						p.Breaks = append(p.Breaks, len(b)+k)
					}
				}
				b = append(b, v.text...)
			}
			from := 0
			for _, at := range p.Breaks {
				if utf8.RuneCount(b[from:at]) == 1 {
					p.Dots = append(p.Dots, at)
				}
				from = at
			}
			p.Letters, p.Length = string(b), len(b)
			p.Strict = len(words) == 1 && utf8.RuneCount(b) < 6 && isASCII(b)
			if len(b) >= 2 && !slices.ContainsFunc(out, func(o Pattern) bool { return o.Letters == p.Letters && o.Comma == p.Comma }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// asArabic and asPersian write the letters that the two keyboards have in two forms; finalYeh is a third form at the end of
// a word. A list of erased persons holds hashes, so these are spellings: to fold them would change every hash.
var (
	asArabic  = strings.NewReplacer("ی", "ي", "ى", "ي", "ک", "ك")
	asPersian = strings.NewReplacer("ي", "ی", "ك", "ک")
	finalYeh  = strings.NewReplacer("ي ", "ى ")
)

// keyboards are an Arabic, Persian or Urdu name as each keyboard writes it; none of any other name.
func keyboards(id string) []string {
	arabic := asArabic.Replace(id)
	if persian := asPersian.Replace(arabic); persian != arabic {
		return []string{arabic, persian, strings.TrimSuffix(finalYeh.Replace(arabic+" "), " ")}
	}
	return nil
}

// parted reports whether a gap separates words, and is not only marks of a letter.
func parted(gap []byte) bool {
	return slices.ContainsFunc([]rune(string(gap)), func(r rune) bool { return !ignorable(r) && !unicode.IsMark(r) && r != 0x640 })
}

// umlauts are the letters that German and Nordic names also spell out, and the one that is also typed as a Greek beta.
var umlauts = map[rune]string{'ß': "β", 'ä': "ae", 'ö': "oe", 'ü': "ue", 'å': "aa", 'ø': "oe", 'Ä': "Ae", 'Ö': "Oe", 'Ü': "Ue", 'Å': "Aa", 'Ø': "Oe"}

// spelledOut are a name and its spellings with some umlauts spelled out; with more than three umlauts, with
// all of them.
func spelledOut(id string) []string {
	id = norm.NFC.String(id)
	at := []int{}
	runes := []rune(id)
	for i, r := range runes {
		if umlauts[r] != "" {
			at = append(at, i)
		}
	}
	out := []string{id}
	for mask := 1; mask < 1<<min(len(at), 3); mask++ {
		var b strings.Builder
		for i, r := range runes {
			if k := slices.Index(at, i); k >= 0 && (mask>>min(k, 2))&1 == 1 {
				b.WriteString(umlauts[r])
			} else {
				b.WriteRune(r)
			}
		}
		out = append(out, b.String())
	}
	return out
}
