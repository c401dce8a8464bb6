package quarantine

import "strings"

// The rule sets that a store can declare as its own agents'.
const (
	CrewshipRules = ""
	HermesRules   = "hermes"
	NotesRules    = "notes" // Crewship's, but for a byte order mark at the very beginning
)

// RuleSet is the set of rules that a store's own agents scan with.
type RuleSet struct {
	// Scan is the verdict on a text to be written, Load that on a stored one; false: clean.
	Scan, Load func(text string) (Verdict, bool)
	// All lists the findings with their places, the verdict's first; for rules other than Crewship's those of
	// Beside follow.
	All func(text string) []Finding
	// Beside lists the findings of memdesk's own rules, in categories that begin with strict/; they block
	// nothing.
	Beside func(text string) []Finding
	// Added lists the findings that an edit adds.
	Added func(before, after string) []Finding
	// KnownFalsePositive labels a text whose findings are all known false positives.
	KnownFalsePositive func(text string) (reason string, ok bool)
}

// RulesOf returns a rule set by the name that a store declares (model.Store.Scanner); an unknown name is
// Crewship's.
func RulesOf(name string) RuleSet {
	if name == HermesRules {
		return RuleSet{
			All:  func(text string) []Finding { return append(allHermes(text), ownFindings(text)...) },
			Scan: scanHermes, Load: loadHermes, Beside: ownFindings, Added: addedHermes,
			KnownFalsePositive: func(string) (string, bool) { return "", false },
		}
	}
	rules := RuleSet{Scan: Scan, Load: Scan, All: ScanAll, Beside: Strict, Added: Added, KnownFalsePositive: Triage}
	if name == NotesRules {
		rules.Scan, rules.Load = scanNote, scanNote
	}
	return rules
}

// scanNote is Scan without the byte order mark that some editors write at the beginning: it hides nothing.
func scanNote(text string) (Verdict, bool) { return Scan(strings.TrimPrefix(text, "\ufeff")) }
