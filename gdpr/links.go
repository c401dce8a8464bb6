package gdpr

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"memdesk/gdpr/subject"
	"memdesk/model"
)

// secondName adds the row about the further names of a file, where it has any: memdesk does not know where they are
// (erasure-physical.md, Files).
func (sp *StorePlan) secondName(l model.Layer) {
	if l.Links == 0 {
		return
	}
	why := "the file has a second name"
	if l.Links > 1 {
		why = fmt.Sprintf("the file has a second name and %d more", l.Links-1)
	}
	sp.leave(l.ID, layerLink, why+": what is removed or rewritten here keeps its old text there; find it by its inode and remove it")
}

// keepLinks copies the rows about second names and old versions from an older plan of the same request: the
// item's removal here removes neither.
func (d *Desk) keepLinks(p *Plan) {
	old, err := d.earlier(p.Request)
	if err != nil {
		return
	}
	for _, was := range old.Stores {
		at := slices.IndexFunc(p.Stores, func(s StorePlan) bool { return s.Store == was.Store && slices.Contains(s.places(), was.Where) })
		if at < 0 {
			continue
		}
		now := &p.Stores[at]
		for _, st := range was.Steps {
			if (st.Layer == layerLink || st.Layer == layerVersion) && !slices.ContainsFunc(now.Steps, func(o Step) bool { return o.Layer == st.Layer && o.ID == st.ID }) {
				now.Steps = append(now.Steps, st)
			}
		}
	}
}

// leads reports whether a symbolic link's own text, the path that it leads to, names the subject.
func leads(m *subject.Matcher, l model.Layer) bool {
	if l.Kind != model.LayerExternal || !strings.HasSuffix(l.Reason, model.LinkReason) || l.File == "" {
		return false
	}
	to, err := os.Readlink(l.File)
	return err == nil && m.Names(to)
}

// whyLeft is a layer's reason; for a symbolic link whose path names the subject it also says what to do: the
// link holds no text, but its path names the subject.
func whyLeft(m *subject.Matcher, l model.Layer) string {
	switch {
	case l.Reason == model.LinkReason && !m.Names(l.ID) && leads(m, l):
		return "the path that it leads to names the person: remove the link by hand, or lead it elsewhere; it is " + l.Reason
	case l.Kind != model.LayerExternal || l.Reason != model.LinkReason || !m.Names(l.ID):
		return l.Reason
	case m.Names(path.Base(l.ID)):
		return "its own name names the person: remove the link by hand; it is " + l.Reason
	}
	return "a directory above it names the person: remove the link by hand, and the directory when it is empty; it is " + l.Reason
}
