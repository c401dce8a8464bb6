package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/filelock"
	"memdesk/internal/linefile"
	"memdesk/model"
	"memdesk/quarantine"
	"memdesk/quarantine/signal"
)

// Threshold is an operator's decision for one tier of a store.
type Threshold struct {
	Store     string  `json:"store"`
	Tier      string  `json:"tier"`
	Untrusted float64 `json:"untrusted"` // writes of unvouched sources wait from this score on
	Trusted   float64 `json:"trusted"`
}

// Cleared is a text that an operator has judged harmless.
type Cleared struct {
	SHA256 string    `json:"sha256"`
	Rules  string    `json:"rules"` // signal.RuleVersion at that time
	At     time.Time `json:"at"`
}

// Judge scores texts with all configured signals, and knows the operators' decisions. It is safe for
// concurrent use.
type Judge struct {
	scorer  signal.Scorer
	command []string
	dir     string
	ready   func() error

	mu      sync.Mutex
	cleared map[string]bool
	bounds  []Threshold
	problem error                  // why the thresholds cannot be read
	files   map[string]os.FileInfo // as last read; a nil one is absent
}

// JudgeOptions configure a Judge.
type JudgeOptions struct {
	Model   string       // file that Train wrote; empty: the shipped one
	Command []string     // a classifier: text on standard input, 0 to 1 on standard output
	Dir     string       // directory of the decisions; empty keeps none
	Ready   func() error // makes Dir; reading makes nothing
}

// NewJudge reads the model and the decisions.
func NewJudge(o JudgeOptions) (*Judge, error) {
	j := &Judge{command: o.Command, dir: o.Dir, ready: o.Ready}
	if o.Model != "" {
		f, err := os.Open(o.Model)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		w, err := signal.ReadWording(f)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", o.Model, err)
		}
		j.scorer = signal.NewScorer(w)
	}
	return j, nil
}

// Words is the score of a text's words alone, without the classifier.
func (j *Judge) Words(text string) signal.Score { return j.scorer.Of(text) }

const (
	commandTime = 5 * time.Second
	commandMost = 3.0 // the most that a classifier adds: less than the default threshold, so it is never enough alone
	commandOut  = 64  // bytes of its answer that are read
)

// Score is the score of a text. A failure of the classifier is an error, beside the score of the other
// signals.
func (j *Judge) Score(ctx context.Context, text string) (signal.Score, error) {
	s := j.scorer.Of(text)
	if len(j.command) == 0 {
		return s, nil
	}
	chance, err := j.ask(ctx, text)
	if err != nil {
		return s, fmt.Errorf("scanner.command: %w", err)
	}
	if w := commandMost * chance; w > 0 {
		s.Add(signal.Signal{Name: "classifier", Title: "the configured classifier suspects it", Weight: w})
	}
	return s, nil
}

// ScoreItem is the score of an item: of its text, or of its own title if that is worse.
func (j *Judge) ScoreItem(ctx context.Context, it model.Item) (signal.Score, error) {
	s, err := j.Score(ctx, it.Body)
	if HasOwnTitle(it) {
		if t := j.Words(it.Title); t.Sum > s.Sum {
			s = elsewhere(t, "the title: "+it.Title)
		}
	}
	return s, err
}

// HasOwnTitle reports whether an item's title is no part of its text, so that a scan of the text does not
// cover the title.
func HasOwnTitle(it model.Item) bool { return it.Title != "" && !strings.Contains(it.Body, it.Title) }

// elsewhere is a score from outside the text; where names the source.
func elsewhere(s signal.Score, where string) signal.Score {
	for i := range s.Signals {
		s.Signals[i].Start, s.Signals[i].End, s.Signals[i].Evidence = 0, 0, where
	}
	return s
}

// ask runs the configured classifier.
func (j *Judge) ask(ctx context.Context, text string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	c := exec.CommandContext(ctx, j.command[0], j.command[1:]...)
	c.Stdin, c.WaitDelay = strings.NewReader(text), time.Second
	out, err := c.Output()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(out[:min(len(out), commandOut)])), 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > 1 {
		return 0, errors.New("it printed no number from 0 to 1")
	}
	return v, nil
}

