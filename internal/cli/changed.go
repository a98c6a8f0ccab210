// This file implements the command "oxbow changed". It also prints a notice for other commands. The notice says that
// agents have changed a text of a person.

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

const (
	maxNoticeEntries     = 3 // maximum number of entries in a notice about changes by agents
	maxChangeNoticeLines = 8 // maximum number of lines for a difference in a notice
)

func changedCommand(mem *lazyMemory) *cobra.Command {
	c := setUpReportCommand(mem, &cobra.Command{
		Use:   "changed",
		Short: "Show which of your notes agents changed, and keep or restore them",
		Long: `Changed lists the entries whose text you wrote and an agent later changed or
forgot. It also lists entries whose label pinned or process an agent set or
removed. For each entry it shows the difference, the agent and its session, and
the change to which you can go back.

An entry is listed until you keep the agent's change, restore your text, or
write the entry again. Imported and pulled texts count neither as yours nor as
an agent's, unless an agent imported them. Versions that a compaction dropped
are not listed.`,
		Example: `  oxbow changed
  oxbow changed --json
  oxbow changed --name deploy
  oxbow changed restore --all --dry-run`,
		Args: requireArgCount(0, 0, "no arguments, or keep or restore"),
	}, review.ListAgentChanges, setPositionalArgs)
	c.AddCommand(
		setUpVerbCommand(mem, &cobra.Command{
			Use:   "keep NAME…",
			Short: "Accept agents' changes of your notes",
			Long: `Keep accepts the present text as yours. The entry is no longer listed, until an
agent changes it again. oxbow undo takes this back. In a shell that an agent
started, keep is refused.`,
			Example: `  oxbow changed keep --all --dry-run`,
			Args:    requireArgCount(0, -1, "the names of entries, or --all"),
		}, review.KeepAgentChanges, setPositionalArgs,
			func(out review.DecideAgentChangesOut) { mem.env.showReport(out.KeptChangesReport()) }),
		setUpVerbCommand(mem, &cobra.Command{
			Use:   "restore NAME…",
			Short: "Restore your text of notes that agents changed",
			Long: `Restore brings your text back, with its aliases and labels. Labels that you
changed after the agent's change stay. oxbow undo takes this back.`,
			Example: `  oxbow changed restore --all --dry-run`,
			Args:    requireArgCount(0, -1, "the names of entries, or --all"),
		}, review.RestorePersonTexts, setPositionalArgs, func(out review.DecideAgentChangesOut) {
			mem.env.showReport(out.RestoredReport())
		}))
	return c
}

// addChangeNotice makes c print the notice of printChangeNotice after it has succeeded.
func (mem *lazyMemory) addChangeNotice(c *cobra.Command) { addSuccessHook(c, mem.printChangeNotice) }

// addSuccessHook makes c call hook after it has succeeded.
func addSuccessHook(c *cobra.Command, hook func(context.Context)) {
	show := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := show(cmd, args); err != nil {
			return err
		}
		hook(cmd.Context())
		return nil
	}
}

// printApprovalNotice prints a line on standard error if entries wait for the person's approval. It stays silent in the
// cases in which printChangeNotice prints nothing.
func (mem *lazyMemory) printApprovalNotice(ctx context.Context) {
	if !mem.canPrintNotices() {
		return
	}
	if n := mem.unapprovedEntryCount(ctx); n > 0 {
		mem.env.printNote("%s for your approval: oxbow approve", formatCount(n, "entry waits", "entries wait"))
	}
}

// canPrintNotices reports whether this run may print additional notices about the memory for the person. It returns
// false if an agent runs the command, if the output is JSON, or if the person asked for no notices. It also returns
// false if the store file does not exist, or if the home is foreign, which means that the user has not marked it as
// trusted.
func (mem *lazyMemory) canPrintNotices() bool {
	if variable, _ := mem.env.detectAgent(); variable != "" {
		return false
	}
	if mem.env.wantsJSON || mem.env.isQuiet {
		return false
	}
	if path, err := mem.finder.storePath(); err != nil || !fileExists(path) {
		return false
	}
	foreign, err := mem.finder.isForeignHome()
	return err == nil && !foreign
}

// printChangeNotice prints a notice on standard error if agents have changed texts of the person. It prints nothing if
// an agent started the run, or if --json or --quiet is set. Errors are ignored, because the command itself reports
// them.
func (mem *lazyMemory) printChangeNotice(ctx context.Context) {
	if !mem.canPrintNotices() {
		return
	}
	limit := maxNoticeEntries
	out, err := callVerb(ctx, mem, review.ListAgentChanges, review.ListAgentChangesIn{Limit: &limit})
	if err != nil || out.Total == 0 {
		return
	}
	fmt.Fprintf(mem.env.Stderr, "oxbow: agents changed %s\n", formatCount(out.Total, "of your notes", "of your notes"))
	notice, text := mem.env.copyWithBuffer()
	for i := range out.Entries {
		for _, s := range out.Entries[i].DescribeSections(maxChangeNoticeLines) {
			notice.showSection(s)
		}
	}
	for line := range strings.Lines(text.String()) {
		fmt.Fprintf(mem.env.Stderr, "  %s", line)
	}
	if out.HasMore {
		fmt.Fprintf(mem.env.Stderr, "%s\n", mem.rewriteCommands("  all of them: oxbow changed"))
	}
}
