//go:build !windows

// This file is for systems on which terminals always interpret escape sequences.

package tui

import "os"

func prepareConsole(*os.File) (undo func() error, err error) {
	return func() error { return nil }, nil
}