// Threshold is the score from which a write waits; false for an uncalibrated store, where no write waits for
// its words, and when Problem reports unreadable thresholds. An unknown tier of a calibrated store, such as a
// new item's, gets the store's lowest threshold.
func (j *Judge) Threshold(store, tier string, trusted bool) (lowest float64, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.load()
	for _, b := range j.bounds {
		at := b.Untrusted
		if trusted {
			at = b.Trusted
		}
		switch {
		case b.Store != store:
		case b.Tier == tier:
			return at, true
		case !ok || at < lowest:
			lowest, ok = at, true
		}
	}
	return lowest, ok
}

// Problem says why the thresholds cannot be read; nil when they can. Until it is solved every write waits:
// nobody knows which ones an operator wanted to see.
func (j *Judge) Problem() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.load()
	return j.problem
}

// patternUnreadable is the pattern of writes that wait because of Problem.
const patternUnreadable = "thresholds_unreadable"

// Verdict is the decision about a write.
type Verdict struct {
	Waits   bool
	Pattern string // the heaviest signal, or why no verdict was possible
	Score   signal.Score
}

// Suspect judges a write by its words and its context, in a calibrated store. A text that an operator cleared
// under these rules does not wait.
func (j *Judge) Suspect(ctx context.Context, w Write) Verdict {
	if j.Problem() != nil {
		return Verdict{Waits: true, Pattern: patternUnreadable}
	}
	bound, ok := j.Threshold(w.Store.Name, w.Tier, w.Trusted)
	if !ok {
		return Verdict{}
	}
	var s signal.Score
	if !j.IsCleared(w.Text) {
		var err error
		if s, err = j.Score(ctx, w.Text); err != nil { // the operator configured the classifier: without its answer nothing passes
			return Verdict{Waits: true, Pattern: "classifier_failed", Score: s}
		}
		if t := j.joined(w); t.Sum > s.Sum {
			s = t
		}
		for _, g := range Around(ctx, w) {
			s.Add(g)
		}
	}
	for _, f := range w.Fields {
		for _, part := range []string{f.Value, f.Name} {
			if t := j.Words(part); t.Sum > s.Sum {
				s = elsewhere(t, f.Name+": "+f.Value)
			}
		}
	}
	return Verdict{s.Sum >= bound && len(s.Signals) > 0, s.Heaviest(), s}
}

// tailBytes is how much of the text before an append is scored with it.
const tailBytes = 400

// joined is the score of an append together with the end of the text before it, because one order may be
// split between both; none where that end alone is as bad.
func (j *Judge) joined(w Write) signal.Score {
	before, ok := strings.CutSuffix(w.Becomes, w.Text)
	if !ok || before == "" || w.Text == "" {
		return signal.Score{}
	}
	tail := strings.ToValidUTF8(before[max(0, len(before)-tailBytes):], "")
	s := j.Words(tail + w.Text)
	if s.Sum <= j.Words(tail).Sum {
		return signal.Score{}
	}
	return elsewhere(s, "together with what stood before: "+tail)
}

// IsCleared reports whether an operator has judged a text harmless under the current rules.
func (j *Judge) IsCleared(text string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.load()
	return j.cleared[quarantine.Sum(text)]
}

// Clear records that texts are harmless. It holds until the rules change.
func (j *Judge) Clear(at time.Time, texts ...string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.ready(); err != nil {
		return err
	}
	var out []byte
	for _, t := range texts {
		line, err := json.Marshal(Cleared{SHA256: quarantine.Sum(t), Rules: signal.RuleVersion, At: at.UTC()})
		if err != nil {
			return err
		}
		out = append(append(out, line...), '\n')
	}
	return linefile.File{Path: j.path(clearedFile), Durable: true}.Add(out)
}

