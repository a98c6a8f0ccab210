// This file rewrites the commands in messages so that they work if a person types exactly the printed text.

package cli

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// commandPattern matches a command of oxbow in a text. Only certain characters may precede the name, so that a path
// such as sessions.oxbow does not match.
var commandPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`((?:^|[\s;,:("']))oxbow (--home|[a-z]+)\b`)
})

// commandsWithoutHome contains the commands that do not use an oxbow home, which is the directory with a memory. These
// commands have no flag --home.
var commandsWithoutHome = map[string]bool{"bench": true, "completion": true, "demo": true, "help": true, "hook": true,
	"trust": true, "version": true}

// launcherVariable is the environment variable in which a launcher, such as the npm package's launcher, stores how the
// person started it.
const launcherVariable = "OXBOW_LAUNCHER"

// programCommandLine returns the words with which the person can start this program again. The words are "npx oxbow" if
// npx started the program, "go run ./cmd/oxbow" if go run built it, and "oxbow" if a shell finds a program with that
// name. Otherwise they are the program's path.
func (env *environment) programCommandLine() string {
	switch {
	case env.Getenv(launcherVariable) == "npx":
		return "npx oxbow"
	case env.isGoRun():
		return "go run ./cmd/oxbow"
	case env.Executable != "" && !env.isExecutableInPath():
		return shellQuote(env.Executable)
	}
	return "oxbow"
}

// commandLineForSetup is like programCommandLine, but for the command "oxbow setup". That command writes the program's
// path into clients' files. A program that was started with "go run" has only a temporary path. Therefore the result
// first installs the program.
func (env *environment) commandLineForSetup() string {
	if env.isGoRun() {
		return "go install ./cmd/oxbow && oxbow"
	}
	return env.programCommandLine()
}

func rootCommandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// rewriteCommands rewrites the oxbow commands in a text, so that the person can type the commands into the same shell
// exactly as they are printed. If the person started oxbow with the flag --home, the flag is added to the commands that
// use a home (a directory with a memory). The name oxbow is replaced by the words that [environment.programCommandLine]
// returns.
func (mem *lazyMemory) rewriteCommands(text string) string {
	if mem.finder.homeFlag == "" ||
		// The command init itself sets homeFlag to homeDirName. In this case, later commands in the same directory find
		// the home without the flag.
		mem.finder.homeFlag == homeDirName {
		return mem.rewriteCommandsWithFlag("", text)
	}
	return mem.rewriteCommandsWithFlag(" --home "+shellQuote(mem.finder.homeFlag), text)
}

// clientCommandRewriter returns a function that rewrites the commands in a text, like rewriteCommands. The function is
// for the answers of a server or a hook that a client started. A person who reads such an answer types the commands
// into another shell, which may not have the environment variables of this process. Therefore the function adds the
// flag --home to the commands, unless they find the home without the flag.
func (mem *lazyMemory) clientCommandRewriter() func(text string) string {
	homeFlag := mem.finder.homeFlagForClients()
	return func(text string) string { return mem.rewriteCommandsWithFlag(homeFlag, text) }
}

// rewriteCommandsWithFlag rewrites the oxbow commands in a text, so that the user can run them as they are written. It
// replaces "oxbow" by the invocation of this program, and adds homeFlag to commands that use a home. If the result is
// rewritten again, it does not change.
func (mem *lazyMemory) rewriteCommandsWithFlag(homeFlag, text string) string {
	// Check this first, because finding the program in the directories of PATH takes much longer.
	if !strings.Contains(text, "oxbow ") {
		return text
	}
	program := mem.env.programCommandLine()
	if program == "oxbow" && homeFlag == "" {
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
			return before + mem.env.commandLineForSetup() + homeFlag + " " + name
		case isCommand:
			return before + program + homeFlag + " " + name
		}
		return found // The words are a sentence about oxbow, not a command.
	})
}

// goRunPathPattern matches the path of a program that go run built. In the first run, the path is in a temporary
// directory, such as /tmp/go-build123/b001/exe/oxbow. In later runs, it is in the build cache, such as
// ~/.cache/go-build/97/97bd…-d/oxbow with 64 hexadecimal digits. Go removes both after some time.
var goRunPathPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[/\\](go-build[0-9]+[/\\]b001[/\\]exe|[0-9a-f]{2}[/\\][0-9a-f]{64}-d)[/\\][^/\\]+$`)
})

// isGoRun reports whether the path of this program matches goRunPathPattern. If it matches, the command "go run" built
// the program in a temporary directory, and deletes the program after the run.
func (e *Env) isGoRun() bool { return goRunPathPattern().MatchString(e.Executable) }
