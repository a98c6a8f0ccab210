//go:build !windows

// Terminals that obey escape sequences as they are.

package tui

import "os"

func prepareConsole(*os.File) (undo func() error, err error) {
	return func() error { return nil }, nil
}
