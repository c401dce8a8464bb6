package conflict_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"memdesk/backends/seam"
	"memdesk/model"
)

// folderStore is a store over a directory with only the facets that the workflow needs: a Provider, a Browser
// and the names.
type folderStore struct {
	root string
	tree seam.Tree
}

func openFolder(t testing.TB, root string, fault seam.Fault) model.Store {
	t.Helper()
	d, err := seam.OpenDir(root, seam.DirOptions{Fault: fault})
	if err != nil {
		t.Fatal(err)
	}
	f := &folderStore{root: root, tree: d}
	return model.Store{Name: "s", Kind: "folder", Location: root, Provider: f, Browser: f, Names: f,
		Tiers:    []model.TierSpec{{Name: "notes", KeyRule: model.KeyRequired, Writable: true, Document: model.Opaque}},
		Features: map[string]bool{"binary": true}}
}

func (f *folderStore) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	at, err := f.tree.Resolve(req.ID)
	if err != nil {
		return model.RetainResult{}, err
	}
	if _, absent := f.Read(ctx, at.Key()); absent != nil && !req.Restore && !model.PlainID(req.ID) { // R34, as in every text tree
		return model.RetainResult{}, model.Errorf(model.InvalidInput, "retain", "no name of a new item")
	}
	if req.Binary && !utf8.ValidString(req.Content) {
		err = f.writeBytes(ctx, at, req)
	} else {
		_, err = f.tree.(*seam.Dir).WriteIf(ctx, at, req.Content, req.IfMatch)
	}
	return model.RetainResult{ID: at.Key(), Bytes: int64(len(req.Content)), Revision: seam.RevisionOf(req.Content)}, err
}

func (f *folderStore) writeBytes(ctx context.Context, at seam.Locator, req model.RetainRequest) error {
	it, err := f.Read(ctx, at.Key())
	if err := model.CheckMatch("retain", req.IfMatch, err == nil, it.Revision); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.root, at.Key()), []byte(req.Content), 0o644)
}

func (f *folderStore) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	at, err := f.tree.Resolve(req.ID)
	if err != nil {
		return model.ForgetResult{}, err
	}
	was, err := f.tree.Remove(ctx, at, req.IfMatch)
	if was {
		return model.ForgetResult{Removed: 1}, err
	}
	return model.ForgetResult{}, err
}

func (f *folderStore) Recall(context.Context, model.RecallRequest) (model.RecallResult, error) {
	return model.RecallResult{}, model.Errorf(model.Unsupported, "recall", "not here")
}

func (f *folderStore) Health(context.Context) model.HealthStatus { return model.HealthStatus{OK: true} }

func (f *folderStore) Names(_ context.Context, yield func(string) bool) ([]string, error) {
	err := filepath.WalkDir(f.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(f.root, p)
		if !yield(filepath.ToSlash(rel)) {
			return fs.SkipAll
		}
		return nil
	})
	return nil, err
}

func (f *folderStore) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	var page model.Page
	_, err := f.Names(ctx, func(id string) bool {
		page.Items = append(page.Items, model.Header{ID: id})
		return true
	})
	page.Total.N = int64(len(page.Items))
	return page, err
}

func (f *folderStore) Read(ctx context.Context, id string) (model.Item, error) {
	at, err := f.tree.Resolve(id)
	if err != nil {
		return model.Item{}, err
	}
	body, err := f.tree.Read(ctx, at)
	if err != nil {
		return model.Item{}, err
	}
	h := model.Header{ID: id, Tier: "notes", Title: id, Bytes: int64(len(body)), Revision: seam.RevisionOf(body)}
	if !utf8.ValidString(body) {
		h.Flags = []model.Flag{model.FlagBinary}
	}
	return model.Item{Header: h, Body: body}, nil
}

func (f *folderStore) Tiers(context.Context) ([]model.TierCount, error) { return nil, nil }

// write fills a folder from a map of names to texts.
func write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// files reads a folder back.
func files(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		rel, _ := filepath.Rel(root, p)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
