package dialog

import (
	"image"
	"testing"
)

// TestABoxIsNotOnWhatItIsAbout: the row and the text in question stay in sight as far as the screen has room for that.
func TestABoxIsNotOnWhatItIsAbout(t *testing.T) {
	at := image.Pt
	for name, c := range map[string]struct {
		screen, box image.Point
		row, about  image.Rectangle
		want        image.Point
	}{
		"over the list, below its row":            {at(120, 35), at(63, 12), image.Rect(0, 3, 65, 4), image.Rect(67, 0, 120, 35), at(2, 4)},
		"over the list, above its row":            {at(120, 35), at(63, 12), image.Rect(0, 30, 65, 31), image.Rect(67, 0, 120, 35), at(2, 18)},
		"no room over the list: below the text":   {at(120, 35), at(88, 12), image.Rect(0, 3, 65, 4), image.Rect(67, 0, 120, 14), at(16, 14)},
		"no room anywhere: over the end":          {at(120, 35), at(88, 12), image.Rect(0, 3, 65, 4), image.Rect(67, 0, 120, 30), at(16, 23)},
		"the text below the list is short":        {at(80, 19), at(80, 8), image.Rect(0, 3, 80, 4), image.Rect(0, 9, 80, 11), at(0, 11)},
		"between the row and the text":            {at(80, 19), at(80, 5), image.Rect(0, 3, 80, 4), image.Rect(0, 9, 80, 19), at(0, 4)},
		"the text below the list fills it":        {at(80, 19), at(80, 8), image.Rect(0, 3, 80, 4), image.Rect(0, 9, 80, 19), at(0, 4)},
		"no text":                                 {at(80, 19), at(80, 8), image.Rect(0, 3, 80, 4), image.Rect(0, 9, 80, 9), at(0, 4)},
		"no list: below the text":                 {at(120, 35), at(88, 12), image.Rectangle{}, image.Rect(0, 0, 120, 20), at(16, 20)},
		"no list and no room: the title in sight": {at(120, 35), at(88, 12), image.Rectangle{}, image.Rect(0, 0, 120, 35), at(16, 23)},
		"no room beside the row":                  {at(80, 19), at(80, 16), image.Rect(0, 8, 80, 9), image.Rect(0, 12, 80, 19), at(0, 0)},
		"all of the screen":                       {at(60, 10), at(58, 10), image.Rect(0, 3, 60, 4), image.Rect(0, 6, 60, 10), at(1, 0)},
	} {
		if got := place(c.screen, c.box, c.row, c.about); got != c.want {
			t.Errorf("%s: at %v, want %v", name, got, c.want)
		}
	}
}
