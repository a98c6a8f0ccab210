// This file contains the story that oxbow demo tells: the commands, and the environment in which they run.

package cli

import (
	"bytes"
	"context"
	"strings"
)

// demoStep is a command that oxbow demo shows, with its output and its exit status.
type demoStep struct {
	Caption    string   `json:"-"`
	Args       []string `json:"args"`
	Output     string   `json:"output"`
	ExitStatus int      `json:"status"`
}

// demoSteps returns the commands that oxbow demo shows. paths are the sample files that the first command imports.
func demoSteps(paths []string) []demoStep {
	return []demoStep{
		{Caption: "Bring in what is there: notes in Markdown, and chats with an agent.",
			Args: append([]string{"import"}, paths...)},
		{Caption: "Keep something new.",
			Args: []string{"remember", "Quiet hours", "No deploys on regatta days.", "--tag", "rule"}},
		{Caption: "Find it months later, by what it was about. Every score can be explained.",
			Args: []string{"recall", "skippers", "twice", "--limit", "1", "--explain"}},
		{Caption: "Ask only one project, only for decisions.",
			Args: []string{"recall", "offline phone", "project:lantern", "tag:decision", "--limit", "1"}},
		{Caption: "Nothing found is explained, too.",
			Args: []string{"recall", "tides", "project:lantren"}},
		{Caption: "Take something out...",
			Args: []string{"forget", "Winter berths"}},
		{Caption: "...and bring it back: everything can be undone.",
			Args: []string{"undo"}},
		{Caption: "The log says who changed what, and when.",
			Args: []string{"log", "--limit", "2"}},
	}
}

// commandRunner runs one command line and returns its exit status.
type commandRunner func(context.Context, Env) int

// demoEnv returns the environment in which oxbow demo runs the command args and shows its output. The working directory
// is dir, which contains the sample files. The output is written to out, in the form for a terminal. NO_COLOR is the
// only environment variable. The flag --home names the home. Therefore the commands that the output suggests contain
// --home too, and cannot change the reader's own memory.
func (env *environment) demoEnv(dir, home string, out *bytes.Buffer, args []string) Env {
	staged := env.Env
	staged.Args = append([]string{"--home", home}, args...)
	staged.Stdin = strings.NewReader("")
	staged.Stdout = out
	staged.Stderr = out
	staged.IsStdinTerminal = false
	staged.IsStdoutTerminal = true
	staged.IsStderrTerminal = false
	staged.TerminalWidth = 77
	staged.TerminalHeight = 0
	staged.Getwd = func() (string, error) { return dir, nil }
	staged.Getenv = func(key string) string { return map[string]string{"NO_COLOR": "1"}[key] }
	return staged
}
