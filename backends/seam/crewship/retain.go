package crewship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/verdicts"
	"memdesk/backends/internal/window"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
	"memdesk/quarantine"
)

// Modes of new files and directories. An agent and its sidecar are two users of one group
// (crewship-disk.md, Ownership), and both write, lock and quarantine: upstream's own 0600 and 0755 fit only
// files of its one process.
const (
	fileMode    = 0o664
	dirMode     = fs.ModeSetgid | 0o775
	privateMode = 0o660 // lock files and quarantine entries
)

// target is the destination of a Retain.
type target struct {
	memory *memoryDir
	label  string
	spec   model.TierSpec
	agent  *memoryDir // the agent whose quarantine keeps a refused text; nil: none
}

func (t target) id() string { return t.memory.prefix + t.label }

// Retain writes one file by Crewship's protocol: its own lock, the cap and the scanner on the resulting
// bytes, an atomic and durable exchange. A refusal leaves the item, its directory and its lock file
// unchanged; a text that the scanner rejected is kept in the agent's quarantine, as the agent's own tools
// do.
func (s *store) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	if err := cmp.Or(checkRetain(req), s.reason.Check("retain")); err != nil {
		return model.RetainResult{}, err
	}
	snap, err := s.survey(ctx, "retain")
	if err != nil {
		return model.RetainResult{}, err
	}
	to, err := s.target(snap, req)
	if err != nil {
		return model.RetainResult{}, err
	}
	defer s.changed()
	res, err := s.write(ctx, to, req)
	var blocked *blockedError
	if errors.As(err, &blocked) {
		return model.RetainResult{}, s.refuse(to, blocked)
	}
	if errors.Is(err, model.NotFound) {
		err = model.Errorf(model.Unavailable, "retain", "the directory went away while it was written to: %w", err)
	}
	return res, err
}

func checkRetain(req model.RetainRequest) error {
	if err := req.Mode.Check(); err != nil {
		return err
	}
	switch {
	case req.Content == "":
		return model.Errorf(model.InvalidInput, "retain", "the content is empty; forget the item instead")
	case !utf8.ValidString(req.Content):
		return model.Errorf(model.InvalidInput, "retain", "the content is not UTF-8 text")
	case len(req.Meta) > 0:
		return model.Errorf(model.InvalidInput, "retain", "this store keeps no metadata fields: front matter is part of the content")
	case req.DataSubjectID != "":
		return model.Errorf(model.Unsupported, "retain", "this store keeps no data-subject keys")
	}
	return nil
}

// target applies the rules of ids, tiers, keys and scopes.
func (s *store) target(snap *snapshot, req model.RetainRequest) (target, error) {
	sel := selection{req.WorkspaceID, req.CrewID, req.AgentID}
	if req.ID != "" {
		return s.targetByID(snap, req, sel)
	}
	return s.targetByTier(snap, req, sel)
}

// nameLimit is the longest name of a new file, in bytes: it leaves room for the agents' temporary names.
const nameLimit = 255 - len(".tmp.0123456789abcdef")

func (s *store) targetByTier(snap *snapshot, req model.RetainRequest, sel selection) (target, error) {
	spec, err := window.Known("retain", s.tiers, req.Tier)
	if err != nil {
		return target{}, err
	}
	if !spec.Writable {
		return target{}, closedTier(spec)
	}
	p, err := s.pick("retain", snap, spec, sel)
	if err != nil {
		return target{}, err
	}
	label, err := s.labelOf(snap, p, spec, req.Key)
	return target{p, label, spec, s.quarantineOf(snap, p, sel)}, err
}

func closedTier(spec model.TierSpec) error {
	return model.Errorf(model.InvalidInput, "retain", "tier %s takes entries from its own writer only; an edit by id with if-match that only removes is accepted", spec.Name)
}

func (s *store) targetByID(snap *snapshot, req model.RetainRequest, sel selection) (target, error) {
	prefix, label, err := s.splitID("retain", req.ID)
	if err != nil {
		return target{}, err
	}
	if !isMemory(label) {
		return target{}, model.Errorf(model.InvalidInput, "retain", "%q is no memory but machinery beside the memories", req.ID)
	}
	p := snap.find(prefix)
	if p == nil {
		return target{}, model.Errorf(model.InvalidInput, "retain", "%q: the store has no %q", req.ID, strings.TrimSuffix(prefix, "/"))
	}
	spec, ok := s.tier(classify(p.kind, label))
	if !ok {
		return target{}, badID("retain", req.ID)
	}
	if err := s.agrees("retain", snap, p, sel); err != nil {
		return target{}, err
	}
	if req.Tier != "" && req.Tier != spec.Name {
		return target{}, model.Errorf(model.InvalidInput, "retain", "%q is of tier %s, not %s", req.ID, spec.Name, req.Tier)
	}
	if req.Key != "" && spec.KeyRule == model.KeyRequired {
		if want, err := s.labelOf(snap, p, spec, req.Key); err != nil || want != label {
			return target{}, model.Errorf(model.InvalidInput, "retain", "key %q is not that of %q", req.Key, req.ID)
		}
	}
	return target{p, label, spec, s.quarantineOf(snap, p, sel)}, nil
}

