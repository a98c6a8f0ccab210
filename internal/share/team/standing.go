// This file finds out which entries were reviewed, and in which commit.

package team

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/vfs"
)

// remoteName is the name of the remote whose branch counts as reviewed.
const remoteName = "origin"

// Upstream is the branch that contains the entries reviewed by the team, in the state that this clone has fetched
// last.
type Upstream struct {
	Branch string // name of the branch, for example origin/main ("" without a branch, so that no file is reviewed)
	Commit string // commit of the branch ("" if this clone does not have the branch)
}

// defaultBranches lists the names of branches that may be the default branch. The first one that exists counts.
var defaultBranches = []string{"HEAD", "main", "master"}

// ReviewedNames returns the names of the entries whose files in the working tree equal the files on the reviewed
// branch. It also returns the reviewed branch. This is the remote's default branch, unless team.yaml on the default
// branch names another branch. Only the default branch can name another branch, so that nobody can push a branch that
// declares itself reviewed.
func (s *Store) ReviewedNames(ctx context.Context) (names map[string]bool, up Upstream, err error) {
	blobs, up, err := s.tree.readUpstream(ctx)
	if err != nil {
		return nil, up, err
	}
	names = map[string]bool{}
	err = s.ViewTree(ctx, func(v mdtree.TreeView) error {
		for file, blob := range blobs {
			if text, ok := v.FileText(file); ok && s.blobNames.blobNameOfText(file, text) == blob {
				for _, it := range v.Items(file) {
					p, found := v.Find(it.Entry.Name)
					if found && p.Path == file {
						names[it.Entry.Name] = true
					}
				}
			}
		}
		return nil
	})
	return names, up, err
}

// blobsOnReviewedBranch returns the blob names of the files on the reviewed branch. Errors are ignored, because
// [Store.ReviewedNames] returns them.
func (t *Tree) blobsOnReviewedBranch(ctx context.Context) map[string]string {
	blobs, _, _ := t.readUpstream(ctx)
	return blobs
}

// newReviewedTextCheck returns a function that reports whether the reviewed branch contains a file with this text. The
// function reads the branch once, when it is first called.
func (s *Store) newReviewedTextCheck(ctx context.Context) func(file, text string) bool {
	blobs := sync.OnceValue(func() map[string]string { return s.tree.blobsOnReviewedBranch(ctx) })
	return func(file, text string) bool {
		blob, ok := blobs()[file]
		return ok && s.blobNames.blobNameOfText(file, text) == blob
	}
}

// LastReviewedCommit returns the abbreviated ID of the commit on the reviewed branch that changed or merged the entry's
// file last, or "" without such a commit.
func (s *Store) LastReviewedCommit(ctx context.Context, name string) (string, error) {
	p, err := s.Locate(ctx, name)
	if err != nil {
		return "", err
	}
	_, up, err := s.tree.readUpstream(ctx)
	if err != nil || up.Commit == "" {
		return "", err
	}
	id, err := s.tree.repo.LastCommitOf(ctx, up.Commit, path.Join(s.tree.pathInWorkTree, p.Path))
	return id[:min(len(id), shortCommitLength)], err
}

// shortCommitLength is the number of hexadecimal digits in an abbreviated commit ID.
const shortCommitLength = 10

// readUpstream returns the remote branch that contains the reviewed team files. This is the default branch, unless the
// settings file on the default branch names another branch. blobNamesByPath contains git's blob name of each team file
// on the branch, by path. If no branch or no commit is found, blobNamesByPath is nil.
func (t *Tree) readUpstream(ctx context.Context) (blobNamesByPath map[string]string, up Upstream, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	up, err = defaultBranch(t.repo)
	if err != nil || up.Commit == "" {
		return nil, Upstream{}, err
	}
	blobNamesByPath, err = t.readCommitBlobNames(ctx, up)
	if err != nil {
		return nil, up, err
	}
	branch, err := t.readSettingsBlob(ctx, blobNamesByPath[settingsFile])
	if err != nil || branch.Branch == "" {
		return blobNamesByPath, up, err
	}
	up = Upstream{Branch: remoteName + "/" + branch.Branch}
	up.Commit, err = t.repo.FollowRef("refs/remotes/" + up.Branch)
	if err != nil || up.Commit == "" {
		return nil, up, err
	}
	blobNamesByPath, err = t.readCommitBlobNames(ctx, up)
	return blobNamesByPath, up, err
}

