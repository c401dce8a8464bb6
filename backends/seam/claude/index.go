package claude

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/frontmatter"
	"memdesk/model"
	"memdesk/quarantine"
)

const (
	indexName  = "MEMORY.md"
	geminiName = "GEMINI.md"
)

// The part of an index that a session loads (CC6).
const (
	capLines = 200
	capBytes = 25_600
)

// front is the front matter of a memory.
type front struct {
	has                     bool
	name, description, kind string
	body                    string // the text behind it
}

// plain is a top-level value without quotes, as agents write it: `description: Note: runs dry` is no YAML.
var plain = regexp.MustCompile(`(?m)^([\w-]+):[ \t]+([^"'|>{\[&*!#\s].*)$`)

// parse reads the name, the description and the type of a memory, which is at the top or below metadata. It is
// for display and for the index; broken front matter is empty.
func parse(text string) front {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	lines, body := frontmatter.Split(text)
	f := front{has: len(body) < len(text), body: body}
	var doc yaml.Node
	if yaml.Unmarshal([]byte(lines), &doc) != nil {
		quoted := plain.ReplaceAllStringFunc(lines, func(l string) string {
			key, value, _ := strings.Cut(l, ":")
			return key + ": '" + strings.ReplaceAll(strings.TrimSpace(value), "'", "''") + "'"
		})
		if yaml.Unmarshal([]byte(quoted), &doc) != nil {
			return f
		}
	}
	if len(doc.Content) == 0 {
		return f
	}
	root := doc.Content[0]
	f.name, f.description = scalar(field(root, "name")), scalar(field(root, "description"))
	f.kind = cmp.Or(scalar(field(field(root, "metadata"), "type")), scalar(field(root, "type")))
	return f
}

// field is the last value of a key in a mapping; nil without one.
func field(n *yaml.Node, key string) (value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			value = n.Content[i+1]
		}
	}
	if value != nil && value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	return value
}

func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// link is a Markdown link; its words may hold a pair of brackets, as the mark of an erasure does, and its target
// pairs of parentheses.
var link = regexp.MustCompile(`\[((?:\\.|\[[^\[\]\\]*\]|[^\]\\])*)\]\(((?:\\.|<[^<>]*>|\((?:\\.|[^()\\])*\)|[^)\\])*)\)`)

// linkTitle is what a link can say of its target, behind it.
var linkTitle = regexp.MustCompile(`\s+("[^"]*"|'[^']*')$`)

var backslash = regexp.MustCompile(`\\(.)`)

// targets are the files that a line of an index links to, as paths from its directory.
func targets(line string) []string {
	var out []string
	for _, m := range link.FindAllStringSubmatch(line, -1) {
		to := linkTitle.ReplaceAllString(strings.TrimSpace(m[2]), "")
		if strings.HasPrefix(to, "<") && strings.HasSuffix(to, ">") {
			to = to[1 : len(to)-1]
		}
		to = backslash.ReplaceAllString(to, "$1")
		if to == "" || strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
			continue
		}
		if plain, err := url.PathUnescape(to); err == nil {
			to = plain
		}
		out = append(out, path.Clean(to))
	}
	return out
}

// names reports whether a line's links lead to this file and to nothing else.
func names(line, file string) bool {
	to := targets(line)
	return len(to) > 0 && !slices.ContainsFunc(to, func(t string) bool { return t != file })
}

// place splits an id into its memory directory's index and the path from there; false for an index itself
// and for files that no index lists.
func (s *store) place(id string) (index seam.Locator, file string, ok bool) {
	dir, in := s.memory(id)
	file = strings.TrimPrefix(strings.TrimPrefix(id, dir), "/")
	if !in || file == indexName {
		return index, "", false
	}
	index, err := seam.Resolve(path.Join(dir, indexName))
	return index, file, err == nil
}

// line is the index line of a new memory (CC7).
func line(file, text string) string {
	name, description := words(file, text)
	return "- [" + name + "](" + encoded.Replace(file) + ")" + description
}

// words are the name and the description of a memory as its index line has them.
func words(file, text string) (name, description string) {
	f := parse(text)
	first, _, _ := strings.Cut(strings.TrimSpace(f.body), "\n")
	name = cmp.Or(f.name, strings.TrimSpace(strings.TrimLeft(first, "# ")), strings.TrimSuffix(path.Base(file), ".md"))
	if f.description != "" {
		description = " — " + escaped(f.description)
	}
	return escaped(name), description
}

