// This file holds "oxbow blame": each line with its commit and its why.

package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/tool"
)

// blameOut is a file with where its lines are from, as JSON. Of a line, why
// holds the ids of annotations.
type blameOut struct {
	File        string            `json:"file"`
	Lines       []blameLine       `json:"lines"`
	Annotations []tool.Annotation `json:"annotations"`
}

type blameLine struct {
	Line    int      `json:"line"`
	Commit  string   `json:"commit,omitempty"`
	From    int      `json:"from,omitempty"`
	Author  string   `json:"author,omitempty"`
	Time    string   `json:"time,omitempty"`
	Summary string   `json:"summary,omitempty"`
	Text    string   `json:"text"`
	Why     []string `json:"why,omitempty"`
}

func (a *app) blameCommand() *cobra.Command {
	var porcelain bool
	c := &cobra.Command{
		Use:   "blame FILE",
		Short: "Show each line of a file with its commit and its why",
		Long: `Blame shows the file as it stands in the working tree: each line with the
commit that it is from (none where it is not committed) and, where an annotation
begins, the first line of its reasoning. --porcelain prints what git blame
--porcelain prints, with one more header, "why", for each annotation of a line;
a line that is not committed has zeros for its commit.`,
		Example: `  oxbow blame pool.go
  oxbow blame pool.go --json`,
		Args: args(1, 1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if porcelain && a.json {
				return misusef("give one of the two", "--porcelain and --json are two forms")
			}
			return a.withBookOf(cmd.Context(), args[0], func(ctx context.Context, b *annotate.Store) error {
				file, s, err := a.place(b, args[0])
				if err != nil {
					return err
				}
				if s.Len() > 0 {
					return misusef("oxbow why "+args[0]+" shows the annotations of lines", "blame takes a whole file")
				}
				lines, err := b.Blame(ctx, file)
				if note, ok := tool.PartialNote(err); ok {
					a.note("%s", oneLine(note))
				} else if err != nil {
					return err
				}
				switch {
				case a.json:
					return a.blameJSON(file, lines)
				case porcelain:
					a.blamePorcelain(file, lines)
				default:
					a.blameText(lines)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&porcelain, "porcelain", false, "print it for editors, as git blame --porcelain does")
	return c
}

func (a *app) blameJSON(file string, lines []annotate.Line) error {
	out := blameOut{File: file, Lines: []blameLine{}, Annotations: []tool.Annotation{}}
	seen := map[string]bool{}
	for _, l := range lines {
		b := blameLine{Line: l.Number, Commit: l.Commit, From: l.From, Author: l.Author, Summary: l.Summary, Text: l.Text}
		if l.Commit != "" {
			b.Time = l.Time.UTC().Format("2006-01-02T15:04:05Z")
		}
		for _, f := range l.Why {
			b.Why = append(b.Why, f.ID)
			if !seen[f.ID] {
				seen[f.ID] = true
				out.Annotations = append(out.Annotations, tool.AnnotationOf(f))
			}
		}
		out.Lines = append(out.Lines, b)
	}
	return a.printJSON(out)
}

// firstLine returns the first line of a text, safe to print.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return clean(strings.TrimSpace(s))
}

func (a *app) blamePorcelain(file string, lines []annotate.Line) {
	zeros := strings.Repeat("0", 40)
	for _, l := range lines {
		if len(l.Commit) == 64 {
			zeros = strings.Repeat("0", 64)
		}
	}
	seen := map[string]bool{}
	for _, l := range lines {
		commit, from := l.Commit, l.From
		if commit == "" {
			commit, from = zeros, l.Number
		}
		a.printf("%s %d %d 1\n", commit, from, l.Number)
		if !seen[commit] {
			seen[commit] = true
			author, summary := oneLine(l.Author), oneLine(l.Summary)
			if l.Commit == "" {
				author, summary = "Not Committed Yet", "not committed"
			} else {
				a.printf("author-time %d\n", l.Time.Unix())
			}
			a.printf("author %s\nsummary %s\nfilename %s\n", author, summary, oneLine(file))
		}
		for _, f := range l.Why {
			a.printf("why %s %s %.2f %s\n", f.ID, f.Placed, f.Confidence, firstLine(f.Why))
		}
		a.printf("\t%s\n", l.Text)
	}
}

func (a *app) blameText(lines []annotate.Line) {
	wide := len(fmt.Sprint(len(lines)))
	shown := map[string]bool{}
	for _, l := range lines {
		for _, f := range l.Why {
			if shown[f.ID] {
				continue
			}
			shown[f.ID] = true
			mark := ""
			if f.Placed == annotate.Edited {
				mark = " (edited since)"
			}
			a.printf("%s\n", a.bold(fit(strings.Repeat(" ", 10+wide)+"# "+f.Now.String()+mark+": "+firstLine(f.Why), a.width())))
		}
		commit := "-"
		if l.Commit != "" {
			commit = l.Commit[:8]
		}
		a.printf("%-8s %*d  %s\n", commit, wide, l.Number, clean(l.Text))
	}
}
