// This file checks references from memories to files: whether the file still exists, and whether it has changed.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/code/fileref"
)

// minUnchangedLetterShare is the minimum share of a file's letters that must be in unchanged lines, so that a
// reference to the file or to some of its lines counts as current.
const minUnchangedLetterShare = .8

// maxGitLookups is the maximum number of references for which a single check may start git. A reference leads from a
// memory entry to a file. Further references are reported as unverifiable, unless their content is unchanged.
const maxGitLookups = 20

// errTooManyLookups is the reason if git was already started maxGitLookups times.
var errTooManyLookups = errors.New("too many files to ask git about at once")

// FileBlobName returns git's name for the content of a file in the working tree, whether or not git has
// stored the content. It returns false if the file cannot be read, or if the path cannot be the
// path of an annotated file.
func (b *Store) FileBlobName(file string) (string, bool) {
	file, _ = splitReference(b.toTreeRelativePath(file))
	data, err := b.readContent(file)
	if err != nil || CheckFile(file) != nil {
		return "", false
	}
	return blobName(data, b.usesSHA256()), true
}

// toTreeRelativePath converts a path to a path relative to the tree's root. A path outside the tree is returned
// unchanged.
func (b *Store) toTreeRelativePath(file string) string {
	if filepath.IsAbs(file) && b.root != "" {
		if rel, err := b.ToTreePath("/", file); err == nil {
			return rel
		}
		return file
	}
	if file == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(file))
}

var lineSuffixPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+?)(?::|#L)([0-9]{1,9})(?:-L?([0-9]{1,9}))?$`)
})

// splitReference splits a reference such as a.go:3-5 into the path and the lines.
func splitReference(file string) (string, LineSpan) {
	m := lineSuffixPattern().FindStringSubmatch(file)
	if m == nil {
		return file, LineSpan{}
	}
	s := LineSpan{}
	s.First, _ = strconv.Atoi(m[2])
	s.Last = s.First
	if m[3] != "" {
		s.Last, _ = strconv.Atoi(m[3])
	}
	if s.Len() == 0 {
		return file, LineSpan{}
	}
	return m[1], s
}

// CheckFileRefs checks whether the referenced files have changed. It compares the old content of each file with the
// working tree, including changes that are not committed. It never fails. If a reference cannot be checked, its state
// is RefUnverifiable, and the field Explanation contains the reason.
//
// The reference's GitBlobHash is git's name for the file's old content. If git does not have this content,
// CheckFileRefs uses the file's versions in HEAD's history around the reference's time: the last version at this time
// or before, and the first version after this time, which may have existed in the working tree before it was committed.
// It compares both, and the more similar version counts.
func (b *Store) CheckFileRefs(ctx context.Context, refs []fileref.Ref) []fileref.CheckResult {
	c := &refChecker{store: b, ctx: ctx, remainingGitCalls: maxGitLookups}
	if b.history != nil {
		c.head, c.err = b.history.HeadCommit(ctx)
	}
	out := make([]fileref.CheckResult, len(refs))
	var open []uncheckedFileReference
	want := map[string]bool{}
	for i, r := range refs {
		out[i] = fileref.CheckResult{Ref: r, State: fileref.RefUnverifiable}
		o := uncheckedFileReference{checkResult: &out[i]}
		if !o.readReferencedFile(b) {
			continue
		}
		open = append(open, o)
		if b.history != nil && b.isBlobName(r.GitBlobHash) {
			want[r.GitBlobHash] = true
		}
	}
	c.readBlobs(want)
	for _, o := range open {
		if c.err == nil || errors.Is(c.err, errTooManyLookups) {
			if o.isExistingFile {
				c.compareVersions(o.checkResult, o.referencedFile, o.referencedFile, o.span, o.content)
			} else {
				c.checkMissingFile(o.checkResult, o.referencedFile, o.span)
			}
		}
		if c.err != nil {
			o.checkResult.State = fileref.RefUnverifiable
			o.checkResult.CurrentPath = ""
			o.checkResult.UnchangedContentShare = 0
			o.checkResult.Explanation = "it was not looked at: " + c.err.Error()
		}
	}
	return out
}

// uncheckedFileReference is a file name in an entry's text, possibly with line numbers. The file must be compared with
// the content that it had when the text was written.
type uncheckedFileReference struct {
	checkResult    *fileref.CheckResult
	referencedFile string
	span           LineSpan
	content        []byte
	isExistingFile bool
}

