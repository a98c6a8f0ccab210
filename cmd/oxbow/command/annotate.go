// This file holds "oxbow annotate" and "oxbow why": why code is as it is.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/internal/git"
	"github.com/oxbow-memory/oxbow/tool"
)

// book opens the annotations of the working tree that holds the working
// directory, where the home's layout keeps them. The caller closes it.
func (a *app) book(ctx context.Context) (*annotate.Store, error) {
	wd, err := a.env.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the working directory: %w", err)
	}
	return a.bookAt(ctx, wd)
}

func (a *app) bookAt(ctx context.Context, dir string) (*annotate.Store, error) {
	o := annotate.Options{Clock: a.env.Now}
	// Code has annotations without any home, too.
	if d, other, err := a.layout(); err == nil && other {
		o.Dir = d.Annotations
	}
	return annotate.OpenDir(ctx, dir, &o)
}

// bookOf opens the annotations that FILE[:A[-B]] belongs to: those of the
// repository that holds the file, which may be another than that of the working
// directory, such as a submodule.
func (a *app) bookOf(ctx context.Context, arg string) (*annotate.Store, error) {
	wd, err := a.env.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the working directory: %w", err)
	}
	if m := lineRange.FindStringSubmatch(arg); m != nil {
		arg = m[1]
	}
	if !filepath.IsAbs(arg) {
		arg = filepath.Join(wd, arg)
	}
	dir := filepath.Dir(arg)
	if at, err := filepath.EvalSymlinks(dir); err == nil && at != wd {
		if b, err := a.bookAt(ctx, at); err == nil && b.IsTree() {
			return b, nil
		} else if err == nil {
			if err := b.Close(); err != nil {
				return nil, err
			}
		}
	}
	return a.book(ctx)
}

// withBook runs fn on the annotations and closes them.
func (a *app) withBook(ctx context.Context, fn func(ctx context.Context, b *annotate.Store) error) error {
	return a.onBook(ctx, fn, func() (*annotate.Store, error) { return a.book(ctx) })
}

// withBookOf is withBook for what [app.bookOf] opens.
func (a *app) withBookOf(ctx context.Context, arg string, fn func(ctx context.Context, b *annotate.Store) error) error {
	err := a.onBook(ctx, fn, func() (*annotate.Store, error) { return a.bookOf(ctx, arg) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, git.ErrBare):
		return &hinted{err, "lines are annotated where there are files: run it in a clone with a working tree"}
	case errors.Is(err, fs.ErrNotExist):
		return &hinted{err, "FILE is taken from the working directory; oxbow why --search WORDS looks through all annotations"}
	case strings.Contains(err.Error(), "path escapes from parent"): // package os has no name for it
		return &hinted{err, "a link on the way leads out of the working tree; name the file itself"}
	}
	return err
}

func (a *app) onBook(ctx context.Context, fn func(ctx context.Context, b *annotate.Store) error, open func() (*annotate.Store, error)) (err error) {
	b, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	src, err := a.source()
	if err != nil {
		return err
	}
	return fn(oxbow.WithSource(ctx, src), b)
}

var lineRange = regexp.MustCompile(`^(.+?):([0-9]+)(?:-([0-9]+))?$`)

// place reads FILE[:A[-B]]: the file as annotations name it, and the lines,
// which are zero when there are none.
func (a *app) place(b *annotate.Store, arg string) (string, annotate.Span, error) {
	if err := tool.CheckText("FILE", arg); err != nil {
		return "", annotate.Span{}, badArgument(err)
	}
	wd, err := a.env.Getwd()
	if err != nil {
		return "", annotate.Span{}, fmt.Errorf("finding the working directory: %w", err)
	}
	// The name of a file may end as lines do.
	if file, err := b.File(wd, arg); err == nil && b.HasFile(file) {
		return file, annotate.Span{}, nil
	}
	var s annotate.Span
	name := arg
	if m := lineRange.FindStringSubmatch(arg); m != nil {
		first, err := strconv.Atoi(m[2])
		last := first
		if err == nil && m[3] != "" {
			last, err = strconv.Atoi(m[3])
		}
		name, s = m[1], annotate.Span{First: first, Last: last}
		if err != nil || s.Len() == 0 {
			return "", s, misusef("write FILE:42 or FILE:42-60; lines count from 1", "%q names no lines", arg)
		}
	}
	file, err := b.File(wd, name)
	return file, s, badArgument(err)
}

