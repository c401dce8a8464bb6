// Command growth measures the cost of memdesk against the size of its stores, beside peers that do the same
// on the same data, and writes a page with charts.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
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

// playEnv makes this program play memdesk with these arguments, one per line. It writes its peak memory, in
// kB, into the file of mostEnv: the system's figure for a child includes the parent's own memory.
const playEnv, mostEnv = "MEMDESK_GROWTH_PLAY", "MEMDESK_GROWTH_MOST"

func main() {
	if code, played := play(); played {
		os.Exit(code)
	}
	most := flag.Int("most", 10_000_000, "the largest `SIZE` of PostgreSQL in items, and of the log in records")
	items := flag.Int("items", 1_000_000, "the largest `SIZE` of SQLite, in items")
	files := flag.Int("files", 1_000_000, "the largest `SIZE` of the vault, in files")
	erasures := flag.Int("erasures", 1_000_000, "the largest `SIZE` of a store for an erasure, which takes as long as all else")
	only := flag.String("charts", "", "measure these `CHARTS` only, separated by commas, and keep the other figures of the page")
	keep := flag.String("keep", "", "`DIR` in which the data stays, and from which a later run takes it (default: the temporary directory, and it is gone)")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "growth: give the directory of the documents")
		os.Exit(2)
	}
	r := &run{docs: flag.Arg(0), keep: *keep, items: *items, files: *files, erasures: *erasures}
	if *only != "" {
		r.only = strings.Split(*only, ",")
	}
	err := r.load()
	if err == nil {
		err = r.measure(*most)
	}
	if err == nil {
		err = r.write()
	}
	if err != nil {
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
	docs, keep string
	only       []string // charts; empty: all
	items      int      // most of SQLite
	files      int      // most of the vault
	erasures   int      // largest size of a store for an erasure
	lines      map[string][]line
	fresh      map[string]bool // points of this run
	server     *server         // PostgreSQL, once it is needed
}

// wants reports whether one of these charts is to be measured.
func (r *run) wants(any ...string) bool {
	return len(r.only) == 0 || slices.ContainsFunc(any, func(c string) bool { return slices.Contains(r.only, c) })
}

// load reads the figures of earlier runs; this run replaces those that it measures again.
func (r *run) load() error {
	r.lines, r.fresh = map[string][]line{}, map[string]bool{}
	for _, c := range r.only {
		if !slices.ContainsFunc(charts, func(known chart) bool { return known.key == c }) {
			return fmt.Errorf("there is no chart %q", c)
		}
	}
	b, err := os.ReadFile(r.figures())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r.lines)
	}
	return err
}

func (r *run) figures() string { return filepath.Join(r.docs, "growth", "figures.json") }

// measure goes from a thousand items to most, the largest sizes last.
func (r *run) measure(most int) error {
	defer func() { r.server.close() }()
	for n := 1000; n <= most; n *= 10 {
		began := time.Now()
		if err := r.stores(n); err != nil {
			return fmt.Errorf("%d items: %w", n, err)
		}
		fmt.Fprintf(os.Stderr, "%s items: %.0f s\n", grouped(n), time.Since(began).Seconds())
		if err := r.write(); err != nil { // results are kept whatever follows
			return err
		}
	}
	return nil
}

func (r *run) add(chart, name string, peer bool, size int, took time.Duration) {
	r.put(chart, name, peer, size, float64(took)/float64(time.Millisecond))
}

func (r *run) put(chart, name string, peer bool, size int, value float64) {
	all := r.lines[chart]
	i := slices.IndexFunc(all, func(l line) bool { return l.Name == name })
	if i < 0 {
		i, all = len(all), append(all, line{Name: name, Peer: peer})
	}
	r.lines[chart] = all
	now := point{size, value, load()}
	k, found := slices.BinarySearchFunc(all[i].At, size, func(p point, size int) int { return p.Size - size })
	key := fmt.Sprint(chart, name, size)
	switch {
	case !found:
		all[i].At = slices.Insert(all[i].At, k, now)
	case !r.fresh[key] || value < all[i].At[k].Value: // measured with each store: the least counts
		all[i].At[k] = now
	}
	r.fresh[key] = true
}

// load is the machine's load average of the last minute.
func load() float64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var first float64
	_, _ = fmt.Sscan(string(b), &first)
	return first
}

// chart is a drawing, and a sentence about its shape.
type chart struct{ key, title, unit, why string }

