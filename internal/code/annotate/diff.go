// This file finds the annotations that a change to the files touches. The change touches an annotation if it modifies
// or deletes the annotation's lines. Annotations that the change adds are listed as well.

package annotate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// DiffOptions select the change that Diff examines.
type DiffOptions struct {
	// CommitRange is A..B or A...B, with the same meaning as for git diff, or only A, for the changes in the working
	// tree since A. "" means HEAD.
	CommitRange string

	Staged   bool                  // compare with git's index instead of the working tree
	Progress func(done, total int) // called with the number of files that are done and their total number (may be nil)
}

// Diff lists the annotations that a change touches.
type Diff struct {
	Base, Head         string // IDs of the commits that are compared (Head may also be "index" or "working tree")
	ChangedFileCount   int    // number of files that were changed or deleted (added files do not count)
	TouchedAnnotations []TouchedAnnotation
	AddedAnnotations   []FoundAnnotation // annotations that exist only in the newer of the two compared states
	SkippedFiles       []SkippedFile
	BaseHasAnnotations bool // The older commit contained at least one annotation file.
}

// TouchedAnnotation is an annotation whose lines are touched by the change between an older version of the files (the
// base) and a newer version. The embedded FoundAnnotation has the annotation's position in the newer version. OldFile
// and OldSpan have the position in the base.
type TouchedAnnotation struct {
	FoundAnnotation
	OldFile string
	OldSpan LineSpan
}

// Diff finds the annotations that a change touches, and the annotations that the change adds. o.CommitRange names the
// commits to compare. A change touches an annotation if it modifies or deletes lines of the annotation, or inserts
// lines between these lines. Diff reads the files and the annotation files (sidecars) of the commits, and follows
// renames. The error matches [oxbow.ErrInvalid] if o.CommitRange is invalid, and [oxbow.ErrUnsupported] without git.
func (b *Store) Diff(ctx context.Context, o DiffOptions) (*Diff, error) {
	if b.repo == nil {
		return nil, fmt.Errorf("comparing: %w: %w", oxbow.ErrUnsupported, git.ErrNoRepository)
	}
	x, err := b.compareCommitRange(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("comparing: %w", err)
	}
	return &x.Diff, nil
}

// commitRangeComparison is the state of one Diff call.
type commitRangeComparison struct {
	Diff
	worktreeStore *Store // annotations in the working tree
	baseRepo      *git.Repo
	// annotations in the older commit (the base), as they are in git; their blobs are read in advance
	baseStore            *Store
	baseBlobs            cachedHistory
	baseFiles, headFiles *comparedFileSet
	// For each file of the older commit that was renamed before, the git blobs of annotation files (sidecars) that
	// still have the file's former name in their names.
	formerNameSidecars map[string][]string
	// maps the old name of a file to its new name, if the file was renamed between base and head
	renamedFiles map[string]string
	progress     func(done, total int)
}

// compareCommitRange compares the base and the head of a range, and returns a comparison with the annotations that the
// change touches or adds, and with the files that could not be read. It calls o.Progress after each batch of files.
func (b *Store) compareCommitRange(ctx context.Context, o DiffOptions) (*commitRangeComparison, error) {
	x := &commitRangeComparison{worktreeStore: b, progress: o.Progress}
	if x.progress == nil {
		x.progress = func(int, int) {}
	}
	if err := x.resolveBaseAndHead(ctx, o); err != nil {
		return nil, err
	}
	x.baseRepo = b.repo.AtCommit(x.Base)
	x.baseBlobs = cachedHistory{GitHistory: x.baseRepo, blobs: map[string][]byte{}}
	x.baseStore = &Store{worktree: b.worktree, sidecarDir: b.sidecarDir, history: &x.baseBlobs, opts: b.opts}
	x.baseStore.clearCaches()
	if err := x.findFormerSidecars(ctx); err != nil {
		return nil, err
	}
	if err := x.findRenames(ctx); err != nil {
		return nil, err
	}
	jobs := x.changedFileJobs()
	added, err := x.jobsForNewAnnotations(ctx)
	if err != nil {
		return nil, err
	}
	jobs = append(jobs, added...)
	for done := 0; done < len(jobs); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch := jobs[done:min(done+blobBatchSize, len(jobs))]
		if err := x.findAnnotationsInFiles(ctx, batch); err != nil {
			return nil, err
		}
		done += len(batch)
		x.progress(done, len(jobs))
	}
	return x, nil
}

