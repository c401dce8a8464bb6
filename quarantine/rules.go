package quarantine

import (
	"regexp"
	"sync"
)

// The categories upstream records.
const (
	categoryInjection   = "prompt_injection"
	categoryExfil       = "exfiltration"
	categoryPersistence = "persistence"
	categoryInvisible   = "invisible_unicode"
	categoryBase64      = "base64_obfuscation"
)

// Suffixes of a pattern that matched in another view than the raw text.
const (
	suffixFolded = "_homoglyph"
	suffixBase64 = "_base64"
)

// expression is compiled on first use: most commands scan nothing.
type expression func() *regexp.Regexp

func expr(p string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(p) })
}

// rule is one row of the table in scanner.md. need is a cheap necessary
// condition: it may be true without a match, and must be true for every match.
type rule struct {
	category, name string
	need           hint
	re             expression
}

// Parts that several rules share.
const (
	secretNames = `TOKEN|API_KEY|SECRET|PASSWORD|CREDENTIAL|AUTH`
	urlStart    = `https?://[^\s?]+`
	urlSecret   = `\$\{?(?i:` + secretNames + `|ENV)\b`
)

// upstreamRules is the table of crewship-5c41c31ea237 in its order, which decides the verdict.
// Go's regexp is RE2, as upstream's: \s and \b are ASCII, (?i) folds U+017F and
// U+212A.
var upstreamRules = []rule{
	// tells the agent to ignore its previous, prior or all instructions
	{categoryInjection, "ignore_previous_instructions", needIgnore,
		expr(`(?i)\bignore\s+(?:all|prior|previous)\s+instructions\b`)},
	// tells the agent that it is now somebody else: DAN, or an assistant without limits
	{categoryInjection, "you_are_now", needYouAreNow,
		expr(`(?i)\byou\s+are\s+now\s+(?:DAN|[A-Z]{2,},\s*an?\s+(?:AI|assistant|model)\s+without)`)},
	// tells the agent to disregard its rules, its instructions or the text above
	{categoryInjection, "disregard_rules", needRegard,
		expr(`(?i)\bdisregard\s+(?:rules|instructions|the\s+(?:above|previous|system))\b`)},
	// the word "ignore" between the start of an HTML comment and the end of one
	{categoryInjection, "html_ignore_comment", needComment,
		expr(`(?is)<!--.*?\bignore\b.*?-->`)},
	// a curl command with a variable that holds a secret
	{categoryExfil, "curl_with_token", needCurl,
		expr(`curl[^\n]*\$(?:` + secretNames + `)`)},
	// the .env file sent on to a network tool
	{categoryExfil, "cat_env_pipe_network", needEnv,
		expr(`(?i)\bcat\s+\.env\b[^\n]*[>|][^\n]*(?:/dev/tcp|nc\b|curl|netcat|http)`)},
	// SSH keys or AWS credentials copied to S3
	{categoryExfil, "aws_s3_exfil_ssh", needAWS,
		expr(`(?i)\baws\s+s3\s+cp[^\n]*(?:\.ssh|id_rsa|id_ed25519|\.aws/credentials)\b`)},
	// a key appended to the SSH authorized_keys file
	{categoryPersistence, "authorized_keys_append", needKeys,
		expr(`>>\s*~?/?\.ssh/authorized_keys\b`)},
	// a cron table installed from a pipe
	{categoryPersistence, "crontab_register", needCrontab,
		expr(`\|\s*crontab\s+-(?:\s|$)`)},
	// a web address with a secret variable as the value of its first parameter
	{categoryExfil, "url_exfil_query_token", needQuery,
		expr(urlStart + `\?[^\s=]+=` + urlSecret)},
	// a web address with a secret variable in its path
	{categoryExfil, "url_exfil_path_token", needPath,
		expr(urlStart + `/` + urlSecret)},
}