// callCode calls a verb about code.
func callCode[In, Out any](ctx context.Context, a *app, b *annotate.Store, verb call[In, Out], in In) (out Out, err error) {
	src, err := a.source()
	if err != nil {
		return out, err
	}
	out, err = verb(ctx, &tool.Workspace{Now: a.env.Now, Source: src,
		Annotations: func(context.Context) (*annotate.Store, error) { return b, nil }}, in)
	return out, badArgument(err)
}

func (a *app) annotateCommand() *cobra.Command {
	var why, model string
	var rejected []string
	var from capture
	c := &cobra.Command{
		Use:   "annotate FILE:A-B --why TEXT",
		Short: "Keep why lines of code are as they are",
		Long: `Annotate ties a reasoning to the lines A to B of a file, as they stand now. It
is kept beside the code, in .oxbow/annotations of the repository, or in
.cr/annotations when the home is laid out as coderhapsody: commit that with the
code. oxbow why finds it again, also after the lines have moved, were edited, or
the file has another name.

With --from-transcript it reads what an agent said before each edit instead,
and ties that to the lines of the edit. Claude Code keeps transcripts in
~/.claude/projects, Codex in ~/.codex/sessions. A transcript that is read again
adds only what is new. What the agent said is then part of the repository: look
at it with --dry-run first.`,
		Example: `  oxbow annotate pool.go:42-60 --why "The proxy drops idle connections."
  oxbow annotate pool.go:42 --why "So that a leak shows." --rejected "a context"
  oxbow annotate --from-transcript ~/.claude/projects/-home-ada-pool --dry-run`,
		Args: args(0, 1, "one FILE:A-B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch byHand := why != "" || model != "" || len(rejected) > 0; {
			case len(from.from) > 0 && (len(args) > 0 || byHand):
				return misusef("usage: oxbow annotate --from-transcript FILE", "--from-transcript says itself what is annotated, and why")
			case len(from.from) > 0:
				return a.withBook(cmd.Context(), func(ctx context.Context, b *annotate.Store) error { return a.capture(ctx, b, from) })
			case from.dryRun || from.was != "":
				return misusef("say which with --from-transcript FILE", "--dry-run and --moved-from are about transcripts")
			case len(args) == 0:
				return misusef("usage: "+cmd.UseLine(), "annotate needs one FILE:A-B, or --from-transcript")
			}
			if strings.TrimSpace(why) == "" {
				return misusef("say it with --why TEXT", "it is not said why")
			}
			return a.withBookOf(cmd.Context(), args[0], func(ctx context.Context, b *annotate.Store) error {
				file, s, err := a.place(b, args[0])
				if err != nil {
					return err
				}
				if s.Len() == 0 {
					return misusef("write "+args[0]+":42-60", "it is not said which lines are meant")
				}
				for _, t := range append([]string{why, model}, rejected...) {
					if err := tool.CheckText("the text", t); err != nil {
						return badArgument(err)
					}
				}
				out, err := callCode(ctx, a, b, tool.Annotate, tool.AnnotateIn{File: file, StartLine: s.First, EndLine: &s.Last,
					Why: why, Model: model, Rejected: rejected})
				if err != nil {
					return err
				}
				return answer(a, out, func(tool.AnnotateOut) {
					if !a.quiet {
						a.printf("annotated %s\n", oneLine(file)+":"+s.String())
					}
				})
			})
		},
	}
	c.Flags().StringVar(&why, "why", "", "the reasoning, as `TEXT`")
	c.Flags().StringArrayVar(&rejected, "rejected", nil, "an alternative that was rejected, and why, as `TEXT`; may be repeated")
	c.Flags().StringVar(&model, "model", "", "the `NAME` of the model that wrote the lines")
	c.Flags().StringArrayVar(&from.from, "from-transcript", nil, "read a `FILE`, - for standard input, or the files *.jsonl of a directory; may be repeated")
	c.Flags().StringVar(&from.was, "moved-from", "", "the `DIR` that this tree was in when the transcript was written")
	c.Flags().BoolVar(&from.dryRun, "dry-run", false, "show what a transcript would add, and add nothing")
	for _, sub := range []*cobra.Command{a.annotateSetupCommand(), a.mergeDriverCommand(), a.annotateGCCommand(), a.annotateStatsCommand(),
		a.annotateRecoverCommand(), a.annotateExportCommand(), a.annotateImportCommand()} {
		a.finish(sub)
		c.AddCommand(sub)
	}
	return c
}

