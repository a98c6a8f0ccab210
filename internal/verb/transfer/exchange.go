// This file implements export and import of entries.

package transfer

import (
	"cmp"
	"context"
	"io"
	"iter"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/verb/output"
	"github.com/oxbow-memory/oxbow/internal/verb/signing"
)

// ExportIn is the argument of Export.
type ExportIn struct {
	Filter string `json:"filter,omitempty" jsonschema:"Select entries by conditions such as project:vtt -tag:draft has:file."`
	verb.EntrySelection
	Output io.Writer `json:"-"` // destination for the entries, in the format of [exchange.Export]
}

// ExportOut is the result of Export.
type ExportOut struct {
	File       string `json:"file"` // path of the file; set by the caller of Export, who opened the file
	EntryCount int    `json:"entries"`
	// number of entries that were left out because the caller may not read them
	LeftOutEntries int `json:"withheld,omitempty"`
	// If the export replaced a file that was edited, a copy of that file. It is set by the caller of Export.
	EditedFileCopy string `json:"kept,omitempty"`
}

// Report tells how many entries were written to which file.
func (o ExportOut) Report() (r report.Report) {
	r.AddLinef("exported %s to %s", report.OxbowText(text.FormatCount(o.EntryCount, "entry", "entries")), o.File)
	addLeftOutEntriesNote(&r, o.LeftOutEntries)
	output.AddEditedFileCopyNote(&r, o.EditedFileCopy)
	return r
}

// Export writes the selected entries as JSON lines.
func Export(ctx context.Context, w *verb.Workspace, in ExportIn) (out ExportOut, err error) {
	f, err := in.EntrySelection.CombineFilter(in.Filter, w.CurrentTime())
	if err != nil {
		return out, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return out, err
	}
	f, out.LeftOutEntries, err = readableFilter(ctx, m, f)
	if err != nil {
		return out, err
	}
	out.EntryCount, err = exchange.Export(ctx, m, f, in.Output)
	if err == nil {
		signing.SignCopiedMemory(ctx, w, m)
	}
	return out, err
}

// ImportIn is the argument of Import.
type ImportIn struct {
	Paths        []string
	DryRun       bool                       // change nothing, and report what would be imported
	Overwrite    bool                       // also replace entries that were written, edited or updated in this memory
	FormatByPath map[string]exchange.Format // formats by path (for other paths, the format is detected)

	InputByPath map[string]io.Reader // inputs by path that are read instead of the files with these paths
	Root        string               // directory of the project (origins below it become relative), or ""

	ProjectByPath map[string]string // projects by path (for entries that do not name a project)

	OmitChanges bool // do not list the changes, because there are many (ignored in a dry run)

	// InterruptRead aborts a Read of the input that waits for more data, so that the call returns (may be nil).
	InterruptRead func()

	// Author is the author of the items. If it is empty, the author is unknown, and the items count as imported.
	Author oxbow.Actor

	// Items returns the items to import. If Items is not nil, Paths is ignored, and ChangeNote is recorded as the note
	// of the change.
	Items      func(context.Context, *time.Location) iter.Seq2[exchange.Item, error]
	ChangeNote string

	// The files belong to a folder that is kept in step with the memory (see [exchange.ImportOptions]).
	FollowFolder bool
}

// ImportOut is the result of Import. If Import returns an error, it describes the work before the error.
type ImportOut struct {
	DryRun                bool              `json:"dry_run"`
	AddedEntryCount       int               `json:"added"`
	UpdatedEntryCount     int               `json:"updated"`
	UnchangedEntryCount   int               `json:"same"`
	SkippedItemCount      int               `json:"skipped"`
	Changes               []exchange.Change `json:"changes"`
	Problems              []string          `json:"problems"`
	Notes                 []string          `json:"notes"`
	StaleEntries          []string          `json:"stale"`
	EntriesOfMissingFiles []string          `json:"gone,omitempty"` // entries whose files were deleted or renamed
	UnlistedMessageCount  int               `json:"more"`           // number of problems and notes that are not listed
	// number of added or updated entries in quarantine, which models do not get before a person approves them
	QuarantinedEntryCount int `json:"held,omitempty"`
	// name of the group by which a person can approve all entries in quarantine from this import together
	ApprovalGroup string `json:"group,omitempty"`
	// command that undoes the import even after further changes ("" without such a command)
	UndoCommand     string   `json:"-"`
	FirstEntryNames []string `json:"-"` // names of the first added or updated entries

	ObsidianVaults []string `json:"vaults,omitempty"` // imported directories that are Obsidian vaults

	ShouldListAllMessages bool `json:"-"` // the report lists all problems and notes, and not only one of each kind
}

