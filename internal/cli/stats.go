// This file implements the command "oxbow stats".

package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func (a *app) statsCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "stats",
		Short: "Show how much the memory holds",
		Example: `  oxbow stats
  oxbow stats --json`,
	}, maintenance.Stats, positional, a.showStats)
}

func (a *app) showStats(out maintenance.StatsOut) {
	line := func(key, value string) { a.field(9, key, value) }
	line("store", out.Store)
	line("entries", fmt.Sprintf("%d, %s of text", out.Entries, bytesText(out.Content)))
	line("kinds", most(out.Kinds, 6))
	line("projects", most(out.Projects, 8))
	line("tags", most(out.Tags, 12))
	if out.Entries > 0 {
		line("created", a.date(moment(out.Oldest))+" to "+a.date(moment(out.Newest)))
	}
	if out.Waiting > 0 {
		line("inbox", count(out.Waiting, "proposal waits", "proposals wait")+a.asTyped("; oxbow inbox shows what"))
	}
	if !out.Own {
		line("size", bytesText(out.Bytes))
		return
	}
	changes := "none yet"
	if out.Last > 0 {
		changes = fmt.Sprintf("%d to %d in the log", out.First, out.Last)
	}
	line("changes", changes)
	line("file", fmt.Sprintf("%s, %s of them used", bytesText(out.Bytes), bytesText(out.Used)))
}

// most lists the n words with the highest counts, followed by the number of the other words.
func most(counts map[string]int, n int) string {
	words := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var parts []string
	for i, w := range words {
		if i == n {
			parts = append(parts, fmt.Sprintf("and %d more", len(words)-n))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %d", clean(w), counts[w]))
	}
	return strings.Join(parts, ", ")
}
