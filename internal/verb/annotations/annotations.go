// This file implements the verbs that maintain a working tree's annotations: gc, stats,
// recover, setup, and the merge of sidecars (the files with the annotations).

package annotations

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

// GCAnnotationsIn is the argument of GCAnnotations.
type GCAnnotationsIn struct {
	DryRun     bool `json:"dry_run,omitempty" jsonschema:"show what would be done, and change nothing"`
	UndoLastGC bool `json:"undo,omitempty"    jsonschema:"take the last gc back"`
}

// GCAnnotationsOut is the result of GCAnnotations.
type GCAnnotationsOut struct {
	DryRun              bool          `json:"dry_run,omitempty"`
	GCRunName           string        `json:"run,omitempty"`
	FileCount           int           `json:"files"`
	AnnotationCount     int           `json:"annotations"`
	Archived            []Annotation  `json:"archived"`
	ReturnedFromArchive []Annotation  `json:"returned"`
	Skipped             []SkippedFile `json:"skipped,omitempty"`

	Undo bool `json:"-"`
}

// SkippedFile is a file whose annotations could not be changed, with the reason.
type SkippedFile struct {
	File   string `json:"file"`
	Reason string `json:"why"`
}

// GCAnnotations archives the annotations of lines that no longer exist, and restores the archived annotations of lines
// that exist again. If in.UndoLastGC is set, GCAnnotations undoes its last run instead.
func GCAnnotations(ctx context.Context, w *verb.Workspace, in GCAnnotationsIn) (GCAnnotationsOut, error) {
	ctx, s, err := OpenStore(ctx, w)
	if err != nil {
		return GCAnnotationsOut{}, err
	}
	do := s.GC
	if in.UndoLastGC {
		do = s.UndoGC
	}
	r, err := do(ctx, in.DryRun)
	if err != nil {
		return GCAnnotationsOut{}, err
	}
	out := GCAnnotationsOut{
		DryRun:              in.DryRun,
		Undo:                in.UndoLastGC,
		GCRunName:           r.GCRunName,
		FileCount:           r.ExaminedSidecars,
		AnnotationCount:     r.ExaminedAnnotations,
		Archived:            annotationList(r.Archived),
		ReturnedFromArchive: annotationList(r.Restored),
		Skipped:             skippedFiles(r.SkippedFiles),
	}
	return out, nil
}

func skippedFiles(skipped []annotate.SkippedFile) []SkippedFile {
	var out []SkippedFile
	for _, s := range skipped {
		out = append(out, SkippedFile{s.File, s.Err.Error()})
	}
	return out
}

// AnnotationStatsIn is the argument of AnnotationStats. It is empty.
type AnnotationStatsIn struct{}

// AnnotationStatsOut is the statistics of a tree's annotations.
type AnnotationStatsOut struct {
	FileCount             int            `json:"files"`
	AnnotationCount       int            `json:"annotations"`
	CountByPlacing        map[string]int `json:"placed"`
	ArchivedCount         int            `json:"archived"`
	CountByActor          map[string]int `json:"by"`
	OldestTime            string         `json:"oldest,omitempty"`
	MedianTime            string         `json:"median,omitempty"`
	NewestTime            string         `json:"newest,omitempty"`
	Bytes                 int64          `json:"bytes"`
	DamagedLineCount      int            `json:"damaged"`
	NewerVersionLineCount int            `json:"newer,omitempty"`
	Skipped               []SkippedFile  `json:"skipped,omitempty"`
}

// allPlacingKinds lists the ways in which an annotation can be placed, the most certain way first.
var allPlacingKinds = []annotate.PlacementKind{
	annotate.PlacedExactly,
	annotate.PlacedByTracking,
	annotate.PlacedAfterMove,
	annotate.PlacedAfterEdit,
	annotate.NotPlaced,
}

// AnnotationStats returns the statistics of the working tree's annotations.
func AnnotationStats(ctx context.Context, w *verb.Workspace, _ AnnotationStatsIn) (AnnotationStatsOut, error) {
	ctx, s, err := OpenStore(ctx, w)
	if err != nil {
		return AnnotationStatsOut{}, err
	}
	st, err := s.Stats(ctx)
	if err != nil {
		return AnnotationStatsOut{}, err
	}
	out := AnnotationStatsOut{
		FileCount:             st.AnnotatedFiles,
		AnnotationCount:       st.Annotations,
		CountByPlacing:        map[string]int{},
		ArchivedCount:         st.ArchivedCount,
		CountByActor:          map[string]int{},
		Bytes:                 st.SidecarBytes,
		DamagedLineCount:      st.DamagedLines,
		NewerVersionLineCount: st.NewerFormatLines,
		Skipped:               skippedFiles(st.SkippedFiles),
	}
	for _, p := range allPlacingKinds {
		out.CountByPlacing[string(p)] = st.CountByPlacement[p]
	}
	for by, n := range st.CountByAuthor {
		if by == "" {
			by = "unknown"
		}
		out.CountByActor[by] += n
	}
	if st.Annotations > 0 {
		stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
		out.OldestTime = stamp(st.OldestTime)
		out.MedianTime = stamp(st.MedianTime)
		out.NewestTime = stamp(st.NewestTime)
	}
	return out, nil
}

