package tui

import (
	"cmp"
	"strings"

	"memdesk/ui/tui/kit/paint"
)

// look is how the screen is painted now.
type look struct {
	dark  bool // the terminal's background
	paint paint.Looks
}

// looksOf applies the rules for colour and character set (DESIGN.md, console).
func looksOf(o Options) paint.Looks {
	env := environment(o.Environ)
	theme, ok := paint.ThemeNamed(o.Theme)
	if !ok {
		theme = paint.ThemeAuto
	}
	dumb := env["TERM"] == "dumb"
	_, charset, named := strings.Cut(cmp.Or(env["LC_ALL"], env["LC_CTYPE"], env["LANG"]), ".")
	charset, _, _ = strings.Cut(charset, "@")
	charset = strings.ToLower(strings.ReplaceAll(charset, "-", ""))
	foreign := named && charset != "utf8"
	return paint.Looks{
		Colour: !o.Plain && !o.NoColor && env["NO_COLOR"] == "" && !dumb,
		Ascii:  o.Plain || o.ASCII || dumb || foreign,
		Bare:   o.Plain,
		Theme:  theme,
	}
}

func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env[k] = v
		}
	}
	return env
}
