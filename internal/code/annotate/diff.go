// This file finds the annotations that a change touches. These are the annotations of lines that
// the change modifies or deletes, and the annotations that the change itself adds.

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

// DiffOptions specify the change.
type DiffOptions struct {
	// Range is A..B or A...B, with the same meaning as for git diff, or only A, for the changes in
	// the working tree since A. "" means HEAD.
	Range string

	Staged   bool                  // compare with git's index instead of the working tree
	Progress func(done, total int) // called with numbers of files (may be nil)
}

// Diff lists the annotations that a change touches.
type Diff struct {
	Base, Head string // commits (Head may also be "index" or "working tree")
	Files      int    // number of changed and deleted files, without added files
	Touched    []TouchedAnnotation
	Added      []Found // annotations that only the sidecars of the head contain
	Skipped    []SkippedFile
	Annotated  bool // the base contains annotations
}

// TouchedAnnotation is an annotation of lines that a change touches, with its position after the change and its
// position at the base.
type TouchedAnnotation struct {
	Found
	BaseFile string
	Base     Span
}

// Diff finds the annotations that a change touches, and the annotations that the change adds. A
// change touches an annotation if it modifies or deletes lines of the annotation, or inserts lines
// between them. It reads files and sidecars as they were committed, and follows renames. The error
// matches [oxbow.ErrInvalid] if the range is invalid, and [oxbow.ErrUnsupported] without git.
func (b *Store) Diff(ctx context.Context, o DiffOptions) (*Diff, error) {
	if b.repo == nil {
		return nil, fmt.Errorf("comparing: %w: %w", oxbow.ErrUnsupported, git.ErrNone)
	}
	x, err := b.compare(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("comparing: %w", err)
	}
	return &x.Diff, nil
}

// comparison is the state of a running Diff.
type comparison struct {
	Diff
	tree     *Store // the working tree
	base     *git.Repo
	at       *Store // a store with the history of the base; its blobs were read in advance
	blobs    readAhead
	old, now *fileSet
	former   map[string][]string // for each file in the base, the sidecars of its former names
	renamed  map[string]string   // new names of the base's files that were renamed in the head
	progress func(done, total int)
}

// compare implements Diff.
func (b *Store) compare(ctx context.Context, o DiffOptions) (*comparison, error) {
	x := &comparison{tree: b, progress: o.Progress}
	if x.progress == nil {
		x.progress = func(int, int) {}
	}
	if err := x.resolveSides(ctx, o); err != nil {
		return nil, err
	}
	x.base = b.repo.AtCommit(x.Base)
	x.blobs = readAhead{History: x.base, blobs: map[string][]byte{}}
	x.at = &Store{work: b.work, dir: b.dir, history: &x.blobs, opts: b.opts}
	x.at.dropCaches()
	if err := x.findFormer(ctx); err != nil {
		return nil, err
	}
	if err := x.findRenames(ctx); err != nil {
		return nil, err
	}
	jobs := x.changedFileJobs()
	added, err := x.addedFileJobs(ctx)
	if err != nil {
		return nil, err
	}
	total := len(jobs) + len(added)
	for done, jobs := 0, slices.Concat(jobs, added); len(jobs) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some := jobs[:min(batch, len(jobs))]
		if err := x.findInFiles(ctx, some); err != nil {
			return nil, err
		}
		jobs, done = jobs[len(some):], done+len(some)
		x.progress(done, total)
	}
	return x, nil
}

