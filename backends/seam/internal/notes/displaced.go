package notes

import (
	"context"
	"errors"
	"path"
	"regexp"
	"strings"
	"time"

	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// leftover is the name of an unfinished write by memdesk.
var leftover = regexp.MustCompile(`(?s)^(.+)\.tmp\.[0-9a-f]{16}$`)

// tempMark is part of every such name.
var tempMark = []byte(".tmp.")

// settled is the age from which an unfinished write counts as dead: a live one takes milliseconds.
const settled = 10 * time.Second

// isLeftover reports whether an id names an unfinished write. It is no item, but it can be read and
// forgotten: after a crash during an exchange it may hold another writer's text.
func isLeftover(id string) bool {
	return strings.Contains(id, ".tmp.") && // nearly no name
		inOpenDir(id) && leftover.MatchString(baseName(id))
}

// StoreConflicts lists texts displaced by this process's writes, as long as they exist, and interrupted
// writes that differ from their note.
func (s *store) StoreConflicts(ctx context.Context) ([]model.StoreConflict, error) {
	root, err := s.open("conflicts")
	if err != nil || root == nil {
		return nil, err
	}
	defer root.Close()
	var out []model.StoreConflict
	s.mu.Lock()
	for _, c := range s.displaced {
		if _, err := root.Stat(c.CopyID); err == nil {
			out = append(out, c)
		}
	}
	s.mu.Unlock()
	take := func(id string) bool {
		if c, ok := s.cutOff(root, id); ok {
			out = append(out, c)
		}
		return true
	}
	if s.cfg.Layout == nil {
		tree, err := s.named(ctx, "conflicts")
		if err != nil || tree == nil {
			return out, err
		}
		for _, id := range tree.Aside {
			take(id)
		}
		return out, nil
	}
	_, err = walk.Names(ctx, "conflicts", root, walk.Rules{Enter: isOpenDir, Take: func(_ string, name []byte) bool { return isLeftover(string(name)) }}, take)
	return out, err
}

// cutOff makes a conflict of an unfinished write unless it equals the note.
func (s *store) cutOff(root *rootdir.Dir, id string) (model.StoreConflict, bool) {
	base := leftover.FindStringSubmatch(path.Base(id))[1]
	if dir := path.Dir(id); dir != "." {
		base = dir + "/" + base
	}
	left, m, err := root.Read(id, texts.WholeLimit)
	if err != nil || time.Since(m.Modified) < settled && time.Since(m.Modified) > -settled {
		return model.StoreConflict{}, false
	}
	now, _, err := root.Read(base, texts.WholeLimit)
	if err == nil && string(now) == string(left) {
		return model.StoreConflict{}, false
	}
	c := model.StoreConflict{
		CopyID: id, BaseID: base, Tool: "memdesk", At: m.Modified.UTC(),
		Reason: "a write that was cut off left it: what was to be written, or what stood in the place",
	}
	if errors.Is(err, model.NotFound) {
		c.Reason = "a write or a removal that was cut off left it, and the note is gone"
	}
	return c, true
}

// noteDisplaced records a text that a change displaced, and says so in words.
func (s *store) noteDisplaced(id string, done seam.Changed, at time.Time) (warnings []string) {
	why := "another writer wrote it unseen, between the look and the exchange"
	if done.Overtaken {
		why = "this write was overtaken: another writer's text stands in the place"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range done.Copies {
		s.displaced = append(s.displaced, model.StoreConflict{CopyID: c.Key(), BaseID: id, Tool: "memdesk", Reason: why, At: at})
		warnings = append(warnings, why+"; the other text stands in "+c.Key())
	}
	return warnings
}
