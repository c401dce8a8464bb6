package backends

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// position is where a key stands, from 1.
type position struct{ line, col int }

// located is a key with its table: path is "store" for every [[store]] block,
// whose number block then is.
type located struct {
	table string
	block int
	key   string
	at    position
}

// keyIndex finds keys in a text that is known to be valid TOML; the decoder
// itself gives no position for a key that it did not expect.
type keyIndex []located

var (
	tableLine = regexp.MustCompile(`^\s*(\[\[?)\s*([^\]]+?)\s*\]`)
	keyLine   = regexp.MustCompile(`^(\s*)("[^"]+"|'[^']+'|[A-Za-z0-9_.-]+)\s*=`)
)

func locateKeys(text string) keyIndex {
	var out keyIndex
	table, blocks, block := "", -1, -1
	for i, line := range strings.Split(text, "\n") {
		if m := tableLine.FindStringSubmatchIndex(line); m != nil {
			table, block = strings.ReplaceAll(line[m[4]:m[5]], `"`, ""), -1
			if line[m[2]:m[3]] == "[[" && table == "store" {
				blocks++
				block = blocks
			}
			out = append(out, located{table, block, "", position{i + 1, m[2] + 1}})
			continue
		}
		if m := keyLine.FindStringSubmatchIndex(line); m != nil {
			key := strings.Trim(line[m[4]:m[5]], `"'`)
			out = append(out, located{table, block, key, position{i + 1, m[4] + 1}})
		}
	}
	return out
}

// find locates a decoder key such as store.colour or ui.x.y; the start of the
// file when it cannot.
func (ix keyIndex) find(key toml.Key) position {
	for _, l := range ix {
		full := l.table
		if l.key != "" {
			full = strings.TrimPrefix(l.table+"."+l.key, ".")
		}
		if full == strings.Join(key, ".") {
			return l.at
		}
	}
	return position{1, 1}
}

func (ix keyIndex) block(n int) int { return cmp.Or(ix.inStore(n, "").line, 1) }

// inStore locates a key of the nth store block, or the block's own line.
func (ix keyIndex) inStore(n int, key string) position {
	head := position{1, 1}
	for _, l := range ix {
		if l.table != "store" || l.block != n {
			continue
		}
		if l.key == "" {
			head = l.at
		}
		if l.key == key {
			return l.at
		}
	}
	return head
}

var decoderText = regexp.MustCompile(`^toml: (?:line (\d+) )?(?:\(last key "((?:[^"\\]|\\.)*)"\))?:? ?(.*)$`)

// decodeError turns the decoder's error into a position and words.
func (ix keyIndex) decodeError(err error) (position, string) {
	var pe toml.ParseError
	if errors.As(err, &pe) && pe.Message != "" {
		return position{max(1, pe.Position.Line), max(1, pe.Position.Col)}, pe.Message
	}
	m := decoderText.FindStringSubmatch(err.Error())
	if m == nil {
		return position{1, 1}, err.Error()
	}
	m[2] = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(m[2])
	pos := ix.find(strings.Split(strings.ReplaceAll(m[2], `"`, ""), "."))
	if n, convErr := strconv.Atoi(m[1]); convErr == nil && pos.line != n {
		pos = position{n, 1}
	}
	if t := wrongShape.FindStringSubmatch(m[3]); t != nil {
		if slices.Contains(blockKeys, m[2]) {
			return pos, wantsTable(m[2])
		}
		return pos, m[2] + " wants " + cmp.Or(shapes[t[1]], "another value")
	}
	if strings.HasPrefix(m[3], "type mismatch") { // its words name the Go type
		return pos, wantsTable(m[2])
	}
	return pos, m[2] + ": " + m[3]
}

// wantsTable names the header of the table, or of the block, that belongs in the place of a value.
func wantsTable(key string) string {
	if slices.Contains(blockKeys, key) {
		return fmt.Sprintf("%s wants blocks: write [[%s]]", key, key)
	}
	return fmt.Sprintf("%s wants a table: write [%s]", key, key)
}

// blockKeys are the keys of blocks.
var blockKeys = []string{"store", "operator.role", "audit.anchor", "backup", "recipient"}

// wrongShape is the decoder's word for a value of another type, shapes are ours for the type that it wants.
var (
	wrongShape = regexp.MustCompile(`^incompatible types: TOML value has type .*; destination has type (\w+)$`)
	shapes     = map[string]string{"slice": `a list, as in ["first", "second"]`, "string": "a text in quotes", "boolean": "true or false",
		"bool": "true or false", "integer": "a whole number", "float": "a number"}
)
