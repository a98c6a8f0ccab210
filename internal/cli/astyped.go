// This file adapts the commands that messages print. A command is rewritten so that it works if a person types it
// after this run.

package cli

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// commandPattern matches a command of this program in a text. The characters that may precede the name
// are limited, so that a path such as sessions.oxbow does not match.
var commandPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`((?:^|[\s;,:("']))oxbow (--home|[a-z]+)\b`)
})

// commandsWithoutHome contains the commands that do not work on the home of a run.
var commandsWithoutHome = map[string]bool{"bench": true, "completion": true, "demo": true, "help": true, "hook": true,
	"trust": true, "version": true}

// launcherVariable is the variable in which a launcher, such as the npm package's launcher,
// stores how a person started it.
const launcherVariable = "OXBOW_LAUNCHER"

// programInvocation returns the words with which a person starts this program again: "npx oxbow" if npx started the
// program, "go run ./cmd/oxbow" if go run built it, "oxbow" if a shell finds the program by that name, and otherwise
// the program's path.
func (env *environment) programInvocation() string {
	switch {
	case env.Getenv(launcherVariable) == "npx":
		return "npx oxbow"
	case env.isGoRun():
		return "go run ./cmd/oxbow"
	case env.Executable != "" && !env.isOnPath():
		return shellQuote(env.Executable)
	}
	return "oxbow"
}

// setupInvocation is like programInvocation, for the command setup. It writes the program's path
// into clients' files, so a program that go run built is installed first.
func (env *environment) setupInvocation() string {
	if env.isGoRun() {
		return "go install ./cmd/oxbow && oxbow"
	}
	return env.programInvocation()
}

func rootCommandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// rewriteCommands rewrites the commands in a text so that they work as typed in the shell of this run. Commands
// that work on a home get the flag --home if this run has it. The name oxbow is replaced by the words with which a
// person starts this program; see [environment.programInvocation].
func (mem *openMemory) rewriteCommands(text string) string {
	if mem.finder.homeFlag == "" ||
		mem.finder.homeFlag == homeDir { // init sets homeDir, which is found without the flag
		return mem.rewriteCommandsWithFlag("", text)
	}
	return mem.rewriteCommandsWithFlag(" --home "+shellQuote(mem.finder.homeFlag), text)
}

// clientCommandRewriter returns a function that is like rewriteCommands, for the answers of a server or of a hook,
// which a client starts. Their reader has another shell, so the commands get the flag --home unless that shell
// finds the home by itself.
func (mem *openMemory) clientCommandRewriter() func(text string) string {
	homeFlag := mem.finder.homeFlagForClients()
	return func(text string) string { return mem.rewriteCommandsWithFlag(homeFlag, text) }
}

// rewriteCommandsWithFlag rewrites the commands in a text. Those that work on a home get the flag. A text that was
// rewritten before does not change.
func (mem *openMemory) rewriteCommandsWithFlag(homeFlag, text string) string {
	program := mem.env.programInvocation()
	if program == "oxbow" && homeFlag == "" {
		return text
	}
	if !strings.Contains(text, "oxbow ") {
		return text
	}
	names := mem.commandNames()
	text = strings.ReplaceAll(text, program+" ", "oxbow ")
	return commandPattern().ReplaceAllStringFunc(text, func(found string) string {
		match := commandPattern().FindStringSubmatch(found)
		before, name := match[1], match[2]
		isCommand := slices.Contains(names, name)
		switch {
		case name == "--home" || (isCommand && commandsWithoutHome[name]):
			return before + program + " " + name
		case isCommand && name == "setup":
			return before + mem.env.setupInvocation() + homeFlag + " " + name
		case isCommand:
			return before + program + homeFlag + " " + name
		}
		return found // a sentence about oxbow
	})
}

// goRunPathPattern matches the path of a program that go run built. The first run has it in a temporary directory, such
// as /tmp/go-build123/b001/exe/oxbow, and later runs in the build cache, such as
// ~/.cache/go-build/97/97bd…-d/oxbow with 64 hexadecimal digits. Go removes both.
var goRunPathPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[/\\](go-build[0-9]+[/\\]b001[/\\]exe|[0-9a-f]{2}[/\\][0-9a-f]{64}-d)[/\\][^/\\]+$`)
})

// isGoRun reports whether this program was built by go run, so that its path will not exist for long.
func (e *Env) isGoRun() bool { return goRunPathPattern().MatchString(e.Executable) }
