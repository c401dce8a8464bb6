package backendtest

import "slices"

// Cases returns all cases, in the order of the rules.
func Cases() []Case {
	return slices.Concat(retainCases, recallCases, forgetCases, healthCases, errorCases, addedCases, listCases)
}

// NotRun are the rules of provider-contract.md R that no case can run against an opened store, with the
// place that checks them instead.
func NotRun() map[string]string {
	return map[string]string{
		"R26": "the operator surface is the console; that Recall's hits never carry quarantined text is R25",
		"R42": "constructors differ per backend; each adapter's own test gives it bad configuration",
		"R43": "append-only versioning is a rule for changes to the contract, not for a store",
	}
}