// RecoverAnnotationsIn is the argument of RecoverAnnotations.
type RecoverAnnotationsIn struct {
	DryRun bool `json:"dry_run,omitempty" jsonschema:"show what would be done, and change nothing"`
}

// RecoverAnnotationsOut lists the sidecars that were recovered.
type RecoverAnnotationsOut struct {
	DryRun    bool               `json:"dry_run,omitempty"`
	Recovered []RecoveredSidecar `json:"recovered"`
}

// RecoveredSidecar describes how the annotations file of one source file was repaired.
type RecoveredSidecar struct {
	File            string `json:"file"`
	UnreadableLines int    `json:"lines"`
	RestoredLines   int    `json:"found"`
	BackupFile      string `json:"beside"`
}

// RecoverAnnotations repairs each annotations file (sidecar) that has unreadable lines. With in.DryRun, it only
// reports such files.
func RecoverAnnotations(
	ctx context.Context,
	w *verb.Workspace,
	in RecoverAnnotationsIn,
) (RecoverAnnotationsOut, error) {
	ctx, s, err := OpenStore(ctx, w)
	if err != nil {
		return RecoverAnnotationsOut{}, err
	}
	saved, err := s.RecoverSidecars(ctx, in.DryRun)
	out := RecoverAnnotationsOut{DryRun: in.DryRun, Recovered: []RecoveredSidecar{}}
	for _, r := range saved {
		out.Recovered = append(out.Recovered, RecoveredSidecar(r))
	}
	return out, err
}

// SetupAnnotationsIn is the argument of SetupAnnotations.
type SetupAnnotationsIn struct {
	Command string `json:"command"           flag:"-" jsonschema:"what the shell runs as the merge driver, without its arguments"`
	Install bool   `json:"install,omitempty"          jsonschema:"also make oxbow the merge driver of this clone"`
	DryRun  bool   `json:"dry_run,omitempty"          jsonschema:"show what would be written, and change nothing"`
}

// SetupAnnotationsOut is the result of SetupAnnotations.
type SetupAnnotationsOut struct {
	DryRun     bool          `json:"dry_run,omitempty"`
	Attributes AttributeLine `json:"attributes"`
	Driver     MergeDriver   `json:"driver"`
	// Git ignored the annotations before SetupAnnotations was called.
	WasIgnoredByGit bool `json:"was_private,omitempty"`

	IsInstallRequested bool `json:"-"`
}

// MergeDriver is the git configuration of a clone. It tells git to run oxbow when annotations are merged.
type MergeDriver struct {
	Installed  bool              `json:"installed"`
	Config     map[string]string `json:"config"`
	Attributes AttributeLine     `json:"attributes"`

	ConfigSettings [][2]string `json:"-"` // the settings of git in Config, in the order in which they are shown
}

// AttributeLine is a line in a file of git attributes.
type AttributeLine struct {
	File          string `json:"file"`
	Line          string `json:"line"`
	AlreadyExists bool   `json:"there"` // File already contained Line before SetupAnnotations was called.
}

// SetupAnnotations configures git to track the annotations and to merge them between branches. With in.DryRun, it only
// returns the planned changes. Outside of a git repository, the error matches [oxbow.ErrUnsupported].
func SetupAnnotations(ctx context.Context, w *verb.Workspace, in SetupAnnotationsIn) (SetupAnnotationsOut, error) {
	ctx, s, err := OpenStore(ctx, w)
	if err != nil {
		return SetupAnnotationsOut{}, err
	}
	r, err := s.SetUpGitMerge(
		ctx,
		annotate.SetupOptions{DriverCommand: in.Command, InstallMergeDriver: in.Install, DryRun: in.DryRun},
	)
	switch {
	case errors.Is(err, oxbow.ErrUnsupported):
		return SetupAnnotationsOut{}, verb.Advise(
			err,
			"run it inside a git repository; without git there is nothing to set up",
		)
	case errors.Is(err, oxbow.ErrInvalid):
		return SetupAnnotationsOut{}, verb.Advise(err, "nothing was written to that file")
	case err != nil:
		return SetupAnnotationsOut{}, err
	}
	out := SetupAnnotationsOut{DryRun: in.DryRun, IsInstallRequested: in.Install, WasIgnoredByGit: r.WasIgnoredByGit,
		Attributes: AttributeLine(r.Attributes),
		Driver: MergeDriver{Installed: r.LocalAttributes.AlreadyExists ||
			(in.Install && !in.DryRun), Config: map[string]string{}, ConfigSettings: r.ConfigSettings,
			Attributes: AttributeLine(r.LocalAttributes)}}
	for _, kv := range r.ConfigSettings {
		out.Driver.Config[kv[0]] = kv[1]
	}
	return out, nil
}

