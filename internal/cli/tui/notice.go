// This file defines the notices that the loop receives from the operating system.

package tui

// signalNotice says that the terminal has changed, or that this process must be suspended or ended.
type signalNotice int

const (
	noticeTerminalResized signalNotice = iota
	noticeSuspendProcess
	noticeProcessContinued
	noticeTerminalClosed
)
