package signal

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// class is the meaning of a word or phrase; a set of them describes a sentence.
type class uint64

const (
	send class = 1 << iota
	data
	secret
	exposed
	fetch
	execute
	lower
	guard
	weak
	grant
	anyone
	always
	agent
	order
	conceal
	override
	protected
	praise
	suggest
	claim
	falsify
	benefit
	report
	trust
	trigger
	authority
	negation
	amends
	versus
	flaw
	link
	outside // an address
	brand   // a name of a product or company
	product // a name with inner capitals, as products have
)

// classNames are the names of the classes in lexicon.txt.
var classNames = map[string]class{
	"send": send, "data": data, "secret": secret, "exposed": exposed, "fetch": fetch, "execute": execute,
	"lower": lower, "guard": guard, "weak": weak, "grant": grant, "anyone": anyone, "always": always, "agent": agent,
	"order": order, "conceal": conceal, "override": override, "protected": protected, "praise": praise, "suggest": suggest,
	"claim": claim, "falsify": falsify, "benefit": benefit, "report": report, "trust": trust, "trigger": trigger,
	"authority": authority, "negation": negation, "amends": amends, "versus": versus, "flaw": flaw, "link": link,
}

// phraseWords is the most words of a lexicon entry.
const phraseWords = 6

//go:embed lexicon.txt
var lexiconText string

// lexicon maps the hash of a word or phrase to its meaning; begins are the hashes of the beginnings of longer
// phrases.
type lexicon struct {
	says   map[uint64]class
	begins map[uint64]bool
}

var shipped = sync.OnceValue(func() *lexicon {
	l, err := parseLexicon(lexiconText)
	if err != nil {
		panic(err) // the embedded file is tested
	}
	return l
})

func parseLexicon(text string) (*lexicon, error) {
	l := &lexicon{says: map[uint64]class{}, begins: map[uint64]bool{}}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, ":")
		c, ok := classNames[name]
		if !ok {
			return nil, fmt.Errorf("lexicon line %d: no class %q", n+1, name)
		}
		for phrase := range strings.SplitSeq(rest, ",") {
			words := split(phrase, nil)
			if len(words) == 0 || len(words) > phraseWords {
				return nil, fmt.Errorf("lexicon line %d: %q has %d words, 1 to %d can be", n+1, phrase, len(words), phraseWords)
			}
			h := words[0].hash
			for _, w := range words[1:] {
				l.begins[h] = true
				h = join(h, w.hash)
			}
			l.says[h] |= c
		}
	}
	return l, nil
}
