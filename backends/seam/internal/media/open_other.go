//go:build !unix

package media

const noFollow = 0
