package quarantine

// The rule sets that a store can name as its own agents'.
const (
	CrewshipRules = ""
	HermesRules   = "hermes"
)

// RuleSet is the set of rules that a store's own agents scan with.
type RuleSet struct {
	// Scan is the verdict on a text that is to be written, Load that on one that stands
	// in the store; false: clean.
	Scan, Load func(text string) (Verdict, bool)
	// All lists the findings with their places, that of the verdict first; for rules other
	// than Crewship's those of Beside stand behind them.
	All func(text string) []Finding
	// Beside lists what memdesk's own rules find, in categories that begin with strict/;
	// nobody is kept from a text by them.
	Beside func(text string) []Finding
	// Added lists the findings that an edit brings in.
	Added func(before, after string) []Finding
	// KnownFalsePositive labels a text whose findings are all known ways of hitting
	// harmless text.
	KnownFalsePositive func(text string) (reason string, ok bool)
}

// RulesOf gives a rule set by the name that a store declares (model.Store.Scanner); an
// unknown name is Crewship's.
func RulesOf(name string) RuleSet {
	if name == HermesRules {
		return RuleSet{
			All:  func(text string) []Finding { return append(allHermes(text), ownFindings(text)...) },
			Scan: scanHermes, Load: loadHermes, Beside: ownFindings, Added: addedHermes,
			KnownFalsePositive: func(string) (string, bool) { return "", false },
		}
	}
	return RuleSet{Scan: Scan, Load: Scan, All: ScanAll, Beside: Strict, Added: Added, KnownFalsePositive: Triage}
}
