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

// Run runs one command line and returns its exit status: 0 if it succeeded, 1 if it failed, 2 if
// the command line was wrong, 3 if why --diff --fail found touched annotations.
func Run(ctx context.Context, env Env) int {
	return runRoot(ctx, env, commandTree{
		build: func(a *app) *cobra.Command { return a.buildCalled(Run, env.Args) },
		names: func(a *app) []string { return a.namesInTable(Run) },
	})
}

// A commandTree builds the commands of a program.
type commandTree struct {
	build func(*app) *cobra.Command // builds at least the commands that the command line needs
	names func(*app) []string       // returns the names of all commands; nil if build builds all
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
	a := newApp(env)
	a.followFolders()
	a.progress = shown
	a.repeats = a.repeatsOthers
	// The commands of another app, because the definition of flags would reset those of this run.
	if tree.names != nil {
		a.commandNames = sync.OnceValue(func() []string { return tree.names(newApp(env)) })
	}
	if client, home, ok := hookArgs(env.Args); ok {
		a.homeFlag = home
		a.hook(ctx, client)
		_ = a.close(ctx)
		return 0
	}
	root := tree.build(a)
	if tree.names == nil {
		names := namesOfCommands(root) // before it runs, because cobra then adds commands
		a.commandNames = func() []string { return names }
	}
	a.typed = a.asTyped
	if slices.ContainsFunc(env.Args, func(arg string) bool {
		return strings.HasPrefix(arg, cobra.ShellCompRequestCmd)
	}) {
		a.complete(root)
	}
	root.SetArgs(markTerms(env.Args))
	err := out.outcome(errors.Join(root.ExecuteContext(ctx), a.unknown, a.close(ctx)))
	if a.judged != nil && a.judged.State == trust.Foreign && errors.Is(err, oxbow.ErrUnsupported) {
		err = &hintedError{
			fmt.Errorf(
				"a memory that is not trusted can be listed, recalled from and exported, no more: %w",
				oxbow.ErrUnsupported,
			),
			a.judged.Mend,
		}
	}
	if err != nil {
		a.json = a.json || asksJSON(env.Args)
		a.report(err)
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
func (t *terminal) report(err error) {
	if errors.Is(err, errReported) {
		return
	}
	message, h := wording(err)
	h = t.advice(h)
	if t.json {
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
		enc := json.NewEncoder(t.env.Stderr)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(body)
		return
	}
	fmt.Fprintf(t.env.Stderr, "%s: %s\n", t.name, clean(message))
	if h != "" {
		fmt.Fprintf(t.env.Stderr, "  %s\n", strings.ReplaceAll(clean(strings.TrimSpace(h)), "\n", "\n  "))
	}
}