// quarantineOf is the agent whose directory keeps a refused text: always an agent's, even for a crew's file
// (crewship-disk.md, File formats).
func (s *store) quarantineOf(snap *snapshot, p *memoryDir, sel selection) *memoryDir {
	if p.isAgent() {
		return p
	}
	if sel.agent == "" && s.cfg.Agent == "" {
		return nil
	}
	sel.agent = cmp.Or(sel.agent, s.cfg.Agent)
	for _, q := range snap.memories {
		if q.isAgent() && (p.crew == "" || q.crew == p.crew) && sel.sees(q, snap.names, nil) {
			return q
		}
	}
	return nil
}

// write evaluates the request twice: on the current item, so that a refusal makes no lock file, and again
// under the lock.
func (s *store) write(ctx context.Context, to target, req model.RetainRequest) (model.RetainResult, error) {
	dir, err := s.openForWriting(to.memory)
	if err != nil {
		return model.RetainResult{}, err
	}
	defer func() {
		if dir != nil {
			_ = dir.Close()
		}
	}()
	if _, err := s.evaluate(dir, to, req); err != nil {
		return model.RetainResult{}, err
	}
	if dir == nil {
		if dir, err = s.makeMemory(to.memory); err != nil {
			return model.RetainResult{}, err
		}
	}
	if err := dir.MkdirAll(path.Dir(to.label), dirMode); err != nil {
		return model.RetainResult{}, err
	}
	if lockable(to.label) || !req.Restore { // what forget removed without a lock comes back without one
		lock, err := dir.Lock(ctx, to.label+".lock", privateMode)
		if err != nil {
			return model.RetainResult{}, err
		}
		defer lock.Unlock()
	}
	out, err := s.evaluate(dir, to, req)
	if err != nil {
		return model.RetainResult{}, err
	}
	if err := model.FromContext(ctx, "retain"); err != nil {
		return model.RetainResult{}, err
	}
	if err := dir.Write(to.label, out.data, rootdir.New{Mode: rootdir.Again(fileMode, req.Beside), Inherit: true}); err != nil {
		return model.RetainResult{}, err
	}
	return model.RetainResult{ID: to.id(), Bytes: int64(len(out.data)), Revision: revisionOf(out.data), Warnings: out.warnings}, nil
}

// outcome is the resulting file of a request.
type outcome struct {
	data     []byte
	warnings []string
}

// blockedError carries a rejected text to its quarantine.
type blockedError struct {
	verdict quarantine.Verdict
	text    string
}

func (b *blockedError) Error() string {
	return "the scanner rejects the resulting text: " + b.verdict.Category + "/" + b.verdict.Pattern
}

// evaluate judges one request: revision, cap, scanner, and the rule that cleaning is always possible.
func (s *store) evaluate(dir *rootdir.Dir, to target, req model.RetainRequest) (outcome, error) {
	old, exists, err := current(dir, to.label)
	if err != nil {
		return outcome{}, err
	}
	if err := model.CheckMatch("retain", req.IfMatch, exists, revisionOf(old)); err != nil {
		return outcome{}, err
	}
	if !exists && !req.Restore { // what stood there before may have any name
		if !model.PlainID(to.label) {
			return outcome{}, model.Errorf(model.InvalidInput, "retain", "%q: a new item's name must not hold control, format or invalid characters (R34)", to.label)
		}
		if len(path.Base(to.label)) > nameLimit {
			return outcome{}, model.Errorf(model.InvalidInput, "retain", "the name is too long: at most %d bytes fit", nameLimit)
		}
	}
	out := outcome{data: []byte(req.Content)}
	if req.Mode == model.Append {
		if exists && !utf8.Valid(old) {
			return outcome{}, model.Errorf(model.InvalidInput, "retain", "%q is not UTF-8, so nothing can be appended; replace it as a whole", to.id())
		}
		out.data = append(old[:len(old):len(old)], req.Content...)
	}
	guarded := exists && verdicts.Cleans(req)
	if !to.spec.Writable {
		if !guarded {
			return outcome{}, closedTier(to.spec)
		}
		if err := checkRemoval(to.spec, string(old), req.Content); err != nil {
			return outcome{}, err
		}
	}
	warn, err := checkCap(to.spec, old, out.data, guarded)
	if err != nil {
		return outcome{}, err
	}
	out.warnings = append(out.warnings, warn...)
	verdict, hit := quarantine.Scan(string(out.data))
	if !hit {
		return out, nil
	}
	if guarded && len(quarantine.Added(string(old), string(out.data))) == 0 {
		out.warnings = append(out.warnings, "agents still do not get this item: the scanner rejects "+verdict.Category+"/"+verdict.Pattern+", which was there before")
		return out, nil
	}
	return outcome{}, &blockedError{verdict, string(out.data)}
}

