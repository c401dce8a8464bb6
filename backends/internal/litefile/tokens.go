package litefile

import (
	"regexp"
	"slices"
	"strings"
)

// sqlWords splits a definition into quoted names and texts, comments, blanks, words and single characters.
var sqlWords = regexp.MustCompile("(?s)'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\\[[^]]*\\]|--[^\\n]*|/\\*.*?(?:\\*/|\\z)|[\\x00- ]+|[\\w\\x80-\\x{10FFFF}]+|.")

// Tokens splits SQL text into words, quoted names and texts (with their quotes) and
// single characters, without blanks and comments.
func Tokens(sql string) []string {
	var out []string
	for _, at := range tokens(sql) {
		out = append(out, sql[at[0]:at[1]])
	}
	return out
}

// tokens is Tokens, with where each begins and ends in place of its text.
func tokens(sql string) [][]int {
	return slices.DeleteFunc(sqlWords.FindAllStringIndex(sql, -1), func(at []int) bool {
		word := sql[at[0]:at[1]]
		return word[0] <= ' ' || strings.HasPrefix(word, "--") || strings.HasPrefix(word, "/*")
	})
}
