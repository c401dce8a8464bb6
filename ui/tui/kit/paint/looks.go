package paint

// Looks is how the screen may be painted, from options and environment.
type Looks struct {
	Colour, Ascii, Bare bool
	Theme               string
}

// MinWidth is the narrowest terminal that is drawn in; from WideFrom columns on list and
// detail stand side by side.
const (
	MinWidth = 60
	WideFrom = 100
)
