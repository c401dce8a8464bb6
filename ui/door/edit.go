package door

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memdesk/gdpr/suppress"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/undo"
)

// The memory face's messages about a text that was not saved (AD24).
const (
	notSavedHeld   = "Not saved: held for review by the operator (quarantined). Do not retry."
	notSavedErased = "Not saved: the person this is about was erased (suppressed). Do not retry."
)

// maxTogether bounds the files that one command removes or renames.
const maxTogether = 100

// saved turns the outcome of a write into the face's words; done is the message of a success.
func saved(path, done string, err error) (string, error) {
	var held *origin.HeldError
	switch {
	case err == nil:
		return done, nil
	case suppress.Refused(err), origin.IsErased(err):
		return notSavedErased, nil
	case errors.As(err, &held):
		return notSavedHeld, nil
	case errors.Is(err, model.ErrDirectory): // an empty one: no item, and no place for one
		return "", exists(path)
	case model.KindOf(err) == model.Conflict:
		return "", say("conflict: %s changed meanwhile; view it again", path)
	case model.IsRefusal(err):
		return "", readOnly(path)
	}
	return "", err
}

// refusedName is the answer to a name that cannot be given.
func refusedName(err error) (string, error) {
	if origin.IsErased(err) {
		return notSavedErased, nil
	}
	return "", err
}

func readOnly(path string) error    { return say("The path %s is read-only.", path) }
func noFile(path string) error      { return say("The path %s is not a file.", path) }
func exists(path string) error      { return say("File %s already exists", path) }
func missingFile(path string) error { return say("The path %s does not exist", path) }

// writable refuses writes that the tier forbids, and texts that do not fit. What the session or the store forbids, the
// write itself refuses, so that the log has the refusal.
func (c *call) writable(at spot, text string) error {
	switch {
	case !at.tier.Writable || at.tier.Sealed:
		return readOnly(at.path)
	case text == "":
		return say("The file %s would be empty; use delete.", at.path)
	case at.tier.HardCap() > 0 && at.tier.CapUnit == model.CapBytes && int64(len(text)) > at.tier.Cap:
		return say("The file %s would exceed %d bytes.", at.path, at.tier.Cap)
	case len(text) > maxGet:
		return say("The file %s would exceed %d bytes.", at.path, maxGet)
	case len(lines(text)) > maxLines:
		return tooManyLines(at.path, lines(text))
	}
	return nil
}

// existing finds the file of an edit.
func (c *call) existing(ctx context.Context, path string) (spot, model.Item, error) {
	at, err := c.spotOf(path)
	if err != nil {
		return at, model.Item{}, err
	}
	if at.name == "" {
		return at, model.Item{}, noFile(path)
	}
	it, ok, err := c.file(ctx, at)
	if err != nil || ok {
		return at, it, err
	}
	below, more, err := c.entries(ctx, at, at.name+"/", 1)
	switch {
	case err != nil:
	case len(below) > 0:
		err = noFile(path)
	default:
		err = notSeen(path, more)
	}
	return at, it, err
}

// taken reports whether a file or a directory has the name.
func (c *call) taken(ctx context.Context, at spot) (bool, error) {
	_, ok, err := c.file(ctx, at)
	if err != nil || ok {
		return ok, err
	}
	below, _, err := c.entries(ctx, at, at.name+"/", 1)
	return len(below) > 0, err
}

// underFile refuses a new name below one that is a file (AD25). Stores of files refuse it themselves.
func (c *call) underFile(ctx context.Context, to spot) error {
	for i, r := range to.name {
		if r != '/' || !to.assigns() {
			continue
		}
		up := to
		up.name = to.name[:i]
		if _, file, err := c.file(ctx, up); err != nil {
			return err
		} else if file {
			return absent(to.path)
		}
	}
	return nil
}

