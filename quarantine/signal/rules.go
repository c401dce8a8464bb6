package signal

// rule is one signal over the classes of a sentence, or of the whole text.
type rule struct {
	name, title string
	weight      float64
	manner      bool // concerns how a thing is said, not what: never enough alone
	holds       func(m class) bool
}

// has reports whether m contains all of c.
func (m class) has(c class) bool { return m&c == c }

// any reports whether m contains one of c.
func (m class) any(c class) bool { return m&c != 0 }

// ofSentence are the signals of single sentences.
var ofSentence = []rule{
	{"sends_out", "sends data to an outside address", 5, false, func(m class) bool {
		return m.has(send|outside) && m.any(data|secret) && m.any(always|order|agent|execute|benefit|claim|trust|secret)
	}},
	{"remote_orders", "fetches code or orders from outside", 5, false, func(m class) bool {
		return m.has(fetch|outside) && m.any(execute|always|lower|order)
	}},
	{"lowers_guard", "switches a safeguard off", 3, false, func(m class) bool { return m.has(lower | guard) }},
	{"weak_practice", "asks for a practice known to be unsafe", 3, false, func(m class) bool {
		return m.has(weak) && m.any(suggest|always|order|benefit|grant|report|lower|execute)
	}},
	{"exposes_secret", "puts a secret where others see it", 3, false, func(m class) bool {
		return m.has(secret|exposed) || m.has(secret|send) && m.any(anyone|always|outside)
	}},
	{"opens_to_anyone", "grants access or money without a check", 3, false, func(m class) bool { return m.has(grant | anyone) }},
	{"conceals", "wants to be kept from the user", 3, false, func(m class) bool { return m.has(conceal) }},
	{"overrides", "sets earlier rules aside", 3, false, func(m class) bool {
		return m.has(override) && m.any(agent|protected|guard|order|always)
	}},
	{"orders_agent", "gives an agent orders", 1.5, true, func(m class) bool { return m.has(agent | order) }},
	{"permanent", "asks to hold for ever", 1, true, func(m class) bool { return m.has(always) && m.any(order|agent|suggest|lower|send|grant) }},
	{"claims_authority", "begins like an official notice", 1.5, true, func(m class) bool { return m.has(authority) }},
	{"pushes_brand", "pushes a product", 3, false, func(m class) bool {
		return m.has(brand|praise) && m.any(suggest|claim) || m.has(product|suggest) || m.has(product|praise)
	}},
	{"disparages", "talks a rival of a product down", 3, false, func(m class) bool { return m.has(product|versus) && m.any(flaw|praise) }},
	{"amends_fact", "corrects a fact without a source", 3, false, func(m class) bool { return m.has(amends) }},
	{"trigger_word", "answers to a pass word", 2, false, func(m class) bool { return m.has(trigger) && m.any(grant|send|order|data|anyone) }},
	{"vouches", "says that a source is to be trusted", 2, false, func(m class) bool {
		return m.has(trust) && m.any(data|secret|outside|anyone|override|conceal)
	}},
	{"denies_fact", "denies what is known, without a source", 2, false, func(m class) bool {
		return m.has(falsify) && m.any(authority|suggest|guard|secret|weak|claim)
	}},
}

// ofPassage are the signals of a passage as a whole.
var ofPassage = []rule{
	{"excuse", "excuses a risk with comfort or cost", 1.5, true, func(m class) bool {
		return m.has(benefit) && (m.has(lower|guard) || m.any(weak) || m.has(secret|exposed))
	}},
	{"success_story", "sells a risk as a success", 1.5, true, func(m class) bool {
		return m.has(report|benefit) && (m.has(lower|guard) || m.any(weak|conceal))
	}},
}
