package safetext

import (
	"fmt"
	"time"
)

// Sprintf formats with a format that is the program's own literal. A Text goes
// in as it is; strings, errors, Stringers and any other value that could carry
// outside text are formatted by their verb and then escaped as a line. Width
// and precision count columns.
func Sprintf(format string, args ...any) Text { return Escaper{}.Sprintf(format, args...) }

// Sprintf is [Sprintf] with e's settings.
func (e Escaper) Sprintf(format string, args ...any) Text {
	safe := make([]any, len(args))
	for i, a := range args {
		switch a.(type) {
		case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64,
			uintptr, float32, float64, complex64, complex128, time.Duration:
			safe[i] = a // cannot carry text, and * needs the int itself
		default:
			safe[i] = operand{e, a}
		}
	}
	// Text from the format or a %c is escaped here, and nothing is quoted twice.
	return e.Const(fmt.Sprintf(format, safe...))
}

// operand escapes one argument at the moment it is formatted.
type operand struct {
	e Escaper
	v any
}

// Format implements [fmt.Formatter].
func (o operand) Format(f fmt.State, verb rune) {
	t, ok := o.v.(Text)
	if !ok {
		t = o.e.Line(fmt.Sprintf(bareVerb(f, verb), o.v))
	}
	if precision, ok := f.Precision(); ok && (verb == 's' || verb == 'v') {
		t = o.e.Trunc(t, precision)
	}
	if columns, ok := f.Width(); ok {
		if f.Flag('-') {
			t = Pad(t, columns)
		} else {
			t = PadLeft(t, columns)
		}
	}
	fmt.Fprint(f, t.s)
}

// bareVerb rebuilds the verb with its flags, without width, and with a
// precision only where it does not cut text.
func bareVerb(f fmt.State, verb rune) string {
	s := "%"
	for _, flag := range "+# " {
		if f.Flag(int(flag)) {
			s += string(flag)
		}
	}
	if p, ok := f.Precision(); ok && verb != 's' && verb != 'v' {
		s += fmt.Sprintf(".%d", p)
	}
	return s + string(verb)
}
