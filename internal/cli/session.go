// This file implements the command "oxbow session", which shows the past sessions of agents.

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
)

func sessionCommand(mem *lazyMemory) *cobra.Command {
	c := setUpCommandGroup(&cobra.Command{
		Use:   "session",
		Short: "List, show, search and forget past sessions of agents",
		Long: `Session works with the archive of sessions, the file sessions.oxbow in the
home. It contains the texts of people and agents, with an entry for each turn,
and the commands, files and failures of the turn. Hooks report them while a
session runs. The archive is separate from the memory: recall searches it only
with --sessions, or with in:sessions in the query.`,
		Example: `  oxbow session list --project harbor
  oxbow session show 178e33fd --last 3
  oxbow session search rounding error cmd:"go test ./..."`,
	})
	c.AddCommand(
		sessionListCommand(mem),
		mem.env.addPager(sessionShowCommand(mem)),
		mem.env.addPager(sessionSearchCommand(mem)),
		sessionResumeCommand(mem),
		sessionImportCommand(mem),
		sessionForgetCommand(mem),
	)
	return c
}

func sessionListCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the sessions, the most recent first",
		Example: `  oxbow session list --client claude --since 7d
  oxbow session list --project auto --json`,
		Args: requireArgCount(0, 0, ""),
	}, sessions.ListSessions, func(in *sessions.SessionsIn, _ *flagSet, _ []string) (err error) {
		in.Project, err = mem.env.resolveProject(in.Project)
		return err
	})
}

func sessionShowCommand(mem *lazyMemory) *cobra.Command {
	return setUpVerbCommand(mem, &cobra.Command{
		Use:     "show SESSION",
		Short:   "Show what was said and done in a session",
		Example: `  oxbow session show 178e33fd --last 3`,
		Args:    requireArgCount(1, 1, "the identifier of a SESSION, or how it begins"),
	}, sessions.ShowSession, setPositionalArgs, func(out sessions.SessionOut) {
		mem.env.printf("%s\n", mem.env.bold(replaceHarmfulChars(out.Client+"/"+out.Summary.Session)))
		for _, line := range []string{out.Title, out.Dir} {
			if line != "" {
				mem.env.printf("%s\n", mem.env.dim(replaceHarmfulChars(line)))
			}
		}
		for i := range out.Turns {
			if i+1 < len(out.Turns) {
				moveEventsToResumedTurn(&out.Turns[i], &out.Turns[i+1])
			}
			mem.env.showTurn(&out.Turns[i])
		}
		if len(out.WrittenChanges) > 0 {
			mem.env.printf("\nchanges of the notes:\n")
			mem.env.showChanges(out.WrittenChanges)
			mem.env.printNote(
				"to take them back: oxbow revert --session %s",
				text.ShellQuote(out.Client+"/"+out.Summary.Session),
			)
		}
	})
}

// moveEventsToResumedTurn moves the events that belong to the start of a resumed session. The archive stores these
// events at the end of the turn before the start. moveEventsToResumedTurn removes them from the end of the parameter
// turn, and inserts them at the beginning of the following turn (the parameter next), because readers expect them in
// that turn.
func moveEventsToResumedTurn(turn, next *session.Turn) {
	n := len(turn.Events)
	for n > 0 {
		e := turn.Events[n-1]
		isStart := e.Kind == session.KindSessionStart ||
			(e.Kind == session.KindInjection && e.Injection != nil &&
				e.Injection.HookEvent == inject.HookEventSessionStart)
		if !isStart {
			break
		}
		n--
	}
	next.Events = slices.Concat(turn.Events[n:], next.Events)
	turn.Events = turn.Events[:n]
}

// showTurn prints a turn of a conversation. A text by the person begins with >, and a call begins with $ or *. Most
// other output goes through package report, but showTurn prints directly, because people read a session like a
// conversation.
func (env *environment) showTurn(turn *session.Turn) {
	env.printf("\n%s\n", env.dim(fmt.Sprintf("%d  %s", turn.Number, env.formatDate(turn.StartTime))))
	for _, e := range turn.Events {
		head := ""
		switch e.Kind {
		case session.KindPrompt:
			head = "> "
		case session.KindText:
		case session.KindPlan, session.KindCompact:
			head = "(" + string(e.Kind) + ") "
		case session.KindToolCall:
			if e.Call != nil {
				env.showCall(e.Call)
			}
			continue
		case session.KindInjection:
			if e.Injection != nil {
				line := "+ put before the model: " + injection.DescribeInjection(e.Injection)
				for _, s := range e.Injection.ShownEntries {
					line += " · " + injection.FormatShownEntry(s)
				}
				env.printf("%s\n", env.dim(replaceHarmfulChars(line)))
			}
			continue
		default:
			continue
		}
		env.printWrappedText(head, replaceHarmfulChars(e.Text))
	}
	if turn.HasOmittedEvents {
		env.printf("%s\n", env.dim("(the turn was larger than what is kept)"))
	}
}

