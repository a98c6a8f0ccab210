// This file is for systems without a signal for broken pipes. On these, a write to a closed pipe returns an error.

//go:build !unix

package cli

func catchBrokenPipes() {}
