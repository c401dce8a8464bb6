package paint

// Looks is how the screen may be painted, from options and environment.
type Looks struct {
	Colour, Ascii, Bare bool
	Theme               string
}
