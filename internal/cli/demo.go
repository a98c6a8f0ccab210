// This file implements the command "oxbow demo". It tells a short story by running real commands on a sample.

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/cli/demo"
	"github.com/oxbow-memory/oxbow/vfs"
)

// demoCommand returns the command "oxbow demo". To show what oxbow does, this command runs other commands of oxbow by
// calling the function run.
func demoCommand(mem *lazyMemory, run commandRunner) *cobra.Command {
	var keep, pages bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "See oxbow at work, with a sample in a temporary home",
		Long: `Demo imports the sample memory of a made-up team into a temporary home, and
shows what the commands do, as you would type them. It does not touch your own
memory, and removes the home at the end.`,
		Example: `  oxbow demo
  oxbow demo --keep
  oxbow demo --ui`,
		RunE: func(cmd *cobra.Command, _ []string) error { return mem.runDemo(cmd.Context(), run, keep, pages) },
	}
	c.Flags().BoolVar(&pages, "ui", false, "show the sample in a browser, until Ctrl-C")
	c.Flags().BoolVar(&keep, "keep", false, "keep the home, so that you can try commands")
	return c
}

func (mem *lazyMemory) runDemo(ctx context.Context, run commandRunner, keepsHome, showsPages bool) (err error) {
	dir, err := os.MkdirTemp("", "oxbow-demo-")
	if err != nil {
		return fmt.Errorf("making a throw-away home: %w", err)
	}
	if !keepsHome {
		// Do not let a closed pipe, as in "oxbow demo | head", end the process before the directory is removed. A
		// closed terminal still ends ctx.
		defer mem.env.delayExit()()
		defer func(made string) { err = errors.Join(err, vfs.RemoveTree(made)) }(dir)
	}
	// Name the directory harbor, because the pages show the directory's name as the project of the sample session.
	if showsPages {
		dir = filepath.Join(dir, "harbor")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("making a throw-away home: %w", err)
		}
	}
	if err := os.CopyFS(dir, demo.Files); err != nil {
		return fmt.Errorf("unpacking the sample: %w", err)
	}
	home := filepath.Join(dir, homeDirName)
	if err := os.Mkdir(home, 0o700); err != nil {
		return fmt.Errorf("making a throw-away home: %w", err)
	}

	if showsPages {
		return mem.runDemoPages(ctx, run, dir, home)
	}
	var done []demoStep
	if !mem.env.wantsJSON && !mem.env.isQuiet {
		mem.env.printf("A small team's memory, in a throw-away home: every command is one to type.\n")
	}
	for i, s := range demoSteps(demo.SamplePaths()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var out bytes.Buffer
		s.ExitStatus = run(ctx, mem.env.demoEnv(dir, home, &out, s.Args))
		s.Output = out.String()
		done = append(done, s)
		if !mem.env.wantsJSON && !mem.env.isQuiet {
			mem.env.showDemoStep(i+1, s)
		}
		if s.ExitStatus != exitSuccess {
			return fmt.Errorf(
				"the demo's command %q ended with status %d: %s",
				strings.Join(s.Args, " "),
				s.ExitStatus,
				strings.TrimSpace(s.Output),
			)
		}
	}
	if mem.env.wantsJSON {
		out := map[string]any{"steps": done}
		if keepsHome {
			out["home"] = home
		}
		return mem.env.printJSON(out)
	}
	ways := "Now yours: oxbow init, oxbow remember NAME TEXT. For your agents: oxbow setup\n"
	if keepsHome {
		ways += "The home is kept: oxbow --home " + shellQuote(home) + " list\n"
	} else {
		ways += "The throw-away home was removed; oxbow demo --keep keeps it.\n"
	}
	mem.env.printf("\n%s", mem.rewriteCommands(ways))
	return nil
}

func (env *environment) showDemoStep(stepNumber int, s demoStep) {
	words := make([]string, len(s.Args))
	for i, w := range s.Args {
		words[i] = shellQuote(w)
	}
	if !strings.HasPrefix(s.Caption, "...") {
		env.printf("\n")
	}
	env.printf("%d. %s\n", stepNumber, s.Caption)
	for i, line := range wrapText("oxbow "+strings.Join(words, " "), env.textWidth()-7) {
		prompt := "$ "
		if i > 0 {
			prompt = "    "
		}
		env.printf("   %s\n", env.bold(prompt+line))
	}
	for line := range strings.SplitSeq(strings.TrimRight(s.Output, "\n"), "\n") {
		rows := []string{line}
		if strings.HasPrefix(line, "oxbow: ") { // Wrap messages of oxbow, which contain the home's long path.
			rows = wrapText(line, env.textWidth()-3)
		}
		for i, row := range rows {
			if i > 0 {
				row = "  " + row
			}
			env.printf("%s\n", strings.TrimRight("   "+row, " "))
		}
	}
}
