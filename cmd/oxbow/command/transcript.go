// oxbow annotate --from-transcript.

package command

import (
	"context"

	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/tool"
)

// annotateTranscripts makes annotations of what transcripts tell.
func (a *app) annotateTranscripts(ctx context.Context, in tool.AnnotateTranscriptsIn) (err error) {
	in.Stdin = a.env.Stdin
	for i, name := range in.From {
		if err := tool.CheckText("--from-transcript", name); err != nil {
			return badArgument(err)
		}
		if name == "-" {
			continue
		}
		if in.From[i], err = a.abs(name); err != nil {
			return err
		}
	}
	if err := tool.CheckText("--moved-from", in.MovedFrom); err != nil {
		return badArgument(err)
	}
	return perform(ctx, a, tool.AnnotateTranscripts, in, a.showTranscripts)
}

func (a *app) showTranscripts(out tool.AnnotateTranscriptsOut) {
	verb := "added"
	if out.DryRun {
		verb = "would add"
		for _, r := range out.Annotations {
			at := oneLine(r.File)
			if r.StartLine > 0 {
				at += ":" + annotate.Span{First: r.StartLine, Last: r.EndLine}.String()
			}
			a.printf("%s  %s\n", a.bold(at), firstLine(r.Why))
		}
	}
	if !a.quiet {
		a.printf("%s %s of %s; %d were there already\n", verb, count(out.Added, "annotation", "annotations"), count(out.Transcripts, "transcript", "transcripts"), out.Known)
	}
	s := out.Skipped
	for _, n := range []struct {
		n               int
		one, many, what string
	}{
		{s.Failed, "edit", "edits", "failed or refused"},
		{s.Pending, "edit", "edits", "without a result yet"},
		{s.Outside, "edit", "edits", "of files outside of this tree"},
		{s.Removed, "file", "files", "deleted: no line is left"},
		{s.Unlocated, "edit", "edits", "whose lines are not shown"},
		{s.BadLines, "line", "lines", "that cannot be read"},
		{s.Others, "file", "files", "without a transcript in it"},
	} {
		if n.n > 0 {
			a.note("left out %s %s", count(n.n, n.one, n.many), n.what)
		}
	}
	if len(out.Outside) > 0 && out.Added+out.Known == 0 {
		a.note("such as %s; was the tree elsewhere? then say where with --moved-from DIR", oneLine(out.Outside[0]))
	}
}
