// This file reads the git history. It contains the methods that a store of annotations needs.

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// HeadCommit returns the commit of HEAD, or "" before the first commit. It reads the reference files without running
// git. If the repository stores references as reftables, HeadCommit fails.
func (r *Repo) HeadCommit(_ context.Context) (string, error) {
	if r.pinnedHead != "" {
		return r.pinnedHead, nil
	}
	id, err := r.resolveRef("HEAD")
	if err != nil {
		return "", fmt.Errorf("reading HEAD: %w", err)
	}
	return id, nil
}

// resolveRef returns the object that a reference names, or "" if the reference does not exist. It follows symbolic
// references.
func (r *Repo) resolveRef(ref string) (string, error) {
	// A symbolic reference may name another symbolic reference. Stop after some steps, because they may form a circle.
	for range 5 {
		b, err := r.readRef(ref)
		if errors.Is(err, fs.ErrNotExist) {
			return r.readPackedRef(ref)
		}
		if err != nil {
			return "", err
		}
		text := strings.TrimSpace(string(b))
		if id, _, _ := strings.Cut(text, "\t"); IsHash(id) { // A line of FETCH_HEAD has more fields after a tab.
			return id, nil
		}
		next, ok := strings.CutPrefix(text, "ref: ")
		isRef := strings.HasPrefix(next, "refs/") && fs.ValidPath(next)
		if !ok || !isRef {
			break
		}
		if next == "refs/heads/.invalid" {
			return "", errors.New("the repository keeps its references in tables, which are not read")
		}
		ref = next
	}
	return "", errors.New("it leads nowhere")
}

func (r *Repo) readRef(ref string) ([]byte, error) {
	b, err := readSmallFile(filepath.Join(r.gitDir, filepath.FromSlash(ref)))
	isShared := r.commonDir != r.gitDir && ref != "HEAD"
	if isShared && errors.Is(err, fs.ErrNotExist) {
		return readSmallFile(filepath.Join(r.commonDir, filepath.FromSlash(ref)))
	}
	return b, err
}

// maxPackedRefsBytes is the maximum number of bytes to read from packed-refs.
const maxPackedRefsBytes = 64 << 20

func (r *Repo) readPackedRef(ref string) (string, error) {
	b, err := readFileStart(filepath.Join(r.commonDir, "packed-refs"), maxPackedRefsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading packed references: %w", err)
	}
	for l := range bytes.Lines(b) {
		id, name, ok := strings.Cut(strings.TrimRight(string(l), "\r\n"), " ")
		isLineOfRef := ok && name == ref
		if isLineOfRef && IsHash(id) {
			return id, nil
		}
	}
	return "", nil
}

// ReadBlobs returns the contents of the blobs, by name. A missing object, and an object that is not a blob, are left
// out.
func (r *Repo) ReadBlobs(ctx context.Context, names []string) (map[string][]byte, error) {
	return r.readObjects(ctx, names, "blob")
}

