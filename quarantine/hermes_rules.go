package quarantine

import (
	"regexp"
	"strings"
	"sync"
)

// Notation of the patterns, as in their table (hermes-scan.md, Notation): ␣ is white
// space, ␠ one character of it, ω a word character, ⟨w⟩ up to eight words, ‹ and › the
// borders of a word.
var hermesNotation = strings.NewReplacer(
	"⟨w⟩", `(?:`+hermesWord+`+`+hermesBlank+`+){0,8}`,
	"␣", hermesBlank+`+`, "␠", hermesBlank, "ω", hermesWord,
	"‹", `(?:\A|[^\p{L}\p{N}_])`, "›", `(?:[^\p{L}\p{N}_]|\z)`,
)

const (
	hermesBlank = `[\s\x0b\x1c-\x1f\x{85}\p{Z}]`
	hermesWord  = `[\p{L}\p{N}_]`
)

// hermesCase adds the two letters that Python takes for an i when it ignores case, and Go does not.
var hermesCase = strings.NewReplacer("i", "[iıİ]", "I", "[iıİ]")

func hermesPattern(p string) expression {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?i)" + hermesNotation.Replace(hermesCase.Replace(p)))
	})
}

func pattern(category, name, p string) hermesRule {
	return hermesRule{category: category, name: name, re: hermesPattern(p)}
}

// apart is a pattern of two parts with a gap between them.
func apart(category, name, head, tail string, g hermesGap) hermesRule {
	g.head, g.tail = hermesPattern(head), hermesPattern(tail)
	return hermesRule{category: category, name: name, gap: &g}
}

// onLine is a gap after white space, without a line break.
func onLine(most int) hermesGap { return hermesGap{before: true, most: most, stop: '\n'} }

// betweenSpaces is onLine with white space before the tail too.
func betweenSpaces(most int) hermesGap {
	return hermesGap{before: true, after: true, most: most, stop: '\n'}
}

const (
	secretVariable = `\$\{?ω*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)S?›`
	modify         = `(?:update|modify|edit|write|change|append|add␣to)`
)

var commentWord = hermesPattern(`ignore|override|system|secret|hidden`)

// hermesRules are the patterns for memory entries in the order of their table.
var hermesRules = []hermesRule{
	pattern("injection", "prompt_injection", `ignore␣⟨w⟩(?:previous|all|above|prior)␣⟨w⟩instructions`),
	pattern("injection", "sys_prompt_override", `system␣prompt␣override`),
	pattern("injection", "disregard_rules", `disregard␣⟨w⟩(?:your|all|any)␣⟨w⟩(?:instructions|rules|guidelines)`),
	pattern("injection", "bypass_restrictions", `act␣as␣(?:if|though)␣⟨w⟩you␣⟨w⟩(?:have␣no|don't␣have)␣⟨w⟩(?:restrictions|limits|rules)`),
	{category: "injection", name: "html_comment_injection"}, // findComment
	apart("injection", "hidden_div", `<␠*div␣style␠*=␠*["']`, `display␠*:␠*none`, hermesGap{most: 2048, stop: '>'}),
	apart("injection", "translate_execute", `translate`, `into␣ω+(?:(?:␣|-)ω+){0,2}␣and␣(?:execute|run|eval)›`, betweenSpaces(512)),
	pattern("injection", "deception_hide", `do␣not␣⟨w⟩tell␣⟨w⟩the␣user`),
	pattern("identity_hijack", "role_hijack", `you␣are␣⟨w⟩now␣(?:a|an|the)␣`),
	pattern("identity_hijack", "role_pretend", `pretend␣⟨w⟩(?:you␣are|to␣be)␣`),
	pattern("identity_hijack", "leak_system_prompt", `output␣⟨w⟩(?:system|initial)␣prompt`),
	pattern("identity_hijack", "remove_filters", `(?:respond|answer|reply)␣without␣⟨w⟩(?:restrictions|limitations|filters|safety)`),
	pattern("identity_hijack", "fake_update", `you␣have␣been␣⟨w⟩(?:updated|upgraded|patched)␣to`),
	pattern("identity_hijack", "identity_override", `‹name␣yourself␣ω`),
	pattern("promptware", "c2_node_registration", `register␣(?:as␣)?a?␠*node`),
	pattern("promptware", "c2_heartbeat", `(?:heartbeat|beacon|check(?:␠|-)?in)␣(?:to|with)␣`),
	pattern("promptware", "c2_task_pull", `pull␣(?:down␣)?(?:new␣)?(?:tasks|tasking|task)›`),
	pattern("promptware", "c2_network_connect", `connect␣to␣the␣network›`),
	pattern("promptware", "forced_action", `you␣must␣(?:ω+␣){0,3}(?:register|connect|report|beacon)›`),
	pattern("promptware", "anti_forensic_oneliner", `only␣use␣one(?:␠|-)?liners?›`),
	pattern("promptware", "anti_forensic_disk", `never␣⟨w⟩(?:create|write)␣⟨w⟩(?:script|file)␣⟨w⟩disk`),
	pattern("promptware", "env_var_unset_agent", `unset␣ω*(?:CLAUDE|CODEX|HERMES|AGENT|OPENAI|ANTHROPIC)`),
	pattern("c2_framework", "known_c2_framework", `‹(?:cobalt␠*strike|sliver|havoc|mythic|metasploit|brainworm)›`),
	pattern("c2_framework", "c2_explicit", `‹c2␣(?:server|channel|infrastructure|beacon)›`),
	pattern("c2_framework", "c2_explicit_long", `‹command␣and␣control›`),
	apart("exfiltration", "exfil_curl", `curl`, secretVariable, onLine(2048)),
	apart("exfiltration", "exfil_wget", `wget`, secretVariable, onLine(2048)),
	apart("exfiltration", "read_secrets", `cat`, `\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc`, onLine(2048)),
	apart("exfiltration", "send_to_url", `send|post|upload|transmit`, `(?:to|at)␣https?://`, betweenSpaces(2048)),
	pattern("exfiltration", "context_exfil", `(?:include|output|print|share)␣⟨w⟩(?:conversation|chat␣history|previous␣messages|full␣context|entire␣context)`),
	pattern("persistence", "ssh_backdoor", `authorized_keys`),
	pattern("persistence", "ssh_access", `(?:\$HOME|~)/\.ssh`),
	pattern("persistence", "hermes_env", `(?:\$HOME|~)/\.hermes/\.env`),
	apart("persistence", "agent_config_mod", modify, `AGENTS\.md|CLAUDE\.md|\.cursorrules|\.clinerules`, onLine(2048)),
	apart("persistence", "hermes_config_mod", modify, `\.hermes/(?:config\.yaml|SOUL\.md)`, onLine(2048)),
	pattern("secret", "hardcoded_secret", `(?:api[_-]?key|token|secret|password)␠*[=:]␠*["'][A-Za-z0-9+/=_-]{20,}`),
}