// Append adds the result of a later import to o. Both imports belong to the same call.
func (o *ImportOut) Append(laterResult ImportOut) {
	o.AddedEntryCount += laterResult.AddedEntryCount
	o.UpdatedEntryCount += laterResult.UpdatedEntryCount
	o.UnchangedEntryCount += laterResult.UnchangedEntryCount
	o.SkippedItemCount += laterResult.SkippedItemCount
	o.Changes = append(o.Changes, laterResult.Changes...)
	o.Problems = append(o.Problems, laterResult.Problems...)
	o.Notes = append(o.Notes, laterResult.Notes...)
	o.StaleEntries = append(o.StaleEntries, laterResult.StaleEntries...)
	o.EntriesOfMissingFiles = append(o.EntriesOfMissingFiles, laterResult.EntriesOfMissingFiles...)
	o.UnlistedMessageCount += laterResult.UnlistedMessageCount
	o.QuarantinedEntryCount += laterResult.QuarantinedEntryCount
	o.ApprovalGroup = cmp.Or(o.ApprovalGroup, laterResult.ApprovalGroup)
	o.UndoCommand = cmp.Or(laterResult.UndoCommand, o.UndoCommand)
	o.FirstEntryNames = append(o.FirstEntryNames, laterResult.FirstEntryNames...)
}

// Failed reports whether an item could not be imported.
func (o ImportOut) Failed() bool { return len(o.Problems) > 0 }

