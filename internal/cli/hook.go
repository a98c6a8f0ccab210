// This file implements the command "oxbow hook", which clients run as their hook.

package cli

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/fileedits"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/layout"
)

func hookCommand(mem *lazyMemory) *cobra.Command {
	var drain bool
	c := &cobra.Command{
		Use:   "hook CLIENT",
		Short: "Record the report of a client's hook, and answer it",
		Long: `Clients run hook, and oxbow setup configures this. Hook reads the report of a
client's hook from standard input, and appends it to the spool of the home. At
the end of a turn it starts a process that moves the spool into the archive of
sessions, and then ends. Secrets are removed before anything is written. The
exit status is always 0, and oxbow doctor reports errors.

When a session begins, hook answers with the pinned notes, then decisions and
other notes of the project, and a hint how to search. The same memory always
gives the same text. A new session takes the open handoff, which comes first.
To a prompt, hook answers only if the memory contains an answer that the
session was not shown before. It records every text that it shows.

In a home of another layout, a session begins with the text of oxbow context
and with the open handoff, which is taken. Hook answers a prompt only if the
system of the layout recalls by itself. In a home of ` + summaryLayoutNames(layout.SummaryAtCompaction) + `, a compaction
stores its summary. In a home of ` + summaryLayoutNames(layout.SummaryAtEnd) + `, the end of a session stores the
agent's last message. Nothing else is stored.

After an edit in a repository, the text that the agent wrote before the edit
becomes an annotation of the edited lines. oxbow setup --no-annotate or
OXBOW_ANNOTATE=off switches this off. Before an edit, the agent is shown the
annotations of the lines that it will change, each once in a session.
OXBOW_WHYS=off switches this off.

OXBOW_HOOKS=off stops all hooks for one session, and OXBOW_INJECT=off stops
only the texts that are shown to the agent. A file ` + injection.HooksOffFile + ` or
` + injection.InjectionOffFile + ` does the same for a home or, in the directory
` + homeDirName + ` of a project, for the project.`,
		Example: `  oxbow hook claude < /dev/null     # a report is on standard input
  OXBOW_HOOKS=off claude            # a session that is not recorded`,
		Args: func(c *cobra.Command, given []string) error {
			if drain {
				return requireArgCount(0, 0, "")(c, given)
			}
			return requireArgCount(1, 1, "the client: "+strings.Join(hook.Clients(), ", "))(c, given)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if drain {
				mem.archiveSpooledReports(cmd.Context())
				return nil
			}
			mem.handleHook(cmd.Context(), args[0])
			return nil
		},
	}
	c.Flags().BoolVar(&drain, drainSpoolFlag, false,
		"move the reports of hooks into the archive (at the end of a turn, a hook does this itself)")
	return c
}

// handleHook stores the events that a client's hook reports on the standard input, and writes the answer for the client
// to the standard output. It does not print errors, because the client would show them to the user. Errors in reading
// or storing the events are saved in the home as a HookFailure. handleHook does nothing if the environment variable
// OXBOW_HOOKS is "off".
func (mem *lazyMemory) handleHook(ctx context.Context, client string) {
	if mem.env.Getenv("OXBOW_HOOKS") == "off" {
		return
	}
	stdout := mem.env.Stdout
	mem.env.Stdout, mem.env.Stderr = io.Discard, io.Discard
	mem.skipsCheckpoints = true
	home, err := mem.finder.homeForHookReports()
	if err != nil {
		_, _ = stdout.Write(mem.handleOtherLayoutHook(ctx, client))
		return
	}
	mem.env.commandRewriter = mem.clientCommandRewriter()
	clean := mem.newReportCleaner()
	raw := readHookReport(ctx, mem.env.Stdin)
	copilot := clientfile.HomeDir("copilot", mem.env.userHomeDir(), mem.env.Getenv)
	defer func() {
		_, _ = stdout.Write(
			mem.handleEditHook(
				ctx,
				editHookInput{
					home: home,
					report: fileedits.HookInput{
						ClientName:    client,
						Stdin:         raw,
						CopilotHome:   copilot,
						RemoveSecrets: clean,
					},
				},
			),
		)
	}()
	r := hook.ParseReport(client, raw, hook.ParseEnv{Now: mem.env.Now(), CleanText: clean, CopilotHome: copilot})
	if r.ParseErrorText != "" {
		maintenance.HookFailure{Client: client, Error: r.ParseErrorText, Time: mem.env.Now()}.Save(home)
	}
	if len(r.Events) == 0 || mem.env.isFeatureSwitchedOff(injection.HooksOffFile, home, r.Events[0].Dir) {
		return
	}
	t := mem.newInjector(home, r.Events[0])
	if !isDir(t.spool.Dir) {
		// Write .gitignore first, so that git does not add the prompts that are stored below.
		_ = maintenance.WriteGitignore(home)
	}
	markNotes := mem.recordCallOrigin(home, &r, clean)
	if err := t.spool.AppendEvents(r.Events...); err != nil {
		maintenance.HookFailure{Client: client, Error: err.Error(), Time: mem.env.Now()}.Save(home)
	}
	if markNotes != nil {
		markNotes(ctx)
	}
	_, _ = stdout.Write(t.answerHookReport(ctx, r))
	mem.mirrorClientMemory(ctx, home, r)
	if r.EndsTurn {
		mem.startReportArchiver(ctx)
	}
}

