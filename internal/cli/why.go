// This file implements the command "oxbow why".

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
)

func whyCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "why FILE[:A[-B]]",
		Short: "Show the reasons for lines of code",
		Long: `Why shows the annotations of a range of lines in a file. A word says how oxbow
found the lines: exact (same place), moved (same text at another place),
tracked (followed through later changes or a rename), edited (similar text, so
look at it before you rely on it) or lost (only if you ask for a whole file).

With --search, why searches all annotations of the repository, like oxbow
recall searches the memory: with filters (file:pool.go, by:agent,
after:2026-04), +must, -not, prefix* and "phrases". Annotations with the words
only in their lines, and not in their reason, come last. --filter also selects
by agent, model and profile.

With --diff, why shows the annotations of lines that a change modifies or
deletes, and the annotations that it adds. The change is A..B, A...B (since B
left A), or the difference between a commit (by default HEAD) and the working
tree or, with --staged, the index. Why reads the annotations as they are
committed. In a file or a pipe, the output is Markdown for a pull request, and
empty if there are no such annotations. With --fail, the exit status is 3 if
the change touches annotated lines.`,
		Example: `  oxbow why pool.go:42-60
  oxbow why pool.go
  oxbow why --search "idle connections"
  oxbow why --search "redis file:pool.go -cluster after:2026-04"
  oxbow why --filter agent:coder --limit 100
  oxbow why --diff main..HEAD
  oxbow why --diff origin/main...HEAD --markdown > whys.md`,
		Args: requireArgCount(0, 1, "one FILE, or FILE:A-B"),
	}, func(ctx context.Context, in whyIn, args []string) error {
		if in.ExaminesDiff {
			return mem.printAnnotationsInDiff(ctx, in, args)
		}
		isAboutDiff := in.ComparesWithIndex || in.FailsIfTouched || in.PrintsMarkdown
		if isAboutDiff {
			return usageErrorf("usage: oxbow why --diff A..B", "--staged, --markdown and --fail are about --diff")
		}
		if (in.Search+in.Filter == "") == (len(args) == 0) {
			return usageErrorf(
				"usage: oxbow why FILE[:A[-B]], or oxbow why --search WORDS",
				"why takes a FILE, or --search and --filter, and not both",
			)
		}
		if in.Limit < 1 || in.Limit > oxbow.MaxLimit {
			advice := fmt.Sprintf("give 1 to %d", oxbow.MaxLimit)
			return usageErrorf(advice, "--limit %d would return nothing", in.Limit)
		}
		var out annotations.GetAnnotationsOut
		var err error
		file := ""
		if len(args) == 0 {
			q := annotations.GetAnnotationsIn{Query: in.Search, Filter: in.Filter, Limit: &in.Limit, WithPrompts: true}
			out, err = callVerb(ctx, mem, annotations.GetAnnotations, q)
		} else {
			out, err = runVerbOnFile(ctx, mem, args[0], annotations.GetAnnotations, func(at codeLocation) (
				annotations.GetAnnotationsIn, error,
			) {
				file = args[0]
				in := annotations.GetAnnotationsIn{File: at.file, WithPrompts: true}
				if at.span.Len() > 0 {
					in.StartLine, in.EndLine = &at.span.First, &at.span.Last
				}
				return in, nil
			})
		}
		if err != nil {
			return err
		}
		return printResult(mem, out, func(out annotations.GetAnnotationsOut) {
			mem.env.showReport(out.Report())
			if out.HasNoAnnotations {
				mem.showAnnotationSetupAdvice(file)
			}
		})
	})
}

// whyIn contains the flags of oxbow why.
type whyIn struct {
	Search string `json:"search,omitempty" value:"WORDS" usage:"search all annotations of the repository for these WORDS"`
	Filter string `json:"filter,omitempty" value:"TERMS" usage:"select annotations by TERMS, such as agent:x model:y -file:z"`
	Limit  int    `json:"limit,omitempty"                usage:"with --search, show at most N annotations"                    default:"10"`

	ExaminesDiff      bool `json:"diff,omitempty"     usage:"show the annotations of lines that a change touches; the change is A..B, A...B or A"`
	ComparesWithIndex bool `json:"staged,omitempty"   usage:"with --diff, compare a commit with the index"`
	PrintsMarkdown    bool `json:"markdown,omitempty" usage:"with --diff: also print Markdown on a terminal"`
	FailsIfTouched    bool `json:"fail,omitempty"     usage:"with --diff: exit with status 3 if the change touches annotated lines"`
}

// printAnnotationsInDiff prints the annotations of the lines that a change touches.
func (mem *lazyMemory) printAnnotationsInDiff(ctx context.Context, in whyIn, args []string) error {
	if in.Search+in.Filter != "" {
		return usageErrorf("look with --json for what you want", "--diff goes without --search and --filter")
	}
	if in.PrintsMarkdown && mem.env.wantsJSON {
		return usageErrorf("give one of the two", "--markdown and --json are two forms")
	}
	verb := annotations.WhyDiffIn{CommitRange: strings.Join(args, ""), Staged: in.ComparesWithIndex}
	out, err := callVerb(ctx, mem, annotations.AnnotationsInDiff, verb)
	if err != nil {
		return err
	}
	err = printResult(mem, out, func(out annotations.WhyDiffOut) {
		if in.PrintsMarkdown || !mem.env.IsStdoutTerminal {
			mem.env.showReport(out.MarkdownReport())
		} else {
			mem.env.showReport(out.Report())
		}
	})
	if err != nil {
		return err
	}
	if in.FailsIfTouched && len(out.TouchedAnnotations) > 0 {
		return errTouchedAnnotations
	}
	return nil
}

// showAnnotationSetupAdvice tells a person who found no annotations how to make annotations. The argument file is the
// file name that the person typed, with or without a range of lines. It is "" if the person searched for annotations
// without a file name. The advice is not part of the report, because it depends on which clients are installed here.
func (mem *lazyMemory) showAnnotationSetupAdvice(file string) {
	if mem.env.isQuiet {
		return
	}
	wd, err := mem.env.absolutePath(".")
	if err != nil {
		return
	}
	way := func(what, command string) {
		fmt.Fprintf(mem.env.Stderr, "  %s: %s\n", what, mem.rewriteCommands(command))
	}
	world := mem.env.machineForSetup()
	var on []string
	this := setup.Options{Executable: mem.env.Executable}
	for _, c := range setup.Clients() {
		isSetUp := len(c.ServerEntries(world, this)) > 0
		if !c.CanAnnotate() || !isSetUp {
			continue
		}
		if world.IsAnnotationOn(c.Name, wd) {
			on = append(on, c.Title)
		}
	}
	if !git.IsInWorktree(wd) {
		fmt.Fprintln(mem.env.Stderr, "  hooks annotate only what is in a git repository: git init")
	} else if len(on) > 0 {
		fmt.Fprintf(mem.env.Stderr, "  what agents edit from now on is annotated, in %s\n", strings.Join(on, ", "))
	} else {
		way("to have what agents edit annotated", "oxbow setup all")
	}
	_, root := findProject(wd)
	for _, d := range transcript.FindDirectories(mem.env.userHomeDir(), mem.env.Getenv, wd, root) {
		way(
			"what "+setup.FindClient(d.Client).Title+" edited before",
			"oxbow annotate --from-transcript "+shellQuote(d.Path),
		)
	}
	if m := lineRangePattern().FindStringSubmatch(file); m == nil {
		file = cmp.Or(file, "FILE") + ":1"
	}
	way("by hand", "oxbow annotate "+shellQuote(file)+` --why "the reason"`)
}
