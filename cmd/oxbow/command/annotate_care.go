// This file holds the commands that look after annotations: gc and stats.

package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/tool"
)

// gcOut is what a gc did, as JSON.
type gcOut struct {
	DryRun      bool              `json:"dry_run,omitempty"`
	Run         string            `json:"run,omitempty"`
	Files       int               `json:"files"`
	Annotations int               `json:"annotations"`
	Archived    []tool.Annotation `json:"archived"`
	Returned    []tool.Annotation `json:"returned"`
	Skipped     []skippedOut      `json:"skipped,omitempty"`
}

// skippedOut is a file whose annotations were left alone.
type skippedOut struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

func (a *app) annotateGCCommand() *cobra.Command {
	var dry, undo bool
	c := &cobra.Command{
		Use:   "gc",
		Short: "Archive annotations whose lines are gone, and bring back returned ones",
		Long: `Gc archives the annotations whose lines are neither in HEAD nor in the working
tree, and brings back archived ones whose lines are there again. Nothing is
deleted: why --search still finds what is archived. --undo takes the last gc
back.`,
		Example: `  oxbow annotate gc --dry-run
  oxbow annotate gc
  oxbow annotate gc --undo`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBook(cmd.Context(), func(ctx context.Context, b *annotate.Store) error {
				do := b.GC
				if undo {
					do = b.UndoGC
				}
				r, err := do(ctx, dry)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(gcJSON(r, dry))
				}
				a.showGC(r, dry, undo)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and change nothing")
	c.Flags().BoolVar(&undo, "undo", false, "take the last gc back")
	return c
}

func gcJSON(r annotate.GCReport, dry bool) gcOut {
	out := gcOut{DryRun: dry, Run: r.Run, Files: r.Files, Annotations: r.Annotations, Archived: []tool.Annotation{}, Returned: []tool.Annotation{},
		Skipped: skippedJSON(r.Skipped)}
	for _, s := range r.Archived {
		out.Archived = append(out.Archived, tool.AnnotationOf(s))
	}
	for _, s := range r.Returned {
		out.Returned = append(out.Returned, tool.AnnotationOf(s))
	}
	return out
}

func skippedJSON(skipped []annotate.Skipped) []skippedOut {
	var out []skippedOut
	for _, s := range skipped {
		out = append(out, skippedOut{s.File, s.Err.Error()})
	}
	return out
}

func (a *app) showGC(r annotate.GCReport, dry, undo bool) {
	if undo && r.Run == "" {
		a.note("there is no gc to take back")
		return
	}
	would := ""
	if dry {
		would = "would be "
	}
	for _, w := range []struct {
		word string
		what []annotate.Found
	}{{"archived", r.Archived}, {"returned", r.Returned}} {
		for _, s := range w.what {
			at := s.Span
			if s.Placed != annotate.Lost {
				at = s.Now
			}
			a.printf("%s%s  %s\n", would, w.word, fit(oneLine(s.In)+":"+at.String()+"  "+firstLine(s.Why), max(20, a.width()-len(would)-10)))
		}
	}
	a.noteSkipped(r.Skipped)
	if a.quiet {
		return
	}
	a.printf("%s%d archived, %d returned, of %s in %s\n", would, len(r.Archived), len(r.Returned),
		count(r.Annotations, "annotation", "annotations"), count(r.Files, "sidecar", "sidecars"))
	if !dry && !undo && r.Run != "" {
		a.note("to take this back: oxbow annotate gc --undo")
	}
}

func (a *app) noteSkipped(skipped []annotate.Skipped) {
	for _, s := range skipped {
		a.note("%s was left as it is: %s", oneLine(s.File), oneLine(s.Err.Error()))
	}
}

// annotateStatsOut are the numbers of a tree's annotations, as JSON.
type annotateStatsOut struct {
	Files       int            `json:"files"`
	Annotations int            `json:"annotations"`
	Placed      map[string]int `json:"placed"`
	Archived    int            `json:"archived"`
	By          map[string]int `json:"by"`
	Oldest      string         `json:"oldest,omitempty"`
	Median      string         `json:"median,omitempty"`
	Newest      string         `json:"newest,omitempty"`
	Bytes       int64          `json:"bytes"`
	Damaged     int            `json:"damaged"`
	Newer       int            `json:"newer,omitempty"`
	Skipped     []skippedOut   `json:"skipped,omitempty"`
}

func (a *app) annotateStatsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Show how many annotations there are, and how they stand",
		Example: `  oxbow annotate stats
  oxbow annotate stats --json`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBook(cmd.Context(), func(ctx context.Context, b *annotate.Store) error {
				s, err := b.Stats(ctx)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(annotateStatsJSON(s))
				}
				a.showAnnotateStats(s)
				return nil
			})
		},
	}
}

func annotateStatsJSON(s annotate.Stats) annotateStatsOut {
	out := annotateStatsOut{Files: s.Files, Annotations: s.Annotations, Placed: map[string]int{}, Archived: s.Archived, By: map[string]int{},
		Bytes: s.Bytes, Damaged: s.Damaged, Newer: s.Newer, Skipped: skippedJSON(s.Skipped)}
	for _, p := range placings {
		out.Placed[string(p)] = s.Placed[p]
	}
	for who, n := range s.By {
		if who == "" {
			who = "unknown"
		}
		out.By[who] += n
	}
	if s.Annotations > 0 {
		out.Oldest, out.Median, out.Newest = stampOf(s.Oldest), stampOf(s.Median), stampOf(s.Newest)
	}
	return out
}

// placings are the ways to be placed, the surest first.
var placings = []annotate.Placing{annotate.Exact, annotate.Tracked, annotate.Moved, annotate.Edited, annotate.Lost}

func stampOf(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (a *app) showAnnotateStats(s annotate.Stats) {
	line := func(key, value string) { a.printf("%s %s\n", a.dim(pad(key, 11)), value) }
	line("annotations", fmt.Sprintf("%d of %s, %s", s.Annotations, count(s.Files, "file", "files"), bytesText(s.Bytes)))
	for _, p := range placings {
		if n := s.Placed[p]; n > 0 {
			line(string(p), fmt.Sprint(n))
		}
	}
	if s.Archived > 0 {
		line("archived", fmt.Sprint(s.Archived))
	}
	for _, who := range slices.Sorted(maps.Keys(s.By)) {
		if n := s.By[who]; who != "" {
			line("by "+who, fmt.Sprint(n))
		}
	}
	if s.Annotations > 0 {
		line("written", fmt.Sprintf("%s to %s, half of them by %s", a.date(s.Oldest), a.date(s.Newest), a.date(s.Median)))
	}
	if s.Placed[annotate.Lost] > 0 {
		a.note("%s nowhere any more; oxbow annotate gc archives them", count(s.Placed[annotate.Lost], "stands", "stand"))
	}
	if s.Damaged > 0 {
		a.note("%s of sidecars cannot be read; oxbow check says which", count(s.Damaged, "line", "lines"))
	}
	a.noteSkipped(s.Skipped)
}
