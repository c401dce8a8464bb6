package backendtest_test

import (
	"os"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/model"
)

// TestTheContractOfTheDocs: a store prints the numbers of the rules that it deviates from, so
// docs/contract.md must have each rule of the suite in its words.
func TestTheContractOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	var order []string
	for _, c := range backendtest.Cases() {
		rule := model.RuleName(c.Rule)
		if words[rule] == "" {
			order = append(order, rule)
		} else {
			words[rule] += "; "
		}
		words[rule] += c.Name
	}
	for _, rule := range order {
		if row := "| " + rule + " | " + words[rule] + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("docs/contract.md lacks the row %s", strings.TrimSpace(row))
		}
	}
}
