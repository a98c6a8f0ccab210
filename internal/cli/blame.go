// This file implements the command "oxbow blame".

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
)

func blameCommand(mem *lazyMemory) *cobra.Command {
	var porcelain bool
	c := &cobra.Command{
		Use:   "blame FILE",
		Short: "Show each line of a file with its commit and its reason",
		Long: `Blame prints the file in the working tree. Each line has the commit that it
comes from, or no commit if it is not committed. Where an annotation begins,
its reason is shown on one line: the first line of a reason that was given on
purpose, or the last sentence of what an agent said before an edit.

--porcelain prints the format of git blame --porcelain, with an additional
header "why" for each annotation of a line. Lines that are not committed have a
commit of zeros.`,
		Example: `  oxbow blame pool.go
  oxbow blame pool.go --json`,
		Args: requireArgCount(1, 1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if porcelain && mem.env.wantsJSON {
				return usageErrorf("give one of the two", "--porcelain and --json are two forms")
			}
			out, err := runVerbOnFile(
				cmd.Context(),
				mem,
				args[0],
				annotations.Blame,
				func(at codeLocation) (annotations.BlameIn, error) {
					if at.span.Len() > 0 {
						return annotations.BlameIn{}, usageErrorf("oxbow why "+args[0]+
							" shows the annotations of lines", "blame takes a whole file")
					}
					return annotations.BlameIn{File: at.file}, nil
				},
			)
			if err != nil {
				return err
			}
			show := mem.env.printBlameText
			if porcelain {
				show = mem.env.printBlamePorcelain
			}
			return printResult(mem, out, show)
		},
	}
	c.Flags().BoolVar(&porcelain, "porcelain", false, "print the format of git blame --porcelain, for editors")
	return c
}

// formatLineRange returns the line range of an annotation, such as "7" or "42-60".
func formatLineRange(n annotations.Annotation) string {
	return annotate.LineSpan{First: n.StartLine, Last: n.EndLine}.String()
}

// annotationsByID returns the annotations of a result as a map by their IDs.
func annotationsByID(out annotations.BlameOut) map[string]annotations.Annotation {
	byID := map[string]annotations.Annotation{}
	for _, n := range out.Annotations {
		byID[n.ID] = n
	}
	return byID
}

func (env *environment) printBlamePorcelain(out annotations.BlameOut) {
	zeros := strings.Repeat("0", 40)
	for _, l := range out.Lines {
		if len(l.Commit) == 64 {
			zeros = strings.Repeat("0", 64)
		}
	}
	why := annotationsByID(out)
	seen := map[string]bool{}
	for _, l := range out.Lines {
		commit, from := l.Commit, l.LineInCommit
		if commit == "" {
			commit, from = zeros, l.Line
		}
		env.printf("%s %d %d 1\n", commit, from, l.Line)
		if !seen[commit] {
			seen[commit] = true
			// For a line that is not committed, git blame prints "Not Committed Yet" as author and committer.
			if l.Commit == "" {
				for _, by := range []string{"author", "committer"} {
					l.PorcelainHeader = append(l.PorcelainHeader, by+" Not Committed Yet", by+
						"-mail <not.committed.yet>", fmt.Sprintf("%s-time %d", by, env.Now().Unix()), by+"-tz +0000")
				}
				l.PorcelainHeader = append(l.PorcelainHeader, "summary not committed")
			}
			for _, h := range append(l.PorcelainHeader, "filename "+out.File) {
				env.printf("%s\n", toPrintableLine(h))
			}
		}
		for _, id := range l.AnnotationIDs {
			n := why[id]
			env.printf("why %s %s %.2f %s\n", n.ID, n.PlacingStatus, n.Confidence, replaceHarmfulChars(n.Headline))
		}
		env.printf("\t%s\n", l.Text)
	}
	env.showNotes(out.Notes)
}

// printBlameText prints the lines of the file, and each annotation above its first line. The lines are printed
// directly, because a report would lose the lines' indentation.
func (env *environment) printBlameText(out annotations.BlameOut) {
	wide := len(fmt.Sprint(len(out.Lines)))
	why := annotationsByID(out)
	for _, l := range out.Lines {
		for _, id := range l.AnnotationIDs {
			n, ok := why[id]
			if !ok {
				continue // This annotation was already printed.
			}
			delete(why, id)
			mark := ""
			if n.HaveLinesChanged() {
				mark = " (edited since)"
			}
			env.printf("%s\n", env.bold(env.cutColumns(strings.Repeat(" ", 10+wide)+"# "+formatLineRange(n)+mark+": "+
				replaceHarmfulChars(n.Headline), env.textWidth())))
		}
		commit := "-"
		if l.Commit != "" {
			commit = l.Commit[:8]
		}
		env.printf("%-8s %*d  %s\n", commit, wide, l.Line, replaceHarmfulChars(l.Text))
	}
	env.showNotes(out.Notes)
}
