// This file holds what a run of oxbow can touch of the world outside, and the
// run itself.

package command

import (
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxbow-memory/oxbow/internal/sysinfo"
)

// Env is all that a run touches of the world outside. Every field must be set
// but the Term fields, Width, Executable, Environ, Edit and Listening.
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

	// Edit runs an editor, whose command and arguments are argv, and waits
	// for its end.
	Edit func(argv []string) error

	// Listening is called, when it is not nil, with the address of the HTTP
	// server once it takes connections.
	Listening func(addr string)
}

// Run runs one command line and returns the exit status: 0 done, 1 failed,
// 2 misused.
func Run(ctx context.Context, env Env) int {
	env.Stdin = &interruptible{ctx: ctx, r: env.Stdin}
	a := &app{env: env}
	root := a.root()
	root.SetArgs(markTerms(env.Args))
	err := errors.Join(root.ExecuteContext(ctx), a.close())
	if err != nil {
		a.report(err)
	}
	return status(err)
}

// negated is a filter term such as -tag:draft, which the flag parser would
// take for a bundle of short flags.
var negated = regexp.MustCompile(`^-[a-z][a-z0-9_-]*:.`)

// without is a word that recall is to leave out, such as -deploy: it has only the
// short flags -q and -h.
var without = regexp.MustCompile(`^-([^-\s=]..|[^-qh\s=].|[qh][^qh])`)

// mark stands before a marked argument. No argument of a process can hold a
// NUL, so it cannot be mistaken.
const mark = "\x00"

// markTerms hides negated filter terms and words from the flag parser, up to a "--".
// unmark and unmarkFlags undo it once the flags are parsed.
func markTerms(args []string) []string {
	if len(args) > 0 && strings.HasPrefix(args[0], "__complete") {
		return args
	}
	marked := make([]string, len(args))
	for i, arg := range args {
		if arg == "--" {
			copy(marked[i:], args[i:])
			break
		}
		marked[i] = arg
		if negated.MatchString(arg) || slices.Contains(args[:i], "recall") && without.MatchString(arg) {
			marked[i] = mark + arg
		}
	}
	return marked
}

func unmark(args []string) []string {
	for i, arg := range args {
		args[i] = strings.TrimPrefix(arg, mark)
	}
	return args
}

// unmarkFlags takes the mark off the values of flags: a term may stand there
// as well, as in --content -tag:draft.
func unmarkFlags(cmd *cobra.Command) error {
	var failed error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			if err := list.Replace(unmark(list.GetSlice())); err != nil {
				failed = err
			}
			return
		}
		if v := f.Value.String(); strings.HasPrefix(v, mark) {
			if err := f.Value.Set(strings.TrimPrefix(v, mark)); err != nil {
				failed = err
			}
		}
	})
	return failed
}
