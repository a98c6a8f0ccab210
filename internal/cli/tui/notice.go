// This file defines the notices that the loop receives from the operating system.

package tui

// notice says that the terminal has changed, or that this process must be suspended or ended.
type notice int

const (
	noticeResize notice = iota
	noticeStop
	noticeContinue
	noticeHangup
)
