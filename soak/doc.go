// Package soak lives a simulated year with a fleet of seven kinds of stores: its
// test runs the program under agents, sync tools, foreign writers and two
// operators, kills it every week and fills its disk. It has no code of its own.
package soak
