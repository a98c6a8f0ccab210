// This file implements the command "oxbow context", which prints the text that a model receives
// at the beginning of a conversation.

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/layout"
)

// contextIn contains the flags of oxbow context.
type contextIn struct {
	Message          string `json:"message,omitempty"    value:"TEXT" usage:"rank entries higher if they match this TEXT"`
	MaxTokens        int    `json:"max_tokens,omitempty"              usage:"at most N tokens, instead of the profile's limit"                                             also:"token_budget,budget"`
	PastDateOrChange string `json:"as_of,omitempty"      value:"DATE" usage:"the memory at this DATE, or after this change"`
	PrintsManifest   bool   `json:"manifest,omitempty"                usage:"print which parts are included or cut, and why, instead of the text"`
	TakesOpenHandoff bool   `json:"handoff,omitempty"                 usage:"take the newest open handoff, if there is one, and print it first"`
	Project          string `json:"project,omitempty"                 usage:"with --handoff: only a handoff of this PROJECT; auto is the project of the working directory"`
}

func contextCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "context",
		Short: "Print the text that an agent should know before it begins",
		Long: `Context prints the text that a model should know before it begins: the
documents SOUL.md and MEMORY.md of the home, or those that the profile names,
and then the entries that the profile selects, as many as --max-tokens allows.
Without a profile, it selects from the whole memory. The same memory always
gives the same text. The text is never too long: oxbow estimates the tokens,
and leaves a margin in case the estimate is too low. In a home of another
layout, context prints what the layout's own system would show the model,
unless you name a profile.

With --handoff, context takes the newest open handoff and prints it first. The
handoff's profile then selects the entries, and its skills are included. A
command that is bound to a profile takes only handoffs with this profile.`,
		Example: `  oxbow context
  oxbow context --profile vtt-developer --max-tokens 8000
  oxbow context --message "fix the fog of war" --manifest
  oxbow context --profile author --as-of 2026-04-18
  oxbow context --handoff --project auto`,
	}, func(ctx context.Context, in contextIn, _ []string) error { return mem.printModelContext(ctx, in) })
}

// printModelContext prints the context for a model. What it prints depends on the home and the flags:
//
//   - If the home has the layout of another memory system, and no profile restricts the run, it prints the context that
//     this system would show.
//   - If the flag --handoff is set and a handoff is open, it takes and prints the newest open handoff.
//   - Otherwise it prints the entries that the profile selects.
func (mem *lazyMemory) printModelContext(ctx context.Context, in contextIn) error {
	bound, err := mem.boundProfileName()
	if err != nil {
		return err
	}
	d, other, err := mem.finder.detectLayout()
	switch {
	case err != nil:
		return err
	case in.TakesOpenHandoff && in.PrintsManifest:
		return usageErrorf(
			"leave --handoff out: it would take the handoff and not show it",
			"--handoff and --manifest are given",
		)
	case !in.TakesOpenHandoff && in.Project != "":
		return usageErrorf("add --handoff", "--project says whose handoff is taken, and none is")
	case other && bound == "":
		return mem.printLayoutContext(ctx, d, in)
	}
	s := profiles.SelectEntriesIn{Query: in.Message, MaxTokens: in.MaxTokens, AsOfDateOrSeq: in.PastDateOrChange}
	if in.TakesOpenHandoff {
		return mem.printSessionContext(ctx, profiles.OpenSessionIn{SelectEntriesIn: s, Project: in.Project})
	}
	return callAndPrint(
		ctx,
		mem,
		profiles.SelectEntries,
		s,
		func(out verb.SelectionOut) { mem.env.showSelectionOrManifest(out, in.PrintsManifest) },
	)
}

// printSessionContext prints the text for the start of a session. If a handoff is open, printSessionContext takes the
// handoff and prints its text. Otherwise it prints the entries that the profile selects.
func (mem *lazyMemory) printSessionContext(ctx context.Context, in profiles.OpenSessionIn) (err error) {
	in.Project, err = mem.env.resolveProject(in.Project)
	if err != nil {
		return err
	}
	out, err := callVerb(ctx, mem, profiles.OpenSession, in)
	if err != nil {
		return err
	}
	if out.Selection != nil {
		return printResult(mem, *out.Selection, mem.env.showSelectionText)
	}
	whole := struct {
		Handoff *verb.HandoffOut `json:"handoff"`
		Text    string           `json:"text"`
	}{out.Handoff, out.Handoff.Text()}
	return printResult[any](mem, whole, func(any) { mem.env.printText(whole.Text) })
}