// encoded replaces what targets would read as something else than a part of a path.
var encoded = strings.NewReplacer("%", "%25", " ", "%20", "(", "%28", ")", "%29", "#", "%23", "<", "%3C", ">", "%3E", `\`, "%5C", ":", "%3A")

func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, "]", `\]`, ")", `\)`, "\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}

// change rewrites the lines of an index. An empty index is removed, unless it may stay bare or the store is known by it.
func (s *store) change(ctx context.Context, op string, index seam.Locator, bare bool, edit func(lines []string) []string) error {
	_, err := s.tree.Change(ctx, op, index, func(old []byte, exists bool) (seam.Edit, error) {
		before := slices.Collect(strings.Lines(string(old)))
		after := strings.Join(ended(before, edit(slices.Clone(before))), "")
		return seam.Edit{Data: []byte(after), Keep: after == string(old), Remove: exists && after == "" && !bare && !s.tellsAlone()}, nil
	})
	return err
}

// ended gives lines the line end of the file, and a final newline where there was one (CC11).
func ended(before, lines []string) []string {
	if len(before) == 0 || len(lines) == 0 {
		return lines
	}
	end, last := lineEnd(before), len(lines)-1
	for i, l := range lines[:last] {
		if !strings.HasSuffix(l, "\n") {
			lines[i] += end
		}
	}
	if plain, cut := strings.CutSuffix(lines[last], "\n"); cut && !strings.HasSuffix(before[len(before)-1], "\n") {
		lines[last] = strings.TrimSuffix(plain, "\r")
	} else if !cut && strings.HasSuffix(before[len(before)-1], "\n") {
		lines[last] += end
	}
	return lines
}

func lineEnd(lines []string) string {
	if len(lines) > 0 && strings.HasSuffix(lines[0], "\r\n") {
		return "\r\n"
	}
	return "\n"
}

const loaded = "a session that runs keeps the index that it has loaded"

// wrote updates the index of a written memory. After an undo it reports only the lines that did not come back.
func (s *store) wrote(ctx context.Context, id string, old *string, text string, req model.RetainRequest) (warnings []string) {
	if b := req.Beside; b != nil && !req.Restore && len(b.Lines) == 0 && len(b.Rows) > 0 { // a renamed memory brings the mode of its file alone
		req.Beside = nil
	}
	with := req.Beside
	const long = "the index is longer than what a session loads, 200 lines or 25 KB: the rest is not loaded"
	index, file, ok := s.place(id)
	if !ok {
		if tier, _ := s.head(id, text); tier == tierIndex && over(text) {
			warnings = append(warnings, long)
		}
		return warnings
	}
	refused := false
	admitted := func(lines, now []string) bool {
		return len(quarantine.Added(strings.Join(lines, ""), strings.Join(now, ""))) == 0
	}
	err := s.change(ctx, "retain", index, false, func(lines []string) []string {
		now := entered(slices.Clone(lines), file, old, text, req)
		if refused = req.Beside == nil && !admitted(lines, now); !refused {
			return now
		}
		if now = entered(slices.Clone(lines), file, nil, "", req); admitted(lines, now) { // the name of the file alone
			return now
		}
		return lines
	})
	if refused {
		warnings = append(warnings, "the scanner rejects the name or the description of its front matter: they are not in the index")
	}
	if err != nil {
		warnings = append(warnings, "the file is written, and its index is not: "+err.Error())
	} else if with == nil {
		warnings = append(warnings, loaded)
	}
	if data, err := s.tree.Read(ctx, index); with == nil && err == nil && over(data) {
		warnings = append(warnings, long)
	}
	return warnings
}

// entered are an index's lines with those of a written memory: a new one, the earlier ones of a restored memory, or one
// that follows a changed name or description. In an erasure the index is edited by a step of its own.
func entered(lines []string, file string, old *string, text string, req model.RetainRequest) []string {
	at := slices.IndexFunc(lines, func(l string) bool { return slices.Contains(targets(l), file) })
	switch {
	case old != nil && (at < 0 || req.Erase):
	case old != nil:
		return follow(lines, file, *old, text)
	case req.Beside != nil:
		there := slices.Clone(lines) // the same line may have stood there twice
		for _, l := range req.Beside.Lines {
			if i := slices.Index(there, l.Text); i >= 0 {
				there = slices.Delete(there, i, i+1)
				continue
			}
			if last := len(lines) - 1; last >= 0 && l.At > last && !strings.HasSuffix(lines[last], "\n") {
				lines[last] += l.End
			}
			if l != bare {
				lines = slices.Insert(lines, min(l.At, len(lines)), l.Text)
			}
		}
	case at < 0:
		return append(lines, line(file, text)+lineEnd(lines))
	}
	return lines
}

// left are an index's lines without those of a removed memory (CC9). Lines that stood there before it stay.
func left(lines []string, file string, before *model.Beside) []string {
	return slices.DeleteFunc(lines, func(l string) bool {
		stood := before != nil && slices.ContainsFunc(before.Lines, func(b model.BesideLine) bool { return b.Text == l })
		return names(l, file) && !stood
	})
}

// rewrites is the index where a change of a memory changes its lines.
func (s *store) rewrites(ctx context.Context, req model.RetainRequest) ([]string, error) {
	id := req.ID
	if id == "" {
		id, _ = s.address(req.Tier, req.Key) // Retain itself refuses a bad one
	}
	index, file, ok := s.place(id)
	at, err := seam.Resolve(id)
	if !ok || err != nil {
		return nil, nil
	}
	data, err := s.tree.Read(ctx, index)
	if err != nil {
		return nil, absentIsNone(err)
	}
	var old *string
	text := req.Content
	if req.Mode != "" {
		switch have, err := s.tree.Read(ctx, at); {
		case absentIsNone(err) != nil:
			return nil, err
		case err == nil:
			old = &have
			if req.Mode == model.Append {
				text = have + text
			}
		}
	}
	before := slices.Collect(strings.Lines(data))
	after := slices.Clone(before)
	if req.Mode == "" {
		after = left(after, file, nil)
	} else {
		after = entered(after, file, old, text, req)
	}
	if slices.Equal(before, after) {
		return nil, nil
	}
	return []string{index.Key()}, nil
}

// absentIsNone takes an index that is absent, or no file of the store, for none.
func absentIsNone(err error) error {
	if errors.Is(err, model.NotFound) || errors.Is(err, model.ErrLink) || errors.Is(err, model.ErrDirectory) || errors.Is(err, rootdir.ErrNotFile) {
		return nil
	}
	return err
}

func over(data string) bool { return len(data) > capBytes || lineCount(data) > capLines }

func lineCount(data string) int { return len(slices.Collect(strings.Lines(data))) }

// follow updates the words of a file's lines that came from its earlier text (CC10).
func follow(lines []string, file, old, text string) []string {
	name, description := words(file, old)
	newName, newDescription := words(file, text)
	for i, l := range lines {
		if !names(l, file) {
			continue
		}
		l = strings.Replace(l, "["+name+"](", "["+newName+"](", 1)
		if description != "" {
			l = strings.Replace(l, description, newDescription, 1)
		}
		lines[i] = l
	}
	return lines
}

// removed deletes a removed memory's lines from its index (CC9).
func (s *store) removed(ctx context.Context, id string, before *model.Beside) (warnings []string, err error) {
	index, file, ok := s.place(id)
	if !ok {
		return nil, nil
	}
	err = s.change(ctx, "forget", index, before != nil && slices.Contains(before.Lines, bare), func(lines []string) []string {
		warnings = nil
		rest := left(slices.Clone(lines), file, before)
		if len(rest) < len(lines) {
			warnings = []string{loaded}
		}
		return rest
	})
	if err != nil {
		return nil, model.Errorf(model.KindOf(err), "forget", "the file is removed, and its index line is not: %s", err)
	}
	return warnings, nil
}

// bare stands for an index that is there and empty: an undo leaves one.
var bare model.BesideLine

// beside reads the index lines of a memory and their places, so that an undo restores them.
func (s *store) beside(ctx context.Context, id string) (model.Beside, error) {
	var out model.Beside
	index, file, ok := s.place(id)
	if !ok {
		return out, nil
	}
	data, err := s.tree.Read(ctx, index)
	if err != nil {
		return out, nil // no index
	}
	if data == "" {
		out.Lines = []model.BesideLine{bare}
	}
	lines := slices.Collect(strings.Lines(data))
	for i, l := range lines {
		if !names(l, file) {
			continue
		}
		b := model.BesideLine{At: i, Text: l}
		if !strings.HasSuffix(l, "\n") {
			b.End = lineEnd(lines)
		}
		out.Lines = append(out.Lines, b)
	}
	return out, nil
}