func (env *environment) showCall(c *session.ToolCall) {
	line := "* " + c.Tool
	if c.Command != "" {
		line = "$ " + c.Command
	}
	if c.WebQuery != "" {
		line += " " + c.WebQuery
	}
	for _, p := range append(append([]string{}, c.WrittenFiles...), c.ReadFiles...) {
		line += " " + p
	}
	switch {
	case c.ExitStatus != nil && *c.ExitStatus != 0:
		line += fmt.Sprintf("  (exit %d)", *c.ExitStatus)
	case c.Failed:
		line += "  (failed)"
	}
	env.printf("%s\n", env.dim(replaceHarmfulChars(line)))
	if c.Output != "" {
		for l := range strings.Lines(c.Output) {
			env.printf("  %s\n", env.dim(replaceHarmfulChars(strings.TrimRight(l, "\n"))))
		}
	}
}

func sessionSearchCommand(mem *lazyMemory) *cobra.Command {
	var whole bool // whether the whole text of each turn is printed, because the person set a token budget
	var files bool
	c := &cobra.Command{
		Use:   "search WORDS…",
		Short: "Find turns of past sessions by words, best first",
		Long: `Search ranks turns like recall ranks entries, and accepts the same filters. A
turn has the labels client, session, project, branch, file, cmd, exit, test,
error, tool, agent and taint, which you can use in --filter.`,
		Example: `  oxbow session search rounding error --project harbor
  oxbow session search --filter 'test:fail client:claude'
  oxbow session search deploy --files`,
	}
	c.Flags().BoolVar(&files, "files", false, "list the files that the turns touched")
	return setUpVerbCommand(mem, c, sessions.SearchSessions, func(in *verb.RecallIn, f *flagSet, args []string) error {
		in.Query, whole = strings.Join(args, " "), f.wasGiven("max_tokens")
		return nil
	}, func(out verb.RecallOut) {
		mem.env.showRecallResult(out, whole)
		for i, h := range out.Hits {
			if fs := h.Labels["file"]; files && len(fs) > 0 {
				mem.env.printWrappedText(fmt.Sprintf("%d  files: ", i+1), replaceHarmfulChars(strings.Join(fs, " ")))
			}
		}
	})
}

func sessionResumeCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "resume SESSION",
		Short: "Print the command line that continues a session",
		Example: `  oxbow session resume 178e33fd
  eval "$(oxbow session resume 178e33fd)"`,
		Args: requireArgCount(1, 1, "the identifier of a SESSION, or how it begins"),
	}, sessions.ResumeSession, setPositionalArgs)
}

func sessionForgetCommand(mem *lazyMemory) *cobra.Command {
	return setUpErasureCommand(mem, &cobra.Command{
		Use:   "forget SESSION",
		Short: "Remove a session from the archive",
		Long: `Forget removes the turns of a session. They stay in the archive's history, and
--undo restores the session that was forgotten last. With --purge, the history
is erased as well, even if the session was forgotten before. --purge asks
first, and without a terminal it needs --yes. The client's own transcript stays
unchanged.`,
		Example: `  oxbow session forget 178e33fd --dry-run
  oxbow session forget --undo`,
		Args: requireArgCount(0, 1, "the identifier of a SESSION"),
	}, erasureConfirmation[sessions.ForgetSessionIn, sessions.ForgetSessionOut]{
		command:       "session forget --purge",
		eraseVerb:     sessions.ForgetSession,
		toDryRunInput: func(in sessions.ForgetSessionIn) sessions.ForgetSessionIn { in.DryRun = true; return in },
		questionFor: func(would sessions.ForgetSessionOut) string {
			return formatEraseQuestion(
				would.Turns,
				"turn",
				"turns",
				replaceHarmfulChars(would.Client+"/"+would.Session),
			)
		},
	}, func(in sessions.ForgetSessionIn) (bool, error) {
		return in.EraseFromHistory && !in.DryRun && !in.Undo, nil
	}, setPositionalArgs, answerPrinter[sessions.ForgetSessionOut](mem))
}
