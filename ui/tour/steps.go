// Package tour shows the console at work: it types the keys of a script into the real console and explains
// them in a caption. It knows no store and changes nothing by itself.
package tour

import "time"

// Step is one stop of the tour.
type Step struct {
	Caption string        // one line of at most 76 columns
	Keys    []string      // as a terminal sends them
	See     string        // the screen then, at 80 columns and more
	Read    time.Duration // how long it stays
}

// esc is the escape key as newer terminals send it. A bare escape and the next key, read in one piece, would
// be that key with alt.
const esc = "\x1b[27u"

// Steps go through three jobs on the workspace of the demo, in about ninety seconds.
var Steps = []Step{
	{"memdesk: one desk for all that your agents remember, in fourteen stores.", nil, "harbor", 7 * time.Second},
	{"1. Look. Every store is asked at once, as an agent would ask.", []string{"3", "/", "rye bread"}, "rank 1 in", 7 * time.Second},
	{"A hit is read whole, with who wrote it and how far that is trusted.", []string{"\r", "\r"}, "written by", 7 * time.Second},
	{"2. Review. What scanners blocked, and whether the source is still poisoned.", []string{esc, "4", "j"}, "2 of 4", 8 * time.Second},
	{"The same, and what else looks planted, grouped by who wrote it.", []string{"S"}, "Stories", 7 * time.Second},
	{"Second copies that sync tools left: the difference comes first.", []string{esc, "5", "jj"}, "3 of 8", 8 * time.Second},
	{"Resolving is one key and one answer. A question starts on Cancel.", []string{"b"}, "enter cancel", 6 * time.Second},
	{"Both texts are kept for thirty days.", []string{"y"}, "; z undoes", 5 * time.Second},
	{"z puts them back, after a question that says what comes back.", []string{"z"}, "enter cancel", 5 * time.Second},
	{"The store is as it was. Both acts are on record.", []string{"y"}, "put back", 5 * time.Second},
	{"3. Erase a person. Requests by their legal deadline; one is due tomorrow.", []string{"6"}, "due tomorrow", 7 * time.Second},
	{"The plan: per store what goes, what is redacted, what is out of reach.", []string{"j", "\r"}, "The plan of", 8 * time.Second},
	{"It is approved by a second key. E would carry it out, after this question.", []string{"E"}, "for good?", 7 * time.Second},
	{"Every act is in a log that shows when somebody changed it.", []string{esc, esc, "7"}, "[7 Audit]", 7 * time.Second},
}

// End is shown after the script, or after a key.
const End = "The tour is over and the console is yours: ? lists the keys, q leaves."