// readReferencedFile reads the referenced file. It returns true if the caller must continue the check, because the
// content differs from the old content or the file does not exist. It returns false, and sets the result of the check,
// if the file is unchanged, or if its content cannot be compared, for example because it is binary.
func (o *uncheckedFileReference) readReferencedFile(b *Store) bool {
	r := o.checkResult
	o.referencedFile = b.toTreeRelativePath(r.File)
	// If a file with the whole name exists, such as "a:12", then ":12" is part of the file name. Otherwise it is a
	// line range.
	if _, err := b.worktree.Stat(o.referencedFile); err != nil {
		o.referencedFile, o.span = splitReference(o.referencedFile)
	}
	if CheckFile(o.referencedFile) != nil {
		r.Explanation = "it is not a path inside the working tree"
		return false
	}
	var err error
	o.content, err = b.readContent(o.referencedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		// Report neither the error nor the path in it, because the path is not trusted.
		r.Explanation = "it cannot be read"
		if fi, err := b.worktree.Stat(o.referencedFile); err == nil && fi.IsDir() {
			r.Explanation = "it is a directory, which is there; what is in it is not compared"
		}
		return false
	}
	o.isExistingFile = true
	same := r.GitBlobHash != "" && blobName(o.content, len(r.GitBlobHash) == 64) == r.GitBlobHash
	switch {
	case same:
		r.State = fileref.RefFresh
		r.UnchangedContentShare = 1
		r.Explanation = "the file is as it was"
	case isBinary(o.content) && r.GitBlobHash == "":
		r.Explanation = "it is binary, and nothing says what it was like"
	case isBinary(o.content):
		r.Explanation = "it is binary, and not as it was"
		if !r.MayBeFromOtherTree {
			r.State = fileref.RefStale
		}
	default:
		return true
	}
	return false
}

// refChecker checks whether referenced files have changed. It reads their old contents from git and compares these
// with the present contents.
type refChecker struct {
	store             *Store
	ctx               context.Context
	head              string // commit of HEAD ("" without git)
	blobs             map[string][]byte
	remainingGitCalls int // how many more times refChecker may start git
	err               error
}

// readBlobs reads the contents of the git blobs with the names in blobNames into a.blobs. If a.head is empty, or if git
// failed earlier, a.blobs stays empty. If reading fails, a.err is set.
func (a *refChecker) readBlobs(blobNames map[string]bool) {
	a.blobs = map[string][]byte{}
	if a.head == "" || a.err != nil {
		return
	}
	if len(blobNames) == 0 {
		return
	}
	names := make([]string, 0, len(blobNames))
	for n := range blobNames {
		names = append(names, n)
	}
	slices.Sort(names)
	a.blobs, a.err = a.store.history.ReadBlobs(a.ctx, names)
}

// reserveGitCall reports whether git may be started once more, and counts this use of git. It returns false if git has
// failed, or if the tree has no commit. It also returns false if git was started maxGitLookups times, and then sets
// a.err to errTooManyLookups.
func (a *refChecker) reserveGitCall() bool {
	if a.err != nil || a.head == "" {
		return false
	}
	a.remainingGitCalls--
	if a.remainingGitCalls < 0 {
		a.err = errTooManyLookups
	}
	return a.err == nil
}

// oldVersions returns the contents that a file may have had when the reference c to the file was written. The result is
// nil if git has no such content. explanation is a phrase that says where the contents come from, or "". isCertain is
// true if git has such a content, because the file then certainly belongs to this tree. Errors of git are stored in
// a.err.
func (a *refChecker) oldVersions(
	c *fileref.CheckResult,
	file string,
) (texts [][]byte, explanation string, isCertain bool) {
	if text, ok := a.blobs[c.GitBlobHash]; ok && c.GitBlobHash != "" {
		return [][]byte{text}, "", true
	}
	if c.MayBeFromOtherTree || c.ReferenceTime.IsZero() {
		return nil, "", false
	}
	if !a.reserveGitCall() {
		return nil, "", false
	}
	before, after, err := a.store.history.BlobsAroundTime(a.ctx, file, c.ReferenceTime)
	if err != nil {
		a.err = err
		return nil, "", false
	}
	blobs, err := a.store.history.ReadBlobs(a.ctx, slices.DeleteFunc([]string{before, after}, func(s string) bool {
		return s == ""
	}))
	if err != nil {
		a.err = err
		return nil, "", false
	}
	for _, n := range []string{before, after} {
		if text, ok := blobs[n]; ok {
			texts = append(texts, text)
		}
	}
	return texts, ", by what git has of that time", len(texts) > 0
}

// compareVersions compares the present content of a referenced file with each old content that the file may have had
// when the reference was written. The argument file is the file's old path, and currentPath is its present path. The
// argument span contains the referenced lines. It is empty if the reference is to the whole file.
//
// compareVersions stores the result in c: the share of the old content that is unchanged, the present place of the
// content if it has moved, and an explanation. It sets c.State to RefStale, RefMoved or RefFresh. If no old content is
// known, it sets only the explanation, and also sets c.State to RefStale if the file certainly changed. If the old
// content was binary, it sets only the explanation.
func (a *refChecker) compareVersions(c *fileref.CheckResult, file, currentPath string, span LineSpan, content []byte) {
	texts, how, _ := a.oldVersions(c, file)
	if a.err != nil {
		return
	}
	if len(texts) == 0 {
		switch {
		case c.MayBeFromOtherTree:
			c.Explanation = "it may be of another project"
		case c.GitBlobHash != "" && currentPath == file:
			c.State = fileref.RefStale
			c.Explanation = "the file has changed; how much is not known, as nobody has kept what it was"
		default:
			c.Explanation = "nothing says what it was like"
		}
		return
	}
	best := bestMatch(texts, file, span, content)
	if best.positionConfidence < 0 {
		c.Explanation = "it was binary"
		return
	}
	c.UnchangedContentShare = math.Round(best.positionConfidence*100) / 100
	what := "of the file still stands"
	if span.Len() > 0 {
		what = "of these lines still stand"
	}
	c.Explanation = fmt.Sprintf("%.0f %% %s%s", 100*c.UnchangedContentShare, what, how)
	hasLines := span.Len() > 0 && best.span.Len() > 0
	isElsewhere := currentPath != file || best.span != span
	if hasLines && isElsewhere {
		c.CurrentPath = currentPath + ":" + best.span.String()
	} else if currentPath != file {
		c.CurrentPath = currentPath
	}
	switch {
	case best.positionConfidence < minUnchangedLetterShare:
		c.State = fileref.RefStale
	case c.CurrentPath != "":
		c.State = fileref.RefMoved
	default:
		c.State = fileref.RefFresh
	}
}

