// Commits by their names, the files of a commit, and what became of files that
// a commit has no more.

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

// ErrNoCommit is returned for a name that leads to no commit of this clone.
var ErrNoCommit = errors.New("names no commit of this clone")

// Pinned returns a Repo of which HEAD is that commit.
func (r *Repo) Pinned(commit string) *Repo {
	p := *r
	p.pinned = commit
	return &p
}

// refPlaces is where git looks for the name of a reference, in its order.
var refPlaces = []string{"%s", "refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s", "refs/remotes/%s/HEAD"}

// A revision is a name, and steps to its parents.
var (
	revision = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^~^]+)((?:[~^][0-9]*|\^\{(?:commit)?\})*)$`) })
	refName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_./+=,%#!&@-]*$`) })
	someHex  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{4,64}$`) })
)

// Resolve returns the commit that a revision names: a branch, a tag, a
// reference, the beginning of a commit's name or @ for HEAD, with ~N and ^N
// after it. Errors match [ErrNoCommit].
func (r *Repo) Resolve(ctx context.Context, name string) (string, error) {
	m := revision().FindStringSubmatch(name)
	if m == nil {
		return "", fmt.Errorf("%.80q %w", name, ErrNoCommit)
	}
	id, steps := r.named(m[1]), m[2]
	if id == "" {
		_, err := r.Head(ctx) // says when references cannot be read at all
		return "", errors.Join(fmt.Errorf("%.80q %w", name, ErrNoCommit), err)
	}
	out, err := r.run(ctx, nil, "rev-parse", "--verify", "--quiet", id+steps+"^{commit}")
	commit := strings.TrimSpace(string(out))
	if err != nil || !IsHash(commit) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%.80q %w", name, ErrNoCommit)
	}
	return commit, nil
}

// named returns the object that a reference or the beginning of a name in hex means,
// and "" for neither.
func (r *Repo) named(ref string) string {
	if ref == "@" {
		ref = "HEAD"
	}
	if !refName().MatchString(ref) || !fs.ValidPath(ref) || strings.Contains(ref, "..") {
		return ""
	}
	for _, place := range refPlaces {
		if place == "%s" && strings.ToUpper(ref) != ref && !strings.HasPrefix(ref, "refs/") {
			continue // such as the file config
		}
		if id, _ := r.follow(fmt.Sprintf(place, ref)); id != "" {
			return id
		}
	}
	if someHex().MatchString(ref) {
		return ref
	}
	return ""
}

// MergeBase returns the best common ancestor of two commits, and "" for none.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	if err := errors.Join(checkHex(a), checkHex(b)); err != nil {
		return "", err
	}
	out, err := r.run(ctx, nil, "merge-base", a, b)
	if id := strings.TrimSpace(string(out)); err == nil && IsHash(id) {
		return id, nil
	}
	if len(out) == 0 && exitStatus(err) == 1 {
		return "", nil
	}
	return "", err
}

// Files returns the regular files of a commit, by path: the names of their blobs.
func (r *Repo) Files(ctx context.Context, commit string) (map[string]string, error) {
	return r.listTree(ctx, commit, "-r", "")
}

// FilesIn returns the regular files that are directly in a directory of a commit.
func (r *Repo) FilesIn(ctx context.Context, commit, dir string) (map[string]string, error) {
	return r.listTree(ctx, commit, "-t", dir+"/")
}

func (r *Repo) listTree(ctx context.Context, commit, depth, path string) (map[string]string, error) {
	if err := checkHex(commit); err != nil {
		return nil, fmt.Errorf("reading a tree: %w", err)
	}
	args := []string{"ls-tree", depth, "-z", "--full-tree", commit}
	if path != "" {
		args = append(args, "--", path)
	}
	out, err := r.run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	// MODE SP TYPE SP NAME TAB PATH NUL
	for e := range strings.SplitSeq(string(out), "\x00") {
		head, path, _ := strings.Cut(e, "\t")
		if f := strings.Fields(head); len(f) == 3 && strings.HasPrefix(f[0], "100") && IsHash(f[2]) {
			files[path] = f[2]
		}
	}
	return files, nil
}

// Follow returns the object that a reference leads to, given by its whole name, such
// as refs/remotes/origin/HEAD, through symbolic ones; "" for none.
func (r *Repo) Follow(name string) (string, error) {
	if !refName().MatchString(name) || !fs.ValidPath(name) || strings.Contains(name, "..") || !strings.HasPrefix(name, "refs/") {
		return "", fmt.Errorf("%.80q is not the whole name of a reference", name)
	}
	id, err := r.follow(name)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return id, nil
}

// LastChange returns the commit that last changed a file, by first parents, so that
// a merge counts for what it brought; "" for none.
func (r *Repo) LastChange(ctx context.Context, commit, file string) (string, error) {
	if err := checkHex(commit); err != nil {
		return "", fmt.Errorf("reading a history: %w", err)
	}
	steps, err := r.log(ctx, nil, "--no-renames", "-n", "1", commit, "--", file)
	if err != nil || len(steps) == 0 {
		return "", err
	}
	return steps[0].commit, nil
}

// BlobName returns git's name for a content: the hash of "blob", its length, a
// NUL, and itself.
func BlobName(data []byte, sha2 bool) string {
	head := fmt.Appendf(nil, "blob %d\x00", len(data))
	if sha2 {
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

// Renamed returns what files that HEAD does not have are called there, as far as
// commits of its history have renamed them. It goes by first parents, and asks
// about all files at once.
func (r *Repo) Renamed(ctx context.Context, files []string) (map[string]string, error) {
	head, err := r.Head(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	now := map[string]string{}
	asked := map[string]bool{}
	next := files
	for range maxHops {
		next = slices.DeleteFunc(slices.Clone(next), func(f string) bool { return asked[f] || strings.ContainsAny(f, "\n") })
		if len(next) == 0 {
			break
		}
		moves, err := r.renames(ctx, head, next)
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
		for range maxHops {
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

// renames returns what each of the files was renamed to by the newest commits
// that took it away.
func (r *Repo) renames(ctx context.Context, head string, files []string) (map[string]string, error) {
	ends, err := r.log(ctx, files, "--no-renames", "--diff-filter=D", "-n", strconv.Itoa(maxDeletions*len(files)), head)
	if err != nil || len(ends) == 0 {
		return nil, err
	}
	want := map[string]bool{}
	var commits []string
	for _, e := range ends {
		want[e.from] = true
		if !slices.Contains(commits, e.commit) {
			commits = append(commits, e.commit)
		}
	}
	to := map[string]string{}
	for some := range slices.Chunk(commits, 100) {
		steps, err := r.log(ctx, nil, slices.Concat([]string{"--no-walk=unsorted", "-M", "--diff-filter=R"}, some)...)
		if err != nil {
			return nil, err
		}
		for _, s := range steps { // the newest first
			if want[s.from] && to[s.from] == "" {
				to[s.from] = s.to
			}
		}
	}
	return to, nil
}
