package receipt

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// Fold sums up clean layers in a few words: a reader of a verdict looks for layers that are not clean, and
// thirty lock files are in the way.
type Fold struct {
	Layers int64 // a row may count for many
	Bytes  int64 // looked at
	Kinds  []KindCount
	// Notes are remarks on clean layers, each once.
	Notes []Note
	Rows  []Layer
}

// KindCount is how many layers of a kind there are; Methods are their verification methods.
type KindCount struct {
	Kind    string
	N       int64
	Methods []string

	one    string
	stores []string
}

// Note is a remark on clean layers of a store.
type Note struct{ Store, Layer, Reason string }

// Split separates the layers that need rows of their own, the worst first, from clean ones. A layer that
// passes without being clean keeps its row: the reader must see what is out of reach.
func Split(layers []Layer) (standing []Layer, clean Fold) {
	for _, l := range layers {
		if l.Verdict == model.VerdictClean && l.Hits == 0 {
			clean.add(l)
			continue
		}
		standing = append(standing, l)
	}
	slices.SortStableFunc(standing, func(a, b Layer) int { return rank(a) - rank(b) })
	slices.SortStableFunc(clean.Kinds, func(a, b KindCount) int { return cmp.Compare(b.N, a.N) })
	return standing, clean
}

// rank orders layers by how much work is left: of those out of scope, one that holds the subject comes first.
func rank(l Layer) int {
	n := 2 * slices.Index([]model.Verdict{model.VerdictResidue, model.VerdictFailed, model.VerdictUnaudited, model.VerdictPending, model.VerdictOutOfScope, model.VerdictAttested, model.VerdictClean}, l.Verdict)
	if l.HoldsPerson() {
		n--
	}
	return n
}

func (f *Fold) add(l Layer) {
	n := max(l.Count, 1)
	f.Layers, f.Bytes, f.Rows = f.Layers+n, f.Bytes+l.BytesScanned, append(f.Rows, l)
	kind, one := kindOf(l), ""
	if kind.many == "" { // a word with no plural: items, recall, names
		kind.many, one = kind.one, kind.one
	}
	i := slices.IndexFunc(f.Kinds, func(k KindCount) bool { return k.Kind == kind.many })
	if i < 0 {
		i = len(f.Kinds)
		f.Kinds = append(f.Kinds, KindCount{Kind: kind.many, one: kind.one})
	}
	k := &f.Kinds[i]
	if k.N += n; !slices.Contains(k.Methods, l.Method) {
		k.Methods = append(k.Methods, l.Method)
	}
	if one != "" && !slices.Contains(k.stores, l.Store) {
		k.stores = append(k.stores, l.Store)
	}
	note := Note{l.Store, l.Layer, l.Reason}
	if l.Remarked() && !slices.ContainsFunc(f.Notes, func(o Note) bool { return o.Store == note.Store && o.Reason == note.Reason }) {
		f.Notes = append(f.Notes, note)
	}
}

// Remarked reports whether a clean layer has a remark of its own.
func (l Layer) Remarked() bool { return l.Reason != "" && !isFiles(l.Reason) }

// String is the kind with its count.
func (k KindCount) String() string {
	switch {
	case len(k.stores) > 1:
		return fmt.Sprintf("%s of %d stores", k.Kind, len(k.stores))
	case k.stores != nil:
		return k.Kind
	case k.N == 1:
		return "1 " + k.one
	}
	return fmt.Sprintf("%d %s", k.N, k.Kind)
}

// manyKinds is how many kinds are named one by one.
const manyKinds = 8

// Words are the counts by kind, the most frequent first.
func (f Fold) Words() string {
	var out []string
	rest, others := int64(0), 0
	for i, k := range f.Kinds {
		if i < manyKinds || len(f.Kinds) == manyKinds+1 {
			out = append(out, k.String())
			continue
		}
		rest, others = rest+k.N, others+1
	}
	if others > 0 {
		out = append(out, fmt.Sprintf("%d in %d other kinds", rest, others))
	}
	return strings.Join(out, ", ")
}

// String is the fold in one line, for foreign words not escaped.
func (f Fold) String() string {
	return fmt.Sprintf("%d %s clean: %s", f.Layers, safetext.Noun(f.Layers, "layer"), f.Words())
}

// kind names similar layers, one and many; many is empty for a word of its own.
type kind struct{ one, many string }

// kindOf classifies layers by their names.
func kindOf(l Layer) kind {
	layer := l.Layer
	if l.Count > 0 { // a row for many: "versions/*.md (1200 files)"
		layer, _, _ = strings.Cut(layer, " (")
	}
	base := path.Base(layer)
	ext := path.Ext(base)
	switch {
	case strings.HasSuffix(layer, "/"):
		return kind{"empty directory", "empty directories"}
	case ext == ".lock":
		return kind{"lock file", "lock files"}
	case strings.Contains(base, ".tmp"):
		return kind{"temporary file", "temporary files"}
	case slices.ContainsFunc(strings.Split(path.Dir(layer), "/"), func(dir string) bool { return dir == "versions" || dir == ".stversions" }):
		return kind{"version", "versions"}
	case strings.Contains(ext, ":"): // "graph.db:node_embeddings"
		return kind{"side table", "side tables"}
	case ext != "" && ext != base && !strings.Contains(ext, " "):
		return kind{"file *" + ext, "files *" + ext}
	case strings.Contains(layer, "/"):
		return kind{"file", "files"}
	}
	return kind{layer, ""}
}

// Files says how many files a row counts for, and nothing else.
func Files(n int) string { return fmt.Sprintf("%d %s", n, safetext.Noun(int64(n), "file")) }

func isFiles(reason string) bool {
	var n int
	_, err := fmt.Sscanf(reason, "%d", &n)
	return err == nil && (reason == Files(n) || reason == fmt.Sprintf("%d files", n)) // older receipts say "1 files"
}
