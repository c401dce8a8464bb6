package quarantine

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// strictPrefix is the prefix of every category that upstream does not have.
const strictPrefix = "strict/"

// strictView is the form of the text that a strict rule reads.
type strictView int

const (
	viewPlain  strictView = iota // look-alikes of either case folded, invisible characters dropped
	viewDigits                   // also 0 1 3 4 5 7 @ $ read as letters
	viewRot13                    // letters moved by thirteen
)

// strictRule is one row of memdesk's own table. hints are lower-case words of
// which one must occur in the lower-cased view.
type strictRule struct {
	category, name string
	view           strictView
	hints          []string
	re             expression
}

const (
	phraseVerb   = `(?:ignore|disregard|forget|override|bypass)`
	phraseObject = `(?:instructions?|prompts?|rules|guidelines|directives|orders)`
	gap          = `[^\pL\pN]{1,4}`
)

// strictRules match evasions of upstream's rules. A hit is a reason to look, never upstream's verdict.
var strictRules = []strictRule{
	// an order to ignore instructions, with other words or signs between
	{categoryInjection, "ignore_instructions_loosely", viewPlain, []string{"ignore", "disregard", "forget", "override", "bypass"},
		expr(`(?i)\b` + phraseVerb + `(?:` + gap + `(?:all|any|every|everything|each|the|your|my|our|these|those|of|previous|prior|earlier|preceding|above|former|system|safety|developer)){1,5}` + gap + phraseObject + `\b`)},
	// the order to ignore instructions with signs in place of spaces
	{categoryInjection, "ignore_instructions_joined", viewPlain, []string{"ignore"},
		expr(`(?i)\bignore` + gap + `(?:previous|all|prior)` + gap + `instructions\b`)},
	// an order to forget everything said before
	{categoryInjection, "forget_above", viewPlain, []string{"forget", "disregard", "ignore"},
		expr(`(?i)\b(?:forget|disregard|ignore)\s+(?:everything|all|anything)\s+(?:\pL+\s+){0,3}?(?:above|before|previously|earlier)\b`)},
	// "ignore" or "disregard" spelled letter by letter
	{categoryInjection, "spelled_out", viewPlain, nil,
		expr(`(?i)\b(?:` + spelled("ignore") + `|` + spelled("disregard") + `)\b`)},
	// an order to ignore instructions with digits for letters
	{categoryInjection, "digits_for_letters", viewDigits, []string{"ignore", "disregard", "forget"},
		expr(`(?i)\b(?:ignore|disregard|forget)\s+(?:\pL+\s+){0,3}?` + phraseObject + `\b`)},
	// an order to ignore instructions in rot13
	{categoryInjection, "rot13", viewRot13, []string{"ignore", "disregard"},
		expr(`(?i)\b(?:ignore|disregard)\s+(?:\pL+\s+){0,3}?` + phraseObject + `\b`)},
	// the order to ignore previous instructions in Spanish, French, German, Italian or Portuguese
	{categoryInjection, "other_languages", viewPlain, []string{"instru", "istru", "anweisung"},
		expr(`(?i)\b(?:ignor[ae]|ignorez|ignoriere|ignorieren|ignori|olvid[ae]|oubliez|oublie|vergiss|dimentica|esquec[ae])\s+(?:\pL+\s+){0,4}?(?:instrucciones|instructions|instrucoes|istruzioni|anweisungen)\b`)},
	// a web address that carries a secret variable in any parameter
	{categoryExfil, "url_secret_anywhere", viewPlain, []string{"://"},
		expr(`(?i)https?://[^\s?]+\?[^\s]*=\$\{?[A-Z_]*(?:TOKEN|API_KEY|SECRET|PASSWORD|CREDENTIAL)`)},
	// curl or wget with a secret variable in braces or with a longer name
	{categoryExfil, "curl_with_named_secret", viewPlain, []string{"curl", "wget"},
		expr(`(?i)\b(?:curl|wget)\b[^\n]*\$\{?[A-Z_]*(?:TOKEN|API_KEY|SECRET|PASSWORD|CREDENTIAL)`)},
	// a key appended to an authorized_keys file under any path
	{categoryPersistence, "authorized_keys_any_path", viewPlain, []string{"authorized_keys"},
		expr(`>>\s*\S*\.ssh/authorized_keys\b`)},
}