func (a *app) whyCommand() *cobra.Command {
	var search, filter string
	var limit int
	c := &cobra.Command{
		Use:   "why FILE[:A[-B]]",
		Short: "Show why lines of code are as they are",
		Long: `Why shows the annotations whose lines stand in a range of a file now, with how
each was placed: exact (same place), moved (same text elsewhere), tracked
(followed through the changes since, or a rename), edited (similar text: look
before you rely on it), and, for a whole file, lost. With --search it looks
through the annotations of the whole repository instead, as oxbow recall does
through the memory: with its filters (file:pool.go, by:agent, after:2026-04),
+must, -not, prefix* and "phrases". Those whose lines, and not whose reasoning,
hold the words come last. --filter also selects by agent, model and profile.`,
		Example: `  oxbow why pool.go:42-60
  oxbow why pool.go
  oxbow why --search "idle connections"
  oxbow why --search "redis file:pool.go -cluster after:2026-04"
  oxbow why --filter agent:coder --limit 100`,
		Args: args(0, 1, "one FILE, or FILE:A-B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (search+filter == "") == (len(args) == 0) {
				return misusef("usage: "+cmd.UseLine()+", or oxbow why --search WORDS", "why needs a FILE or --search, and not both")
			}
			if limit < 1 || limit > oxbow.MaxLimit {
				return misusef(fmt.Sprintf("give 1 to %d", oxbow.MaxLimit), "--limit %d would return nothing", limit)
			}
			if search+filter != "" {
				return a.withBook(cmd.Context(), func(ctx context.Context, b *annotate.Store) error {
					return a.searchWhy(ctx, b, search, filter, limit)
				})
			}
			return a.withBookOf(cmd.Context(), args[0], func(ctx context.Context, b *annotate.Store) error {
				file, s, err := a.place(b, args[0])
				if err != nil {
					return err
				}
				in := tool.GetAnnotationsIn{File: file}
				if s.Len() > 0 {
					in.StartLine, in.EndLine = &s.First, &s.Last
				}
				out, err := callCode(ctx, a, b, tool.GetAnnotations, in)
				if err != nil {
					return err
				}
				return answer(a, out, a.showAnnotations)
			})
		},
	}
	c.Flags().StringVar(&search, "search", "", "look for `WORDS` in all annotations of the repository")
	c.Flags().StringVar(&filter, "filter", "", "select annotations by `TERMS`, such as agent:x model:y -file:z")
	c.Flags().IntVar(&limit, "limit", 10, "with --search, the most to show, `N`")
	return c
}

func (a *app) searchWhy(ctx context.Context, b *annotate.Store, words, filter string, limit int) error {
	if err := errors.Join(tool.CheckText("--search", words), tool.CheckText("--filter", filter)); err != nil {
		return badArgument(err)
	}
	out, err := callCode(ctx, a, b, tool.GetAnnotations, tool.GetAnnotationsIn{Query: words, Filter: filter, Limit: &limit})
	if err != nil {
		return err
	}
	return answer(a, out, a.showAnnotations)
}

// showAnnotations shows what was found to a person.
func (a *app) showAnnotations(out tool.GetAnnotationsOut) {
	for i, n := range out.Annotations {
		if i > 0 {
			a.printf("\n")
		}
		a.showAnnotation(n)
	}
	a.showNotes(out.Notes)
}

// showAnnotation shows one annotation to a person.
func (a *app) showAnnotation(n tool.Annotation) {
	at := n.File
	if n.StartLine > 0 {
		at += ":" + annotate.Span{First: n.StartLine, Last: n.EndLine}.String()
	}
	placed := n.Placed
	if n.Placed != string(annotate.Lost) {
		placed += fmt.Sprintf(" %.2f", n.Confidence)
	}
	a.printf("%s  %s\n", a.bold(oneLine(at)), placed)
	for text := range strings.SplitSeq(strings.TrimSpace(clean(n.Why)), "\n") {
		for _, l := range wrap(text, a.width()-2) {
			a.printf("  %s\n", l)
		}
	}
	for _, r := range n.Rejected {
		for _, l := range wrap("rejected: "+oneLine(r), a.width()-2) {
			a.printf("  %s\n", l)
		}
	}
	var by []string
	for _, s := range []string{n.Agent, n.Model} {
		if s != "" {
			by = append(by, s)
		}
	}
	if len(by) == 0 && n.By != "" {
		by = append(by, n.By)
	}
	if t, err := time.Parse(time.RFC3339, n.Time); err == nil {
		by = append(by, a.date(t))
	}
	if n.Commit != "" {
		by = append(by, "commit "+n.Commit[:12])
	}
	switch {
	case n.WasFile != "" && n.WasLines == "":
		by = append(by, "was "+n.WasFile)
	case n.WasFile != "":
		by = append(by, "was "+n.WasFile+":"+n.WasLines)
	case n.WasLines != "":
		by = append(by, "was lines "+n.WasLines)
	}
	a.printf("  %s\n", a.dim(oneLine(strings.Join(by, ", "))))
}
