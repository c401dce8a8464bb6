package gdpr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// layerScan is the result of a byte scan of one layer.
type layerScan struct {
	rep subject.Report
	err error
}

// scanLayers reads the bytes of the layers that which selects, as many at a time as there are processors. It
// ends early with its context. told receives the number of bytes read, from several goroutines; nil for no
// listener.
func scanLayers(ctx context.Context, m *subject.Matcher, s model.Store, layers []model.Layer, bystanders *subject.Bystanders, which func(model.Layer) bool, told func(int64)) []layerScan {
	out := make([]layerScan, len(layers))
	var next, read atomic.Int64
	through := func(r io.Reader) io.Reader {
		if told == nil {
			return r
		}
		return &counted{Reader: r, all: &read, told: told}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(layers)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(layers) {
					return
				}
				if which(layers[i]) {
					out[i].rep, out[i].err = scanLayer(ctx, m, s, layers[i], bystanders, through)
				}
			}
		})
	}
	wg.Wait()
	return out
}

// scanLayer reads a layer's bytes.
func scanLayer(ctx context.Context, m *subject.Matcher, s model.Store, l model.Layer, bystanders *subject.Bystanders, through func(io.Reader) io.Reader) (subject.Report, error) {
	if !l.Readable {
		return subject.Report{}, nil
	}
	f, err := s.Maintainer.OpenLayer(ctx, l.ID)
	if err != nil {
		return subject.Report{}, err
	}
	rep, err := m.Scan(ctx, through(f), bystanders)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = model.E(model.Internal, "scan", cerr)
	}
	return rep, err
}

// manyAlike is how many layers of one directory keep rows of their own when their verdicts agree: a store can
// have a version blob for every write.
const manyAlike = 1000

// groupRows replaces the clean layers of a directory by one row with their number, where more than manyAlike
// have the same method and reason. Every other row stays.
func groupRows(rows []receipt.Layer) []receipt.Layer {
	key := func(r receipt.Layer) [4]string {
		return [4]string{topDir(r.Layer), path.Ext(r.Layer), r.Method, r.Reason}
	}
	alike := map[[4]string]int64{}
	for _, r := range rows {
		if groupable(r) {
			alike[key(r)]++
		}
	}
	at := map[[4]string]int{}
	out := rows[:0]
	for _, r := range rows {
		k := key(r)
		n := alike[k]
		if n <= manyAlike || !groupable(r) {
			out = append(out, r)
			continue
		}
		if i, known := at[k]; known {
			out[i].BytesScanned += r.BytesScanned
			continue
		}
		at[k] = len(out)
		r.Layer, r.Count = fmt.Sprintf("%s/*%s (%d files)", k[0], k[1], n), n
		out = append(out, r)
	}
	return out
}

func groupable(r receipt.Layer) bool {
	return r.Verdict == model.VerdictClean && r.Hits == 0 && topDir(r.Layer) != ""
}

// topDir is the first directory of a layer's name; empty for a name without one.
func topDir(layer string) string {
	dir := path.Dir(layer)
	for path.Dir(dir) != "." && path.Dir(dir) != "/" {
		dir = path.Dir(dir)
	}
	if dir == "." || dir == "/" {
		return ""
	}
	return dir
}

// scanMethod lists the forms that a byte scan covers.
const scanMethod = "byte scan: exact, folded, escapes, charsets, base64, base32, hex, inside archives and what is compressed, index windows"