// place is the address of a new item of a name: the name as an id; where the store makes the ids, or the name is no
// id of the tier, the name with .md or the tier's key. Then named is true: memdesk keeps the name (AD22).
func (c *call) place(ctx context.Context, at spot, text string) (req model.RetainRequest, named bool, err error) {
	req = model.RetainRequest{Tier: at.tier.Name, Content: text, Mode: model.Replace}
	short := strings.TrimSuffix(at.name, ".md")
	if at.assigns() {
		if at.tier.KeyRule == model.KeyRequired {
			req.Key, req.IfMatch = short, model.Absent
		}
		return req, true, nil
	}
	req.IfMatch = model.Absent
	byID := req
	if byID.ID, err = model.DecodeID(at.name); err != nil {
		return byID, false, absent(at.path)
	}
	if at.store.Address == nil {
		return byID, false, nil
	}
	_, err = at.store.Address(byID)
	if err != nil && strings.Contains(at.name, "/") && !strings.HasSuffix(at.name, ".md") { // a tier of texts takes a.json below a directory as a.json.md
		for n, end := 2, ".md"; n < 10; n, end = n+1, fmt.Sprintf("-%d.md", n) { // a file that was renamed keeps its place
			md := byID
			md.ID += end
			if _, merr := at.store.Address(md); merr != nil {
				break
			}
			if _, taken := c.read(ctx, at.store, md.ID); taken != nil {
				return md, true, nil
			}
		}
	}
	if err == nil || at.tier.KeyRule == model.KeyIgnored || strings.Contains(at.name, "/") {
		return byID, false, err
	}
	keys := []string{short, at.name}
	if at.tier.KeyRule == model.KeyOptional {
		keys = append(keys, "")
	}
	for n := 2; n < 10; n++ { // a file that was renamed keeps its key
		keys = append(keys, fmt.Sprintf("%s-%d", short, n))
	}
	for _, req.Key = range keys {
		var id string
		if id, err = at.store.Address(req); err == nil && id != "" {
			byID.ID = id
			_, err = at.store.Address(byID) // the text may say another tier
		}
		if err != nil {
			continue
		}
		if _, taken := c.read(ctx, at.store, id); id != "" && taken == nil {
			err = exists(at.path)
			continue
		}
		if id != "" {
			return byID, true, nil
		}
		return req, true, nil
	}
	return req, false, err
}

func (c *call) create(ctx context.Context, a memoryArgs) (string, error) {
	at, err := c.spotOf(a.Path)
	switch {
	case err != nil:
		return "", err
	case a.FileText == nil:
		return "", model.Errorf(model.InvalidInput, "memory", "create needs file_text")
	case at.depth < 2:
		return "", absent(a.Path)
	case at.name == "":
		return "", exists(a.Path)
	}
	req, named, noPlace := c.place(ctx, at, *a.FileText)
	unlock, err := c.Names.Lock(at.store.Name) // nobody else makes a name in the meantime
	if err != nil {
		return "", err
	}
	defer unlock()
	switch there, err := c.taken(ctx, at); {
	case err != nil:
		return "", err
	case there:
		return "", exists(a.Path)
	}
	if err := c.writable(at, *a.FileText); err != nil {
		return "", err
	}
	if err := c.underFile(ctx, at); err != nil {
		return "", err
	}
	if noPlace != nil {
		return "", noPlace
	}
	if named {
		if err := c.Names.Check(at.name); err != nil {
			return refusedName(err)
		}
	}
	res, _, err := c.Undo.Retain(ctx, at.store, req)
	if err == nil && named {
		if err = c.Names.Set(at.store.Name, at.tier.Name, res.ID, at.name); err != nil { // without its name the agent would write it again
			_, _, undone := c.Undo.Forget(context.WithoutCancel(ctx), at.store, model.ForgetRequest{ID: res.ID, IfMatch: res.Revision})
			err = errors.Join(err, undone)
		}
	}
	if model.KindOf(err) == model.Conflict {
		return "", exists(a.Path)
	}
	return saved(a.Path, "File created successfully at: "+a.Path, err)
}

