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
	File    string `json:"file"` // path of the file; set by the caller of Export, who opened the file
	Entries int    `json:"entries"`
	// number of entries that were left out because the caller may not read them
	WithheldEntries int `json:"withheld,omitempty"`
	// If the export replaced a file that was edited, a copy of that file. It is set by the caller of Export.
	KeptCopy string `json:"kept,omitempty"`
}

// Report tells how many entries were written to which file.
func (o ExportOut) Report() (r report.Report) {
	r.AddLinef("exported %s to %s", report.Words(text.FormatCount(o.Entries, "entry", "entries")), o.File)
	addWithheldNote(&r, o.WithheldEntries)
	output.AddKeptCopyNote(&r, o.KeptCopy)
	return r
}

// Export writes the selected entries as JSON lines.
func Export(ctx context.Context, w *verb.Workspace, in ExportIn) (out ExportOut, err error) {
	f, err := in.EntrySelection.CombineFilter(in.Filter, w.CurrentTime())
	if err != nil {
		return out, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadOwn)
	if err != nil {
		return out, err
	}
	f, out.WithheldEntries, err = readableFilter(ctx, m, f)
	if err != nil {
		return out, err
	}
	out.Entries, err = exchange.Export(ctx, m, f, in.Output)
	if err == nil {
		signing.SignCopiedHead(ctx, w, m)
	}
	return out, err
}

// ImportIn is the argument of Import.
type ImportIn struct {
	Paths     []string
	DryRun    bool                       // change nothing, and report what would be imported
	Overwrite bool                       // also replace entries that were written, edited or updated in this memory
	Formats   map[string]exchange.Format // formats by path (for other paths, the format is detected)

	Inputs map[string]io.Reader // inputs by path that are read instead of the files with these paths
	Root   string               // directory of the project (origins below it become relative), or ""

	Projects map[string]string // projects by path (for entries that do not name a project)

	OmitChanges bool // do not list the changes, because there are many (ignored in a dry run)

	// InterruptRead aborts a Read of the input that waits for more data, so that the call returns (may be nil).
	InterruptRead func()

	// Author is the author of the items. If it is empty, the author is unknown, and the items count as imported.
	Author oxbow.Actor

	// Items returns the items to import. If it is not nil, Paths is ignored, and Note is the note of the change.
	Items func(context.Context, *time.Location) iter.Seq2[exchange.Item, error]
	Note  string

	// The files belong to a folder that is kept in step with the memory (see [exchange.ImportOptions]).
	FollowFolder bool
}

// ImportOut is the result of Import. If Import returns an error, it describes the work before the error.
type ImportOut struct {
	DryRun           bool              `json:"dry_run"`
	Added            int               `json:"added"`
	Updated          int               `json:"updated"`
	SameEntries      int               `json:"same"`
	SkippedItems     int               `json:"skipped"`
	Changes          []exchange.Change `json:"changes"`
	Problems         []string          `json:"problems"`
	Notes            []string          `json:"notes"`
	StaleEntries     []string          `json:"stale"`
	GoneFileEntries  []string          `json:"gone,omitempty"` // entries whose files were deleted or renamed
	UnlistedMessages int               `json:"more"`           // number of problems and notes that are not listed
	// number of added or updated entries in quarantine (see [HeldEntries])
	HeldEntries int `json:"held,omitempty"`
	// name of the group by which a person can approve all entries in quarantine from this import together
	Group string `json:"group,omitempty"`
	// command that undoes the import even after further changes ("" without such a command)
	UndoCommand string   `json:"-"`
	FirstNames  []string `json:"-"` // names of the first added or updated entries

	Vaults []string `json:"vaults,omitempty"` // imported directories that are Obsidian vaults

	ListsAll bool `json:"-"` // the report lists all problems and notes, and not only one of each kind
}

// Append adds the result of another import in the same call, which was made later.
func (o *ImportOut) Append(later ImportOut) {
	o.Added += later.Added
	o.Updated += later.Updated
	o.SameEntries += later.SameEntries
	o.SkippedItems += later.SkippedItems
	o.Changes = append(o.Changes, later.Changes...)
	o.Problems = append(o.Problems, later.Problems...)
	o.Notes = append(o.Notes, later.Notes...)
	o.StaleEntries = append(o.StaleEntries, later.StaleEntries...)
	o.GoneFileEntries = append(o.GoneFileEntries, later.GoneFileEntries...)
	o.UnlistedMessages += later.UnlistedMessages
	o.HeldEntries += later.HeldEntries
	o.Group = cmp.Or(o.Group, later.Group)
	o.UndoCommand = cmp.Or(later.UndoCommand, o.UndoCommand)
	o.FirstNames = append(o.FirstNames, later.FirstNames...)
}

