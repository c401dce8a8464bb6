package paint

type Tone int

const (
	ToneInfo Tone = iota
	ToneWarn
	ToneBad
	ToneGood
)

// Look is the kind of a part of a body, which has a paint. Every look has a
// sign in the text too.
type Look int

const (
	LookPlain Look = iota
	LookMark       // matched by a rule, changed in a line
	LookAdded
	LookRemoved
	LookPlace // the head of a hunk
	LookHeading
	LookCode
	LookStrong
	LookLink
	LookDim
	LookFound // what is looked for
	LookHere  // and where the search stands
)

// Stretch is a part of a text that has a look of its own.
type Stretch struct {
	Start, End int
	Look       Look
}

// PaintOf gives the palette's paint for a look.
func (s *Styles) PaintOf(l Look) Paint {
	switch l {
	case LookMark:
		return s.match
	case LookAdded:
		return s.Good
	case LookRemoved:
		return s.Bad
	case LookPlace, LookHeading:
		return s.Title
	case LookCode, LookLink:
		return s.Key
	case LookStrong:
		return s.Strong
	case LookDim:
		return s.Dim
	case LookFound:
		return s.match
	case LookHere:
		return s.Selected
	}
	return Paint{}
}
