// This file lists the files on one side of a comparison: in a commit, in git's index, or in the working tree. It also
// finds renamed files.

package annotate

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/vfs"
)

// comparedFileSet lists the regular files in a commit or in the working tree, with the git blob name of each file's
// content. The blob of a file in the working tree may not be stored in git.
type comparedFileSet struct {
	blobsByPath   map[string]string
	isWorkingTree bool // The files' contents must be read from the working tree.
}

// sortedPaths returns the paths, sorted.
func (s *comparedFileSet) sortedPaths() []string { return slices.Sorted(maps.Keys(s.blobsByPath)) }

// isSidecar reports whether a path in the tree belongs to a sidecar.
func (b *Store) isSidecar(name string) bool {
	return strings.HasPrefix(name, b.sidecarDir+"/") && strings.HasSuffix(name, sidecarSuffix)
}

// mayHaveAnnotations reports whether a file with this path may be annotated.
func (b *Store) mayHaveAnnotations(name string) bool {
	return !b.isSidecar(name) && CheckFile(name) == nil
}

// stagedFiles lists the files in git's index. If a file has a merge conflict, the list has "our" version.
func (b *Store) stagedFiles() (*comparedFileSet, error) {
	entries, _, err := b.repo.IndexEntries()
	if err != nil {
		return nil, err
	}
	s := &comparedFileSet{blobsByPath: map[string]string{}}
	for _, e := range entries {
		isOurs := e.MergeStage == 0 || e.MergeStage == 2
		if e.IsRegular && isOurs {
			s.blobsByPath[e.Name] = e.BlobName
		}
	}
	return s, nil
}

// worktreeFiles lists those files of the working tree that are in the older commit (baseBlobsByPath), in git's index,
// or in the sidecar directory. It reads a file to compute its blob name, unless the index shows that the file is
// unchanged. A file that is not checked out counts as unchanged.
func (b *Store) worktreeFiles(ctx context.Context, baseBlobsByPath map[string]string) (*comparedFileSet, error) {
	s := &comparedFileSet{blobsByPath: map[string]string{}, isWorkingTree: true}
	entries, at, err := b.repo.IndexEntries()
	if err != nil { // Ignore the error: without the index, all files are read.
		entries = nil
	}
	names := maps.Clone(baseBlobsByPath)
	var apart []string // directories for which git's index has only one entry, because they are not checked out
	listed := map[string]*git.IndexEntry{}
	for i := range entries {
		if e := &entries[i]; strings.HasSuffix(e.Name, "/") {
			apart = append(apart, e.Name)
		} else if e.IsRegular {
			listed[e.Name], names[e.Name] = e, ""
		}
	}
	if err := b.walkSidecars(ctx, func(name string) error {
		names[path.Join(b.sidecarDir, name)] = ""
		return nil
	}); err != nil {
		return nil, err
	}
	for name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := listed[name]
		if e == nil && slices.ContainsFunc(apart, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			s.blobsByPath[name] = baseBlobsByPath[name]
		} else if e != nil && e.IsNotCheckedOut {
			s.blobsByPath[name] = e.BlobName
		} else if blob, ok := b.fileBlob(name, e, at); ok {
			s.blobsByPath[name] = blob
		}
	}
	return s, nil
}

// fileBlob returns the blob name of a file in the working tree, that is, the hash by which git identifies the content.
// The argument entry is the file's entry in the git index, or nil. indexTime is the time when git wrote the index. If
// the entry shows that the file has stayed the same since then, fileBlob returns the blob name in the entry without
// reading the file.
//
// If no regular file with this name exists, or if the name is not allowed for an annotated file, the results are "" and
// false. If the file cannot be read, the results are "" and true.
func (b *Store) fileBlob(name string, entry *git.IndexEntry, indexTime time.Time) (string, bool) {
	if CheckFile(name) != nil {
		return "", false
	}
	fi, err := b.worktree.Stat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return "", err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	if entry != nil && isUnchanged(entry, fi, indexTime) {
		return entry.BlobName, true
	}
	data, err := vfs.ReadFile(b.worktree, name, MaxFileBytes)
	if err != nil {
		return "", true
	}
	return blobName(data, b.usesSHA256()), true
}

// isUnchanged reports whether a file is surely the same as when git wrote the entry for the file into its index. The
// size and the modification time must be equal, and the entry must not belong to a merge conflict. The modification
// time must also be before indexTime, when git wrote the index. Otherwise the file may have been changed again at the
// time indexTime, and its modification time would be the same.
func isUnchanged(entry *git.IndexEntry, info fs.FileInfo, indexTime time.Time) bool {
	isSame := uint32(info.Size()) == entry.Size && info.ModTime().Equal(entry.Time)
	return isSame && entry.MergeStage == 0 && entry.Time.Before(indexTime)
}

// Limits for finding renamed files.
const (
	maxRenames = 1000 // maximum number of deleted files, and of added files, that are compared
	// A deleted and an added file count as one renamed file if at least this share of their letters is in lines that
	// both files contain.
	minCommonLetterShare = .5
	maxFilesWithSameLine = 50 // A line of text that occurs in more files is not used to find renamed files.
)

