// What a run of oxbow can touch of the world outside.

package cli

import (
	"context"
	"io"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/cli/tui"
)

// Env is all that a run touches of the world outside. Every field must be set
// but the Term fields, Width, Height, Screen, Executable, Environ, Start, Edit,
// Page, Browse, Listening and Finish.
type Env struct {
	Args   []string // without the program's own name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Getenv func(string) string
	Getwd  func() (string, error)
	Now    func() time.Time // its location is the one that dates are shown in
	Rand   io.Reader
	GOOS   string // chooses where data lives, as runtime.GOOS names it

	// FileSystem describes the file system that holds a path, or will.
	FileSystem func(path string) (sysinfo.FileSystem, error)

	Executable string // path of this program, "" when unknown

	// Environ returns the whole environment, for programs that are started; nil
	// gives them none.
	Environ func() []string

	StdinTerm  bool // standard input is a terminal
	StdoutTerm bool
	StderrTerm bool
	Width      int // columns of the terminal on standard output, 0 when unknown
	Height     int // and its rows

	// Sleep waits, for a server that asks for it; nil is a timer.
	Sleep func(context.Context, time.Duration) error

	// Drain is how long a server of MCP goes on with the calls that it has read when its
	// client has gone; 0 is the server's own default.
	Drain time.Duration

	// Screen returns the terminal of standard input and output, for a screen of its
	// own.
	Screen func() *tui.Terminal

	// Start runs a program, whose path and arguments are argv, on the streams of
	// this process, and waits for its end.
	Start func(ctx context.Context, argv []string) error

	// Edit runs an editor, whose command and arguments are argv, and waits
	// for its end.
	Edit func(argv []string) error

	// Page runs a pager, whose command and arguments are argv, on a text, and
	// waits for its end. It fails when there is no such program.
	Page func(argv []string, text io.Reader) error

	// Browse opens a URL in the person's browser, and does not wait for it. Nil
	// opens none.
	Browse func(url string) error

	// Listening is called, when it is not nil, with the address of the HTTP
	// server once it takes connections.
	Listening func(addr string)

	// Finish is called, when it is not nil, by a server. Until release is called, neither
	// a signal nor a client that stops reading ends the process while the server finishes
	// the calls that it has read. A second signal does.
	Finish func() (release func())
}

// finish calls Finish, if there is one.
func (e *Env) finish() (release func()) {
	if e.Finish == nil {
		return func() {}
	}
	return e.Finish()
}
