// This file runs one command line, and reports its error.

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

// Run runs one command line and returns its exit status. The status is 0 if the command succeeded, 1 if it failed, and
// 2 if the command line was wrong. It is 3 if the command "why --diff --fail" found annotations that a change touches.
func Run(ctx context.Context, env Env) int {
	return runCommandTree(ctx, env, commandTree{
		buildCommands:    func(mem *lazyMemory) *cobra.Command { return mem.buildCommandTreeForArgs(Run, env.Args) },
		listCommandNames: func(mem *lazyMemory) []string { return subcommandNames(Run) },
	})
}

// A commandTree builds the commands of a program.
type commandTree struct {
	// builds the command tree, at least with the commands that the command line needs
	buildCommands func(*lazyMemory) *cobra.Command
	// returns the names of all commands (nil if buildCommands builds all commands)
	listCommandNames func(*lazyMemory) []string
}

// runCommandTree runs one command line of a program with these commands.
func runCommandTree(ctx context.Context, env Env, tree commandTree) int {
	env.Stdin = &interruptibleReader{ctx: ctx, r: env.Stdin}
	out := &errorRecordingWriter{w: env.Stdout}
	env.Stdout = out
	if env.IsStdoutTerminal {
		env.Stdout = &termtext.SafeWriter{Output: out}
	}
	var shown *progressLine
	if env.IsStderrTerminal && env.Getenv("TERM") != "dumb" {
		shown = &progressLine{Writer: env.Stderr, now: env.Now}
		env.Stderr = shown
		if env.IsStdinTerminal {
			env.Stdin = terminalInput{env.Stdin, shown}
		}
	}
	mem := newLazyMemory(env)
	mem.enableFolderSync()
	mem.env.progressLine = shown
	mem.repeatsForeignText = mem.finder.isRepeatOfForeignText
	// Build the commands for a separate lazyMemory, because defining flags would reset the flags of this run.
	if tree.listCommandNames != nil {
		mem.commandNames = sync.OnceValue(func() []string { return tree.listCommandNames(newLazyMemory(env)) })
	}
	if client, home, ok := parseHookArgs(env.Args); ok {
		mem.finder.homeFlag = home
		mem.handleHook(ctx, client)
		_ = mem.close(ctx)
		return 0
	}
	root := tree.buildCommands(mem)
	if tree.listCommandNames == nil {
		// Read the names before the command runs, because cobra adds commands when it runs.
		names := rootCommandNames(root)
		mem.commandNames = func() []string { return names }
	}
	mem.env.commandRewriter = mem.rewriteCommands
	if slices.ContainsFunc(env.Args, func(arg string) bool {
		return strings.HasPrefix(arg, cobra.ShellCompRequestCmd)
	}) {
		mem.addCompletions(root)
	}
	root.SetArgs(markNonFlagArgs(env.Args))
	err := out.joinWriteError(errors.Join(root.ExecuteContext(ctx), mem.unknownCommandErr, mem.close(ctx)))
	isForeign := mem.finder.lastVerdict != nil && mem.finder.lastVerdict.Ownership == trust.ForeignHome
	if isForeign && errors.Is(err, oxbow.ErrUnsupported) {
		err = &hintedError{
			fmt.Errorf(
				"a memory that is not trusted can be listed, recalled from and exported, no more: %w",
				oxbow.ErrUnsupported,
			),
			mem.finder.lastVerdict.Mend,
		}
	}
	if err != nil {
		mem.env.wantsJSON = mem.env.wantsJSON || hasJSONFlag(env.Args)
		mem.env.printError(err)
	}
	return exitCode(err)
}

// hasJSONFlag reports whether the arguments contain the flag --json. It is used if the flags cannot be parsed, because
// flags after the wrong one are then not set.
func hasJSONFlag(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// printError prints an error on standard error.
func (env *environment) printError(err error) {
	if errors.Is(err, errAlreadyPrinted) {
		return
	}
	message, h := describeError(err)
	h = env.rewriteCommandsForShell(h)
	if env.wantsJSON {
		var body struct {
			Error struct {
				Message string `json:"message"`
				Hint    string `json:"hint,omitempty"`
				Kind    string `json:"kind"`
			} `json:"error"`
		}
		body.Error.Message = message
		body.Error.Hint = h
		body.Error.Kind = errorClassName(err)
		enc := json.NewEncoder(env.Stderr)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(body)
		return
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", env.programName, replaceHarmfulChars(message))
	if h != "" {
		fmt.Fprintf(env.Stderr, "  %s\n", strings.ReplaceAll(replaceHarmfulChars(strings.TrimSpace(h)), "\n", "\n  "))
	}
}
