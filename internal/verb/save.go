// This file implements the verb save_memory, a simpler form of remember.

package verb

import (
	"context"

	"github.com/oxbow-memory/oxbow/internal/base/report"
)

// SaveMemoryIn is the argument of save_memory.
type SaveMemoryIn struct {
	Content      string   `json:"content"                 also:"text,memory" jsonschema:"Markdown."                                          usage:"What to remember, in Markdown; its first line names it."`
	Project      string   `json:"project,omitempty"                                                                                          usage:"Project of the entry."`
	Tags         []string `json:"tags,omitempty"          also:"tag"         jsonschema:"Such as decision, lesson, architecture, debugging." usage:"Such as decision, lesson, architecture, identity, debugging, feature."`
	RelatedFiles []string `json:"related_files,omitempty" also:"files"                                                                       usage:"Files that it is about."`
	Confidence   *float64 `json:"confidence,omitempty"                       jsonschema:"0 to 1."                                            usage:"How certain the text is, from 0 to 1."`
}

// SaveMemoryOut is the result of save_memory. It is also the result of handoff_task if that call stored a handoff.
type SaveMemoryOut struct {
	Name    string `json:"name"`
	Version uint64 `json:"version"`
	Notes   []Note `json:"notes,omitempty"`
}

func saveMemory(ctx context.Context, w *Workspace, in SaveMemoryIn) (SaveMemoryOut, error) {
	out, err := Remember(
		ctx,
		w,
		RememberIn{Content: in.Content, Project: in.Project, Tags: in.Tags, RelatedFiles: in.RelatedFiles,
			Confidence: in.Confidence},
	)
	if err != nil {
		return SaveMemoryOut{}, err
	}
	return SaveMemoryOut{out.Name, out.Version, out.Notes}, nil
}

// Report says under which name the text was saved.
func (a SaveMemoryOut) Report() report.Report {
	name := report.EntryName(a.Name)
	return newRecordReport(report.Record{
		Key: name, Effect: report.Sentencef("saved %s", name), WrittenChange: report.ChangeNumber(a.Version),
		Cells: []report.Cell{{Name: "change", Value: a.Version}},
	}, a.Notes)
}