// rewrite replaces the revision of a file that was read (AD23).
func (c *call) rewrite(ctx context.Context, at spot, it model.Item, text, done string) (string, error) {
	if err := c.writable(at, text); err != nil {
		return "", err
	}
	if it.Has(model.FlagReadOnly) {
		return "", readOnly(at.path)
	}
	_, _, err := c.Undo.Retain(ctx, at.store, model.RetainRequest{ID: it.ID, Content: text, Mode: model.Replace, IfMatch: it.Revision})
	return saved(at.path, done, err)
}

func (c *call) strReplace(ctx context.Context, a memoryArgs) (string, error) {
	at, it, err := c.existing(ctx, a.Path)
	if err != nil {
		return "", err
	}
	if a.OldStr == nil {
		return "", model.Errorf(model.InvalidInput, "memory", "str_replace needs old_str")
	}
	all := lines(it.Body)
	var hits []string
	line := 0
	for i, l := range all {
		if strings.Contains(l, *a.OldStr) {
			hits, line = append(hits, strconv.Itoa(i+1)), i
		}
	}
	switch len(hits) {
	case 0:
		return "", say("No replacement was performed, old_str `%s` did not appear verbatim in %s.", *a.OldStr, a.Path)
	case 1:
	default:
		return "", say("No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. Please ensure it is unique", *a.OldStr, strings.Join(hits, ", "))
	}
	all[line] = strings.Replace(all[line], *a.OldStr, a.NewStr, 1)
	text := strings.Join(all, "\n")
	now := lines(text)
	done := "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" + numbered(now, max(1, line-1), min(len(now), line+3))
	return c.rewrite(ctx, at, it, text, done)
}

func (c *call) insert(ctx context.Context, a memoryArgs) (string, error) {
	at, it, err := c.existing(ctx, a.Path)
	if err != nil {
		return "", err
	}
	all := lines(it.Body)
	n := 0
	if a.InsertLine != nil {
		n = *a.InsertLine
	}
	if n < 0 || n > len(all) {
		return "", say("Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", n, len(all))
	}
	all = slices.Insert(all, n, strings.TrimSuffix(a.InsertText, "\n"))
	return c.rewrite(ctx, at, it, strings.Join(all, "\n"), "The file "+a.Path+" has been edited.")
}

// below are the files of a path: the one with that name, or those under it.
func (c *call) below(ctx context.Context, at spot) (files []entry, directory bool, err error) {
	it, ok, err := c.file(ctx, at)
	if err != nil {
		return nil, false, err
	}
	if ok {
		return []entry{{name: at.name, id: it.ID}}, false, nil
	}
	files, more, err := c.entries(ctx, at, at.name+"/", maxTogether+1)
	switch {
	case err != nil:
		return nil, true, err
	case len(files) == 0 && more:
		return nil, true, notSeen(at.path, more)
	case len(files) == 0:
		return nil, true, missingFile(at.path)
	case more && len(files) <= maxTogether:
		return nil, true, say("The directory %s may hold more files than those among the first %d items of its tier; take its files one by one.", at.path, maxEntries)
	case len(files) > maxTogether:
		return nil, true, say("The directory %s holds more than %d files; take its parts one by one.", at.path, maxTogether)
	}
	return files, true, nil
}

func (c *call) remove(ctx context.Context, a memoryArgs) (string, error) {
	at, err := c.moved(a.Path, "delete")
	if err != nil {
		return "", err
	}
	files, _, err := c.below(ctx, at)
	if err != nil {
		return "", err
	}
	var changes []undo.Change
	for _, f := range files {
		changes = append(changes, undo.Change{Forget: &model.ForgetRequest{ID: f.id}})
	}
	if len(changes) == 1 {
		_, _, err = c.Undo.Forget(ctx, at.store, *changes[0].Forget)
	} else {
		_, _, err = c.Undo.Together(ctx, at.store, model.OpForget, changes)
	}
	if err == nil {
		c.unname(at, files)
	}
	return saved(a.Path, "Successfully deleted "+a.Path, err)
}

// unname calls files that are gone by their ids again: in a store that does not make the ids, another item may get one.
func (c *call) unname(at spot, files []entry) {
	for _, f := range files {
		if _, named := c.Names.Name(at.store.Name, at.tier.Name, f.id); named && !at.assigns() {
			_ = c.Names.Set(at.store.Name, at.tier.Name, f.id, nameByID(f.id)) // the file is gone, whatever it is called
		}
	}
}

