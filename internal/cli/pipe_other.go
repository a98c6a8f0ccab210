// This file is for systems without a signal for broken pipes, on which writes return an error.

//go:build !unix

package cli

func catchBrokenPipes() {}
