package subject

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// An identifier counts as a whole token only: it is never looked for inside another
// one. What makes a longer token of it differs with its shape.
//
// Any identifier is a part of another one
//
//   - behind a letter, a digit or an underscore: u1 in xu1, x_u1;
//   - before one of them, a combining mark or a hyphen: u1 in u10, u1_b, u1-b.
//
// One of a single word, and a mail address, is also a part of another one
//
//   - behind a hyphen, a dot or an at sign that joins it to a word: x-u1, team.u1,
//     ana@u1, mary-ana@example.test. A word that only says what the id is of makes
//     no other id: user-u1, session.u1 (roleWords); nor does a date: 2026-05-01-u1;
//   - before an at sign or a dot that joins it to a word: u1@host, u1.backup,
//     ana@example.test.uk. The extension of a file makes no other id: u1.md,
//     u1.json.gz (extensions).
//
// Punctuation that joins nothing says nothing: "asked u1.", "(u1)", "u1's", "- u1",
// "@u1", "wait...u1", "u1@ noon".
//
// One that is made of several words itself is told from others by that: what is
// built behind it or with a dot upon it speaks of it, n5-subj-ana, ticket-RC-ANA-5512,
// subj-ana.backup. A number behind a dot makes another id of it: subj-ana.5.
//
// A name with spaces is also a part of another one behind a hyphen that joins it to
// a word with a capital: Jean-Zoë Ångström is somebody else, ex-Zoë Ångström is not.
// What joins it otherwise is prose: "Dr.Zoë Ångström", "Zoë Ångström.Then".
//
// Nobody can tell all of these from one person under two ids. What holds an
// identifier as a part is left alone and told (Bystanders.Joined): who is the same
// person is for people to say, with an alias.

// shape classifies the characters of an identifier.
type shape uint8 // stands in files of hashes: append only

const (
	bare     shape = iota // one word, or a mail address
	compound              // several words that punctuation joins
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

// roleWords say of an id that it is a person's, or what it is of.
var roleWords = []string{
	"user", "usr", "person", "people", "subject", "subj", "peer", "customer", "client", "contact", "member", "employee", "patient", "account",
	"session", "chat", "profile", "ticket", "case", "id", "uid", "userid", "user_id", "data_subject_id", "subject_id",
}

// extensions are how the names of files end that agents, editors and desks write.
var extensions = []string{
	"md", "markdown", "mdx", "txt", "text", "rst", "json", "jsonl", "ndjson", "yaml", "yml", "toml", "csv", "tsv", "xml", "html", "htm", "log", "pdf",
	"doc", "docx", "odt", "rtf", "eml", "vcf", "ics", "png", "jpg", "jpeg", "gif", "webp", "svg", "mp3", "wav", "mp4", "zip", "gz", "tgz", "zst", "bz2", "xz",
	"tar", "db", "sqlite", "sqlite3", "sql", "bak", "orig", "old", "tmp", "swp", "lock", "part", "rej", "patch", "diff", "bin", "enc", "age", "gpg", "pem",
}

// maxJoined bounds, in bytes, how far around a place its neighbours are looked at.
const maxJoined = 64

// partBefore reports whether what ends s makes what follows a part of another
// identifier.
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

// isProclitic reports whether s ends in a word that is nothing but particles that Arabic
// and Hebrew write together with the next word.
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

// dated reports whether s ends in a date of its own.
func dated(s string) bool {
	const form = "2006-01-02"
	if len(s) < len(form) {
		return false
	}
	rest, date := s[:len(s)-len(form)], s[len(s)-len(form):]
	if _, err := time.Parse(form, date); err != nil {
		return false
	}
	_, r := lastShown(rest)
	return !wordRune(r) && r != '-' && r != '.' && r != '@'
}

// partAfter reports whether what begins s makes what stands before it a part of
// another identifier.
func partAfter(b []byte, sh shape) bool {
	s := string(b)
	rest, r := firstShown(s)
	switch {
	case r == 's' && sh == name: // the genitive of German names
		_, next := firstShown(rest)
		return next == '-' || wordRune(next) || unicode.IsMark(next)
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

// extended reports whether s begins with the extensions of a file, and no more.
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

// lastShown is the last character of s that shows, and what stands before it; 0
// where there is none.
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

// firstShown is the first character of s that shows, and what follows it.
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

// slugBefore and slugAfter report whether a name that stands in a slug ends there: more
// words may follow in the same slug.
func slugBefore(b []byte) bool {
	_, r := lastShown(string(b))
	return r == '_' || !wordRune(r)
}

func slugAfter(b []byte) bool {
	_, r := firstShown(string(b))
	return r == '_' || !wordRune(r) && !unicode.IsMark(r)
}