func (c *call) rename(ctx context.Context, a memoryArgs) (string, error) {
	from, err := c.moved(a.OldPath, "rename")
	if err != nil {
		return "", err
	}
	to, err := c.moved(a.NewPath, "rename")
	if err != nil {
		return "", err
	}
	_, named, _ := c.place(ctx, to, "")
	unlock, err := c.Names.Lock(to.store.Name)
	if err != nil {
		return "", err
	}
	defer unlock()
	files, directory, err := c.below(ctx, from)
	if err != nil {
		return "", err
	}
	switch there, err := c.taken(ctx, to); {
	case err != nil:
		return "", err
	case there:
		return "", say("The destination %s already exists", a.NewPath)
	case to.store.Name != from.store.Name:
		return "", say("Cannot rename from one store to another: create the file there, then delete it here")
	case !to.tier.Writable:
		return "", readOnly(a.NewPath)
	}
	if err := c.underFile(ctx, to); err != nil {
		return "", err
	}
	target := func(f entry) string {
		if directory {
			return to.name + strings.TrimPrefix(f.name, from.name)
		}
		return to.name
	}
	unnamed := func(f entry) bool {
		_, ok := c.Names.Name(from.store.Name, from.tier.Name, f.id)
		return !ok
	}
	if from.tier.Name == to.tier.Name && (from.assigns() || named && !slices.ContainsFunc(files, unnamed)) {
		if to.store.ReadOnly || c.Unwritable() != "" { // no write of the store refuses it
			return "", readOnly(a.NewPath)
		}
		for _, f := range files {
			if err := c.Names.Rename(ctx, from.store.Name, from.tier.Name, f.id, target(f)); err != nil {
				return refusedName(err)
			}
		}
		return "Successfully renamed " + a.OldPath + " to " + a.NewPath, nil
	}
	err = c.move(ctx, from, to, files, target)
	return saved(a.NewPath, "Successfully renamed "+a.OldPath+" to "+a.NewPath, err)
}

// moved is what a command deletes or renames, or the new name.
func (c *call) moved(path, verb string) (spot, error) {
	at, err := c.spotOf(path)
	var f *faceError
	switch {
	case errors.As(err, &f) && f.text == absent(path).Error():
		return at, missingFile(path)
	case err != nil:
		return at, err
	case at.name == "":
		return at, say("Cannot %s the %s directory itself", verb, strings.TrimRight(path, "/"))
	}
	return at, nil
}

// move writes the files under their new ids and forgets the old ones, as one act.
func (c *call) move(ctx context.Context, from, to spot, files []entry, target func(entry) string) error {
	if from.assigns() || to.assigns() {
		return say("Cannot rename from one tier of this store to another: create the file there, then delete it here")
	}
	var changes []undo.Change
	names := map[int]string{} // to keep, by the place of the change
	for _, f := range files {
		it, err := c.read(ctx, from.store, f.id)
		if err != nil {
			return err
		}
		at := to
		at.name = target(f)
		req, named, err := c.place(ctx, at, it.Body)
		if err == nil && req.ID != "" {
			if _, rerr := from.store.Browser.Read(ctx, req.ID); rerr == nil { // one that no agent may see
				return say("The destination %s already exists", to.path)
			}
		}
		if err == nil && named {
			names[len(changes)], err = at.name, c.Names.Check(at.name)
		}
		if err != nil {
			return err
		}
		changes = append(changes, undo.Change{Retain: &req}, undo.Change{Forget: &model.ForgetRequest{ID: f.id, IfMatch: it.Revision}})
	}
	made, _, err := c.Undo.Together(ctx, from.store, undo.OpRename, changes)
	if err == nil {
		c.unname(from, files)
	}
	for i, name := range names {
		if err == nil {
			err = c.Names.Set(to.store.Name, to.tier.Name, made[i].ID, name)
		}
	}
	return err
}
