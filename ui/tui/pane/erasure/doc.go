// Package erasure is the pane of erasure requests: from the form to the receipt.
package erasure
