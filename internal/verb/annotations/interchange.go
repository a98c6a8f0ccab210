// This file implements the verbs that export annotations in formats of other programs, and import them.

package annotations

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/code/annotate/interchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/output"
)

// These are the formats of annotations.
const (
	FormatAgentTrace = "agent-trace"
	FormatGitAI      = "git-ai"
)

// InterchangeOut is the result of exporting or importing annotations.
type InterchangeOut struct {
	Format string `json:"format"`
	DryRun bool   `json:"dry_run,omitempty"`
	// number of exported or newly imported annotations
	WrittenAnnotations int `json:"written"`
	KnownAnnotations   int `json:"known,omitempty"` // number of imported annotations that existed already
	// how often each kind of information was lost because the format cannot express it, by description
	LossCounts map[string]int `json:"left,omitempty"`
	Output     string         `json:"output,omitempty"` // path of the written file
	// path to the copy of a file that was replaced although somebody had edited it
	KeptCopyPath string `json:"kept,omitempty"`

	NewRecords []annotate.Record `json:"-"`

	isImport bool
}

// Report returns a report about an import or export of annotations. For an import, the report contains the number of
// added annotations and the number of annotations that existed already. For a dry run of an import, the report also
// lists the annotations that would be added. For an export to a file, the report contains the number of written
// annotations. For an export to the standard output, the report does not contain this number. The notes of the report
// say which parts of annotations the other format cannot represent.
func (o InterchangeOut) Report() (r report.Report) {
	switch {
	case o.isImport:
		if o.DryRun {
			for _, a := range o.NewRecords {
				r.Add(report.Record{
					Key:   a.File + ":" + a.Span.String(),
					Cells: []report.Cell{{Value: report.QuotedText(a.Headline())}},
				})
			}
		}
		r.AddDetailf("%s %s; %d were there already", report.EffectVerb(o.DryRun, "added", "would add"),
			report.OxbowText(text.FormatCount(o.WrittenAnnotations, "annotation", "annotations")), o.KnownAnnotations)
	case o.Output != "":
		r.AddDetailf(
			"wrote %s to %s",
			report.OxbowText(text.FormatCount(o.WrittenAnnotations, "annotation", "annotations")),
			o.Output,
		)
	}
	output.AddEditedFileCopyNote(&r, o.KeptCopyPath)
	for _, left := range slices.Sorted(maps.Keys(o.LossCounts)) {
		r.AddNotef("%s (%d)", report.OxbowText(left), o.LossCounts[left])
	}
	return r
}

// ExportAnnotationsIn is the argument of ExportAnnotations.
type ExportAnnotationsIn struct {
	Files  []string `json:"files,omitempty"  flag:"-" jsonschema:"source files, slash-separated, below the root of the tree; all without any"`
	Format string   `json:"format"                    jsonschema:"the FORMAT"                                                                 default:"agent-trace" value:"FORMAT" enum:"agent-trace"`
	Output string   `json:"output,omitempty"          jsonschema:"write to a FILE, and not to standard output"                                                      value:"FILE"                      short:"o"`

	Force bool `json:"force,omitempty" jsonschema:"replace an existing file of --output; if somebody edited it, a copy is kept"`

	OutputPath string    `json:"-"` // path of the file to which Output refers, in the operating system's form
	Stdout     io.Writer `json:"-"` // receives the exported Agent Trace records if Output is ""
}

// ExportAnnotations writes annotations as Agent Trace records to the file in.Output, or to in.Stdout if in.Output
// is "". It exports the annotations of in.Files, or all annotations if in.Files is empty. in.Format must be
// [FormatAgentTrace].
func ExportAnnotations(ctx context.Context, w *verb.Workspace, in ExportAnnotationsIn) (InterchangeOut, error) {
	if in.Format != FormatAgentTrace {
		return InterchangeOut{}, verb.Advise(
			verb.Invalidf("%q is no format that annotations are written in", in.Format),
			"write --format agent-trace",
		)
	}
	ctx, s, err := OpenStore(ctx, w)
	if err != nil {
		return InterchangeOut{}, err
	}
	var records []annotate.Record
	if len(in.Files) == 0 {
		records, err = s.AllRecords(ctx)
		if err != nil {
			return InterchangeOut{}, err
		}
	}
	for _, f := range in.Files {
		some, err := s.ReadRecords(ctx, f)
		if err != nil {
			return InterchangeOut{}, err
		}
		records = append(records, some...)
	}
	var text bytes.Buffer
	rep, err := interchange.WriteTraces(&text, records)
	if err != nil {
		return InterchangeOut{}, err
	}
	write := func(to io.Writer) error {
		_, err := to.Write(text.Bytes())
		return verb.WrapError("writing", err)
	}
	out := InterchangeOut{
		Format:             in.Format,
		WrittenAnnotations: rep.WrittenCount,
		LossCounts:         rep.InformationLossCounts,
		Output:             in.Output,
	}
	if in.Output == "" {
		err = write(in.Stdout)
	} else {
		out.KeptCopyPath, err = output.Output{Path: in.OutputPath, UserPath: in.Output, OperationName: "exporting",
			Force:                in.Force,
			TrustList:            w.Host.TrustList,
			AdviceForSpecialFile: "; a pipe or a device is written by: oxbow annotate export > FILE",
		}.Write(ctx, 0o644, write)
	}
	if err != nil {
		return InterchangeOut{}, err
	}
	return out, nil
}

// ImportAnnotationsIn is the argument of ImportAnnotations.
type ImportAnnotationsIn struct {
	File   string `json:"file,omitempty"    flag:"-" jsonschema:"a file of Agent Trace records, or - for standard input"`
	Format string `json:"format"                     jsonschema:"the FORMAT"                                             default:"agent-trace" value:"FORMAT" enum:"agent-trace,git-ai"`
	DryRun bool   `json:"dry_run,omitempty"          jsonschema:"show what would be added, and add nothing"`

	Stdin io.Reader `json:"-"` // input if File is "-"
}

// ImportAnnotations adds annotations from Agent Trace records, or from the notes of Git AI in the repository.
func ImportAnnotations(ctx context.Context, w *verb.Workspace, in ImportAnnotationsIn) (InterchangeOut, error) {
	ctx, s, err := OpenStore(ctx, w)
	if err != nil {
		return InterchangeOut{}, err
	}
	var records []annotate.Record
	var rep interchange.ConversionReport
	switch in.Format {
	case FormatGitAI:
		records, rep, err = interchange.ReadGitAI(ctx, s)
	case FormatAgentTrace:
		r := in.Stdin
		if in.File != "-" {
			f, err := os.Open(in.File)
			if err != nil {
				return InterchangeOut{}, fmt.Errorf("reading agent traces: %w", err)
			}
			defer f.Close()
			r = f
		}
		records, rep, err = interchange.ReadTraces(ctx, s, r)
	default:
		return InterchangeOut{}, verb.Advise(
			verb.Invalidf("%q is no format that annotations are read from", in.Format),
			"write --format agent-trace or --format git-ai",
		)
	}
	if err != nil {
		return InterchangeOut{}, err
	}
	fresh, err := addImportedRecords(ctx, w, s, records, in.DryRun)
	if err != nil {
		return InterchangeOut{}, err
	}
	return InterchangeOut{Format: in.Format, DryRun: in.DryRun, isImport: true, WrittenAnnotations: len(fresh),
		KnownAnnotations: len(records) - len(fresh), LossCounts: rep.InformationLossCounts, NewRecords: fresh}, nil
}