// scanRow judges the scan of a layer.
func scanRow(s model.Store, l model.Layer, scan layerScan) receipt.Layer {
	row := receipt.Layer{Store: s.Name, Layer: l.ID, Method: scanMethod, Verdict: model.VerdictClean}
	rep, err := scan.rep, scan.err
	row.BytesScanned, row.Hits = rep.Bytes, rep.Hits
	all := rep.Hits + rep.Kept + rep.Alike
	switch {
	case errors.Is(err, model.NotFound): // gone since the listing
		row.Reason = "gone"
	case l.Kind == model.LayerExternal && l.Readable && err != nil && all == 0: // unread bytes may hold anything
		row.Verdict, row.Reason = model.VerdictUnaudited, withWords(l.Reason, []string{"it could not be read to the end: " + string(model.KindOf(err))})
	case l.Kind == model.LayerExternal && (!l.Readable || all > 0 || len(rep.Closed) > 0):
		row.Verdict, row.Reason, row.Hits = model.VerdictOutOfScope, withWords(l.Reason, rep.Closed), all
		if !l.Readable {
			row.Method = "not looked at"
		}
	case l.Kind == model.LayerExternal:
		row.Reason = l.Reason
	case !l.Readable:
		row.Verdict, row.Reason, row.Method = model.VerdictUnaudited, l.Reason, "not looked at"
	case err != nil:
		row.Verdict, row.Reason = model.VerdictUnaudited, "it could not be read to the end: "+string(model.KindOf(err))
	case rep.Hits == 0 && len(rep.Closed) > 0:
		row.Verdict, row.Reason, row.Hits = model.VerdictUnaudited, withWords("", rep.Closed), all
	case rep.Hits > 0 && l.Waits != "":
		row.Verdict, row.Reason = model.VerdictPending, l.Waits
	case rep.Hits > 0:
		row.Verdict, row.Reason = model.VerdictResidue, withWords("found by "+methods(rep)+inMembers(rep.Members), rep.Closed)
		if all > rep.Hits {
			row.Reason += fmt.Sprintf("; %d more are what is on hold", all-rep.Hits)
		}
	case rep.Alike > 0:
		row.Verdict, row.Hits, row.Held = model.VerdictOutOfScope, all, true
		row.Reason = fmt.Sprintf("%d are the text of what is on hold; %d stand alone, as its keys and terms of an index do, and cannot be told apart from those", rep.Kept, rep.Alike)
	case rep.Kept > 0:
		row.Verdict, row.Hits, row.Held, row.Reason = model.VerdictOutOfScope, all, true, "all of it is the text of what is on hold"
	case l.Rows: // clean, and perhaps a part of its file alone
		row.Reason = l.Reason
	}
	return row
}

// rowOf is scanRow, of a symbolic link with the path that it leads to.
func rowOf(m *subject.Matcher, s model.Store, l model.Layer, scan layerScan) receipt.Layer {
	l.Reason = whyLeft(m, l)
	row := scanRow(s, l, scan)
	if leads(m, l) {
		row.Method, row.Hits = "the path that it leads to", row.Hits+1
	}
	return row
}

// withWords appends to a reason the parts that could not be opened.
func withWords(reason string, closed []string) string {
	if reason != "" {
		closed = append([]string{reason}, closed...)
	}
	return strings.Join(closed, "; ")
}

// inMembers lists the archive members with hits.
func inMembers(members []string) string {
	if len(members) == 0 {
		return ""
	}
	return " in " + strings.Join(members, ", ")
}

func methods(rep subject.Report) string {
	var out []string
	for m, n := range rep.By {
		if n > 0 {
			out = append(out, fmt.Sprintf("%s %d", m, n))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// withScrub adds the scrub's results to the scan's rows. While a layer waits, residue in the store's bytes is
// only pending.
func (p *part) withScrub(rows []receipt.Layer) []receipt.Layer {
	at := make(map[string]int, len(rows))
	for i, r := range rows {
		if _, twice := at[r.Layer]; !twice {
			at[r.Layer] = i
		}
	}
	for _, l := range p.scrubbed {
		if l.Layer == gitLayer {
			continue
		}
		i, known := at[l.Layer]
		if !known {
			i = -1
		}
		switch {
		case i >= 0 && l.Verdict == model.VerdictResidue && rows[i].Held: // a scrub cannot tell what is on hold
		case i >= 0 && (l.Verdict == model.VerdictPending || l.Verdict == model.VerdictFailed || l.Verdict == model.VerdictResidue || p.unseen[l.Layer]):
			rows[i].Verdict, rows[i].Reason = l.Verdict, l.Reason
		case i >= 0 && rows[i].Verdict != model.VerdictOutOfScope:
			rows[i].Method = l.Method + "; " + rows[i].Method
			if l.Reason != "" && rows[i].Verdict == model.VerdictResidue {
				rows[i].Reason += "; " + l.Reason // why the scrub could not clean it
			}
		case i >= 0 && l.Rows > 0: // out of memdesk's reach, and cleaned there by others
			rows[i].Method, rows[i].Reason = l.Method+"; "+rows[i].Method, l.Reason
		case i >= 0:
		default:
			at[l.Layer] = len(rows)
			rows = append(rows, receipt.Layer{Store: p.Store, Layer: l.Layer, Method: l.Method, Verdict: l.Verdict, Reason: l.Reason})
		}
	}
	if p.pending {
		postpone(rows, "left until the layer that waits is scrubbed: ")
	}
	return rows
}
