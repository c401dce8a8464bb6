package crewship

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"memdesk/model"
)

// checkRemoval accepts an edit of a tier that only its own writer may fill if it only removes text, or puts
// the mark of an erasure there, and the rest still parses.
func checkRemoval(spec model.TierSpec, old, text string) error {
	if !onlyRemoves(old, text) {
		return model.Errorf(model.InvalidInput, "retain", "tier %s takes entries from its own writer only, and this edit adds or moves text; remove text only", spec.Name)
	}
	if spec.Name != tierLessons {
		return nil
	}
	before, err := parseLessons(old)
	if err != nil {
		return nil // a text that did not parse before need not parse now; the removal may be the repair
	}
	after, err := parseLessons(text)
	if err != nil {
		return model.Errorf(model.InvalidInput, "retain", "lessons.md would no longer parse: %w", err)
	}
	known := map[string]lesson{}
	for _, l := range before {
		known[l.ID] = l
	}
	for _, l := range after {
		if was, ok := known[l.ID]; !ok || was.Kind != l.Kind || was.Source != l.Source || was.Captured != l.Captured {
			return model.Errorf(model.InvalidInput, "retain", "lesson %q would change its id, kind, source or time; remove rule text, context or whole entries", l.ID)
		}
	}
	return nil
}

// onlyRemoves reports whether text is old with bytes removed, apart from marks of an erasure.
func onlyRemoves(old, text string) bool {
	text = strings.ReplaceAll(strings.ReplaceAll(text, model.Erased, ""), model.ErasedWord, "")
	i := 0
	for j := 0; i < len(text) && j < len(old); j++ {
		if text[i] == old[j] {
			i++
		}
	}
	return i == len(text)
}

// lesson is one entry of lessons.md (crewship-disk.md, File formats).
type lesson struct {
	ID       string `yaml:"id"`
	Kind     string `yaml:"kind"`
	Captured string `yaml:"captured_at"`
	Source   string `yaml:"source"`
	Rule     string `yaml:"rule"`
	Context  string `yaml:"context"`
}

var (
	lessonKinds   = []string{"positive", "negative", "neutral"}
	lessonSources = []string{"manual", "skill_promote", "negative_learning", "consolidator", "user_feedback", "mission_outcome"}
)

// parseLessons reads the one document of a lessons.md.
func parseLessons(text string) ([]lesson, error) {
	var doc struct {
		Entries []lesson `yaml:"entries"`
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	dec.KnownFields(true)
	var shape *yaml.TypeError
	switch err := dec.Decode(&doc); {
	case errors.As(err, &shape): // its words quote the text, and name types of Go
		line, _, _ := strings.Cut(shape.Errors[0], ":")
		return nil, errors.New(line + ": a key or a value that no lesson has")
	case err != nil && !errors.Is(err, io.EOF): // an empty text has no entry
		return nil, err
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the list")
	}
	if doc.Entries == nil {
		return nil, errors.New("no entry; write `entries: []`, or forget the item")
	}
	seen := map[string]bool{}
	for i, l := range doc.Entries {
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		if seen[l.ID] {
			return nil, fmt.Errorf("entry %d: its id stands twice", i+1)
		}
		seen[l.ID] = true
	}
	return doc.Entries, nil
}

func (l lesson) check() error {
	_, err := time.Parse(time.RFC3339Nano, l.Captured)
	switch {
	case l.ID == "":
		return errors.New("no id")
	case !slices.Contains(lessonKinds, l.Kind):
		return errors.New("no valid kind")
	case !slices.Contains(lessonSources, l.Source):
		return errors.New("no valid source")
	case err != nil:
		return errors.New("no valid captured_at")
	case l.Rule == "":
		return errors.New("no rule")
	}
	return nil
}
