package main

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"strings"
	"time"

	"memdesk/ui/tour"
)

// filmed is the size of the console in the recording of the tour.
var filmed = size{100, 28}

// record writes the tour as an animated SVG and as an asciicast, showing each step for its own duration.
func record(file string) error {
	var steps []step
	for _, s := range tour.Steps[1:] { // the first is the console's start
		steps = append(steps, step{strings.Join(s.Keys[:1], ""), ""})
		for _, k := range s.Keys[1:] {
			steps = append(steps, step{k, ""})
		}
		steps[len(steps)-1].see = s.See
	}
	var frames, casts []string
	var stays []time.Duration
	shown := 1
	look := func(c *camera, i int) {
		if i >= 0 && steps[i].see == "" {
			return
		}
		s := tour.Steps[shown]
		shown++
		frames = append(frames, c.still()+caption(s.Caption))
		casts = append(casts, c.text()+s.Caption)
		stays = append(stays, s.Read)
	}
	if err := film(filmed, steps, look); err != nil {
		return err
	}
	if err := os.WriteFile(file+".svg", []byte(animated(frames, stays)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(file+".cast", []byte(asciicast(casts, stays)), 0o644)
}

// caption is the line below the picture.
func caption(words string) string {
	return fmt.Sprintf(`<text x="12" y="%.0f" fill="%s" font-weight="bold">%s</text>`+"\n", float64(filmed.height+2)*cellH+6, ink, html.EscapeString(words))
}

// animated shows the frames in an endless loop.
func animated(frames []string, stays []time.Duration) string {
	var all, at time.Duration
	for _, d := range stays {
		all += d
	}
	w, h := float64(filmed.width)*cellW+24, float64(filmed.height+2)*cellH+24
	var b, style strings.Builder
	for i, f := range frames {
		from, to := 100*at.Seconds()/all.Seconds(), 100*(at+stays[i]).Seconds()/all.Seconds()
		at += stays[i]
		fmt.Fprintf(&style, "#f%d{visibility:hidden;animation:k%d %.0fs steps(1) infinite}@keyframes k%d{0%%{visibility:hidden}%.2f%%{visibility:visible}%.2f%%{visibility:hidden}}\n", i, i, all.Seconds(), i, from, to)
		body := f[strings.Index(f, "\n")+1:] // without the head of the single picture, which sets another size
		fmt.Fprintf(&b, "<g id=\"f%d\">\n%s</g>\n", i, strings.Replace(body, "</svg>\n", "", 1))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`+"\n<style>\n%s</style>\n<rect width=\"%.0f\" height=\"%.0f\" rx=\"8\" fill=\"%s\"/>\n%s</svg>\n",
		w, h, style.String(), w, h, paper, b.String())
}

// asciicast is a recording for asciinema, version 2: a head and one event for each screen.
func asciicast(screens []string, stays []time.Duration) string {
	var b strings.Builder
	line := func(v any) {
		out, _ := json.Marshal(v) // strings and numbers never fail to encode
		b.Write(append(out, '\n'))
	}
	line(map[string]any{"version": 2, "width": filmed.width, "height": filmed.height + 2, "title": "memdesk"})
	var at time.Duration
	for i, s := range screens {
		line([]any{at.Seconds(), "o", "\x1b[0m\x1b[2J\x1b[H" + strings.ReplaceAll(s, "\n", "\r\n")})
		at += stays[i]
	}
	line([]any{at.Seconds(), "o", ""})
	return b.String()
}

// text is the screen with its colours, as terminal output.
func (c *camera) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return steadied(c.screen.Render()) + "\x1b[0m\n\n "
}
