package tui_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/conflict"
	"memdesk/conflict/names"
	"memdesk/internal/clock"
	"memdesk/internal/drafts"
	"memdesk/jobs"
	"memdesk/ui/tui"
	"memdesk/ui/tui/desk"
)

// Run again with this variable, the test binary plays the console: the robot drives a real process in a
// real pseudo-terminal.
const (
	playEnv = "MEMDESK_TUI_PLAY"
	goneEnv = "MEMDESK_TUI_GONE" // names the file of the scenario vanish
	reached = ".reached"         // suffix of the file that tells that an act waits
)

func TestMain(m *testing.M) {
	if s := os.Getenv(playEnv); s != "" {
		notePresses(os.Getenv(pressesEnv))
		if err := play(s); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("left")
		os.Exit(0)
	}
	overlap()
	code := watchPresses(m.Run)
	removeLog()
	os.Exit(code)
}

// overlap lets more tests run in parallel than there are processors, unless a flag sets the number:
// most of them wait for a program in a terminal.
func overlap() {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" || f.Name == "test.cpu" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
}

// acting gives the console the means to make changes.
func acting(o *tui.Options, acts desk.Acts) {
	o.Acts, o.Jobs = acts, jobsFake{}
	o.Drafts = drafts.New(filepath.Join(os.Getenv("HOME"), "state", "edit"), clock.Fixed(now), func() error { return nil })
	members := o.Fleet.Members()
	for i := range members {
		members[i].Store.Address = address
	}
	o.Fleet = backends.NewFleet(members, nil)
}

// play runs the console on a scenario: words separated by commas.
func play(scenario string) error {
	switch scenario {
	case programScenario:
		return runProgram()
	case peerScenario:
		return runPeer(os.Stdin, os.Stdout)
	case drawScenario:
		return tui.Run(context.Background(), drawDesk())
	}
	o, fakes := twoHundredThousand()
	o.Environ = os.Environ()
	for _, word := range strings.Split(scenario, ",") {
		switch word {
		case "desk":
		case "plain":
			o.Plain = true
		case "nocolor":
			o.NoColor = true
		case "vanish": // while a file exists
			fakes["crewship"].gone = func() bool {
				_, err := os.Stat(os.Getenv(goneEnv))
				return err == nil
			}
		case "returns": // the store that did not open, once a file exists
			failed := o.Fleet.Members()
			o.Fleet = backends.NewFleet(failed, func(context.Context, string) backends.Member {
				if _, err := os.Stat(os.Getenv(goneEnv)); err != nil {
					return failed[3]
				}
				return member(crewFake().store("vault", "vault"))
			})
		case "history":
			members := o.Fleet.Members()
			members[0].Store.History = versions{fakes["crewship"]}
			o.Fleet = backends.NewFleet(members, nil)
		case "origins": // after "acts"
			o.Origins, o.Stories = originsFake{o.Acts.(*actsFake)}, &storiesFake{}
		case "acts":
			acting(&o, &actsFake{fakes: fakes})
		case "conflicts", "moved": // of a store that is not production
			members := o.Fleet.Members()
			members[0].Store.Environment = ""
			o.Fleet = backends.NewFleet(members, nil)
			acts := &actsFake{fakes: fakes}
			acting(&o, acts)
			o.Conflicts, o.Settle = newConflictsFake(acts, word == "moved"), time.Millisecond
		case "copies": // after "conflicts": the pins of the crew have a copy too
			copies := o.Conflicts.(*conflictsFake)
			copies.all = append(copies.all, conflict.Copy{Store: "crewship", ID: crewScope + "/pins 2.md", BaseID: crewScope + "/pins.md", Target: crewScope + "/pins.md", Tool: "finder", Confidence: names.Possible, Reason: "name pattern 16", At: now})
		case "live": // after "conflicts": refreshed all the time; a tool's copy exists while a file exists
			o.Poll = 10 * time.Millisecond
			o.Conflicts.(*conflictsFake).more = func() []conflict.Copy {
				if _, err := os.Stat(os.Getenv(goneEnv)); err != nil {
					return nil
				}
				return []conflict.Copy{{Store: "crewship", ID: "notes/fresh copy.md", BaseID: "notes/fresh.md", Target: "notes/fresh.md", Tool: "finder", Confidence: names.Possible, Reason: "name pattern 16", At: now}}
			}
		case "one walk": // after "conflicts"; watched, but no look comes by itself to put a wrong one right
			o.Poll = time.Hour
			o.Conflicts = &oneWalk{conflictsFake: o.Conflicts.(*conflictsFake)}
		case "journal": // a real one, after "acts"
			r, err := jobs.Open(jobs.Options{Dir: filepath.Join(os.Getenv("HOME"), "state", "jobs"), Poll: 10 * time.Millisecond})
			if err != nil {
				return err
			}
			o.Jobs = runnerJobs{r}
		case "gate": // every act waits while a file exists
			o.Acts.(*actsFake).meddle = func(string, string) {
				_ = os.WriteFile(os.Getenv(goneEnv)+reached, nil, 0o600)
				waitGone(os.Getenv(goneEnv))
			}
			fakes["graph"].reading = func() { waitGone(os.Getenv(goneEnv)) }
		case "lingers":
			fakes["crewship"].lingers = true
		case "meddle": // another writer changes each item right before the operator's change
			acting(&o, &actsFake{fakes: fakes, meddle: func(store, id string) { fakes[store].write(id, "written by somebody else\n") }})
		case "down": // while a file exists
			acting(&o, &actsFake{fakes: fakes, down: func() bool {
				_, err := os.Stat(os.Getenv(goneEnv))
				return err == nil
			}})
		case "writable":
			members := o.Fleet.Members()
			for i := range members {
				members[i].Store.ReadOnly = false
			}
			o.Fleet = backends.NewFleet(members, nil)
		case "staging":
			members := o.Fleet.Members()
			for i := range members {
				members[i].Environment, members[i].Store.Environment = "staging", "staging"
			}
			o.Fleet = backends.NewFleet(members, nil)
		case "panic":
			fakes["crewship"].crash = true
		case "notices":
			o.Notices = []string{"2 acts were begun and have no outcome: forget crewship:pins.md\x1b[31m, retain graph:node-7. memdesk audit verify shows them.", "the audit log was rotated"}
		case "readonly":
			o.ReadOnlyReason, o.Authenticated = "the audit log cannot be written: no space left on the device", true
		case "empty":
			o = tui.Options{Operator: "ann", Environ: os.Environ(), Clock: o.Clock}
		default:
			return fmt.Errorf("%w: %s", errNoScenario, word)
		}
	}
	return tui.Run(context.Background(), o)
}
