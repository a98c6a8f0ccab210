// This file contains the story that oxbow demo plays: the commands, and the environment in which
// the commands run.

package cli

import (
	"bytes"
	"context"
	"strings"
)

// step is one command of the story, with its output and exit status.
type step struct {
	Say    string   `json:"-"`
	Args   []string `json:"args"`
	Output string   `json:"output"`
	Status int      `json:"status"`
}

// story returns the steps of the story. paths are the sample files to import.
func story(paths []string) []step {
	return []step{
		{Say: "Bring in what is there: notes in Markdown, and chats with an agent.",
			Args: append([]string{"import"}, paths...)},
		{Say: "Keep something new.",
			Args: []string{"remember", "Quiet hours", "No deploys on regatta days.", "--tag", "rule"}},
		{Say: "Find it months later, by what it was about. Every score can be explained.",
			Args: []string{"recall", "skippers", "twice", "--limit", "1", "--explain"}},
		{Say: "Ask only one project, only for decisions.",
			Args: []string{"recall", "offline phone", "project:lantern", "tag:decision", "--limit", "1"}},
		{Say: "Nothing found is explained, too.",
			Args: []string{"recall", "tides", "project:lantren"}},
		{Say: "Take something out...",
			Args: []string{"forget", "Winter berths"}},
		{Say: "...and bring it back: everything can be undone.",
			Args: []string{"undo"}},
		{Say: "The log says who changed what, and when.",
			Args: []string{"log", "--limit", "2"}},
	}
}

// runner runs one command line and returns its exit status.
type runner func(context.Context, Env) int

// stage returns the environment for one command of the story: the sample's directory, a terminal
// without colour, and no other variables. The home is named with --home, because then the commands that
// the answer prints name the home too, and cannot change the reader's own memory.
func (env *environment) stage(dir, home string, out *bytes.Buffer, args []string) Env {
	staged := env.Env
	staged.Args = append([]string{"--home", home}, args...)
	staged.Stdin = strings.NewReader("")
	staged.Stdout = out
	staged.Stderr = out
	staged.StdinTerm = false
	staged.StdoutTerm = true
	staged.StderrTerm = false
	staged.Width = 77
	staged.Height = 0
	staged.Getwd = func() (string, error) { return dir, nil }
	staged.Getenv = func(key string) string { return map[string]string{"NO_COLOR": "1"}[key] }
	return staged
}
