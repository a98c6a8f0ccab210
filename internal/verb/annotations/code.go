// This file implements the verbs annotate and get_annotations.

package annotations

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
	"github.com/oxbow-memory/oxbow/query"
)

// These are the descriptions of the tools, which models read.
var (
	//go:embed annotate.md
	annotateDescription string
	//go:embed get_annotations.md
	getAnnotationsDescription string
)

// AnnotationTools returns the verbs for annotations of code, which need [verb.Workspace.Annotations]. They are not in
// [verb.Tools], because most memories do not belong to a repository.
func AnnotationTools() []verb.Tool {
	return []verb.Tool{
		verb.DefineTool(
			verb.Tool{
				Verb:        verb.Verb{Name: "annotate", Title: "Annotate code", Idempotent: true},
				Description: annotateDescription,
			}, Annotate,
		),
		verb.DefineTool(
			verb.Tool{
				Verb: verb.Verb{Name: "get_annotations", Title: "Why code is as it is", ReadOnly: true,
					Idempotent: true},
				Description: getAnnotationsDescription,
			}, GetAnnotations,
		),
	}
}

// AnnotateIn is the argument of annotate.
type AnnotateIn struct {
	File                 string   `json:"file"               also:"path,file_path"                     jsonschema:"Path below the root of the repository." usage:"Path of the file, slash-separated, below the root of the working tree."`
	StartLine            int      `json:"start_line"         also:"line,start,from"                    jsonschema:"As it stands now, counted from 1."      usage:"First line of the block, counted from 1."`
	EndLine              *int     `json:"end_line,omitempty" also:"end,to"                             jsonschema:"The first by default."                  usage:"Last line of the block; the first by default."`
	Reason               string   `json:"why"                also:"reasoning,reason,text"              jsonschema:"The reasoning in a few sentences."      usage:"Why the lines are as they are."`
	RejectedAlternatives []string `json:"rejected,omitempty" also:"alternatives,alternatives_rejected" jsonschema:"Alternatives, each with why not."       usage:"An alternative that was rejected, and why."`
	Model                string   `json:"model,omitempty"                                              jsonschema:"The model that you are."                usage:"The model that wrote the lines."`
}

// GetAnnotationsIn is the argument of get_annotations.
type GetAnnotationsIn struct {
	File      string `json:"file,omitempty"       also:"path,file_path"        jsonschema:"Path below the root of the repository."      usage:"Path of the file, slash-separated, below the root of the working tree; not needed with query."`
	StartLine *int   `json:"start_line,omitempty" also:"line,start,from"                                                                usage:"First line of the range, counted from 1; the first of the file by default."`
	EndLine   *int   `json:"end_line,omitempty"   also:"end,to"                                                                         usage:"Last line of the range; without it start_line alone, or the whole file."`
	Query     string `json:"query,omitempty"      also:"q,search,words"        jsonschema:"Words, as in recall."                        usage:"Words to look for in all annotations of the tree, with the filters and operators of recall, such as file:pool.go, by:agent, after:2026-04 or +must."`
	Filter    string `json:"filter,omitempty"     also:"where"                 jsonschema:"Such as file:pool.go agent:x after:2026-04." usage:"With or instead of query, filter terms joined by and: file, agent, model, profile, by, after, before, on, or archived:true."`
	Limit     *int   `json:"limit,omitempty"      also:"max_results,top_k,k,n" jsonschema:"Of a query; 5 by default."                   usage:"With query, the most annotations to return, 5 by default, at most 1000."`
	Offset    *int   `json:"offset,omitempty"     also:"skip"                  jsonschema:"Where the page begins."                      usage:"Annotations to pass over first."`
	MaxTokens *int   `json:"max_tokens,omitempty" also:"token_budget,budget"   jsonschema:"4000 by default."                            usage:"Maximum tokens of the answer; use offset to get the rest."`

	WithPrompts bool `json:"-"` // Add the prompts that led to the edits, from the archive of sessions.
}