// resolveBaseAndHead parses the range in the options, and sets the two states that are compared. The older state,
// x.Base, is a commit. The newer state, x.Head, is a commit if the range names two commits. Otherwise it is git's index
// if o.Staged is set, or else the working tree. resolveBaseAndHead also lists the files of both states.
func (x *commitRangeComparison) resolveBaseAndHead(ctx context.Context, o DiffOptions) error {
	repo := x.worktreeStore.repo
	from, to, two := strings.Cut(o.CommitRange, "..")
	var err error
	x.Base, err = x.resolveCommit(ctx, from)
	if err != nil {
		return err
	}
	switch {
	case two && o.Staged:
		return &oxbow.InvalidError{
			Field:  "diff",
			Value:  o.CommitRange,
			Reason: "compares two commits; the index is compared with one",
		}
	case two:
		err = x.setCommits(ctx, o.CommitRange, to)
	case o.Staged:
		x.Head = "index"
	default:
		x.Head = "working tree"
	}
	if err != nil {
		return err
	}
	files, err := repo.ListCommitFiles(ctx, x.Base)
	if err != nil {
		return err
	}
	x.baseFiles = &comparedFileSet{blobsByPath: files}
	switch {
	case two:
		files, err = repo.ListCommitFiles(ctx, x.Head)
		x.headFiles = &comparedFileSet{blobsByPath: files}
	case o.Staged:
		x.headFiles, err = x.worktreeStore.stagedFiles()
	default:
		x.headFiles, err = x.worktreeStore.worktreeFiles(ctx, files)
	}
	return err
}

// resolveCommit returns the ID of the named commit. "" means HEAD.
func (x *commitRangeComparison) resolveCommit(ctx context.Context, name string) (string, error) {
	name = cmp.Or(name, "HEAD")
	id, err := x.worktreeStore.repo.ResolveRevision(ctx, name)
	if errors.Is(err, git.ErrNoCommit) {
		err = &oxbow.InvalidError{
			Field: fmt.Sprintf("%.80q", name),
			Reason: "names no commit of this repository; git log --all shows those that it has, and git commit makes " +
				"the first",
		}
	}
	return id, err
}

// setCommits sets the head commit. headName is the part of the range after "..". If it begins with a third dot, as in
// A...B, setCommits also replaces the base by the merge base of both commits.
func (x *commitRangeComparison) setCommits(ctx context.Context, rangeText, headName string) (err error) {
	headName, common := strings.CutPrefix(headName, ".")
	x.Head, err = x.resolveCommit(ctx, headName)
	if err != nil || !common {
		return err
	}
	x.Base, err = x.worktreeStore.repo.MergeBase(ctx, x.Base, x.Head)
	if err == nil && x.Base == "" {
		err = &oxbow.InvalidError{
			Field:  "diff",
			Value:  rangeText,
			Reason: "has no commit in common in this clone; a shallow one gets it with git fetch --unshallow",
		}
	}
	return err
}

// readComparedFile returns the content of a file in one of the two compared states. The set fileSet contains the files
// of this state. If the content was read from git before, it is in x.baseBlobs. Otherwise it is read from the working
// tree, if fileSet.isWorkingTree is set. readComparedFile returns an error if the content is not available, or if it is
// longer than MaxFileBytes.
func (x *commitRangeComparison) readComparedFile(fileSet *comparedFileSet, file string) ([]byte, error) {
	data := x.baseBlobs.blobs[fileSet.blobsByPath[file]]
	if data == nil && fileSet.isWorkingTree {
		return x.worktreeStore.readContent(file)
	}
	if data == nil {
		return nil, errors.New("git does not have its content here, or it is too long")
	}
	if len(data) > MaxFileBytes {
		return nil, fmt.Errorf("it is longer than %d MiB", MaxFileBytes>>20)
	}
	return data, nil
}

// diffJob is one file in which annotations must be found.
type diffJob struct {
	baseFile string // name of the file in the older commit ("" if only new annotations are searched)
	headFile string // name of the file in the newer state ("" if the file was deleted)
	// git blobs of the annotation files (sidecars) about this file in the older commit; the first is named after the
	// file's own name, and the others after its former names
	baseSidecarBlobs []string
	// annotation file about this file in the newer state, if it contains new annotations (nil otherwise)
	headSidecar      *sidecar
	newAnnotationIDs map[string]bool
}

