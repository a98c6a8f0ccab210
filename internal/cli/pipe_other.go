// This file is for systems without the signal for a broken pipe, where writes just fail.

//go:build !unix

package cli

func catchBrokenPipes() {}