// resolveSides sets the base and the head of the comparison from the range in the options, and
// lists the files of both.
func (x *comparison) resolveSides(ctx context.Context, o DiffOptions) error {
	repo := x.tree.repo
	from, to, two := strings.Cut(o.Range, "..")
	var err error
	x.Base, err = x.resolveCommit(ctx, from)
	if err != nil {
		return err
	}
	switch {
	case two && o.Staged:
		return &oxbow.InvalidError{
			Field:  "diff",
			Value:  o.Range,
			Reason: "compares two commits; the index is compared with one",
		}
	case two:
		err = x.setCommits(ctx, o.Range, to)
	case o.Staged:
		x.Head = "index"
	default:
		x.Head = "working tree"
	}
	if err != nil {
		return err
	}
	files, err := repo.CommitFiles(ctx, x.Base)
	if err != nil {
		return err
	}
	x.old = &fileSet{files: files}
	switch {
	case two:
		files, err = repo.CommitFiles(ctx, x.Head)
		x.now = &fileSet{files: files}
	case o.Staged:
		x.now, err = x.tree.stagedFiles()
	default:
		x.now, err = x.tree.worktreeFiles(ctx, files)
	}
	return err
}

// resolveCommit returns the ID of the named commit. "" means HEAD.
func (x *comparison) resolveCommit(ctx context.Context, name string) (string, error) {
	name = cmp.Or(name, "HEAD")
	id, err := x.tree.repo.Resolve(ctx, name)
	if errors.Is(err, git.ErrNoCommit) {
		err = &oxbow.InvalidError{
			Field: fmt.Sprintf("%.80q", name),
			Reason: "names no commit of this repository; git log --all shows those that it has, and git commit makes " +
				"the first",
		}
	}
	return id, err
}

// setCommits sets the head commit from to. If to starts with the third dot of A...B, setCommits
// also sets the base to the merge base of both commits.
func (x *comparison) setCommits(ctx context.Context, all, to string) (err error) {
	to, common := strings.CutPrefix(to, ".")
	x.Head, err = x.resolveCommit(ctx, to)
	if err != nil || !common {
		return err
	}
	x.Base, err = x.tree.repo.MergeBase(ctx, x.Base, x.Head)
	if err == nil && x.Base == "" {
		err = &oxbow.InvalidError{
			Field:  "diff",
			Value:  all,
			Reason: "has no commit in common in this clone; a shallow one gets it with git fetch --unshallow",
		}
	}
	return err
}

// sideContent returns a file's content on a side.
func (x *comparison) sideContent(side *fileSet, file string) ([]byte, error) {
	data := x.blobs.blobs[side.files[file]]
	if data == nil && side.work {
		return x.tree.content(file)
	}
	if data == nil {
		return nil, errors.New("git does not have its content here, or it is too long")
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("it is longer than %d MiB", MaxFile>>20)
	}
	return data, nil
}

// diffJob is a file whose annotations have to be found.
type diffJob struct {
	file  string   // file in the base ("" for new annotations)
	to    string   // file in the head ("" if the head does not contain it)
	blobs []string // sidecars at the base, the file's own first
	own   *sidecar // for new annotations: the sidecar in the head
	fresh map[string]bool
}

// baseSidecars returns the blobs of a file's sidecars at the base. The file's own sidecar comes
// first, followed by the sidecars of its former names.
func (x *comparison) baseSidecars(file string) []string {
	if own, ok := x.old.files[x.tree.dir+"/"+sidecarPath(file)]; ok {
		return slices.Concat([]string{own}, x.former[file])
	}
	return x.former[file]
}

// changedFileJobs returns a job for each file that has annotations at the base and differs in the
// head.
func (x *comparison) changedFileJobs() []diffJob {
	var jobs []diffJob
	for _, file := range x.old.sortedPaths() {
		blob, to := x.old.files[file], file
		if _, ok := x.now.files[file]; !ok {
			to = x.renamed[file]
		}
		isUnchanged := to != "" && x.now.files[to] == blob
		if isUnchanged || !x.tree.mayHaveAnnotations(file) {
			continue
		}
		x.Files++
		if blobs := x.baseSidecars(file); len(blobs) > 0 {
			jobs = append(jobs, diffJob{file: file, to: to, blobs: blobs})
		}
	}
	return jobs
}

