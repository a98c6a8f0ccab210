// This file defines Env, through which a run reaches the outside world, and the environment of a run.

package cli

import (
	"context"
	"io"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/cli/tui"
)

// Env is all that a run uses of the outside world. Every field must be set except StdinTerm,
// StdoutTerm, StderrTerm, Width, Height, Screen, Executable, Environ, Start, StartDetached, Edit, ShowInPager,
// OpenBrowser, OnListening, DelayExit, Sleep, Drain and HookTimeLimits.
type Env struct {
	Args   []string // without the program name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Getenv func(string) string
	Getwd  func() (string, error)
	Now    func() time.Time // its location is the time zone for dates
	Rand   io.Reader
	GOOS   string // as in runtime.GOOS; selects the user's directories

	// FileSystem describes the file system of a path, which need not exist.
	FileSystem func(path string) (sysinfo.FileSystem, error)

	Executable string // path of this program, or "" if unknown

	// Environ returns the whole environment, to be passed to programs that a run starts. If it is
	// nil, such programs get an empty environment.
	Environ func() []string

	StdinTerm  bool // standard input is a terminal
	StdoutTerm bool
	StderrTerm bool
	Width      int // columns of the terminal on standard output (0 if unknown)
	Height     int // rows of that terminal (0 if unknown)

	// Sleep waits until a time that a busy server asked for has passed. If it is nil, a timer is
	// used.
	Sleep func(context.Context, time.Duration) error

	// DrainTime is how long an MCP server continues to run after the client has gone, in order to
	// finish the calls that the server has read. If Drain is 0, the server uses a default.
	DrainTime time.Duration

	// HookTimeLimits, if not nil, replaces the limits for hooks. Tests use longer limits because the
	// machine may be busy.
	HookTimeLimits *HookTimeLimits

	// OpenTerminal returns the terminal on standard input and output, for a full-screen display.
	OpenTerminal func() *tui.Terminal

	// RunProgram runs a program on the standard streams of this process and waits until the program
	// ends. argv contains the program's path and its arguments.
	RunProgram func(ctx context.Context, argv []string) error

	// StartDetached starts this program with other arguments and without streams, and does not wait for it. The new
	// process continues when this process and its terminal end. If StartDetached is nil, its work is done in this
	// process.
	StartDetached func(args []string) error

	// RunEditor runs an editor and waits until the editor ends. argv contains the editor's command and
	// arguments.
	RunEditor func(argv []string) error

	// ShowInPager shows a text in a pager and waits until the pager ends. argv contains its command and
	// arguments. It returns an error if the program does not exist.
	ShowInPager func(argv []string, text io.Reader) error

	// OpenBrowser opens a URL in the person's browser and does not wait. If it is nil, no browser is
	// opened.
	OpenBrowser func(url string) error

	// Listening, if not nil, is called with the address of the HTTP server as soon as the server
	// accepts connections.
	OnListening func(addr string)

	// Finish, if not nil, is called by a server that finishes the calls that it has read. Until
	// release is called, neither a first signal nor a client that stops reading ends the process.
	// A second signal does.
	DelayExit func() (release func())
}

// HookTimeLimits limits how long each step of a hook takes. The client waits for all steps except
// Drain.
type HookTimeLimits struct {
	Start, Prompt time.Duration // for context that is put before a model
	Calibrate     time.Duration // for the first calibration of a memory; included in Prompt
	Drain         time.Duration // for moving the reports of a turn into the archive
}

// hookTimeLimits returns the limits of the environment, or the limits for clients if it has none.
func (e *Env) hookTimeLimits() HookTimeLimits {
	if e.HookTimeLimits != nil {
		return *e.HookTimeLimits
	}
	return HookTimeLimits{Start: time.Second, Prompt: 400 * time.Millisecond, Calibrate: 250 * time.Millisecond,
		Drain: time.Minute}
}

// delayExit calls the function DelayExit of the environment if it is set.
func (e *Env) delayExit() (release func()) {
	if e.DelayExit == nil {
		return func() {}
	}
	return e.DelayExit()
}

// environment is the environment of a run: the outside world, the flags that are common to all commands, and
// the output.
type environment struct {
	Env

	name            string // program name
	json            bool
	quiet           bool
	commandRewriter func(text string) string // rewrites the commands in a text so that they work as typed
	// The opened home has another layout, in which versions are not change numbers.
	hasOtherLayout bool

	supportsPager, noPager bool // the command supports a pager; --no-pager is set

	progress *progressLine // nil unless standard error is a terminal that it may use
}
