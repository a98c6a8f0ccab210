// This file defines Env, through which a run accesses the outside world, and the environment of one run.

package cli

import (
	"context"
	"io"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/cli/tui"
)

// Env contains everything of the outside world that a run uses. These fields may be zero: IsStdinTerminal,
// IsStdoutTerminal, IsStderrTerminal, TerminalWidth, TerminalHeight, MaxChangeBytes, OpenTerminal, Executable, Environ,
// RunProgram, StartDetached, RunEditor, ShowInPager, OpenBrowser, OnListening, DelayExit, Sleep, ServerDrainTime and
// HookTimeLimits. All other fields must be set.
type Env struct {
	Args   []string // command line arguments without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Getenv func(string) string
	Getwd  func() (string, error)
	Now    func() time.Time // current time, whose location is the time zone for printed dates
	Rand   io.Reader
	GOOS   string // operating system as in runtime.GOOS, which determines the user's directories

	// DescribeFileSystem describes the file system that contains a path. The path need not exist.
	DescribeFileSystem func(path string) (sysinfo.FileSystem, error)

	Executable string // path of this program ("" if unknown)

	// Environ returns all environment variables, which are passed to programs that a run starts. If it is nil, these
	// programs get no variables.
	Environ func() []string

	IsStdinTerminal  bool // whether standard input is a terminal
	IsStdoutTerminal bool
	IsStderrTerminal bool
	TerminalWidth    int // column count of the terminal on standard output (0 if unknown)
	TerminalHeight   int // row count of the terminal on standard output (0 if unknown)

	// Sleep waits for the time that a busy server asked for. If it is nil, a timer is used.
	Sleep func(context.Context, time.Duration) error

	// ServerDrainTime is how long an MCP server keeps running after the client has disconnected, to finish the calls
	// that it has read. 0 means the server's default.
	ServerDrainTime time.Duration

	// MaxChangeBytes is the maximum size, in bytes, of a change by a command that changes many entries. 0 means the
	// default (see [verb.Workspace]). Tests set it.
	MaxChangeBytes int

	// HookTimeLimits replaces the time limits for hooks unless it is nil. Tests use longer limits, because the machine
	// may be busy.
	HookTimeLimits *HookTimeLimits

	// OpenTerminal returns the terminal on standard input and output for a full-screen display.
	OpenTerminal func() *tui.Terminal

	// RunProgram runs a program on this process's standard streams, and waits until it ends. The first element of argv
	// is the program's path.
	RunProgram func(ctx context.Context, argv []string) error

	// StartDetached starts this program with other arguments and without standard streams, and returns at once. The
	// new process survives the end of this process and its terminal. If StartDetached is nil, this process does the
	// work itself.
	StartDetached func(args []string) error

	// RunEditor runs an editor and waits until it ends. argv is the editor's command line.
	RunEditor func(argv []string) error

	// ShowInPager shows a text in a pager and waits until the pager ends. argv is the pager's command line. It returns
	// an error if the program does not exist.
	ShowInPager func(argv []string, text io.Reader) error

	// OpenBrowser opens a URL in the person's browser and does not wait. If it is nil, no browser is opened.
	OpenBrowser func(url string) error

	// OnListening, unless it is nil, is called with the HTTP server's address as soon as the server accepts
	// connections.
	OnListening func(addr string)

	// DelayExit, unless nil, is called by a server before the server finishes the calls that it has already read. It
	// delays the end of the process until the returned function release is called: until then, neither a first signal
	// nor a client that stops reading ends the process. A second signal ends the process.
	DelayExit func() (release func())
}

// HookTimeLimits limits the time for each step of a hook. The client waits for all steps except the step that
// SpoolDrain limits.
type HookTimeLimits struct {
	// SessionStartContext limits the time for the context that a model is shown at the start of a session.
	// PromptContext limits the time for the context that a model is shown with a prompt.
	SessionStartContext, PromptContext time.Duration
	// time limit for a memory's first calibration, which finds out how well an entry must match a prompt to be shown
	// (the time is part of the time PromptContext)
	FirstMatchCalibration time.Duration
	// time limit for moving the hook reports of a turn into the session archive
	SpoolDrain time.Duration
}

// hookTimeLimits returns the environment's time limits for hooks, or the default limits if the environment does not
// set any.
func (e *Env) hookTimeLimits() HookTimeLimits {
	if e.HookTimeLimits != nil {
		return *e.HookTimeLimits
	}
	return HookTimeLimits{
		SessionStartContext:   time.Second,
		PromptContext:         400 * time.Millisecond,
		FirstMatchCalibration: 250 * time.Millisecond,
		SpoolDrain:            time.Minute,
	}
}

// delayExit keeps the process from ending until the caller calls release. It calls the function DelayExit of the
// environment. If this function is not set, release does nothing.
func (e *Env) delayExit() (release func()) {
	if e.DelayExit == nil {
		return func() {}
	}
	return e.DelayExit()
}

// environment is the environment of one run. It consists of the outside world, the flags that all commands have in
// common, and the output.
type environment struct {
	Env

	programName     string // name of the program
	wantsJSON       bool
	isQuiet         bool
	commandRewriter func(text string) string // rewrites the commands in a text so that they work as typed (may be nil)
	// The opened home has the layout of another memory system. The versions of its entries are not change numbers, as
	// they are in oxbow's own layout.
	hasNonOxbowLayout bool

	supportsPager, noPager bool // The command supports a pager, and the flag --no-pager is set.

	progressLine *progressLine // line that shows progress on standard error (nil without a terminal)
}