// Failed reports whether an item could not be imported.
func (o ImportOut) Failed() bool { return len(o.Problems) > 0 }

// Import adds the entries in files and directories.
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
				Unit:          progress.UnitEntries,
				DoneCount:     int64(done),
				FinishedShare: math.Float64frombits(part.Load()),
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
		in.Note = "import of " + strings.Join(in.Paths, ", ")
		read = func(ctx context.Context, zone *time.Location) iter.Seq2[exchange.Item, error] {
			return in.readItems(ctx, zone, &part)
		}
	}
	frames := &screen.ConversationTexts{}
	items := screenItems(ctx, &w.Secrets, frames, read(reading, w.CurrentTime().Location()))
	ctx = verb.WithTaintedEntries(screen.WithConversationTexts(ctx, frames))
	r, err := exchange.Import(
		oxbow.WithNote(w.Secrets.WithScreenedTexts(ctx), text.TruncateWithEllipsis(in.Note, 200)),
		m,
		items,
		&exchange.ImportOptions{DryRun: in.DryRun, Overwrite: in.Overwrite, Author: in.Author, Follow: in.FollowFolder,
			IsGone: exchange.GoneFiles(in.Root, in.Paths), NoChanges: in.OmitChanges && !in.DryRun, Progress: tell,
			Interrupt: interrupt},
	)
	out := ImportOut{
		DryRun:       in.DryRun,
		Added:        r.Added,
		Updated:      r.Updated,
		SameEntries:  r.Same,
		SkippedItems: r.Skipped,
		Changes: verb.EmptyIfNil(
			r.Changes,
		),
		Problems:         verb.EmptyIfNil(r.Problems),
		Notes:            verb.EmptyIfNil(r.Notes),
		StaleEntries:     verb.EmptyIfNil(r.Stale),
		UnlistedMessages: r.More,
		FirstNames:       r.First,
		GoneFileEntries:  r.Gone,
	}
	for _, dir := range in.Paths {
		if exchange.IsVault(dir) {
			out.Vaults = append(out.Vaults, dir)
		}
	}
	if !in.DryRun {
		if r.Added+r.Updated > 0 {
			out.UndoCommand = undoCommand(ctx, w)
		}
		verb.IndexAfterLargeWrite(ctx, m, r.Added+r.Updated)
		out.HeldEntries, out.Group = countHeldEntries(ctx, m, r)
	}
	return out, err
}

// countHeldEntries returns the number of imported entries in quarantine, and their group's name.
func countHeldEntries(ctx context.Context, m *oxbow.Memory, r exchange.Report) (n int, group string) {
	if r.Added+r.Updated == 0 {
		return 0, ""
	}
	n, group, _ = labels.CountHeldEntries(ctx, m, r.Changed) // ignore the error, because the import has succeeded
	return n, group
}

// readItems yields the items of all paths. It stores the work's finished part in finishedPart, as the bits of a
// float64 between 0 and 1. Each path counts as the same amount of work. If ctx is done, the sequence ends.
func (in *ImportIn) readItems(
	ctx context.Context,
	zone *time.Location,
	finishedPart *atomic.Uint64,
) iter.Seq2[exchange.Item, error] {
	return func(yield func(exchange.Item, error) bool) {
		for i, path := range in.Paths {
			o := &exchange.ReadOptions{
				Context:  ctx,
				Format:   in.Formats[path],
				Location: zone,
				Progress: func(read, size int64) {
					of := min(1, float64(read)/float64(max(size, 1)))
					finishedPart.Store(math.Float64bits((float64(i) + of) / float64(len(in.Paths))))
				},
			}
			items := exchange.ReadPath(path, in.Root, o)
			if r := in.Inputs[path]; r != nil {
				items = exchange.ReadStream(r, path, o)
			}
			project := in.Projects[path]
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
