// This file runs oxbow as a process of the operating system.

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

// stopTimeout is how long a run may take to end after a signal. It is longer than the five seconds that a sub-agent
// has to end by itself.
const stopTimeout = 7 * time.Second

// Main runs the command line of this process and returns its exit status.
func Main() int { return runMain(Run, shutdownSignals()...) }

func runMain(run commandRunner, endSignals ...os.Signal) int {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals...)
	defer stop()
	// The first Ctrl-C cancels ctx. If run has not returned after stopTimeout, the process exits. The process waits
	// longer while busy is positive, because an editor is running or because a server is finishing the calls that it
	// has read. A second Ctrl-C ends the process at once, even if busy is positive. This is as safe as a crash: no
	// acknowledged change is lost.
	var busy atomic.Int64
	hold := func() (release func()) {
		busy.Add(1)
		return func() { busy.Add(-1) }
	}
	defer context.AfterFunc(ctx, func() {
		stop()
		for time.Sleep(stopTimeout); busy.Load() > 0; {
			time.Sleep(stopTimeout)
		}
		os.Exit(exitCommandFailed)
	})() // Cancel the AfterFunc when runMain returns, because this process may call runMain again.
	env := Env{
		Args:               os.Args[1:],
		Stdin:              os.Stdin,
		Stdout:             os.Stdout,
		Stderr:             os.Stderr,
		Getenv:             os.Getenv,
		Environ:            os.Environ,
		Getwd:              os.Getwd,
		Now:                time.Now,
		Rand:               rand.Reader,
		GOOS:               runtime.GOOS,
		DescribeFileSystem: sysinfo.DescribeFileSystem,
		IsStdinTerminal:    isTerminal(os.Stdin),
		IsStdoutTerminal:   isTerminal(os.Stdout),
		IsStderrTerminal:   isTerminal(os.Stderr),
		OpenTerminal:       func() *tui.Terminal { return tui.NewTerminal(os.Stdin, os.Stdout) },
		ShowInPager: func(argv []string, text io.Reader) error {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Stdin = text
			cmd.Stdout = os.Stdout
			cmd.Stderr = os.Stderr
			cmd.Env = os.Environ()
			if os.Getenv("LESS") == "" {
				cmd.Env = append(cmd.Env, "LESS=FRX") // Git sets the same options for less.
			}
			if err := cmd.Start(); err != nil {
				return err
			}
			signal.Ignore(os.Interrupt) // The pager handles Ctrl-C itself.
			_ = cmd.Wait()
			return nil
		},
		RunProgram: func(ctx context.Context, argv []string) error {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin = os.Stdin
			cmd.Stdout = os.Stdout
			cmd.Stderr = os.Stderr
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			cmd.WaitDelay = stopTimeout - 2*time.Second
			return cmd.Run()
		},
		StartDetached: func(args []string) error {
			path, err := os.Executable()
			if err != nil {
				return err
			}
			cmd := exec.Command(path, args...)
			cmd.SysProcAttr = detachedAttributes()
			if err := cmd.Start(); err != nil {
				return err
			}
			return cmd.Process.Release()
		},
		// The editor handles Ctrl-C itself, so it is not ended when ctx ends.
		RunEditor: func(argv []string) error {
			defer hold()()
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Stdin = os.Stdin
			cmd.Stdout = os.Stdout
			cmd.Stderr = os.Stderr
			return cmd.Run()
		},
	}
	env.OpenBrowser = browser.OpenURL
	env.DelayExit = func() (release func()) {
		catchBrokenPipes()
		return hold()
	}
	env.Executable, _ = os.Executable()
	if env.IsStdoutTerminal {
		env.TerminalWidth, env.TerminalHeight, _ = term.GetSize(int(os.Stdout.Fd()))
	}
	return run(ctx, env)
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