func current(dir *rootdir.Dir, label string) (data []byte, exists bool, err error) {
	if dir == nil {
		return nil, false, nil
	}
	if err := dir.Plain(label); err != nil {
		return nil, false, err
	}
	data, _, err = dir.Read(label, texts.WholeLimit)
	if errors.Is(err, model.NotFound) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// checkCap applies R13 to the resulting bytes.
func checkCap(spec model.TierSpec, old, data []byte, guarded bool) (warnings []string, err error) {
	size := int64(len(data))
	switch {
	case spec.Cap == 0 || size < spec.SoftCap():
		return nil, nil
	case size <= spec.Cap:
		return []string{fmt.Sprintf("%d of %d bytes: %d %% of the cap of tier %s", size, spec.Cap, size*100/spec.Cap, spec.Name)}, nil
	case guarded && size <= int64(len(old)):
		return []string{fmt.Sprintf("still over the cap of tier %s: %d bytes, the cap is %d", spec.Name, size, spec.Cap)}, nil
	}
	return nil, model.Errorf(model.InvalidInput, "retain", "over the cap of tier %s: the item would be %d bytes, the cap is %d", spec.Name, size, spec.Cap)
}

// refuse keeps the rejected text where the agent's own tools would, and names the place.
func (s *store) refuse(to target, b *blockedError) error {
	if to.agent == nil {
		return model.Errorf(model.InvalidInput, "retain", "%w; nothing was written, and no copy was kept because no agent is named", b)
	}
	name, err := s.setAside(to, b)
	if err != nil {
		return model.Errorf(model.InvalidInput, "retain", "%w; nothing was written, and the copy could not be kept: %w", b, err)
	}
	return model.Errorf(model.InvalidInput, "retain", "%w; nothing was written, the text is kept as %s", b, name)
}

// setAside writes the quarantine file byte for byte as upstream does
// (scanner.md, Quarantine file) and returns its id.
func (s *store) setAside(to target, b *blockedError) (string, error) {
	f := quarantine.File{
		QuarantinedAt: s.clock.Now().UTC(), Category: b.verdict.Category, Pattern: b.verdict.Pattern,
		Source: to.label, SHA256: quarantine.Sum(b.text), Body: b.text,
	}
	dir, err := s.openForWriting(to.agent)
	if err != nil {
		return "", err
	}
	if dir == nil {
		if dir, err = s.makeMemory(to.agent); err != nil {
			return "", err
		}
	}
	defer dir.Close()
	if err := dir.MkdirAll(quarantineDir, dirMode); err != nil {
		return "", err
	}
	label := quarantineDir + "/" + quarantine.FileName(f.SHA256)
	if err := dir.Write(label, f.Encode(), rootdir.New{Mode: privateMode, Inherit: true}); err != nil {
		return "", err
	}
	return to.agent.prefix + label, nil
}

// openForWriting opens a memory directory; nil when it is not there yet.
func (s *store) openForWriting(p *memoryDir) (*rootdir.Dir, error) {
	dir, err := s.open(p)
	if errors.Is(err, model.NotFound) && !s.at.single {
		return nil, nil
	}
	return dir, err
}

// makeMemory makes the .memory directory of an agent or crew that the store knows.
func (s *store) makeMemory(p *memoryDir) (*rootdir.Dir, error) {
	root, err := openRoot(p.root, s.cfg.Fault)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.MkdirAll(p.dir, dirMode); err != nil {
		return nil, err
	}
	return s.open(p)
}

// address is the id that a request would write, by the rules alone.
func (s *store) address(req model.RetainRequest) (string, error) {
	s.mu.Lock()
	snap := s.snap
	s.mu.Unlock()
	if snap == nil {
		var err error
		if snap, err = s.survey(context.Background(), "address"); err != nil {
			return "", err
		}
	}
	to, err := s.target(snap, req)
	if err != nil {
		return "", err
	}
	return to.id(), nil
}