// Annotation is an annotation as verbs return it.
type Annotation struct {
	ID                   string   `json:"id"                   jsonschema:"name of the annotation"`
	File                 string   `json:"file"                 jsonschema:"the file, as it is called now"`
	StartLine            int      `json:"start_line,omitempty" jsonschema:"first line now; absent when lost"`
	EndLine              int      `json:"end_line,omitempty"   jsonschema:"last line now; absent when lost"`
	PlacingStatus        string   `json:"placed"               jsonschema:"exact, moved, tracked, edited or lost"`
	Confidence           float64  `json:"confidence"           jsonschema:"how sure that is, 0 to 1"`
	PlacingMethod        string   `json:"how,omitempty"        jsonschema:"how the lines were found"`
	Reason               string   `json:"why"                  jsonschema:"the reasoning"`
	RejectedAlternatives []string `json:"rejected,omitempty"   jsonschema:"alternatives, each with why not"`
	ActorKind            string   `json:"by,omitempty"         jsonschema:"person, agent, tool or import"`
	Agent                string   `json:"agent,omitempty"      jsonschema:"what the writer calls itself"`
	Model                string   `json:"model,omitempty"`
	Session              string   `json:"session,omitempty"`
	Profile              string   `json:"profile,omitempty"`
	Time                 string   `json:"time"                 jsonschema:"when it was written"`
	Commit               string   `json:"commit,omitempty"     jsonschema:"HEAD when it was written"`
	FormerFile           string   `json:"was_file,omitempty"   jsonschema:"the file then, when it had another name"`
	FormerLines          string   `json:"was_lines,omitempty"  jsonschema:"the lines then, when they were others"`
	Score                float64  `json:"score,omitempty"      jsonschema:"of a search; higher is better, among those found by the same"`
	FoundByLines         bool     `json:"by_lines,omitempty"   jsonschema:"of a search: the lines hold the words, the reasoning does not"`
	Archived             bool     `json:"archived,omitempty"   jsonschema:"its lines were gone when that was last looked at"`
	OldLines             []string `json:"block,omitempty"      jsonschema:"of edited and lost ones, the lines as they were"`

	// ReviewState is "unreviewed" if nobody vouches for the annotation, because another machine wrote the annotation
	// and it is not on the reviewed branch.
	ReviewState string `json:"standing,omitempty" jsonschema:"unreviewed: this machine did not write it and the reviewed branch does not have it, so that by and agent prove nothing"`

	Prompt string `json:"prompt,omitempty" jsonschema:"what the person wrote before the edit, if the archive of sessions has it"`

	Headline string `json:"-"` // the reason for the annotated lines, shortened to one line
}

// HaveLinesChanged reports whether the annotated lines were found, but have been edited since the annotation was made.
// It returns false if the lines were not found.
func (a Annotation) HaveLinesChanged() bool {
	return a.PlacingStatus == string(annotate.PlacedAfterEdit)
}

// annotationList converts annotations to the form that verbs return. The result is never nil.
func annotationList(found []annotate.FoundAnnotation) []Annotation {
	all := make([]Annotation, len(found))
	for i, f := range found {
		all[i] = makeAnnotation(f)
	}
	return all
}

// makeAnnotation converts an annotation to the form that verbs return.
func makeAnnotation(f annotate.FoundAnnotation) Annotation {
	a := Annotation{
		ID:                   f.ID,
		File:                 f.CurrentFile,
		StartLine:            f.CurrentSpan.First,
		EndLine:              f.CurrentSpan.Last,
		PlacingStatus:        string(f.Placement),
		Confidence:           f.Confidence,
		PlacingMethod:        f.Explanation,
		Reason:               f.Reasoning(),
		RejectedAlternatives: f.RejectedAlternatives,
		ActorKind:            string(f.Author),
		Agent:                f.Agent,
		Model:                f.Model,
		Session:              f.Session,
		Profile:              f.Profile,
		Time:                 verb.FormatTimestamp(f.Time),
		Commit:               f.Commit,
		Archived:             f.Archived,
		Headline:             f.Headline(),
	}
	if f.File != f.CurrentFile {
		a.FormerFile = f.File
	}
	if f.Span != f.CurrentSpan && f.Span.Len() > 0 {
		a.FormerLines = f.Span.String()
	}
	if f.Placement == annotate.PlacedAfterEdit || f.Placement == annotate.NotPlaced {
		a.OldLines = f.Block
	}
	return a
}