// Set replaces the thresholds of the same stores and tiers. It does not overwrite thresholds that it cannot
// read.
func (j *Judge) Set(bounds ...Threshold) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.ready(); err != nil {
		return err
	}
	unlock, err := filelock.Hold(context.Background(), j.path(boundsFile)+".lock", true) // another process may set those of another store
	if err != nil {
		return err
	}
	defer unlock()
	delete(j.files, boundsFile)
	j.load()
	if err := errors.Join(j.problem, checkBounds(bounds)); err != nil {
		return err
	}
	all := slices.Clone(j.bounds)
	for _, b := range bounds {
		all = slices.DeleteFunc(all, func(old Threshold) bool { return old.Store == b.Store && old.Tier == b.Tier })
		all = append(all, b)
	}
	out, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = atomicfile.Write(j.path(boundsFile), append(out, '\n'), 0o600)
	}
	if err == nil { // what the file lacks is not in force
		j.bounds = all
	}
	return err
}

// Scan is the result of a rescan, kept to show what newer rules would change. It has hashes of texts and no
// text.
type Scan struct {
	Rules   string    `json:"rules"`
	At      time.Time `json:"at"`
	Flagged []string  `json:"flagged"`
}

// LastScan is the last kept scan; empty when there is none.
func (j *Judge) LastScan() (Scan, error) {
	var s Scan
	b, err := atomicfile.ReadFile(j.path(scanFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	return s, err
}

// KeepScan keeps the texts that a rescan flagged, as hashes.
func (j *Judge) KeepScan(at time.Time, texts ...string) error {
	if err := j.ready(); err != nil {
		return err
	}
	s := Scan{Rules: signal.RuleVersion, At: at.UTC(), Flagged: []string{}}
	for _, t := range texts {
		s.Flagged = append(s.Flagged, quarantine.Sum(t))
	}
	out, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.Write(j.path(scanFile), append(out, '\n'), 0o600)
}

const (
	scanFile    = "scan.json"
	clearedFile = "cleared.jsonl"
	boundsFile  = "thresholds.json"
)

func (j *Judge) path(name string) string { return filepath.Join(j.dir, name) }

// load reads decisions that changed since the last read: another process may have calibrated or cleared. The
// caller holds mu. An unreadable clearance clears nothing; unreadable thresholds are the problem.
func (j *Judge) load() {
	if j.dir == "" {
		return
	}
	if j.changed(clearedFile) { // an operator may have edited any line
		j.cleared = map[string]bool{}
		if b, err := atomicfile.ReadFile(j.path(clearedFile)); err == nil {
			for line := range bytes.Lines(b) {
				var c Cleared
				if json.Unmarshal(line, &c) == nil && c.Rules == signal.RuleVersion {
					j.cleared[c.SHA256] = true
				}
			}
		}
	}
	if j.changed(boundsFile) {
		j.bounds, j.problem = nil, nil
		b, err := atomicfile.ReadFile(j.path(boundsFile))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		var bounds []Threshold
		if err == nil {
			if err = json.Unmarshal(b, &bounds); err == nil {
				err = checkBounds(bounds)
			}
		}
		if err != nil {
			j.problem = model.Errorf(model.Internal, "quarantine", "the thresholds in %s cannot be read, so every write of an agent waits: %v; mend or remove the file", boundsFile, err)
			return
		}
		j.bounds = bounds
	}
}

// changed reports whether a file differs from the one last read, and remembers it.
func (j *Judge) changed(name string) bool {
	now, err := os.Stat(j.path(name))
	if err != nil {
		now = nil
	}
	was, read := j.files[name]
	if j.files == nil {
		j.files = map[string]os.FileInfo{}
	}
	j.files[name] = now
	if !read || was == nil || now == nil {
		return !read || was != now
	}
	return !os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime())
}

// checkBounds refuses a threshold that every text reaches.
func checkBounds(bounds []Threshold) error {
	for _, b := range bounds {
		if !(b.Untrusted > 0) || !(b.Trusted > 0) { // NaN is not above 0
			return model.Errorf(model.InvalidInput, "quarantine", "the threshold of tier %s of store %s is not above 0", b.Tier, b.Store)
		}
	}
	return nil
}