// startReportArchiver moves the home's hook reports from the spool into the archive, in a new process, so that the
// client need not wait. If [Env.StartDetached] is nil, the present process moves them. If no process can be started,
// the reports stay in the spool until the next hook, or until a command reads the archive.
func (mem *lazyMemory) startReportArchiver(ctx context.Context) {
	if mem.env.StartDetached == nil {
		mem.archiveSpooledReports(ctx)
		return
	}
	args := []string{"hook", "--" + drainSpoolFlag}
	if mem.finder.homeFlag != "" {
		args = append([]string{"--home", mem.finder.homeFlag}, args...)
	}
	_ = mem.env.StartDetached(args)
}

// drainSpoolFlag is the flag with which startReportArchiver calls "oxbow hook" in the new process.
const drainSpoolFlag = "drain"

// archiveSpooledReports moves the home's hook reports from the spool into the session archive. Then it updates the
// archive's index, and the thresholds that decide which entries match a prompt, so that the next prompt is answered
// quickly.
//
// It takes at most the time SpoolDrain in [HookTimeLimits], even if another process keeps a lock. Otherwise each turn
// could add another waiting process.
func (mem *lazyMemory) archiveSpooledReports(ctx context.Context) {
	// Make no checkpoint when a memory is closed, because this function makes one at its end.
	mem.skipsCheckpoints = true
	mem.drainTimeout = mem.env.hookTimeLimits().SpoolDrain
	ctx, cancel := context.WithTimeout(ctx, mem.drainTimeout)
	defer cancel()
	if s, err := mem.archiveOpenerAfterSpoolDrain()(ctx); err == nil {
		// Ignore the error: when the next prompt comes, oxbow computes the missing thresholds.
		_ = mem.calibrateMatchThresholds(ctx)
		_ = s.Memory.Checkpoint(ctx)
	}
}

// homeForHookReports returns the home in which hooks store their reports. The reports are stored in the spool, a
// directory for reports that are not in the memory yet. The home must be trusted, must have oxbow's own layout, and
// must have a usable spool. Otherwise homeForHookReports returns an error.
func (finder *homeFinder) homeForHookReports() (string, error) {
	v, err := finder.trustVerdict()
	if err != nil {
		return "", err
	}
	p, err := finder.memoryPlace()
	if err != nil {
		return "", err
	}
	isTrusted := v.Ownership != trust.ForeignHome && v.Ownership != trust.Refused
	hasSpool := p.HasOwnLayout() && p.Home != p.StorePath
	if !isTrusted || !hasSpool {
		return "", ownership.NewUntrustedError(p.Home)
	}
	home := filepath.Dir(p.StorePath)
	return home, ownership.CheckSpoolDir(home)
}

// parseHookArgs parses a command line that runs a hook, in the form that setup writes into clients' files. For such a
// command line, the tree of commands need not be built. ok is false for any other command line.
func parseHookArgs(args []string) (client, home string, ok bool) {
	hasHome := len(args) == 4 && args[0] == "--home"
	if hasHome && args[1] != "" {
		home, args = args[1], args[2:]
	}
	isHook := len(args) == 2 && args[0] == "hook"
	if !isHook || !slices.Contains(hook.Clients(), args[1]) {
		return "", "", false
	}
	return args[1], home, true
}
