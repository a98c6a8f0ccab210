// This file checks the files to which entries refer by the label "file" (the parameter related_files). The verb
// remember records the hash of each file, and recall reports whether the file has changed since.

package verb

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/fileref"
)

// FileRef is a file to which a found entry refers. It shows how the file has changed since the entry was written.
type FileRef struct {
	File  string `json:"file"`  // path of the file as the entry contains it
	State string `json:"state"` // FRESH (almost unchanged), MOVED, STALE (changed) or UNVERIFIABLE
	// If State is MOVED, the file's new path. If the lines were moved to another file, the path of that file.
	NewPath string `json:"now,omitempty"`
	// share of the file's lines that are unchanged (0 if it is unknown)
	UnchangedLineShare float64 `json:"kept,omitempty"`
	StateText          string  `json:"how"` // the state as a phrase for people
}

// maxFileRefs is the maximum number of file references that are checked for one answer.
const maxFileRefs = 200

// staleHitWeight is the factor by which a hit's score is multiplied for sorting if all files to which the hit
// refers are stale.
const staleHitWeight = .5

// WorkingTree is a working tree with the files to which entries refer. The type annotate.Store implements it.
type WorkingTree interface {
	// HasRepoOrAnnotations reports whether the directory is a git repository or has annotations.
	HasRepoOrAnnotations() bool

	// CheckFileRefs checks references to files. It returns a result for each, in the same order.
	CheckFileRefs(ctx context.Context, refs []fileref.Ref) []fileref.CheckResult

	// FileBlobName returns the name that git gives to the present content of a file. isFile is false if the tree does
	// not contain the file.
	FileBlobName(file string) (name string, isFile bool)
}

// workingTree returns the working tree with the project's files. It returns nil without an error if the directory is
// not a git repository and has no annotations, or if w.Annotations is nil.
func (w *Workspace) workingTree(ctx context.Context) (WorkingTree, error) {
	if w.Annotations == nil {
		return nil, nil
	}
	b, err := w.Annotations(ctx)
	if err != nil {
		return nil, err
	}
	if b == nil || !b.HasRepoOrAnnotations() {
		return nil, nil
	}
	return b, nil
}

