// This file resolves commit names, lists a commit's files, and finds the new names of renamed files.

package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ErrNoCommit is returned for a name that names no commit in this clone.
var ErrNoCommit = errors.New("names no commit of this clone")

// AtCommit returns a copy of the repository that uses the commit as its HEAD.
func (r *Repo) AtCommit(commit string) *Repo {
	p := *r
	p.pinnedHead = commit
	return &p
}

// refPathFormats lists the paths at which git searches for a reference, in git's order.
var refPathFormats = []string{
	"%s",
	"refs/%s",
	"refs/tags/%s",
	"refs/heads/%s",
	"refs/remotes/%s",
	"refs/remotes/%s/HEAD",
}

// revisionPattern matches a revision, which is a name followed by steps to parents, such as HEAD~2. Its two submatches
// are the name and the steps. refNamePattern matches a name of a reference. shortHexPattern matches a hash in hex, or
// the beginning of a hash.
var (
	revisionPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([^~^]+)((?:[~^][0-9]*|\^\{(?:commit)?\})*)$`)
	})
	refNamePattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_./+=,%#!&@-]*$`)
	})
	shortHexPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{4,64}$`) })
)

// ResolveRevision returns the commit that a revision names. The parameter name contains a branch, a tag, a reference,
// an abbreviated commit name, or @ for HEAD, optionally followed by ~N and ^N. If ctx ends, the error may be ctx's
// error. All other errors match [ErrNoCommit].
func (r *Repo) ResolveRevision(ctx context.Context, name string) (string, error) {
	m := revisionPattern().FindStringSubmatch(name)
	if m == nil {
		return "", fmt.Errorf("%.80q %w", name, ErrNoCommit)
	}
	id, steps := r.resolveRefName(m[1]), m[2]
	if id == "" {
		_, err := r.HeadCommit(ctx) // HeadCommit fails if the references cannot be read at all.
		return "", errors.Join(fmt.Errorf("%.80q %w", name, ErrNoCommit), err)
	}
	out, err := r.runGit(ctx, nil, "rev-parse", "--verify", "--quiet", id+steps+"^{commit}")
	commit := strings.TrimSpace(string(out))
	if err != nil || !IsHash(commit) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%.80q %w", name, ErrNoCommit)
	}
	return commit, nil
}

// resolveRefName returns the object that a reference names. The argument ref may be a short name, such as main, or "@"
// for HEAD. If there is no such reference, and ref may be an abbreviated object name in hex, resolveRefName returns ref
// itself. Otherwise it returns "".
func (r *Repo) resolveRefName(ref string) string {
	if ref == "@" {
		ref = "HEAD"
	}
	if !isRefName(ref) {
		return ""
	}
	mayBeFile := strings.ToUpper(ref) != ref && !strings.HasPrefix(ref, "refs/")
	for _, place := range refPathFormats {
		if place == "%s" && mayBeFile {
			// Do not look up the name directly in .git, because another file there, such as config, may have the same
			// name.
			continue
		}
		if id, _ := r.resolveRef(fmt.Sprintf(place, ref)); id != "" {
			return id
		}
	}
	if shortHexPattern().MatchString(ref) {
		return ref
	}
	return ""
}

// MergeBase returns the best common ancestor of two commits, or "" if the commits lack a common ancestor.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	if err := errors.Join(checkHexHash(a), checkHexHash(b)); err != nil {
		return "", err
	}
	out, err := r.runGit(ctx, nil, "merge-base", a, b)
	if id := strings.TrimSpace(string(out)); err == nil && IsHash(id) {
		return id, nil
	}
	if len(out) == 0 && exitStatus(err) == 1 {
		return "", nil
	}
	return "", err
}

// ListCommitFiles returns the blob names of a commit's regular files, by path.
func (r *Repo) ListCommitFiles(ctx context.Context, commit string) (map[string]string, error) {
	return r.listTree(ctx, commit, "-r", "")
}

// ListCommitFilesInDir returns the blob names of a commit's regular files, by path. The result contains only the files
// directly in the directory dir, and not the files in its subdirectories.
func (r *Repo) ListCommitFilesInDir(ctx context.Context, commit, dir string) (map[string]string, error) {
	return r.listTree(ctx, commit, "-t", dir+"/")
}

func (r *Repo) listTree(ctx context.Context, commit, depthOption, path string) (map[string]string, error) {
	if err := checkHexHash(commit); err != nil {
		return nil, fmt.Errorf("reading a tree: %w", err)
	}
	args := []string{"ls-tree", depthOption, "-z", "--full-tree", commit}
	if path != "" {
		args = append(args, "--", path)
	}
	out, err := r.runGit(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	// git ls-tree prints the mode, type and hash of each file, then a tab, the path and a zero byte.
	for e := range strings.SplitSeq(string(out), "\x00") {
		head, path, _ := strings.Cut(e, "\t")
		f := strings.Fields(head)
		isFile := len(f) == 3 && strings.HasPrefix(f[0], "100")
		if isFile && IsHash(f[2]) {
			files[path] = f[2]
		}
	}
	return files, nil
}

// FollowRef returns the object that a reference names, or "" if the reference does not exist. name is the full name,
// such as refs/remotes/origin/HEAD. FollowRef follows symbolic references.
func (r *Repo) FollowRef(name string) (string, error) {
	if !isRefName(name) || !strings.HasPrefix(name, "refs/") {
		return "", fmt.Errorf("%.80q is not the whole name of a reference", name)
	}
	id, err := r.resolveRef(name)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return id, nil
}

// LastCommitOf returns the last commit that changed a file, or "" if no commit changed the file. It searches the
// history of the given commit, beginning with this commit. Only first parents are followed, so a merge counts as a
// change of each file that it merged.
func (r *Repo) LastCommitOf(ctx context.Context, commit, file string) (string, error) {
	if err := checkHexHash(commit); err != nil {
		return "", fmt.Errorf("reading a history: %w", err)
	}
	steps, err := r.listFileChanges(ctx, nil, "--no-renames", "-n", "1", commit, "--", file)
	if err != nil || len(steps) == 0 {
		return "", err
	}
	return steps[0].commit, nil
}

// BlobName returns the name under which git stores a content: the hash of "blob ", the length in decimal, a NUL byte
// and the content. The hash is SHA-256 if usesSHA256 is set, otherwise SHA-1.
func BlobName(data []byte, usesSHA256 bool) string {
	head := fmt.Appendf(nil, "blob %d\x00", len(data))
	if usesSHA256 {
		h := sha256.New()
		h.Write(head)
		h.Write(data)
		return hex.EncodeToString(h.Sum(nil))
	}
	h := sha1.New()
	h.Write(head)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// FindCurrentNames returns the present names of files that commits have renamed. The keys of the result are elements of
// files, and the values are their names in HEAD. Files that were not renamed are left out. FindCurrentNames follows
// only first parents. It processes all files together, so that git runs only a few times.
func (r *Repo) FindCurrentNames(ctx context.Context, files []string) (map[string]string, error) {
	head, err := r.HeadCommit(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	now := map[string]string{}
	asked := map[string]bool{}
	next := files
	for range maxRenameHops {
		next = slices.DeleteFunc(slices.Clone(next), func(f string) bool {
			return asked[f] || strings.ContainsAny(f, "\n")
		})
		if len(next) == 0 {
			break
		}
		moves, err := r.findRenames(ctx, head, next)
		if err != nil {
			return nil, err
		}
		for _, f := range next {
			asked[f] = true
		}
		next = nil
		for _, to := range moves {
			next = append(next, to)
		}
		for from, to := range moves {
			now[from] = to
		}
	}
	out := map[string]string{}
	for _, f := range files {
		to := f
		for range maxRenameHops {
			if now[to] == "" || now[to] == f {
				break
			}
			to = now[to]
		}
		if to != f {
			out[f] = to
		}
	}
	return out, nil
}

// findRenames returns the new paths of those files that a commit in the history of head renamed, by their old paths. If
// several commits renamed a file with the same old path, the newest rename counts. findRenames examines only a limited
// number of commits that deleted the old paths.
func (r *Repo) findRenames(ctx context.Context, head string, files []string) (map[string]string, error) {
	ends, err := r.listFileChanges(
		ctx,
		files,
		"--no-renames",
		"--diff-filter=D",
		"-n",
		strconv.Itoa(maxDeletions*len(files)),
		head,
	)
	if err != nil || len(ends) == 0 {
		return nil, err
	}
	want := map[string]bool{}
	var commits []string
	for _, e := range ends {
		want[e.oldPath] = true
		if !slices.Contains(commits, e.commit) {
			commits = append(commits, e.commit)
		}
	}
	to := map[string]string{}
	for some := range slices.Chunk(commits, 100) {
		steps, err := r.listFileChanges(
			ctx,
			nil,
			slices.Concat([]string{"--no-walk=unsorted", "-M", "--diff-filter=R"}, some)...)
		if err != nil {
			return nil, err
		}
		// Renames are listed from the newest commit to the oldest. Keep the first rename of each path.
		for _, s := range steps {
			if want[s.oldPath] && to[s.oldPath] == "" {
				to[s.oldPath] = s.newPath
			}
		}
	}
	return to, nil
}

// isRefName reports whether a text can be a reference's name or the end of such a name.
func isRefName(name string) bool {
	return refNamePattern().MatchString(name) && fs.ValidPath(name) && !strings.Contains(name, "..")
}
