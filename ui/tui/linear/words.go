package linear

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// spokenFor are the words of a conversation for what messages of the console call
// by a key: each place where a key is named has its word here, and a test fails
// where one is missing. Only the program's own words are changed by it.
var spokenFor = map[string]string{
	"; z undoes":                       "", // the line after it names the entry
	"z undoes":                         "undo takes that back",
	"z puts it back":                   "undo puts it back",
	"z puts them back":                 "undo puts them back",
	"z puts both back":                 "undo puts both back",
	"z takes back what was done":       "undo takes back what was done",
	":undo lists earlier changes":      "undos lists earlier changes",
	":undo lists what can be put back": "undos lists what can be put back",
	":undo lists what was done":        "undos lists what was done",
	":readonly off lifts that":         "readonly off lifts that",
	":readonly takes on, off":          "readonly takes on, off",

	"C stops; esc leaves it running":                "stop ends it",
	"C stops after the %s under way; esc leaves it": "stop ends it after the %s under way, else it goes on",
	"C stops it at its next step":                   "stop, with its number, ends it at its next step",

	"x writes it to a file":                           "export writes it to a file",
	"x exports it":                                    "export writes it to a file",
	"in a list of items Y copies a row":               "open reads an item out",
	"y copies the text;":                              "open reads it out;",
	"y copies, Y copies the row":                      "open reads an item out",
	"as lists show it and y copies it; tab completes": "as lists say it",
	"u takes the marks away":                          "unmark takes the marks away",
	"s shows all of it, one below the other":          "open reads all of it",
	"Cancel puts yours aside":                         "anything else puts yours aside",

	"it has no base: c gives the copy the base's name, B keeps it under another": "it has no base: keep copy gives the copy the base's name, keep both keeps it under another",
	"b, c and B work on its bytes":   "keep base, keep copy and keep both work on its bytes",
	"b, c and B resolve it as bytes": "keep base, keep copy and keep both resolve it as bytes",

	"a files one":                         "request files one",
	"a files a new one":                   "request files a new one",
	"a files a request":                   "request files one",
	"p searches every store":              "plan searches every store",
	"p makes one":                         "plan makes one",
	"p plans again":                       "plan makes it anew",
	"then r":                              "then retry",
	"then E":                              "then erase",
	"E begins one":                        "erase begins one",
	"E wants the number":                  "erase wants the number",
	"E carries it out":                    "erase carries it out",
	"enter shows it, A says who":          "show reads it, approve says who",
	"A says how":                          "approve says how",
	"P pauses it at its next step":        "pause holds it at its next step",
	"P pauses it":                         "pause holds it",
	"r goes on":                           "retry goes on",
	"r does what":                         "retry does what",
	"r scrubs that layer":                 "retry scrubs that layer",
	"in 6 Erasure r does what is left":    "erasures lists it, and retry does what is left",
	"1 Health tries the store again":      "health, with its name, tries the store again",
	"enter reads the receipt, S saves it": "show reads the receipt, receipt saves it",
	"S saves the signed file":             "receipt saves the signed file",
	"V lists all":                         "layers lists all",
	"r looks again":                       "retry looks again",
	"S saves the receipt":                 "receipt saves it",
	"attest it with t":                    "attest it with memdesk gdpr attest",
	"attested with t":                     "attested with memdesk gdpr attest",
	"V lists the layers, t there attests": "layers lists them, memdesk gdpr attest attests",
	"S saves it as a page":                "receipt saves it as a page",
	"P lets it go on":                     "pause lets it go on",
	"E carries the plan out":              "erase carries the plan out",
	"T lets it run again":                 "deadline lets it run again",
	"ctrl+r looks again":                  "again looks once more",
	"e edits it":                          "edit, with its number or reference, opens it",
	"d forgets one":                       "forget takes one away",
	"d deletes the entry":                 "delete removes the entry",
	":undo lists what can be taken back":  "undos lists what can be taken back",
	"ctrl+r shows it":                     "again shows it",

	"r tries again":    "health, with its name, tries again",
	"r tries now":      "health tries now",
	"when you press r": "when you say health",

	"1 Health":     "health",
	"2 Tiers":      "tiers",
	"3 Recall":     "recall",
	"4 Quarantine": "quarantine",
	"5 Conflicts":  "conflicts",
	"6 Erasure":    "erasures",
	"7 Audit":      "audit",
}

// spokenPattern finds the phrases, longer ones first.
var spokenPattern = sync.OnceValue(func() *regexp.Regexp {
	var all []string
	for phrase := range spokenFor {
		all = append(all, phrase)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for i, phrase := range all {
		all[i] = regexp.QuoteMeta(phrase)
		if phrase[0] != ';' && phrase[0] != ':' { // not the end of another word
			all[i] = `\b` + all[i]
		}
		if phrase[len(phrase)-1] != ';' { // nor the beginning of one
			all[i] += `\b`
		}
	}
	return regexp.MustCompile(`(?:` + strings.Join(all, "|") + `)`)
})

// spokenWords says in the words of a conversation what names keys.
func spokenWords(s string) string {
	return spokenPattern().ReplaceAllStringFunc(s, func(phrase string) string { return spokenFor[phrase] })
}