// findFormer finds sidecars under a former name: the file was renamed before the base, and its
// sidecar was not renamed.
func (x *comparison) findFormer(ctx context.Context) error {
	var gone []string
	for name := range x.old.files {
		if !x.tree.isSidecar(name) {
			continue
		}
		x.Annotated = true
		file, ok := sidecarSource(strings.TrimPrefix(name, x.tree.dir+"/"))
		if _, there := x.old.files[file]; ok && !there {
			gone = append(gone, file)
		}
	}
	slices.Sort(gone)
	now, err := x.base.FindRenamed(ctx, gone[:min(len(gone), maxOrphans)])
	x.former = map[string][]string{}
	for _, file := range gone {
		if to := now[file]; to != "" {
			x.former[to] = append(x.former[to], x.old.files[x.tree.dir+"/"+sidecarPath(file)])
		}
	}
	return err
}

// addedFileJobs returns a job for each sidecar with annotations that only the head contains.
func (x *comparison) addedFileJobs(ctx context.Context) ([]diffJob, error) {
	differ := func(a, b *fileSet) (names, blobs []string) {
		for _, name := range a.sortedPaths() {
			if x.tree.isSidecar(name) && a.files[name] != b.files[name] {
				names, blobs = append(names, name), append(blobs, a.files[name])
			}
		}
		return names, blobs
	}
	_, was := differ(x.old, x.now)
	names, now := differ(x.now, x.old)
	if err := x.readMissing(ctx, slices.Concat(was, now)); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, blob := range was {
		for _, r := range parse(x.blobs.blobs[blob]).records {
			known[r.ID] = true
		}
	}
	var jobs []diffJob
	for _, name := range names {
		data, err := x.sideContent(x.now, name)
		if err != nil {
			x.Skipped = append(x.Skipped, SkippedFile{name, err})
			continue
		}
		s := parse(data)
		j := diffJob{to: sidecarOwner(strings.TrimPrefix(name, x.tree.dir+"/"), s), own: s, fresh: map[string]bool{}}
		for _, r := range s.records {
			if !known[r.ID] && !r.Archived {
				j.fresh[r.ID] = true
			}
		}
		if len(j.fresh) > 0 {
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// findInFiles finds the annotations in some files. It reads everything that it needs from git in a
// single call.
func (x *comparison) findInFiles(ctx context.Context, jobs []diffJob) error {
	var want []string
	for _, j := range jobs {
		want = append(want, j.blobs...)
		if j.file != "" {
			want = append(want, x.old.files[j.file])
		}
		want = append(want, x.now.files[j.to])
	}
	if err := x.readMissing(ctx, want); err != nil {
		return err
	}
	sidecars := make([][]*sidecar, len(jobs))
	want = nil
	for i, j := range jobs {
		for _, blob := range j.blobs {
			sidecars[i] = append(sidecars[i], parse(x.blobs.blobs[blob]))
		}
		if j.own != nil {
			sidecars[i] = append(sidecars[i], j.own)
		}
		for blob := range recordedBlobs(sidecars[i], "") {
			want = append(want, blob)
		}
	}
	if err := x.readMissing(ctx, want); err != nil {
		return err
	}
	for i, j := range jobs {
		if err := x.findOnBothSides(ctx, j, sidecars[i]); err != nil {
			return err
		}
	}
	clear(x.blobs.blobs)
	return nil
}

// readMissing reads those blobs that were not read yet.
func (x *comparison) readMissing(ctx context.Context, names []string) error {
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool {
		_, ok := x.blobs.blobs[n]
		return ok || (len(n) == 64) != x.tree.sha256() || n == ""
	})
	return x.blobs.cacheBlobs(ctx, names)
}

// find finds a file's annotations on a side. If the side does not contain the file, or if the file
// is binary, find returns no annotations.
func (x *comparison) find(
	ctx context.Context,
	side *fileSet,
	file string,
	sidecars []*sidecar,
) (found []Found, content []byte, err error) {
	if _, ok := side.files[file]; !ok {
		return nil, nil, nil
	}
	content, err = x.sideContent(side, file)
	if err != nil || isBinary(content) {
		return nil, nil, err
	}
	src := &sources{
		file:     file,
		content:  content,
		head:     x.Base,
		sidecars: sidecars,
		former:   max(0, len(sidecars)-1),
	}
	p, err := x.at.resolveAll(ctx, src)
	if err != nil {
		return nil, content, err
	}
	return p.found, content, src.partial
}

// findOnBothSides finds a file's annotations on both sides.
func (x *comparison) findOnBothSides(ctx context.Context, j diffJob, sidecars []*sidecar) error {
	now, after, err := x.find(ctx, x.now, j.to, sidecars)
	if j.own != nil {
		x.add(j, now)
	}
	var was []Found
	var before []byte
	if err == nil && j.file != "" {
		was, before, err = x.find(ctx, x.old, j.file, sidecars)
	}
	if err != nil && ctx.Err() == nil {
		x.Skipped = append(x.Skipped, SkippedFile{cmp.Or(j.file, j.to), err})
		return nil
	}
	if err != nil || before == nil {
		return err
	}
	touches := touchedLines(SplitLines(before), SplitLines(after))
	at := map[string]Found{}
	for _, f := range now {
		at[f.ID] = f
	}
	for _, f := range was {
		if f.Placed == Lost || !touches(f.Now) {
			continue
		}
		t := TouchedAnnotation{Found: at[f.ID], BaseFile: j.file, Base: f.Now}
		if t.ID == "" || after == nil {
			t.Found = Found{Record: f.Record, In: j.file, Placed: Lost}
		}
		x.Touched = append(x.Touched, t)
	}
	return nil
}

// add adds the new annotations of a file to x.Added. An annotation that was not found is added as
// lost.
func (x *comparison) add(j diffJob, now []Found) {
	for _, f := range now {
		if j.fresh[f.ID] {
			x.Added = append(x.Added, f)
			delete(j.fresh, f.ID)
		}
	}
	for _, r := range j.own.records {
		if j.fresh[r.ID] {
			x.Added = append(x.Added, Found{Record: *r, In: j.to, Placed: Lost})
		}
	}
}

// touchedLines returns a function that reports whether a span of old lines is touched, because a
// line of the span was deleted or changed, or a new line was inserted inside it.
func touchedLines(before, after []string) func(Span) bool {
	in := diff.Interner{}
	to := new(diff.Mapper).MapLines(in.LineIDs(before), in.LineIDs(after))
	// gone[i] is the number of deleted lines before line i. apart[i] is the number of lines before
	// line i that have inserted lines directly before them.
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
	return func(s Span) bool {
		if s.Len() == 0 || s.Last > len(to) {
			return false
		}
		return gone[s.Last] > gone[s.First-1] || apart[s.Last] > apart[s.First]
	}
}

// TouchedBy returns the annotations of lines that a change of the file's content would delete,
// modify or divide (see [Store.Diff]). The function change receives the present content and returns
// the new content. It returns false if it changes nothing.
func (b *Store) TouchedBy(ctx context.Context, file string, change func(text string) (string, bool)) ([]Found, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	p, err := b.resolve(ctx, file)
	if err != nil {
		return nil, err
	}
	now, ok := change(strings.ReplaceAll(string(p.content), "\r\n", "\n"))
	if !ok {
		return nil, nil
	}
	touches := touchedLines(SplitLines(p.content), SplitLines([]byte(now)))
	var out []Found
	for _, f := range p.found {
		if f.isIn(file) && touches(f.Now) {
			out = append(out, f)
		}
	}
	return out, nil
}

// HasAnnotations reports whether the tree has annotations.
func (b *Store) HasAnnotations() bool {
	_, err := b.work.Stat(b.dir)
	return err == nil
}