var charts = []chart{
	{"open", "Open a store and show the first page", "ms",
		"SQLite and PostgreSQL read one page of an index, whatever they hold; PostgreSQL is connected and its schema read first. A vault is a tree of files: its first " +
			"page names, dates and classifies every file, so it grows with their number, as `find` does, which opens none of them. A million files took 2 to 4 s at load 3, and on a busy machine more than the ten seconds that memdesk gives a store where nobody says otherwise (`--timeout`)."},
	{"page", "A page of 50 at nine tenths of the list", "ms",
		"A cursor holds the last row's key, so SQLite and PostgreSQL go to the page through an index and the depth costs nothing. PostgreSQL counts up to 10,000 items with each " +
			"page, so that it grows to that number and no further. A vault's list is in memory " +
			"while its tree is unchanged; to see that, it looks at directories again after a while, and this look is what grows."},
	{"recall", "Recall of a word in 20 items", "ms",
		"SQLite and PostgreSQL ask their index of words. A vault has none, as the programs beside it change its files: every file is read, as `grep` does."},
	{"erase", "Erase a person named by ten items, from request to verified end", "ms",
		"An erasure reads every item to find the person, and every byte once more to prove that nobody is left; SQLite is rewritten by VACUUM in between. " +
			"All three grow with the store and not with the person. The peers search once, change, and prove nothing."},
	{"conflicts", "Find every second copy, one file in a hundred", "ms",
		"Names of all files are classified, and copies and their bases are read. `find` prints names only. A file costs the same at every size, 1.5 µs of a processor: half of it reads the copies and their bases, a sixth classifies names, a sixth finds them again. `find` asks for less with each name as there are more; where it looks at each file too (`-printf %s`), it takes twice as long as memdesk."},
	{"verify", "Verify the audit log", "ms",
		"Every record is read and hashed, and the tree over them is built again: that nothing was changed cannot be known otherwise. Between two acts of a process " +
			"the log does not walk what it has found whole before."},
	{"memory", "Memory of a process that shows the first page", "MB",
		"SQLite's cache has a fixed size, and PostgreSQL is another process. Of a vault's files the names, times and kinds are in memory, some hundred bytes each."},
}

func (r *run) write() error {
	if err := os.MkdirAll(filepath.Dir(r.figures()), 0o755); err != nil {
		return err
	}
	figures, err := json.MarshalIndent(r.lines, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.figures(), append(figures, '\n'), 0o644); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Growth\n\nWhat memdesk costs against the size of what it has open: written by `make bench-report`, not by hand. Times are the best of several on a "+
		"machine with %d processors, and each chart says how busy that was. Read the shapes and the ratios, not the milliseconds. "+
		"Dashed lines are peers, measured in turn with memdesk on the same data (BENCHMARKS.md says how answers differ). "+
		"memdesk wrote the data itself, the log by 32 writers that flush nothing; only PostgreSQL multiplied rows that memdesk wrote.\n\n"+
		"*Growth* is the exponent between the smallest and the largest size: 0 is flat, 1 is in proportion.\n", runtime.NumCPU())
	for _, c := range charts {
		lines := r.lines[c.key]
		if err := os.WriteFile(filepath.Join(r.docs, "growth", c.key+".svg"), []byte(plot(c.title, c.unit, lines)), 0o644); err != nil {
			return err
		}
		sizes, low, high := span(lines)
		fmt.Fprintf(&b, "\n## %s\n\n![%s](growth/%s.svg)\n\n| %s |", c.title, c.title, c.key, c.unit)
		for _, n := range sizes {
			fmt.Fprintf(&b, " %s |", grouped(n))
		}
		b.WriteString(" growth |\n|---|" + strings.Repeat("---|", len(sizes)+1) + "\n")
		for _, l := range lines {
			fmt.Fprintf(&b, "| %s |", l.Name)
			for _, n := range sizes {
				i := slices.IndexFunc(l.At, func(p point) bool { return p.Size == n })
				if i < 0 {
					b.WriteString(" – |")
					continue
				}
				fmt.Fprintf(&b, " %s |", number(l.At[i].Value))
			}
			if s := l.slope(); math.IsNaN(s) {
				b.WriteString(" – |\n")
			} else {
				fmt.Fprintf(&b, " %.2f |\n", s)
			}
		}
		fmt.Fprintf(&b, "\n%s Measured at load %s to %s.\n", c.why, number(low), number(high))
	}
	return os.WriteFile(filepath.Join(r.docs, "growth.md"), []byte(b.String()), 0o644)
}

// span is the sizes of the lines, and the lowest and highest load of their measurements.
func span(lines []line) (sizes []int, low, high float64) {
	low = math.Inf(1)
	for _, l := range lines {
		for _, p := range l.At {
			sizes, low, high = append(sizes, p.Size), min(low, p.Load), max(high, p.Load)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), low, high
}