// markUnreviewedAnnotations sets ReviewState to "unreviewed" for each annotation that another machine wrote and that
// is not on the reviewed branch, because nobody vouches for its content.
func markUnreviewedAnnotations(
	ctx context.Context,
	b *annotate.Store,
	annotations []Annotation,
	foundAnnotations []annotate.FoundAnnotation,
) {
	for i, isUnreviewed := range b.FindUnreviewedAnnotations(ctx, foundAnnotations) {
		if isUnreviewed {
			annotations[i].ReviewState = "unreviewed"
		}
	}
}

// AnnotateOut is the result of annotate.
type AnnotateOut struct {
	Annotation Annotation `json:"annotation"`
	IsPrivate  bool       `json:"private,omitempty"` // Git ignores the annotations of this tree.
}

// GetAnnotationsOut is the result of get_annotations.
type GetAnnotationsOut struct {
	Annotations []Annotation `json:"annotations"`
	NextOffset  int          `json:"next_offset,omitempty"`
	Notes       []verb.Note  `json:"notes,omitempty"`

	HasNoAnnotations bool `json:"-"` // The file lacks annotations or, if there is a query, the whole tree lacks them.
}

// Annotate stores an annotation: the reason why some lines are as they are, and the alternatives that were rejected.
// Secrets in the texts are replaced or refused. If an agent's text repeats text from outside, such as a web page,
// Annotate fails.
func Annotate(ctx context.Context, w *verb.Workspace, in AnnotateIn) (AnnotateOut, error) {
	ctx, b, err := OpenStore(ctx, w)
	if err != nil {
		return AnnotateOut{}, err
	}
	s := annotate.LineSpan{First: in.StartLine, Last: *cmp.Or(in.EndLine, &in.StartLine)}
	r := annotate.Record{
		File:                 in.File,
		Span:                 s,
		Why:                  in.Reason,
		RejectedAlternatives: in.RejectedAlternatives,
		Model:                in.Model,
	}
	if by, _ := oxbow.SourceFrom(ctx); by.Actor == oxbow.Agent {
		r.Agent = cmp.Or(by.Claimed.Agent, by.Claimed.Client)
	}
	if err := provenance.CheckRepeatedForeignTexts(ctx, w, "why",
		append([]string{in.Reason}, in.RejectedAlternatives...)...); err != nil {
		return AnnotateOut{}, err
	}
	rs := []annotate.Record{r}
	if _, err := screenAnnotationRecords(ctx, &w.Secrets, rs); err != nil {
		return AnnotateOut{}, err
	}
	rs, err = b.Add(ctx, rs...)
	if err != nil {
		return AnnotateOut{}, err
	}
	f := annotate.FoundAnnotation{
		Record:      rs[0],
		CurrentFile: in.File,
		Placement:   annotate.PlacedExactly,
		CurrentSpan: s,
		Confidence:  1,
		Explanation: "just written",
	}
	return AnnotateOut{makeAnnotation(f), b.IsPrivate()}, nil
}

// GetAnnotations returns one page with annotations in a range of lines, or with annotations that match a query.
func GetAnnotations(ctx context.Context, w *verb.Workspace, in GetAnnotationsIn) (GetAnnotationsOut, error) {
	offset, most, err := w.PageBounds(in.Offset, in.MaxTokens)
	if err != nil {
		return GetAnnotationsOut{}, err
	}
	out, err := getAllAnnotations(ctx, w, in)
	if in.WithPrompts {
		addPromptsToAnnotations(ctx, w, out.Annotations)
	}
	out.cutToPage(offset, most)
	return out, err
}

