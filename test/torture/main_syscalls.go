//go:build linux

// This file implements the command "syscalls". It runs a campaign that makes single system calls of a program fail.

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/oxbow-memory/oxbow/test/torture/syscalls"
)

// syscallsChildCommand is the name of the subcommand with which the campaign "syscalls" (a long randomized test) starts
// this program again as a child process.
const syscallsChildCommand = "syscalls-child"

func runSyscalls(args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet("syscalls", flag.ContinueOnError)
	fl.SetOutput(stderr)
	var o syscalls.Options
	fl.DurationVar(&o.Budget, "duration", 0, "try no other point after this time; 0: try all")
	fl.Uint64Var(&o.Seed, "seed", 1, "of the order in which points are tried")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return runInScratchDir("syscalls", stderr, func(dir string) (bool, error) {
		var err error
		o.Strace, err = exec.LookPath("strace")
		if err != nil {
			return false, fmt.Errorf("%w; install strace", err)
		}
		self, err := os.Executable()
		if err != nil {
			return false, err
		}
		o.Dir, o.ChildCommand = dir, []string{self, syscallsChildCommand}
		rep, err := syscalls.Run(ctx, o, stderr)
		fmt.Fprintf(stdout, "syscalls: %v\n", rep)
		if len(rep.Violations) > 0 {
			// The test needs no seed to be repeated, because a violation names the system call that was made to fail.
			// The call is written in the syntax of strace.
			fmt.Fprintln(stdout, "  repeat: cd test/torture && go run . syscalls")
		}
		return len(rep.Violations) == 0, err
	})
}

func runSyscallsChild(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "torture: a session needs a home")
		return 2
	}
	if err := syscalls.RunChild(context.Background(), args[0], stdout); err != nil {
		fmt.Fprintln(stderr, "torture:", err)
		return 1
	}
	return 0
}
