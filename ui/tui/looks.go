package tui

import "strings"

// looks is how the screen may be painted, from options and environment.
type looks struct {
	colour, ascii, bare bool
	theme               string
	spoken              bool // lines are said instead of drawn
}

// looksOf applies the rules for colour and character set (DESIGN.md, console).
func looksOf(o Options) looks {
	env := environment(o.Environ)
	theme, ok := themeNamed(o.Theme)
	if !ok {
		theme = ThemeAuto
	}
	dumb := env["TERM"] == "dumb"
	locale := env["LC_ALL"]
	if locale == "" {
		locale = env["LC_CTYPE"]
	}
	if locale == "" {
		locale = env["LANG"]
	}
	_, charset, named := strings.Cut(locale, ".")
	charset, _, _ = strings.Cut(charset, "@")
	charset = strings.ToLower(strings.ReplaceAll(charset, "-", ""))
	foreign := named && charset != "utf8"
	return looks{
		colour: !o.Plain && !o.NoColor && env["NO_COLOR"] == "" && !dumb,
		ascii:  o.Plain || o.ASCII || dumb || foreign,
		bare:   o.Plain,
		theme:  theme,
		spoken: o.Linear,
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

// repaint takes over another theme or background.
func (a *App) repaint() {
	clusters := a.d.st.clusters
	*a.d.st = *newStyles(a.looks, a.dark)
	a.d.st.clusters = clusters
}
