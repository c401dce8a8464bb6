// Package signal scores how much a memory looks planted. It knows no verdict: each signal has a weight, a
// name that operators understand and the words in which it was found; their sum is compared with a threshold
// that an operator has calibrated. It blocks nothing and asks no model.
package signal

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// RuleVersion names the rules, lexicon and weights; it changes with any of them, so that old decisions are
// recognised.
const RuleVersion = "signals-3"

// Default is the score from which a memory is shown for review when nothing was
// calibrated.
const Default = 4.5

// Signal is one reason to look at a memory.
type Signal struct {
	Name     string  `json:"name"`               // stable, for scripts
	Title    string  `json:"title"`              // for people
	Weight   float64 `json:"weight"`             // its share of the score
	Start    int     `json:"start"`              // bytes of the passage in which it was found
	End      int     `json:"end"`                // 0 for a signal that the text alone does not give
	Evidence string  `json:"evidence,omitempty"` // further evidence: an item, a key, a count
}

// Passage is the part of the text with the signal; empty when the text alone does not give it, or is another
// one.
func (g Signal) Passage(text string) string {
	if g.Start < 0 || g.Start >= g.End || g.End > len(text) {
		return ""
	}
	return text[g.Start:g.End]
}

// Score is the sum of the signals, and the signals, the heaviest first.
type Score struct {
	Sum     float64
	Signals []Signal
}

// Names are the names of the signals, the heaviest first.
func (s Score) Names() []string {
	names := make([]string, len(s.Signals))
	for i, g := range s.Signals {
		names[i] = g.Name
	}
	return names
}

// Heaviest is the name of the heaviest signal; empty when there is none.
func (s Score) Heaviest() string {
	if len(s.Signals) == 0 {
		return ""
	}
	return s.Signals[0].Name
}

// Scorer scores texts. The zero value uses the weights that memdesk ships.
type Scorer struct {
	wording *Wording
	table   *table
}

// NewScorer scores with a model of the operator's own.
func NewScorer(w *Wording) Scorer { return Scorer{wording: w, table: compile(shipped(), w)} }

var shippedTable = sync.OnceValue(func() *table { return compile(shipped(), shippedWording()) })

func (c Scorer) bias() float64 {
	if c.wording == nil {
		return shippedWording().bias
	}
	return c.wording.bias
}