// defaultBranch returns the branch of the remote that is probably its default branch: the first of defaultBranches that
// exists in this clone. The result's commit is the one that the clone has fetched last. If no such branch exists,
// defaultBranch returns the zero Upstream.
func defaultBranch(repo *git.Repo) (up Upstream, err error) {
	for _, name := range defaultBranches {
		up = Upstream{Branch: remoteName + "/" + name}
		up.Commit, err = repo.FollowRef("refs/remotes/" + up.Branch)
		if err != nil {
			return Upstream{}, fmt.Errorf("finding the reviewed branch: %w", err)
		}
		if up.Commit != "" {
			return up, nil
		}
	}
	return Upstream{}, nil
}

// ReviewedCommit returns the commit of a repository's reviewed branch in the state that this clone has fetched last,
// or "" if it is unknown. The reviewed branch is determined as in [Store.ReviewedNames], with the team files at the
// root of the working tree.
func ReviewedCommit(ctx context.Context, repo *git.Repo) (string, error) {
	if _, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(Dir))); err != nil {
		up, err := defaultBranch(repo)
		return up.Commit, err
	}
	t, err := newTree(repo, repo.Root())
	if err != nil {
		return "", err
	}
	_, up, err := t.readUpstream(ctx)
	return up.Commit, err
}

// readCommitBlobNames returns git's blob names of the team files in the commit up.Commit, by file name. It caches the
// result for the last commit of each branch. The caller must hold t.mu.
func (t *Tree) readCommitBlobNames(ctx context.Context, up Upstream) (map[string]string, error) {
	if files, ok := t.reviewedFilesByUpstream[up]; ok {
		return files, nil
	}
	listed, err := t.repo.ListCommitFilesInDir(ctx, up.Commit, t.pathInWorkTree)
	if err != nil {
		return nil, fmt.Errorf("reading the reviewed branch: %w", err)
	}
	files := make(map[string]string, len(listed))
	for p, blob := range listed {
		if name, ok := strings.CutPrefix(p, t.pathInWorkTree+"/"); ok {
			files[name] = blob
		}
	}
	maps.DeleteFunc(
		t.reviewedFilesByUpstream,
		func(old Upstream, _ map[string]string) bool { return old.Branch == up.Branch },
	)
	t.reviewedFilesByUpstream[up] = files
	return files, nil
}

// readSettingsBlob returns the settings in a git blob of team.yaml. If blob is "", it returns the zero teamSettings. If
// the file in the working tree has the same content, it reads that file, because running git takes longer.
func (t *Tree) readSettingsBlob(ctx context.Context, blob string) (teamSettings, error) {
	if blob == "" {
		return teamSettings{}, nil
	}
	text, err := t.readTeamFile(settingsFile)
	if err != nil || git.BlobName([]byte(text), t.repo.IsSHA256()) != blob {
		found, err := t.repo.ReadBlobs(ctx, []string{blob})
		if err != nil {
			return teamSettings{}, fmt.Errorf("reading %s of the reviewed branch: %w", settingsFile, err)
		}
		text = string(found[blob])
	}
	s, err := parseSettings(settingsFile+" of the reviewed branch", text)
	return s, err
}

// readTeamFile returns the text of a file in the team files' directory. The file must be regular.
func (t *Tree) readTeamFile(name string) (string, error) {
	return readFile(filepath.Join(t.path, name))
}

// readFile returns the text of a regular file. It fails for a symbolic link.
func readFile(filePath string) (string, error) {
	if fi, err := os.Lstat(filePath); err != nil || !fi.Mode().IsRegular() {
		return "", cmp.Or(err, fmt.Errorf("%s is not a regular file", filePath))
	}
	dir, err := vfs.Dir(filepath.Dir(filePath))
	if err != nil {
		return "", err
	}
	defer dir.Close()
	b, err := vfs.ReadFile(dir, filepath.Base(filePath), maxFileBytes)
	return string(b), err
}
