// This file implements the command "oxbow bench", which runs a separate benchmark program.

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/vfs"
)

// benchProgram is the file name of the benchmark program. It is a separate program, so that oxbow itself contains
// neither readers of data sets nor other systems for comparison.
const benchProgram = "oxbow-bench"

func benchCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "bench COMMAND [FLAGS]",
		Short: "Measure recall and injection on public data sets",
		Long: `Bench runs the measurements of oxbow: how well recall ranks on LongMemEval,
LoCoMo, BEAM, QMSum and SciFact (quality), whether a prompt gets the right
memory or none (inject), and how much time both need. It uses no model.

The measurements are a separate program, oxbow-bench. Bench passes all further
arguments to it and returns its exit status. It searches for the program next
to oxbow and in PATH. In a clone of the repository, Go builds it from the
directory test/bench, and it runs in your current directory. To install it:

  git clone https://github.com/oxbow-memory/oxbow
  go build -C oxbow/test/bench -o ~/bin/oxbow-bench .

Without --data, quality and inject use a small built-in set.`,
		Example: `  oxbow bench quality --data ~/sets
  oxbow bench inject --data ~/sets --set longmemeval,beam
  oxbow bench inject -h`,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || slices.Contains([]string{"-h", "--help", "help"}, args[0]) {
				return c.Help()
			}
			return env.runBench(c.Context(), args)
		},
	}
}

// runBench runs the benchmark program. If the program does not exist yet, runBench builds it first.
func (env *environment) runBench(ctx context.Context, args []string) error {
	name := benchProgram
	if env.GOOS == "windows" {
		name += ".exe"
	}
	if program := env.findProgram(name); program != "" {
		return env.runProgram(ctx, append([]string{program}, args...))
	}
	source, err := env.findBenchSource()
	if err != nil {
		return err
	}
	goTool, err := exec.LookPath("go")
	if source == "" || err != nil {
		return benchMissingError(source)
	}
	// Build the program instead of using "go run", which would start the program in the source directory and hide its
	// exit status.
	dir, err := os.MkdirTemp("", "oxbow-bench-")
	if err != nil {
		return err
	}
	defer vfs.RemoveTree(dir)
	program := filepath.Join(dir, name)
	env.printNote("building %s", source)
	if err := env.runProgram(ctx, []string{goTool, "build", "-C", source, "-o", program, "."}); err != nil {
		return err
	}
	return env.runProgram(ctx, append([]string{program}, args...))
}

// findProgram returns the path of a program that is next to this program or in PATH. It returns "" if such a program
// does not exist.
func (env *environment) findProgram(name string) string {
	if env.Executable != "" {
		if p, err := exec.LookPath(filepath.Join(filepath.Dir(env.Executable), name)); err == nil {
			return p
		}
	}
	p, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(p) { // Ignore a relative path, because the file may have come with a project.
		return ""
	}
	return p
}

// findBenchSource returns the source directory of oxbow's benchmark program. It searches for a clone of oxbow's
// repository that contains the working directory. If there is no such clone, it searches for a clone that contains the
// executable file of this program. It returns "" if neither clone exists.
func (env *environment) findBenchSource() (string, error) {
	wd, err := env.Getwd()
	if err != nil {
		return "", err
	}
	for _, dir := range []string{wd, filepath.Dir(env.Executable)} {
		for up := ""; filepath.IsAbs(dir) && dir != up; dir = filepath.Dir(dir) {
			up = dir
			// Ignore the error: if go.mod cannot be read, the directory is not in a clone of oxbow's repository.
			b, _ := os.ReadFile(filepath.Join(dir, "test", "bench", "go.mod"))
			if bytes.HasPrefix(b, []byte("module github.com/oxbow-memory/oxbow/test/bench\n")) {
				return filepath.Join(dir, "test", "bench"), nil
			}
		}
	}
	return "", nil
}

// benchMissingError returns an error that says how to get the benchmark program.
func benchMissingError(source string) error {
	if source != "" {
		return &hintedError{errors.New("there is no " + benchProgram + ", and no Go to build it"),
			"install Go from https://go.dev/dl, then run the same again"}
	}
	return &hintedError{errors.New("there is no " + benchProgram +
		" next to this program or on the PATH, and this is no clone of its source"),
		"git clone https://github.com/oxbow-memory/oxbow && cd oxbow, then run the same again there"}
}

// runProgram runs a program and waits until it ends. If the program fails, the returned error prints nothing, because
// the program has printed the reason.
func (env *environment) runProgram(ctx context.Context, argv []string) error {
	err := env.RunProgram(ctx, argv)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exitStatusError(exit.ExitCode())
	}
	return err
}
