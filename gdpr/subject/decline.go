package subject

import (
	"slices"
	"strings"
	"unicode"
)

// declensions are the endings of Russian names in the nominative, genitive, dative, accusative, instrumental
// and prepositional; "/" separates two that are both in use. The first ending that fits counts: surnames come
// before given names.
var declensions = []struct {
	ending string
	cases  [5]string
}{
	{"ский", [5]string{"ского", "скому", "ского", "ским", "ском"}},
	{"цкий", [5]string{"цкого", "цкому", "цкого", "цким", "цком"}},
	{"ый", [5]string{"ого", "ому", "ого", "ым", "ом"}},
	{"ой", [5]string{"ого", "ому", "ого", "ым", "ом"}},
	{"ий", [5]string{"ия", "ию", "ия", "ием", "ии"}},
	{"й", [5]string{"я", "ю", "я", "ем", "е"}},
	{"ская", [5]string{"ской", "ской", "скую", "ской", "ской"}},
	{"ая", [5]string{"ой", "ой", "ую", "ой", "ой"}},
	{"ия", [5]string{"ии", "ии", "ию", "ией", "ии"}},
	{"я", [5]string{"и", "е", "ю", "ей", "е"}},
	{"ова", [5]string{"овой", "овой", "ову", "овой", "овой"}},
	{"ева", [5]string{"евой", "евой", "еву", "евой", "евой"}},
	{"ина", [5]string{"иной/ины", "иной/ине", "ину", "иной", "иной/ине"}},
	{"а", [5]string{"ы/и", "е", "у", "ой/ей", "е"}},
	{"ов", [5]string{"ова", "ову", "ова", "овым", "ове"}},
	{"ев", [5]string{"ева", "еву", "ева", "евым", "еве"}},
	{"ин", [5]string{"ина", "ину", "ина", "иным/ином", "ине"}},
	{"ын", [5]string{"ына", "ыну", "ына", "ыным", "ыне"}},
	{"ел", [5]string{"ла/ела", "лу/елу", "ла/ела", "лом/елом", "ле/еле"}},
	{"ец", [5]string{"ца", "цу", "ца", "цом/цем", "це"}},
	{"ь", [5]string{"я/и", "ю/и", "я/ь", "ем/ью", "е/и"}},
	{"", [5]string{"а", "у", "а", "ом/ем", "е"}},
}

// Declines reports whether the cases of a name are searched for too.
func Declines(id string) bool { return declined(id) != nil }

// declined are the cases of a Cyrillic name of several words: all words in the same case. A word that ends in
// another vowel does not decline. A single word is not declined: Ivanova is another person than Ivanov, and
// also the genitive of Ivanov.
func declined(id string) []string {
	words := strings.FieldsFunc(id, func(r rune) bool { return unicode.IsSpace(r) })
	if len(words) < 2 || strings.ContainsFunc(id, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Cyrillic, r) }) {
		return nil
	}
	var out []string
	for c := range 5 {
		forms := []string{""}
		for _, w := range words {
			var next []string
			for _, f := range forms {
				for _, d := range inCase(w, c) {
					next = append(next, strings.TrimLeft(f+" "+d, " "))
				}
			}
			forms = next[:min(len(next), 8)]
		}
		for _, f := range forms {
			if f != id && !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// inCase is a word in one of the cases of declensions; of a double name both parts are declined, or the last
// alone.
func inCase(word string, c int) []string {
	if first, last, ok := strings.Cut(word, "-"); ok {
		var out []string
		for _, l := range inCase(last, c) {
			for _, f := range append([]string{first}, inCase(first, c)...) {
				out = append(out, f+"-"+l)
			}
		}
		return out
	}
	r := []rune(strings.ToLower(word))
	if len(r) < 3 || strings.ContainsRune("оеёиуыэю.,'’", r[len(r)-1]) {
		return []string{word}
	}
	for _, d := range declensions {
		if !strings.HasSuffix(string(r), d.ending) {
			continue
		}
		stem := string([]rune(word)[:len(r)-len([]rune(d.ending))])
		var out []string
		for _, e := range strings.Split(d.cases[c], "/") {
			out = append(out, stem+e)
		}
		return out
	}
	return []string{word}
}
