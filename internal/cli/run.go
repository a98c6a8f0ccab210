// This file runs one command line and reports its failure.

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
)

// Run runs one command line and returns the exit status: 0 if the command succeeded, 1 if the
// command failed, 2 if the command line was wrong, 3 if why --diff --fail found touched
// annotations.
func Run(ctx context.Context, env Env) int {
	return runRoot(ctx, env, commandTree{
		build: func(mem *openMemory) *cobra.Command { return mem.buildCalled(Run, env.Args) },
		names: func(mem *openMemory) []string { return namesInTable(Run) },
	})
}

// A commandTree builds the commands of a program.
type commandTree struct {
	build func(*openMemory) *cobra.Command // builds at least the commands that the command line needs
	names func(*openMemory) []string       // returns the names of all commands; nil if build builds all
}

// runRoot runs one command line with the commands of a program.
func runRoot(ctx context.Context, env Env, tree commandTree) int {
	env.Stdin = &interruptible{ctx: ctx, r: env.Stdin}
	out := &checkedWriter{w: env.Stdout}
	env.Stdout = out
	if env.StdoutTerm {
		env.Stdout = &termtext.Writer{W: out}
	}
	var shown *progressLine
	if env.StderrTerm && env.Getenv("TERM") != "dumb" {
		shown = &progressLine{Writer: env.Stderr, now: env.Now}
		env.Stderr = shown
		if env.StdinTerm {
			env.Stdin = input{env.Stdin, shown}
		}
	}
	mem := newOpenMemory(env)
	mem.followFolders()
	mem.env.progress = shown
	mem.repeats = mem.finder.repeatsOthers
	// Use the commands of a separate run, because defining flags would reset this run's flags.
	if tree.names != nil {
		mem.commandNames = sync.OnceValue(func() []string { return tree.names(newOpenMemory(env)) })
	}
	if client, home, ok := hookArgs(env.Args); ok {
		mem.finder.homeFlag = home
		mem.hook(ctx, client)
		_ = mem.close(ctx)
		return 0
	}
	root := tree.build(mem)
	if tree.names == nil {
		names := namesOfCommands(root) // before it runs, because cobra then adds commands
		mem.commandNames = func() []string { return names }
	}
	mem.env.typed = mem.asTyped
	if slices.ContainsFunc(env.Args, func(arg string) bool {
		return strings.HasPrefix(arg, cobra.ShellCompRequestCmd)
	}) {
		mem.complete(root)
	}
	root.SetArgs(markTerms(env.Args))
	err := out.outcome(errors.Join(root.ExecuteContext(ctx), mem.unknown, mem.close(ctx)))
	isForeign := mem.finder.judged != nil && mem.finder.judged.State == trust.Foreign
	if isForeign && errors.Is(err, oxbow.ErrUnsupported) {
		err = &hintedError{
			fmt.Errorf(
				"a memory that is not trusted can be listed, recalled from and exported, no more: %w",
				oxbow.ErrUnsupported,
			),
			mem.finder.judged.Mend,
		}
	}
	if err != nil {
		mem.env.json = mem.env.json || asksJSON(env.Args)
		mem.env.report(err)
	}
	return exitCode(err)
}

// asksJSON reports whether the flag --json is among the arguments. It is used if the flags could
// not be parsed, because flags after the wrong one are then not set.
func asksJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// report prints an error on standard error.
func (env *environment) report(err error) {
	if errors.Is(err, errReported) {
		return
	}
	message, h := wording(err)
	h = env.advice(h)
	if env.json {
		var body struct {
			Error struct {
				Message string `json:"message"`
				Hint    string `json:"hint,omitempty"`
				Kind    string `json:"kind"`
			} `json:"error"`
		}
		body.Error.Message = message
		body.Error.Hint = h
		body.Error.Kind = errorClass(err)
		enc := json.NewEncoder(env.Stderr)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(body)
		return
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", env.name, clean(message))
	if h != "" {
		fmt.Fprintf(env.Stderr, "  %s\n", strings.ReplaceAll(clean(strings.TrimSpace(h)), "\n", "\n  "))
	}
}