// MergeSidecarsIn is the argument of MergeSidecars. BasePath, OurPath and TheirPath are paths in the form of the
// operating system. FilePath is a path relative to Dir.
type MergeSidecarsIn struct {
	BasePath  string `json:"base"           flag:"-"`
	OurPath   string `json:"ours"           flag:"-"`
	TheirPath string `json:"theirs"         flag:"-"`
	FilePath  string `json:"name,omitempty" flag:"-"`
	Dir       string `json:"dir,omitempty"  flag:"-"`
}

// MergeSidecarsOut is the number of unreadable lines, and the file to which they were written.
type MergeSidecarsOut struct {
	UnreadableLineCount int    `json:"unreadable"`
	UnreadableLinesFile string `json:"kept_in,omitempty"`
}

// maxSidecarSize is the maximum size, in bytes, of each annotation file (sidecar) in a three-way merge: Base, Ours and
// Theirs.
const maxSidecarSize = 256 << 20

// MergeSidecars merges two sidecars, which are files with annotations. It merges the sidecars at in.OurPath and
// in.TheirPath, whose common base is at in.BasePath, and writes the result to in.OurPath. Lines that cannot be read are
// saved in the file NAME.damaged in the directory in.Dir. NAME is the value of in.FilePath. If in.FilePath is empty,
// the lines are appended to the result instead.
func MergeSidecars(_ context.Context, _ *verb.Workspace, in MergeSidecarsIn) (out MergeSidecarsOut, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("merging annotations: %w", err)
		}
	}()
	var texts [3][]byte
	for i, file := range []string{in.BasePath, in.OurPath, in.TheirPath} {
		if err := withOpenDir(filepath.Dir(file), func(dir vfs.FS) (err error) {
			texts[i], err = vfs.ReadFile(dir, filepath.Base(file), maxSidecarSize)
			return err
		}); err != nil {
			return out, err
		}
	}
	m := annotate.MergeSidecars(texts[0], texts[1], texts[2])
	if len(m.UnreadableLines) > 0 && in.FilePath == "" {
		m.Data = append(m.Data, m.UnreadableLines...)
	} else if len(m.UnreadableLines) > 0 {
		out, err = saveUnreadableLines(in, m.UnreadableLines)
		if err != nil {
			return out, fmt.Errorf("keeping damaged lines: %w", err)
		}
	}
	return out, withOpenDir(filepath.Dir(in.OurPath), func(dir vfs.FS) error {
		return vfs.WriteFile(dir, filepath.Base(in.OurPath), m.Data, 0o644)
	})
}

// withOpenDir calls fn with an open directory, and closes the directory afterwards. name is a path in the form of the
// operating system.
func withOpenDir(name string, fn func(vfs.FS) error) error {
	dir, err := vfs.Dir(name)
	if err != nil {
		return err
	}
	return errors.Join(fn(dir), dir.Close())
}

// saveUnreadableLines appends lines, which could not be merged because they are unreadable, to the file NAME.damaged.
// It skips lines that the file already contains.
func saveUnreadableLines(in MergeSidecarsIn, lines []byte) (MergeSidecarsOut, error) {
	name := filepath.ToSlash(in.FilePath)
	if err := annotate.CheckFile(name); err != nil {
		return MergeSidecarsOut{}, err
	}
	name = path.Clean(name) + ".damaged"
	out := MergeSidecarsOut{UnreadableLinesFile: name}
	return out, withOpenDir(in.Dir, func(dir vfs.FS) error {
		old, err := vfs.ReadFile(dir, name, maxSidecarSize)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		have := map[string]bool{}
		for l := range strings.Lines(string(old)) {
			have[l] = true
		}
		for l := range strings.Lines(string(lines)) {
			if !have[l] {
				old = append(old, l...)
			}
			out.UnreadableLineCount++
		}
		return vfs.WriteFile(dir, name, old, os.FileMode(0o644))
	})
}