// getAllAnnotations returns all annotations that the arguments select, without cutting them to a page. If there is a
// query or a filter, these are the matching annotations. Otherwise they are the annotations of a file, or of a range of
// lines in the file.
func getAllAnnotations(
	ctx context.Context,
	w *verb.Workspace,
	in GetAnnotationsIn,
) (out GetAnnotationsOut, err error) {
	ctx, b, err := OpenStore(ctx, w)
	if err != nil {
		return GetAnnotationsOut{}, err
	}
	switch {
	case in.Query != "" || in.Filter != "":
		return searchAnnotations(ctx, w, b, in)
	case in.File == "":
		return GetAnnotationsOut{}, verb.InvalidValue(
			"file",
			"",
			"is missing; give a file, or words to look for in query",
		)
	case in.Limit != nil:
		return GetAnnotationsOut{}, verb.InvalidValue(
			"limit",
			fmt.Sprint(*in.Limit),
			"means something with query only; a file gives all that it has",
		)
	}
	var s annotate.LineSpan
	if in.StartLine != nil || in.EndLine != nil {
		first := 1
		from := cmp.Or(in.StartLine, &first)
		s = (annotate.LineSpan{First: *from, Last: *cmp.Or(in.EndLine, from)})
		if s.Len() == 0 {
			return GetAnnotationsOut{}, verb.InvalidValue(
				"start_line",
				s.String(),
				"is no range of lines; they count from 1",
			)
		}
	}
	found, err := b.Lookup(ctx, in.File, s)
	if note, ok := gitFailureNote(err); ok {
		out.Notes = append(out.Notes, verb.PlainNote(note))
	} else if err != nil {
		return GetAnnotationsOut{}, err
	}
	out.Annotations = annotationList(found)
	markUnreviewedAnnotations(ctx, b, out.Annotations, found)
	if len(found) > 0 {
		return out, nil
	}
	out.HasNoAnnotations = true
	note := fmt.Sprintf("there are no annotations of %q", in.File)
	if len(out.Notes) > 0 { // Git failed, so parts of the answer are missing.
		note = fmt.Sprintf("no annotations of %q were found", in.File)
	}
	if err := b.CheckSparseCheckout(); err != nil {
		note = err.Error()
	} else if s.Len() > 0 {
		all, err := b.Lookup(ctx, in.File, annotate.LineSpan{})
		if _, partial := gitFailureNote(err); err != nil && !partial {
			return GetAnnotationsOut{}, err
		}
		out.HasNoAnnotations = len(all) == 0
		if !out.HasNoAnnotations {
			note = fmt.Sprintf(
				"no annotation stands in %s of %q; the file has %s",
				FormatLineSpan(s.String()),
				in.File,
				text.FormatCount(len(all), "annotation", "annotations"),
			)
		}
	}
	out.Notes = append(out.Notes, verb.PlainNote(note))
	return out, nil
}

// gitFailureNote returns a note that says which parts of a result are missing because git failed. The second result is
// false if err has another cause.
func gitFailureNote(err error) (string, bool) {
	var partial *annotate.PartialLookupError
	if !errors.As(err, &partial) {
		return "", false
	}
	note := partial.Error() + "; lines were found by their text alone"
	if n := len(partial.DeletedSourceFiles); n > 0 {
		note += fmt.Sprintf(
			"; %s annotations and %s gone, and may be this file under another name: %s",
			[]string{"a file has", "files have"}[min(n-1, 1)],
			[]string{"is", "are"}[min(n-1, 1)], text.QuoteAll(partial.DeletedSourceFiles[:min(n, 5)]),
		)
	}
	return note, true
}

// searchAnnotations returns the annotations in the whole tree or in one file that match the query.
func searchAnnotations(
	ctx context.Context,
	w *verb.Workspace,
	b *annotate.Store,
	in GetAnnotationsIn,
) (GetAnnotationsOut, error) {
	if in.StartLine != nil || in.EndLine != nil {
		return GetAnnotationsOut{}, verb.InvalidValue(
			"start_line",
			"",
			"and query are two ways to look; leave one out",
		)
	}
	q, err := query.Parse(in.Query, w.CurrentTime())
	if err != nil {
		return GetAnnotationsOut{}, err
	}
	f, err := query.ParseFilter(in.Filter, w.CurrentTime())
	if err != nil {
		return GetAnnotationsOut{}, err
	}
	q.Filter = q.Filter.And(f)
	if in.File != "" {
		q.Filter = q.Filter.And(oxbow.Filter{Terms: []oxbow.Term{{Key: oxbow.LabelFile, Values: []string{in.File}}}})
	}
	out := GetAnnotationsOut{Annotations: []Annotation{}}
	q.Limit, out.Notes, err = verb.ResolveLimit(in.Limit, oxbow.DefaultLimit)
	if err != nil {
		return GetAnnotationsOut{}, err
	}
	hits, err := b.Search(ctx, q)
	if err != nil {
		return GetAnnotationsOut{}, err
	}
	var found []annotate.FoundAnnotation
	for _, h := range hits {
		a := makeAnnotation(h.FoundAnnotation)
		a.Score, a.FoundByLines = h.Score, h.MatchesOnlyCodeLines
		out.Annotations, found = append(out.Annotations, a), append(found, h.FoundAnnotation)
	}
	markUnreviewedAnnotations(ctx, b, out.Annotations, found)
	if len(hits) > 0 {
		return out, nil
	}
	g, err := b.Diagnose(ctx, q)
	if err != nil {
		return GetAnnotationsOut{}, err
	}
	if g.Entries == 0 {
		out.HasNoAnnotations = true
		err = b.CheckSparseCheckout()
		if err == nil {
			err = errors.New("there are no annotations here yet")
		}
		out.Notes = append(out.Notes, verb.PlainNote(err.Error()))
		return out, nil
	}
	dates := verb.EntrySelection{}.ParseDateFilterTerms(w.CurrentTime(), in.Query, in.Filter)
	out.Notes = append(out.Notes, verb.EmptyResultReasons(g, q, dates, "annotation", "annotations")...)
	if len(g.Near) > 0 {
		out.Notes = append(out.Notes, verb.PlainNote("near to what was asked: "+text.QuoteAll(g.Near)))
	}
	return out, nil
}

