// Package identifier tells an operator what an identifier will find before it is searched for. It searches for nothing.
package identifier

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"

	"memdesk/gdpr/subject"
)

// Warnings say what is wrong with an identifier before it is searched for, without repeating it. No warnings
// means that it is fit for a search.
func Warnings(id string) []string {
	id = strings.TrimSpace(id)
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	word := strings.ToLower(id)
	if title.MatchString(word) {
		warn("it begins with a title or a link's kind, and is found with that alone: give it without")
	}
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, id))
	switch kind := subject.KindOf(id); {
	case slices.Contains(calendar, word):
		warn("it is a month or a day of the week: every date that names it would be erased too; give the whole name")
	case slices.Contains(commonWords, word):
		warn("it is a common word: texts that do not mean the person would be erased too; give the whole name")
	case kind == subject.Telephone:
		if rest, ok := strings.CutPrefix(id, "00"); ok {
			id = "+" + rest
		}
		if n, err := phonenumbers.Parse(id, ""); err != nil {
			warn("it is a telephone number without its country: only this way to write it is found; give it with + and the country")
		} else if !phonenumbers.IsValidNumber(n) {
			warn("no country has such a telephone number: check its digits")
		}
	case len(runes) <= 2 && !slices.ContainsFunc(runes, func(r rune) bool { return !unicode.In(r, subject.Unspaced...) }):
		warn("it is one or two characters of a script without spaces: it stands inside other words and names too; give a longer name")
	case kind == subject.Name && !strings.ContainsFunc(id, unicode.IsSpace) && utf8.RuneCountInString(id) < 6 && len(id) == utf8.RuneCountInString(id):
		warn("it is one short word: it is found with a capital only, and means other people of that name too; give the whole name")
	case kind == subject.Name && !strings.ContainsFunc(id, unicode.IsSpace):
		warn("it is one word: it means other people of that name too; give the whole name")
	case kind == subject.Name && !slices.ContainsFunc(strings.Fields(word), func(w string) bool { return utf8.RuneCountInString(w) > 2 && !slices.Contains(commonWords, w) }):
		warn("each of its words is short or a common word: texts that do not mean the person would be erased too; look at each item of the plan")
	case kind == subject.ID && strings.ContainsFunc(id, unicode.IsSpace):
		warn("it is taken for one exact text, with its blanks and marks: give a name, an address and a number as an identifier each")
	case kind == subject.ID && utf8.RuneCountInString(id) < 6:
		warn("it is short: it is found in exactly this case only")
	}
	switch cyrillic := slices.ContainsFunc(runes, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }); {
	case cyrillic && subject.Declines(id):
		warn("the cases of Russian are searched too, and may be the name of a woman with the same names: look at the plan; give the cases of other languages as aliases")
	case cyrillic:
		warn("names decline in languages that are written so: give the other cases as aliases")
	}
	return out
}

// title matches what stands before a name or an address and is none of it.
var title = regexp.MustCompile(`^(mailto:|tel[:.]|(mr|mrs|ms|dr|prof|herr|frau|mme)\.? )`)

// calendar are the English and German months and days of the week.
var calendar = strings.Fields("january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec " +
	"monday tuesday wednesday thursday friday saturday sunday januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag")

// commonWords are words of prose and of programs that are also names, or that are mistaken for one.
var commonWords = strings.Fields("mark will bill rose grace hope faith joy art frank grant drew dean chase hunter mason baker smith cook miller taylor carter fisher gray grey brown white black green young long short " +
	"rich rob sue pat jack bob rusty sandy dawn amber ruby pearl iris lily ivy olive daisy violet heather summer autumn skip miles wade reed glen cliff dale brook forest lane ray gene guy earl duke king prince major page " +
	"user admin root test guest agent system name person customer client owner author team support service info mail office home work note notes memory project task issue ticket data file text code name true false null none " +
	"the and for you she her him his was has had not all new old man one two day way may can see now get let put say use fix bug run set log key map tag bot " +
	"stein berg wolf fuchs vogel koch bauer schmidt müller weber klein groß lang kurz jung alt neu")

// Sentence says in which forms an identifier is found.
func Sentence(id string) string {
	switch subject.KindOf(id) {
	case subject.Address:
		return "an address: found exactly, plus tag and dots included"
	case subject.Telephone:
		return "a telephone number: found in every form of the same number"
	case subject.Name:
		switch p := subject.PatternsOf(id); {
		case len(p) > 0 && p[0].Strict && p[len(p)-1].Kind == subject.ID:
			return "a short name: found as it is given, and in any spelling that begins with a capital"
		case len(p) > 0 && p[0].Strict:
			return "a short name: found in any spelling that begins with a capital"
		}
		return "a name: found in any case and spelling, last name first too"
	}
	return "an id: found as an exact token"
}
