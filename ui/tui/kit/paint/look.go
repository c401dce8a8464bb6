package paint

type Tone int

const (
	ToneInfo Tone = iota
	ToneWarn
	ToneBad
	ToneGood
)

// Urgency orders tones, the worst first.
func (t Tone) Urgency() int {
	return [...]int{ToneBad: 0, ToneWarn: 1, ToneInfo: 2, ToneGood: 3}[t]
}

// Look is the kind of a part of a body and selects its paint; each has a sign in the text too.
type Look int

const (
	LookPlain Look = iota
	LookMark       // matched by a rule
	LookAdded
	LookRemoved
	LookAddedWord   // the words that changed in an added line
	LookRemovedWord // the words that changed in a removed one
	LookWarn
	LookPlace // the head of a hunk
	LookHeading
	LookCode
	LookStrong
	LookLink
	LookDim
	LookFound // a match of the search
	LookHere  // the current match
)

// Stretch is a part of a text with its own look.
type Stretch struct {
	Start, End int
	Look       Look
}

func (s *Styles) PaintOf(l Look) Paint {
	switch l {
	case LookMark, LookFound:
		return s.match
	case LookAdded:
		return s.Good
	case LookRemoved:
		return s.removed
	case LookAddedWord:
		return s.addedWord
	case LookRemovedWord:
		return s.removedWord
	case LookWarn:
		return s.Warn
	case LookPlace, LookHeading:
		return s.Title
	case LookCode, LookLink:
		return s.Key
	case LookStrong:
		return s.Strong
	case LookDim:
		return s.Dim
	case LookHere:
		return s.Selected
	}
	return Paint{}
}

func (s *Styles) Toned(t Tone) Paint {
	switch t {
	case ToneWarn:
		return s.Warn
	case ToneBad:
		return s.Bad
	case ToneGood:
		return s.Good
	}
	return Paint{}
}
