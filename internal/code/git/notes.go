// This file reads git notes, and looks up files at many commits.

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// ResolveRef returns the object that a reference such as refs/notes/ai names, or "" if the reference does not exist. It
// reads the reference files without running git. A symbolic reference is an error.
func (r *Repo) ResolveRef(_ context.Context, name string) (string, error) {
	if !fs.ValidPath(name) || !strings.HasPrefix(name, "refs/") {
		return "", fmt.Errorf("%.80q is not the whole name of a reference", name)
	}
	b, err := r.readRef(name)
	if errors.Is(err, fs.ErrNotExist) {
		return r.readPackedRef(name)
	}
	if err != nil {
		return "", fmt.Errorf("reading a reference: %w", err)
	}
	if id := strings.TrimSpace(string(b)); IsHash(id) {
		return id, nil
	}
	return "", fmt.Errorf("reading a reference: %.80q leads nowhere", name)
}

// ReadNotes returns the note blobs in a reference, by the name of the object to which the note belongs. If the
// reference does not exist, the result is nil. In the tree of notes, a note's path is its object's name, possibly with
// slashes inserted.
func (r *Repo) ReadNotes(ctx context.Context, ref string) (map[string]string, error) {
	at, err := r.ResolveRef(ctx, ref)
	if err != nil || at == "" {
		return nil, err
	}
	out, err := r.runGit(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", at)
	if err != nil {
		return nil, err
	}
	notes := map[string]string{}
	// git ls-tree prints the mode, type and hash of each file, then a tab, the path and a zero byte.
	for e := range strings.SplitSeq(string(out), "\x00") {
		head, path, _ := strings.Cut(e, "\t")
		id := strings.ReplaceAll(path, "/", "")
		f := strings.Fields(head)
		isBlob := len(f) == 3 && f[1] == "blob" && IsHash(f[2])
		if isBlob && IsHash(id) {
			notes[id] = f[2]
		}
	}
	return notes, nil
}

// FileAtCommit identifies a version of a file: the file with the path File as it is in the commit Commit.
type FileAtCommit struct{ Commit, File string }

// BlobsAt returns the blob name of each file at its commit, in the same order as places. The name is "" if the commit
// lacks the file. It is also "" if the path is invalid for io/fs or contains a line feed, because git's input cannot
// represent such a path.
func (r *Repo) BlobsAt(ctx context.Context, places []FileAtCommit) ([]string, error) {
	var in bytes.Buffer
	var asked []int
	for i, p := range places {
		if err := checkHexHash(p.Commit); err != nil {
			return nil, fmt.Errorf("reading trees: %w", err)
		}
		// Leave out an invalid file path, such as ../x, because git fails for all files if the input contains such a
		// path.
		if fs.ValidPath(p.File) && !strings.ContainsAny(p.File, "\n\x00") {
			asked = append(asked, i)
			in.WriteString(p.Commit + ":" + p.File + "\n")
		}
	}
	names := make([]string, len(places))
	if len(asked) == 0 {
		return names, nil
	}
	out, err := r.runGit(ctx, in.Bytes(), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(asked) {
		return nil, errors.New("reading trees: git answers more or less than it was asked")
	}
	for k, l := range lines {
		// The line is "NAME blob" or "COMMIT:FILE missing".
		if id, ok := strings.CutSuffix(l, " blob"); ok && IsHash(id) {
			names[asked[k]] = id
		}
	}
	return names, nil
}

// CommitTimes returns the committer time of each commit. Commits that the repository does not have are
// left out.
func (r *Repo) CommitTimes(ctx context.Context, commits []string) (map[string]time.Time, error) {
	times := map[string]time.Time{}
	objects, err := r.readObjects(ctx, commits, "commit")
	if err != nil {
		return nil, err
	}
	for id, text := range objects {
		for l := range strings.Lines(string(text)) {
			rest, ok := strings.CutPrefix(l, "committer ")
			if !ok {
				if l == "\n" {
					break
				}
				continue
			}
			// A committer line of a commit has the form committer NAME <EMAIL> SECONDS ZONE.
			f := strings.Fields(rest[strings.LastIndexByte(rest, '>')+1:])
			if len(f) == 2 {
				if s, err := strconv.ParseInt(f[0], 10, 64); err == nil {
					times[id] = time.Unix(s, 0).UTC()
				}
			}
			break
		}
	}
	return times, nil
}
