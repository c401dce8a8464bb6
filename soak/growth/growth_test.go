package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if code, played := play(); played {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// TestSmallReport measures a thousand items of everything and writes the page: every chart has
// every line with its peer, and no value is missing or nothing.
func TestSmallReport(t *testing.T) {
	docs := t.TempDir()
	r := &run{work: t.TempDir(), files: 1000, erasures: 1000, lines: map[string][]line{}}
	if err := r.measure(1000); err != nil {
		t.Fatal(err)
	}
	if err := r.write(docs); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(docs, "growth.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range charts {
		peers := 0
		for _, l := range r.lines[c.key] {
			if l.peer {
				peers++
			}
			if len(l.at) != 1 || l.at[0].value <= 0 || !strings.Contains(string(page), "| "+l.name+" |") {
				t.Errorf("%s, %s: %+v", c.key, l.name, l.at)
			}
		}
		if peers == 0 || len(r.lines[c.key]) < 2 {
			t.Errorf("%s has %d lines, %d of them of peers", c.key, len(r.lines[c.key]), peers)
		}
		svg, err := os.Open(filepath.Join(docs, "growth", c.key+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		dec := xml.NewDecoder(svg)
		for err == nil {
			_, err = dec.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s.svg: %v", c.key, err)
		}
		_ = svg.Close()
	}
}

func TestSlope(t *testing.T) {
	for want, values := range map[float64][2]float64{0: {5, 5}, 1: {5, 500}, 0.5: {5, 50}, 2: {1, 10000}} {
		l := line{at: []point{{1000, values[0]}, {100_000, values[1]}}}
		if got := l.slope(); math.Abs(got-want) > 1e-9 {
			t.Errorf("from %g to %g while the size grows a hundredfold: %g, want %g", values[0], values[1], got, want)
		}
	}
}

// TestPlot: a proportional line over as many decades as the axes have is their diagonal, and names of lines that
// end together lie below each other.
func TestPlot(t *testing.T) {
	diagonal := []point{{1000, 1}, {10_000, 10}, {100_000, 100}}
	svg := plot("A title", "ms", []line{{name: "ours", at: diagonal}, {name: "theirs", peer: true, at: diagonal}})
	for _, want := range []string{`points="70.0,350.0 290.0,195.0 510.0,40.0"`, `stroke-dasharray`, `y="44.0" fill="#1b6ca8">ours<`, `y="59.0" fill="#1b6ca8">theirs<`, ">100,000<", ">10 ms<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}
