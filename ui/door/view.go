package door

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"memdesk/model"
)

// maxLines bounds the lines of a file (memory-face.md).
const maxLines = 999_999

func (c *call) view(ctx context.Context, a memoryArgs) (string, error) {
	at, err := c.spotOf(a.Path)
	if err != nil {
		return "", err
	}
	if at.name != "" {
		it, ok, err := c.file(ctx, at)
		if err != nil {
			return "", err
		}
		if ok {
			c.given("view", model.Ref{Store: at.store.Name, ID: it.ID})
			return viewFile(a.Path, it.Body, a.ViewRange)
		}
	}
	return c.viewDirectory(ctx, at)
}

func tooManyLines(path string, all []string) error {
	return say("File %s has too many lines (%d). Maximum is 999,999 lines.", path, len(all))
}

// viewFile numbers the lines of a file; span counts only with two numbers.
func viewFile(path, text string, span json.RawMessage) (string, error) {
	all := lines(text)
	if len(all) > maxLines {
		return "", tooManyLines(path, all)
	}
	from, to := 1, len(all)
	var two []float64
	if json.Unmarshal(span, &two) == nil && len(two) == 2 {
		from, to = sliceBounds(two[0], two[1], len(all))
	}
	head := "Here's the content of " + path + " with line numbers:\n"
	return head + numbered(all, from, to), nil
}

// sliceBounds is the range of lines of two numbers: a start below 1 is 1, an end of -1 is the last line,
// other negative ends count from the end.
func sliceBounds(start, end float64, n int) (from, to int) {
	if math.IsNaN(start) || start < 1 {
		start = 1
	}
	from = int(math.Min(start, float64(n)+1))
	switch {
	case end == -1:
		to = n
	case end < 0:
		to = max(0, n+int(math.Max(end, -float64(n))))
	default:
		to = int(math.Min(end, float64(n)))
	}
	return from, to
}

// numbered are the lines from..to, counted from 1, as far as they hold no more than the longest file that the
// face writes. A line says how to see the rest.
func numbered(all []string, from, to int) string {
	var out []string
	room := maxGet + 1
	for i := max(from, 1); i <= min(to, len(all)); i++ {
		line := all[i-1]
		room -= len(line) + 1
		if room < 0 && len(out) > 0 {
			out = append(out, fmt.Sprintf("...\tthere is more: view_range shows line %d and those after it", i))
			break
		}
		if room < 0 {
			line = strings.ToValidUTF8(line[:maxGet], "") + "... (the line is longer)"
		}
		out = append(out, fmt.Sprintf("%6d\t%s", i, line))
	}
	return strings.Join(out, "\n")
}

// viewDirectory lists two levels below a directory.
func (c *call) viewDirectory(ctx context.Context, at spot) (string, error) {
	sizes := map[string]int64{} // by relative path; -1 is a directory
	var more bool
	var err error
	switch at.depth {
	case 0:
		c.stores(sizes)
	case 1:
		more, err = c.tiers(ctx, at, sizes)
	default:
		var all []entry
		prefix := at.name
		if prefix != "" {
			prefix += "/"
		}
		if all, more, err = c.entries(ctx, at, prefix, maxEntries); err == nil && at.name != "" && len(all) == 0 {
			return "", notSeen(at.path, more)
		}
		for _, e := range all {
			place(sizes, strings.TrimPrefix(e.name, prefix), e.bytes)
		}
	}
	if err != nil {
		return "", err
	}
	return listing(strings.TrimRight(at.path, "/"), sizes, more), nil
}

func (c *call) stores(sizes map[string]int64) {
	for _, m := range c.Fleet.Open() {
		if m.Store.Browser == nil {
			continue
		}
		sizes[m.Name] = -1
		for _, t := range m.Store.Tiers {
			if !t.Hidden && !poisoned(t.Name) { // a server behind the store may name them
				sizes[m.Name+"/"+t.Name] = -1
			}
		}
	}
}

// tiers adds a store's tiers and the entries right below them.
func (c *call) tiers(ctx context.Context, at spot, sizes map[string]int64) (more bool, err error) {
	if at.store.Browser == nil {
		return false, absent(at.path)
	}
	for _, t := range at.store.Tiers {
		if t.Hidden || poisoned(t.Name) {
			continue
		}
		sizes[t.Name] = -1
		in := at
		in.tier = t
		all, cut, err := c.entries(ctx, in, "", maxEntries)
		if err != nil {
			return false, err
		}
		more = more || cut
		for _, e := range all {
			place(sizes, t.Name+"/"+e.name, e.bytes)
		}
	}
	return more, nil
}

// place adds a file, or the directories above it that are at most two levels deep. Hidden names and node_modules
// are left out.
func place(sizes map[string]int64, rel string, bytes int64) {
	parts := strings.Split(rel, "/")
	if slices.ContainsFunc(parts, func(s string) bool { return strings.HasPrefix(s, ".") || s == "node_modules" }) {
		return
	}
	for n := 1; n <= min(2, len(parts)); n++ {
		p := strings.Join(parts[:n], "/")
		if n == len(parts) {
			sizes[p] = bytes
		} else if _, ok := sizes[p]; !ok {
			sizes[p] = -1
		}
	}
}

func listing(path string, sizes map[string]int64, more bool) string {
	rels := slices.SortedFunc(maps.Keys(sizes), byUTF16)
	var b strings.Builder
	b.WriteString("Here're the files and directories up to 2 levels deep in " + path + ", excluding hidden items and node_modules:\n")
	b.WriteString("4K\t" + path)
	for _, rel := range rels {
		size, end := "4K", "/"
		if n := sizes[rel]; n >= 0 {
			size, end = sizeOf(n), ""
		}
		b.WriteString("\n" + size + "\t" + path + "/" + shown(rel) + end)
	}
	if more {
		b.WriteString("\n...\tthere is more: view a directory below, or use a narrower path")
	}
	return b.String()
}

// sizeOf is a size as the memory tool writes it: by 1024, one decimal unless whole,
// ties up.
func sizeOf(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + "B"
	}
	v, unit := float64(n)/1024, "K"
	for _, u := range []string{"M", "G"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	tenths := math.Floor(v*10 + 0.5)
	if math.Mod(tenths, 10) == 0 {
		return strconv.FormatFloat(tenths/10, 'f', 0, 64) + unit
	}
	return strconv.FormatFloat(tenths/10, 'f', 1, 64) + unit
}
