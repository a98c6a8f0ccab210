// This file holds "oxbow stats".

package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
)

// statsOut are the numbers of a memory as JSON.
type statsOut struct {
	Store    string         `json:"store"`
	Entries  int            `json:"entries"`
	Bytes    int64          `json:"bytes"` // of the file
	Used     int64          `json:"used"`  // of the file, without free space
	Content  int64          `json:"content_bytes"`
	First    uint64         `json:"first_change"`
	Last     uint64         `json:"last_change"`
	Oldest   string         `json:"oldest,omitempty"` // creation of the oldest entry, RFC 3339
	Newest   string         `json:"newest,omitempty"`
	Kinds    map[string]int `json:"kinds"`
	Projects map[string]int `json:"projects"`
	Tags     map[string]int `json:"tags"`
}

func (a *app) statsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Show how much the memory holds",
		Example: `  oxbow stats
  oxbow stats --json`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), look, a.stats)
		},
	}
}

func (a *app) stats(ctx context.Context, m *oxbow.Memory) error {
	path, own, err := a.storePlace()
	if err != nil {
		return err
	}
	out := statsOut{Store: path, Kinds: map[string]int{}, Projects: map[string]int{}, Tags: map[string]int{}}
	if c, ok := m.Store().(oxbow.Counter); ok {
		s, err := c.Stats(ctx)
		if err != nil {
			return fmt.Errorf("counting: %w", err)
		}
		out.Bytes, out.Used, out.First, out.Last = s.Bytes, s.Used, s.First, s.Last
	}
	var oldest, newest time.Time
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return fmt.Errorf("counting: %w", err)
		}
		out.Entries++
		out.Content += int64(len(e.Content))
		out.Kinds[e.Kind.String()]++
		for _, v := range e.Values(oxbow.LabelProject) {
			out.Projects[v]++
		}
		for _, v := range e.Values(oxbow.LabelTag) {
			out.Tags[v]++
		}
		if oldest.IsZero() || e.Created.Before(oldest) {
			oldest = e.Created
		}
		if e.Created.After(newest) {
			newest = e.Created
		}
	}
	if out.Entries > 0 {
		out.Oldest, out.Newest = oldest.UTC().Format(time.RFC3339), newest.UTC().Format(time.RFC3339)
	}
	if a.json {
		return a.printJSON(out)
	}
	line := func(key, value string) {
		if value != "" {
			a.printf("%s %s\n", a.dim(pad(key, 9)), value)
		}
	}
	line("store", path)
	line("entries", fmt.Sprintf("%d, %s of text", out.Entries, bytesText(out.Content)))
	line("kinds", most(out.Kinds, 6))
	line("projects", most(out.Projects, 8))
	line("tags", most(out.Tags, 12))
	if out.Entries > 0 {
		line("created", a.date(oldest)+" to "+a.date(newest))
	}
	if !own {
		line("size", bytesText(out.Bytes))
		return nil
	}
	changes := "none yet"
	if out.Last > 0 {
		changes = fmt.Sprintf("%d to %d in the log", out.First, out.Last)
	}
	line("changes", changes)
	line("file", fmt.Sprintf("%s, %s of them used", bytesText(out.Bytes), bytesText(out.Used)))
	return nil
}

// most lists the n words of the highest counts, and says how many are left.
func most(counts map[string]int, n int) string {
	words := sortedKeys(counts)
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