// Import adds the entries in the files and directories in.Paths to the memory, or the items that in.Items yields. It
// replaces secrets in their texts. If in.DryRun is set, it only reports what it would import. After an error, the
// result describes what was imported before.
func Import(ctx context.Context, w *verb.Workspace, in ImportIn) (ImportOut, error) {
	ctx, m, err := w.OpenMemory(ctx, verb.Create.UnlessDryRun(in.DryRun))
	if err != nil {
		return ImportOut{}, err
	}
	if !in.DryRun {
		// If the memory is still empty, create its search index now. The index then grows with the import, and need
		// not be built from all entries afterwards.
		verb.IndexAfterLargeWrite(ctx, m, 0)
	}
	var part atomic.Uint64 // share of the input that was read so far, from 0 to 1, as the bits of a float64
	show := progress.Reporter(ctx)
	tell := func(done int) {
		show(
			progress.State{
				Unit:              progress.UnitEntries,
				DoneCount:         int64(done),
				FinishedWorkShare: math.Float64frombits(part.Load()),
			},
		)
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	interrupt := func() {
		stop()
		if in.InterruptRead != nil {
			in.InterruptRead()
		}
	}
	read := in.Items
	if read == nil {
		in.ChangeNote = "import of " + strings.Join(in.Paths, ", ")
		read = func(ctx context.Context, zone *time.Location) iter.Seq2[exchange.Item, error] {
			return in.readItems(ctx, zone, &part)
		}
	}
	frames := &screen.ConversationTexts{}
	items := screenItems(ctx, &w.Secrets, frames, read(reading, w.CurrentTime().Location()))
	ctx = verb.WithTaintedEntries(screen.WithConversationTexts(ctx, frames))
	r, err := exchange.Import(
		oxbow.WithNote(w.Secrets.MarkTextsAsScreened(ctx), text.TruncateWithEllipsis(in.ChangeNote, 200)),
		m,
		items,
		&exchange.ImportOptions{
			DryRun:           in.DryRun,
			Overwrite:        in.Overwrite,
			Author:           in.Author,
			ImportsOverEdits: in.FollowFolder,
			IsOriginMissing: exchange.NewMissingFileCheck(
				in.Root,
				in.Paths,
			),
			NoChangeList: in.OmitChanges && !in.DryRun,
			Progress:     tell,
			Interrupt:    interrupt,
		},
	)
	out := describeImport(in, r)
	for _, dir := range in.Paths {
		if exchange.IsObsidianVault(dir) {
			out.ObsidianVaults = append(out.ObsidianVaults, dir)
		}
	}
	if !in.DryRun {
		if r.AddedCount+r.UpdatedCount > 0 {
			out.UndoCommand = buildUndoCommand(ctx, w)
		}
		verb.IndexAfterLargeWrite(ctx, m, r.AddedCount+r.UpdatedCount)
		out.QuarantinedEntryCount, out.ApprovalGroup = countQuarantinedEntries(ctx, m, r)
	}
	return out, err
}

// describeImport converts the report r about an import to the answer that the user receives.
func describeImport(in ImportIn, r exchange.Report) ImportOut {
	return ImportOut{
		DryRun:                in.DryRun,
		AddedEntryCount:       r.AddedCount,
		UpdatedEntryCount:     r.UpdatedCount,
		UnchangedEntryCount:   r.UnchangedCount,
		SkippedItemCount:      r.SkippedCount,
		Changes:               verb.EmptyIfNil(r.Changes),
		Problems:              verb.EmptyIfNil(r.Problems),
		Notes:                 verb.EmptyIfNil(r.Notes),
		StaleEntries:          verb.EmptyIfNil(r.EntriesMissingFromFile),
		UnlistedMessageCount:  r.OmittedMessageCount,
		FirstEntryNames:       r.FirstChangedEntries,
		EntriesOfMissingFiles: r.EntriesOfMissingFiles,
	}
}

// countQuarantinedEntries returns the number of imported entries in quarantine, and their group's name.
func countQuarantinedEntries(ctx context.Context, m *oxbow.Memory, r exchange.Report) (n int, approvalGroup string) {
	if r.AddedCount+r.UpdatedCount == 0 {
		return 0, ""
	}
	n, approvalGroup, _ = labels.CountQuarantinedEntries(
		ctx,
		m,
		r.IsEntryChanged,
	) // ignore the error, because the import has succeeded
	return n, approvalGroup
}

// readItems yields the items of all paths. It stores the work's finished part in finishedFraction, as the bits of a
// float64 between 0 and 1. Each path counts as the same amount of work. If ctx is done, the sequence ends.
func (in *ImportIn) readItems(
	ctx context.Context,
	zone *time.Location,
	finishedFraction *atomic.Uint64,
) iter.Seq2[exchange.Item, error] {
	return func(yield func(exchange.Item, error) bool) {
		for i, path := range in.Paths {
			o := &exchange.ReadOptions{
				Context:  ctx,
				Format:   in.FormatByPath[path],
				Location: zone,
				Progress: func(read, size int64) {
					of := min(1, float64(read)/float64(max(size, 1)))
					finishedFraction.Store(math.Float64bits((float64(i) + of) / float64(len(in.Paths))))
				},
			}
			items := exchange.ReadPath(path, in.Root, o)
			if r := in.InputByPath[path]; r != nil {
				items = exchange.ReadStream(r, path, o)
			}
			project := in.ProjectByPath[path]
			for it, err := range items {
				lacksProject := err == nil && len(it.Entry.Values("project")) == 0
				if project != "" && lacksProject {
					it.Entry.Labels = oxbow.SortLabels(append(
						it.Entry.Labels,
						oxbow.Label{Key: "project", Value: project},
					))
				}
				if !yield(it, err) {
					return
				}
			}
		}
	}
}
