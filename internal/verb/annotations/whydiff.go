// This file implements the verb that lists the annotations of the lines that a change touches.

package annotations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// WhyDiffIn is the argument of AnnotationsInDiff.
type WhyDiffIn struct {
	CommitRange string `json:"range,omitempty"  flag:"-" jsonschema:"A..B or A...B, or A for what the working tree has changed since; HEAD by default"`
	Staged      bool   `json:"staged,omitempty"          jsonschema:"compare with git's index, not with the working tree"`
}

// WhyDiffOut lists the annotations that a change touches and those that it adds.
type WhyDiffOut struct {
	Base               string              `json:"base"`
	Head               string              `json:"head"` // a commit, "index" or "working tree"
	Files              int                 `json:"files"`
	TouchedAnnotations []TouchedAnnotation `json:"touched"`
	AddedAnnotations   []Annotation        `json:"added"`
	Skipped            []SkippedFile       `json:"skipped,omitempty"`
	Notes              []verb.Note         `json:"notes,omitempty"`
}

// TouchedAnnotation is an annotation, with its lines before the change.
type TouchedAnnotation struct {
	Annotation
	FileBeforeChange  string `json:"base_file"`
	LinesBeforeChange string `json:"base_lines"`
}

// AnnotationsInDiff returns the annotations of the lines that a change modifies or deletes. It also returns the
// annotations that the change adds. The field in.CommitRange selects the change, for example A..B for the change from
// commit A to commit B. If in.CommitRange is empty or a single commit, the change is the difference between the commit
// (HEAD by default) and the working tree. If in.Staged is set, git's index is used instead of the working tree. Notes
// in the result explain why annotations may be missing.
func AnnotationsInDiff(ctx context.Context, w *verb.Workspace, in WhyDiffIn) (WhyDiffOut, error) {
	ctx, s, err := OpenStore(ctx, w)
	if err != nil {
		return WhyDiffOut{}, err
	}
	d, err := s.Diff(
		ctx,
		annotate.DiffOptions{
			CommitRange: in.CommitRange,
			Staged:      in.Staged,
			Progress:    progress.NewCountReporter(ctx, progress.UnitFiles),
		},
	)
	if errors.Is(err, oxbow.ErrUnsupported) {
		err = verb.Advise(err, "run it in a working tree of git that has a commit")
	}
	if err != nil {
		return WhyDiffOut{}, err
	}
	out := WhyDiffOut{Base: d.Base, Head: d.Head, Files: d.ChangedFileCount, TouchedAnnotations: []TouchedAnnotation{},
		AddedAnnotations: annotationList(d.AddedAnnotations), Skipped: skippedFiles(d.SkippedFiles)}
	for _, t := range d.TouchedAnnotations {
		out.TouchedAnnotations = append(
			out.TouchedAnnotations,
			TouchedAnnotation{makeAnnotation(t.FoundAnnotation), t.OldFile, t.OldSpan.String()},
		)
	}
	if !d.BaseHasAnnotations && len(out.AddedAnnotations) == 0 {
		out.Notes = append(
			out.Notes,
			verb.PlainNote(fmt.Sprintf("%.12s has no annotations; they count once they are committed", d.Base)),
		)
	}
	if s.IsPrivate() {
		out.Notes = append(out.Notes, verb.PlainNote("git ignores the annotations here until oxbow annotate setup"))
	}
	return out, nil
}

// maxMarkdownBytes is the maximum size of [WhyDiffOut.Markdown] in bytes. A comment on GitHub may have
// 65,536 characters.
const maxMarkdownBytes = 60_000

// Markdown returns the annotations as Markdown for a pull request. It returns "" if the change neither touches nor adds
// annotations. The text of the annotations is escaped, so that markup, mentions and links in the text have no effect.
// If the text becomes too long, Markdown only counts the remaining annotations.
func (o WhyDiffOut) Markdown() string {
	if len(o.TouchedAnnotations)+len(o.AddedAnnotations) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### Why these lines are as they are\n\nThis change touches %s, and adds %d.\n",
		text.FormatCount(len(o.TouchedAnnotations), "annotation", "annotations"), len(o.AddedAnnotations))
	left := 0
	item := func(at, now string, a Annotation) {
		var one strings.Builder
		fmt.Fprintf(&one, "\n**%s**%s\n\n", escapeMarkdown(at), escapeMarkdown(now))
		text := strings.TrimSpace(a.Reason)
		for _, r := range a.RejectedAlternatives {
			text += "\n\nRejected: " + r
		}
		for l := range strings.Lines(text) {
			one.WriteString(strings.TrimRight("> "+escapeMarkdown(strings.TrimRight(l, "\r\n")), " ") + "\n")
		}
		fmt.Fprintf(&one, ">\n> — %s\n", escapeMarkdown(authorAndDate(a)))
		if left > 0 || b.Len()+one.Len() > maxMarkdownBytes {
			left++
			return
		}
		b.WriteString(one.String())
	}
	for _, t := range o.TouchedAnnotations {
		now := ""
		switch {
		case t.StartLine == 0:
			now = ": its lines are gone"
		case t.File != t.FileBeforeChange:
			now = fmt.Sprintf(
				": now %s, %s, %s",
				t.File,
				FormatLineSpan(currentLineSpan(t.Annotation)),
				t.PlacingStatus,
			)
		default:
			now = fmt.Sprintf(": now %s, %s", FormatLineSpan(currentLineSpan(t.Annotation)), t.PlacingStatus)
		}
		item(t.FileBeforeChange+", "+FormatLineSpan(t.LinesBeforeChange), now, t.Annotation)
	}
	for _, a := range o.AddedAnnotations {
		at := a.File
		if a.StartLine > 0 {
			at += ", " + FormatLineSpan(currentLineSpan(a))
		}
		item(at, ": new", a)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%d more: oxbow why --diff, with --json, shows them all.\n", left)
	}
	return b.String()
}

// currentLineSpan returns the present lines of an annotation, such as "42-60".
func currentLineSpan(a Annotation) string {
	return annotate.LineSpan{First: a.StartLine, Last: a.EndLine}.String()
}

// authorAndDate returns the author and the date of an annotation, for a report.
func authorAndDate(a Annotation) string {
	var by []string
	for _, s := range []string{a.Agent, a.Model} {
		if s != "" {
			by = append(by, s)
		}
	}
	if len(by) == 0 && a.ActorKind != "" {
		by = append(by, a.ActorKind)
	}
	return strings.Join(append(by, a.Time[:min(10, len(a.Time))]), ", ")
}

// markdownEscaper escapes the characters that have a meaning in Markdown or on GitHub.
var markdownEscaper = func() *strings.Replacer {
	var pairs []string
	for _, c := range "\\`*_{}[]()<>|~!$" {
		pairs = append(pairs, string(c), "\\"+string(c))
	}
	// Insert an empty comment into each @mention, issue number and link in the text of an annotation, so that GitHub
	// does not turn it into a link or notify somebody.
	return strings.NewReplacer(append(
		pairs,
		"&",
		"&amp;",
		"@",
		"@<!-- -->",
		"#",
		"#<!-- -->",
		"://",
		":<!-- -->//",
		"www.",
		"www<!-- -->.",
	)...)
}()

// escapeMarkdown returns Markdown that shows the text literally.
func escapeMarkdown(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	return markdownEscaper.Replace(s)
}
