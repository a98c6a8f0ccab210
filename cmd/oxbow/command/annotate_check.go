// This file holds what check and doctor say of the annotations of the working
// tree, and "oxbow annotate recover", which mends them.

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/annotate"
)

// annotationsOut is what a check found in the sidecars, as JSON.
type annotationsOut struct {
	Files       int           `json:"files"`
	Annotations int           `json:"annotations"`
	Lines       int           `json:"lines"`
	Torn        int           `json:"torn,omitempty"`
	Newer       int           `json:"newer,omitempty"`
	Problems    []lineProblem `json:"problems"`
}

// lineProblem is a line of a sidecar that is not sound.
type lineProblem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Offset int64  `json:"offset"`
	What   string `json:"what"`
}

const mendAnnotations = "oxbow annotate recover keeps these lines beside, and puts back what can be read of them; or git checkout an older version of the file"

// checkAnnotations examines the sidecars of the working tree, and returns nil
// where there are none.
func (a *app) checkAnnotations(ctx context.Context) (out *annotationsOut, err error) {
	b, err := a.book(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r, err := b.Check(ctx)
	if err != nil || r.Files == 0 && len(r.Problems) == 0 {
		return nil, err
	}
	out = &annotationsOut{Files: r.Files, Annotations: r.Annotations, Lines: r.Lines, Torn: r.Torn, Newer: r.Newer, Problems: []lineProblem{}}
	for _, p := range r.Problems {
		out.Problems = append(out.Problems, lineProblem(p))
	}
	return out, nil
}

func (a *app) showCheckedAnnotations(out *annotationsOut) {
	n := len(out.Problems)
	switch {
	case n > 0:
		a.printf("the annotations have %s:\n", count(n, "problem", "problems"))
		for _, p := range out.Problems {
			a.printf("  %s %s\n", oneLine(at(p)), oneLine(p.What))
		}
		for _, line := range wrap("mend: "+mendAnnotations, a.width()-4) {
			a.printf("    %s\n", line)
		}
	case !a.quiet:
		a.printf("the annotations are sound: %d in %s\n", out.Annotations, count(out.Files, "sidecar", "sidecars"))
	}
	if out.Torn > 0 {
		a.note("%s with a write that was cut off: nothing acknowledged is in it", count(out.Torn, "sidecar ends", "sidecars end"))
	}
	if out.Newer > 0 {
		a.note("%s by a newer oxbow, and passed over", count(out.Newer, "line was written", "lines were written"))
	}
}

// at says where a problem is, as compilers do.
func at(p lineProblem) string {
	if p.Line == 0 {
		return p.File + ":"
	}
	return fmt.Sprintf("%s:%d:", p.File, p.Line)
}

// annotations looks at the sidecars of the working tree, if there are any.
func (d *diagnosis) annotations(ctx context.Context) error {
	const about = "annotations"
	out, err := d.a.checkAnnotations(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.add(unknown, about, "", "those of the code here cannot be looked at: %v", err)
		return nil
	}
	if out == nil {
		return nil
	}
	for i, p := range out.Problems {
		if i == maxFindings {
			d.add(problem, about, "oxbow check lists them", "%d more", len(out.Problems)-i)
			break
		}
		d.add(problem, about, mendAnnotations, "%s %s", at(p), p.What)
	}
	if len(out.Problems) == 0 {
		d.add(fine, about, "", "%d of the code here, in %s", out.Annotations, count(out.Files, "sidecar", "sidecars"))
	}
	return d.merging(ctx)
}

// maxFindings is the most lines that doctor names.
const maxFindings = 5

// merging looks whether git knows how to merge sidecars.
func (d *diagnosis) merging(ctx context.Context) (err error) {
	b, err := d.a.book(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	s, err := b.Setup(ctx, "", false, true)
	switch {
	case errors.Is(err, oxbow.ErrUnsupported): // no repository
		return nil
	case err != nil:
		d.add(unknown, "annotations", "", "whether git can merge them: %v", err)
	case !s.Attributes.There && !s.Local.There:
		d.add(warning, "annotations", "oxbow annotate setup", "two branches that annotate one file will conflict in git")
	}
	return nil
}

// savedOut is what was saved of one sidecar, as JSON.
type savedOut struct {
	File   string `json:"file"`
	Lines  int    `json:"lines"`
	Found  int    `json:"found"`
	KeptIn string `json:"beside"`
}

func (a *app) annotateRecoverCommand() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "recover",
		Short: "Mend sidecars of annotations that have damaged lines",
		Long: `Recover takes the lines that cannot be read out of the sidecars, and keeps them
beside, byte for byte, in a new file that ends in .damaged. What whole
annotations are found inside of such lines, as where two ran together, are put
back. oxbow check says which lines these are.`,
		Example: `  oxbow annotate recover --dry-run
  oxbow annotate recover`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBook(cmd.Context(), func(ctx context.Context, b *annotate.Store) error {
				saved, err := b.Recover(ctx, dry)
				if err != nil {
					return err
				}
				if a.json {
					out := struct {
						DryRun bool       `json:"dry_run,omitempty"`
						Saved  []savedOut `json:"recovered"`
					}{dry, []savedOut{}}
					for _, s := range saved {
						out.Saved = append(out.Saved, savedOut(s))
					}
					return a.printJSON(out)
				}
				if len(saved) == 0 {
					a.note("no sidecar has a line that cannot be read")
				}
				for _, s := range saved {
					word := "kept"
					if dry {
						word = "would be kept"
					}
					a.printf("%s: %s %s in %s, %d found in them\n", oneLine(s.File), count(s.Lines, "damaged line", "damaged lines"), word, oneLine(s.KeptIn), s.Found)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and change nothing")
	return c
}
