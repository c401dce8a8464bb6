// Package loop is how a part of the console works on the update loop: it runs questions in
// commands, brings their answers back, and says things on the status line. A panic in a
// command ends the program in good order.
package loop
