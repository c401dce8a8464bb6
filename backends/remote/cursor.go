package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"memdesk/model"
)

// ownCursor begins the cursors of this package: ~PAGES.MARK.CURSOR, with the server's own cursor, the number of pages
// that led to it, and the hash of an earlier cursor. Another begins a list.
const ownCursor = "~"

// cursor is a place in a server's list, and the way to it. Following a circle meets its mark again (Brent's
// algorithm), so a list that never ends is noticed without remembering every page.
type cursor struct {
	pages uint64
	mark  string
	at    string // the server's own
}

func cursorOf(text string) cursor {
	rest, own := strings.CutPrefix(text, ownCursor)
	pages, rest, _ := strings.Cut(rest, ".")
	mark, at, ok := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(pages, 10, 64)
	if !own || !ok || err != nil {
		return cursor{at: text}
	}
	return cursor{n, mark, at}
}

func (c cursor) String() string {
	if c.at == "" {
		return ""
	}
	return ownCursor + strconv.FormatUint(c.pages, 10) + "." + c.mark + "." + c.at
}

// next is the place after the page at c. Unavailable where the server has led there before.
func (c cursor) next(at string) (cursor, error) {
	sum := sha256.Sum256([]byte(at))
	h := hex.EncodeToString(sum[:8])
	if at != "" && (at == c.at || h == c.mark) {
		return cursor{}, model.Errorf(model.Unavailable, "list", "the server's pages lead in a circle, so its list has no end: what was listed may not be all")
	}
	n := cursor{c.pages + 1, c.mark, at}
	if n.pages&(n.pages-1) == 0 {
		n.mark = h
	}
	return n, nil
}
