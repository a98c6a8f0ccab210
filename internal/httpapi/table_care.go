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

func codeRoutes() []route {
	return []route{
		readRoute(
			"/annotations",
			"annotations",
			"Why lines of code are as they are",
			annotations.GetAnnotations,
			markWithPages,
		),
		writeRoute(
			http.MethodPost,
			"/annotations",
			"annotate",
			"Keep why lines are as they are",
			annotations.Annotate,
		),
		readRoute("/annotations/stats", "annotation_stats", "Numbers of the annotations", annotations.AnnotationStats),
	}
}

func maintenanceRoutes() []route {
	return []route{
		writeRoute(
			http.MethodPost,
			"/consolidate",
			"consolidate",
			"Join entries that say the same",
			consolidateNames,
			markDestructive,
		),
		writeRoute(
			http.MethodPost,
			"/compress",
			"compress",
			"Shorten the files of a home in the layout of clawft or CodeRhapsody",
			maintenance.Compress,
			requireWholeMemory,
			markDestructive,
		),
		writeRoute(
			http.MethodPost,
			"/compress/undo",
			"compress_undo",
			"Take digests back and restore the files that they replaced",
			maintenance.Decompress,
			requireWholeMemory,
			markDestructive,
		),
		writeRoute(
			http.MethodPost,
			"/scan",
			"scan",
			"Look for secrets in all that is kept",
			maintenance.ScanSecrets,
			requireWholeMemory,
			markDestructive,
		),
		readRoute("/check", "check", "Look for damage", checkMemory, requireWholeMemory),
		readRoute("/stats", "stats", "Numbers of the memory", memoryStats, requireWholeMemory),
		readRoute("/doctor", "doctor", "Examine the memory and what is around it", runDoctor, requireWholeMemory),
	}
}

// consolidateIn contains the arguments of consolidateNames.
type consolidateIn struct {
	SizeLimit int  `json:"over,omitempty"    usage:"Change nothing unless there are more than so many tokens."`
	DryRun    bool `json:"dry_run,omitempty" usage:"Show what would go and change nothing."`
}

// consolidateOut is the result of consolidateNames.
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

// consolidateNames calls [maintenance.Consolidate] and returns its result in a shorter form. For each duplicate that
// was removed, the returned value contains only the names of the removed entry and of the entry that was kept, and not
// the entries themselves.
func consolidateNames(ctx context.Context, w *verb.Workspace, in consolidateIn) (consolidateOut, error) {
	got, err := maintenance.Consolidate(
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
	if len(got.Dropped) == 0 {
		out.Steps = got.Steps
	}
	for _, d := range got.Dropped {
		out.RemovedDuplicates = append(out.RemovedDuplicates, removedDuplicate{d.Drop.Name, d.Keep.Name, d.Exact})
	}
	return out, err
}

// checkIn contains the arguments of checkMemory.
type checkIn struct {
	SinceLogHash string `json:"since,omitempty" usage:"Prove that changes were only added since this head, which check or stats gave."`
}

// checkMemory calls [maintenance.CheckAll] without signing the result. The report names files without their
// directories, so that paths of the server stay hidden from clients.
func checkMemory(ctx context.Context, w *verb.Workspace, in checkIn) (maintenance.CheckOut, error) {
	out, err := maintenance.CheckAll(ctx, w, maintenance.CheckIn{Since: in.SinceLogHash})
	out.Store = fileName(out.Store)
	if out.Sessions != nil {
		out.Sessions.Store = fileName(out.Sessions.Store)
	}
	return out, err
}

// memoryStats calls [maintenance.Stats]. The result contains the name of the store's file without its directory.
func memoryStats(ctx context.Context, w *verb.Workspace, in maintenance.StatsIn) (maintenance.StatsOut, error) {
	out, err := maintenance.Stats(ctx, w, in)
	out.Store = fileName(out.Store)
	return out, err
}

// runDoctor calls [maintenance.Doctor] and hides the path of the home. In the findings, the path is replaced by the
// name of its last element. In the remedies (the fields Mend), the path stays if w.Typed is set, because the reader may
// then know where the home is.
func runDoctor(ctx context.Context, w *verb.Workspace, in maintenance.DoctorIn) (maintenance.DoctorOut, error) {
	out, err := maintenance.Doctor(ctx, w, in)
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
