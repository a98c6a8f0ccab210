// This file adapts the commands in messages to the run that prints them, so that they work as typed.

package cli

import (
	"regexp"
	"slices"
	"strings"
)

// command matches a command of this program in a text. What may precede the name prevents a match inside
// a path, such as sessions.oxbow.
var command = regexp.MustCompile(`((?:^|[\s;,:("']))oxbow (--home|[a-z]+)\b`)

// withoutHome contains the commands that do not work on the home of a run.
var withoutHome = map[string]bool{"bench": true, "completion": true, "demo": true, "help": true, "hook": true,
	"trust": true, "version": true}

// launcherVariable is the variable with which a launcher, such as the one of the npm package, says how a
// person started it.
const launcherVariable = "OXBOW_LAUNCHER"

// programToType returns what a person types to start this program again: "npx oxbow" if npx started it,
// "oxbow" if a shell finds it by that name, and otherwise its path.
func (a *app) programToType() string {
	switch {
	case a.env.Getenv(launcherVariable) == "npx":
		return "npx oxbow"
	case a.env.Executable != "" && !a.isOnPath():
		return quote(a.env.Executable)
	}
	return "oxbow"
}

// asTyped rewrites the commands in a text so that they work as typed. Commands that work on a home get the
// flag --home if this run has it. The name oxbow is replaced by what starts this program; see [app.programToType].
func (a *app) asTyped(text string) string {
	program, home := a.programToType(), ""
	if a.homeFlag != "" && a.homeFlag != homeDir { // init sets homeDir, which is found without the flag
		home = " --home " + quote(a.homeFlag)
	}
	if (program == "oxbow" && home == "") || !strings.Contains(text, "oxbow ") {
		return text
	}
	return command.ReplaceAllStringFunc(text, func(found string) string {
		match := command.FindStringSubmatch(found)
		before, name := match[1], match[2]
		isCommand := slices.Contains(a.commandNames, name)
		switch {
		case name == "--home" || (isCommand && withoutHome[name]):
			return before + program + " " + name
		case isCommand:
			return before + program + home + " " + name
		}
		return found // a sentence about oxbow
	})
}
