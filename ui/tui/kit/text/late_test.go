package text

import (
	"strings"
	"testing"
)

func TestLayoutThatComesLateKeepsThePlace(t *testing.T) {
	p := newPagerOn(60, 10)
	p.Show(NewPage(nil, strings.Repeat("row\n", 5000)), 100, nil)
	p.settle()
	for len(p.open) == 0 { // down to where more rows are requested
		p.Move(1)
	}
	for range 7 {
		p.Move(1)
	}
	want := p.screen()[0].line
	p.settle()
	if got := p.screen()[0].line; got != want {
		t.Errorf("line %d jumps to %d when more rows come", want, got)
	}
}
