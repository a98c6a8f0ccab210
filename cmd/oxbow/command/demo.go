// "oxbow demo": a short story told by real commands on a
// sample.

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/cmd/oxbow/command/demo"
)

// step is one command of the story.
type step struct {
	Say    string   `json:"-"`
	Args   []string `json:"args"`
	Output string   `json:"output"`
	Status int      `json:"status"`
}

// demoCommand shows commands, each of which run runs.
func (a *app) demoCommand(run runner) *cobra.Command {
	var keep, pages bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it work, on a sample, in a throw-away home",
		Long: `Demo imports the sample memory of a made-up team into a home of its own and
shows what the commands do, each as you would type it. Your own memory is not
touched, and the home is removed at the end.`,
		Example: `  oxbow demo
  oxbow demo --keep
  oxbow demo --ui`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), run, keep, pages) },
	}
	c.Flags().BoolVar(&pages, "ui", false, "show the sample in a browser, until Ctrl-C")
	c.Flags().BoolVar(&keep, "keep", false, "keep the home, to try commands on it")
	return c
}

// story returns the steps, for a corpus that lies in these files.
func story(paths []string) []step {
	return []step{
		{Say: "Bring in what is there: notes in Markdown, and chats with an agent.",
			Args: append([]string{"import"}, paths...)},
		{Say: "Keep something new.",
			Args: []string{"remember", "Quiet hours", "No deploys on regatta days. Mira has the dates.", "--project", "harbor", "--tag", "rule"}},
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
			Args: []string{"log", "--limit", "3"}},
	}
}

// runner runs one command line and returns its exit status.
type runner func(context.Context, Env) int

func (a *app) demo(ctx context.Context, run runner, keep, pages bool) (err error) {
	dir, err := os.MkdirTemp("", "oxbow-demo-")
	if err != nil {
		return fmt.Errorf("making a throw-away home: %w", err)
	}
	if !keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if err := os.CopyFS(dir, demo.Files); err != nil {
		return fmt.Errorf("unpacking the sample: %w", err)
	}
	home := filepath.Join(dir, homeDir)
	if err := os.Mkdir(home, 0o700); err != nil {
		return fmt.Errorf("making a throw-away home: %w", err)
	}

	if pages {
		return a.demoPages(ctx, run, dir, home)
	}
	var done []step
	if !a.json && !a.quiet {
		a.printf("A small team's memory, in a throw-away home: every command is one to type.\n")
	}
	for i, s := range story(demo.Corpus()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var out bytes.Buffer
		s.Status = run(ctx, a.stage(dir, &out, s.Args))
		s.Output = out.String()
		done = append(done, s)
		if !a.json && !a.quiet {
			a.showStep(i+1, s)
		}
		if s.Status != exitDone {
			return fmt.Errorf("the demo's command %q ended with status %d: %s", strings.Join(s.Args, " "), s.Status, strings.TrimSpace(s.Output))
		}
	}
	if a.json {
		out := map[string]any{"steps": done}
		if keep {
			out["home"] = home
		}
		return a.printJSON(out)
	}
	a.printf("\nNow yours: oxbow init, then oxbow remember NAME TEXT. For an agent: oxbow mcp\n")
	if keep {
		a.printf("The home is kept: oxbow --home %s list\n", quote(home))
	} else {
		a.printf("The throw-away home was removed; oxbow demo --keep keeps it.\n")
	}
	return nil
}

// demoPages brings the sample in and shows its pages until ctx ends.
func (a *app) demoPages(ctx context.Context, run runner, dir, home string) error {
	for _, s := range story(demo.Corpus())[:2] { // what fills the memory
		var out bytes.Buffer
		if status := run(ctx, a.stage(dir, &out, s.Args)); status != exitDone {
			return fmt.Errorf("the demo's command %q ended with status %d: %s", strings.Join(s.Args, " "), status, strings.TrimSpace(out.String()))
		}
	}
	a.note("a small team's memory, in a throw-away home that Ctrl-C removes")
	a.sample, a.homeFlag = true, home
	return a.ui(ctx, uiIn{}, "")
}

// stage returns the surroundings of one command of the story: the sample's
// directory, a terminal without colour, and a user who has set nothing else.
func (a *app) stage(dir string, out *bytes.Buffer, args []string) Env {
	env := a.env
	env.Args, env.Stdin, env.Stdout, env.Stderr = args, strings.NewReader(""), out, out
	env.StdinTerm, env.StdoutTerm, env.StderrTerm, env.Width, env.Height = false, true, false, 77, 0
	env.Getwd = func() (string, error) { return dir, nil }
	env.Getenv = func(key string) string { return map[string]string{"NO_COLOR": "1"}[key] }
	return env
}

func (a *app) showStep(n int, s step) {
	words := make([]string, len(s.Args))
	for i, w := range s.Args {
		words[i] = quote(w)
	}
	if !strings.HasPrefix(s.Say, "...") {
		a.printf("\n")
	}
	a.printf("%d. %s\n", n, s.Say)
	for i, line := range wrap("oxbow "+strings.Join(words, " "), a.width()-7) {
		prompt := "$ "
		if i > 0 {
			prompt = "    "
		}
		a.printf("   %s\n", a.bold(prompt+line))
	}
	for line := range strings.Lines(strings.TrimRight(s.Output, "\n")) {
		a.printf("%s\n", strings.TrimRight("   "+line, " \n"))
	}
}
