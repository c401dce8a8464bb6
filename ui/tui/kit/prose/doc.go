// Package prose writes numbers, sizes, times and errors as people read them.
package prose
