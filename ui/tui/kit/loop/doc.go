// Package loop connects a part of the console with the update loop: it runs questions in commands,
// returns their answers, and writes on the status line. A panic in a command ends the program in
// good order.
package loop