const (
	// variation selectors in a row, or behind plain text: bytes can be hidden in them
	strictSmuggled = "selector_smuggling"
	// a character that is invisible but not among upstream's invisible ones
	strictBlank     = "blank_character"
	strictHomoglyph = "_lookalike"
	strictBase64    = "_base64_loose"
)

// spelled is the expression for a word with signs or spaces between its letters.
func spelled(word string) string { return strings.Join(strings.Split(word, ""), `[^\pL\pN]{1,3}`) }

// Strict lists findings of memdesk's own rules that upstream's miss: known evasions. Every category begins
// with "strict/", and no result changes a verdict of Scan. Places that upstream's rules report are left out;
// at most MaxPerPattern of each pattern are listed.
func Strict(text string) []Finding {
	s := strictScan{text: text, place: lineCounter{text: text}, listed: map[Verdict]int{}}
	s.selectors()
	s.views()
	s.base64()
	return s.found
}

type strictScan struct {
	text   string
	place  lineCounter
	found  []Finding
	listed map[Verdict]int
}

func (s *strictScan) add(f Finding) {
	f.Category = strictPrefix + f.Category
	if v := f.Verdict(); s.listed[v] < MaxPerPattern {
		s.listed[v]++
		f.Line, f.Col = s.place.at(f.Start)
		s.found = append(s.found, f)
	}
}

// selectors finds variation selectors used as an alphabet and blank letters that
// are not in category Cf.
func (s *strictScan) selectors() {
	if isASCII(s.text) {
		return
	}
	run, runAt, before := 0, 0, rune(0)
	end := func(at int) {
		plainBase := before < utf8.RuneSelf && !strings.ContainsRune("0123456789#*", before)
		if run > 1 || run == 1 && plainBase {
			s.invisible(strictSmuggled, runAt, at)
		}
		run = 0
	}
	for i, r := range s.text {
		if unicode.Is(unicode.Variation_Selector, r) {
			if run == 0 {
				runAt = i
			}
			run++
			continue
		}
		end(i)
		before = r
		switch r {
		case 0x034F, 0x2800, 0xFFA0, 0x17B4, 0x17B5:
			s.invisible(strictBlank, i, i+utf8.RuneLen(r))
		}
	}
	end(len(s.text))
}

func (s *strictScan) invisible(name string, start, end int) {
	s.add(Finding{Category: categoryInvisible, Pattern: name, Rule: name, Stage: StageInvisible,
		Start: start, End: end, Match: s.text[start:end]})
}

func (s *strictScan) views() {
	plain := fold(s.text, strictFold(viewPlain))
	for _, view := range []strictView{viewPlain, viewDigits, viewRot13} {
		folded := plain
		if view != viewPlain {
			folded = fold(s.text, strictFold(view))
			if view == viewDigits && folded == plain {
				continue
			}
		}
		s.ownRules(view, folded)
	}
	if plain != s.text {
		s.upstreamRules(plain)
	}
}

func (s *strictScan) ownRules(view strictView, folded string) {
	low := strings.ToLower(folded)
	back := trace{text: s.text, fold: strictFold(view)}
	for _, r := range strictRules {
		if r.view != view || !containsAny(low, r.hints) {
			continue
		}
		for _, m := range r.re().FindAllStringIndex(folded, -1) {
			match := folded[m[0]:m[1]]
			start, end := back.span(m[0], m[1])
			if _, known := Scan(s.text[start:end]); known || view == viewDigits && match == s.text[start:end] {
				continue
			}
			s.add(Finding{Category: r.category, Pattern: r.name, Rule: r.name, Stage: StageFolded,
				Start: start, End: end, Decoded: match, Match: match})
		}
	}
}

