package signal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sample is one text of a set of texts, in the format of published sets.
type Sample struct {
	ID      SampleID `json:"id"`
	Content string   `json:"content"`
	Label   string   `json:"label"` // "poisoned", or something else
	Attack  string   `json:"attack_type"`
}

// SampleID is an id in a set: a string, or the raw form of any other value, since many sets number their
// texts.
type SampleID string

// UnmarshalJSON implements json.Unmarshaler.
func (id *SampleID) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		text = string(b)
	}
	*id = SampleID(text)
	return nil
}

// Kind is the label followed by the attack.
func (s Sample) Kind() string {
	if s.Attack == "" || s.Attack == "none" {
		return s.Label
	}
	return s.Label + " " + s.Attack
}

// ReadSet reads a file of JSON lines, or every *.jsonl of a directory.
func ReadSet(path string) (out []Sample, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.jsonl")); err != nil || len(files) == 0 {
			return nil, fmt.Errorf("no *.jsonl is in %s", path)
		}
	}
	for _, name := range files {
		some, err := readSamples(name)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// maxSample is the longest line of a set, in bytes.
const maxSample = 16 << 20

func readSamples(name string) (out []Sample, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxSample)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\uFEFF")))
		if len(line) == 0 {
			continue
		}
		var s Sample
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("%s line %d is no JSON object with id and content: %w", filepath.Base(name), n, err)
		}
		out = append(out, s)
	}
	return out, lines.Err()
}

// ReadExamples reads labelled texts below a directory: *-clean.txt and *-poisoned.txt with one text per line,
// and *.jsonl. It demands some of both labels.
func ReadExamples(dir string) (out []Example, planted int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		clean, poisoned := strings.HasSuffix(path, "-clean.txt"), strings.HasSuffix(path, "-poisoned.txt")
		switch {
		case clean || poisoned:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(b)) {
				out = append(out, Example{Text: strings.TrimSpace(line), Planted: poisoned})
			}
		case strings.HasSuffix(path, ".jsonl"):
			set, err := readSamples(path)
			if err != nil {
				return err
			}
			for _, s := range set {
				if s.Label == "" {
					return fmt.Errorf("%s: entry %q has no label", filepath.Base(path), s.ID)
				}
				out = append(out, Example{Text: s.Content, Planted: s.Label == "poisoned"})
			}
		}
		return nil
	})
	for _, e := range out {
		if e.Planted {
			planted++
		}
	}
	if err == nil && (planted == 0 || planted == len(out)) {
		err = fmt.Errorf("%s has %d texts and %d of them are poisoned: both kinds are needed", dir, len(out), planted)
	}
	return out, planted, err
}
