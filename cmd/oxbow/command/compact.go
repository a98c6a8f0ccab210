// This file holds "oxbow compact".

package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/tool"
)

// compactOut is what a compaction dropped, as JSON.
type compactOut struct {
	DryRun      bool   `json:"dry_run,omitempty"`
	Before      string `json:"before"` // what is older was dropped, RFC 3339
	Changes     int    `json:"changes"`
	Versions    int    `json:"versions"`
	BytesBefore int64  `json:"bytes_before"`
	BytesAfter  int64  `json:"bytes_after"`
	Seq         uint64 `json:"seq,omitempty"`
}

func (a *app) compactCommand() *cobra.Command {
	var keep string
	var dry bool
	c := &cobra.Command{
		Use:   "compact",
		Short: "Drop old history for good",
		Long: `Compact rewrites the file without the versions that were replaced or forgotten
longer ago than --keep says. What the entries say now is never touched. What is
dropped cannot be undone: oxbow undo reaches only the changes that are kept.`,
		Example: `  oxbow compact --dry-run
  oxbow compact --keep 90d
  oxbow compact --keep 0d        keep no history`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := parseSpan(keep)
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), change, func(ctx context.Context, m *oxbow.Memory) error {
				return a.compact(ctx, m, a.env.Now().Add(-d), dry)
			})
		},
	}
	c.Flags().StringVar(&keep, "keep", "90d", "keep the history of this `SPAN`: 90d, 12w, 1y, 36h")
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be dropped and change nothing")
	return c
}

func (a *app) compact(ctx context.Context, m *oxbow.Memory, before time.Time, dry bool) error {
	c, ok := m.Store().(oxbow.Compactor)
	if !ok {
		return fmt.Errorf("compacting: %w", oxbow.ErrUnsupported)
	}
	r, err := c.Compact(ctx, before, dry)
	if err != nil {
		return fmt.Errorf("compacting: %w", err)
	}
	if r.Seq > 0 {
		// It dropped the index file. To make it anew takes no longer than to
		// rewrite all did; what goes wrong is left to the next recall.
		defer func() { _ = m.MakeIndex(ctx) }()
	}
	if a.json {
		return a.printJSON(compactOut{dry, before.UTC().Format(time.RFC3339), r.Changes, r.Versions, r.BytesBefore, r.BytesAfter, r.Seq})
	}
	did := "dropped"
	if dry {
		did = "would drop"
	}
	what := count(r.Changes, "change", "changes") + " and " + count(r.Versions, "version", "versions")
	switch {
	case r.Changes == 0 && r.Versions == 0:
		a.printf("there is no history from before %s to drop; nothing was changed\n", a.date(before))
	default:
		a.printf("%s %s from before %s: %s, now %s\n", did, what, a.date(before), bytesText(r.BytesBefore), bytesText(r.BytesAfter))
		if dry {
			a.note("nothing was changed; what is dropped cannot be brought back by oxbow undo")
		} else {
			a.note("oxbow undo still reaches the changes that were kept")
		}
	}
	return nil
}

// parseSpan reads a length of time such as 90d.
func parseSpan(s string) (time.Duration, error) {
	d, ok := tool.ParseSpan(s)
	if !ok {
		return 0, misusef("write 90d, 12w, 6mo, 1y or 36h", "%q is not a length of time", s)
	}
	return d, nil
}