// upstreamRules reports hits of upstream's rules that only occur in the strict view.
func (s *strictScan) upstreamRules(plain string) {
	back := trace{text: s.text, fold: strictFold(viewPlain)}
	for i, spans := range allHits(plain) {
		r := &upstreamRules[i]
		for _, m := range spans {
			start, end := back.span(m[0], m[1])
			span := s.text[start:end]
			if firstRule(span) != nil || firstRule(fold(span, foldRune)) != nil {
				continue
			}
			s.add(Finding{Category: r.category, Pattern: r.name + strictHomoglyph, Rule: r.name, Stage: StageFolded,
				Start: start, End: end, Decoded: plain[m[0]:m[1]], Match: plain[m[0]:m[1]]})
		}
	}
}

func containsAny(text string, words []string) bool {
	return words == nil || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// strictFold is the folding of a strict view.
func strictFold(view strictView) folding {
	return func(dst []byte, r rune) []byte {
		if isInvisible(r) || r == 0x2800 || r == 0xFFA0 {
			return dst
		}
		from := len(dst)
		dst = foldRune(dst, upperLookAlike(r))
		if view == viewPlain {
			return dst
		}
		for i := from; i < len(dst); i++ {
			dst[i] = reread(view, dst[i])
		}
		return dst
	}
}

func reread(view strictView, c byte) byte {
	if view == viewRot13 {
		switch l := lower(c); {
		case 'a' <= l && l <= 'm':
			return c + 13
		case 'n' <= l && l <= 'z':
			return c - 13
		}
		return c
	}
	if i := strings.IndexByte("013457@$", c); i >= 0 {
		return "oieastas"[i]
	}
	return c
}

// upperLookAlike maps the upper-case letters, and some lower-case ones, that upstream does not map.
func upperLookAlike(r rune) rune {
	const from = "АΑВΒСЕΕНΗІΙЈКΚМΜΝОΟРΡЅТΤХΧΥУΖһіјԁԛԝɡɩıⅼոսցօ"
	const to = "AABBCEEHHIIJKKMMNOOPPSTTXXYYZhijdqwgiilnugo"
	if r < utf8.RuneSelf {
		return r
	}
	n := 0
	for _, c := range from {
		if c == r {
			return rune(to[n])
		}
		n++
	}
	return r
}

// minLooseRun is the shortest run tried here; ordinary words are shorter runs.
const minLooseRun = 16

// base64 tries shorter, unpadded and shifted runs, and the web alphabet.
func (s *strictScan) base64() {
	web := strings.NewReplacer("-", "+", "_", "/").Replace(s.text)
	for start, end := range base64Runs(web, minLooseRun) {
		if _, known := scanBase64(s.text[start:end]); known {
			continue
		}
		run := strings.TrimRight(web[start:end], "=")
		for shift := 0; shift < 4 && len(run)-shift >= minLooseRun; shift++ {
			if s.looseRun(run[shift:], start, end) {
				break
			}
		}
	}
}

func (s *strictScan) looseRun(run string, start, end int) bool {
	decoded, err := base64.RawStdEncoding.DecodeString(run[:len(run)-len(run)%4])
	if err != nil || 10*readable(decoded) < 9*len(decoded) {
		return false
	}
	if tail, err := base64.RawStdEncoding.DecodeString(run); err == nil {
		decoded = tail
	}
	text := string(decoded)
	hit := func(name, match string) {
		s.add(Finding{Category: categoryBase64, Pattern: name + strictBase64, Rule: name, Stage: StageBase64,
			Start: start, End: end, Decoded: text, Match: match})
	}
	found := false
	for i, spans := range allHits(text) {
		for _, m := range spans {
			found = true
			hit(upstreamRules[i].name, text[m[0]:m[1]])
		}
	}
	for _, r := range strictRules {
		if r.view != viewPlain {
			continue
		}
		if m := r.re().FindString(text); m != "" {
			found = true
			hit(r.name, m)
		}
	}
	return found
}
