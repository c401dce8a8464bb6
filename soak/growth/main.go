// Command growth measures what memdesk costs against the size of what it has
// open, beside peers that do the same on the same data, and writes a page with
// charts.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"memdesk/backends"
	"memdesk/ui/cli"
)

// playEnv makes this program play memdesk with these arguments, one a line. It leaves the most
// memory that it held, in kB, in the file that mostEnv names: what the system tells a parent
// of its child counts the parent's own memory, too.
const playEnv, mostEnv = "MEMDESK_GROWTH_PLAY", "MEMDESK_GROWTH_MOST"

func main() {
	if code, played := play(); played {
		os.Exit(code)
	}
	most := flag.Int("most", 1_000_000, "the largest `SIZE`: items of SQLite, records of the log")
	files := flag.Int("files", 100_000, "the largest `SIZE` of the vault, in files")
	erasures := flag.Int("erasures", 100_000, "the largest `SIZE` of a store for an erasure, which takes as long as all else")
	work := flag.String("work", "", "`DIR` for the data (default: the temporary directory)")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "growth: give the directory of the documents")
		os.Exit(2)
	}
	r := &run{work: *work, files: *files, erasures: *erasures, lines: map[string][]line{}}
	if err := r.measure(*most); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
	if err := r.write(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

// play runs memdesk where the environment says so.
func play() (code int, played bool) {
	args := os.Getenv(playEnv)
	if args == "" {
		return 0, false
	}
	p := cli.NewProgram(backends.Builtin())
	p.Args = strings.Split(args, "\n")
	code = p.RunProcess()
	if err := leaveMost(os.Getenv(mostEnv)); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		code = 1
	}
	return code, true
}

func leaveMost(file string) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kb, _, _ := strings.Cut(rest, "\n")
	return os.WriteFile(file, []byte(kb), 0o600)
}

// run collects the curves of each chart.
type run struct {
	work   string
	clones string // where the peers of an erasure work
	files  int    // most files of the vault
	// erasures is the largest size of a store for an erasure.
	erasures int
	lines    map[string][]line
	loads    []string
	sizes    []int
}

// measure goes from a thousand items to most, the largest sizes last.
func (r *run) measure(most int) error {
	for n := 1000; n <= most; n *= 10 {
		r.loads, r.sizes = append(r.loads, load()), append(r.sizes, n)
		began := time.Now()
		if err := r.stores(n); err != nil {
			return fmt.Errorf("%d items: %w", n, err)
		}
		fmt.Fprintf(os.Stderr, "%s items: %.0f s\n", grouped(n), time.Since(began).Seconds())
	}
	return nil
}

func (r *run) add(chart, name string, peer bool, size int, took time.Duration) {
	r.put(chart, name, peer, size, float64(took)/float64(time.Millisecond))
}

func (r *run) put(chart, name string, peer bool, size int, value float64) {
	all := r.lines[chart]
	i := slices.IndexFunc(all, func(l line) bool { return l.name == name })
	if i < 0 {
		i, all = len(all), append(all, line{name: name, peer: peer})
	}
	if k := len(all[i].at) - 1; k >= 0 && all[i].at[k].size == size { // measured with each store: the least counts
		all[i].at[k].value = min(all[i].at[k].value, value)
	} else {
		all[i].at = append(all[i].at, point{size, value})
	}
	r.lines[chart] = all
}

// load is how busy the machine is: the average of the last minute.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// chart is what is drawn, and what is said of its shape.
type chart struct{ key, title, unit, why string }

var charts = []chart{
	{"open", "Open a store and show the first page", "ms",
		"SQLite reads one page of an index and counters, whatever it holds. A vault is a tree of files: its first page names, dates and " +
			"classifies every file, so it grows with their number, as `find` does, which opens none of them."},
	{"page", "A page of 50 at nine tenths of the list", "ms",
		"A cursor holds the last row's key, so SQLite goes to the page through an index and the depth costs nothing. A vault's list is in memory " +
			"while its tree is unchanged; to see that, it looks at directories again after a while, and this look is what grows."},
	{"recall", "Recall of a word in 20 items", "ms",
		"SQLite asks its index of words. A vault has none, as the programs beside it change its files: every file is read, as `grep` does."},
	{"erase", "Erase a person named by ten items, from request to verified end", "ms",
		"An erasure reads every item to find the person, and every byte once more to prove that nobody is left; SQLite is rewritten by VACUUM in between. " +
			"All three grow with the store and not with the person. The peers search once, change, and prove nothing."},
	{"conflicts", "Find every second copy, one file in a hundred", "ms",
		"Names of all files are classified, and copies and their bases are read. `find` prints names only."},
	{"verify", "Verify the operator log", "ms",
		"Every record is read and hashed, and the tree over them is built again: that nothing was changed cannot be known otherwise. Between two acts of a process " +
			"the log does not walk what it has found whole before."},
	{"memory", "Memory of a process that shows the first page", "MB",
		"SQLite's cache has a fixed size. Of a vault's files the names, times and kinds are in memory, some hundred bytes each."},
}

func (r *run) write(docs string) error {
	dir := filepath.Join(docs, "growth")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Growth\n\nWhat memdesk costs against the size of what it has open: written by `make bench-report`, not by hand. Times are the best of several on a "+
		"machine with %d processors; its load was %s when the sizes %s began. Read the shapes and the ratios, not the milliseconds. "+
		"Dashed lines are peers, measured in turn with memdesk on the same data (BENCHMARKS.md says how answers differ).\n\n"+
		"*Growth* is the exponent between the smallest and the largest size: 0 is flat, 1 is in proportion.\n", runtime.NumCPU(), strings.Join(r.loads, ", "), sizes(r.sizes))
	for _, c := range charts {
		lines := r.lines[c.key]
		if err := os.WriteFile(filepath.Join(dir, c.key+".svg"), []byte(plot(c.title, c.unit, lines)), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n## %s\n\n![%s](growth/%s.svg)\n\n| %s |", c.title, c.title, c.key, c.unit)
		for _, n := range r.sizes {
			fmt.Fprintf(&b, " %s |", grouped(n))
		}
		b.WriteString(" growth |\n|---|" + strings.Repeat("---|", len(r.sizes)+1) + "\n")
		for _, l := range lines {
			fmt.Fprintf(&b, "| %s |", l.name)
			for _, n := range r.sizes {
				i := slices.IndexFunc(l.at, func(p point) bool { return p.size == n })
				if i < 0 {
					b.WriteString(" – |")
					continue
				}
				fmt.Fprintf(&b, " %s |", number(l.at[i].value))
			}
			if s := l.slope(); math.IsNaN(s) {
				b.WriteString(" – |\n")
			} else {
				fmt.Fprintf(&b, " %.2f |\n", s)
			}
		}
		fmt.Fprintf(&b, "\n%s\n", c.why)
	}
	return os.WriteFile(filepath.Join(docs, "growth.md"), []byte(b.String()), 0o644)
}

func sizes(all []int) string {
	var out []string
	for _, n := range all {
		out = append(out, grouped(n))
	}
	return strings.Join(out, ", ")
}
