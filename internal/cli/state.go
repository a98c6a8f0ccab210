// This file implements "oxbow" without a subcommand. It prints the size of the memory, the proposals that wait for the
// person, the changes by agents, and the next commands.

package cli

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

// nextCommand is a command that the person may want to run next, and its purpose.
type nextCommand struct{ commandLine, purpose string }

// printMemoryState prints the number of entries and three useful next commands. It returns false, and prints nothing,
// if the output must be JSON or quiet, or if the memory does not exist or cannot be read. The caller can then print a
// list of all commands instead. printMemoryState does not print what agents changed, because printChangeNotice does. It
// prints plain lines instead of a report, because only a person at a terminal sees them.
func (mem *lazyMemory) printMemoryState(ctx context.Context) bool {
	if mem.env.wantsJSON || mem.env.isQuiet {
		return false
	}
	path, err := mem.finder.storePath()
	if err != nil || !fileExists(path) {
		return false
	}
	stats, err := callVerb(ctx, mem, maintenance.Stats, maintenance.StatsIn{})
	if err != nil {
		return false
	}
	mem.env.printf("%s in %s\n", formatCount(stats.Entries, "entry", "entries"), replaceHarmfulChars(path))
	var next []nextCommand
	limit := 1
	if out, err := callVerb(ctx, mem, review.ListAgentChanges, review.ListAgentChangesIn{Limit: &limit}); err == nil &&
		out.Total > 0 {
		next = append(next, nextCommand{"oxbow changed", "see what agents changed, keep it or not"})
	}
	if stats.WaitingProposals > 0 {
		mem.env.printf("%s for your answer\n", formatCount(stats.WaitingProposals, "proposal waits", "proposals wait"))
		next = append(next, nextCommand{"oxbow inbox", "make notes of proposals, or drop them"})
	}
	if n := mem.unapprovedEntryCount(ctx); n > 0 {
		mem.env.printf(
			"%s, which agents see only if they search\n",
			formatCount(n, "unapproved entry", "unapproved entries"),
		)
		next = append(next, nextCommand{"oxbow approve", "let agents see them without a search"})
	}
	if stats.Entries == 0 {
		next = append(next, nextCommand{`oxbow remember "Tabs, not spaces."`, "keep something"})
	}
	next = append(next,
		nextCommand{"oxbow recall WORDS", "find what you keep"},
		nextCommand{"oxbow list", "see the newest entries"})
	mem.env.printf("\nNext:\n")
	for _, c := range append(next[:2:2], nextCommand{"oxbow help", "see what else there is"}) {
		mem.env.printf("  %s %s\n", padColumns(c.commandLine, 35), c.purpose)
	}
	return true
}

// unapprovedEntryCount returns how many entries are held back from agents. It returns 0 if the number is unknown.
func (mem *lazyMemory) unapprovedEntryCount(ctx context.Context) int {
	out, err := callVerb(ctx, mem, labels.ListQuarantinedEntries, labels.ListQuarantinedEntriesIn{})
	if err != nil {
		return 0
	}
	n := len(out.Entries)
	for _, g := range out.Groups {
		n += g.Count
	}
	return n
}