// CheckFileRefs checks the files to which entries refer against the working tree, and returns the results by the ID of
// the entry. It checks at most maxFileRefs files, and a note says how many were left out. If the tree cannot be
// opened, a note gives the reason. The result is nil without a working tree, or if no entry refers to a file.
func (w *Workspace) CheckFileRefs(ctx context.Context, es []oxbow.Entry) (map[uint64][]FileRef, []Note) {
	if w.Annotations == nil {
		return nil, nil
	}
	var asked []fileref.Ref
	var of []uint64
	here := w.projectGetter()
	left := 0
	for i := range es {
		e := &es[i]
		files := e.Values(oxbow.LabelFile)
		if len(files) == 0 {
			continue
		}
		blobs := fileHashes(e.Labels)
		for _, f := range files {
			if len(asked) == maxFileRefs {
				left++
				continue
			}
			asked = append(
				asked,
				fileref.Ref{
					File:               f,
					GitBlobHash:        blobs[f],
					ReferenceTime:      e.Updated,
					MayBeFromOtherTree: isForOtherProject(e.Labels, here),
				},
			)
			of = append(of, e.ID)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	b, err := w.workingTree(ctx)
	if err != nil {
		return nil, []Note{PlainNote("related files were not checked: " + err.Error())}
	}
	if b == nil {
		return nil, nil
	}
	out := map[uint64][]FileRef{}
	for i, c := range b.CheckFileRefs(ctx, asked) {
		out[of[i]] = append(
			out[of[i]],
			FileRef{
				File:               c.File,
				State:              string(c.State),
				NewPath:            c.CurrentPath,
				UnchangedLineShare: c.UnchangedContentShare,
				StateText:          c.Explanation,
			},
		)
	}
	if left > 0 {
		return out, []Note{
			Notef(
				"%s not checked: %d is the most for one answer",
				formatCountWithVerb(left, "more related file"),
				maxFileRefs,
			),
		}
	}
	return out, nil
}

// projectGetter returns a function for the name of the working tree's project. The function determines the name at its
// first call, and then returns the same name again. It returns "" if w.Project is nil.
func (w *Workspace) projectGetter() func() string {
	return sync.OnceValue(func() string {
		if w.Project == nil {
			return ""
		}
		return w.Project()
	})
}

// isForOtherProject reports whether an entry with these labels belongs only to other projects. The result is false if
// the labels name no project, or if the current project is unknown (empty).
func isForOtherProject(labels []oxbow.Label, currentProject func() string) bool {
	named := false
	for _, l := range labels {
		if l.Key == oxbow.LabelProject {
			if p := currentProject(); p == "" || strings.EqualFold(p, l.Value) {
				return false
			}
			named = true
		}
	}
	return named
}

// demoteStaleHits sorts hits again, so that hits that refer to stale files come later. For sorting, a score is reduced
// by the share of stale files: it is unchanged if no file is stale, and halved if all are. The field Score keeps its
// value, and no hit is removed. If the order changes, a note says so. citedFiles contains the checked files by the ID
// of the entry.
func demoteStaleHits(hits []oxbow.Hit, citedFiles map[uint64][]FileRef) (notes []Note) {
	weight := func(h oxbow.Hit) float64 {
		cs := citedFiles[h.Entry.ID]
		stale := 0
		for _, c := range cs {
			if c.State == string(fileref.RefStale) {
				stale++
			}
		}
		if stale == 0 {
			return h.Score
		}
		return h.Score * (1 - (1-staleHitWeight)*float64(stale)/float64(len(cs)))
	}
	before := make([]uint64, len(hits)) // IDs of the hits
	for i := range hits {
		before[i] = hits[i].Entry.ID
	}
	slices.SortStableFunc(hits, func(a, b oxbow.Hit) int { return cmp.Compare(weight(b), weight(a)) })
	for i := range hits {
		if hits[i].Entry.ID != before[i] {
			return []Note{PlainNote("hits that cite files which are stale stand lower than their scores say")}
		}
	}
	return nil
}

// fileHashes returns the hash that the labels record for each file.
func fileHashes(labels []oxbow.Label) map[string]string {
	out := map[string]string{}
	for _, l := range labels {
		if l.Key == oxbow.LabelFileBlob {
			if blob, file, ok := strings.Cut(l.Value, " "); ok {
				out[file] = blob
			}
		}
	}
	return out
}

// withCurrentFileHashes returns the list labels with new hash labels. A hash label contains the hash of a file to which
// the entry refers. For each file in the list labels, the result contains a hash label with the hash of the file's
// present content. The old hash is kept for a file that is not in the working tree, and for the files after the first
// maxFileRefs files. If the working tree belongs to another project or cannot be opened, all old hashes are kept.
func (w *Workspace) withCurrentFileHashes(ctx context.Context, labels []oxbow.Label) []oxbow.Label {
	var files []string
	for _, l := range labels {
		if l.Key == oxbow.LabelFile {
			files = append(files, l.Value)
		}
	}
	if len(files) == 0 {
		return withoutFileHashes(labels)
	}
	b, err := w.workingTree(ctx)
	isOther := b != nil && isForOtherProject(labels, w.projectGetter())
	if err != nil || isOther {
		// The Git tree cannot be opened, or belongs to another project. Store the entry without new hashes of its
		// files.
		b = nil
	}
	old := fileHashes(labels)
	out := withoutFileHashes(labels)
	for i, f := range files {
		blob := old[f]
		if b != nil && i < maxFileRefs {
			if now, ok := b.FileBlobName(f); ok {
				blob = now
			}
		}
		l := oxbow.Label{Key: oxbow.LabelFileBlob, Value: blob + " " + f}
		if blob != "" && l.Check() == nil { // Leave out the label if the file's path is too long for a label.
			out = append(out, l)
		}
	}
	return oxbow.SortLabels(out)
}

// withoutFileHashes returns the labels without the hashes of files.
func withoutFileHashes(labels []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(labels), func(l oxbow.Label) bool { return l.Key == oxbow.LabelFileBlob })
}
