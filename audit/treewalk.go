package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"memdesk/audit/checkpoint"
)

// Proven says what one statement outside the records proves about them.
type Proven struct {
	By   string // "file /media/usb/checkpoints", "the log's own checkpoint"
	Kind string // own, file, command, witness or given
	// Seq is the newest record that it vouches for: everything up to it is unchanged.
	Seq   uint64
	At    time.Time // of that record
	State ProvenState
	Why   string // where State is not ProvenHolds
}

// ProvenState is the result of comparing a statement with the log.
type ProvenState string

// The states. ProvenBroken is an alarm; ProvenEnded is an acknowledged one.
const (
	ProvenHolds      ProvenState = "holds"
	ProvenBroken     ProvenState = "broken"
	ProvenEnded      ProvenState = "ended"
	ProvenUnreadable ProvenState = "unreadable" // proves nothing
	ProvenNone       ProvenState = "none"       // holds no checkpoint yet
)

// Statement is a text of checkpoints from elsewhere, for a verification.
type Statement struct {
	Name string
	Text []byte
}

// maxStatement bounds a file of checkpoints, in bytes.
const maxStatement = 64 << 20

// ReadStatement reads a file of checkpoints. It refuses any other file, which would prove nothing about the log.
func ReadStatement(path string) (Statement, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxStatement) {
		err = errors.New("it is no file of checkpoints")
	}
	if err != nil {
		return Statement{}, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Statement{}, err
	}
	all := checkpoint.Split(b)
	for _, c := range all {
		unsigned, _, _ := strings.Cut(string(c), "\n\n")
		if _, err := checkpoint.Parse(unsigned + "\n"); err != nil {
			return Statement{}, errors.New("it is no file of checkpoints")
		}
	}
	if len(all) == 0 {
		return Statement{}, errors.New("it holds no checkpoint")
	}
	return Statement{Name: path, Text: b}, nil
}

// source is the origin of claims: an anchor, a given file, the log itself.
type source struct {
	Proven
	strict bool     // an unreadable part is a break
	broken uint64   // first sequence that does not fit; 0: none
	alien  []string // origins that are not the log's
	// claimed says that it signed heads of this tree. Only the walk tells whether they fit.
	claimed bool
}

// claim is one signed checkpoint that the walk compares with the records.
type claim struct {
	checkpoint.Checkpoint
	from *source
}

// treeWalk computes the root of the tree along a walk and compares it with every claim.
type treeWalk struct {
	state   treeState // zero: there is no tree
	front   checkpoint.Frontier
	gap     bool // a leaf is missing, so nothing after it can be compared
	sources []*source
	claims  map[int64][]claim
	// Trees according to the records: the keys, with the first record of a tree (0 for a later key), and the
	// origins that were ended.
	keys  map[string]uint64
	ended map[string]bool
	// trees are the origins of every tree that a record names, or that a segment which is not read had.
	trees map[string]bool
	all   bool // every record was read
}

