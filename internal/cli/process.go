// The operating system's process as an Env.

package cli

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cli/browser"
	"golang.org/x/term"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/cli/tui"
)

// stopWait is how long a run may take to end after a signal: a sub-agent is given
// five seconds to end itself.
const stopWait = 7 * time.Second

// Main runs the command line of this process, and returns its exit status.
func Main() int { return mainOf(Run, endSignals()...) }

func mainOf(run runner, ends ...os.Signal) int {
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	// A second Ctrl-C ends the process at once, whatever it is doing. One is
	// enough, too: what does not look at the context is ended after a while, as a
	// crash would, which loses nothing that was acknowledged.
	// An editor, and a server that finishes what it was asked, are waited for.
	var busy atomic.Int64
	hold := func() (release func()) {
		busy.Add(1)
		return func() { busy.Add(-1) }
	}
	defer context.AfterFunc(ctx, func() {
		stop()
		for time.Sleep(stopWait); busy.Load() > 0; {
			time.Sleep(stopWait)
		}
		os.Exit(exitFailed)
	})() // which, before stop, takes it back: another run may be in this process
	env := Env{
		Args:       os.Args[1:],
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Getenv:     os.Getenv,
		Environ:    os.Environ,
		Getwd:      os.Getwd,
		Now:        time.Now,
		Rand:       rand.Reader,
		GOOS:       runtime.GOOS,
		FileSystem: sysinfo.Look,
		StdinTerm:  isTerminal(os.Stdin),
		StdoutTerm: isTerminal(os.Stdout),
		StderrTerm: isTerminal(os.Stderr),
		Screen:     func() *tui.Terminal { return tui.NewTerminal(os.Stdin, os.Stdout) },
		Page: func(argv []string, text io.Reader) error {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Stdin = text
			cmd.Stdout = os.Stdout
			cmd.Stderr = os.Stderr
			cmd.Env = os.Environ()
			if os.Getenv("LESS") == "" {
				cmd.Env = append(cmd.Env, "LESS=FRX") // as git does
			}
			if err := cmd.Start(); err != nil {
				return err
			}
			signal.Ignore(os.Interrupt) // it is the pager's to handle
			_ = cmd.Wait()
			return nil
		},
		Start: func(ctx context.Context, argv []string) error {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin = os.Stdin
			cmd.Stdout = os.Stdout
			cmd.Stderr = os.Stderr
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			cmd.WaitDelay = stopWait - 2*time.Second
			return cmd.Run()
		},
		// Not ended by Ctrl-C: it is the editor's own to handle.
		Edit: func(argv []string) error {
			defer hold()()
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Stdin = os.Stdin
			cmd.Stdout = os.Stdout
			cmd.Stderr = os.Stderr
			return cmd.Run()
		},
	}
	env.Browse = browser.OpenURL
	env.Finish = func() (release func()) {
		catchBrokenPipes()
		return hold()
	}
	env.Executable, _ = os.Executable()
	if env.StdoutTerm {
		env.Width, env.Height, _ = term.GetSize(int(os.Stdout.Fd()))
	}
	return run(ctx, env)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
