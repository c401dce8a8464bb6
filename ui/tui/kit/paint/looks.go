package paint

// Looks says how the screen may be painted, from options and environment.
type Looks struct {
	Colour, Ascii, Bare bool
	Theme               string
}

// MinWidth is the narrowest terminal drawn, in columns; from WideFrom columns on, list and detail
// are side by side.
const (
	MinWidth = 60
	WideFrom = 100
)
