package subject

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// An identifier counts only as a whole token, never inside another identifier. Which neighbours make it a
// part of another identifier depends on its shape.
//
// Any identifier is a part of another one
//
//   - after a letter, a digit or an underscore: u1 in xu1, x_u1;
//   - before one of them, a combining mark or a hyphen: u1 in u10, u1_b, u1-b.
//
// A single word, or a mail address, is also a part of another one
//
//   - after a hyphen, a dot or an at sign that joins it to a word: x-u1, team.u1, ana@u1,
//     mary-ana@example.test. A word that only names the object of the id makes no other id: user-u1,
//     session.u1 (roleWords); nor does a date: 2026-05-01-u1;
//   - before an at sign or a dot that joins it to a word: u1@host, u1.backup, ana@example.test.uk. A file
//     extension makes no other id: u1.md, u1.json.gz (extensions).
//
// Punctuation that joins nothing is ignored: "asked u1.", "(u1)", "u1's", "- u1", "@u1", "wait...u1",
// "u1@ noon".
//
// An identifier of several words is distinctive enough: a prefix, or a suffix after a dot, still refers to
// it: n5-subj-ana, ticket-RC-ANA-5512, subj-ana.backup. A number after a dot makes another id of it:
// subj-ana.5.
//
// A name with spaces is also a part of another one after a hyphen that joins it to a capitalised word:
// Jean-Zoë Ångström is somebody else, ex-Zoë Ångström is not. Any other join is prose: "Dr.Zoë Ångström",
// "Zoë Ångström.Then". An underscore joins it to the other words of a file name: "CV_Zoë Ångström.pdf".
//
// Nobody can distinguish all of these from one person with two ids. A word that contains an identifier as a
// part is left alone and reported (Bystanders.Joined): people decide whether it is the same person, and
// then give it as an alias.

// shape classifies identifiers by their characters.
type shape uint8 // stored in files of hashes: append only

const (
	bare     shape = iota // one word, or a mail address
	compound              // several words joined by punctuation
	name                  // several words with spaces
)

// shapeOf is the shape of a folded identifier.
func shapeOf(folded string) shape {
	switch {
	case strings.Contains(folded, " "):
		return name
	case strings.Contains(folded, "@"):
		return bare
	case strings.ContainsFunc(folded, func(r rune) bool { return r < utf8.RuneSelf && (!wordByte(byte(r)) || r == '_') }):
		return compound
	}
	return bare
}

// roleWords say that an id is a person's, or name the object of an id.
var roleWords = []string{
	"user", "usr", "person", "people", "subject", "subj", "peer", "customer", "client", "contact", "member", "employee", "patient", "account",
	"session", "chat", "profile", "ticket", "case", "id", "uid", "userid", "user_id", "data_subject_id", "subject_id",
}

// extensions are the file name extensions that agents, editors and desks write.
var extensions = []string{
	"md", "markdown", "mdx", "txt", "text", "rst", "json", "jsonl", "ndjson", "yaml", "yml", "toml", "csv", "tsv", "xml", "html", "htm", "log", "pdf",
	"doc", "docx", "odt", "rtf", "eml", "vcf", "ics", "png", "jpg", "jpeg", "gif", "webp", "svg", "mp3", "wav", "mp4", "zip", "gz", "tgz", "zst", "bz2", "xz",
	"tar", "db", "sqlite", "sqlite3", "sql", "bak", "orig", "old", "tmp", "swp", "lock", "part", "rej", "patch", "diff", "bin", "enc", "age", "gpg", "pem",
}

// maxJoined bounds, in bytes, the neighbourhood of a place that is read.
const maxJoined = 64

// partBefore reports whether the end of b makes the following identifier a part of another one.
func partBefore(b []byte, sh shape) bool {
	s := string(b)
	rest, r := lastShown(s)
	switch {
	case wordRune(r):
		return !isProclitic(s)
	case r != '-' && r != '.' && r != '@', sh == compound, sh == name && r != '-':
		return false
	}
	rest, last := lastShown(rest)
	if !wordRune(last) {
		return false
	}
	word, before := string(last), rune(0)
	for rest != "" && len(word) < maxJoined {
		next, p := lastShown(rest)
		if !wordRune(p) {
			before = p
			break
		}
		word, rest = string(p)+word, next
	}
	if sh == name {
		first, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(first)
	}
	joined := before == '-' || before == '.' || before == '@'
	return r == '@' || (joined || !slices.Contains(roleWords, strings.ToLower(word))) && !dated(strings.TrimSuffix(s, string(r)))
}

// isProclitic reports whether s ends in a word of only those particles that Arabic and Hebrew write together
// with the next word.
func isProclitic(s string) bool {
	for n := 0; n <= 3; n++ {
		rest, r := lastShown(s)
		if !strings.ContainsRune("وفبكلاسוהבכלמש", r) || r == 0 {
			return n > 0 && !wordRune(r)
		}
		s = rest
	}
	return false
}

// dated reports whether s ends in a complete date.
func dated(s string) bool {
	const form = "2006-01-02"
	at := len(s) - len(form)
	if at < 0 {
		return false
	}
	_, err := time.Parse(form, s[at:])
	_, r := lastShown(s[:at])
	return err == nil && !wordRune(r) && r != '-' && r != '.' && r != '@'
}

// partAfter reports whether the beginning of b makes the preceding identifier a part of another one.
func partAfter(b []byte, sh shape) bool {
	s := string(b)
	if mark, n, _ := escapeAt([]byte(s + " ")); n > 2 && (mark == "." || mark == "@" || mark == "-") { // it joins as the mark itself does; a backslash alone divides a path
		s = mark + s[n:]
	}
	rest, r := firstShown(s)
	switch {
	case r == 's' && sh == name: // the genitive of German names
		_, next := firstShown(rest)
		return next == '-' || wordRune(next) && next != '_' || unicode.IsMark(next)
	case r == '-' || wordRune(r) || unicode.IsMark(r):
		return true
	case sh == name || r != '.' && r != '@':
		return false
	}
	_, next := firstShown(rest)
	if !wordRune(next) || sh == compound && !unicode.IsDigit(next) {
		return false
	}
	return r == '@' || !extended(s)
}

// extended reports whether s begins with file extensions, and nothing else.
func extended(s string) bool {
	for strings.HasPrefix(s, ".") {
		end := 1
		for end < len(s) && end < maxJoined && wordByte(s[end]) {
			end++
		}
		if end == 1 { // the end of a sentence, unless a word of another script follows
			break
		}
		if !slices.Contains(extensions, strings.ToLower(s[1:end])) {
			return false
		}
		s = s[end:]
	}
	rest, r := firstShown(s)
	if r == '.' {
		_, r = firstShown(rest)
	}
	return r != '-' && r != '@' && !wordRune(r) && !unicode.IsMark(r)
}

// lastShown is the last visible character of s, and the text before it; 0 where there is none.
func lastShown(s string) (string, rune) {
	for len(s) > 0 {
		r, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
		if !ignorable(r) {
			return s, r
		}
	}
	return "", 0
}

// firstShown is the first visible character of s, and the text after it.
func firstShown(s string) (string, rune) {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		if !ignorable(r) {
			return s, r
		}
	}
	return "", 0
}

// slugBefore and slugAfter report whether a name inside a slug ends there: the slug may have more words.
func slugBefore(b []byte) bool {
	_, r := lastShown(string(b))
	return r == '_' || !wordRune(r)
}

func slugAfter(b []byte) bool {
	_, r := firstShown(string(b))
	return r == '_' || !wordRune(r) && !unicode.IsMark(r)
}