// findBaseSidecarBlobs returns the blob names that the file's annotation files (sidecars) have in the base commit,
// which is the older of the two compared commits. The sidecar under the file's present name comes first, if it exists.
// The sidecars under former names of the file follow.
func (x *commitRangeComparison) findBaseSidecarBlobs(file string) []string {
	if own, ok := x.baseFiles.blobsByPath[x.worktreeStore.sidecarDir+"/"+sidecarPath(file)]; ok {
		return slices.Concat([]string{own}, x.formerNameSidecars[file])
	}
	return x.formerNameSidecars[file]
}

// changedFileJobs returns a job for each file that the change modified, deleted or renamed, and that has annotations in
// the older of the two compared states. It also counts the changed files, with or without annotations, in
// x.ChangedFileCount.
func (x *commitRangeComparison) changedFileJobs() []diffJob {
	var jobs []diffJob
	for _, file := range x.baseFiles.sortedPaths() {
		blob, to := x.baseFiles.blobsByPath[file], file
		if _, ok := x.headFiles.blobsByPath[file]; !ok {
			to = x.renamedFiles[file]
		}
		isUnchanged := to != "" && x.headFiles.blobsByPath[to] == blob
		if isUnchanged || !x.worktreeStore.mayHaveAnnotations(file) {
			continue
		}
		x.ChangedFileCount++
		if blobs := x.findBaseSidecarBlobs(file); len(blobs) > 0 {
			jobs = append(jobs, diffJob{baseFile: file, headFile: to, baseSidecarBlobs: blobs})
		}
	}
	return jobs
}

// findFormerSidecars finds the annotation files (sidecars) in the older of the two compared states that belong to the
// former name of a file. If a file is renamed and its sidecar is not, the sidecar's path still contains the former
// name. findFormerSidecars asks git for the present name of each such file, and adds the sidecar's blob to
// x.formerNameSidecars under this name. It sets x.BaseHasAnnotations if the older state contains any sidecar.
func (x *commitRangeComparison) findFormerSidecars(ctx context.Context) error {
	var gone []string
	for name := range x.baseFiles.blobsByPath {
		if !x.worktreeStore.isSidecar(name) {
			continue
		}
		x.BaseHasAnnotations = true
		file, ok := fileOfSidecarPath(strings.TrimPrefix(name, x.worktreeStore.sidecarDir+"/"))
		if _, there := x.baseFiles.blobsByPath[file]; ok && !there {
			gone = append(gone, file)
		}
	}
	slices.Sort(gone)
	now, err := x.baseRepo.FindCurrentNames(ctx, gone[:min(len(gone), maxDeletedFileSidecars)])
	x.formerNameSidecars = map[string][]string{}
	for _, file := range gone {
		if to := now[file]; to != "" {
			x.formerNameSidecars[to] = append(
				x.formerNameSidecars[to],
				x.baseFiles.blobsByPath[x.worktreeStore.sidecarDir+"/"+sidecarPath(file)],
			)
		}
	}
	return err
}

