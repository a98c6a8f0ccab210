//go:build unix

// This file implements the command procs, a campaign in which many processes use one store and are killed at random.

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/oxbow-memory/oxbow/test/torture/procs"
)

// procsChildCommand is the name of a subcommand. The campaign "procs" starts this program again as a child process with
// this subcommand.
const procsChildCommand = "procs-child"

func runProcs(args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet("procs", flag.ContinueOnError)
	fl.SetOutput(stderr)
	var o procs.Options
	fl.DurationVar(&o.Duration, "duration", time.Minute, "how long")
	fl.IntVar(&o.Writers, "writers", 8, "processes that write")
	fl.IntVar(&o.Readers, "readers", 3, "processes that read")
	fl.IntVar(&o.CallsPerWriter, "lanes", 2, "calls at a time to a process that writes")
	fl.DurationVar(&o.DisturbEvery, "every", 60*time.Millisecond, "mean time between two kills or stops")
	fl.DurationVar(&o.CompactEvery, "compact-every", 500*time.Millisecond, "time between two compactions")
	fl.Uint64Var(&o.Seed, "seed", uint64(time.Now().UnixNano()), "of what is random; the scheduler is too")
	fl.StringVar(
		&o.FaultNames,
		"fault",
		"",
		"break the store on purpose: "+strings.Join(procs.LockAndFileFaults(), " | "),
	)
	fl.StringVar(&o.Program, "program", "", "path of the program to test; built when not given")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return runInScratchDir("procs", stderr, func(dir string) (bool, error) {
		self, err := os.Executable()
		if err != nil {
			return false, err
		}
		o.Dir, o.ChildCommand = filepath.Join(dir, "home"), []string{self, procsChildCommand}
		if o.Program == "" {
			o.Program, err = procs.BuildOxbow(ctx, dir)
			if err != nil {
				return false, err
			}
		}
		rep, err := procs.Run(ctx, o, stderr)
		fmt.Fprintf(stdout, "procs: seed %d: %v\n", o.Seed, rep)
		if len(rep.Violations) > 0 {
			fmt.Fprintf(
				stdout,
				"  repeat: cd test/torture && go run . procs --seed %d --duration %v --writers %d --readers %d "+
					"--lanes %d --every %v --compact-every %v --fault=%s\n",
				o.Seed,
				o.Duration,
				o.Writers,
				o.Readers,
				o.CallsPerWriter,
				o.DisturbEvery,
				o.CompactEvery,
				o.FaultNames,
			)
		}
		return len(rep.Violations) == 0, err
	})
}

func runProcsChild(args []string, stdout, stderr io.Writer) int {
	if err := procs.RunChild(context.Background(), args, os.Stdin, stdout); err != nil {
		fmt.Fprintln(stderr, "torture:", err)
		return 1
	}
	return 0
}

// runInScratchDir calls run with a new directory, and returns the exit code of the program. The exit code is 1 if run
// returns an error, or if clean is false. The directory is removed at the end. It is kept if clean is false and err is
// nil, because run has then found a problem, which a person may want to examine.
func runInScratchDir(campaign string, stderr io.Writer, run func(dir string) (clean bool, err error)) int {
	dir, err := os.MkdirTemp("", "oxbow-"+campaign+"-")
	if err != nil {
		fmt.Fprintln(stderr, "torture:", err)
		return 1
	}
	clean, err := run(dir)
	if err != nil {
		fmt.Fprintln(stderr, "torture:", err)
	} else if !clean {
		fmt.Fprintln(stderr, "torture: the store is kept in", dir)
		return 1
	}
	if rerr := os.RemoveAll(dir); rerr != nil {
		fmt.Fprintln(stderr, "torture:", rerr)
	}
	if err != nil {
		return 1
	}
	return 0
}
