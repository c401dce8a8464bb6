package attributes

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/model"
)

// directory is one in which files of a store lie. It is opened from the store's own one, which no
// symbolic link leads out of.
type directory struct {
	id   string // its path from the store's directory; "." is that itself
	root string // the absolute path of the store's directory
}

// directories are those of the layers whose files' paths end as their ids do, in order.
func directories(layers []model.Layer) []directory {
	seen := map[directory]bool{}
	for _, l := range layers {
		root, ok := strings.CutSuffix(filepath.ToSlash(l.File), "/"+l.ID)
		if !ok || l.ID == "" || l.Kind == model.LayerExternal {
			continue
		}
		for dir := path.Dir(l.ID); ; dir = path.Dir(dir) {
			d := directory{dir, filepath.FromSlash(root)}
			if seen[d] {
				break
			}
			if seen[d] = true; dir == "." {
				break
			}
		}
	}
	var out []directory
	for d := range seen {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b directory) int { return strings.Compare(a.root+"\x00"+a.id, b.root+"\x00"+b.id) })
	return out
}

// names are the directory's attributes; hardly any has one, and the others are not opened.
func (d directory) names() (names []string, err error) {
	if names, err = listAt(filepath.Join(d.root, filepath.FromSlash(d.id))); len(names) == 0 || err != nil {
		return nil, err
	}
	err = d.open(func(fd int) error {
		names, err = list(fd)
		return err
	})
	return names, err
}

func (d directory) open(use func(fd int) error) error {
	r, err := os.OpenRoot(d.root)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := r.Open(filepath.FromSlash(d.id))
	if err != nil {
		return err
	}
	defer f.Close()
	return use(int(f.Fd()))
}