// findRenames finds the new names of renamed files that have annotations. It compares two commits, base (the older
// commit) and head (the newer commit). A file that exists only in base was renamed if head added a file with the same
// content or with most of its lines. findRenames stores the new names in x.renamedFiles.
func (x *commitRangeComparison) findRenames(ctx context.Context) error {
	x.renamedFiles = map[string]string{}
	var gone, fresh []string
	for _, file := range x.baseFiles.sortedPaths() {
		if _, ok := x.headFiles.blobsByPath[file]; !ok && len(x.findBaseSidecarBlobs(file)) > 0 {
			gone = append(gone, file)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	byBlob := map[string][]string{}
	for _, file := range x.headFiles.sortedPaths() {
		if _, ok := x.baseFiles.blobsByPath[file]; !ok && x.worktreeStore.mayHaveAnnotations(file) {
			fresh = append(fresh, file)
			byBlob[x.headFiles.blobsByPath[file]] = append(byBlob[x.headFiles.blobsByPath[file]], file)
		}
	}
	taken := map[string]bool{}
	gone = slices.DeleteFunc(gone, func(file string) bool {
		same := byBlob[x.baseFiles.blobsByPath[file]]
		if len(same) == 0 {
			return false
		}
		to := same[0]
		if i := slices.IndexFunc(same, func(f string) bool {
			return path.Base(f) == path.Base(file) && !taken[f]
		}); i >= 0 {
			to = same[i]
		}
		x.renamedFiles[file], taken[to] = to, true
		return true
	})
	fresh = slices.DeleteFunc(fresh, func(f string) bool { return taken[f] })
	return x.findSimilarRenames(ctx, gone[:min(len(gone), maxRenames)], fresh[:min(len(fresh), maxRenames)])
}

// findSimilarRenames finds renames of files whose content also changed. It compares the lines of each added file with
// all deleted files at once.
func (x *commitRangeComparison) findSimilarRenames(ctx context.Context, deletedFiles, addedFiles []string) error {
	if len(deletedFiles) == 0 || len(addedFiles) == 0 {
		return nil
	}
	// The map holders contains, for each line of the deleted files, how often the line occurs in each file. A file is
	// identified by its index in deletedFiles.
	holders := map[string]map[int]int{}
	size := make([]int, len(deletedFiles))
	err := x.eachFileText(ctx, x.baseFiles, deletedFiles, func(i int, lines []string) {
		for _, l := range lines {
			if holders[l] == nil {
				holders[l] = map[int]int{}
			}
			holders[l][i]++
			size[i] += len(l)
		}
	})
	if err != nil {
		return err
	}
	var pairs []renamePair
	err = x.eachFileText(ctx, x.headFiles, addedFiles, func(k int, lines []string) {
		all := 0
		common := map[int]int{}
		used := map[string]int{}
		for _, l := range lines {
			all += len(l)
			used[l]++
			if len(holders[l]) > maxFilesWithSameLine {
				// Ignore a line that occurs in more than maxFilesWithSameLine files, because it is usually part of a
				// license text.
				continue
			}
			for i, n := range holders[l] {
				if used[l] <= n {
					common[i] += len(l)
				}
			}
		}
		for i, n := range common {
			if share := float64(n) / float64(max(all, size[i])); share >= minCommonLetterShare {
				pairs = append(pairs, renamePair{i, k, share})
			}
		}
	})
	if err != nil {
		return err
	}
	x.chooseMostSimilarRenames(pairs, deletedFiles, addedFiles)
	return nil
}

// renamePair is a possible rename of a file. It contains the index of the deleted file, the index of the added file,
// and the share of the files' letters that is in lines of both files.
type renamePair struct {
	deletedIndex, addedIndex int
	commonLetterShare        float64
}

// chooseMostSimilarRenames chooses renames from the pairs, the most similar pair first. Each file is used in at most
// one rename. It stores the renames in x.renamedFiles.
func (x *commitRangeComparison) chooseMostSimilarRenames(pairs []renamePair, deletedFiles, addedFiles []string) {
	slices.SortFunc(pairs, func(a, b renamePair) int {
		return cmp.Or(
			cmp.Compare(b.commonLetterShare, a.commonLetterShare),
			a.deletedIndex-b.deletedIndex,
			a.addedIndex-b.addedIndex,
		)
	})
	taken := map[string]bool{}
	for _, p := range pairs {
		from, to := deletedFiles[p.deletedIndex], addedFiles[p.addedIndex]
		if x.renamedFiles[from] == "" && !taken[to] {
			x.renamedFiles[from], taken[to] = to, true
		}
	}
}

// eachFileText calls fn for each file, with the file's index and its lines without white space. Lines with fewer than
// three letters are omitted. Binary files are skipped.
func (x *commitRangeComparison) eachFileText(
	ctx context.Context,
	side *comparedFileSet,
	files []string,
	fn func(i int, lines []string),
) error {
	for from := 0; from < len(files); from += blobBatchSize {
		some := files[from:min(from+blobBatchSize, len(files))]
		var want []string
		for _, f := range some {
			want = append(want, side.blobsByPath[f])
		}
		if err := x.readMissingBlobs(ctx, want); err != nil {
			return err
		}
		for i, f := range some {
			data, err := x.readComparedFile(side, f)
			if err != nil || isBinary(data) {
				continue
			}
			var lines []string
			for _, l := range SplitLines(data) {
				l = removeAllSpace(l)
				if countLetters(l) >= 3 {
					lines = append(lines, l)
				}
			}
			fn(from+i, lines)
		}
		clear(x.baseBlobs.blobs)
	}
	return nil
}