// printLayoutContext prints the context of a home that has another memory system's directory layout. The context is the
// text that this memory system would show to a model. The parameter d describes the layout. The options of the command
// are in the parameter called in. printLayoutContext returns a usage error if an option is set that the layout does not
// support.
func (mem *lazyMemory) printLayoutContext(ctx context.Context, d layout.Dialect, in contextIn) error {
	if in.PastDateOrChange != "" {
		return usageErrorf(
			"leave it out, or choose a profile with --profile",
			"--as-of means nothing to the context of %s, which knows only now",
			d.Name,
		)
	}
	how := readWithoutTeamAccess
	if in.TakesOpenHandoff {
		how = writeAccess
	}
	h, err := mem.openHome(d, how)
	if err != nil {
		return err
	}
	r := layout.Request{Message: in.Message, Budget: in.MaxTokens}
	r.Project, err = mem.env.resolveProject(in.Project)
	if err != nil {
		return err
	}
	if _, ok := h.(layout.Profiler); in.TakesOpenHandoff && !ok {
		return usageErrorf(
			"oxbow handoff take shows one",
			"--handoff means nothing to %s, whose sessions take none",
			d.Name,
		)
	}
	begin := h.Context
	if in.TakesOpenHandoff {
		begin = mem.sessionStarter(h)
	}
	got, err := begin(ctx, r)
	if err != nil {
		return asUsageError(err)
	}
	out := struct {
		Dialect string         `json:"dialect"`
		Context prompt.Context `json:"context"`
		Text    string         `json:"text"`
	}{d.Name, got, got.Text()}
	if err := printResult[any](mem, out, func(any) {
		mem.env.showContextOrManifest(out.Text, got.Manifest(), in.PrintsManifest)
	}); err != nil {
		return err
	}
	if caution := layout.Caution(got, mem.finder.isRepeatOfForeignText); caution != "" {
		mem.env.printNote("%s", strings.Trim(caution, "()\n"))
	}
	switch {
	case len(got.Parts) == 0 && len(got.OmittedTexts) > 0:
		mem.env.printNote("nothing fits the budget; --manifest says what was cut")
	case len(got.Parts) == 0:
		mem.env.printNote("%s would put nothing before the model yet", d.Name)
	}
	return nil
}

// sessionStarter returns a function that starts a session in the home h and returns the session's context. The context
// is the text that an agent reads at the start of the session. It includes the texts of the skills that an open handoff
// names.
func (mem *lazyMemory) sessionStarter(h layout.Home) func(context.Context, layout.Request) (prompt.Context, error) {
	return func(ctx context.Context, r layout.Request) (prompt.Context, error) {
		l, err := mem.newLoader()
		if err != nil {
			return prompt.Context{}, err
		}
		r.LoadSkill = l.SkillText
		s, err := h.Session(ctx, r)
		if err != nil {
			return prompt.Context{}, err
		}
		return s.Start(ctx)
	}
}

func (env *environment) showSelectionOrManifest(out verb.SelectionOut, wantsManifest bool) {
	if wantsManifest {
		env.showManifest(out.Manifest())
	} else {
		env.showSelectionText(out)
	}
}

// showSelectionText prints a selection's text. In a pipe, showSelectionText prints the exact bytes, because another
// program reads them. Notes are printed on standard error.
func (env *environment) showSelectionText(out verb.SelectionOut) {
	env.printText(out.Text)
	for _, n := range out.Notes {
		env.printNote("%s", n)
	}
	switch {
	case out.Inside == 0:
		env.printNote("the selection holds no entries; --manifest says what it is made of")
	case out.Text == "":
		env.printNote("nothing fits the budget; --manifest says what was cut")
	}
}

// showContextOrManifest prints a context's text. If wantsManifest is set, it prints the context's manifest instead.
func (env *environment) showContextOrManifest(text, manifest string, wantsManifest bool) {
	if wantsManifest {
		env.showManifest(manifest)
	} else {
		env.printText(text)
	}
}

// showManifest prints the manifest of a context, which lists the context's parts.
func (env *environment) showManifest(manifest string) {
	for line := range strings.Lines(manifest) {
		env.printf("%s\n", replaceHarmfulChars(strings.TrimRight(line, "\n")))
	}
}
