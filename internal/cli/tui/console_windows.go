// This file makes the Windows console interpret escape sequences.

package tui

import (
	"os"

	"golang.org/x/sys/windows"
)

// prepareConsole makes the console interpret escape sequences until undo is called.
func prepareConsole(out *os.File) (undo func() error, err error) {
	h := windows.Handle(out.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return nil, err
	}
	err = windows.SetConsoleMode(
		h,
		mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING|
			windows.DISABLE_NEWLINE_AUTO_RETURN,
	)
	return func() error { return windows.SetConsoleMode(h, mode) }, err
}