// bestMatch compares the argument content with each old text, and returns the best match. If span is empty or ends
// after the old text, it compares the whole texts. Otherwise it searches content for the lines that span selects in the
// old text. Binary texts and texts larger than MaxFileBytes are ignored. If all old texts are ignored, the confidence
// of the match is -1.
func bestMatch(texts [][]byte, file string, span LineSpan, content []byte) annotatedBlockMatch {
	x := newIndexedText(newLineAndWordNumberer(), SplitLines(content))
	best := annotatedBlockMatch{positionConfidence: -1}
	for _, text := range texts {
		if len(text) > MaxFileBytes || isBinary(text) {
			continue
		}
		old := SplitLines(text)
		m := annotatedBlockMatch{
			placementKind:      PlacedAfterEdit,
			positionConfidence: computeUnchangedLetterShare(x, old),
		}
		if span.Len() > 0 && span.Last <= len(old) {
			r := &Record{File: file, Span: span}
			r.setLines(old)
			was := &oldVersion{
				oldFileText: &oldFileText{old, x.numberer.lineIDs.LineIDs(old)},
				newText:     x,
				mapper:      new(diff.LineMapper),
			}
			search := annotatedBlockSearch{newText: x, record: r, oldVersion: was}
			m = search.findBlock("")
			if m.placementKind != PlacedAfterEdit && m.placementKind != NotPlaced {
				m.positionConfidence = 1
			}
		}
		if m.positionConfidence > best.positionConfidence {
			best = m
		}
	}
	return best
}

// computeUnchangedLetterShare returns the share of the old text's letters that are in unchanged lines. A line that was
// moved, so that it has another order among the unchanged lines, counts as changed. If the old text has no letters, the
// result is 1.
func computeUnchangedLetterShare(newText *indexedText, oldLines []string) float64 {
	all, kept := 0, 0
	for i, to := range new(diff.LineMapper).MapEqualLines(newText.numberer.lineIDs.LineIDs(oldLines), newText.lineIDs) {
		n := countLetters(oldLines[i])
		all += n
		if to >= 0 {
			kept += n
		}
	}
	if all == 0 {
		return 1
	}
	return float64(kept) / float64(all)
}

// checkMissingFile checks a reference to a file that does not exist in the working tree, and stores the result in c. If
// the file was renamed, according to git, checkMissingFile compares the file with the newest of the new names that
// exists. If the file was not renamed but has existed in this repository, c.State becomes RefStale. If it is not known
// whether the file has existed, c.State is not changed. c.Explanation contains the reason. Errors of git are stored in
// a.err.
func (a *refChecker) checkMissingFile(c *fileref.CheckResult, file string, span LineSpan) {
	if a.head == "" {
		c.Explanation = "there is no such file here, and no git that says whether there was"
		return
	}
	_, ours := a.blobs[c.GitBlobHash]
	if c.MayBeFromOtherTree && !ours {
		c.Explanation = "there is no such file here; it may be of another project"
		return
	}
	if !a.reserveGitCall() {
		return
	}
	names, was, err := a.store.history.LaterNames(a.ctx, file)
	if err != nil {
		a.err = err
		return
	}
	for _, n := range slices.Backward(names) {
		if CheckFile(n) != nil {
			continue
		}
		content, err := a.store.readContent(n)
		if err != nil || isBinary(content) {
			continue
		}
		a.compareVersions(c, file, n, span, content)
		if a.err == nil && c.State == fileref.RefUnverifiable {
			c.State = fileref.RefMoved
			c.CurrentPath = n
			c.Explanation = "the file was renamed; nothing says how much of it has changed"
		}
		return
	}
	if !was && !ours {
		// Ask git whether HEAD still has the file, because the deletion may not be committed yet.
		at, err := a.store.history.BlobAt(a.ctx, a.head, file)
		if err != nil {
			a.err = err
			return
		}
		if at == "" {
			c.Explanation = "there is no such file here, and git knows of none"
			return
		}
	}
	c.State, c.Explanation = fileref.RefStale, "the file is gone"
}
