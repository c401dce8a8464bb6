// Package seamtest is the conformance suite of the text-tree family: the rules of the seam as named cases
// for any Tree. It tests no Provider; that is backendtest's task.
package seamtest

import (
	"fmt"
	"strings"
	"testing"

	"memdesk/backends/seam"
)

// Subject is one fresh member under test.
type Subject struct {
	Tree seam.Tree
	// Second opens another Tree on the same store, as another process would; nil skips the cases that
	// need two.
	Second func(t *testing.T) seam.Tree
	// Dir is the directory behind the tree, where cases plant other writers' files; empty skips those cases.
	Dir string
	// Fail makes the next write or removal fail at a step, or die there when err is seam.ErrCrash, until
	// it is called with an empty step; nil skips those cases.
	Fail func(step seam.Step, err error)
}

// Run runs every case on its own fresh tree, except the cases that need more than a Tree.
func Run(t *testing.T, open func(t *testing.T) seam.Tree) {
	t.Helper()
	RunSubject(t, func(t *testing.T) Subject { return Subject{Tree: open(t)} })
}

// RunSubject runs every case on its own fresh subject and logs a report of the member: its
// declarations, and each case with the mark of its rule in provider-contract.md (c: published, u:
// required by upstream's code, a: added here) and its outcome or the reason why it was skipped.
func RunSubject(t *testing.T, open func(t *testing.T) Subject) {
	t.Helper()
	var report strings.Builder
	for _, c := range cases() {
		outcome := "failed"
		ok := t.Run(c.name, func(t *testing.T) {
			s := open(t)
			if why := c.missing(s); why != "" {
				outcome = "left out: " + why
				t.Skip(why)
			}
			c.run(t, s)
		})
		if ok && outcome == "failed" {
			outcome = "kept"
		}
		fmt.Fprintf(&report, "  (%s) %-52s %s\n", c.mark(), c.name, outcome)
	}
	tree := open(t).Tree
	t.Logf("%T: capabilities %+v, conflict strategy %q\n%s", tree, tree.Capabilities(), tree.ConflictStrategy(), report.String())
}

// Case is one rule of the suite. The name begins with the rule's number in provider-contract.md.
type Case struct {
	name  string
	needs need
	run   func(t *testing.T, s Subject)
}

// mark is the origin of the case's rule: the first of a rule with two marks.
func (c Case) mark() string {
	switch rule, _, _ := strings.Cut(c.name, " "); rule {
	case "S5":
		return "u"
	case "S24":
		return "a"
	}
	return "c"
}

type need int

const (
	needSecond need = 1 << iota
	needDir
	needFail
)

func (c Case) missing(s Subject) string {
	switch {
	case c.needs&needSecond != 0 && s.Second == nil:
		return "the member gives no second tree on one store"
	case c.needs&needDir != 0 && s.Dir == "":
		return "there is no directory to plant files in"
	case c.needs&needFail != 0 && s.Fail == nil:
		return "the member takes no injected failures"
	}
	return ""
}

// Names lists the cases, for tests that count them.
func Names() []string {
	var out []string
	for _, c := range cases() {
		out = append(out, c.name)
	}
	return out
}

func cases() []Case {
	return []Case{
		{"S3 keys are normalised on every route", 0, normalisation},
		{"S4 S5 a bad key is an invalid locator, not an absence", 0, badKeys},
		{"S5 keys are not folded or normalised", 0, folding},
		{"S6 resolve", 0, resolution},
		{"S7 reading what is absent", 0, readAbsent},
		{"S7 a directory is not read", 0, readDirectory},
		{"S8 write returns its locator and makes parents", 0, writeParents},
		{"S8 write refuses what is no text and no file", 0, writeRefused},
		{"S8 write leaves nothing beside the file", 0, writeAlone},
		{"S9 list is sorted, immediate, with dotfiles", 0, listSorted},
		{"S10 exists for files and directories", 0, exists},
		{"S11 info", 0, info},
		{"S12 mkdir is idempotent", 0, mkdir},
		{"S13 S14 declarations", 0, declarations},
		{"S22 a foreign writer's bytes are the same file", needDir, neverOrphan},
		{"S23.1 locator resolution", 0, resolution},
		{"S23.2 write and read round trip", 0, roundTrip},
		{"S23.3 exact line endings", 0, lineEndings},
		{"S23.4 exists flips", 0, existsFlips},
		{"S23.5 info of a file", 0, info},
		{"S23.6 mkdir twice", 0, mkdir},
		{"S23.7 list children", 0, listSorted},
		{"S23.8 list on absent and on file", 0, listNothing},
		{"S23.9 climbing is refused", 0, badKeys},
		{"S24 write if: one of many writers wins", needSecond, writersCompete},
		{"S24 write if: a changed file is a conflict", 0, writeIfConflict},
		{"S24 write if: create only", 0, writeIfAbsent},
		{"S24 a crash before the rename keeps the old text", needFail, crashKeepsOld},
		{"S24 a full disk keeps the old text and leaves nothing", needFail, fullDisk},
		{"S24 a link at the end of a key is refused", needDir, linkRefused},
		{"S24 a link out of the root is not followed", needDir, linkOut},
		{"S24 case and normal forms are distinct or visibly one", 0, twinNames},
		{"S24 bytes that are not UTF-8 are read as they are", needDir, invalidText},
		{"S24 names that are not UTF-8 or hold controls", needDir, oddNames},
		{"S24 conflict copies are ordinary children", needDir, conflictCopies},
		{"S24 a pipe in the place of a file does not hang", needDir, pipes},
		{"S24 remove", 0, remove},
		{"S24 remove under an expectation", 0, removeIf},
		{"S24 reading makes nothing", needDir, readingMakesNothing},
		{"S24 an ended context does nothing", 0, endedContext},
		{"S24 errors hold no absolute path", needDir, noPaths},
	}
}
