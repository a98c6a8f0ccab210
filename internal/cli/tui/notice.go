// This file defines the notices of the operating system.

package tui

// notice is a message of the operating system about the terminal or this process.
type notice int

const (
	noticeResize notice = iota
	noticeStop
	noticeContinue
	noticeHangup
)
