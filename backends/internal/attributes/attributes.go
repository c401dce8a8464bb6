// Package attributes shows the extended attributes that users and programs keep beside a file's
// text as layers of a store, and removes those that name a person. It reads the attributes in
// the user namespace of Linux (xattr(7)) and no others.
package attributes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"memdesk/model"
)

// namespace begins the names of attributes that users may set.
const namespace = "user."

// unlisted ends the layer that stands for attributes that could not be listed.
const unlisted = "(extended attributes)"

// Of adds the attributes of every file that a maintainer opens, and of the directories in which
// files lie whose paths it gives. The id of an attribute's layer is that of the file or directory,
// "." for the store's own, a slash and the attribute's name: no path leads below a file.
func Of(m model.Maintainer) model.Maintainer { return &maintainer{Maintainer: m} }

type maintainer struct {
	model.Maintainer
	mu     sync.Mutex             // of tagged
	tagged map[string][]directory // directories with attributes, by id, as Layers saw them last; nil: not yet
}

// descriptor is an open file on this machine.
type descriptor interface{ Fd() uintptr }

// Layers lists the attributes behind the layers of the store.
func (m *maintainer) Layers(ctx context.Context) ([]model.Layer, error) {
	out, err := m.Maintainer.Layers(ctx)
	if err != nil {
		return nil, err
	}
	type found struct {
		names []string
		err   error
	}
	of := make([]found, len(out))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(out) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				of[i].names, of[i].err = m.names(ctx, out[i])
			}
		})
	}
	wg.Wait()
	if err := model.FromContext(ctx, "layers"); err != nil {
		return nil, err
	}
	for i, f := range of {
		if f.err != nil {
			out = append(out, model.Layer{ID: out[i].ID + "/" + unlisted, Kind: model.LayerDerived, Reason: "its extended attributes cannot be listed: " + f.err.Error()})
		}
		for _, name := range f.names {
			out = append(out, model.Layer{ID: out[i].ID + "/" + name, Kind: model.LayerDerived, Readable: true, ItemID: out[i].ItemID, HeldWith: cmp.Or(out[i].HeldWith, out[i].File)})
		}
	}
	tagged := map[string][]directory{}
	for _, d := range directories(out) {
		names, err := d.names()
		if err != nil {
			out = append(out, model.Layer{ID: d.id + "/" + unlisted, Kind: model.LayerDerived, Reason: "its extended attributes cannot be listed: " + err.Error()})
		}
		for _, name := range names {
			out = append(out, model.Layer{ID: d.id + "/" + name, Kind: model.LayerDerived, Readable: true})
		}
		if len(names) > 0 {
			tagged[d.id] = append(tagged[d.id], d)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tagged = tagged
	return out, nil
}

// names are the attributes of a layer's file; none of one that is another program's, or that
// cannot be opened, which its own layer says.
func (m *maintainer) names(ctx context.Context, l model.Layer) (names []string, err error) {
	if !l.Readable || l.Kind == model.LayerExternal {
		return nil, nil
	}
	if l.File != "" { // of 100,000 files hardly any has one, and each would be opened
		if names, err = listAt(l.File); len(names) == 0 || err != nil {
			return nil, err
		}
	}
	r, err := m.Maintainer.OpenLayer(ctx, l.ID)
	if err != nil {
		return nil, nil
	}
	defer r.Close()
	if f, ok := r.(descriptor); ok {
		return list(int(f.Fd()))
	}
	return nil, nil
}

// OpenLayer reads an attribute's value, or a layer of the store.
func (m *maintainer) OpenLayer(ctx context.Context, id string) (io.ReadCloser, error) {
	var value []byte
	found, err := m.at(ctx, id, func(fd int, name string) (err error) {
		value, err = get(fd, name)
		return err
	})
	if found && !errors.Is(err, model.NotFound) {
		return io.NopCloser(bytes.NewReader(value)), err
	}
	return m.Maintainer.OpenLayer(ctx, id)
}

// at calls use with the file or directory and the name of the attribute whose layer an id is;
// false where it is that of no attribute. The name of a directory may begin like that of an
// attribute.
func (m *maintainer) at(ctx context.Context, id string, use func(fd int, name string) error) (bool, error) {
	for at := 0; ; at++ {
		n := strings.Index(id[at:], "/"+namespace)
		if n < 0 {
			return m.atDirectory(ctx, id, use)
		}
		at += n
		r, err := m.Maintainer.OpenLayer(ctx, id[:at])
		if err != nil {
			continue // a directory
		}
		f, ok := r.(descriptor)
		if ok {
			err = use(int(f.Fd()), id[at+1:])
		}
		_ = r.Close() // it was only read
		if ok {
			return true, err
		}
	}
}

// atDirectory is at for the attributes of directories. It lists the store only where nobody did before: a store may
// have one on every directory.
func (m *maintainer) atDirectory(ctx context.Context, id string, use func(fd int, name string) error) (found bool, err error) {
	end := strings.LastIndex(id, "/"+namespace)
	if end < 0 {
		return false, nil
	}
	tagged := m.known()
	if tagged == nil {
		if _, err := m.Layers(ctx); err != nil {
			return false, err
		}
		tagged = m.known()
	}
	for ; end >= 0; end = strings.LastIndex(id[:end], "/"+namespace) { // the deepest first
		for _, d := range tagged[id[:end]] {
			found = true
			if err = d.open(func(fd int) error { return use(fd, id[end+1:]) }); errors.Is(err, fs.ErrNotExist) {
				err = model.E(model.NotFound, "attributes", err)
			}
			if !errors.Is(err, model.NotFound) {
				return true, err
			}
		}
	}
	return found, err
}

func (m *maintainer) known() map[string][]directory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tagged
}

// Scrub cleans the store's own layers, and removes each attribute whose name or value names
// the person.
func (m *maintainer) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	out, err := m.Maintainer.Scrub(ctx, req)
	if err != nil || req.Concerns == nil || req.SideRows != nil {
		return out, err
	}
	layers := req.Listed
	if layers == nil {
		if layers, err = m.Layers(ctx); err != nil {
			return out, err
		}
	}
	for _, l := range layers {
		if strings.HasSuffix(l.ID, "/"+unlisted) && !req.Dry {
			out = append(out, model.LayerResult{Layer: l.ID, Method: "not looked at", Verdict: model.VerdictUnaudited, Reason: l.Reason})
		}
		if l.File != "" || !strings.Contains(l.ID, "/"+namespace) {
			continue // no attribute
		}
		if r, done := m.remove(ctx, l.ID, req); done && !req.Dry {
			out = append(out, r)
		}
	}
	return out, model.FromContext(ctx, "scrub")
}

// remove removes one attribute; false where nothing of it names the person.
func (m *maintainer) remove(ctx context.Context, id string, req model.ScrubRequest) (out model.LayerResult, done bool) {
	_, err := m.at(ctx, id, func(fd int, name string) error {
		value, err := get(fd, name)
		if err != nil || !req.Concerns(value) && !req.Concerns([]byte(name)) {
			return err
		}
		done = true
		left, may := req.Permits(id, value)
		if !may {
			out = left
			return nil
		}
		out = model.LayerResult{Layer: id, Method: "extended attribute removed", Rows: 1, Verdict: model.VerdictClean}
		return remove(fd, name)
	})
	if err != nil && !errors.Is(err, model.NotFound) {
		return model.LayerResult{Layer: id, Method: "extended attribute removed", Verdict: model.VerdictFailed, Reason: err.Error()}, true
	}
	return out, done
}
