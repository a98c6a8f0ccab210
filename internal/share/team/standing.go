// Standing: which entries are reviewed, and in which commit.

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

// remote is the one whose branch is reviewed.
const remote = "origin"

// Upstream is the branch that is reviewed, as this clone last had it from its remote.
type Upstream struct {
	Branch string // such as origin/main; "" for none, when all files are local
	Commit string // "" for one that this clone does not have
}

// defaults are the references tried for the reviewed branch, in their order.
var defaults = []string{"HEAD", "main", "master"}

// Reviewed returns the names of the entries whose files are those of the reviewed
// branch, and that branch. It is the default one of the remote, unless team.yaml as it
// stands there names another: a branch that is pushed cannot review itself.
func (s *Store) Reviewed(ctx context.Context) (names map[string]bool, up Upstream, err error) {
	blobs, up, err := s.tree.upstream(ctx)
	if err != nil {
		return nil, up, err
	}
	names = map[string]bool{}
	err = s.View(ctx, func(v mdtree.View) error {
		for file, blob := range blobs {
			if text, ok := v.File(file); ok && s.sums.get(file, text) == blob {
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

// reviewedFiles returns the files of the reviewed branch, none where that cannot be read:
// [Store.Reviewed] returns the error.
func (t *Tree) reviewedFiles(ctx context.Context) map[string]string {
	blobs, _, _ := t.upstream(ctx)
	return blobs
}

// prefer returns what reports whether a file with a text is one of the reviewed branch,
// as that stands when it is first called.
func (s *Store) prefer(ctx context.Context) func(file, text string) bool {
	blobs := sync.OnceValue(func() map[string]string { return s.tree.reviewedFiles(ctx) })
	return func(file, text string) bool {
		blob, ok := blobs()[file]
		return ok && s.sums.get(file, text) == blob
	}
}

// Commit returns the commit of the reviewed branch that last changed the file of an
// entry, or merged it; "" for none.
func (s *Store) Commit(ctx context.Context, name string) (string, error) {
	p, err := s.Locate(ctx, name)
	if err != nil {
		return "", err
	}
	_, up, err := s.tree.upstream(ctx)
	if err != nil || up.Commit == "" {
		return "", err
	}
	id, err := s.tree.repo.LastChange(ctx, up.Commit, path.Join(s.tree.rel, p.Path))
	return id[:min(len(id), shortCommit)], err
}

// shortCommit is the digits of a commit that are shown.
const shortCommit = 10

// upstream returns the files of the reviewed branch, by their names in the directory:
// git's names of their texts.
func (t *Tree) upstream(ctx context.Context) (blobs map[string]string, up Upstream, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	up, err = defaultBranch(t.repo)
	if err != nil || up.Commit == "" {
		return nil, Upstream{}, err
	}
	blobs, err = t.filesOf(ctx, up)
	if err != nil {
		return nil, up, err
	}
	wanted, err := t.settingsOf(ctx, blobs[settingsFile])
	if err != nil || wanted.Branch == "" {
		return blobs, up, err
	}
	up = Upstream{Branch: remote + "/" + wanted.Branch}
	up.Commit, err = t.repo.Follow("refs/remotes/" + up.Branch)
	if err != nil || up.Commit == "" {
		return nil, up, err
	}
	blobs, err = t.filesOf(ctx, up)
	return blobs, up, err
}

// defaultBranch returns the default branch of the remote, as this clone last had it; the
// zero Upstream if there is none.
func defaultBranch(repo *git.Repo) (up Upstream, err error) {
	for _, name := range defaults {
		up = Upstream{Branch: remote + "/" + name}
		up.Commit, err = repo.Follow("refs/remotes/" + up.Branch)
		if err != nil {
			return Upstream{}, fmt.Errorf("finding the reviewed branch: %w", err)
		}
		if up.Commit != "" {
			return up, nil
		}
	}
	return Upstream{}, nil
}

// ReviewedCommit returns the commit of the reviewed branch of a repository, as this clone
// last had it; "" if there is none. The team files at the top of the working tree decide
// which branch it is, as for [Store.Reviewed].
func ReviewedCommit(ctx context.Context, repo *git.Repo) (string, error) {
	if _, err := os.Lstat(filepath.Join(repo.Root(), filepath.FromSlash(Dir))); err != nil {
		up, err := defaultBranch(repo)
		return up.Commit, err
	}
	t, err := treeOf(repo, repo.Root())
	if err != nil {
		return "", err
	}
	_, up, err := t.upstream(ctx)
	return up.Commit, err
}

// filesOf returns the team files of a commit. The last ones read are kept.
func (t *Tree) filesOf(ctx context.Context, up Upstream) (map[string]string, error) {
	if files, ok := t.reviewed[up]; ok {
		return files, nil
	}
	listed, err := t.repo.FilesIn(ctx, up.Commit, t.rel)
	if err != nil {
		return nil, fmt.Errorf("reading the reviewed branch: %w", err)
	}
	files := make(map[string]string, len(listed))
	for p, blob := range listed {
		if name, ok := strings.CutPrefix(p, t.rel+"/"); ok {
			files[name] = blob
		}
	}
	maps.DeleteFunc(t.reviewed, func(old Upstream, _ map[string]string) bool { return old.Branch == up.Branch })
	t.reviewed[up] = files
	return files, nil
}

// settingsOf returns the settings of a commit. Git is not asked for those that the
// working tree has, too.
func (t *Tree) settingsOf(ctx context.Context, blob string) (settings, error) {
	if blob == "" {
		return settings{}, nil
	}
	text, err := t.readSmall(settingsFile)
	if err != nil || git.BlobName([]byte(text), t.repo.SHA256()) != blob {
		found, err := t.repo.Blobs(ctx, []string{blob})
		if err != nil {
			return settings{}, fmt.Errorf("reading %s of the reviewed branch: %w", settingsFile, err)
		}
		text = string(found[blob])
	}
	s, err := parseSettings(settingsFile+" of the reviewed branch", text)
	return s, err
}

// readSmall returns the text of a regular file of the directory.
func (t *Tree) readSmall(name string) (string, error) { return readFile(filepath.Join(t.path, name)) }

// readFile returns the text of a regular file, to which no link leads.
func readFile(p string) (string, error) {
	if fi, err := os.Lstat(p); err != nil || !fi.Mode().IsRegular() {
		return "", cmp.Or(err, fmt.Errorf("%s is not a regular file", p))
	}
	dir, err := vfs.Dir(filepath.Dir(p))
	if err != nil {
		return "", err
	}
	defer dir.Close()
	b, err := vfs.ReadFile(dir, filepath.Base(p), maxFile)
	return string(b), err
}
