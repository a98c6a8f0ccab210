// This file defines the routes for code annotations and for the maintenance of the memory.

package httpapi

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func sourceCodeRoutes() []route {
	return []route{
		newReadRoute(
			"/annotations",
			"annotations",
			"Why lines of code are as they are",
			annotations.GetAnnotations,
			markPaged,
		),
		newWriteRoute(
			http.MethodPost,
			"/annotations",
			"annotate",
			"Keep why lines are as they are",
			annotations.Annotate,
		),
		newReadRoute(
			"/annotations/stats",
			"annotation_stats",
			"Numbers of the annotations",
			annotations.AnnotationStats,
		),
	}
}

func maintenanceRoutes() []route {
	return []route{
		newWriteRoute(
			http.MethodPost,
			"/consolidate",
			"consolidate",
			"Join entries that say the same",
			consolidateMemory,
			markDestructive,
		),
		newWriteRoute(
			http.MethodPost,
			"/compress",
			"compress",
			"Shorten the files of a home in the layout of clawft or CodeRhapsody",
			maintenance.CompressHome,
			requireWholeMemoryAccess,
			markDestructive,
		),
		newWriteRoute(
			http.MethodPost,
			"/compress/undo",
			"compress_undo",
			"Take digests back and restore the files that they replaced",
			maintenance.DecompressDigests,
			requireWholeMemoryAccess,
			markDestructive,
		),
		newWriteRoute(
			http.MethodPost,
			"/scan",
			"scan",
			"Look for secrets in all that is kept",
			maintenance.ScanSecrets,
			requireWholeMemoryAccess,
			markDestructive,
		),
		newReadRoute("/check", "check", "Look for damage", checkMemory, requireWholeMemoryAccess),
		newReadRoute("/stats", "stats", "Numbers of the memory", memoryStats, requireWholeMemoryAccess),
		newReadRoute(
			"/doctor",
			"doctor",
			"Examine the memory and what is around it",
			runDoctor,
			requireWholeMemoryAccess,
		),
	}
}

// consolidateIn contains the arguments of consolidateMemory.
type consolidateIn struct {
	SizeLimit int  `json:"over,omitempty"    usage:"Change nothing unless there are more than so many tokens."`
	DryRun    bool `json:"dry_run,omitempty" usage:"Show what would go and change nothing."`
}

// consolidateOut is the result of consolidateMemory.
type consolidateOut struct {
	// number of tokens in all notes and facts before anything was removed
	TokensBefore      int                `json:"before"`
	TokensAfter       int                `json:"after"`
	RemovedDuplicates []removedDuplicate `json:"dropped"`

	// Steps is set only if the home keeps its facts in files of another program, and repeated facts were removed from
	// these files. Steps describes these removals. UndoableChangeNumber is the number of the change that removed the
	// facts. To undo the change, the caller passes this number to the operation undo.
	Steps                []verb.Step `json:"steps,omitempty"`
	UndoableChangeNumber int         `json:"number,omitempty"`
}

// removedDuplicate names a removed entry and the kept entry that contains its text.
type removedDuplicate struct {
	Name     string `json:"name"`
	KeptName string `json:"kept"`
	// the texts of the removed and the kept entry are equal except for white space and capitalization
	IsExact bool `json:"exact,omitempty"`
}

// consolidateMemory calls [maintenance.ConsolidateEntries] and returns its result in a shorter form. For each duplicate
// that was removed, the returned value contains only the names of the removed entry and the kept entry, and not the
// entries themselves.
func consolidateMemory(ctx context.Context, w *verb.Workspace, in consolidateIn) (consolidateOut, error) {
	got, err := maintenance.ConsolidateEntries(
		ctx,
		w,
		maintenance.ConsolidateIn{TokenThreshold: in.SizeLimit, DryRun: in.DryRun},
	)
	out := consolidateOut{
		TokensBefore:         got.Before,
		TokensAfter:          got.After,
		RemovedDuplicates:    []removedDuplicate{},
		UndoableChangeNumber: got.Number,
	}
	if len(got.RemovedDuplicates) == 0 {
		out.Steps = got.Steps
	}
	for _, d := range got.RemovedDuplicates {
		out.RemovedDuplicates = append(
			out.RemovedDuplicates,
			removedDuplicate{d.DroppedEntry.Name, d.KeptEntry.Name, d.Exact},
		)
	}
	return out, err
}

// checkMemoryIn contains the arguments of checkMemory.
type checkMemoryIn struct {
	SinceLogHash string `json:"since,omitempty" usage:"Prove that changes were only added since this head, which check or stats gave."`
}

// checkMemory calls [maintenance.CheckData] and removes the directories from the file names in the result, so that the
// paths of the server stay hidden from clients. The result is not signed.
func checkMemory(ctx context.Context, w *verb.Workspace, in checkMemoryIn) (maintenance.CheckDataOut, error) {
	out, err := maintenance.CheckData(ctx, w, maintenance.CheckDataIn{EarlierHash: in.SinceLogHash})
	out.Store = fileName(out.Store)
	if out.Sessions != nil {
		out.Sessions.StorePath = fileName(out.Sessions.StorePath)
	}
	return out, err
}

// memoryStats calls [maintenance.Stats]. The result contains the name of the store's file without its directory.
func memoryStats(ctx context.Context, w *verb.Workspace, in maintenance.StatsIn) (maintenance.StatsOut, error) {
	out, err := maintenance.Stats(ctx, w, in)
	out.Store = fileName(out.Store)
	return out, err
}

// runDoctor calls [maintenance.DiagnoseMemory] and hides the path of the home. In the findings, the path is replaced by
// the name of its last element. In the remedies (the fields Mend), the path stays if w.Typed is set, because the reader
// may then know where the home is.
func runDoctor(ctx context.Context, w *verb.Workspace, in maintenance.DoctorIn) (maintenance.DoctorOut, error) {
	out, err := maintenance.DiagnoseMemory(ctx, w, in)
	home := out.Home
	out.Home, out.Store = fileName(home), fileName(out.Store)
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Description = strings.ReplaceAll(f.Description, home, out.Home)
		if w.Typed == nil {
			f.Mend = strings.ReplaceAll(f.Mend, home, out.Home)
		}
	}
	return out, err
}

// fileName returns the last element of a path, or "" if the path is empty.
func fileName(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}
