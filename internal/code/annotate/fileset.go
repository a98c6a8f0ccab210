// This file lists the files on a side of a comparison (a commit, git's index, or the working
// tree) and finds renamed files.

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

// fileSet maps the paths of regular files on a side to their blob names. In the working tree,
// git need not have stored the blob.
type fileSet struct {
	blobsByPath map[string]string
	isWorktree  bool // contents are read from the working tree
}

// sortedPaths returns the paths, sorted.
func (s *fileSet) sortedPaths() []string { return slices.Sorted(maps.Keys(s.blobsByPath)) }

// isSidecar reports whether the path is the path of a sidecar.
func (b *Store) isSidecar(name string) bool {
	return strings.HasPrefix(name, b.sidecarDir+"/") && strings.HasSuffix(name, sidecarSuffix)
}

// mayHaveAnnotations reports whether a file with this path can be annotated.
func (b *Store) mayHaveAnnotations(name string) bool {
	return !b.isSidecar(name) && CheckFile(name) == nil
}

// stagedFiles returns the files of git's index. For a file with a merge conflict, it returns "our"
// version.
func (b *Store) stagedFiles() (*fileSet, error) {
	entries, _, err := b.repo.IndexEntries()
	if err != nil {
		return nil, err
	}
	s := &fileSet{blobsByPath: map[string]string{}}
	for _, e := range entries {
		isOurs := e.Stage == 0 || e.Stage == 2
		if e.IsRegular && isOurs {
			s.blobsByPath[e.Name] = e.Blob
		}
	}
	return s, nil
}

// worktreeFiles returns the files of the working tree that are in base or in the index, or that are
// sidecars. It does not read a file if the index shows that the file has not changed.
func (b *Store) worktreeFiles(ctx context.Context, base map[string]string) (*fileSet, error) {
	s := &fileSet{blobsByPath: map[string]string{}, isWorktree: true}
	entries, at, err := b.repo.IndexEntries()
	if err != nil { // ignore the error, because without the index all files are read
		entries = nil
	}
	names := maps.Clone(base)
	var apart []string // directories that git has not checked out
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
			s.blobsByPath[name] = base[name]
		} else if e != nil && e.IsNotCheckedOut {
			s.blobsByPath[name] = e.Blob
		} else if blob, ok := b.fileBlob(name, e, at); ok {
			s.blobsByPath[name] = blob
		}
	}
	return s, nil
}

// fileBlob returns the blob name for a file in the working tree. It returns false if the file does
// not exist, and "" if the file cannot be read.
func (b *Store) fileBlob(name string, e *git.IndexEntry, indexed time.Time) (string, bool) {
	if CheckFile(name) != nil {
		return "", false
	}
	fi, err := b.worktree.Stat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return "", err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	if e != nil && isUnchanged(e, fi, indexed) {
		return e.Blob, true
	}
	data, err := vfs.ReadFile(b.worktree, name, MaxFile)
	if err != nil {
		return "", true
	}
	return blobName(data, b.usesSHA256()), true
}

// isUnchanged reports whether a file is still as it was when git wrote the index.
func isUnchanged(e *git.IndexEntry, fi fs.FileInfo, indexed time.Time) bool {
	isSame := uint32(fi.Size()) == e.Size && fi.ModTime().Equal(e.Time)
	return isSame && e.Stage == 0 && e.Time.Before(indexed)
}

// Limits of the search for renames.
const (
	maxRenames      = 1000 // number of files on each side
	minRenameShare  = .5   // minimum share of letters that two files must have in common
	maxFilesPerLine = 50   // a line that is in more files than this is ignored
)

// findRenames sets the new names of base files that have annotations and do not exist in the
// head. The new name belongs to an added file with the same content, or with most of the lines.
func (x *comparison) findRenames(ctx context.Context) error {
	x.newNames = map[string]string{}
	var gone, fresh []string
	for _, file := range x.baseFiles.sortedPaths() {
		if _, ok := x.headFiles.blobsByPath[file]; !ok && len(x.baseSidecars(file)) > 0 {
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
		x.newNames[file], taken[to] = to, true
		return true
	})
	fresh = slices.DeleteFunc(fresh, func(f string) bool { return taken[f] })
	return x.findSimilarRenames(ctx, gone[:min(len(gone), maxRenames)], fresh[:min(len(fresh), maxRenames)])
}

// findSimilarRenames is like findRenames, for files whose contents differ. It compares the lines of each
// added file with all deleted files at once.
func (x *comparison) findSimilarRenames(ctx context.Context, deletedFiles, addedFiles []string) error {
	if len(deletedFiles) == 0 || len(addedFiles) == 0 {
		return nil
	}
	holders := map[string]map[int]int{} // for each line, its number of occurrences in each deleted file
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
			if len(holders[l]) > maxFilesPerLine {
				continue // ignore the line: a line in so many files is usually from a license text
			}
			for i, n := range holders[l] {
				if used[l] <= n {
					common[i] += len(l)
				}
			}
		}
		for i, n := range common {
			if share := float64(n) / float64(max(all, size[i])); share >= minRenameShare {
				pairs = append(pairs, renamePair{i, k, share})
			}
		}
	})
	if err != nil {
		return err
	}
	x.setBestRenames(pairs, deletedFiles, addedFiles)
	return nil
}

// renamePair is a deleted file, an added file, and the share in which their contents are equal.
// from and to are indexes in the lists of these files.
type renamePair struct {
	deletedIndex, addedIndex int
	share                    float64
}

// setBestRenames treats the most similar pairs as renames, until no pair of unused files is left. It
// sets x.newNames.
func (x *comparison) setBestRenames(pairs []renamePair, deletedFiles, addedFiles []string) {
	slices.SortFunc(pairs, func(a, b renamePair) int {
		return cmp.Or(cmp.Compare(b.share, a.share), a.deletedIndex-b.deletedIndex, a.addedIndex-b.addedIndex)
	})
	taken := map[string]bool{}
	for _, p := range pairs {
		from, to := deletedFiles[p.deletedIndex], addedFiles[p.addedIndex]
		if x.newNames[from] == "" && !taken[to] {
			x.newNames[from], taken[to] = to, true
		}
	}
}

// eachFileText calls fn with each file's significant lines, without white space, and the file's
// index. Binary files are skipped.
func (x *comparison) eachFileText(
	ctx context.Context,
	side *fileSet,
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
			data, err := x.sideContent(side, f)
			if err != nil || isBinary(data) {
				continue
			}
			var lines []string
			for _, l := range SplitLines(data) {
				l = removeLineSpace(l)
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
