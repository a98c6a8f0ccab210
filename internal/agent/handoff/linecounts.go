// This file counts the lines that were added to files and deleted from files since the last commit. It reads Git
// objects directly and never starts Git, so that no program configured in a repository runs.

package handoff

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// Limits for counting changed lines. If a limit is exceeded, the record omits the counts.
const (
	maxComparedFiles = 60
	maxFileBytes     = 512 << 10 // maximum size of a file in bytes
	maxCompareTime   = 300 * time.Millisecond
)

// countChangedLinesByFile compares the files that the turns changed with their content in the last Git commit. It
// returns how many lines were added and removed in each file. It compares at most maxComparedFiles files, and the
// result lacks files without a difference. The keys are paths relative to the session's directory. It returns nil if
// the files cannot be compared, or if the comparison takes longer than maxTime.
func countChangedLinesByFile(ctx context.Context, turns []session.Turn, maxTime time.Duration) map[string]lineChanges {
	r := newSessionRecord(turns)
	dir := filepath.FromSlash(r.sessionDir)
	if !filepath.IsAbs(dir) || len(r.changedFiles) == 0 {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, maxTime)
	defer stop()
	repo, err := git.FindRepo(dir, &git.Options{Timeout: maxTime, MaxOutputBytes: 16 << 20})
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(repo.Root()) // Symbolic links cannot lead out of the root.
	if err != nil {
		return nil
	}
	defer root.Close()
	in, err := filepath.Rel(repo.Root(), dir)
	if err != nil {
		return nil
	}
	now := map[string]string{}
	var files []string
	for _, f := range r.changedFiles[:min(len(r.changedFiles), maxComparedFiles)] {
		if b, ok := readFile(root, path.Join(filepath.ToSlash(in), f)); ok {
			now[f] = b
			files = append(files, f)
		}
	}
	was, err := committedTexts(ctx, repo, filepath.ToSlash(in), files)
	if err != nil {
		return nil
	}
	stats := map[string]lineChanges{}
	for f, text := range now {
		if s := countChangedLines(was[f], text); s != (lineChanges{}) {
			stats[f] = s
		}
	}
	return stats
}

// readFile returns the text of a regular file. It returns "" and true if the file does not exist. ok is false for a
// directory, a link, a binary file, and a file that is too large.
func readFile(root *os.Root, name string) (text string, ok bool) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", false
	}
	fi, err := root.Lstat(filepath.FromSlash(name))
	if os.IsNotExist(err) {
		return "", true
	}
	if err != nil {
		return "", false
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxFileBytes {
		return "", false
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	return string(b), err == nil && !strings.Contains(string(b[:min(len(b), 8000)]), "\x00")
}

// committedTexts returns the text that each file had in the last commit. The text is "" if the commit did not contain
// the file.
func committedTexts(ctx context.Context, repo *git.Repo, dir string, files []string) (map[string]string, error) {
	head, err := repo.HeadCommit(ctx)
	if err != nil || head == "" {
		return nil, err
	}
	var places []git.FileAtCommit
	for _, f := range files {
		places = append(places, git.FileAtCommit{Commit: head, File: path.Join(dir, f)})
	}
	blobs, err := repo.BlobsAt(ctx, places)
	if err != nil {
		return nil, err
	}
	texts, err := repo.ReadBlobs(ctx, slices.DeleteFunc(slices.Clone(blobs), func(b string) bool { return b == "" }))
	if err != nil {
		return nil, err
	}
	was := map[string]string{}
	for i, b := range blobs {
		was[files[i]] = string(texts[b])
	}
	return was, nil
}

// countChangedLines counts the added and deleted lines between two texts. It ignores differences in line endings.
func countChangedLines(before, after string) lineChanges {
	in, m := diff.LineNumberer{}, diff.LineMapper{}
	lines := func(s string) []int32 {
		return in.LineIDs(slices.Collect(strings.Lines(strings.ReplaceAll(s, "\r\n", "\n"))))
	}
	old, now := lines(before), lines(after)
	kept := 0
	for _, to := range m.MapEqualLines(old, now) {
		if to >= 0 {
			kept++
		}
	}
	return lineChanges{Added: len(now) - kept, Deleted: len(old) - kept}
}
