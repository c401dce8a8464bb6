// Package origin knows who wrote what: it records the writer of every change with the item's reference and
// revision, holds back writes that wait for an operator, and takes back the writes of one source. The records
// are files of the state directory that an erasure reaches.
package origin

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// The levels of trust (agents-door.md AD17).
const (
	Trusted   = "trusted"
	Untrusted = "untrusted"
)

// The channels of a source; any other word is Unknown (AD16).
const (
	User    = "user"
	Tool    = "tool"
	Web     = "web"
	Agent   = "agent"
	Unknown = "unknown"
)

// Contract is the face of agents that call the Provider contract.
const Contract = "provider"

// maxDetail bounds a client's claims about itself and its source, in bytes.
const maxDetail = 200

// Writer is the author of a change: memdesk's knowledge of the caller, and the caller's claims. All but
// Actor, Face and Trust come from the caller and are hostile.
type Writer struct {
	Actor   string `json:"actor"` // name of the token or of the operator
	Client  string `json:"client,omitempty"`
	Version string `json:"client_version,omitempty"`
	Session string `json:"session,omitempty"`
	Face    string `json:"face"` // mcp, memory, provider, cli, console
	Channel string `json:"channel"`
	Detail  string `json:"detail,omitempty"`
	Trust   string `json:"trust"`

	// Agent is set for writers behind a door: their writes are scanned and may wait for an operator.
	Agent bool `json:"-"`
}

// Source is the writer's claim as it was given.
func (w Writer) Source() string {
	if w.Detail == "" {
		return w.Channel
	}
	return w.Channel + ":" + w.Detail
}

// WithSource sets channel and detail from a claim "CHANNEL[:DETAIL]".
func (w Writer) WithSource(claim string) Writer {
	channel, detail, _ := strings.Cut(claim, ":")
	switch channel {
	case User, Tool, Web, Agent, Unknown:
		w.Channel, w.Detail = channel, Clip(detail)
	default:
		w.Channel, w.Detail = Unknown, Clip(claim)
	}
	return w
}

// Clip bounds a caller's words.
func Clip(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	return strings.ToValidUTF8(s[:maxDetail], "")
}

// Row is one write in the ledger.
type Row struct {
	Store    string         `json:"store"`
	ID       string         `json:"id"`
	Revision model.Revision `json:"revision"` // Absent after a forget; empty where it is not known whether the change was made
	// Created says that this write created the item.
	Created bool `json:"created,omitempty"`
	Writer
	At time.Time `json:"at"`
}

// Made reports whether a source made the write: source must equal one of its names as a whole, never a part
// (AD20).
func (r Row) Made(source string) bool {
	return source != "" && slices.Contains([]string{r.Actor, r.Client, r.Client + "/" + r.Version, r.Session, "channel:" + r.Channel, r.Source()}, source)
}

// Words describe the origin of a text to a reader: channel, trust, actor and time.
func (r Row) Words() string {
	return safetext.Sprintf("%s/%s by %s at %s", r.Channel, r.Trust, r.Actor, r.At.UTC().Format(time.RFC3339)).String()
}

type writerKey struct{}

// Program is the client with its version.
func (w Writer) Program() string {
	if w.Version == "" {
		return w.Client
	}
	return w.Client + "/" + w.Version
}

// Line is a writer on one line, for the audit log: client, session and source. The record itself has the
// actor.
func (w Writer) Line() string {
	var out []string
	for _, p := range []struct{ name, value string }{{"face", w.Face}, {"client", w.Program()}, {"session", w.Session}, {"source", w.Source()}, {"trust", w.Trust}} {
		if p.value != "" {
			out = append(out, p.name+" "+p.value)
		}
	}
	return strings.Join(out, ", ")
}

// With sets the writer of the changes made under ctx.
func With(ctx context.Context, w Writer) context.Context {
	return context.WithValue(ctx, writerKey{}, w)
}

// From is the writer under ctx.
func From(ctx context.Context) (Writer, bool) {
	w, ok := ctx.Value(writerKey{}).(Writer)
	return w, ok
}

type restoringKey struct{}

// Restoring marks the changes made under ctx as bringing back an earlier text, whose writer stays its
// writer: an undo by the operator must not make an agent's text trusted.
func Restoring(ctx context.Context) context.Context {
	return context.WithValue(ctx, restoringKey{}, true)
}

type passedKey struct{}

// PassingOn marks the changes made under ctx as copies of an item: a copy by the operator must not make an
// agent's text trusted. w is that of the item, nil where nobody knows it.
func PassingOn(ctx context.Context, w *Written) context.Context {
	return context.WithValue(ctx, passedKey{}, w)
}

// Instructs reports whether the text of a tier is loaded as instructions, so that nothing untrusted may enter
// it unseen (AD12).
func Instructs(tier string) bool {
	name := folded(path.Base(tier)) // a tier of a server is STORE/TIER
	switch strings.TrimSuffix(name, ".md") {
	case "agent", "agents", "crew", "persona", "pins", "memory", "user", "claude", "soul", "identity":
		return true
	}
	return name == "index" || name == "instructions" || name == "crew-pins"
}

// InstructsBy reports whether an item is a file that programs load by themselves, as instructions or as their
// settings, whatever its tier is called. Case does not count: a volume may ignore it.
func InstructsBy(id string) bool {
	id = folded(id)
	name := id[strings.LastIndexByte(id, '/')+1:]
	for _, variant := range []string{".local.md", ".override.md"} { // read beside the plain file, or instead of it
		if base, ok := strings.CutSuffix(name, variant); ok {
			name = base + ".md"
		}
	}
	switch {
	case strings.HasPrefix(name, "."): // .cursorrules, .mcp.json, .envrc, .gitattributes: editors, agents, shells, git and sync tools
		return true
	case slices.Contains(strings.Split(id, "/"), "_always-load"): // AgentM, in every session
		return true
	}
	switch name {
	case "storage-rules.md": // AgentM's filing contract; without a readable one it files nothing
		return true
	case "agent.md", "agents.md", "crew.md", "persona.md", "pins.md", "memory.md", "user.md", "claude.md", "gemini.md", "qwen.md", "hermes.md",
		"copilot-instructions.md", "skill.md", "soul.md", "identity.md", "tools.md", "heartbeat.md", "bootstrap.md":
		return true
	}
	return false
}

// folded drops the case of a name as volumes do that ignore it: with ſ as s and the Kelvin sign as k.
func folded(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// instructs is InstructsBy of a write's item. Where only the store knows the id, the key stands for it, also
// with the suffix that the store may add.
func instructs(id, key string) bool {
	return InstructsBy(id) || id == "" && key != "" && (InstructsBy(key) || InstructsBy(key+".md"))
}

var alwaysLoad = regexp.MustCompile(`(?im)^always_load[ \t]*:[ \t]*["']?(true|yes|on|1)\b`)

// loadsItself reports whether a text's front matter asks for every session, as AgentM's notes do. Programs disagree where
// a front matter ends, and the gate must hold for each: it ends at a line of three hyphens alone, with a line before it,
// which all of them take, and with no such line it is the whole text.
func loadsItself(text string) bool {
	first, rest, _ := strings.Cut(strings.TrimPrefix(text, "\ufeff"), "\n")
	fence := "\n---\n"
	if strings.HasSuffix(first, "\r") {
		fence = "\n---\r\n"
	}
	front, _, _ := strings.Cut(rest, fence)
	return strings.HasPrefix(first, "---") && alwaysLoad.MatchString(front)
}
