// oxbow annotate gc, oxbow annotate stats, oxbow annotate recover.

package command

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) annotateGCCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "gc",
		Short: "Archive annotations whose lines are gone, and bring back returned ones",
		Long: `Gc archives the annotations whose lines are neither in HEAD nor in the working
tree, and brings back archived ones whose lines are there again. Nothing is
deleted: why --search still finds what is archived. --undo takes the last gc
back.`,
		Example: `  oxbow annotate gc --dry-run
  oxbow annotate gc
  oxbow annotate gc --undo`,
	}, tool.GCAnnotations, noArguments, a.showGC)
}

func (a *app) showGC(out tool.GCAnnotationsOut) {
	if out.Undo && out.Run == "" {
		a.note("there is no gc to take back")
		return
	}
	would := ""
	if out.DryRun {
		would = "would be "
	}
	for _, w := range []struct {
		word string
		what []tool.Annotation
	}{{"archived", out.Archived}, {"returned", out.Returned}} {
		for _, n := range w.what {
			at := n.WasLines
			if n.StartLine > 0 {
				at = spanOf(n)
			}
			a.printf("%s%s  %s\n", would, w.word, a.cut(oneLine(n.File)+":"+at+"  "+firstLine(n.Why), a.width()-len(would)-10))
		}
	}
	a.noteSkipped(out.Skipped)
	if a.quiet {
		return
	}
	did, back := "archived", "returned"
	if out.DryRun {
		did, back = "would archive", "return"
	}
	a.printf("%s %d and %s %d of %s in %s\n", did, len(out.Archived), back, len(out.Returned),
		count(out.Annotations, "annotation", "annotations"), count(out.Files, "sidecar", "sidecars"))
	if !out.DryRun && !out.Undo && out.Run != "" {
		a.note("to take this back: oxbow annotate gc --undo")
	}
}

func (a *app) noteSkipped(skipped []tool.Skipped) {
	for _, s := range skipped {
		a.note("%s was left as it is: %s", oneLine(s.File), oneLine(s.Why))
	}
}

func (a *app) annotateStatsCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "stats",
		Short: "Show how many annotations there are, and how they stand",
		Example: `  oxbow annotate stats
  oxbow annotate stats --json`,
	}, tool.AnnotationStats, noArguments, a.showAnnotationStats)
}

func (a *app) showAnnotationStats(s tool.AnnotationStatsOut) {
	line := func(key, value string) { a.field(11, key, value) }
	line("annotations", fmt.Sprintf("%d of %s, %s", s.Annotations, count(s.Files, "file", "files"), bytesText(s.Bytes)))
	for _, p := range tool.Placings {
		if n := s.Placed[string(p)]; n > 0 {
			line(string(p), fmt.Sprint(n))
		}
	}
	if s.Archived > 0 {
		line("archived", fmt.Sprint(s.Archived))
	}
	for _, by := range slices.Sorted(maps.Keys(s.By)) {
		if by != "unknown" {
			line("by "+by, fmt.Sprint(s.By[by]))
		}
	}
	if s.Annotations > 0 {
		line("written", fmt.Sprintf("%s to %s, half of them by %s", a.date(moment(s.Oldest)), a.date(moment(s.Newest)), a.date(moment(s.Median))))
	}
	if n := s.Placed["lost"]; n > 0 {
		a.note("%s nowhere any more; oxbow annotate gc archives them", count(n, "stands", "stand"))
	}
	if s.Damaged > 0 {
		a.note("%s of sidecars cannot be read; oxbow check says which", count(s.Damaged, "line", "lines"))
	}
	a.noteSkipped(s.Skipped)
}

func (a *app) annotateRecoverCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "recover",
		Short: "Mend sidecars of annotations that have damaged lines",
		Long: `Recover takes the lines that cannot be read out of the sidecars, and keeps them
beside, byte for byte, in a new file that ends in .damaged. What whole
annotations are found inside of such lines, as where two ran together, are put
back. oxbow check says which lines these are.`,
		Example: `  oxbow annotate recover --dry-run
  oxbow annotate recover`,
	}, tool.RecoverAnnotations, noArguments, func(out tool.RecoverAnnotationsOut) {
		if len(out.Recovered) == 0 {
			a.note("no sidecar has a line that cannot be read")
		}
		word := "kept"
		if out.DryRun {
			word = "would be kept"
		}
		for _, s := range out.Recovered {
			a.printf("%s: %s %s in %s, %d found in them\n", oneLine(s.File), count(s.Lines, "damaged line", "damaged lines"), word, oneLine(s.KeptIn), s.Found)
		}
	})
}