// readObjects returns the contents of the objects, by name. An object that does not exist or is not of the given kind
// is left out.
func (r *Repo) readObjects(ctx context.Context, names []string, kind string) (map[string][]byte, error) {
	var in bytes.Buffer
	for _, n := range names {
		if err := checkHexHash(n); err != nil {
			return nil, fmt.Errorf("reading objects: %w", err)
		}
		in.WriteString(n + "\n")
	}
	found := map[string][]byte{}
	if len(names) == 0 {
		return found, nil
	}
	out, err := r.runGit(ctx, in.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	for len(out) > 0 {
		head, rest, ok := bytes.Cut(out, []byte{'\n'})
		if !ok {
			return nil, errors.New("reading objects: git stopped in the middle")
		}
		out = rest
		f := strings.Fields(string(head))
		if len(f) != 3 {
			continue // The line is "NAME missing".
		}
		n, err := strconv.Atoi(f[2])
		isSize := n >= 0 && n < len(out)
		if err != nil || !isSize {
			return nil, errors.New("reading objects: git stopped in the middle")
		}
		if f[1] == kind {
			found[f[0]] = out[:n:n]
		}
		out = out[n+1:]
	}
	return found, nil
}

// BlobAt returns the blob name of a file at a commit, or "" if the commit does not contain the file.
func (r *Repo) BlobAt(ctx context.Context, commit, file string) (string, error) {
	if err := checkHexHash(commit); err != nil {
		return "", fmt.Errorf("reading a tree: %w", err)
	}
	out, err := r.runGit(ctx, nil, "ls-tree", "-z", "--full-tree", commit, "--", file)
	if err != nil {
		return "", err
	}
	// git ls-tree prints the mode, type and hash of each file, then a tab, the path and a zero byte.
	for e := range strings.SplitSeq(string(out), "\x00") {
		head, path, _ := strings.Cut(e, "\t")
		f := strings.Fields(head)
		isBlob := len(f) == 3 && f[1] == "blob"
		if isBlob && path == file {
			return f[2], nil
		}
	}
	return "", nil
}

// fileChange is the change that one commit made to one file, as git log --raw prints it.
type fileChange struct {
	commit string
	// hashes of the file's content before and after the commit (only zeros if the file did not exist)
	oldBlobName, newBlobName string
	// paths of the file before and after the commit, which differ only if the commit renamed or copied the file
	oldPath, newPath string
	status           byte // kind of change: A, M, R, C, D or T
}

// parseRawLog parses the output of git log --raw -z with the format "commit %H". If a part cannot be parsed,
// parseRawLog returns an error and the changes before that part.
func parseRawLog(out []byte) ([]fileChange, error) {
	var steps []fileChange
	commit := ""
	fields := strings.Split(string(out), "\x00")
	next := func(i int) (string, error) {
		if i >= len(fields) {
			return "", errors.New("reading a history: git stopped in the middle")
		}
		return fields[i], nil
	}
	for i := 0; i < len(fields); i++ {
		f := strings.TrimLeft(fields[i], "\n")
		if id, ok := strings.CutPrefix(f, "commit "); ok {
			commit, f, _ = strings.Cut(id, "\n")
			if err := checkHexHash(commit); err != nil {
				return steps, fmt.Errorf("reading a history: %w", err)
			}
			f = strings.TrimLeft(f, "\n")
		}
		if f == "" {
			continue
		}
		// Each change has the form :MODE SP MODE SP OLD SP NEW SP STATUS NUL PATH NUL [PATH NUL].
		w := strings.Fields(f)
		isStep := len(w) == 5 && f[0] == ':' && w[4] != ""
		if !isStep {
			return steps, fmt.Errorf("reading a history: git says %.80q", f)
		}
		s := fileChange{commit: commit, oldBlobName: w[2], newBlobName: w[3], status: w[4][0]}
		var err error
		i++
		s.oldPath, err = next(i)
		if err != nil {
			return steps, err
		}
		s.newPath = s.oldPath
		if s.status == 'R' || s.status == 'C' {
			i++
			s.newPath, err = next(i)
			if err != nil {
				return steps, err
			}
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// FormerNames returns the names that a file in HEAD had before it was renamed, the newest name first. If the file was
// created as a copy of another file, FormerNames also returns the name of this original. Git finds an original only if
// the commit that added the copy also changed or deleted the original, or if otherFiles contains the name of the
// original. If git fails, FormerNames returns an error and the names found so far.
func (r *Repo) FormerNames(ctx context.Context, file string, otherFiles []string) (names []string, err error) {
	commit, err := r.HeadCommit(ctx)
	for range maxRenameHops {
		if err != nil || commit == "" {
			break
		}
		var from string
		commit, from, err = r.findCopyOrigin(ctx, commit, file, otherFiles)
		if from == "" || slices.Contains(names, from) {
			break
		}
		names, file = append(names, from), from
	}
	return names, err
}

// findCopyOrigin searches the history of head for the newest commit that created the file by renaming or copying
// another file. It returns this commit and the path of the original file, or "" for both if no such commit exists. It
// considers only the files in the list otherFiles and the files that the commit deleted or changed. A search in all
// files, as in git log --follow, would be the slowest part of a lookup.
func (r *Repo) findCopyOrigin(
	ctx context.Context,
	head, file string,
	otherFiles []string,
) (commit, originalPath string, err error) {
	made, err := r.listFileChanges(
		ctx,
		nil,
		"--no-renames",
		"--diff-filter=A",
		"-n",
		strconv.Itoa(maxDeletions),
		head,
		"--",
		file,
	)
	if err != nil {
		return "", "", err
	}
	for _, m := range made {
		changed, err := r.listFileChanges(ctx, nil, "--no-walk", "--no-renames", "--diff-filter=DM", m.commit)
		if err != nil {
			return "", "", err
		}
		paths := append([]string{file}, otherFiles...)
		for _, c := range changed {
			// The deleted file has the same content as the new file, so it is the origin.
			if c.status == 'D' && c.oldBlobName == m.newBlobName {
				return m.commit, c.oldPath, nil
			}
			paths = append(paths, c.oldPath)
		}
		steps, err := r.listFileChanges(ctx, paths, "--no-walk", "--find-copies-harder", "--diff-filter=RC", m.commit)
		if err != nil {
			return "", "", err
		}
		if i := slices.IndexFunc(steps, func(s fileChange) bool { return s.newPath == file }); i >= 0 {
			return m.commit, steps[i].oldPath, nil
		}
	}
	return "", "", nil
}

// FilesChangedWith returns the files that commits changed together with the given file. It examines the last
// maxExaminedCommits commits that changed the file after the given commit. It follows only first parents. The files
// of the newest commits come first.
func (r *Repo) FilesChangedWith(ctx context.Context, commit, file string) ([]string, error) {
	if err := checkHexHash(commit); err != nil {
		return nil, fmt.Errorf("reading a history: %w", err)
	}
	head, err := r.HeadCommit(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	steps, err := r.listFileChanges(
		ctx,
		nil,
		"--no-renames",
		"--full-diff",
		"-n",
		strconv.Itoa(maxExaminedCommits),
		head,
		"^"+
			commit,
		"--",
		file,
	)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, s := range steps {
		hasContent := s.status == 'A' || s.status == 'M'
		if !hasContent || s.newPath == file {
			continue
		}
		if !slices.Contains(files, s.newPath) {
			files = append(files, s.newPath)
		}
	}
	return files, nil
}

// maxExaminedCommits is the maximum number of commits that [Repo.FilesChangedWith] examines.
const maxExaminedCommits = 200

// listFileChanges runs git log with these arguments and returns the changes of files, newest first. It follows only
// first parents. If paths is not empty, only changes of these paths are returned.
func (r *Repo) listFileChanges(ctx context.Context, paths []string, args ...string) ([]fileChange, error) {
	all := append([]string{"log", "--raw", "-z", "--no-abbrev", "--no-color", "--no-ext-diff", "--no-textconv",
		"--no-show-signature", "--no-decorate", "--no-notes", "--first-parent", "-m", "--format=commit %H"}, args...)
	var in []byte
	if len(paths) > 0 { // Pass the paths on standard input, because they may be too long for a command line.
		all, in = append(all, "--stdin"), []byte("--\n"+strings.Join(paths, "\n")+"\n")
	}
	out, err := r.runGit(ctx, in, all...)
	if err != nil {
		return nil, err
	}
	return parseRawLog(out)
}

// BlobsAroundTime returns the names of two blobs. A blob is the content of a file. blobBefore is the content that
// resulted from the last change at or before the time t. blobAfter is the content that resulted from the first change
// at or after t. The time of a change is its commit time in HEAD's history. A result is "" if there is no such change
// or if the change deleted the file. BlobsAroundTime follows only first parents, and does not follow renames.
func (r *Repo) BlobsAroundTime(
	ctx context.Context,
	file string,
	t time.Time,
) (blobBefore, blobAfter string, err error) {
	head, err := r.HeadCommit(ctx)
	if err != nil || head == "" {
		return "", "", err
	}
	blob := func(s fileChange) string {
		if !IsHash(s.newBlobName) || strings.Trim(s.newBlobName, "0") == "" {
			return ""
		}
		return s.newBlobName
	}
	at := t.UTC().Format(time.RFC3339)
	old, err := r.listFileChanges(ctx, nil, "--no-renames", "-n", "1", "--until="+at, head, "--", file)
	if err != nil {
		return "", "", err
	}
	if len(old) > 0 {
		blobBefore = blob(old[0])
	}
	later, err := r.listFileChanges(ctx, nil, "--no-renames", "--since="+at, head, "--", file)
	if err != nil {
		return "", "", err
	}
	if len(later) > 0 {
		blobAfter = blob(later[len(later)-1])
	}
	return blobBefore, blobAfter, nil
}

// maxRenameHops is the maximum number of a file's renames that are followed. maxDeletions limits how many deletions
// are examined for a file.
const (
	maxRenameHops = 16
	maxDeletions  = 5
)

// IsShallow reports whether the repository is a shallow clone, which has only a part of the history.
func (r *Repo) IsShallow() bool {
	fi, err := os.Stat(filepath.Join(r.commonDir, "shallow"))
	return err == nil && fi.Size() > 0
}

// LaterNames returns the new names of a file that is no longer in HEAD, in the order in which the file was renamed. The
// result wasInHistory reports whether some commit deleted or renamed the file. At a merge commit, LaterNames follows
// only the first parent.
func (r *Repo) LaterNames(ctx context.Context, file string) (names []string, wasInHistory bool, err error) {
	head, err := r.HeadCommit(ctx)
	if err != nil || head == "" {
		return nil, false, err
	}
	for range maxRenameHops {
		// Find the commits that deleted the path. Each of these may have renamed the file.
		deaths, err := r.listFileChanges(
			ctx,
			nil,
			"--no-renames",
			"--diff-filter=D",
			"-n",
			strconv.Itoa(maxDeletions),
			head,
			"--",
			file,
		)
		if err != nil {
			return nil, false, err
		}
		wasInHistory = wasInHistory || len(deaths) > 0
		next := ""
		for _, d := range deaths {
			moves, err := r.listFileChanges(ctx, nil, "-M", "--diff-filter=R", "-n", "1", d.commit)
			if err != nil {
				return nil, false, err
			}
			for _, m := range moves {
				if m.commit == d.commit && m.oldPath == file {
					next = m.newPath
				}
			}
			if next != "" {
				break
			}
		}
		isCircle := next == file || slices.Contains(names, next)
		if next == "" || isCircle {
			break
		}
		names = append(names, next)
		file = next
	}
	return names, wasInHistory, nil
}

// blamedLine is a line of a file, with the commit that wrote it.
type blamedLine struct {
	Commit          string
	Line            int // line number in the file as it was in Commit, from 1
	Author          string
	Time            time.Time
	Summary         string
	PorcelainHeader []string // author, committer and summary in the format of git blame --porcelain
}

// Blame returns, for each line of the file at the commit, the commit that wrote it.
func (r *Repo) Blame(ctx context.Context, commit, file string) ([]blamedLine, error) {
	if err := checkHexHash(commit); err != nil {
		return nil, fmt.Errorf("blaming: %w", err)
	}
	out, err := r.runGit(ctx, nil, "blame", "--no-textconv", "--porcelain", commit, "--", file)
	if err != nil {
		return nil, err
	}
	return parseBlame(out)
}

// parseBlame parses the output of git blame --porcelain. Each line of the file has a head with the commit and the line
// numbers. At the first occurrence of a commit, the commit's data follow. Then come a tab and the text of the line.
func parseBlame(out []byte) ([]blamedLine, error) {
	var all []blamedLine
	known := map[string]*blamedLine{}
	var at *blamedLine
	line := 0
	for l := range bytes.Lines(out) {
		text := strings.TrimSuffix(string(l), "\n")
		switch {
		case at == nil:
			f := strings.Fields(text)
			if len(f) < 3 || !IsHash(f[0]) {
				return nil, fmt.Errorf("blaming: git says %.80q", text)
			}
			n, err := strconv.Atoi(f[1])
			if err != nil {
				return nil, fmt.Errorf("blaming: git says %.80q", text)
			}
			line = n
			at = known[f[0]]
			if at == nil {
				at = &blamedLine{Commit: f[0]}
				known[f[0]] = at
			}
		case strings.HasPrefix(text, "\t"):
			b := *at
			b.Line = line
			all = append(all, b)
			at = nil
		default:
			k, v, _ := strings.Cut(text, " ")
			isPerson := strings.HasPrefix(k, "author") || strings.HasPrefix(k, "committer")
			if isPerson || k == "summary" {
				at.PorcelainHeader = append(at.PorcelainHeader, text)
			}
			switch k {
			case "author":
				at.Author = v
			case "author-time":
				if s, err := strconv.ParseInt(v, 10, 64); err == nil {
					at.Time = time.Unix(s, 0).UTC()
				}
			case "summary":
				at.Summary = v
			}
		}
	}
	return all, nil
}
