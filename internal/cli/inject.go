// This file implements the command "oxbow inject". It shows the entries that a hook would add to a prompt, and the
// reasons.

package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
)

func injectCommand(mem *lazyMemory) *cobra.Command {
	c := setUpVerbCommand(mem, &cobra.Command{
		Use:   "inject [PROMPT…]",
		Short: "Show the text that an agent would get with a prompt, or switch such texts off",
		Long: `Inject prints the text that hooks would show an agent with a prompt: sentences
of notes and past sessions that answer it (a payload), a line with their names
(a pointer), or nothing. It records nothing. --explain shows the strength of
each match and the floor that it must exceed. 98 of 100 questions on foreign
subjects stay below this floor.

Without a prompt, inject says whether hooks show texts to agents here. Inject
off switches this off, for all sessions of the home or of a project.
OXBOW_INJECT=off does so for one session. Sessions are still recorded. oxbow
injected lists the texts that agents were shown.`,
		Example: `  oxbow inject "which port does the staging proxy listen on"
  oxbow inject --explain --json "how do we deploy"
  oxbow inject off
  oxbow inject on --project`,
		Args: requireArgCount(0, -1, "a prompt"),
	}, injection.Inject, func(in *injection.InjectIn, _ *flagSet, args []string) (err error) {
		in.Prompt = strings.Join(args, " ")
		in.Project, err = mem.env.resolveProject(in.Project)
		return err
	}, mem.env.showInjection)
	c.AddCommand(mem.newInjectionSwitchCommands()...)
	show := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return callAndReport(cmd.Context(), mem, injection.ReportHookState, injection.HookStateIn{})
		}
		return show(cmd, args)
	}
	return c
}

// showInjection prints the text that a model receives. Harmful characters in the text are replaced. If the text is
// empty, showInjection prints an explanation instead. Below the text, it prints a table with a row for each decision
// about an entry. The numbers in the table are aligned at the decimal point.
func (env *environment) showInjection(out injection.InjectOut) {
	defer env.printInjectOffNotice(out.InjectionOffFile)
	for l := range strings.Lines(out.Text) {
		env.printf("%s\n", replaceHarmfulChars(strings.TrimRight(l, "\n")))
	}
	if out.Text == "" {
		env.explainEmptyResult(out.SilenceReasons, nil)
	}
	if len(out.EntryDecisions) == 0 {
		return
	}
	env.printf("%s\n", env.dim("strength floor  share  score words unknown answer"))
	for _, it := range out.EntryDecisions {
		env.printf(
			"%8.2f %5.2f  %.3f %6.1f %5d %7.2f %-7s %s",
			it.Strength,
			float64(it.MinStrength),
			it.ShareOfMaxScore,
			it.Score,
			it.MatchedWordCount,
			it.UnknownWordShare,
			string(it.AnswerKind),
			env.bold(printableName(it.Name)),
		)
		if it.NotShownReason != "" {
			env.printf(" %s", env.dim("("+it.NotShownReason+")"))
		}
		env.printf("\n")
	}
}

// printInjectOffNotice prints a note if something switches hooks off, so that they show nothing to a model. This may be
// a variable, or the file at the path in the argument file. The argument is "" if no file switches hooks off.
func (env *environment) printInjectOffNotice(file string) {
	for _, name := range []string{"OXBOW_INJECT", "OXBOW_HOOKS"} {
		if env.Getenv(name) == "off" {
			env.printNote("hooks put nothing before a model: it is off by %s=off", name)
			return
		}
	}
	switch {
	case file == "":
	case filepath.Base(file) == injection.HooksOffFile:
		env.printNote(
			"hooks put nothing before a model: they are off by %s; remove that file to switch them on",
			replaceHarmfulChars(file),
		)
	default:
		env.printNote(
			"hooks put nothing before a model: it is off by %s; oxbow inject on switches it on",
			replaceHarmfulChars(file),
		)
	}
}

// chooseInjection chooses the texts from oxbow's memory that a hook adds to the prompt p, so that the model reads these
// texts together with the prompt. It returns the texts as one block.
func (mem *lazyMemory) chooseInjection(ctx context.Context, p inject.Prompt) (inject.ShownBlock, error) {
	out, err := callVerb(
		ctx,
		mem,
		injection.Inject,
		injection.InjectIn{Prompt: p.Text, HookPrompt: &p, MaxWait: mem.env.hookTimeLimits().FirstMatchCalibration},
	)
	return out.Block, err
}

// calibrateMatchThresholds computes new thresholds for the memories. A memory's threshold is the strength with which an
// entry must match a prompt so that the entry is shown. Call it after a session has added entries, because the right
// threshold depends on the entries.
func (mem *lazyMemory) calibrateMatchThresholds(ctx context.Context) error {
	_, err := callVerb(ctx, mem, func(ctx context.Context, w *verb.Workspace, _ struct{}) (struct{}, error) {
		return struct{}{}, injection.CalibrateMatchFloors(ctx, w)
	}, struct{}{})
	return err
}