// scratch holds the working memory of a score; it is reused, so that a score allocates only its signals.
type scratch struct {
	words     []word
	sentences []span
	said      []class
	rules     []uint32
	sums      []float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// scratchMost is the most words of a text whose scratch is kept.
const scratchMost = 1 << 16

// Of scores a text by its words alone. A planted order is a short passage, so the score is that of the worst
// passage; a long text has more passages that may look bad by chance, so a discount applies.
func (c Scorer) Of(text string) Score {
	s := c.plain(text)
	s.hidden(text)
	s.encoded(c, text)
	s.sort()
	return s
}

// plain is the score of the readable text.
func (c Scorer) plain(text string) Score {
	h := scratches.Get().(*scratch)
	s := c.with(h, text)
	if cap(h.words) <= scratchMost {
		scratches.Put(h)
	}
	return s
}

func (c Scorer) with(h *scratch, text string) Score {
	t := c.table
	if t == nil {
		t = shippedTable()
	}
	h.words = split(text, h.words[:0])
	h.sentences = sentences(h.words, h.sentences[:0])
	h.said = slices.Grow(h.said[:0], len(h.sentences))[:len(h.sentences)]
	h.rules = slices.Grow(h.rules[:0], len(h.sentences))[:len(h.sentences)]
	h.sums = slices.Grow(h.sums[:0], 2*len(h.words)+1)[:2*len(h.words)+1]
	h.sums[0] = 0
	for i, at := range h.sentences {
		h.said[i] = t.read(h.words, at, h.sums)
		h.rules[i] = holding(ofSentence, h.said[i])
	}
	bias, passages := c.bias(), len(h.sentences)-passageSentences+1
	var worst Score
	from := -1
	for i := range h.sentences {
		if i > 0 && i >= passages {
			break
		}
		if sum := h.passage(i).sum(bias); sum > worst.Sum {
			worst.Sum, from = sum, i
		}
	}
	if from >= 0 {
		worst.Signals = h.passage(from).signals(bias)
	}
	if passages > 1 {
		worst.Sum = max(0, worst.Sum-discount*math.Log2(float64(passages)))
	}
	return worst
}

func (s *Score) sort() {
	slices.SortStableFunc(s.Signals, func(a, b Signal) int { return cmp.Compare(b.Weight, a.Weight) })
}

const (
	passageSentences = 3   // sentences of one passage
	discount         = 0.5 // subtracted for each doubling of the passages
	mannerMost       = 4.0 // the most that manner adds to a score: less than Default, so it is never enough alone
)

// passage is a few consecutive sentences.
type passage struct {
	words     []word
	sentences []span
	said      []class
	rules     []uint32 // rules of ofSentence that hold for each sentence, as bits
	sums      []float64
}

func (h *scratch) passage(i int) passage {
	last := min(i+passageSentences, len(h.sentences))
	return passage{h.words, h.sentences[i:last], h.said[i:last], h.rules[i:last], h.sums}
}

// span is a range of words.
type span struct{ from, to int }

// holding is the set of rules that hold, as bits.
func holding(rules []rule, m class) (set uint32) {
	if m == 0 {
		return 0
	}
	for k := range rules {
		if rules[k].holds(m) {
			set |= 1 << k
		}
	}
	return set
}

// all are the rules that hold for the passage: those of its sentences and its own.
func (p passage) all() (sentence, whole uint32) {
	var said class
	for i, m := range p.said {
		said |= m
		sentence |= p.rules[i]
	}
	return sentence, holding(ofPassage, said)
}

// wording is the part of the score that comes from the wording.
func (p passage) wording(bias float64) float64 {
	first, last := p.sentences[0].from, p.sentences[len(p.sentences)-1].to
	return wordingWeight(bias, p.sums[2*last-1]-p.sums[2*first], last-first)
}

// sum is the score of a passage.
func (p passage) sum(bias float64) float64 {
	sum, manner := 0.0, 0.0
	add := func(rules []rule, set uint32) {
		for ; set != 0; set &= set - 1 {
			if r := &rules[bits.TrailingZeros32(set)]; r.manner {
				manner += r.weight
			} else {
				sum += r.weight
			}
		}
	}
	sentence, whole := p.all()
	add(ofSentence, sentence)
	add(ofPassage, whole)
	return sum + min(manner+p.wording(bias), mannerMost)
}

// signals are the reasons for the score; for a repeated name, the first sentence.
func (p passage) signals(bias float64) []Signal {
	sentence, whole := p.all()
	out := make([]Signal, 0, bits.OnesCount32(sentence)+bits.OnesCount32(whole)+1)
	add := func(rules []rule, set uint32, at span) {
		for ; set != 0; set &= set - 1 {
			r := &rules[bits.TrailingZeros32(set)]
			out = append(out, Signal{Name: r.name, Title: r.title, Weight: r.weight, Start: p.words[at.from].start, End: p.words[at.to-1].end})
		}
	}
	for i, at := range p.sentences {
		add(ofSentence, p.rules[i]&sentence, at)
		sentence &^= p.rules[i]
	}
	at := span{p.sentences[0].from, p.sentences[len(p.sentences)-1].to}
	add(ofPassage, whole, at)
	if w := p.wording(bias); w > 0 {
		out = append(out, Signal{Name: "wording", Title: "worded like planted memories", Weight: w, Start: p.words[at.from].start, End: p.words[at.to-1].end})
	}
	return out
}

// sentences splits words at the beginnings of sentences.
func sentences(words []word, out []span) []span {
	start := 0
	for i := 1; i <= len(words); i++ {
		if i == len(words) || words[i].shape&opens != 0 {
			if i > start {
				out = append(out, span{start, i})
			}
			start = i
		}
	}
	return out
}

// negationReach is the largest distance, in words, of a negation from the negated word.
const negationReach = 3

// negatable are the classes that a preceding negation reverses, and that a question only asks about.
const negatable = lower | weak | exposed | grant | send | execute | fetch | override

// read returns the classes of a sentence, and continues the running sums of the wording: that of word i ends
// at sums[2i+1], that of the pair of words i and i+1 at sums[2i+2].
func (t *table) read(words []word, at span, sums []float64) class {
	var all class
	negated := at.from - negationReach - 1
	question := words[at.to-1].shape&asked != 0
	for i := at.from; i < at.to; i++ {
		w := &words[i]
		e := t.get(w.hash)
		said := e.says
		sums[2*i+1] = sums[2*i] + float64(e.weight)
		sums[2*i+2] = sums[2*i+1]
		if i+1 < len(words) {
			h := join(w.hash, words[i+1].hash)
			pair := t.get(h)
			sums[2*i+2] += float64(pair.weight)
			if e.begins {
				said |= t.phrase(pair, h, words[i+2:])
			}
		}
		if w.shape&address != 0 {
			all |= outside
			continue
		}
		if w.shape&heading == 0 {
			said &^= authority | amends
		}
		if question || i-negated <= negationReach {
			said &^= negatable
		}
		if said&negation != 0 {
			negated = i
		}
		all |= said
		if w.shape&(opens|heading) == 0 && (w.shape&inner != 0 || w.shape&(capital|allUpper) == capital) {
			all |= brand
		}
		if w.shape&(inner|capital) == inner|capital {
			all |= product
		}
	}
	return all
}

// phrase holds the classes of the phrases that begin with a pair of words.
func (t *table) phrase(e entry, h uint64, rest []word) class {
	said := e.says
	for n := 0; e.begins && n < len(rest); n++ {
		h = join(h, rest[n].hash)
		e = t.get(h)
		said |= e.says
	}
	return said
}

// hidden adds signals for invisible characters, which are weak alone, and for tags that only a program
// writes.
func (s *Score) hidden(text string) {
	for i, r := range text {
		if r >= utf8.RuneSelf && invisible(r) {
			s.note(Signal{Name: "invisible", Title: "has characters that nobody sees", Weight: 1, Start: i, End: i + utf8.RuneLen(r)})
			break
		}
	}
	for _, tag := range forgedTags {
		if i := strings.Index(text, tag); i >= 0 {
			s.note(Signal{Name: "forged_tag", Title: "has a tag that only the agent's own program writes", Weight: 4, Start: i, End: i + len(tag)})
			return
		}
	}
}

// note counts a signal and keeps it; for a repeated name, it keeps the first.
func (s *Score) note(g Signal) {
	s.Sum += g.Weight
	if !slices.ContainsFunc(s.Signals, func(had Signal) bool { return had.Name == g.Name }) {
		s.Signals = append(s.Signals, g)
	}
}

// Add adds one more signal to the score.
func (s *Score) Add(g Signal) {
	s.note(g)
	s.sort()
}

// forgedTags are the marks by which programs tell a model who is speaking.
var forgedTags = []string{"<|im_start|>", "<|system|>", "[INST]", "<<SYS>>", "<system>", "</system>", "<tool_call>", "<tool_result>",
	"<function_calls>", "<|assistant|>", "### System:", "### Instruction:", "\nHuman:", "\nAssistant:", "<system-reminder>"}

// invisible reports whether a rune is invisible, joiners of emoji and of scripts that need them left out.
func invisible(r rune) bool {
	switch {
	case r == 0x200B, r == 0x2060, r == 0x00AD, r == 0x180E, r == 0x061C:
		return true
	case r >= 0x202A && r <= 0x202E, r >= 0x2061 && r <= 0x2069, r >= 0xE0000 && r <= 0xE007F:
		return true
	}
	return false
}