// Report names the lines of the new annotation.
func (o AnnotateOut) Report() (r report.Report) {
	span := annotate.LineSpan{First: o.Annotation.StartLine, Last: o.Annotation.EndLine}
	r.Add(report.Record{
		Effect: report.Sentencef("annotated %s", o.Annotation.File+":"+span.String()),
		Cells:  []report.Cell{{Value: report.OxbowText(o.Annotation.ID)}},
	})
	if o.IsPrivate {
		r.AddNotef("git ignores the annotations of this repository until oxbow annotate setup")
	}
	return r
}

// Report lists the annotations.
func (o GetAnnotationsOut) Report() (r report.Report) {
	items := make([]report.Section, len(o.Annotations))
	for i, a := range o.Annotations {
		items[i] = a.record()
	}
	r.Add(report.List{Items: items, HasBlankLines: true})
	report.AddNotes(&r, o.Notes)
	return r
}

// FormatLineSpan returns a span such as "7" or "42-60" as "line 7" or "lines 42-60".
func FormatLineSpan(span string) string {
	if strings.Contains(span, "-") {
		return "lines " + span
	}
	return "line " + span
}

// record describes an annotation.
func (a Annotation) record() report.Record {
	r := report.Record{Key: a.File, DescribedValue: a}
	add := func(name string, value any) { r.Cells = append(r.Cells, report.Cell{Name: name, Value: value}) }
	if a.StartLine > 0 {
		add("", report.OxbowText(FormatLineSpan(annotate.LineSpan{First: a.StartLine, Last: a.EndLine}.String())))
		add("", report.OxbowText(a.PlacingStatus))
		add("confidence", report.OxbowText(fmt.Sprintf("%.2f", a.Confidence)))
	} else {
		add("", report.OxbowText("lost"))
	}
	if a.Archived {
		add("", report.OxbowText("archived"))
	}
	written := report.OxbowText(a.Time)
	if a.ActorKind != "" {
		written += report.OxbowText(" by " + a.ActorKind)
	}
	add("written", written)
	add("memory profile", a.Profile)
	add("commit", report.OxbowText(a.Commit))
	add("", report.OxbowText(a.ReviewState))
	said := a.Reason
	for _, rejected := range a.RejectedAlternatives {
		said += "\nrejected: " + rejected
	}
	if a.Prompt != "" {
		said += "\nasked: " + a.Prompt
	}
	r.TextCellsBelow = []report.Cell{{Name: "annotation", Value: report.QuotedText(said)}}
	return r
}

// cutToPage keeps only the annotations of a page, which begins at offset and has at most maxTokens tokens.
func (o *GetAnnotationsOut) cutToPage(offset, maxTokens int) {
	o.Annotations = o.Annotations[min(offset, len(o.Annotations)):]
	all := len(o.Annotations)
	n := verb.CountFittingItems(
		o.Annotations,
		prompt.EstimateTokens(prompt.ReporterText(GetAnnotationsOut{Notes: o.Notes})),
		maxTokens,
		Annotation.record,
	)
	o.Annotations = o.Annotations[:n]
	if n < all {
		o.NextOffset = offset + n
		o.Notes = append(o.Notes, verb.TruncatedPageNote(all, n, offset, maxTokens, "annotation", "annotations"))
	}
}