// jobsForNewAnnotations returns a job for each annotation file (sidecar) that contains new annotations. These are
// annotations that the newer of the two compared states contains and the older state does not. The job is to find the
// lines to which the new annotations belong.
func (x *commitRangeComparison) jobsForNewAnnotations(ctx context.Context) ([]diffJob, error) {
	differ := func(a, b *comparedFileSet) (names, blobs []string) {
		for _, name := range a.sortedPaths() {
			if x.worktreeStore.isSidecar(name) && a.blobsByPath[name] != b.blobsByPath[name] {
				names, blobs = append(names, name), append(blobs, a.blobsByPath[name])
			}
		}
		return names, blobs
	}
	_, was := differ(x.baseFiles, x.headFiles)
	names, now := differ(x.headFiles, x.baseFiles)
	if err := x.readMissingBlobs(ctx, slices.Concat(was, now)); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, blob := range was {
		for _, r := range parseSidecar(x.baseBlobs.blobs[blob]).records {
			known[r.ID] = true
		}
	}
	var jobs []diffJob
	for _, name := range names {
		data, err := x.readComparedFile(x.headFiles, name)
		if err != nil {
			x.SkippedFiles = append(x.SkippedFiles, SkippedFile{name, err})
			continue
		}
		s := parseSidecar(data)
		j := diffJob{
			headFile:         annotatedFileOf(strings.TrimPrefix(name, x.worktreeStore.sidecarDir+"/"), s),
			headSidecar:      s,
			newAnnotationIDs: map[string]bool{},
		}
		for _, r := range s.records {
			if !known[r.ID] && !r.Archived {
				j.newAnnotationIDs[r.ID] = true
			}
		}
		if len(j.newAnnotationIDs) > 0 {
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// findAnnotationsInFiles finds the annotations of each file in jobs. It reads the data for all files from git together:
// first the contents and the sidecars, which are the files with annotations, and then the old contents that the
// sidecars name.
func (x *commitRangeComparison) findAnnotationsInFiles(ctx context.Context, jobs []diffJob) error {
	var want []string
	for _, j := range jobs {
		want = append(want, j.baseSidecarBlobs...)
		if j.baseFile != "" {
			want = append(want, x.baseFiles.blobsByPath[j.baseFile])
		}
		want = append(want, x.headFiles.blobsByPath[j.headFile])
	}
	if err := x.readMissingBlobs(ctx, want); err != nil {
		return err
	}
	sidecars := make([][]*sidecar, len(jobs))
	want = nil
	for i, j := range jobs {
		for _, blob := range j.baseSidecarBlobs {
			sidecars[i] = append(sidecars[i], parseSidecar(x.baseBlobs.blobs[blob]))
		}
		if j.headSidecar != nil {
			sidecars[i] = append(sidecars[i], j.headSidecar)
		}
		for blob := range collectBlobNames(sidecars[i], "") {
			want = append(want, blob)
		}
	}
	if err := x.readMissingBlobs(ctx, want); err != nil {
		return err
	}
	for i, j := range jobs {
		if err := x.compareFileAnnotations(ctx, j, sidecars[i]); err != nil {
			return err
		}
	}
	clear(x.baseBlobs.blobs)
	return nil
}

// readMissingBlobs reads the blobs with the given names from git into baseBlobs. It skips blobs that baseBlobs already
// contains, empty names, and names whose hash has another length than the hashes of this repository.
func (x *commitRangeComparison) readMissingBlobs(ctx context.Context, names []string) error {
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool {
		_, ok := x.baseBlobs.blobs[n]
		return ok || (len(n) == 64) != x.worktreeStore.usesSHA256() || n == ""
	})
	return x.baseBlobs.cacheBlobs(ctx, names)
}

// findAnnotationsInFile finds the present lines of a file's annotations in one of the two compared states. The
// parameter fileSet contains the files of this state. findAnnotationsInFile returns no annotations if this state lacks
// the file, or if the file is binary.
func (x *commitRangeComparison) findAnnotationsInFile(
	ctx context.Context,
	fileSet *comparedFileSet,
	file string,
	sidecars []*sidecar,
) (found []FoundAnnotation, content []byte, err error) {
	if _, ok := fileSet.blobsByPath[file]; !ok {
		return nil, nil, nil
	}
	content, err = x.readComparedFile(fileSet, file)
	if err != nil || isBinary(content) {
		return nil, nil, err
	}
	src := &fileLookupSources{
		file:            file,
		content:         content,
		headCommit:      x.Base,
		sidecars:        sidecars,
		formerNameCount: max(0, len(sidecars)-1),
	}
	p, err := x.baseStore.findAnnotationsInContent(ctx, src)
	if err != nil {
		return nil, content, err
	}
	return p.foundAnnotations, content, src.gitError
}

// compareFileAnnotations finds a file's annotations in both compared states, the older base and the newer head. It adds
// to the result the annotations that are new in the head, and the annotations of the base whose lines the change
// touches. If the file cannot be searched, it is added to SkippedFiles.
func (x *commitRangeComparison) compareFileAnnotations(ctx context.Context, j diffJob, sidecars []*sidecar) error {
	now, after, err := x.findAnnotationsInFile(ctx, x.headFiles, j.headFile, sidecars)
	if j.headSidecar != nil {
		x.addNewAnnotations(j, now)
	}
	var was []FoundAnnotation
	var before []byte
	if err == nil && j.baseFile != "" {
		was, before, err = x.findAnnotationsInFile(ctx, x.baseFiles, j.baseFile, sidecars)
	}
	if err != nil && ctx.Err() == nil {
		x.SkippedFiles = append(x.SkippedFiles, SkippedFile{cmp.Or(j.baseFile, j.headFile), err})
		return nil
	}
	if err != nil || before == nil {
		return err
	}
	touches := newTouchedLinesCheck(SplitLines(before), SplitLines(after))
	at := map[string]FoundAnnotation{}
	for _, f := range now {
		at[f.ID] = f
	}
	for _, f := range was {
		if f.Placement == NotPlaced || !touches(f.CurrentSpan) {
			continue
		}
		t := TouchedAnnotation{FoundAnnotation: at[f.ID], OldFile: j.baseFile, OldSpan: f.CurrentSpan}
		if t.ID == "" || after == nil {
			t.FoundAnnotation = FoundAnnotation{Record: f.Record, CurrentFile: j.baseFile, Placement: NotPlaced}
		}
		x.TouchedAnnotations = append(x.TouchedAnnotations, t)
	}
	return nil
}

// addNewAnnotations adds a file's new annotations to AddedAnnotations. headAnnotations are the annotations that were
// found in the newer of the two compared states. A new annotation that is missing from headAnnotations is added as an
// annotation whose lines were not found.
func (x *commitRangeComparison) addNewAnnotations(j diffJob, headAnnotations []FoundAnnotation) {
	for _, f := range headAnnotations {
		if j.newAnnotationIDs[f.ID] {
			x.AddedAnnotations = append(x.AddedAnnotations, f)
			delete(j.newAnnotationIDs, f.ID)
		}
	}
	for _, r := range j.headSidecar.records {
		if j.newAnnotationIDs[r.ID] {
			x.AddedAnnotations = append(
				x.AddedAnnotations,
				FoundAnnotation{Record: *r, CurrentFile: j.headFile, Placement: NotPlaced},
			)
		}
	}
}

// newTouchedLinesCheck compares the lines of a text before and after a change. It returns a function that reports
// whether the change touches a span of the old lines. This is the case if a line in the span was deleted or changed, or
// if a line was inserted between two lines in the span.
func newTouchedLinesCheck(before, after []string) func(LineSpan) bool {
	in := diff.LineNumberer{}
	to := new(diff.LineMapper).MapEqualLines(in.LineIDs(before), in.LineIDs(after))
	// The slice "to" contains, for each old line, the index of the same line in the new text, or -1 if the line was
	// deleted. gone[i] is the number of deleted lines among the first i old lines. apart[i] is the number of lines
	// among the first i old lines that directly follow inserted lines.
	gone, apart := make([]int, len(to)+1), make([]int, len(to)+1)
	previous := -1
	for i, t := range to {
		gone[i+1], apart[i+1] = gone[i], apart[i]
		if t < 0 {
			gone[i+1]++
		} else if previous >= 0 && t != previous+1 {
			apart[i+1]++
		}
		previous = t
	}
	return func(s LineSpan) bool {
		if s.Len() == 0 || s.Last > len(to) {
			return false
		}
		return gone[s.Last] > gone[s.First-1] || apart[s.Last] > apart[s.First]
	}
}

// FindTouchedAnnotations returns the annotations in a file whose lines an edit would delete, modify or divide (see
// [Store.Diff]). The argument change is a function that makes the edit. It receives the file's present content, in
// which each CR LF is replaced by LF, and returns the new content. If it returns false, there is no edit, and the
// result is nil.
func (b *Store) FindTouchedAnnotations(
	ctx context.Context,
	file string,
	change func(text string) (string, bool),
) ([]FoundAnnotation, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	p, err := b.findFileAnnotations(ctx, file)
	if err != nil {
		return nil, err
	}
	now, ok := change(strings.ReplaceAll(string(p.content), "\r\n", "\n"))
	if !ok {
		return nil, nil
	}
	touches := newTouchedLinesCheck(SplitLines(p.content), SplitLines([]byte(now)))
	var out []FoundAnnotation
	for _, f := range p.foundAnnotations {
		if f.isFoundIn(file) && touches(f.CurrentSpan) {
			out = append(out, f)
		}
	}
	return out, nil
}

// HasAnnotations reports whether the tree has a directory for sidecars, which the first annotation creates.
func (b *Store) HasAnnotations() bool {
	_, err := b.worktree.Stat(b.sidecarDir)
	return err == nil
}