// newTreeWalk reads the claims. The log is locked, so no claim is about a record after the walk's end. full
// reads all checkpoints of an anchor's file, otherwise only the newest.
func (l *Log) newTreeWalk(full bool, given []Statement) (*treeWalk, error) {
	w := &treeWalk{claims: map[int64][]claim{}, keys: map[string]uint64{}, ended: map[string]bool{}, trees: map[string]bool{}, all: true}
	t, err := l.readTree()
	switch {
	case err == nil:
		w.state = t
		w.own(l)
	case errors.Is(err, ErrTampered):
		w.add("own", ownName).fail(0, "tree/tree.json is damaged")
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for _, a := range l.anchors {
		if a.Kind == "file" {
			w.file(l, a, full)
		}
	}
	l.alarms(w)
	for _, s := range given {
		src := w.add("given", s.Name)
		src.strict = true
		w.take(src, s.Text)
		if src.State == ProvenNone {
			src.fail(0, "it holds no checkpoint")
		}
	}
	return w, nil
}

const ownName = "the log's own checkpoint"

func (w *treeWalk) own(l *Log) {
	own := w.add("own", ownName)
	b, err := readFile(l.fs, l.inTree(checkpointFile), maxNote)
	switch {
	case err == nil:
		own.strict = true
		w.take(own, b)
		if own.State == ProvenNone && len(own.alien) == 0 {
			own.fail(0, "its file is empty")
		}
	case !errors.Is(err, fs.ErrNotExist):
		own.fail(0, "it cannot be read")
	case w.state.Signed:
		own.fail(0, "its file is gone")
	}
}

// file reads an anchor's file; a missing file proves nothing.
func (w *treeWalk) file(l *Log, a Anchor, full bool) {
	src := w.add(a.Kind, a.Name())
	limit := int64(newestClaims)
	if full {
		limit = maxAnchorFile
	}
	b, err := readTail(l.fs, a.Path, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		src.Why = "the file is not there"
	case err != nil:
		src.State, src.Why = ProvenUnreadable, err.Error()
	default:
		w.take(src, b)
	}
}

func (w *treeWalk) add(kind, by string) *source {
	s := &source{Proven: Proven{By: by, Kind: kind, State: ProvenNone, Why: "it holds no checkpoint yet"}}
	w.sources = append(w.sources, s)
	return s
}

// fail records a break at a sequence, 0 when it is at none.
func (s *source) fail(seq uint64, format string, args ...any) {
	if s.State == ProvenBroken && s.broken != 0 && s.broken <= seq {
		return
	}
	s.State, s.Why, s.broken = ProvenBroken, fmt.Sprintf(format, args...), seq
}

// take notes the checkpoints of a text.
func (w *treeWalk) take(from *source, text []byte) {
	for _, b := range checkpoint.Split(text) {
		if origin := checkpoint.Origin(b); origin != w.state.Origin {
			unsigned, _, _ := strings.Cut(string(b), "\n\n")
			if c, err := checkpoint.Parse(unsigned + "\n"); err != nil {
				from.unreadable("a checkpoint in it cannot be read")
			} else if !slices.Contains(from.alien, c.Origin) {
				from.alien = append(from.alien, c.Origin)
			}
			continue
		}
		c, _, err := checkpoint.Open(b, w.state.verifiers()...)
		if err != nil {
			from.unreadable("a checkpoint in it was not signed by this log")
			continue
		}
		if from.State == ProvenNone {
			from.State, from.Why = ProvenHolds, ""
		}
		from.claimed = true
		w.claims[c.Size] = append(w.claims[c.Size], claim{c, from})
	}
}

func (s *source) unreadable(why string) {
	switch {
	case s.strict:
		s.fail(0, "%s", why)
	case s.State == ProvenNone:
		s.State, s.Why = ProvenUnreadable, why
	}
}

// hashes reports whether the walk needs the leaves of records.
func (w *treeWalk) hashes() bool { return w.state.Origin != "" }

// record takes the next record of the walk and its leaf.
func (w *treeWalk) record(l *line, leaf tlog.Hash) {
	switch string(l.value(fAction)) {
	case ActionTree, ActionTreeKey:
		first := uint64(0)
		if r, err := l.record(); err == nil && r.Action == ActionTree {
			first = uint64(r.Counts["first"])
		}
		w.keys[string(l.value(fScope))] = first
		w.trees[originOf(string(l.value(fScope)))] = true
	case ActionTreeEnd:
		w.ended[string(l.value(fScope))] = true
	case ActionAcknowledge:
		w.restart(l.seq)
	}
	if w.state.Origin == "" || w.gap || l.seq < w.state.First {
		return
	}
	if l.seq != w.state.seq(w.front.Size+1) {
		w.gap = true
		return
	}
	w.front.Add(leaf)
	claims := w.claims[w.front.Size]
	if len(claims) == 0 {
		return
	}
	root := w.front.Root()
	for _, c := range claims {
		w.compare(c, root, l)
	}
}

// restart drops earlier leaves at an acknowledgement before or at the tree's first record: a log that was
// rolled back may reuse the numbers of its lost records.
func (w *treeWalk) restart(seq uint64) {
	if w.state.Origin == "" || seq > w.state.First {
		return
	}
	w.front, w.gap = checkpoint.Frontier{}, false
	for _, s := range w.sources {
		if s.claimed && (s.broken != 0 || s.State == ProvenHolds) {
			s.State, s.Why, s.Seq, s.At, s.broken = ProvenHolds, "", 0, time.Time{}, 0
		}
	}
}

func (w *treeWalk) compare(c claim, root tlog.Hash, l *line) {
	if c.Root != root {
		c.from.fail(l.seq, "records were changed: the first %d are not those that it signed", c.Size)
		return
	}
	if l.seq > c.from.Seq && (c.from.broken == 0 || l.seq < c.from.broken) {
		c.from.Seq = l.seq
		if r, err := l.record(); err == nil {
			c.from.At = r.TS
		}
	}
}

// end judges the claims that the walk did not reach.
func (w *treeWalk) end(last uint64) {
	for _, size := range slices.Sorted(maps.Keys(w.claims)) {
		if size <= w.front.Size {
			continue
		}
		for _, c := range w.claims[size] {
			if w.gap {
				c.from.fail(w.state.seq(w.front.Size+1), "record %d is missing, and it was signed", w.state.seq(w.front.Size+1))
				continue
			}
			c.from.fail(last+1, "the log ends with record %d, and record %d was signed: records were taken away", last, w.state.seq(size))
		}
	}
	for _, s := range w.sources {
		w.strangers(s)
	}
	w.announced()
}

// strangers judges checkpoints of other logs: of an ended tree, or of a log that this one replaced.
func (w *treeWalk) strangers(s *source) {
	for _, origin := range s.alien {
		switch {
		case w.ended[origin] && s.State != ProvenBroken:
			if s.State == ProvenNone || s.Kind != "own" {
				s.State, s.Why = ProvenEnded, fmt.Sprintf("it is of the tree %s, whose records are not those of this log any more, as an operator has noted", origin)
			}
		case !w.ended[origin]:
			s.fail(0, "it is of another log, %s: the log was begun anew, or this is not its anchor", origin)
		}
	}
}

// announced compares the tree's keys with the records that name them, and looks for a tree that is gone.
func (w *treeWalk) announced() {
	for origin := range w.trees {
		if origin != w.state.Origin && !w.ended[origin] {
			w.add("own", ownName).fail(0, "the tree %s over the log is gone", origin)
			return
		}
	}
	if !w.all {
		return
	}
	signed := slices.ContainsFunc(w.sources, func(s *source) bool { return s.Kind == "own" && s.State != ProvenNone })
	for i, k := range w.state.Keys {
		first, there := w.keys[k]
		if signed && (!there || i == 0 && first != w.state.First) {
			w.sources[0].fail(0, "no record names the key that signed it")
		}
	}
}

// origins are the origins of broken claims, which an acknowledgement ends.
func (w *treeWalk) origins() []string {
	out := map[string]bool{}
	for _, s := range w.sources {
		if s.State != ProvenBroken {
			continue
		}
		if w.state.Origin != "" {
			out[w.state.Origin] = true
		}
		for _, o := range s.alien {
			out[o] = true
		}
	}
	for o := range w.trees {
		if o != w.state.Origin {
			out[o] = true
		}
	}
	for o := range w.ended {
		delete(out, o)
	}
	return slices.Sorted(maps.Keys(out))
}

// skip takes the leaves of a known segment; false when it must be read.
func (w *treeWalk) skip(k known) bool {
	if w.state.Origin == "" || k.Seq < w.state.First {
		w.pass(k)
		return true
	}
	size := int64(k.Seq - w.state.First + 1)
	f := checkpoint.Frontier{Size: size, Roots: slices.Clone(k.Roots)}
	if k.Origin != w.state.Origin || !f.Whole() {
		return false
	}
	for at := range w.claims {
		if at > w.front.Size && at <= size {
			return false
		}
	}
	w.front = f
	w.pass(k)
	return true
}

func (w *treeWalk) pass(k known) {
	w.all = false
	if k.Origin != "" {
		w.trees[k.Origin] = true
	}
	for _, o := range k.Ended {
		w.ended[o] = true
	}
}

// keep adds the tree's roots to a segment that was read.
func (w *treeWalk) keep(k *known) {
	k.Ended = slices.Sorted(maps.Keys(w.ended))
	if w.state.Origin != "" && !w.gap && w.front.Size > 0 {
		k.Origin, k.Roots = w.state.Origin, slices.Clone(w.front.Roots)
	}
}
