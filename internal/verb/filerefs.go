// This file checks the files that entries refer to, with the label "file" (the parameter
// related_files), against the working tree. The verb remember records the hash of a file, and
// recall reports whether the file has changed.

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

// FileRef is a file to which a hit refers, and the state of this file in the working tree.
type FileRef struct {
	File      string  `json:"file"`           // as the entry has it
	State     string  `json:"state"`          // FRESH, MOVED, STALE or UNVERIFIABLE
	NewPlace  string  `json:"now,omitempty"`  // new place of the file, or of its remaining lines, if moved
	KeptShare float64 `json:"kept,omitempty"` // share of the lines that are unchanged, if known
	StateText string  `json:"how"`            // the state in words
}

// maxFileRefs is the maximum number of references that an answer checks.
const maxFileRefs = 200

// staleWeight is the factor for the score of a hit, when hits are ordered, if all files that it
// refers to are stale.
const staleWeight = .5

// WorkingTree is a working tree, to whose files entries may refer. annotate.Store implements it.
type WorkingTree interface {
	IsRepoOrAnnotated() bool // reports whether there is a working tree at all

	// CheckFileRefs returns the result for each reference, in the same order.
	CheckFileRefs(ctx context.Context, refs []fileref.Ref) []fileref.CheckResult

	// FileBlobName returns git's name for the present content of a file, if the file is in the tree.
	FileBlobName(file string) (name string, isFile bool)
}

// workingTree returns the working tree, or nil outside of one.
func (w *Workspace) workingTree(ctx context.Context) (WorkingTree, error) {
	if w.Annotations == nil {
		return nil, nil
	}
	b, err := w.Annotations(ctx)
	if err != nil {
		return nil, err
	}
	if b == nil || !b.IsRepoOrAnnotated() {
		return nil, nil
	}
	return b, nil
}

// CheckFileRefs compares the files that the entries cite with the working tree, and returns the results by entry ID.
// At most maxFileRefs files are checked, and a note says how many were left out. If the tree cannot be opened, a note
// gives the reason. The result is nil if no entry cites a file or if there is no working tree.
func (w *Workspace) CheckFileRefs(ctx context.Context, es []oxbow.Entry) (map[uint64][]FileRef, []Note) {
	if w.Annotations == nil {
		return nil, nil
	}
	var asked []fileref.Ref
	var of []uint64
	here := w.currentProject()
	left := 0
	for _, e := range es {
		blobs := fileHashes(e.Labels)
		for _, f := range e.Values(oxbow.LabelFile) {
			if len(asked) == maxFileRefs {
				left++
				continue
			}
			asked = append(
				asked,
				fileref.Ref{File: f, Blob: blobs[f], Time: e.Updated, IsDoubtful: isForOtherProject(e.Labels, here)},
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
				File:      c.File,
				State:     string(c.State),
				NewPlace:  c.CurrentPath,
				KeptShare: c.UnchangedShare,
				StateText: c.Explanation,
			},
		)
	}
	if left > 0 {
		return out, []Note{
			Notef(
				"%s not checked: %d is the most for one answer",
				countWithIs(left, "more related file"),
				maxFileRefs,
			),
		}
	}
	return out, nil
}

// currentProject returns a function that returns the project of the working tree. The project is looked up at
// the first call.
func (w *Workspace) currentProject() func() string {
	return sync.OnceValue(func() string {
		if w.Project == nil {
			return ""
		}
		return w.Project()
	})
}

// isForOtherProject reports whether the labels name projects, but not the current project.
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

// demoteStaleHits sorts hits again, so that hits that cite stale files come later. The sort uses the score, reduced by
// the share of stale files: the full score if none is stale, and half of it if all are stale. The field Score keeps
// its value and no hit is removed. If the order changes, demoteStaleHits returns a note that says so. citedFiles has
// the cited files of each entry, by entry ID.
func demoteStaleHits(hits []oxbow.Hit, citedFiles map[uint64][]FileRef) (notes []Note) {
	weight := func(h oxbow.Hit) float64 {
		cs := citedFiles[h.Entry.ID]
		stale := 0
		for _, c := range cs {
			if c.State == string(fileref.Stale) {
				stale++
			}
		}
		if stale == 0 {
			return h.Score
		}
		return h.Score * (1 - (1-staleWeight)*float64(stale)/float64(len(cs)))
	}
	before := slices.Clone(hits)
	slices.SortStableFunc(hits, func(a, b oxbow.Hit) int { return cmp.Compare(weight(b), weight(a)) })
	for i := range hits {
		if hits[i].Entry.ID != before[i].Entry.ID {
			return []Note{PlainNote("hits that cite files which are stale stand lower than their scores say")}
		}
	}
	return nil
}

// fileHashes returns the recorded hash of each file in the labels.
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

// withFileHashes returns the labels with the cited files' current hashes in the working tree. If a
// file is not in a working tree, the old hash is kept.
func (w *Workspace) withFileHashes(ctx context.Context, labels []oxbow.Label) []oxbow.Label {
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
	isOther := b != nil && isForOtherProject(labels, w.currentProject())
	if err != nil || isOther {
		b = nil // remember the entry without hashes
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
		if blob != "" && l.Check() == nil { // the label of a long path would be too long
			out = append(out, l)
		}
	}
	return oxbow.SortLabels(out)
}

// withoutFileHashes returns the labels without the hashes of cited files.
func withoutFileHashes(labels []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(labels), func(l oxbow.Label) bool { return l.Key == oxbow.LabelFileBlob })
}
