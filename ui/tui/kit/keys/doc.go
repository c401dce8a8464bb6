// Package keys holds keys as data. Footer, help and key table are made from bindings,
// so they cannot say anything else than what the keys do.
package keys
